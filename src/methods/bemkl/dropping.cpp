// SPDX-License-Identifier: BSD-3-Clause
//
// What sparse priors switch off. Samples stay switched off. Sparse kernel weights: most kernels are switched
// off early, but plain updates take E[e_m²] to 0 only as 1/t, and every pass over all kernels costs P³. So the
// kernels that will stay off leave the iteration, which settles with the others, and come back for the last
// passes: what is reported is a fixed point of the whole model.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"
#include "kernels/banks/chosen_bank.h"
#include "methods/bemkl/factors.h"
#include "methods/bemkl/run.h"

namespace kloom::methods {
namespace {

Matrix part_of(const Matrix& matrix, std::span<const Index> rows, std::span<const Index> cols) {
  Matrix part(std::ssize(rows), std::ssize(cols));
  for (Index j = 0; j < part.cols(); ++j) {
    for (Index i = 0; i < part.rows(); ++i) part(i, j) = matrix(rows[at(i)], cols[at(j)]);
  }
  return part;
}

Vector part_of(const Vector& vector, std::span<const Index> places) {
  Vector part;
  for (const Index i : places) part.push_back(vector[at(i)]);
  return part;
}

// Blocks of N rows of a stacked (N·P) × M matrix.
Matrix blocks_of(const Matrix& stacked, Index n, std::span<const Index> kernels) {
  Matrix part(n * std::ssize(kernels), stacked.cols());
  for (Index c = 0; c < stacked.cols(); ++c) {
    for (Index k = 0; k < std::ssize(kernels); ++k)
      std::copy_n(stacked.column(c).data() + kernels[at(k)] * n, n, part.column(c).data() + k * n);
  }
  return part;
}

// Where E[ω] of a kernel with r = 0 ends: ω = (α + ½)/(1/β + ½/(ω + D)).
double precision_when_off(const GammaPrior& prior, double rest) {
  const double half = 0.5 * (prior.shape * prior.scale - rest);
  return half + std::sqrt(half * half + (prior.shape + 0.5) * prior.scale * rest);
}

}  // namespace

bool BemklFactors::switch_off_samples() {
  constexpr double kOff = 1e6;  // where the updates themselves end under the prior (1e-10, 1e+10)
  bool any = false;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = 0; i < samples(); ++i) {
      if (!present(i) || lambda_(i, c) >= 0.1 * kOff) continue;
      const double precision = 1.0 / a_variance_(i, c);
      const double rest = precision - lambda_of_a_(i, c);
      const double linear = a_(i, c) * precision;
      if (linear * linear > rest) continue;
      lambda_(i, c) = kOff;
      a_(i, c) = 0.0;
      a_variance_(i, c) = 1.0 / kOff;
      any = true;
    }
  }
  if (any) apply_a();
  return any;
}

// With all else fixed and a flat prior the best ω_m is D²/(r² − D) where r² > D and infinite elsewhere, D the
// precision of e_m without ω_m and r its linear term.
BemklFactors::Evidence BemklFactors::evidence_of_kernels() const {
  const Matrix precision = e_precision_given_b();
  const Matrix right = be_right();
  Evidence evidence;
  for (Index m = 0; m < kernels(); ++m) {
    double linear =
        right(outputs() + m, 0) - algebra::dot(precision.column(m), e()) + precision(m, m) * e()[at(m)];
    for (Index c = 0; c < outputs(); ++c) linear -= epsilon_[at(c)] * g_sum_(m, c) * be_[at(c)];
    const double rest = precision(m, m) - omega_[at(m)];
    evidence.rest.push_back(rest);
    if (linear * linear > rest) evidence.live.push_back(m);
  }
  return evidence;
}

bool BemklFactors::keep_kernels(const KernelBank& bank, std::span<const Index> kept) {
  Matrix rest = *gram_;
  algebra::axpy(-1.0, weighted_gram_of(bank).values(), rest.values());
  gram_of_dropped_ = std::make_shared<const Matrix>(std::move(rest));
  // Parts of Σ(g) and of the moment stay as they are until the next update.
  g_moment_ = {moment(0)};
  g_covariance_ = {g_covariance()};
  thin_weights_ = nullptr;
  const Index n = samples();
  std::vector<Index> each(at(outputs()));
  std::iota(each.begin(), each.end(), Index{0});
  outputs_ = blocks_of(outputs_, n, kept);
  intermediate_ = blocks_of(intermediate_, n, kept);
  for (Matrix& covariance : g_covariance_) covariance = part_of(covariance, kept, kept);
  for (Matrix& moment : g_moment_) moment = part_of(moment, kept, kept);
  g_sum_ = part_of(g_sum_, kept, each);
  cross_ = part_of(cross_, kept, each);
  omega_ = part_of(omega_, kept);
  std::vector<Index> places = each;
  for (const Index m : kept) places.push_back(outputs() + m);
  be_ = part_of(be_, places);
  be_variance_ = part_of(be_variance_, places);
  bank_ = &bank;
  if (rounded_) rounded_ = bank.rounded();
  if (!update_be()) return false;
  update_f();
  return true;
}

bool BemklFactors::adopt(const BemklFactors& few, std::span<const Index> kept, const Vector& rest) {
  a_ = few.a_;
  a_variance_ = few.a_variance_;
  lambda_ = few.lambda_;
  lambda_of_a_ = few.lambda_of_a_;
  log_det_a_ = few.log_det_a_;
  trace_a_ = few.trace_a_;
  f_ = few.f_;
  f_location_ = few.f_location_;
  log_mass_ = few.log_mass_;
  std::ranges::fill(cross_.values(), 0.0);
  for (Index m = 0; m < kernels(); ++m) {
    be_[at(outputs() + m)] = 0.0;
    be_variance_[at(outputs() + m)] = 1.0 / (precision_when_off(hyper_.omega, rest[at(m)]) + rest[at(m)]);
  }
  std::copy_n(few.be_.begin(), outputs(), be_.begin());
  std::copy_n(few.be_variance_.begin(), outputs(), be_variance_.begin());
  bias_covariance_ = few.bias_covariance_;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    be_[at(outputs() + kept[k])] = few.be_[at(outputs()) + k];
    be_variance_[at(outputs() + kept[k])] = few.be_variance_[at(outputs()) + k];
    for (Index c = 0; c < outputs(); ++c) cross_(kept[k], c) = few.cross_(static_cast<Index>(k), c);
  }
  apply_a();
  return iterate_from_intermediate(false);
}

namespace {

constexpr Index kFirst = 15;  // passes with all kernels before any is dropped
constexpr Index kLast = 3;    // after them, at least
constexpr int kRounds = 4;

bool usable(const Report& report) {
  return report.status == Status::converged || report.status == Status::iteration_limit;
}

// The live kernels alone, until they settle. False: nothing was changed.
bool settle_live(BemklFactors& factors, const KernelBank& bank, const BemklFactors::Evidence& evidence,
                 const BemklOptions& options, const Context& context, Index& passes) {
  const auto chosen = std::make_shared<kernels::ChosenBank>(bank, evidence.live);
  const std::unique_ptr<KernelBank> stored = store_bank(chosen, {}, context);
  BemklFactors few = factors;
  if (!few.keep_kernels(*stored, evidence.live)) return false;
  BemklOptions left = options;
  left.iterations = options.iterations - passes;
  Report part;
  BemklRun(few, left, context).go(part);
  passes += part.iterations;
  if (!usable(part)) return false;
  BemklFactors whole = factors;
  if (!whole.adopt(few, evidence.live, evidence.rest)) return false;
  factors = std::move(whole);
  return true;
}

}  // namespace

void run_with_dropping(BemklFactors& factors, const KernelBank& bank, const BemklOptions& options,
                       const Context& context, Report& report) {
  const ProgressMeter clock(context, "bemkl");
  BemklOptions first = options;
  first.iterations = std::min(options.iterations, kFirst);
  BemklRun(factors, first, context).go(report);
  Index passes = report.iterations;
  std::vector<Index> kept;
  for (int round = 0;
       round < kRounds && report.status == Status::iteration_limit && passes < options.iterations; ++round) {
    BemklFactors::Evidence evidence = factors.evidence_of_kernels();
    // Kernels that come back to life join the others.
    std::vector<Index> live;
    std::ranges::set_union(kept, evidence.live, std::back_inserter(live));
    if (2 * std::ssize(live) > factors.kernels() || live.empty() || (round > 0 && live == kept)) break;
    kept = evidence.live = live;
    if (!settle_live(factors, bank, evidence, options, context, passes)) break;
  }
  if (report.status != Status::iteration_limit || first.iterations == options.iterations) return;
  BemklOptions last = options;
  last.iterations = std::max<Index>(kLast, options.iterations - passes);
  const std::size_t before = report.trace.size();
  const double seconds = clock.seconds();
  BemklRun(factors, last, context).go(report);
  report.iterations += passes;
  for (std::size_t k = before; k < report.trace.size(); ++k) {
    report.trace[k].iteration += passes;
    report.trace[k].seconds += seconds;
  }
}

}  // namespace kloom::methods
