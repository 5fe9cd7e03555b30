// SPDX-License-Identifier: BSD-3-Clause
//
// The variational factors of BEMKL for binary labels and their coordinate updates [Gonen2012, section 4].
//
//   model        λ_i ~ Gamma,  a_i | λ_i ~ N(0, 1/λ_i)
//                g_im | a ~ N(k_m,iᵀ a, σ_g²)
//                γ ~ Gamma,  b | γ ~ N(0, 1/γ);   ω_m ~ Gamma,  e_m | ω_m ~ N(0, 1/ω_m)
//                f_i | b, e, g_i ~ N(eᵀg_i + b, 1),   y_i f_i > ν
//   maximise     the lower bound on log p(y) over q(λ) q(a) q(G) q(γ) q(ω) q(b,e) q(f)
//   by           setting one factor after the other to its optimum given the rest
//
//   paper        here
//   μ(a), Σ(a)   a, a_variance (its diagonal: all that the loop needs)
//   G            intermediate, N × P: one column per kernel (the paper's G is P × N)
//   Σ(g)         g_covariance, one P × P matrix shared by all samples
//   (b, e)       be, be_covariance; the bias comes first
//   f            f, and f_location = the mean of the normal before truncation at the last update of q(f)
#pragma once

#include "kloom/bank.h"
#include "kloom/matrix.h"

namespace kloom::learners {

struct GammaPrior {
  double shape = 1.0;
  double scale = 1.0;
};

struct BemklHyper {
  double sigma_g = 1.0;
  double margin = 1.0;
  GammaPrior lambda, gamma, omega;
};

// The numbers that an iteration starts from; everything else follows from them.
struct BemklStart {
  Vector a;
  Matrix intermediate;  // N × P
  Vector f;
  double b = 0.0;
  Vector e;
};

class BemklFactors {
 public:
  // `signs`: +1 or −1 per sample. Covariances start as identities.
  BemklFactors(const KernelBank& bank, Vector signs, const BemklHyper& hyper, const BemklStart& start);

  // One factor each, in the author's order. False if a precision matrix is not positive definite or not
  // finite: the factors are then of no use.
  void update_lambda();
  [[nodiscard]] bool update_a();
  [[nodiscard]] bool update_intermediate();
  void update_gamma_omega();
  [[nodiscard]] bool update_be();
  void update_f();

  [[nodiscard]] bool iterate();  // all of them, once

  // Exact lower bound for the factors as they are now, whichever was updated last. Defined once every factor
  // has been updated (the initial f is no truncated normal).
  [[nodiscard]] double lower_bound() const;

  [[nodiscard]] const Vector& lambda() const { return lambda_; }
  [[nodiscard]] const Vector& a() const { return a_; }
  [[nodiscard]] const Vector& a_variance() const { return a_variance_; }
  [[nodiscard]] Matrix a_covariance() const;  // Σ(a) whole, from the λ that formed it
  [[nodiscard]] const Matrix& intermediate() const { return intermediate_; }
  [[nodiscard]] const Matrix& g_covariance() const { return g_covariance_; }
  [[nodiscard]] double gamma() const { return gamma_; }
  [[nodiscard]] const Vector& omega() const { return omega_; }
  [[nodiscard]] const Vector& be() const { return be_; }
  [[nodiscard]] const Matrix& be_covariance() const { return be_covariance_; }
  [[nodiscard]] const Vector& f() const { return f_; }
  [[nodiscard]] const Vector& f_location() const { return f_location_; }

 private:
  [[nodiscard]] double second_moment_be(Index m) const;
  [[nodiscard]] Vector cross_moment_eb() const;  // E[e b]
  [[nodiscard]] Vector output_means() const;     // μ_eᵀg_i + μ_b
  [[nodiscard]] double bound_of_priors() const;
  [[nodiscard]] double bound_of_intermediate() const;
  [[nodiscard]] double bound_of_outputs() const;

  const KernelBank& bank_;
  BemklHyper hyper_;
  Vector signs_;
  Matrix gram_;  // S = Σ_p K_p K_pᵀ, computed once

  Vector lambda_, a_, a_variance_;
  Vector lambda_of_a_;      // the E[λ] that Σ(a) was formed with
  double log_det_a_ = 0.0;  // log det Σ(a)
  Matrix outputs_;          // [K_p μ(a)]_p, N × P
  Matrix intermediate_, g_covariance_;
  double log_det_g_ = 0.0;
  Matrix g_moment_;  // E[Σ_i g_i g_iᵀ] = GᵀG + N Σ(g)
  Vector g_sum_;     // Σ_i g_i
  double gamma_ = 1.0;
  Vector omega_;
  Vector be_;
  Matrix be_covariance_;
  double log_det_be_ = 0.0;
  Vector f_, f_location_;
};

}  // namespace kloom::learners
