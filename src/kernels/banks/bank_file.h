// SPDX-License-Identifier: BSD-3-Clause
//
// Bank files: format "kloom-bank", version 1. Sections of the container:
//
//   kernels     F64 or F32  [P, rows, cols], first in the data, so aligned to 64 bytes
//   document    U8          JSON: names, symmetric
//   recipe.*                may be added beside them; load_bank passes over tensors of that name
#pragma once

#include <memory>

#include "data/container.h"
#include "kloom/bank.h"

namespace kloom::kernels {

// The bank inside an open container, which it keeps alive. Throws FileError.
[[nodiscard]] std::unique_ptr<KernelBank> read_bank(const data::Container& container);

}  // namespace kloom::kernels
