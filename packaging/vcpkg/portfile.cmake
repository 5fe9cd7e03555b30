# kloom for vcpkg; packaging/README.md says what of this was tried.
#
# In a registry the sources come from the release's archive:
#   vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH REPO … REF "v${VERSION}" SHA512 …)
# As an overlay port, this checkout is the source.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

find_path(CERF_INCLUDE_DIR cerf.h PATHS "${CURRENT_INSTALLED_DIR}/include" /usr/include NO_DEFAULT_PATH)
if(NOT CERF_INCLUDE_DIR)
  message(FATAL_ERROR "kloom needs libcerf, which vcpkg has no port of: install it on the system (Debian: libcerf-dev), or add "
    "an overlay port of it")
endif()
find_library(KLOOM_OPENBLAS openblas PATHS "${CURRENT_INSTALLED_DIR}/lib" NO_DEFAULT_PATH REQUIRED)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DKLOOM_BUILD_TESTS=OFF -DKLOOM_BUILD_BENCH=OFF -DKLOOM_BUILD_PYTHON=OFF -DKLOOM_WERROR=OFF
    "-DKLOOM_OPENBLAS=${KLOOM_OPENBLAS}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/kloom)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES kloom AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
