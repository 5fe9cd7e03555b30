# `cmake --install build` gives other projects find_package(kloom) and the target kloom::kloom.
include(CMakePackageConfigHelpers)
set(KLOOM_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/kloom")
install(TARGETS kloom EXPORT kloomTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kloom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(KLOOM_BUILD_CLI)
  # The program finds its library beside it, wherever the tree is put.
  set_target_properties(kloom_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS kloom_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(EXPORT kloomTargets NAMESPACE kloom:: FILE kloomTargets.cmake DESTINATION "${KLOOM_CONFIG_DIR}")
file(WRITE "${PROJECT_BINARY_DIR}/kloomConfig.cmake"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/kloomTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kloomConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kloomConfig.cmake" "${PROJECT_BINARY_DIR}/kloomConfigVersion.cmake"
  DESTINATION "${KLOOM_CONFIG_DIR}")
