// SPDX-License-Identifier: BSD-3-Clause
//
// Products in single precision, twice as fast: for terms that are so small beside the rest of a sum that their
// rounding, about 1e-7 of themselves, is lost in it. What comes in and goes out is double.
#pragma once

#include "kloom/matrix.h"

namespace kloom::algebra {

// C += alpha A B.
void add_product_in_single(double alpha, ConstMatrixView a, ConstMatrixView b, MatrixView c);

}  // namespace kloom::algebra
