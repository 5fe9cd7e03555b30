# Flags for everything that kloom compiles: C++20, warnings as errors, optional sanitizers.
add_library(kloom_compile INTERFACE)
target_compile_features(kloom_compile INTERFACE cxx_std_20)
target_compile_options(kloom_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
# A loop that clang could not vectorise under a sanitizer is no fault of the code.
target_compile_options(kloom_compile INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
# GCC 12 reports string concatenation inside its own headers (GCC bug 105651).
target_compile_options(kloom_compile INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(KLOOM_WERROR)
  target_compile_options(kloom_compile INTERFACE -Werror)
endif()
if(KLOOM_SANITIZE)
  target_compile_options(kloom_compile INTERFACE
    -fsanitize=${KLOOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kloom_compile INTERFACE -fsanitize=${KLOOM_SANITIZE})
endif()

# With KLOOM_UNITY the files of a folder are compiled together, sixteen at a time: most of a clean build is reading headers.
# The price is that a change compiles its neighbours again, and that names in unnamed namespaces of one folder must differ.
# Folders that read, print and decide but compute little are then compiled with -O1, which takes a quarter less.
function(kloom_compile_together target)
  if(NOT KLOOM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(root ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${root}")
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # Referees are written independently of each other and use the same words.
    if(folder MATCHES "/certify$")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    math(EXPR part "${count_${group}} + 0")
    math(EXPR count_${group} "${part} + 1")
    math(EXPR part "${part} / 16")
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${group}_${part}")
    if(folder MATCHES "^src/(data|models|report|select)$")
      # Options of a file of its own would take it out of its group; those of the group's file do not.
      set_source_files_properties("${binary}/CMakeFiles/${target}.dir/Unity/unity_${group}_${part}_cxx.cxx"
        TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
