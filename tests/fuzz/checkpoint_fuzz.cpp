// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include "fuzz/checkpoint_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kloom::fuzz::read_checkpoint_input({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
