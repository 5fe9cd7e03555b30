// SPDX-License-Identifier: BSD-3-Clause
//
// From [DamoulasGirolami2008]. Kernel weights β, precisions E[1/ζ] and the locations of q(y) determine the other factors:
// with K = Σ_s β_s K_s, ỹ the means of q(y), U the samples' weights and Λ_c = diag E[1/ζ_c]
//
//   V_c = (K U K + Λ_c)⁻¹,   w̃_c = V_c K U ỹ_c
//
// and the bound is the sum of these expectations:
//
//   log p(y | w)      −½ Σ u_i E(y_ic − (K w_c)_i)²       without its constant, which −log q(y) has too
//   −log q(y)         +½ Σ u_i E(y_ic − location_ic)² + Σ_i log mass_i
//   log p(w | ζ)      Σ ½ (E log 1/ζ − log 2π − E[1/ζ] E w²)
//   log p(1/ζ)        Σ τ log υ − log Γ(τ) + (τ − 1) E log 1/ζ − υ E[1/ζ]
//   −log q(1/ζ)       the entropy of Gamma(τ + ½, with the mean E[1/ζ])
//   −log q(w)         Σ_c ½ log det(2πe V_c)
//
// The bound as a function of β, all other factors given, is concave: the largest slope towards a single kernel, over that
// towards β, says how far β is from its best.
#include "certify/vbpmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/normal_tail.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

using algebra::Op;

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

// The posterior among the samples that count, as far as it is in the model, and what follows from it.
struct Posterior {
  std::vector<Index> samples;
  Vector weights;  // of these
  Matrix kernel;   // K
  Matrix y;        // ỹ
  Matrix means;    // w̃ by its equation
  Matrix spread;   // diagonals of V_c
  std::vector<Matrix> covariance;
  double log_mass = 0.0;
  double log_det = 0.0;
};

Matrix multiplied(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  algebra::gemm(Op::none, Op::none, 1.0, a.view(), b.view(), 0.0, c.view());
  return c;
}

Matrix rows_of(const Matrix& all, const std::vector<Index>& samples) {
  Matrix some(std::ssize(samples), all.cols());
  for (Index c = 0; c < some.cols(); ++c) {
    for (Index i = 0; i < some.rows(); ++i) some(i, c) = all(samples[at(i)], c);
  }
  return some;
}

Matrix weighted(Matrix rows, const Vector& weights) {
  for (Index c = 0; c < rows.cols(); ++c) {
    for (Index i = 0; i < rows.rows(); ++i) rows(i, c) *= weights[at(i)];
  }
  return rows;
}

// Means of q(y) and the log of its mass, sample by sample.
void rebuild_y(const Targets& targets, const VbpmklPart& part, Posterior& posterior) {
  posterior.y = Matrix(std::ssize(posterior.samples), part.location.cols());
  for (Index i = 0; i < posterior.y.rows(); ++i) {
    const Index sample = posterior.samples[at(i)];
    Vector location;
    for (Index c = 0; c < part.location.cols(); ++c) location.push_back(part.location(sample, c));
    Vector mean;
    multinomial_means(location, targets.codes[at(sample)], posterior.weights[at(i)], mean, posterior.log_mass);
    for (Index c = 0; c < posterior.y.cols(); ++c) posterior.y(i, c) = mean[at(c)];
  }
}

void rebuild_w(const VbpmklPart& part, Posterior& posterior) {
  const Index n = posterior.kernel.rows();
  const Matrix square = multiplied(posterior.kernel, weighted(posterior.kernel, posterior.weights));
  const Matrix right = multiplied(posterior.kernel, weighted(posterior.y, posterior.weights));
  posterior.means = Matrix(n, right.cols());
  posterior.spread = Matrix(n, right.cols());
  for (Index c = 0; c < right.cols(); ++c) {
    Matrix factor = square;
    for (Index i = 0; i < n; ++i) factor(i, i) += part.precision(posterior.samples[at(i)], c);
    Matrix v(n, n, algebra::cholesky(factor.view()) == 0 ? 0.0 : std::nan(""));
    for (Index i = 0; i < n; ++i) v(i, i) += 1.0;
    posterior.log_det -= algebra::cholesky_log_det(factor.view());
    algebra::cholesky_solve(factor.view(), v.view());
    algebra::gemv(Op::none, 1.0, v.view(), right.column(c), 0.0, posterior.means.column(c));
    for (Index i = 0; i < n; ++i) posterior.spread(i, c) = v(i, i);
    posterior.covariance.push_back(std::move(v));
  }
}

Posterior rebuilt(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<VbpmklPart>(model);
  Posterior posterior;
  for (Index i = 0; i < bank.rows(); ++i) {
    const double weight = targets.weights.empty() ? 1.0 : targets.weights[at(i)];
    if (!(weight > 0.0)) continue;
    posterior.samples.push_back(i);
    posterior.weights.push_back(weight);
  }
  const Vector beta(model.weights.values.values().begin(), model.weights.values.values().end());
  Matrix rows(bank.cols(), std::ssize(posterior.samples));
  bank.combine_rows(beta, posterior.samples, rows.view());
  posterior.kernel = rows_of(rows, posterior.samples);
  rebuild_y(targets, part, posterior);
  rebuild_w(part, posterior);
  return posterior;
}

// Σ_ic u_i E(K w_c)_i² = Σ_c w̃_cᵀ K U K w̃_c + tr(K U K V_c).
double expected_square(const Posterior& posterior) {
  const Matrix scores = multiplied(posterior.kernel, posterior.means);
  const Matrix kernel = weighted(posterior.kernel, posterior.weights);
  double sum = algebra::dot(scores.values(), weighted(scores, posterior.weights).values());
  for (const Matrix& v : posterior.covariance) {
    const Matrix kv = multiplied(posterior.kernel, v);
    sum += algebra::dot(kv.values(), kernel.values());
  }
  return sum;
}

double lower_bound(const VbpmklPart& part, const Posterior& posterior) {
  const Matrix location = rows_of(part.location, posterior.samples);
  const Matrix precision = rows_of(part.precision, posterior.samples);
  const Matrix scores = multiplied(posterior.kernel, posterior.means);
  // The expectations of y² in the first two lines cancel.
  double bound = posterior.log_mass - 0.5 * expected_square(posterior);
  const Matrix y = weighted(posterior.y, posterior.weights);
  bound += algebra::dot(y.values(), scores.values()) - algebra::dot(y.values(), location.values());
  bound += 0.5 * algebra::dot(location.values(), weighted(location, posterior.weights).values());
  const double shape = part.tau + 0.5;
  const double digamma = std::isfinite(shape) ? boost::math::digamma(shape) : std::nan("");
  for (std::size_t k = 0; k < precision.values().size(); ++k) {
    const double mean = precision.values()[k];
    const double mean_log = digamma - std::log(shape / mean);
    const double second = std::pow(posterior.means.values()[k], 2) + posterior.spread.values()[k];
    bound += 0.5 * (mean_log - kLogTwoPi - mean * second);
    bound += part.tau * std::log(part.upsilon) - std::lgamma(part.tau) + (part.tau - 1.0) * mean_log -
             part.upsilon * mean;
    bound += shape - std::log(shape / mean) + std::lgamma(shape) + (1.0 - shape) * digamma;
  }
  return bound + 0.5 * (posterior.log_det + static_cast<double>(precision.size()) * (1.0 + kLogTwoPi));
}

// Slopes of the bound by every β_s: Σ_c ỹ_cᵀ U K_s w̃_c − Σ_c w̃_cᵀ K_s U K w̃_c − tr(K_s U K Σ_c V_c), which is ⟨K_s, S⟩
// with S = U (Σ_c (ỹ_c − K w̃_c) w̃_cᵀ − K Σ_c V_c).
Vector weight_slopes(const KernelBank& bank, const Posterior& posterior) {
  const Index n = posterior.kernel.rows();
  Matrix residual = multiplied(posterior.kernel, posterior.means);
  for (std::size_t k = 0; k < residual.values().size(); ++k)
    residual.values()[k] = posterior.y.values()[k] - residual.values()[k];
  Matrix sum(n, n);
  for (const Matrix& v : posterior.covariance) algebra::axpy(1.0, v.values(), sum.values());
  Matrix s(n, n);
  algebra::gemm(Op::none, Op::transpose, 1.0, residual.view(), posterior.means.view(), 0.0, s.view());
  algebra::gemm(Op::none, Op::none, -1.0, posterior.kernel.view(), sum.view(), 1.0, s.view());
  s = weighted(std::move(s), posterior.weights);
  Vector slopes(at(bank.kernels()));
  Vector entries(at(n * bank.kernels()));
  for (Index i = 0; i < n; ++i) {
    bank.entries({posterior.samples.data() + i, 1}, posterior.samples, entries.data());
    for (Index p = 0; p < bank.kernels(); ++p)
      slopes[at(p)] += algebra::dot({entries.data() + p * n, at(n)}, s.column(i));
  }
  return slopes;
}

// How much the bound could gain at most, by its slopes: max_s slope_s − Σ_s β_s slope_s.
double weight_gain(const Vector& slopes, const Model& model) {
  double largest = -std::numeric_limits<double>::infinity();
  double here = 0.0;
  for (std::size_t s = 0; s < slopes.size(); ++s) {
    largest = std::max(largest, slopes[s]);
    here += slopes[s] * model.weights.values(0, static_cast<Index>(s));
  }
  return std::max(0.0, largest - here);
}

double difference(const Matrix& found, const Matrix& kept) {
  double worst = 0.0;
  double size = 1e-300;
  for (std::size_t k = 0; k < found.values().size(); ++k) {
    worst = worse(worst, std::abs(found.values()[k] - kept.values()[k]));
    size = std::max(size, std::abs(found.values()[k]));
  }
  return worst / size;
}

// Of the model's coefficients (of two classes the difference) and means from those that follow from its other factors.
double coefficient_error(const Model& model, const Posterior& posterior) {
  const auto& part = part_of<VbpmklPart>(model);
  double error = difference(posterior.means, rows_of(part.means, posterior.samples));
  Matrix scores = part.means;
  if (model.coefficients.cols() == 1) {
    scores = Matrix(part.means.rows(), 1);
    for (Index i = 0; i < scores.rows(); ++i) scores(i, 0) = part.means(i, 1) - part.means(i, 0);
  }
  error = worse(error, difference(scores, model.coefficients));
  for (const double b : model.bias) error = worse(error, std::abs(b));
  return error;
}

double covariance_error(const Model& model, const Posterior& posterior) {
  const auto& part = part_of<VbpmklPart>(model);
  double worst = 0.0;
  for (std::size_t c = 0; c < part.covariance.size(); ++c) {
    Matrix found = posterior.covariance[c];
    if (part.covariance.size() == 1) algebra::axpy(1.0, posterior.covariance[1].values(), found.values());
    Matrix kept(found.rows(), found.cols());
    for (Index j = 0; j < kept.cols(); ++j) {
      for (Index i = 0; i < kept.rows(); ++i)
        kept(i, j) = part.covariance[c](posterior.samples[at(i)], posterior.samples[at(j)]);
    }
    worst = worse(worst, difference(found, kept));
  }
  return worst;
}

// What one more update of the precisions would change, in parts of them.
double precision_change(const VbpmklPart& part, const Posterior& posterior) {
  const Matrix precision = rows_of(part.precision, posterior.samples);
  double worst = 0.0;
  for (std::size_t k = 0; k < precision.values().size(); ++k) {
    const double second = std::pow(posterior.means.values()[k], 2) + posterior.spread.values()[k];
    const double next = (part.tau + 0.5) / (part.upsilon + 0.5 * second);
    worst = worse(worst, std::abs(next / precision.values()[k] - 1.0));
  }
  return worst;
}

}  // namespace

Certificate certify_vbpmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                           const Context& /*context*/) {
  const auto& part = part_of<VbpmklPart>(model);
  const Posterior posterior = rebuilt(bank, targets, model);
  double sum = 0.0;
  for (const double beta : model.weights.values.values()) sum += beta;
  // V amplifies rounding by the condition of K K + Λ, at most tr(K K)/min Λ.
  double least = std::numeric_limits<double>::infinity();
  for (const double precision : part.precision.values()) least = std::min(least, precision);
  const double condition = algebra::dot(posterior.kernel.values(), posterior.kernel.values()) / least;
  const double rounding = std::max(1e-6 * coarseness(bank), std::numeric_limits<double>::epsilon() * condition);
  const double gain = weight_gain(weight_slopes(bank, posterior), model);
  Certificate certificate;
  certificate.items = {
      {"lower bound", lower_bound(part, posterior), "of the log evidence, by its definition"},
      {"error of the coefficients", coefficient_error(model, posterior),
       "from those that the other factors have as their consequence (0 is right)", rounding},
      {"error of the covariances", covariance_error(model, posterior),
       "from the inverses that they are (0 is right)", rounding},
      {"sum of the kernel weights", std::abs(sum - 1.0), "from 1 (0 is right)", 1e-9},
      {"gain by kernel weights", gain,
       "at most, that other kernel weights would bring to the bound with all else as it is (0: settled)",
       std::numeric_limits<double>::infinity(), rounding * std::abs(gain)},
      {"change of the precisions", precision_change(part, posterior),
       "what one more update would change at most, in parts of them (0: settled)",
       std::numeric_limits<double>::infinity(), rounding},
  };
  certificate.verdict = fmt::format(
      "The posterior is what its update says, with the lower bound {:.6g}; {} A bound has several maxima: that "
      "no other "
      "posterior has a higher one is not proved.",
      certificate.items.front().value,
      part.literal ? "kernel weights by importance sampling are no maximum of it."
                   : fmt::format("other kernel weights alone could raise it by {:.2g} at most.", gain));
  return certificate;
}

}  // namespace kloom::certify_detail
