// SPDX-License-Identifier: BSD-3-Clause
//
// The weights of greatest evidence:
//
//   maximise   log evidence(Σ_p w_p K_p + w_0 11ᵀ [+ σ² I]) − penalty Σ_p w_p d_p   over w ≥ 0, w_0 ≥ 0, σ² > 0
//
// with d_p the mean diagonal of K_p: the penalty is an exponential prior of every weight. The steps are those of L-BFGS on
// log(w_p d_p), log w_0 and log σ², with backtracking, so the objective never falls. Weights that are small and would
// better be smaller become 0, where logarithms never arrive; weights that are 0 come back where the slope is upward.
// The objective is not concave: what is found is a stationary point, above the start.
#pragma once

#include <functional>

#include "kloom/matrix.h"
#include "kloom/report.h"
#include "methods/gpmkl/likelihood.h"
#include "methods/kernel_machine/sampled_kernels.h"

namespace kloom::methods {

struct GpWeights {
  Vector weights;         // w_p
  double constant = 0.0;  // w_0
  double noise = 0.0;     // σ²; classes: 0
};

struct AscentSettings {
  Index iterations = 100;
  // Stop when no slope is larger: ∂ objective / ∂ log weight, per sample and output.
  double tolerance = 1e-3;
  double penalty = 0.0;
  // Told after every step, with the objective; true: stop.
  std::function<bool(Index, double)> progress;
};

struct AscentResult {
  GpWeights at;
  Matrix modes;               // classes: a of every output, N × outputs
  double evidence = 0.0;      // without the penalty
  double stationarity = 0.0;  // largest slope that is left, in the units of the tolerance
  Index iterations = 0;
  Status status = Status::converged;
  Vector trace;
};

// `start` needs a weight above 0.
[[nodiscard]] AscentResult ascend(const SampledKernels& kernels, const GpTask& task, const GpWeights& start,
                                  const AscentSettings& settings);

}  // namespace kloom::methods
