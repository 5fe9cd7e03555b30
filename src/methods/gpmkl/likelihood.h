// SPDX-License-Identifier: BSD-3-Clause
//
// The evidence of a Gaussian process with covariance K, and how it changes with K.
//
//   numbers   log p(y) = log N(y; 0, K + σ² U⁻¹) + ½ (N − Σu) log 2πσ² − ½ Σ log u
//   classes   Laplace's approximation with the logistic likelihood [RasmussenWilliams2006, eq. 3.32], a sum over outputs:
//             log q(y) = −½ aᵀf + Σ_i u_i log σ(y_i f_i) − ½ log det B,   B = I + W^½ K W^½,
//             f = K a the mode of the posterior, W_ii = u_i π_i (1 − π_i), π = σ(f)
//
// u are the weights of the samples: log p(y_i | f_i) counts u_i times, so a sample of weight 2 is the same as two copies.
//
// `slope` is the symmetric matrix S with ∂ log evidence / ∂w = Σ_ij S_ij ∂K_ij/∂w for anything w that K depends on.
#pragma once

#include <functional>

#include "kloom/matrix.h"

namespace kloom::methods {

struct GpTask {
  bool classes = true;
  Matrix targets;  // N × outputs: ±1, or one column of numbers
  Vector weights;  // u, all above 0
  // Asked before every step that takes n³; true: give up, and be unsound.
  std::function<bool()> stopped = {};
};

struct GpEvidence {
  double value = 0.0;
  Matrix slope;
  double noise_slope = 0.0;  // numbers: ∂ log evidence / ∂ log σ²
  bool sound = false;        // false: the covariance was not positive definite
};

[[nodiscard]] GpEvidence gaussian_evidence(const Matrix& kernel, const GpTask& task, double noise);

// The mode of one output by Newton's method [RasmussenWilliams2006, algorithm 3.1], from `a` as it comes in.
struct LaplaceMode {
  Vector a;                // K⁻¹ f, which is the gradient of the log likelihood at the mode
  Vector f;                // K a
  Vector pi;               // σ(f)
  Vector root;             // W^½
  double objective = 0.0;  // log p(y | f) − ½ aᵀf
  bool sound = false;
};
[[nodiscard]] LaplaceMode laplace_mode(const Matrix& kernel, const GpTask& task, Index output, Vector a);

// `a`: N × outputs, where Newton's method begins; becomes what it finds.
[[nodiscard]] GpEvidence laplace_evidence(const Matrix& kernel, const GpTask& task, Matrix& a);

// (K + W⁻¹)⁻¹ = W^½ B⁻¹ W^½ for symmetric K; empty where B is not positive definite. `log_det`: of B⁻¹.
[[nodiscard]] Matrix laplace_precision(const Matrix& kernel, const Vector& root, double& log_det);

}  // namespace kloom::methods
