// SPDX-License-Identifier: BSD-3-Clause
//
// The variational factors of BEMKL and their coordinate updates [Gonen2012, section 4], one implementation for
// all tasks. M outputs (one in binary tasks and regression) share the kernel weights e and have the rest of
// their own:
//
//   model        λ_ic ~ Gamma,  a_ic | λ_ic ~ N(0, 1/λ_ic)
//                g_imc | a_c ~ N(k_m,iᵀ a_c, 1/υ_c)
//                γ_c ~ Gamma,  b_c | γ_c ~ N(0, 1/γ_c)
//                ω_m ~ Gamma,  e_m | ω_m ~ N(0, 1/ω_m)
//                f_ic | b, e, g_ic ~ N(eᵀg_ic + b_c, 1/ε_c)
//   classes      1/υ_c = σ_g² and ε_c = 1 are given
//   regression   υ_c ~ Gamma, ε_c ~ Gamma, f = y
//   labels       probit: y_ic f_ic > ν, or |f_ic| > ν where there is no label
//                multinomial: f_iy > f_ic for all other classes c, or nothing where there is no label
//   maximise     the lower bound on log p(y) [Gonen2012, eq. 2] over
//                q(λ) q(a) q(υ) q(G) q(γ) q(ω) q(ε) q(b,e) q(f)
//   by           setting one factor after the other to its optimum given the rest
//
//   paper        here
//   μ(a), Σ(a)   a, a_variance (its diagonal: all that the loop needs)
//   G            intermediate, (N·P) × M: output c's column read as N × P (the paper's G is P × N)
//   [K_m μ(a)]   kernel_outputs_, laid out like G
//   μ(b,e)       be; the M biases come first
//   Σ(b,e), Σ(g) in covariances_ (covariances.h)
//   f            f, and f_location = the mean of the normal before truncation at the last update of q(f)
//
// The updates are in factors.cpp, in the paper's order; the bound in bound.cpp; the step for the means of a and
// G together, and what the acceleration extrapolates, in acceleration.cpp. Samples have weights: everything in
// this class is in the scale that weighted_kernels.h describes.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "kloom/bank.h"
#include "kloom/parts.h"
#include "methods/bemkl/covariances.h"
#include "methods/bemkl/weighted_kernels.h"

namespace kloom::methods {

struct BemklProblem {
  BemklLikelihood likelihood = BemklLikelihood::probit;
  Matrix targets;  // N × M: +1, −1 or 0 (no label); numbers in regression
  Vector weights;  // per sample; empty: all 1
};

// The numbers that an iteration starts from, with e = 1 and b = 0; everything else follows from them.
struct BemklStart {
  Matrix a;             // N × M
  Matrix intermediate;  // (N·P) × M
  Matrix f;             // N × M; not used in regression
};

class BemklFactors {
 public:
  // Covariances start as identities.
  BemklFactors(const KernelBank& bank, BemklProblem problem, const BemklPrior& prior, BemklStart start);

  // All factors once, in the author's order. False, here and below, if a precision matrix is not positive
  // definite or not finite: the factors are then of no use.
  [[nodiscard]] bool iterate();

  // One factor each.
  void update_lambda();
  void update_upsilon();  // regression only
  [[nodiscard]] bool update_a();
  [[nodiscard]] bool update_intermediate();
  void update_gamma_omega();
  void update_epsilon();  // regression only
  [[nodiscard]] bool update_be();
  void update_f();  // classification only

  // Exact lower bound for the factors as they are now, whichever was updated last. Defined once every factor
  // has been updated (the initial f is no truncated normal).
  [[nodiscard]] double lower_bound() const;

  // The cycle of iterate() entered before q(G), with a step for the means of a and G together. It is a function
  // of state(): a, log diag Σ(a), (b, e), and f or the logs of υ, ε and tr(SΣ(a)); and of Σ(b,e), which set_state()
  // takes from `others`.
  [[nodiscard]] bool iterate_from_intermediate();
  [[nodiscard]] Vector state() const;
  // False if it is no state (a number that is not finite).
  [[nodiscard]] bool set_state(const Vector& state, const BemklFactors& others);

  // For fits that share the kernel weights e with each other (../bemkl_tasks): the two passes in two parts each, between
  // which the caller makes q(b,e) of all of them; what these samples say of (b,e), as Σ_c E[ε_c] E[H_cᵀH_c] and the
  // right-hand side of the normal equations; and the result. The first call makes the covariances such that can take it.
  void share_weights();
  [[nodiscard]] bool iterate_to_weights();
  void iterate_from_weights();
  [[nodiscard]] bool iterate_from_intermediate_to_weights();
  [[nodiscard]] bool iterate_from_intermediate_from_weights();
  [[nodiscard]] Matrix moments_of_be() const;
  [[nodiscard]] Vector pull_of_be() const;
  [[nodiscard]] const Vector& precision_of_be() const { return gamma_omega_; }
  void take_weights(Vector be, Covariances::GivenWeights given);
  // What the bound has of ω and of the prior of e: E[log p(ω) p(e|ω)] − E[log q(ω)].
  [[nodiscard]] double bound_of_weight_precisions() const;

  // With all else fixed and a flat prior on λ_i, the best λ_i is D²/(r² − D) where r² > D and infinite
  // elsewhere, D the precision of a_i without λ_i and r its linear term. Updates let 1/λ_i fall only like 1/t
  // there; this switches those samples off at once. False if there was none.
  bool switch_off_samples();
  [[nodiscard]] bool is_off(Index i, Index c) const { return lambda_(i, c) >= 0.1 * kOff; }
  // From now on these samples have weight 0. The other factors stay as they are until the next pass.
  void leave_out(std::span<const Index> gone);

  [[nodiscard]] Index samples() const { return kernels_.samples(); }
  [[nodiscard]] Index kernels() const { return kernels_.kernels(); }
  [[nodiscard]] Index outputs() const { return a_.cols(); }
  [[nodiscard]] const Matrix& a() const { return a_; }
  [[nodiscard]] const Matrix& a_variance() const { return a_variance_; }
  [[nodiscard]] const Matrix& intermediate() const { return intermediate_; }
  [[nodiscard]] Matrix g_covariance(Index output = 0) const { return covariances_->outputs(output); }
  [[nodiscard]] const Vector& be() const { return be_; }
  [[nodiscard]] const Matrix& f() const { return f_; }
  // Mean squares of the kernels' outputs where samples have them (seen_outputs.cpp), P × M.
  [[nodiscard]] Matrix seen_outputs() const;
  // The rest as models keep it. Σ(a) only if asked for: it is made from λ and υ, which must be those that the last update
  // of a had, as they are after every pass.
  [[nodiscard]] BemklPosterior::Group posterior(bool with_a_covariance) const;

 private:
  static constexpr double kOff = 1e6;  // E[λ] where the updates themselves end under the prior (1e-10, 1e+10)

  [[nodiscard]] bool gaussian() const { return problem_.likelihood == BemklLikelihood::gaussian; }
  [[nodiscard]] bool present(Index i) const { return kernels_.present(i); }
  [[nodiscard]] std::span<const double> e() const { return std::span(be_).subspan(at(outputs())); }
  [[nodiscard]] const GammaPrior& prior_of_be(Index k) const {
    return k < outputs() ? prior_.gamma : prior_.omega;
  }
  // Output c of a matrix that is laid out like G, as N × P.
  [[nodiscard]] ConstMatrixView of_output(const Matrix& stacked, Index c) const;
  [[nodiscard]] MatrixView of_output(Matrix& stacked, Index c) const;

  [[nodiscard]] bool update_a(Index c, std::span<const double> pull);
  [[nodiscard]] bool update_g_covariance();
  [[nodiscard]] Matrix linear_term_of_g(Index c) const;
  // With these in place of E[ε].
  [[nodiscard]] Covariances::WeightSystem weight_system(const Vector& epsilon) const;
  void update_f_probit();
  void update_f_multinomial();
  [[nodiscard]] Matrix a_covariance(Index c) const;  // Σ(a_c) whole
  void clear_absent();                               // samples of weight 0
  // How many outputs are worked on beside each other; 1: one after the other, and BLAS has the threads.
  [[nodiscard]] int threads_of_outputs() const;
  void step_means_together();
  void precondition(Index c, std::span<double> slope) const;
  void move_means(Index c, std::span<const double> slope, std::span<const double> direction,
                  ConstMatrixView moved);
  // Calls `visit(values, as_logs)` for every part of the state.
  template <typename Factors, typename Visit>
  static void visit_state(Factors& q, Visit visit);

  [[nodiscard]] double bound_of_precisions_and_a() const;
  [[nodiscard]] double bound_of_intermediate() const;
  [[nodiscard]] double bound_of_f() const;

  // Expectations that updates and bound are made of.
  [[nodiscard]] double second_moment_be(Index k) const;
  [[nodiscard]] Vector cross_moment_eb(Index c) const;    // E[e b_c]
  [[nodiscard]] Vector output_means(Index c) const;       // G_c μ(e) + μ(b_c)
  [[nodiscard]] double kernel_residual(Index c) const;    // E‖G_c − [K_p a_c]‖²
  [[nodiscard]] double square_of_outputs(Index c) const;  // E‖G_c μ(e) + μ(b_c)‖², over G alone
  // Σ_c E[ε_c] tr(Σ(b,e) E[H_cᵀH_c]), H_c of covariances.h: what (b,e) adds to the squares.
  [[nodiscard]] double spread_of_outputs(const Vector& epsilon) const;
  [[nodiscard]] double target_residual(Index c) const;  // E‖y_c − G_c μ(e) − μ(b_c)‖², over G alone; regression

  WeightedKernels kernels_;
  BemklPrior prior_;
  BemklProblem problem_;

  Matrix lambda_, a_, a_variance_;
  Vector log_det_a_;       // log det Σ(a_c)
  Vector trace_a_;         // tr(S Σ(a_c))
  Matrix kernel_outputs_;  // [K_p μ(a_c)]_p

  Matrix intermediate_;
  Vector gamma_omega_, upsilon_, epsilon_;

  std::shared_ptr<const Covariances> covariances_;  // Σ(b,e) and Σ(g)
  Vector be_;
  std::optional<double>
      spread_;  // of outputs, known from the last update of q(b,e) while G and ε stay as they were

  Matrix f_, f_location_;
  double log_mass_ = 0.0;  // Σ log Z_i at the last update of q(f)
};

}  // namespace kloom::methods
