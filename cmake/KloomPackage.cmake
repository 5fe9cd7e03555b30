# `make deb` (the preset deb, then cpack -G DEB): kloom, libkloom-dev and python3-kloom. What they depend on, dpkg-shlibdeps
# reads off the programs; what the packages hold is said by COMPONENT in every install().
if(NOT PROJECT_IS_TOP_LEVEL OR NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()
set(KLOOM_DEBIAN "${PROJECT_SOURCE_DIR}/packaging/debian")

# Debian wants to know in every package who holds the rights, and its texts compressed.
foreach(package IN ITEMS program:kloom development:libkloom-dev python:python3-kloom)
  string(REPLACE ":" ";" package "${package}")
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES "${KLOOM_DEBIAN}/copyright" DESTINATION "share/doc/${name}" COMPONENT ${component})
  install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION "share/doc/${name}" RENAME changelog
    COMPONENT ${component})
  string(TOUPPER "${component}" COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${name})
endforeach()
set(CPACK_PRE_BUILD_SCRIPTS "${KLOOM_DEBIAN}/compress.cmake")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kloom)
set(CPACK_PACKAGE_VENDOR "the kloom authors")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
if(TARGET kloom_python AND KLOOM_PYTHON_DIR)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the kloom authors <kloom@localhost>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
# Other packages that are linked against the library learn from this which package has it; ldconfig is told of it.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "multiple kernel learning: command line and library
 Learns from several descriptions of the same samples at once: which kernels matter, and what they say together.
 Classification with probabilities, regression, comparison of methods, models with certificates.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "kloom (= ${version})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "multiple kernel learning: headers for C++
 What programs need that are compiled against the library: headers, and files for CMake and pkg-config.")
if(TARGET kloom_python)
  math(EXPR next_minor "${KLOOM_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "kloom (= ${version}), python3 (>= 3.${KLOOM_PYTHON_MINOR}), \
python3 (<< 3.${next_minor}), python3-numpy, python3-scipy, python3-sklearn, python3-joblib")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${KLOOM_DEBIAN}/postinst;${KLOOM_DEBIAN}/prerm")
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "multiple kernel learning with scikit-learn's interface
 Estimators of every method of kloom for Python, and its command line as python3 -m kloom.")
endif()
include(CPack)
