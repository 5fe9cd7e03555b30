// SPDX-License-Identifier: BSD-3-Clause
//
// UFO-MKL, ultra-fast optimisation of multiple kernel learning (Orabona & Jie 2011).
//
//   minimise  (λ/2) ‖(‖w_1‖, …, ‖w_F‖)‖_p² + α Σ_f ‖w_f‖
//             + (1/N) Σ_n max(0, 1 + max_{m ≠ y_n} g(m, x_n) − g(y_n, x_n))
//
// with w_f the weights of kernel f over all classes together, p = q/(q − 1), q = max(2, 2 ln F) or as asked. Stochastic
// mirror descent: θ = Σ over violations of the gradient, w = ∇R*(θ/t), that is
//
//   v_f = max(0, ‖θ_f‖ − αt),   w_f = (v_f/(λt)) (θ_f/‖θ_f‖) (v_f/‖v‖_q)^(q−2)
//
// θ_f = Σ_n c_n Φ_f(x_n) with counts c that all kernels share, as in counted_sgd.h; what differs from step to
// step is the weight of each kernel, so every sample is scored by every kernel.
#pragma once

#include <span>
#include <string>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"
#include "methods/stochastic/counted_sgd.h"

namespace kloom::methods {

struct UfoOptions {
  double lambda = 0.0;  // 0: 1/(10 N)
  double alpha = 0.0;
  double norm = 0.0;  // p; 0: by the number of kernels
  double epochs = 10.0;
  std::string lambda_grid;  // values to choose λ and α from by cross-validation; empty: take the values above
  std::string alpha_grid;
  Index folds = 5;
  bool probability = true;  // fit a temperature on held-out samples
};

[[nodiscard]] const OptionTable<UfoOptions>& ufo_option_table();
[[nodiscard]] Learner ufo_learner();
[[nodiscard]] FitResult fit_ufo(const KernelBank& bank, const Targets& targets, const UfoOptions& options,
                                const Context& context);

// λN where no λ is given: a penalty so weak that a few hundred samples are still learned; a stronger one would
// put them all into the larger class.
inline constexpr double kDefaultLambda = 0.1;

// ∇R*: the weight of each kernel from ‖θ_f‖² and t, so that w_f = weight_f θ_f. λ = 0 stands for
// kDefaultLambda/t at every t.
class UfoMirror {
 public:
  // `norm`: p, 1 < p ≤ 2; 0: q = max(2, 2 ln F).
  UfoMirror(double lambda, double alpha, Index kernels, double norm = 0.0);
  void weights(std::span<const double> squared_norms, double t, std::span<double> out) const;
  [[nodiscard]] double dual_power() const { return q_; }

 private:
  double lambda_;
  double alpha_;
  double q_;
};

}  // namespace kloom::methods
