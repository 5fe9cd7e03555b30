# Run with cmake -P; BUILD, SOURCE, WORK and CXX say what to install, from where, and into which empty folder.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
# The installed tree must not know where it was made: move it before it is used.
file(RENAME "${WORK}/first" "${WORK}/prefix")

# What kloom is made of is its own affair: users need neither these libraries nor their CMake files.
file(GLOB_RECURSE exported "${WORK}/prefix/*.cmake" "${WORK}/prefix/*.pc")
list(LENGTH exported count)
if(count LESS 5)
  message(FATAL_ERROR "expected at least 4 installed CMake files and one of pkg-config, found: ${exported}")
endif()
foreach(file IN LISTS exported)
  file(READ "${file}" text)
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")  # comments speak of "information"
  string(TOLOWER "${text}" text)
  foreach(word openblas gfortran matio cerf nlohmann fmt zlib boost openmp kloom_compile cli11)
    if(text MATCHES "${word}")
      message(FATAL_ERROR "${file} names ${word}: a private dependency leaks to users")
    endif()
  endforeach()
  string(TOLOWER "${BUILD}" build)
  string(FIND "${text}" "${build}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the build folder ${BUILD}")
  endif()
endforeach()

# A copy of the example outside the checkout, so that nothing of the checkout can be found by accident.
file(COPY "${SOURCE}/examples/cpp" DESTINATION "${WORK}")
run("${CMAKE_COMMAND}" -S "${WORK}/cpp" -B "${WORK}/build" -D "CMAKE_PREFIX_PATH=${WORK}/prefix"
  -D "CMAKE_CXX_COMPILER=${CXX}" -D CMAKE_BUILD_TYPE=Release -D "CMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/train_and_predict" "${SOURCE}/examples/data/wdbc.csv")
message("${output}")
if(NOT output MATCHES "test accuracy ([0-9]+) of 189")
  message(FATAL_ERROR "the example did not print the accuracy on 189 test samples")
endif()
# Always saying "benign" is right for 63 %; the published accuracy of BEMKL on these data is 96 %.
if(CMAKE_MATCH_1 LESS 170)
  message(FATAL_ERROR "the example was right on only ${CMAKE_MATCH_1} of 189 test samples (at least 170 expected)")
endif()

# A method from outside of kloom, built against the installed headers and library alone.
run("${WORK}/build/fixed_weights" "${SOURCE}/examples/data/wdbc.csv")
message("${output}")
if(NOT output MATCHES "right on ([0-9]+) of 569, the same after saving and loading: yes")
  message(FATAL_ERROR "the method from outside did not train, save and load")
endif()
if(CMAKE_MATCH_1 LESS 500)
  message(FATAL_ERROR "the method from outside was right on only ${CMAKE_MATCH_1} of 569 training samples")
endif()

# The same program without CMake: pkg-config says all that the compiler needs to know, wherever the tree was moved.
find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE kloom_pc "${WORK}/prefix/*/kloom.pc")
cmake_path(GET kloom_pc PARENT_PATH pc_folder)
run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_folder}" "${PKG_CONFIG}" --cflags --libs kloom)
separate_arguments(flags UNIX_COMMAND "${output}")
run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_folder}" "${PKG_CONFIG}" --variable=libdir kloom)
string(STRIP "${output}" libdir)
run("${CXX}" -std=c++20 "${WORK}/cpp/fixed_weights.cpp" ${flags} "-Wl,-rpath,${libdir}" -o "${WORK}/with_pkg_config")
run("${WORK}/with_pkg_config" "${SOURCE}/examples/data/wdbc.csv")
if(NOT output MATCHES "the same after saving and loading: yes")
  message(FATAL_ERROR "the program that was compiled with pkg-config did not work: ${output}")
endif()

# What shells and man(1) look for.
foreach(file share/man/man1/kloom.1 share/man/man1/kloom-train.1 share/man/man1/kloom-kernels.1
        share/bash-completion/completions/kloom share/zsh/vendor-completions/_kloom
        share/fish/vendor_completions.d/kloom.fish)
  if(EXISTS "${WORK}/prefix/bin/kloom" AND NOT EXISTS "${WORK}/prefix/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# The installed program finds the installed library: beside itself, which the loader learns from /proc.
if(NOT EXISTS "/proc/self")
  message("no /proc here: that the installed program finds its library beside itself was not tried")
elseif(EXISTS "${WORK}/prefix/bin/kloom")
  run("${WORK}/prefix/bin/kloom" --version)
  message("${output}")
endif()
