// SPDX-License-Identifier: BSD-3-Clause
//
// The updates of BEMKL in the order of the paper's author (bench/learners/bemkl_plain.cpp has the same for
// binary tasks without any of the devices here).
#include "methods/bemkl/factors.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <utility>

#include "algebra/blas.h"
#include "algebra/for_each.h"
#include "base/normal.h"
#include "solvers/multinomial_probit.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {

using algebra::Op;

bool BemklFactors::iterate() {
  if (!iterate_to_weights() || !update_be()) return false;
  iterate_from_weights();
  return true;
}

bool BemklFactors::iterate_to_weights() {
  update_lambda();
  if (gaussian()) update_upsilon();
  if (!update_a()) return false;
  if (!update_intermediate()) return false;
  update_gamma_omega();
  if (gaussian()) update_epsilon();
  return true;
}

void BemklFactors::iterate_from_weights() {
  if (!gaussian()) update_f();
}

// ---- λ, and υ in regression

namespace {

// E[x] of q(x) = Gamma(shape + ½n, (1/scale + ½ E[‖v‖²])⁻¹), the factor of the precision x of n variables v.
double expected_precision(const GammaPrior& prior, double square, double count = 1.0) {
  return (prior.shape + 0.5 * count) / (1.0 / prior.scale + 0.5 * square);
}

}  // namespace

void BemklFactors::update_lambda() {
  for (Index k = 0; k < lambda_.size(); ++k) {
    const double a = a_.data()[k];
    lambda_.data()[k] = expected_precision(prior_.lambda, a * a + a_variance_.data()[k]);
  }
}

void BemklFactors::update_upsilon() {
  const double count = kernels_.total_weight() * static_cast<double>(kernels());
  for (Index c = 0; c < outputs(); ++c)
    upsilon_[at(c)] = expected_precision(prior_.upsilon, kernel_residual(c), count);
}

// ---- a

int BemklFactors::threads_of_outputs() const {
  // Where that leaves more than half of them idle, all in each output are quicker.
  const int all = omp_get_max_threads();
  return outputs() > 1 && 2 * outputs() >= all ? all : 1;
}

// [Gonen2012, eq. 3]: Σ(a) = (diag λ + υS)⁻¹ and μ(a) = υ Σ(a) Σ_p K_p g_p.
bool BemklFactors::update_a() {
  const Matrix pull = kernels_.apply_adjoint(intermediate_);
  std::atomic<bool> sound = true;
  algebra::for_each(threads_of_outputs(), outputs(), [&](Index c) {
    if (!update_a(c, pull.column(c))) sound = false;
  });
  if (sound) kernel_outputs_ = kernels_.apply(a_);
  return sound;
}

bool BemklFactors::update_a(Index c, std::span<const double> pull) {
  const double upsilon = upsilon_[at(c)];
  Matrix factor = kernels_.precision_of_a(lambda_.column(c), upsilon);
  if (algebra::cholesky_inverse_factor(factor.view()) != 0) return false;
  Matrix mean = kernels_.of_present(pull);
  algebra::scale(upsilon, mean.values());
  algebra::solve_from_inverse_factor(factor.view(), mean.view());
  kernels_.spread(mean.values(), a_.column(c));
  log_det_a_[at(c)] = algebra::cholesky_log_det(factor.view());
  kernels_.spread(algebra::inverse_diagonal(factor.view()), a_variance_.column(c));
  // tr(S Σ(a)) = (N − Σ_i E[λ_i] Σ(a)_ii)/E[υ] without the inverse.
  trace_a_[at(c)] = (kernels_.count() - algebra::dot(lambda_.column(c), a_variance_.column(c))) / upsilon;
  return std::isfinite(log_det_a_[at(c)]);
}

// ---- G: Σ(g) = (E[υ]I + E[ε]E[eeᵀ])⁻¹ and G = Σ(g)(E[υ][K_p μ(a)] + E[ε](μ(e) fᵀ − E[e b]1ᵀ))

bool BemklFactors::update_intermediate() {
  if (!update_g_covariance()) return false;
  for (Index c = 0; c < outputs(); ++c)
    covariances_->times_outputs(c, linear_term_of_g(c).view(), of_output(intermediate_, c));
  spread_.reset();
  return true;
}

bool BemklFactors::update_g_covariance() {
  const auto next = covariances_->with_outputs(be_, upsilon_, epsilon_);
  if (next) covariances_ = next;
  return next != nullptr;
}

Matrix BemklFactors::linear_term_of_g(Index c) const {
  Matrix linear(samples(), kernels());
  const Vector eb = cross_moment_eb(c);
  for (Index m = 0; m < kernels(); ++m) {
    const auto column = linear.column(m);
    algebra::axpy(upsilon_[at(c)], of_output(kernel_outputs_, c).column(m), column);
    algebra::axpy(epsilon_[at(c)] * e()[at(m)], f_.column(c), column);
    algebra::axpy(-epsilon_[at(c)] * eb[at(m)], kernels_.root(), column);
  }
  return linear;
}

// ---- γ and ω, and ε in regression

void BemklFactors::update_gamma_omega() {
  for (Index k = 0; k < outputs() + kernels(); ++k)
    gamma_omega_[at(k)] = expected_precision(prior_of_be(k), second_moment_be(k));
}

void BemklFactors::update_epsilon() {
  for (Index c = 0; c < outputs(); ++c) {
    Vector of_c(at(outputs()));
    of_c[at(c)] = 1.0;
    epsilon_[at(c)] = expected_precision(prior_.epsilon, target_residual(c) + spread_of_outputs(of_c),
                                         kernels_.total_weight());
  }
  spread_.reset();
}

// ---- (b, e): the normal equations [Gonen2012, eq. 4] with the right-hand side Σ_c E[ε_c] H_cᵀf_c

Covariances::WeightSystem BemklFactors::weight_system(const Vector& epsilon) const {
  std::vector<ConstMatrixView> g;
  for (Index c = 0; c < outputs(); ++c) g.push_back(of_output(intermediate_, c));
  return {gamma_omega_, std::move(g), kernels_.root(), epsilon, kernels_.count(), be_};
}

Vector BemklFactors::pull_of_be() const {
  Vector right(be_.size());
  for (Index c = 0; c < outputs(); ++c) {
    right[at(c)] = epsilon_[at(c)] * algebra::dot(kernels_.root(), f_.column(c));
    algebra::gemv(Op::transpose, epsilon_[at(c)], of_output(intermediate_, c), f_.column(c), 1.0,
                  std::span(right).subspan(at(outputs())));
  }
  return right;
}

bool BemklFactors::update_be() {
  Vector right = pull_of_be();
  const auto next = covariances_->with_weights(weight_system(epsilon_), right);
  if (!next) return false;
  covariances_ = next;
  be_ = std::move(right);
  spread_ = next->spread();
  return true;
}

void BemklFactors::share_weights() {
  covariances_ = make_direct_covariances(outputs(), kernels(), gaussian() ? outputs() : 1);
}

Matrix BemklFactors::moments_of_be() const {
  return covariances_->second_moments(weight_system(epsilon_));
}

void BemklFactors::take_weights(Vector be, Covariances::GivenWeights given) {
  covariances_ = covariances_->with_given_weights(std::move(given));
  be_ = std::move(be);
  spread_ = covariances_->spread();
}

// ---- f

void BemklFactors::update_f() {
  log_mass_ = 0.0;
  for (Index c = 0; c < outputs(); ++c) std::ranges::copy(output_means(c), f_location_.column(c).begin());
  if (problem_.likelihood == BemklLikelihood::probit) update_f_probit();
  if (problem_.likelihood == BemklLikelihood::multinomial) update_f_multinomial();
}

void BemklFactors::update_f_probit() {
  for (Index k = 0; k < f_.size(); ++k) {
    const Index i = k % samples();
    const double sign = problem_.targets.data()[k];
    const double location = f_location_.data()[k];
    const double margin = prior_.margin * kernels_.root()[at(i)];
    solvers::TwoSided cut{};  // mean, and log of the mass that is left
    if (present(i) && sign == 0.0) cut = solvers::two_sided(location, margin);
    if (present(i) && sign != 0.0)
      cut = {sign * (margin + solvers::truncated_excess(sign * location - margin)),
             log_normal_cdf(sign * location - margin)};
    f_.data()[k] = cut.mean;
    log_mass_ += cut.log_mass;
  }
}

void BemklFactors::update_f_multinomial() {
  double log_mass = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : log_mass)
  for (Index i = 0; i < samples(); ++i) {
    Vector location(at(outputs()));
    Index label = -1;
    for (Index c = 0; c < outputs(); ++c) {
      location[at(c)] = f_location_(i, c);
      if (problem_.targets(i, c) > 0.0) label = c;
    }
    Vector mean = location;
    if (present(i) && label >= 0) log_mass += solvers::multinomial_probit(location, label, mean);
    for (Index c = 0; c < outputs(); ++c) f_(i, c) = mean[at(c)];
  }
  log_mass_ = log_mass;
}

// ---- the start, and fewer samples

BemklFactors::BemklFactors(const KernelBank& bank, BemklProblem problem, const BemklPrior& prior,
                           BemklStart start)
    : kernels_(bank, problem.weights),
      prior_(prior),
      problem_(std::move(problem)),
      a_(std::move(start.a)),
      intermediate_(std::move(start.intermediate)),
      f_(gaussian() ? problem_.targets : std::move(start.f)) {
  const auto expected = [](const GammaPrior& gamma) { return gamma.shape * gamma.scale; };
  const Index n = samples();
  const Index p = kernels();
  const Index m = outputs();
  lambda_ = Matrix(n, m, expected(prior.lambda));
  a_variance_ = Matrix(n, m, 1.0);
  log_det_a_.resize(at(m));
  trace_a_.resize(at(m));
  for (Index k = 0; k < m + p; ++k) gamma_omega_.push_back(expected(prior_of_be(k)));
  upsilon_.assign(at(m), gaussian() ? expected(prior.upsilon) : 1.0 / (prior.sigma_g * prior.sigma_g));
  epsilon_.assign(at(m), gaussian() ? expected_precision(prior.epsilon, 0.0, kernels_.total_weight()) : 1.0);
  covariances_ = make_covariances(n, p, m, gaussian(), prior.non_negative);
  be_.assign(at(m + p), 1.0);
  std::fill_n(be_.begin(), m, 0.0);
  f_location_ = Matrix(n, m);
  kernels_.scale_rows(f_);
  kernels_.scale_rows(intermediate_);
  clear_absent();
  for (Index c = 0; c < m; ++c) {
    for (Index i = 0; i < n; ++i) trace_a_[at(c)] += a_variance_(i, c) * kernels_.gram()(i, i);
  }
}

void BemklFactors::clear_absent() {
  for (Index i = 0; i < samples(); ++i) {
    for (Index c = 0; c < outputs() && !present(i); ++c) {
      a_(i, c) = a_variance_(i, c) = f_(i, c) = f_location_(i, c) = 0.0;
      for (Index m = 0; m < kernels(); ++m) intermediate_(m * samples() + i, c) = 0.0;
    }
  }
  kernel_outputs_ = kernels_.apply(a_);
}

void BemklFactors::leave_out(std::span<const Index> gone) {
  kernels_.leave_out(gone);
  clear_absent();
}

bool BemklFactors::switch_off_samples() {
  bool any = false;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = 0; i < samples(); ++i) {
      if (!present(i) || is_off(i, c)) continue;
      const double precision = 1.0 / a_variance_(i, c);
      const double rest = precision - lambda_(i, c);
      const double linear = a_(i, c) * precision;
      if (linear * linear > rest) continue;
      lambda_(i, c) = kOff;
      a_(i, c) = 0.0;
      a_variance_(i, c) = 1.0 / kOff;
      any = true;
    }
  }
  if (any) kernel_outputs_ = kernels_.apply(a_);
  return any;
}

// ---- what is read from the factors

ConstMatrixView BemklFactors::of_output(const Matrix& stacked, Index c) const {
  return {stacked.column(c).data(), samples(), kernels(), samples()};
}
MatrixView BemklFactors::of_output(Matrix& stacked, Index c) const {
  return {stacked.column(c).data(), samples(), kernels(), samples()};
}

double BemklFactors::second_moment_be(Index k) const {
  return be_[at(k)] * be_[at(k)] + covariances_->weight_variances()[at(k)];
}

Vector BemklFactors::cross_moment_eb(Index c) const {
  Vector moment;
  for (Index m = 0; m < kernels(); ++m)
    moment.push_back(covariances_->bias_rows()(c, outputs() + m) + be_[at(c)] * e()[at(m)]);
  return moment;
}

Vector BemklFactors::output_means(Index c) const {
  Vector means = kernels_.root();
  algebra::gemv(Op::none, 1.0, of_output(intermediate_, c), e(), be_[at(c)], means);
  return means;
}

BemklPosterior::Group BemklFactors::posterior(bool with_a_covariance) const {
  std::vector<Matrix> of_a;
  for (Index c = 0; c < outputs() && with_a_covariance; ++c) of_a.push_back(a_covariance(c));
  Matrix location = gaussian() ? Matrix() : f_location_;
  for (Index k = 0; k < location.size(); ++k) {
    const double root = kernels_.root()[at(k % samples())];  // here f is √w times that of the model
    location.data()[k] /= root > 0.0 ? root : 1.0;
  }
  const auto omega = gamma_omega_.begin() + outputs();
  return {lambda_,
          {omega, gamma_omega_.end()},
          {gamma_omega_.begin(), omega},
          upsilon_,
          epsilon_,
          covariances_->weights(),
          std::move(of_a),
          std::move(location),
          covariances_->weight_location(),
          covariances_->weight_precision(),
          seen_outputs()};
}

Matrix BemklFactors::a_covariance(Index c) const {
  Matrix of_present = kernels_.precision_of_a(lambda_.column(c), upsilon_[at(c)]);
  double ignored = 0.0;
  if (!algebra::invert_positive(of_present.view(), ignored)) return {};
  if (of_present.rows() == samples()) return of_present;
  Matrix covariance(samples(), samples());
  for (Index k = 0; k < of_present.cols(); ++k)
    kernels_.spread(of_present.column(k), covariance.column(kernels_.presents()[at(k)]));
  return covariance;
}

}  // namespace kloom::methods
