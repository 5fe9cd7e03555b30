// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a matrix that the user gave is what it is said to be: a kernel or a distance.
#pragma once

#include <string>

#include "kloom/context.h"
#include "kloom/dataset.h"

namespace kloom::kernels {

// The smallest eigenvalue may lie this part of the largest below zero.
constexpr double kDefinitenessTolerance = 1e-8;

struct SpectrumCheck {
  bool semidefinite = true;
  bool exact = true;  // eigenvalues were computed; else only a factorisation was tried
  double smallest = 0.0;
  double largest = 0.0;
};
// `exact_up_to`: larger matrices are tested by a Cholesky factorisation of K + tolerance · largest · I.
[[nodiscard]] SpectrumCheck check_spectrum(const SharedMatrix& kernel, Index exact_up_to = 3000);

// Drops the part of the matrix that belongs to negative eigenvalues. Returns the sum of their absolute values.
double clip_spectrum(Matrix& kernel);

// Checks a training kernel and makes it exactly symmetric (mean of both triangles); with `clip` an indefinite
// one is clipped. Throws InvalidArgument naming kernel, entry or eigenvalue, and remedy.
void prepare_kernel(PrecomputedMatrix& kernel, Index samples, bool clip, const Context& context);

// The same for distances: finite, not negative, symmetric, zero diagonal.
void prepare_distance(PrecomputedMatrix& distance, Index samples);

}  // namespace kloom::kernels
