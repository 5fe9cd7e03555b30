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
//   maximise     the lower bound on log p(y) over q(λ) q(a) q(υ) q(G) q(γ) q(ω) q(ε) q(b,e) q(f)
//   by           setting one factor after the other to its optimum given the rest
//
//   paper        here
//   μ(a), Σ(a)   a, a_variance (its diagonal: all that the loop needs)
//   G            intermediate, (N·P) × M: output c's column read as N × P (the paper's G is P × N)
//   Σ(g)         g_covariance, one P × P matrix for all samples; one for all outputs where they have the same
//                υ, ε
//   μ(b,e)       be; the M biases come first
//   Σ(b,e)       be_variance (diagonal), cross (cov(e, b)), bias_covariance, and for Σ(e): see below
//   f            f, and f_location = the mean of the normal before truncation at the last update of q(f)
//
// Classification needs of Σ(e) the diagonal, products with few vectors and the determinant, and Σ(g) = (I/σ_g²
// + Σ(e) + μμᵀ)⁻¹: one inverse serves both (bemkl_core.h), or, with far more kernels than samples, none of
// their size (bemkl_thin.h). In regression υ moves between q(b,e) and q(G), and both are kept as they are.
//
// Where the updates are: q(λ), q(a) bemkl_samples.cpp, q(b,e) bemkl_weights.cpp, the others bemkl_factors.cpp;
// the means of a and G together bemkl_means.cpp; the bound bemkl_bound.cpp; what acceleration goes on from, and
// fewer samples, bemkl_state.cpp; fewer kernels bemkl_dropping.cpp.
//
// A sample of weight w has p(g_i|a) and p(f_i|…) to the power w. With rows scaled by √w (kernel rows, g_i, f_i,
// the ones of the bias and the margin) every update below is that of weight 1; only constants of the bound
// differ. Everything in this class is in that scale. A sample of weight 0 is absent, also as a basis function
// (a_i = 0).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kloom/bank.h"
#include "kloom/matrix.h"
#include "methods/bemkl/core.h"
#include "methods/bemkl/thin.h"
#include "solvers/nearby_inverse.h"

namespace kloom::methods {

struct GammaPrior {
  double shape = 1.0;
  double scale = 1.0;

  // E[x] of q(x) = Gamma(shape + ½, (1/scale + ½ E[v²])⁻¹), the factor of the precision x of one variable v.
  [[nodiscard]] double expected_given(double second_moment) const {
    return (shape + 0.5) / (1.0 / scale + 0.5 * second_moment);
  }
};

enum class BemklLikelihood { probit, multinomial, gaussian };

struct BemklHyper {
  double sigma_g = 1.0;
  double margin = 1.0;
  GammaPrior lambda, gamma, omega;
  GammaPrior upsilon, epsilon;  // gaussian only
  bool non_negative = false;    // e ≥ 0: half-normal prior, q(b) Π_m q(e_m)
};

struct BemklProblem {
  BemklLikelihood likelihood = BemklLikelihood::probit;
  Matrix targets;  // N × M: +1, −1 or 0 (no label); numbers in regression
  Vector weights;  // per sample; empty: all 1
};

// The numbers that an iteration starts from; everything else follows from them.
struct BemklStart {
  Matrix a;             // N × M
  Matrix intermediate;  // (N·P) × M
  Matrix f;             // N × M; not used in regression
  Vector b;             // M
  Vector e;             // P
};

class BemklFactors {
 public:
  // Covariances start as identities. `rounded`, the same kernels rounded, takes the passes over small
  // differences; without it, or with several outputs, `bank` takes all.
  BemklFactors(const KernelBank& bank, BemklProblem problem, const BemklHyper& hyper, const BemklStart& start,
               std::shared_ptr<const KernelBank> rounded = nullptr);

  // One factor each, in the author's order. False if a precision matrix is not positive definite or not
  // finite: the factors are then of no use.
  void update_lambda();
  void update_upsilon();  // regression only
  [[nodiscard]] bool update_a();
  [[nodiscard]] bool update_intermediate();
  void update_gamma_omega();
  void update_epsilon();  // regression only
  [[nodiscard]] bool update_be();
  void update_f();  // classification only

  [[nodiscard]] bool iterate();  // all that the task has, once

  // Exact lower bound for the factors as they are now, whichever was updated last. Defined once every factor
  // has been updated (the initial f is no truncated normal).
  [[nodiscard]] double lower_bound() const;

  // With all else fixed and a flat prior on λ_i, the best λ_i is D²/(r² − D) where r² > D and infinite
  // elsewhere, D the precision of a_i without λ_i and r its linear term. Updates take 1/λ there only as 1/t;
  // this goes at once. False if there was none to switch off.
  bool switch_off_samples();

  // Samples leave: from now on their weight is 0. The other factors stay where they are, for the next passes to
  // move.
  void leave_out(std::span<const Index> gone);

  // What the samples say about each kernel weight beside its prior: its precision D, and those with r² > D, r
  // its linear term, which a flat prior on ω would not switch off.
  struct Evidence {
    Vector rest;  // D
    std::vector<Index> live;
  };
  [[nodiscard]] Evidence evidence_of_kernels() const;
  // Goes on with the kernels `kept`, which `bank` has; classification with free weights only. The others have
  // e_m = 0, so that their outputs are K_m μ(a) and pull a towards where it is: S stays whole.
  [[nodiscard]] bool keep_kernels(const KernelBank& bank, std::span<const Index> kept);
  // Takes over what the factors `few` of the kept kernels have come to, and passes over all factors once. The
  // weights of the others are where their updates would end.
  [[nodiscard]] bool adopt(const BemklFactors& few, std::span<const Index> kept, const Vector& rest);

  // The same cycle, entered before q(G); on demand with a step for the means of a and G together
  // (bemkl_means.cpp). It is a function of state(), which is a, log diag Σ(a), (b, e), log diag Σ(b,e), cov(e,
  // b), and f or the logs of υ, ε and tr(SΣ(a)); and of the rest of Σ(e), which hardly moves Σ(g) (by a part of
  // 1/N) and which set_state() takes from `core_of` as it is.
  [[nodiscard]] bool iterate_from_intermediate(bool means_together);
  [[nodiscard]] Vector state() const;
  // False if it is no state (a number that is not finite).
  [[nodiscard]] bool set_state(const Vector& state, const BemklFactors& core_of);

  [[nodiscard]] BemklLikelihood likelihood() const { return problem_.likelihood; }
  [[nodiscard]] Index samples() const { return bank_->rows(); }
  [[nodiscard]] Index kernels() const { return bank_->kernels(); }
  [[nodiscard]] Index outputs() const { return a_.cols(); }
  [[nodiscard]] const Matrix& lambda() const { return lambda_; }
  [[nodiscard]] const Matrix& a() const { return a_; }
  [[nodiscard]] const Matrix& a_variance() const { return a_variance_; }
  [[nodiscard]] Matrix a_covariance(Index output) const;  // Σ(a_c) whole, from the λ and υ that formed it
  [[nodiscard]] const Matrix& intermediate() const { return intermediate_; }
  [[nodiscard]] Matrix g_covariance(Index output = 0) const;
  [[nodiscard]] const Vector& gamma() const { return gamma_; }
  [[nodiscard]] const Vector& omega() const { return omega_; }
  [[nodiscard]] const Vector& upsilon() const { return upsilon_; }
  [[nodiscard]] const Vector& epsilon() const { return epsilon_; }
  [[nodiscard]] const Vector& be() const { return be_; }
  [[nodiscard]] const Vector& be_variance() const { return be_variance_; }
  [[nodiscard]] Matrix be_covariance() const;  // Σ(b,e) whole
  // Non-negative weights: the normals N(location, 1/precision) that were cut off at 0.
  [[nodiscard]] const Vector& e_location() const { return e_location_; }
  [[nodiscard]] const Vector& e_precision() const { return e_precision_; }
  [[nodiscard]] const Matrix& f() const { return f_; }
  [[nodiscard]] const Matrix& f_location() const { return f_location_; }

 private:
  [[nodiscard]] bool gaussian() const { return problem_.likelihood == BemklLikelihood::gaussian; }
  [[nodiscard]] bool present(Index i) const { return root_[static_cast<std::size_t>(i)] > 0.0; }
  [[nodiscard]] std::span<const double> e() const;
  [[nodiscard]] ConstMatrixView of_output(const Matrix& stacked, Index output) const;  // N × P
  [[nodiscard]] double second_moment_be(Index k) const;
  [[nodiscard]] Vector cross_moment_eb(Index output) const;  // E[e b_c]
  [[nodiscard]] Matrix e_covariance() const;                 // Σ(e) whole
  [[nodiscard]] double weights_trace() const;                // tr(Σ(e) Σ_c E[G_cᵀG_c]), classification
  [[nodiscard]] Vector output_means(Index output) const;     // μ_eᵀg_i + μ_b
  [[nodiscard]] double intermediate_residual(Index output) const;  // E‖G_c − [K_p a_c]‖²
  [[nodiscard]] double bias_square(Index output) const;        // the part of E‖G_c e + b_c 1‖² with b_c
  [[nodiscard]] double mean_square(std::size_t moment) const;  // μ_eᵀ E[GᵀG] μ_e
  [[nodiscard]] double target_residual(Index output) const;    // E‖y_c − G_c e − b_c 1‖², regression
  void count_samples();
  void start_covariances();
  [[nodiscard]] double bias_precision(Index c) const;  // c_c = E[γ_c] + E[ε_c] Σw
  [[nodiscard]] Matrix be_asked() const;
  [[nodiscard]] Matrix weighted_gram_of(const KernelBank& bank) const;  // Σ_p K_pᵀ W K_p
  [[nodiscard]] bool update_a(Index output, Vector right, bool step);
  using AnswerOfA = solvers::NearbyInverse::Answer;
  [[nodiscard]] std::optional<AnswerOfA> solve_for_a(Index output, Vector right);
  [[nodiscard]] std::optional<AnswerOfA> invert_for_a(Index output, Vector right);
  [[nodiscard]] Matrix a_precision(std::span<const double> lambda, double upsilon) const;
  void scale_rows(Matrix& stacked) const;
  void apply_a();
  void follow_a(const Matrix& before);
  [[nodiscard]] bool thin() const { return thin_weights_ != nullptr; }
  [[nodiscard]] double g_trace(Index output) const;  // tr Σ(g)
  [[nodiscard]] bool core() const { return !gaussian() && !hyper_.non_negative && !thin(); }
  [[nodiscard]] Matrix moment(std::size_t k) const;  // g_moment, made if it is not kept
  [[nodiscard]] Matrix add_squares(std::size_t k, double n, Matrix covariance) const;
  [[nodiscard]] bool update_core_be();
  [[nodiscard]] bool update_regression_be();
  [[nodiscard]] Matrix outputs_without_bias() const;
  [[nodiscard]] bool update_thin_be();
  [[nodiscard]] bool update_g_covariance(std::size_t k);
  [[nodiscard]] bool update_g_covariances();
  [[nodiscard]] Matrix g_linear(Index c) const;
  void times_g_covariance(Index c, ConstMatrixView rows, MatrixView out) const;  // rows · Σ(g_c)
  void update_g_means();
  void improve_means(Index c);  // of a, together with those of G
  [[nodiscard]] Matrix outputs_of(const Vector& v) const;
  [[nodiscard]] Vector adjoint_of(Matrix x) const;
  [[nodiscard]] Vector scaled_slope(Index c, const Vector& slope) const;
  [[nodiscard]] Matrix e_precision_given_b() const;
  [[nodiscard]] Matrix be_right() const;
  void update_be_moments(const Matrix& solved);
  void update_be_non_negative();
  void update_f_probit();
  void update_f_multinomial();
  [[nodiscard]] double bound_of_priors() const;
  [[nodiscard]] double bound_of_weights() const;
  [[nodiscard]] double bound_of_intermediate() const;
  [[nodiscard]] double bound_of_outputs() const;

  // Σ(a) where it was last inverted whole, one output: the next ones hardly differ. One that served for no
  // update is not made again at once.
  struct Anchor {
    std::shared_ptr<const solvers::NearbyInverse> inverse;
    Vector lambda;
    int served = 0;
    int wait = 0;       // updates before the next
    int next_wait = 1;  // after a failure
  };

  const KernelBank* bank_;
  std::shared_ptr<const KernelBank> rounded_;  // or none
  BemklHyper hyper_;
  BemklProblem problem_;
  Vector root_;                                    // √w
  double present_count_ = 0.0;                     // samples with w > 0
  double total_weight_ = 0.0;                      // Σ w
  double log_weight_ = 0.0;                        // Σ log w over those
  std::shared_ptr<const Matrix> gram_;             // S = Σ_p K_pᵀ W K_p, computed once
  std::shared_ptr<const Matrix> gram_of_dropped_;  // the part of S of kernels that were dropped; or none

  Matrix lambda_, a_, a_variance_;
  Anchor anchor_;
  Matrix lambda_of_a_;   // the E[λ] that Σ(a) was formed with
  Vector upsilon_of_a_;  // and the E[υ]
  Vector log_det_a_;     // log det Σ(a_c)
  Vector trace_a_;       // tr(S Σ(a_c))
  Matrix outputs_;       // [K_p μ(a_c)]_p, (N·P) × M
  Matrix a_of_pass_;     // the μ(a) of the last pass over all of it that was not rounded
  Matrix intermediate_;
  std::vector<Matrix> g_covariance_;  // where it is kept as it is, and g_moment with it
  Vector log_det_g_;
  std::vector<Matrix> g_moment_;  // E[Σ_i g_ic g_icᵀ] = G_cᵀG_c + N Σ(g_c); classification: summed over c
  Matrix g_sum_;                  // Σ_i g_ic, P × M
  Vector gamma_, omega_, upsilon_, epsilon_;
  Vector be_;
  Vector be_variance_;
  Matrix bias_covariance_;                      // M × M
  Matrix cross_;                                // cov(e, b), P × M
  std::shared_ptr<const Matrix> e_covariance_;  // Σ(e), regression
  // Classification with free weights: Σ(e) and Σ(g) in one of two forms.
  std::shared_ptr<const CoreWeights> core_weights_;
  CoreOutputs core_outputs_;
  std::shared_ptr<const ThinCovariance> thin_weights_;
  ThinCovariance thin_outputs_;
  double log_det_e_ = 0.0;
  double log_det_be_ = 0.0;
  double weights_trace_ = 0.0;
  bool weights_trace_known_ = false;  // g_moment has not changed since q(b,e) was updated
  Vector e_location_, e_precision_;
  Matrix f_, f_location_;
  double log_mass_ = 0.0;  // Σ log Z_i at the last update of q(f)
};

}  // namespace kloom::methods
