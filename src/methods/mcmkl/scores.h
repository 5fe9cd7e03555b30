// SPDX-License-Identifier: BSD-3-Clause
//
// Scores of a multiclass model with kernels on classes: every class's coefficients speak for every other class.
#pragma once

#include "kloom/parts.h"

namespace kloom::methods {

// What each kernel adds to the score of class c: rows × P. Column p is K_p α (Σ_j β_jp L_j)_c; `applied` is the
// bank's `apply` of the coefficients α.
[[nodiscard]] Matrix class_contributions(const Model& model, const Matrix& applied, Index c, Index rows);

}  // namespace kloom::methods
