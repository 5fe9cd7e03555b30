// SPDX-License-Identifier: BSD-3-Clause
//
// Recomputes BEMKL's lower bound from the model by the plainest formulas: q(a)'s covariance from E[λ], q(G) as
// the optimum given the rest (the model's last step), each expectation written out as the model's definition
// has it. It knows neither the learner's traces and cancellations nor its truncated-normal routines.
#include "certify/bemkl.h"

#include <fmt/format.h>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>

#include "algebra/blas.h"
#include "kloom/error.h"

namespace kloom::certify_detail {

using algebra::Op;

namespace {

const double kLog2Pi = std::log(2.0 * std::numbers::pi);

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

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

// Everything that the bound is made of, rebuilt by one dense pass.
struct Rebuilt {
  Matrix gram;           // S
  Inverse a;             // Σ_a
  Matrix second_be;      // E[(b,e)(b,e)ᵀ]
  Matrix outputs;        // [K_p μ_a]
  Matrix g;              // N × P
  Inverse g_covariance;  // Σ_g
  Vector f_mean;
  Vector f_log_mass;
};

// log Φ(z) and φ(z)/Φ(z) by complementary error function and, below −30, by the asymptotic series of Mills'
// ratio 1 − 1/z² + 3/z⁴ − 15/z⁶ + … (next term below 1e-11 there).
struct Tail {
  double log_mass;
  double hazard;
};
Tail tail_of(double z) {
  const boost::math::normal normal;
  if (z > -30.0) {
    const double mass = boost::math::cdf(normal, z);
    return {std::log(mass), boost::math::pdf(normal, z) / mass};
  }
  const double q = 1.0 / (z * z);
  const double series = 1.0 - q * (1.0 - q * (3.0 - q * (15.0 - q * (105.0 - q * 945.0))));
  return {-0.5 * z * z - 0.5 * kLog2Pi - std::log(-z) + std::log(series), -z / series};
}

Matrix second_moment(const Model& model) {
  Matrix moment = model.bemkl->be_covariance;
  const auto mean = [&](Index i) { return i == 0 ? model.bias[0] : model.weights.values(0, i - 1); };
  for (Index j = 0; j < moment.cols(); ++j) {
    for (Index i = 0; i < moment.rows(); ++i) moment(i, j) += mean(i) * mean(j);
  }
  return moment;
}

void rebuild_f(const Model& model, const Vector& signs, Rebuilt& r) {
  const BemklPosterior& q = *model.bemkl;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const Tail tail = tail_of(signs[i] * q.f_location[i] - q.margin);
    r.f_mean.push_back(q.f_location[i] + signs[i] * tail.hazard);
    r.f_log_mass.push_back(tail.log_mass);
  }
}

void rebuild_g(const Model& model, Rebuilt& r) {
  const Index n = r.outputs.rows();
  const Index p = r.outputs.cols();
  const double precision = 1.0 / (model.bemkl->sigma_g * model.bemkl->sigma_g);
  Matrix inner(p, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) inner(i, j) = r.second_be(i + 1, j + 1) + (i == j ? precision : 0.0);
  }
  r.g_covariance = inverse_of(inner);
  Matrix linear(n, p);
  for (Index m = 0; m < p; ++m) {
    for (Index i = 0; i < n; ++i) {
      linear(i, m) =
          precision * r.outputs(i, m) + r.f_mean[at(i)] * model.weights.values(0, m) - r.second_be(m + 1, 0);
    }
  }
  r.g = Matrix(n, p);
  algebra::gemm(Op::none, Op::none, 1.0, linear.view(), r.g_covariance.matrix.view(), 0.0, r.g.view());
}

Rebuilt rebuild(const KernelBank& bank, const Vector& signs, const Model& model) {
  const BemklPosterior& q = *model.bemkl;
  const double precision = 1.0 / (q.sigma_g * q.sigma_g);
  Rebuilt r;
  r.gram = bank.gram();
  Matrix a_precision = r.gram;
  algebra::scale(precision, a_precision.values());
  for (Index i = 0; i < bank.rows(); ++i) a_precision(i, i) += q.lambda[at(i)];
  r.a = inverse_of(a_precision);
  r.second_be = second_moment(model);
  const Matrix applied = bank.apply(model.coefficients.view());
  r.outputs = Matrix(bank.rows(), bank.kernels());
  std::ranges::copy(applied.values(), r.outputs.values().begin());
  rebuild_f(model, signs, r);
  rebuild_g(model, r);
  return r;
}

// E[log p(x)] + E[log p(v|x)] − E[log q(x)] of a gamma-distributed precision, term by term.
double precision_terms(double alpha, double beta, double mean, double second) {
  const double shape = alpha + 0.5;
  const double scale = mean / shape;
  const double mean_log = boost::math::digamma(shape) + std::log(scale);
  const double log_p = (alpha - 1.0) * mean_log - mean / beta - std::lgamma(alpha) - alpha * std::log(beta);
  const double log_v = 0.5 * (mean_log - kLog2Pi - mean * second);
  const double log_q = (shape - 1.0) * mean_log - mean / scale - std::lgamma(shape) - shape * std::log(scale);
  return log_p + log_v - log_q;
}

double prior_terms(const Model& model, const Rebuilt& r) {
  const BemklPosterior& q = *model.bemkl;
  double sum = precision_terms(q.alpha_gamma, q.beta_gamma, q.gamma, r.second_be(0, 0));
  for (Index i = 0; i < r.gram.rows(); ++i) {
    const double a = model.coefficients(i, 0);
    sum += precision_terms(q.alpha_lambda, q.beta_lambda, q.lambda[at(i)], a * a + r.a.matrix(i, i));
  }
  for (Index m = 0; m < r.g.cols(); ++m) {
    sum += precision_terms(q.alpha_omega, q.beta_omega, q.omega[at(m)], r.second_be(m + 1, m + 1));
  }
  return sum;
}

double entropy_terms(const Model& model, const Rebuilt& r) {
  const auto n = static_cast<double>(r.g.rows());
  const auto p = static_cast<double>(r.g.cols());
  return 0.5 * (n * (1.0 + kLog2Pi) + r.a.log_det) + 0.5 * n * (p * (1.0 + kLog2Pi) + r.g_covariance.log_det) +
         0.5 * ((p + 1.0) * (1.0 + kLog2Pi) + log_det_of(model.bemkl->be_covariance));
}

// E[log p(G|a)]: each E(g_im − k_m,iᵀa)² = (g_im − k_m,iᵀμ_a)² + (Σ_g)_mm + k_m,iᵀ Σ_a k_m,i; the last summed
// is tr(SΣ_a).
double intermediate_terms(const Model& model, const Rebuilt& r) {
  const double variance = model.bemkl->sigma_g * model.bemkl->sigma_g;
  const auto n = static_cast<double>(r.g.rows());
  double square = algebra::dot(r.gram.values(), r.a.matrix.values());
  for (Index m = 0; m < r.g.cols(); ++m) {
    square += n * r.g_covariance.matrix(m, m);
    for (Index i = 0; i < r.g.rows(); ++i)
      square += (r.g(i, m) - r.outputs(i, m)) * (r.g(i, m) - r.outputs(i, m));
  }
  return -0.5 * static_cast<double>(r.g.size()) * (kLog2Pi + std::log(variance)) - 0.5 * square / variance;
}

// Σ_i E[log p(f_i|…)] − E[log q(f_i)], with E(eᵀg+b)² = [1 gᵀ]M[1;g] + tr(M_ee Σ_g), M = E[(b,e)(b,e)ᵀ].
double output_terms(const Model& model, const Rebuilt& r) {
  const Index p = r.g.cols();
  double trace = 0.0;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) trace += r.second_be(i + 1, j + 1) * r.g_covariance.matrix(i, j);
  }
  Matrix extended(r.g.rows(), p + 1, 1.0);
  for (Index m = 0; m < p; ++m) std::ranges::copy(r.g.column(m), extended.column(m + 1).begin());
  Matrix product(r.g.rows(), p + 1);
  algebra::gemm(Op::none, Op::none, 1.0, extended.view(), r.second_be.view(), 0.0, product.view());
  double sum = 0.0;
  for (Index i = 0; i < r.g.rows(); ++i) {
    double mean = model.bias[0];
    double square = trace;
    for (Index m = 0; m <= p; ++m) square += extended(i, m) * product(i, m);
    for (Index m = 0; m < p; ++m) mean += model.weights.values(0, m) * r.g(i, m);
    const double location = model.bemkl->f_location[at(i)];
    sum += r.f_log_mass[at(i)] + r.f_mean[at(i)] * (mean - location) + 0.5 * location * location - 0.5 * square;
  }
  return sum;
}

// How far the sample weights are from solving their own equation (diag E[λ] + S/σ²) a = Σ K_p g_p/σ², relative.
double stationarity(const KernelBank& bank, const Model& model, const Rebuilt& r) {
  const double precision = 1.0 / (model.bemkl->sigma_g * model.bemkl->sigma_g);
  const Index n = bank.rows();
  const Matrix right = bank.apply_adjoint({r.g.data(), r.g.size(), 1, r.g.size()});
  Vector optimum(right.values().begin(), right.values().end());
  Vector best(optimum.size());
  algebra::gemv(Op::none, precision, r.a.matrix.view(), optimum, 0.0, best);
  double difference = 0.0;
  double size = 0.0;
  for (Index i = 0; i < n; ++i) {
    difference = std::max(difference, std::abs(best[at(i)] - model.coefficients(i, 0)));
    size = std::max(size, std::abs(model.coefficients(i, 0)));
  }
  return size > 0.0 ? difference / size : difference;
}

}  // namespace

Certificate certify_bemkl(const KernelBank& bank, const Targets& targets, const Model& model) {
  const Vector signs = targets.signs();
  const Rebuilt r = rebuild(bank, signs, model);
  const double bound =
      prior_terms(model, r) + entropy_terms(model, r) + intermediate_terms(model, r) + output_terms(model, r);
  const double residual = stationarity(bank, model, r);
  Certificate certificate;
  certificate.items = {
      {"lower bound", bound, "of log p(y), recomputed from the model's factors by a plain dense pass"},
      {"stationarity", residual,
       "largest change that one more update would make to a sample weight, relative"}};
  certificate.verdict = fmt::format(
      "The lower bound is {:.6g}; one more update would move the sample weights by {:.2g} of their size. A "
      "variational "
      "bound has several maxima: this is not a proof of optimality.",
      bound, residual);
  return certificate;
}

}  // namespace kloom::certify_detail
