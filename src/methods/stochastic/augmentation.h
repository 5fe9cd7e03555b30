// SPDX-License-Identifier: BSD-3-Clause
//
// The Gibbs step of MKL-DA and MKL-DAO: strengths α, β and auxiliary variables λ given the norms ‖w_mf‖, and
// the penalties γ_mf = (α + β² λ_mf⁻¹)/n that follow.
#pragma once

#include "kloom/matrix.h"
#include "solvers/draws.h"

namespace kloom::methods {

struct Priors {
  double kappa = 1.0;  // α ~ Gamma(shape κ, scale θ)
  double theta = 1.0;
  double mu = 1.0;  // β ~ N(μ, σ²)
  double sigma = 1.0;
};

class Augmentation {
 public:
  // `literal`: Algorithms 1 and 2 as printed: √ in the mean of β, and each posterior is the next prior.
  // Otherwise every conditional starts from `priors`, and α is kept from falling below F/10⁴.
  Augmentation(const Priors& priors, Index classes, Index kernels, bool literal);

  void draw_strengths(solvers::Draws& draws);
  // λ_mf⁻¹ ~ inverse Gaussian with mean 1/(|β|‖w_mf‖) and shape 1, class by class, then the
  // conditionals of α and β.
  void draw_auxiliaries(const Matrix& norms, solvers::Draws& draws);
  // γ (M × F) for n samples.
  [[nodiscard]] Matrix penalties(double n) const;
  // The priors of the first draw, where a state is restored.
  void set_original(const Priors& original) { original_ = original; }

  Priors priors;  // what α and β will be drawn from next
  double alpha = 1.0;
  double beta = 1.0;
  Matrix inverse_lambda;  // M × F, 1 before the first draw

 private:
  Priors original_;
  bool literal_;
};

// A combination of kernels made of penalties: weights that sum to 1 for each output (P × outputs), and what to
// multiply them with. With two classes the one output has weights 1/γ_0f + 1/γ_1f.
struct PenaltyWeights {
  Matrix weights;
  Vector scales;
};
[[nodiscard]] PenaltyWeights weights_of(const Matrix& penalties);

// ‖w_mf‖ = √q_mf/(γ_mf T), M × F, from the quadratic forms q (P × outputs) of the counts.
[[nodiscard]] Matrix norms_of(const Matrix& forms, const Matrix& penalties, double steps);

}  // namespace kloom::methods
