# `cmake --install build` gives other projects find_package(kloom) and the target kloom::kloom.
include(CMakePackageConfigHelpers)
set(KLOOM_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/kloom")
# Components are Debian's packages (cmake/KloomPackage.cmake): program (with the library), development, python.
install(TARGETS kloom EXPORT kloomTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT program NAMELINK_COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kloom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
if(KLOOM_BUILD_CLI AND NOT SKBUILD)
  # The program finds its library beside it, wherever the tree is put.
  set_target_properties(kloom_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS kloom_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
install(EXPORT kloomTargets NAMESPACE kloom:: FILE kloomTargets.cmake DESTINATION "${KLOOM_CONFIG_DIR}"
  COMPONENT development)
file(WRITE "${PROJECT_BINARY_DIR}/kloomConfig.cmake"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/kloomTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kloomConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kloomConfig.cmake" "${PROJECT_BINARY_DIR}/kloomConfigVersion.cmake"
  DESTINATION "${KLOOM_CONFIG_DIR}" COMPONENT development)

# The same for those who build without CMake: pkg-config --cflags --libs kloom. It too can be moved with its tree.
file(RELATIVE_PATH KLOOM_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/kloom.pc.in" "${PROJECT_BINARY_DIR}/kloom.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kloom.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# Manual pages and completions: the program prints them. One built for another machine cannot be asked here, and
# sanitizers have nothing to find in it.
if(KLOOM_BUILD_CLI AND NOT CMAKE_CROSSCOMPILING AND NOT KLOOM_SANITIZE)
  set(KLOOM_PAGES "${PROJECT_BINARY_DIR}/pages")
  add_custom_command(OUTPUT "${KLOOM_PAGES}/done" DEPENDS kloom_cli "${CMAKE_CURRENT_LIST_DIR}/write_pages.cmake"
    COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:kloom_cli>" -D "FOLDER=${KLOOM_PAGES}"
      -P "${CMAKE_CURRENT_LIST_DIR}/write_pages.cmake"
    COMMENT "Writing manual pages and completions")
  add_custom_target(kloom_pages ALL DEPENDS "${KLOOM_PAGES}/done")
  if(SKBUILD)
    set(KLOOM_SHARE "${SKBUILD_DATA_DIR}/share")
    set(KLOOM_PAGES_COMPONENT python)
  else()
    set(KLOOM_SHARE "${CMAKE_INSTALL_DATADIR}")
    set(KLOOM_PAGES_COMPONENT program)
  endif()
  install(DIRECTORY "${KLOOM_PAGES}/man1" DESTINATION "${KLOOM_SHARE}/man" COMPONENT ${KLOOM_PAGES_COMPONENT})
  install(FILES "${KLOOM_PAGES}/kloom.bash" DESTINATION "${KLOOM_SHARE}/bash-completion/completions" RENAME kloom
    COMPONENT ${KLOOM_PAGES_COMPONENT})
  install(FILES "${KLOOM_PAGES}/kloom.zsh" DESTINATION "${KLOOM_SHARE}/zsh/vendor-completions" RENAME _kloom
    COMPONENT ${KLOOM_PAGES_COMPONENT})
  install(FILES "${KLOOM_PAGES}/kloom.fish" DESTINATION "${KLOOM_SHARE}/fish/vendor_completions.d"
    COMPONENT ${KLOOM_PAGES_COMPONENT})
endif()
