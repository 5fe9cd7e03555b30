// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels of an open bank file as the store of a dense bank: nothing is copied, and the blocks of a kernel
// are verified when that kernel is first used. The store keeps the mapped file alive.
#pragma once

#include "data/container.h"
#include "kernels/banks/dense_bank.h"

namespace kloom::kernels {

// `tensor`: F64 or F32 of shape [P, rows, cols]. Throws FileError if it has another type, shape or alignment.
[[nodiscard]] DenseStore mapped_store(const data::Container& container, const data::Tensor& tensor);

}  // namespace kloom::kernels
