// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "fuzz/mat_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kloom::fuzz::read_mat_input({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
