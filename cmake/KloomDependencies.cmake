# Every library that kloom uses is a Debian 12 package. README names them; tools/install-packages
# installs what is missing.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(MATIO REQUIRED IMPORTED_TARGET matio)
pkg_check_modules(CLP REQUIRED IMPORTED_TARGET clp)
find_path(CERF_INCLUDE_DIR cerf.h REQUIRED)
find_library(CERF_LIBRARY cerf REQUIRED)

# A private static OpenBLAS (OpenMP build): no clash with the one that NumPy loads, one thread pool.
# The folder has no CMake or pkg-config name of its own, so it is looked up by name.
find_library(KLOOM_OPENBLAS libopenblas.a REQUIRED
  PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}" PATH_SUFFIXES openblas-openmp NO_DEFAULT_PATH)
add_library(kloom_openblas STATIC IMPORTED)
set_target_properties(kloom_openblas PROPERTIES IMPORTED_LOCATION "${KLOOM_OPENBLAS}")
find_library(KLOOM_GFORTRAN NAMES gfortran libgfortran.so.5 REQUIRED
  HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
target_link_libraries(kloom_openblas INTERFACE "${KLOOM_GFORTRAN}" m OpenMP::OpenMP_CXX)
