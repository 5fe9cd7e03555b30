// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/factors.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "base/normal.h"
#include "solvers/multinomial_probit.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {

using algebra::Op;

namespace {

void add_to_diagonal(double value, Matrix& matrix) {
  for (Index i = 0; i < matrix.rows(); ++i) matrix(i, i) += value;
}

Matrix identity(Index n) {
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

}  // namespace

BemklFactors::BemklFactors(const KernelBank& bank, BemklProblem problem, const BemklHyper& hyper,
                           const BemklStart& start, std::shared_ptr<const KernelBank> rounded)
    : bank_(&bank),
      rounded_(start.a.cols() == 1 ? std::move(rounded) : nullptr),
      hyper_(hyper),
      problem_(std::move(problem)),
      root_(at(bank.rows()), 1.0),
      lambda_(bank.rows(), start.a.cols(), hyper.lambda.shape * hyper.lambda.scale),
      a_(start.a),
      a_variance_(bank.rows(), start.a.cols(), 1.0),
      lambda_of_a_(lambda_),
      log_det_a_(at(start.a.cols())),
      intermediate_(start.intermediate),
      g_sum_(bank.kernels(), start.a.cols()),
      gamma_(at(start.a.cols()), hyper.gamma.shape * hyper.gamma.scale),
      omega_(at(bank.kernels()), hyper.omega.shape * hyper.omega.scale),
      upsilon_(at(start.a.cols()), 1.0 / (hyper.sigma_g * hyper.sigma_g)),
      epsilon_(at(start.a.cols()), 1.0),
      be_(start.b),
      be_variance_(at(start.a.cols() + bank.kernels()), 1.0),
      bias_covariance_(identity(start.a.cols())),
      cross_(bank.kernels(), start.a.cols()),
      f_(start.f),
      f_location_(bank.rows(), start.a.cols()) {
  for (std::size_t i = 0; i < problem_.weights.size(); ++i) root_[i] = std::sqrt(problem_.weights[i]);
  count_samples();
  be_.insert(be_.end(), start.e.begin(), start.e.end());
  gram_ = std::make_shared<const Matrix>(weighted_gram_of(bank));
  if (gaussian()) {
    f_ = problem_.targets;
    for (double& value : upsilon_) value = hyper.upsilon.shape * hyper.upsilon.scale;
    for (double& value : epsilon_) value = (hyper.epsilon.shape + 0.5 * total_weight_) * hyper.epsilon.scale;
  }
  scale_rows(f_);
  scale_rows(intermediate_);
  for (Index i = 0; i < bank.rows(); ++i) {
    for (Index c = 0; c < outputs() && !present(i); ++c) a_(i, c) = a_variance_(i, c) = 0.0;
  }
  upsilon_of_a_ = upsilon_;
  start_covariances();
  double trace = 0.0;
  for (Index i = 0; i < bank.rows(); ++i) trace += present(i) ? (*gram_)(i, i) : 0.0;
  trace_a_.assign(at(outputs()), trace);
  apply_a();
}

// Identities.
void BemklFactors::start_covariances() {
  const Index p = kernels();
  log_det_g_.assign(gaussian() ? at(outputs()) : 1, 0.0);
  if (!gaussian() && !hyper_.non_negative && thin_pays(samples(), outputs(), p)) {
    thin_weights_ = std::make_shared<const ThinCovariance>(ThinCovariance::identity(p));
    thin_outputs_ = *thin_weights_;
    return;
  }
  if (gaussian()) {
    e_covariance_ = std::make_shared<const Matrix>(identity(p));
  } else if (!hyper_.non_negative) {
    core_weights_ = std::make_shared<const CoreWeights>(CoreWeights::identity(p, 1.0 / upsilon_.front()));
  }
  g_covariance_.assign(log_det_g_.size(), identity(p));
}

void BemklFactors::count_samples() {
  present_count_ = total_weight_ = log_weight_ = 0.0;
  for (double root : root_) {
    if (root == 0.0) continue;
    present_count_ += 1.0;
    total_weight_ += root * root;
    log_weight_ += 2.0 * std::log(root);
  }
}

Matrix BemklFactors::weighted_gram_of(const KernelBank& bank) const {
  if (std::ranges::all_of(root_, [](double r) { return r == 1.0; })) return bank.gram();
  const Index n = bank.rows();
  Matrix gram(n, n);
  Matrix panel(bank.cols(), n);
  for (Index p = 0; p < bank.kernels(); ++p) {
    bank.panels({p, p + 1}, {0, n}, panel.data());
    for (Index i = 0; i < n; ++i) algebra::scale(root_[at(i)], panel.column(i));
    algebra::syrk_lower(Op::none, 1.0, panel.view(), 1.0, gram.view());
  }
  algebra::symmetrise_from_lower(gram.view());
  return gram;
}

std::span<const double> BemklFactors::e() const {
  return std::span(be_).subspan(at(outputs()));
}

ConstMatrixView BemklFactors::of_output(const Matrix& stacked, Index output) const {
  return {stacked.column(output).data(), samples(), kernels(), samples()};
}

Matrix BemklFactors::g_covariance(Index output) const {
  if (thin()) return thin_outputs_.dense();
  if (g_covariance_.empty()) return core_outputs_.dense();
  return g_covariance_[g_covariance_.size() == 1 ? 0 : at(output)];
}

double BemklFactors::g_trace(Index output) const {
  if (thin()) return thin_outputs_.trace();
  if (g_covariance_.empty()) return core_outputs_.trace();
  const Matrix& covariance = g_covariance_[g_covariance_.size() == 1 ? 0 : at(output)];
  double trace = 0.0;
  for (Index m = 0; m < kernels(); ++m) trace += covariance(m, m);
  return trace;
}

double BemklFactors::second_moment_be(Index k) const {
  return be_[at(k)] * be_[at(k)] + be_variance_[at(k)];
}

Vector BemklFactors::cross_moment_eb(Index output) const {
  Vector moment(cross_.column(output).begin(), cross_.column(output).end());
  algebra::axpy(be_[at(output)], e(), moment);
  return moment;
}

Matrix BemklFactors::e_covariance() const {
  if (thin()) return thin_weights_->dense();
  if (hyper_.non_negative) {
    Matrix covariance(kernels(), kernels());
    for (Index m = 0; m < kernels(); ++m) covariance(m, m) = be_variance_[at(outputs() + m)];
    return covariance;
  }
  if (gaussian()) return *e_covariance_;
  Matrix covariance = *core_weights_->t;  // Ĉ⁻¹ = (T⁻¹ − σ_g²I)⁻¹
  double ignored = 0.0;
  bool sound = algebra::invert_positive(covariance.view(), ignored);
  add_to_diagonal(-1.0 / upsilon_.front(), covariance);
  sound = sound && algebra::invert_positive(covariance.view(), ignored);
  return sound ? covariance : Matrix();
}

Matrix BemklFactors::be_covariance() const {
  const Index first = outputs();
  Matrix covariance(first + kernels(), first + kernels());
  const Matrix of_e = e_covariance();
  for (Index c = 0; c < first; ++c) {
    for (Index d = 0; d < first; ++d) covariance(d, c) = bias_covariance_(d, c);
    for (Index m = 0; m < kernels(); ++m) covariance(first + m, c) = covariance(c, first + m) = cross_(m, c);
  }
  for (Index m = 0; m < kernels() && !of_e.empty(); ++m)
    std::ranges::copy(of_e.column(m), covariance.column(first + m).subspan(at(first)).begin());
  return covariance;
}

Vector BemklFactors::output_means(Index output) const {
  Vector means = root_;
  algebra::gemv(Op::none, 1.0, of_output(intermediate_, output), e(), be_[at(output)], means);
  return means;
}

double BemklFactors::intermediate_residual(Index output) const {
  const double* g = intermediate_.column(output).data();
  const double* k = outputs_.column(output).data();
  double residual = 0.0;
#pragma omp simd reduction(+ : residual)
  for (Index i = 0; i < intermediate_.rows(); ++i) residual += (g[i] - k[i]) * (g[i] - k[i]);
  return residual + trace_a_[at(output)] + present_count_ * g_trace(output);
}

double BemklFactors::bias_square(Index output) const {
  return total_weight_ * second_moment_be(output) +
         2.0 * algebra::dot(g_sum_.column(output), cross_moment_eb(output));
}

double BemklFactors::mean_square(std::size_t moment) const {
  Matrix product(1, kernels());
  if (!g_moment_.empty()) {
    algebra::gemv(Op::none, 1.0, g_moment_[moment].view(), e(), 0.0, product.values());
    return algebra::dot(product.values(), e());
  }
  times_g_covariance(0, {e().data(), 1, kernels(), 1}, product.view());
  double sum = present_count_ * static_cast<double>(outputs()) * algebra::dot(product.values(), e());
  Vector means(at(samples()));
  for (Index c = 0; c < outputs(); ++c) {
    algebra::gemv(Op::none, 1.0, of_output(intermediate_, c), e(), 0.0, means);
    sum += algebra::dot(means, means);
  }
  return sum;
}

// Right after q(b,e) the trace follows from what its update had at hand; else Σ(e) is formed.
double BemklFactors::weights_trace() const {
  if (weights_trace_known_) return weights_trace_;
  return algebra::dot(moment(0).values(), e_covariance().values());
}

double BemklFactors::target_residual(Index output) const {
  const auto y = f_.column(output);
  const double trace = algebra::dot(g_moment_[at(output)].values(), e_covariance().values());
  return algebra::dot(y, y) - 2.0 * algebra::dot(y, output_means(output)) + bias_square(output) +
         mean_square(at(output)) + trace;
}

void BemklFactors::update_upsilon() {
  const double shape = hyper_.upsilon.shape + 0.5 * total_weight_ * static_cast<double>(kernels());
  for (Index c = 0; c < outputs(); ++c) {
    upsilon_[at(c)] = shape / (1.0 / hyper_.upsilon.scale + 0.5 * intermediate_residual(c));
  }
}

// Σ(g) = (E[υ]I + E[ε]E[eeᵀ])⁻¹. E[eeᵀ] = Σ(e) + μμᵀ: Q = (E[υ]I + E[ε]Σ(e))⁻¹ first, then the rank-one term.
bool BemklFactors::update_g_covariance(std::size_t k) {
  const double upsilon = upsilon_[k];
  const double epsilon = epsilon_[k];
  Matrix& q = g_covariance_[k];
  double& log_det = log_det_g_[k];
  if (hyper_.non_negative) {
    std::ranges::fill(q.values(), 0.0);
    log_det = 0.0;
    for (Index m = 0; m < kernels(); ++m) {
      q(m, m) = 1.0 / (upsilon + epsilon * be_variance_[at(outputs() + m)]);
      log_det += std::log(q(m, m));
    }
  } else {
    q = *e_covariance_;
    algebra::scale(epsilon, q.values());
    add_to_diagonal(upsilon, q);
    if (!algebra::invert_positive(q.view(), log_det)) return false;
  }
  Vector w(omega_.size());
  algebra::gemv(Op::none, 1.0, q.view(), e(), 0.0, w);
  const double scale = 1.0 + epsilon * algebra::dot(w, e());
  algebra::rank_one(-epsilon / scale, w, q.view());
  log_det -= std::log(scale);
  return std::isfinite(log_det);
}

bool BemklFactors::update_intermediate() {
  if (!update_g_covariances()) return false;
  update_g_means();
  return true;
}

bool BemklFactors::update_g_covariances() {
  if (thin()) {
    std::optional<ThinCovariance> made = thin_outputs(*thin_weights_, e(), upsilon_.front());
    if (!made) return false;
    thin_outputs_ = std::move(*made);
    log_det_g_.front() = thin_outputs_.log_det;
    return std::isfinite(log_det_g_.front());
  }
  if (core()) {
    core_outputs_ = CoreOutputs::of(*core_weights_, e(), 1.0 / upsilon_.front());
    g_covariance_.clear();
    g_moment_.clear();
    log_det_g_.front() = core_outputs_.log_det;
    return std::isfinite(log_det_g_.front());
  }
  for (std::size_t k = 0; k < log_det_g_.size(); ++k) {
    if (!update_g_covariance(k)) return false;
  }
  return true;
}

// E[υ] [K_p μ_a] + E[ε] (f μ_eᵀ − 1 E[e b]ᵀ): what Σ(g) is multiplied with.
Matrix BemklFactors::g_linear(Index c) const {
  const Index n = samples();
  Matrix linear(n, kernels());
  const Vector eb = cross_moment_eb(c);
  const ConstMatrixView outputs = of_output(outputs_, c);
  const double upsilon = upsilon_[at(c)];
  const double epsilon = epsilon_[at(c)];
  const double* f = f_.column(c).data();
  for (Index m = 0; m < kernels(); ++m) {
    const double weight = epsilon * e()[at(m)];
    const double shift = epsilon * eb[at(m)];
    const double* from = outputs.column(m).data();
    double* to = linear.column(m).data();
    for (Index i = 0; i < n; ++i) to[i] = upsilon * from[i] + f[i] * weight - shift * root_[at(i)];
  }
  return linear;
}

void BemklFactors::times_g_covariance(Index c, ConstMatrixView rows, MatrixView out) const {
  if (thin()) {
    std::ranges::copy(thin_outputs_.times(rows).values(), out.data);
  } else if (g_covariance_.empty()) {
    core_outputs_.times(rows, out);
  } else {
    const Matrix& covariance = g_covariance_[g_covariance_.size() == 1 ? 0 : at(c)];
    algebra::gemm(Op::none, Op::none, 1.0, rows, covariance.view(), 0.0, out);
  }
}

void BemklFactors::update_g_means() {
  const Index n = samples();
  for (Index c = 0; c < outputs(); ++c) {
    const MatrixView g{intermediate_.column(c).data(), n, kernels(), n};
    times_g_covariance(c, g_linear(c).view(), g);
    algebra::gemv(Op::transpose, 1.0, g, root_, 0.0, g_sum_.column(c));
  }
  g_moment_.clear();
  for (std::size_t k = 0; k < g_covariance_.size(); ++k) g_moment_.push_back(moment(k));
  weights_trace_known_ = false;
}

// n Σ(g) + Σ_c G_cᵀG_c, lower triangle, of output k in regression, of all outputs together in classification.
Matrix BemklFactors::add_squares(std::size_t k, double n, Matrix covariance) const {
  const Range range =
      gaussian() ? Range{static_cast<Index>(k), static_cast<Index>(k) + 1} : Range{0, outputs()};
  for (Index c = range.begin; c < range.end; ++c) {
    algebra::syrk_lower(Op::transpose, 1.0, of_output(intermediate_, c), n, covariance.view());
    n = 1.0;
  }
  return covariance;
}

Matrix BemklFactors::moment(std::size_t k) const {
  if (k < g_moment_.size()) return g_moment_[k];
  const double n = present_count_ * static_cast<double>(gaussian() ? 1 : outputs());
  Matrix moment = add_squares(k, n, g_covariance(static_cast<Index>(k)));
  algebra::symmetrise_from_lower(moment.view());
  return moment;
}

void BemklFactors::update_gamma_omega() {
  for (Index c = 0; c < outputs(); ++c) gamma_[at(c)] = hyper_.gamma.expected_given(second_moment_be(c));
  for (Index m = 0; m < kernels(); ++m) {
    omega_[at(m)] = hyper_.omega.expected_given(second_moment_be(outputs() + m));
  }
}

void BemklFactors::update_epsilon() {
  const double shape = hyper_.epsilon.shape + 0.5 * total_weight_;
  for (Index c = 0; c < outputs(); ++c) {
    epsilon_[at(c)] = shape / (1.0 / hyper_.epsilon.scale + 0.5 * target_residual(c));
  }
}

void BemklFactors::update_f() {
  for (Index c = 0; c < outputs(); ++c) {
    const Vector means = output_means(c);
    std::ranges::copy(means, f_location_.column(c).begin());
  }
  if (problem_.likelihood == BemklLikelihood::probit) update_f_probit();
  if (problem_.likelihood == BemklLikelihood::multinomial) update_f_multinomial();
}

void BemklFactors::update_f_probit() {
  log_mass_ = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = 0; i < samples(); ++i) {
      f_(i, c) = 0.0;
      if (!present(i)) continue;
      const double sign = problem_.targets(i, c);
      const double location = f_location_(i, c);
      const double margin = hyper_.margin * root_[at(i)];
      if (sign == 0.0) {
        const solvers::TwoSided cut = solvers::two_sided(location, margin);
        f_(i, c) = cut.mean;
        log_mass_ += cut.log_mass;
      } else {
        f_(i, c) = sign * (margin + solvers::truncated_excess(sign * location - margin));
        log_mass_ += log_normal_cdf(sign * location - margin);
      }
    }
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

bool BemklFactors::iterate() {
  update_lambda();
  if (gaussian()) update_upsilon();
  if (!update_a()) return false;
  if (!update_intermediate()) return false;
  update_gamma_omega();
  if (gaussian()) update_epsilon();
  if (!update_be()) return false;
  if (!gaussian()) update_f();
  return true;
}

bool BemklFactors::iterate_from_intermediate(bool means_together) {
  if (!update_g_covariances()) return false;
  if (means_together) {
    update_lambda();
    for (Index c = 0; c < outputs(); ++c) improve_means(c);
  }
  update_g_means();
  update_gamma_omega();
  if (gaussian()) update_epsilon();
  if (!update_be()) return false;
  if (!gaussian()) update_f();
  update_lambda();
  if (gaussian()) update_upsilon();
  return update_a();
}

}  // namespace kloom::methods
