// SPDX-License-Identifier: BSD-3-Clause
//
// Recomputes BEMKL's lower bound from the model by the plainest formulas: q(a)'s covariance from E[λ], q(G) as
// the optimum given the rest (the model's last step), each expectation written out as the model's definition
// has it, sample by sample with its weight. It knows neither the learner's traces, scalings and cancellations
// nor its truncated-normal routines.
#include "certify/bemkl.h"

#include <fmt/format.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/normal_tail.h"
#include "kernels/banks/weighted_gram.h"
#include "kloom/error.h"

namespace kloom::certify_detail {

using algebra::Op;
using Group = BemklPosterior::Group;
using Likelihood = BemklLikelihood;

namespace {

const double kLog2Pi = std::log(2.0 * std::numbers::pi);

struct Inverse {
  Matrix matrix;
  double log_det = 0.0;  // of the inverse
};

Inverse inverse_of(Matrix precision) {
  if (algebra::cholesky(precision.view()) != 0) {
    throw InvalidArgument("the model's posterior has a precision matrix that is not positive definite");
  }
  Inverse result;
  result.log_det = -algebra::cholesky_log_det(precision.view());
  result.matrix = Matrix(precision.rows(), precision.rows());
  for (Index i = 0; i < precision.rows(); ++i) result.matrix(i, i) = 1.0;
  algebra::cholesky_solve(precision.view(), result.matrix.view());
  return result;
}

double log_det_of(Matrix covariance) {
  if (algebra::cholesky(covariance.view()) != 0) {
    throw InvalidArgument("the model's covariance of kernel weights is not positive definite");
  }
  return algebra::cholesky_log_det(covariance.view());
}

// digamma of a shape, which the model's rules keep above 0; one too large for it is not finite here either.
double digamma(double shape) {
  return std::isfinite(shape) && shape > 0.0 ? boost::math::digamma(shape) : std::nan("");
}

// One output of a group: everything that the bound is made of, rebuilt by one dense pass.
struct Rebuilt {
  Inverse a;             // Σ_a
  Matrix outputs;        // [K_p μ_a], N × P
  Matrix g;              // N × P
  Inverse g_covariance;  // Σ_g; a sample of weight w has Σ_g/w
  Vector f_mean;
  Vector means;             // of a: without the target's scale
  double residual = 0.0;    // how far a is from solving its own equation
  double covariance = 0.0;  // of the model's Σ_a from this one, relative to its largest entry
};

// One joint fit, with the names that its outputs have in the model.
struct Fit {
  const Model& model;
  const Group& group;
  const KernelBank& bank;
  Index first = 0;        // column of the model of its first output
  Index weights_row = 0;  // row of the kernel weights
  Vector weight;          // per sample
  Matrix targets;         // N × M: signs (0: none) or standardised numbers
  Matrix gram;            // Σ_p K_pᵀ W K_p
  Matrix second_be;       // E[(b,e)(b,e)ᵀ]
  double f_log_mass = 0.0;
  std::vector<Rebuilt> outputs;

  [[nodiscard]] Index count() const { return targets.cols(); }
  [[nodiscard]] const BemklPosterior& posterior() const { return part_of<BemklPosterior>(model); }
  [[nodiscard]] Likelihood likelihood() const { return posterior().likelihood; }
  [[nodiscard]] double scale(Index c) const {
    return posterior().target_scale.empty() ? 1.0 : posterior().target_scale[at(first + c)];
  }
  [[nodiscard]] double centre(Index c) const {
    return posterior().target_centre.empty() ? 0.0 : posterior().target_centre[at(first + c)];
  }
  [[nodiscard]] double bias(Index c) const { return (model.bias[at(first + c)] - centre(c)) / scale(c); }
  [[nodiscard]] double mean_be(Index k) const {
    return k < count() ? bias(k) : model.weights.values(weights_row, k - count());
  }
};

// Mean of q(f_i) of one probit output and log of its mass; N(location, 1/w) cut at the margin.
double probit_mean(double sign, double location, double margin, double weight, double& log_mass) {
  const double root = std::sqrt(weight);
  if (sign != 0.0) {
    const Tail tail = tail_of(root * (sign * location - margin));
    log_mass += tail.log_mass;
    return location + sign * tail.hazard / root;
  }
  const Tail above = tail_of(root * (location - margin));
  const Tail below = tail_of(root * (-location - margin));
  const double largest = std::max(above.log_mass, below.log_mass);
  const double mass = std::exp(above.log_mass - largest) + std::exp(below.log_mass - largest);
  log_mass += largest + std::log(mass);
  return location + (above.hazard * std::exp(above.log_mass - largest) -
                     below.hazard * std::exp(below.log_mass - largest)) /
                        (mass * root);
}

void rebuild_f(Fit& fit) {
  const Index n = fit.targets.rows();
  for (Rebuilt& r : fit.outputs) r.f_mean.assign(at(n), 0.0);
  for (Index i = 0; i < n; ++i) {
    const double weight = fit.weight[at(i)];
    if (weight == 0.0) continue;
    Vector mean(at(fit.count()));
    Index label = -1;
    for (Index c = 0; c < fit.count(); ++c) {
      mean[at(c)] = fit.likelihood() == Likelihood::gaussian ? fit.targets(i, c) : fit.group.f_location(i, c);
      if (fit.targets(i, c) > 0.0) label = c;
      if (fit.likelihood() == Likelihood::probit)
        mean[at(c)] =
            probit_mean(fit.targets(i, c), mean[at(c)], fit.posterior().prior.margin, weight, fit.f_log_mass);
    }
    if (fit.likelihood() == Likelihood::multinomial && label >= 0) {
      const Vector location = mean;
      multinomial_means(location, label, weight, mean, fit.f_log_mass);
    }
    for (Index c = 0; c < fit.count(); ++c) fit.outputs[at(c)].f_mean[at(i)] = mean[at(c)];
  }
}

void rebuild_a(Fit& fit, Index c) {
  Rebuilt& r = fit.outputs[at(c)];
  const Index n = fit.bank.rows();
  Matrix precision = fit.gram;
  algebra::scale(fit.group.upsilon[at(c)], precision.values());
  for (Index i = 0; i < n; ++i) precision(i, i) += fit.group.lambda(i, c);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n && fit.weight[at(i)] == 0.0; ++j)
      precision(i, j) = precision(j, i) = i == j ? 1.0 : 0.0;
  }
  r.a = inverse_of(precision);
  for (Index i = 0; i < n; ++i) {
    r.means.push_back(fit.model.coefficients(i, fit.first + c) / fit.scale(c));
    if (fit.weight[at(i)] == 0.0) r.a.matrix(i, i) = 0.0;
  }
  const Matrix applied = fit.bank.apply(as_column(r.means));
  r.outputs = Matrix(n, fit.bank.kernels());
  std::ranges::copy(applied.values(), r.outputs.values().begin());
}

void rebuild_g(Fit& fit, Index c) {
  Rebuilt& r = fit.outputs[at(c)];
  const Index n = r.outputs.rows();
  const Index p = r.outputs.cols();
  const double upsilon = fit.group.upsilon[at(c)];
  const double epsilon = fit.group.epsilon[at(c)];
  Matrix inner(p, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) {
      inner(i, j) = epsilon * fit.second_be(fit.count() + i, fit.count() + j) + (i == j ? upsilon : 0.0);
    }
  }
  r.g_covariance = inverse_of(inner);
  Matrix linear(n, p);
  for (Index m = 0; m < p; ++m) {
    for (Index i = 0; i < n; ++i) {
      linear(i, m) = upsilon * r.outputs(i, m) + epsilon * (r.f_mean[at(i)] * fit.mean_be(fit.count() + m) -
                                                            fit.second_be(fit.count() + m, c));
    }
  }
  r.g = Matrix(n, p);
  algebra::gemm(Op::none, Op::none, 1.0, linear.view(), r.g_covariance.matrix.view(), 0.0, r.g.view());
}

// How far the sample weights are from solving their own equation (diag E[λ] + υS) a = υ Σ K_p W g_p, relative.
void find_residual(Fit& fit, Index c) {
  Rebuilt& r = fit.outputs[at(c)];
  Matrix weighted(r.g.size(), 1);
  for (Index k = 0; k < r.g.size(); ++k) weighted.data()[k] = fit.weight[at(k % r.g.rows())] * r.g.data()[k];
  const Matrix right = fit.bank.apply_adjoint(weighted.view());
  Vector best(r.means.size());
  algebra::gemv(Op::none, fit.group.upsilon[at(c)], r.a.matrix.view(), right.values(), 0.0, best);
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    // Samples that were dropped as negligible have 0 in the model.
    if (r.means[i] != 0.0) difference = worse(difference, std::abs(best[i] - r.means[i]));
    size = std::max(size, std::abs(r.means[i]));
  }
  if (!fit.group.a_covariance.empty()) {
    double apart = 0.0;
    double largest = 0.0;
    const Matrix& kept = fit.group.a_covariance[at(c)];
    for (std::size_t k = 0; k < kept.values().size(); ++k) {
      apart = worse(apart, std::abs(kept.values()[k] - r.a.matrix.values()[k]));
      largest = std::max(largest, std::abs(r.a.matrix.values()[k]));
    }
    r.covariance = apart / std::max(largest, 1e-300);
  }
  r.residual = size > 0.0 ? difference / size : difference;
}

void rebuild(Fit& fit) {
  const Index dimension = fit.count() + fit.bank.kernels();
  fit.second_be = fit.group.be_covariance;
  for (Index j = 0; j < dimension; ++j) {
    for (Index i = 0; i < dimension; ++i) fit.second_be(i, j) += fit.mean_be(i) * fit.mean_be(j);
  }
  fit.outputs.resize(at(fit.count()));
  rebuild_f(fit);
  for (Index c = 0; c < fit.count(); ++c) {
    rebuild_a(fit, c);
    rebuild_g(fit, c);
    find_residual(fit, c);
  }
}

// E[log p(x)] − E[log q(x)] of a gamma-distributed precision.
double gamma_terms(const GammaPrior& prior, double shape, double mean) {
  const auto& [alpha, beta] = prior;
  const double scale = mean / shape;
  const double mean_log = digamma(shape) + std::log(scale);
  const double log_p = (alpha - 1.0) * mean_log - mean / beta - std::lgamma(alpha) - alpha * std::log(beta);
  const double log_q = (shape - 1.0) * mean_log - mean / scale - std::lgamma(shape) - shape * std::log(scale);
  return log_p - log_q;
}

// The same with E[log p(v|x)] of its variable.
double precision_terms(const GammaPrior& prior, double mean, double second) {
  const double shape = prior.shape + 0.5;
  const double mean_log = digamma(shape) + std::log(mean / shape);
  return gamma_terms(prior, shape, mean) + 0.5 * (mean_log - kLog2Pi - mean * second);
}

double prior_terms(const Fit& fit) {
  const BemklPosterior& q = fit.posterior();
  double sum = 0.0;
  for (Index c = 0; c < fit.count(); ++c) {
    const Rebuilt& r = fit.outputs[at(c)];
    sum += precision_terms(q.prior.gamma, fit.group.gamma[at(c)], fit.second_be(c, c));
    for (Index i = 0; i < fit.bank.rows(); ++i) {
      if (fit.weight[at(i)] == 0.0) continue;
      const double a = r.means[at(i)];
      sum += precision_terms(q.prior.lambda, fit.group.lambda(i, c), a * a + r.a.matrix(i, i));
      sum += 0.5 * (1.0 + kLog2Pi);  // entropy of q(a), its determinant below
    }
    sum += 0.5 * r.a.log_det;
  }
  for (Index m = 0; m < fit.bank.kernels(); ++m) {
    const Index k = fit.count() + m;
    sum += precision_terms(q.prior.omega, fit.group.omega[at(m)], fit.second_be(k, k));
  }
  return sum;
}

// Entropy of q(b,e). A normal N(l, 1/t) cut off at 0 has −E log q = ½ log(2π/t) + log Z + ½ t E(e − l)².
double weight_entropy(const Fit& fit) {
  const auto dimension = static_cast<double>(fit.group.be_covariance.rows());
  if (fit.group.e_location.empty()) {
    return 0.5 * (dimension * (1.0 + kLog2Pi) + log_det_of(fit.group.be_covariance));
  }
  double sum = 0.0;
  for (Index c = 0; c < fit.count(); ++c)
    sum += 0.5 * (1.0 + kLog2Pi + std::log(fit.group.be_covariance(c, c)));
  for (Index m = 0; m < fit.bank.kernels(); ++m) {
    const double location = fit.group.e_location[at(m)];
    const double precision = fit.group.e_precision[at(m)];
    const double mean = fit.mean_be(fit.count() + m);
    const double variance = fit.group.be_covariance(fit.count() + m, fit.count() + m);
    const double square = variance + (mean - location) * (mean - location);
    sum += std::numbers::ln2 + 0.5 * (kLog2Pi - std::log(precision)) +
           tail_of(location * std::sqrt(precision)).log_mass + 0.5 * precision * square;
  }
  return sum;
}

// E[log p(G|a)] − E[log q(G)] and υ: each E(g_im − k_m,iᵀa)² = (g_im − k_m,iᵀμ_a)² + (Σ_g)_mm/w_i + k_m,iᵀ Σ_a
// k_m,i; the last, summed with the weights, is tr(SΣ_a).
double intermediate_terms(const Fit& fit, Index c) {
  const Rebuilt& r = fit.outputs[at(c)];
  const BemklPosterior& q = fit.posterior();
  const auto p = static_cast<double>(r.g.cols());
  const double upsilon = fit.group.upsilon[at(c)];
  double total = 0.0;
  for (double weight : fit.weight) total += weight;
  double log_upsilon = std::log(upsilon);
  double sum = 0.0;
  if (fit.likelihood() == Likelihood::gaussian) {
    const double shape = q.prior.upsilon.shape + 0.5 * total * p;
    log_upsilon = digamma(shape) + std::log(upsilon / shape);
    sum += gamma_terms(q.prior.upsilon, shape, upsilon);
  }
  double square = algebra::dot(fit.gram.values(), r.a.matrix.values());
  for (Index i = 0; i < r.g.rows(); ++i) {
    const double weight = fit.weight[at(i)];
    if (weight == 0.0) continue;
    sum += -0.5 * weight * p * (kLog2Pi - log_upsilon);
    sum += 0.5 * (p * (1.0 + kLog2Pi) + r.g_covariance.log_det - p * std::log(weight));
    for (Index m = 0; m < r.g.cols(); ++m) {
      const double d = r.g(i, m) - r.outputs(i, m);
      square += weight * d * d + r.g_covariance.matrix(m, m);
    }
  }
  return sum - 0.5 * upsilon * square;
}

// Σ_i E[log p(f_i|…)] − E[log q(f_i)] without the masses (in regression E[log p(y_i|…)] and ε), with
// E(eᵀg+b)² = [1 gᵀ]M[1;g] + tr(M_ee Σ_g)/w, M = E[(b,e)(b,e)ᵀ].
double output_terms(const Fit& fit, Index c) {
  const Rebuilt& r = fit.outputs[at(c)];
  const Index p = r.g.cols();
  const bool gaussian = fit.likelihood() == Likelihood::gaussian;
  double trace = 0.0;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i)
      trace += fit.second_be(fit.count() + i, fit.count() + j) * r.g_covariance.matrix(i, j);
  }
  double total = 0.0;
  for (double weight : fit.weight) total += weight;
  const double epsilon = fit.group.epsilon[at(c)];
  const double shape = fit.posterior().prior.epsilon.shape + 0.5 * total;
  const double log_epsilon = gaussian ? digamma(shape) + std::log(epsilon / shape) : 0.0;
  double sum = gaussian ? gamma_terms(fit.posterior().prior.epsilon, shape, epsilon) : 0.0;
  for (Index i = 0; i < r.g.rows(); ++i) {
    const double weight = fit.weight[at(i)];
    if (weight == 0.0) continue;
    double mean = fit.bias(c);
    double square = fit.second_be(c, c) + trace / weight;
    for (Index m = 0; m < p; ++m) {
      mean += fit.mean_be(fit.count() + m) * r.g(i, m);
      square += 2.0 * fit.second_be(fit.count() + m, c) * r.g(i, m);
      for (Index l = 0; l < p; ++l)
        square += r.g(i, m) * fit.second_be(fit.count() + m, fit.count() + l) * r.g(i, l);
    }
    const double f = r.f_mean[at(i)];
    if (gaussian) {
      sum += 0.5 * weight * (log_epsilon - kLog2Pi - epsilon * (f * f - 2.0 * f * mean + square));
    } else {
      const double location = fit.group.f_location(i, c);
      sum += weight * (f * (mean - location) + 0.5 * location * location - 0.5 * square) +
             0.5 * (1.0 - weight) * kLog2Pi - 0.5 * std::log(weight);
    }
  }
  return sum;
}

// Signs or standardised numbers of output `column` of the model.
Vector target_column(const Targets& targets, const Model& model, Index column) {
  if (targets.task == Task::binary) return targets.signs();
  Vector result;
  if (targets.task == Task::multiclass) {
    for (int code : targets.codes)
      result.push_back(code == Targets::unlabelled ? 0.0 : code == column ? 1.0 : -1.0);
    return result;
  }
  for (double value : targets.values.column(column)) {
    if (targets.task == Task::multilabel) {
      result.push_back(std::isnan(value) ? 0.0 : value > 0.5 ? 1.0 : -1.0);
    } else {
      const BemklPosterior& q = part_of<BemklPosterior>(model);
      result.push_back((value - q.target_centre[at(column)]) / q.target_scale[at(column)]);
    }
  }
  return result;
}

// Deviations of kernel weights are roots of the diagonal of Σ_(b,e), which is symmetric; weights that must not be negative
// have the mean of their normal distribution cut off at 0.
double deviation_error(const Fit& fit) {
  const Matrix& covariance = fit.group.be_covariance;
  double worst = 0.0;
  for (Index j = 0; j < covariance.cols(); ++j) {
    const double size = std::sqrt(covariance(j, j));
    for (Index i = 0; i < j; ++i) {
      const double both = size * std::sqrt(covariance(i, i));
      worst = worse(worst, std::abs(covariance(i, j) - covariance(j, i)) / both);
    }
  }
  for (Index m = 0; m < fit.bank.kernels(); ++m) {
    const double right = std::sqrt(covariance(fit.count() + m, fit.count() + m));
    worst = worse(worst, std::abs(fit.model.weights.deviation(fit.weights_row, m) / right - 1.0));
    if (fit.group.e_location.empty()) continue;
    const double root = std::sqrt(fit.group.e_precision[at(m)]);
    const double mean = fit.group.e_location[at(m)] + tail_of(root * fit.group.e_location[at(m)]).hazard / root;
    worst = worse(worst, std::abs(fit.mean_be(fit.count() + m) - mean) / right);
  }
  return worst;
}

// Inverses of precisions that differ by factors up to 1e10 keep about six digits.
constexpr double kSame = 1e-6;

}  // namespace

double bound_of_shared_weights(const Model& model) {
  const BemklPosterior& q = part_of<BemklPosterior>(model);
  const Group& group = q.groups.front();
  const Index kernels = std::ssize(group.omega);
  const Index biases = std::ssize(group.gamma);
  Matrix of_e(kernels, kernels);
  double sum = 0.0;
  for (Index m = 0; m < kernels; ++m) {
    std::ranges::copy(group.be_covariance.column(biases + m).subspan(at(biases)), of_e.column(m).begin());
    const double mean = model.weights.values(0, m);
    sum += precision_terms(q.prior.omega, group.omega[at(m)], mean * mean + of_e(m, m));
  }
  return sum + 0.5 * (static_cast<double>(kernels) * (1.0 + kLog2Pi) + log_det_of(of_e));
}

Certificate certify_bemkl(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const BemklPosterior& posterior = part_of<BemklPosterior>(model);
  double bound = 0.0;
  double residual = 0.0;
  double covariance = 0.0;
  double deviation = 0.0;
  Index first = 0;
  for (std::size_t g = 0; g < posterior.groups.size(); ++g) {
    const Group& group = posterior.groups[g];
    Fit fit{model, group, bank, first, static_cast<Index>(g), posterior.sample_weights, {}, {}, {}, 0.0, {}};
    fit.targets = Matrix(bank.rows(), static_cast<Index>(group.gamma.size()));
    for (Index c = 0; c < fit.count(); ++c, ++first)
      std::ranges::copy(target_column(targets, model, first), fit.targets.column(c).begin());
    fit.gram = kernels::weighted_gram(bank, fit.weight);
    if (fit.weight.empty()) fit.weight.assign(at(bank.rows()), 1.0);
    rebuild(fit);
    bound += prior_terms(fit) + weight_entropy(fit) + fit.f_log_mass;
    for (Index c = 0; c < fit.count(); ++c) {
      bound += intermediate_terms(fit, c) + output_terms(fit, c);
      residual = worse(residual, fit.outputs[at(c)].residual);
      covariance = worse(covariance, fit.outputs[at(c)].covariance);
    }
    deviation = worse(deviation, deviation_error(fit));
  }
  Certificate certificate;
  certificate.items = {
      {"lower bound", bound, "of log p(y), recomputed from the model's factors by a plain dense pass"},
      {"stationarity", residual, "largest change that one more update would make to a sample weight, relative"},
      {"error of the covariance", covariance, "of the sample weights, against their precisions (0 is right)",
       kSame},
      {"error of the deviations", deviation, "of the kernel weights, against their covariance (0 is right)",
       1e-9}};
  certificate.verdict = fmt::format(
      "The lower bound is {:.6g}; one more update would move the sample weights by {:.2g} of their size. A "
      "variational bound has several maxima: this is not a proof of optimality.",
      bound, residual);
  return certificate;
}

}  // namespace kloom::certify_detail
