// SPDX-License-Identifier: BSD-3-Clause
//
// Cross-validation at one price C, and what is seen there.
#pragma once

#include <vector>

#include "methods/margin/mkl.h"
#include "methods/margin/outputs.h"

namespace kloom::methods {

// What cross-validation at one price C found. A path goes from one to the next by warm starts.
struct PathPoint {
  double price = 0.0;
  double error = 0.0;                                     // held out
  std::vector<std::vector<MarginSolution>> without_fold;  // per output and fold
  std::vector<Vector> scores;              // per output: of every sample by a solution that has not seen it
  std::vector<Index> kernels;              // single: the kernel of every output
  std::vector<std::vector<Vector>> alone;  // single: per output and kernel, held-out scores; empty: not tried
  bool whole = true;                       // nobody said stop meanwhile
};

// Weighted sum of the errors of one output.
[[nodiscard]] double output_errors(const MarginTask& task, const Vector& scores);
// Mean of squared errors, or share of wrong classes: with one output for every class, that of the largest score; with
// one for every pair, over the pairs.
[[nodiscard]] double path_error(const std::vector<MarginOutput>& outputs, const std::vector<Vector>& scores,
                                bool against_rest);
// The same for every kernel that all outputs have tried; NaN for the others.
[[nodiscard]] Vector errors_alone(const std::vector<MarginOutput>& outputs, const PathPoint& point,
                                  bool against_rest);
// Nothing is at its bound, so that the same solution is the best one at every higher price.
[[nodiscard]] bool is_free(const MarginOutput& output, const std::vector<MarginSolution>& solutions,
                           double price);
// A row of the path's table: C, held-out error, then means over outputs and folds, and the largest gap.
[[nodiscard]] Vector path_row(const PathPoint& point);

}  // namespace kloom::methods
