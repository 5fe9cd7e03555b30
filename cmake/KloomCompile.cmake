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
