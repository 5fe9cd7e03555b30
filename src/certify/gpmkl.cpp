// SPDX-License-Identifier: BSD-3-Clause
//
// At weights of greatest evidence L, less penalty Σ_p w_p d_p, the slope by a weight above 0 vanishes and that by a weight
// of 0 is not positive. L is log N(y; 0, K + σ² U⁻¹) plus the part of the weights u that does not depend on K, or
// [RasmussenWilliams2006] eq. 3.32 summed over the outputs; its slope by w_p is Σ_ij S_ij K_p(i, j) with
//
//   numbers   S = ½ α αᵀ − ½ C⁻¹,   C = K + σ² U⁻¹,   α = C⁻¹ y
//   classes   S = ½ a aᵀ − ½ R + ½ (z aᵀ + a zᵀ),   R = (K + W⁻¹)⁻¹,   z = (I − R K) s,   s_i = ½ Σ_ii ∂³ log p(y_i | f_i),
//             Σ = K − K R K,   a = ∇ log p(y | f) at the mode f = K a [RasmussenWilliams2006, eqs. 5.22 to 5.24]
//
// The mode among the samples of the evidence is found here anew; among all samples that of the model is checked.
#include "certify/gpmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "algebra/blas.h"
#include "certify/gap.h"

namespace kloom::certify_detail {
namespace {

using algebra::Op;

// The method keeps σ² above the one and w_p d_p below the other (docs/methods/gp-mkl.md).
constexpr double kLeastNoise = 1e-6;
constexpr double kLargest = 1e6;

struct Slopes {
  double evidence = 0.0;
  Matrix s;            // by the entries of K
  double noise = 0.0;  // by log σ²
};

// Targets, weights and covariance of some samples.
struct Process {
  Matrix kernel;
  Matrix y;  // ±1, or numbers as they were learned
  Vector u;
  double noise = 0.0;
};

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  algebra::gemm(Op::none, Op::none, 1.0, a.view(), b.view(), 0.0, c.view());
  return c;
}

double norm(std::span<const double> x) {
  return std::sqrt(algebra::dot(x, x));
}

Process process_of(const KernelBank& bank, const Targets& targets, const Model& model,
                   const std::vector<Index>& samples) {
  const auto& part = part_of<GpPart>(model);
  const auto n = std::ssize(samples);
  Process process{Matrix(n, n, part.constant), Matrix(n, model.coefficients.cols()), {}, part.noise};
  const Vector weights(model.weights.values.values().begin(), model.weights.values.values().end());
  Matrix rows(bank.cols(), n);
  bank.combine_rows(weights, samples, rows.view());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) process.kernel(i, j) += rows(samples[at(i)], j);
    const Index k = samples[at(j)];
    process.u.push_back(targets.weights.empty() ? 1.0 : targets.weights[at(k)]);
    for (Index c = 0; c < process.y.cols(); ++c) {
      const int positive = process.y.cols() == 1 ? 1 : static_cast<int>(c);
      process.y(j, c) = part.regression ? (targets.values(k, 0) - part.centre) / part.scale
                                        : (targets.codes[at(k)] == positive ? 1.0 : -1.0);
    }
  }
  return process;
}

// The inverse of a positive definite matrix from its Cholesky factor, column by column; log det of the matrix.
Matrix inverse_of(Matrix a, double& log_det) {
  Matrix result(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i) result(i, i) = 1.0;
  if (algebra::cholesky(a.view()) != 0) return Matrix(result.rows(), result.cols(), std::nan(""));
  log_det = algebra::cholesky_log_det(a.view());
  algebra::cholesky_solve(a.view(), result.view());
  return result;
}

Slopes gaussian_slopes(const Process& process) {
  Slopes slopes;
  const Index n = process.kernel.rows();
  Matrix c = process.kernel;
  double spare = 0.0;
  double log_weights = 0.0;
  for (Index i = 0; i < n; ++i) {
    c(i, i) += process.noise / process.u[at(i)];
    spare += 1.0 - process.u[at(i)];
    log_weights += std::log(process.u[at(i)]);
  }
  double log_det = 0.0;
  const Matrix inverse = inverse_of(c, log_det);
  const Matrix alpha = times(inverse, process.y);
  const double log_two_pi = std::log(2.0 * std::numbers::pi);
  slopes.evidence = -0.5 * algebra::dot(alpha.values(), process.y.values()) - 0.5 * log_det -
                    0.5 * static_cast<double>(n) * log_two_pi - 0.5 * log_weights +
                    0.5 * spare * (log_two_pi + std::log(process.noise));
  slopes.s = Matrix(n, n);
  slopes.noise = 0.5 * spare;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) slopes.s(i, j) = 0.5 * (alpha(i, 0) * alpha(j, 0) - inverse(i, j));
    slopes.noise += process.noise / process.u[at(j)] * slopes.s(j, j);
  }
  return slopes;
}

double probability(double f) {
  return 1.0 / (1.0 + std::exp(-f));
}

// Σ_i u_i log σ(y_i f_i) − ½ aᵀf.
double posterior(const Process& process, Index c, const Matrix& a, const Matrix& f) {
  double value = -0.5 * algebra::dot(a.values(), f.values());
  for (Index i = 0; i < f.rows(); ++i) {
    const double margin = process.y(i, c) * f(i, 0);
    value -= process.u[at(i)] *
             (margin > 0.0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin)));
  }
  return value;
}

// R = (K + W⁻¹)⁻¹ and log det(I + W^½ K W^½) at f.
Matrix precision_at(const Process& process, const Matrix& f, double& log_det) {
  const Index n = f.rows();
  Vector root(at(n));
  for (Index i = 0; i < n; ++i)
    root[at(i)] = std::sqrt(process.u[at(i)] * probability(f(i, 0)) * probability(-f(i, 0)));
  Matrix b(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      b(i, j) = root[at(i)] * process.kernel(i, j) * root[at(j)] + (i == j ? 1.0 : 0.0);
  }
  Matrix r = inverse_of(std::move(b), log_det);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) r(i, j) *= root[at(i)] * root[at(j)];
  }
  return r;
}

double gradient_at(const Process& process, Index c, Index i, double f) {
  const double y = process.y(i, c);
  return process.u[at(i)] * y * probability(-y * f);
}

// The mode of output c by damped Newton steps a ← (I − R K)(W f + ∇ log p).
Matrix mode_of(const Process& process, Index c) {
  const Index n = process.kernel.rows();
  Matrix a(n, 1);
  Matrix f(n, 1);
  double value = posterior(process, c, a, f);
  for (int t = 0; t < 100; ++t) {
    double log_det = 0.0;
    const Matrix r = precision_at(process, f, log_det);
    Matrix b(n, 1);
    for (Index i = 0; i < n; ++i) {
      const double w = process.u[at(i)] * probability(f(i, 0)) * probability(-f(i, 0));
      b(i, 0) = w * f(i, 0) + gradient_at(process, c, i, f(i, 0));
    }
    const Matrix explained = times(r, times(process.kernel, b));
    const double rounding = 1e-12 * (1.0 + std::abs(value));
    double gain = -std::numeric_limits<double>::infinity();
    for (double length = 1.0; length > 1e-6 && gain < -rounding; length *= 0.5) {
      Matrix next(n, 1);
      for (Index i = 0; i < n; ++i) next(i, 0) = a(i, 0) + length * (b(i, 0) - explained(i, 0) - a(i, 0));
      Matrix there = times(process.kernel, next);
      gain = posterior(process, c, next, there) - value;
      if (gain < -rounding) continue;
      a = std::move(next);
      f = std::move(there);
    }
    value += gain;
    if (!(gain > rounding)) break;
  }
  return a;
}

void add_laplace_slopes(const Process& process, Index c, Slopes& slopes) {
  const Index n = process.kernel.rows();
  const Matrix a = mode_of(process, c);
  const Matrix f = times(process.kernel, a);
  double log_det = 0.0;
  const Matrix r = precision_at(process, f, log_det);
  slopes.evidence += posterior(process, c, a, f) - 0.5 * log_det;
  const Matrix rk = times(r, process.kernel);
  Matrix s(n, 1);
  for (Index i = 0; i < n; ++i) {
    const double variance = process.kernel(i, i) - algebra::dot(process.kernel.column(i), rk.column(i));
    const double p = probability(f(i, 0));
    s(i, 0) = -0.5 * variance * process.u[at(i)] * p * probability(-f(i, 0)) * (1.0 - 2.0 * p);
  }
  Matrix z = times(rk, s);
  for (Index i = 0; i < n; ++i) z(i, 0) = s(i, 0) - z(i, 0);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      slopes.s(i, j) += 0.5 * (a(i, 0) * a(j, 0) - r(i, j) + z(i, 0) * a(j, 0) + a(i, 0) * z(j, 0));
  }
}

// Σ_ij S_ij K_p(i, j) and mean diagonal of every kernel, some rows of all kernels at a time.
void kernel_slopes(const KernelBank& bank, const std::vector<Index>& samples, const Matrix& s, Vector& slope,
                   Vector& diagonal) {
  const auto n = std::ssize(samples);
  const Index block = std::clamp<Index>((Index{1} << 22) / std::max<Index>(1, n * bank.kernels()), 1, n);
  Vector entries(at(block * n * bank.kernels()));
  slope.assign(at(bank.kernels()), 0.0);
  diagonal.assign(at(bank.kernels()), 0.0);
  for (Index i = 0; i < n; i += block) {
    const Index rows = std::min(block, n - i);
    bank.entries({samples.data() + i, at(rows)}, samples, entries.data());
    for (Index p = 0; p < bank.kernels(); ++p) {
      for (Index r = 0; r < rows; ++r) {
        const std::span<const double> row{entries.data() + (p * rows + r) * n, at(n)};
        slope[at(p)] += algebra::dot(row, s.column(i + r));
        diagonal[at(p)] += row[at(i + r)] / static_cast<double>(n);
      }
    }
  }
}

// The largest slope that should not be there, for a change of a weight by the factor e; where the weight is 0, for
// a contribution of 1, or of that of all others if that is less. Per unit of sample weight and output.
double worst_slope(const KernelBank& bank, const Model& model, const Process& process, const Slopes& found) {
  const auto& part = part_of<GpPart>(model);
  Vector slope;
  Vector diagonal;
  kernel_slopes(bank, part.evidence_samples, found.s, slope, diagonal);
  Vector v;
  Vector by_v;
  for (Index p = 0; p < bank.kernels(); ++p) {
    v.push_back(model.weights.values(0, p) * diagonal[at(p)]);
    by_v.push_back(diagonal[at(p)] > 0.0 ? slope[at(p)] / diagonal[at(p)] - part.penalty : 0.0);
  }
  v.push_back(part.constant);
  by_v.push_back(0.0);
  for (const double value : found.s.values()) by_v.back() += value;
  double total = 0.0;
  for (const double one : v) total += one;
  double worst = 0.0;
  for (std::size_t k = 0; k < v.size(); ++k) {
    const double wrong = v[k] == 0.0 ? std::max(0.0, std::min(1.0, total) * by_v[k]) : v[k] * by_v[k];
    const bool held = v[k] >= kLargest * (1.0 - 1e-9) && wrong > 0.0;
    worst = held ? worst : worse(worst, std::abs(wrong));
  }
  const bool held = part.noise <= kLeastNoise && found.noise < 0.0;
  if (part.regression && !held) worst = worse(worst, std::abs(found.noise));
  double weight = 0.0;
  for (const double u : process.u) weight += u;
  return worst / (weight * static_cast<double>(process.y.cols()));
}

// a against the gradient of the log likelihood at f = K a; numbers: (K + σ² U⁻¹) a against y. Relative to their size.
double mode_residual(const Process& process, const Matrix& a, bool regression) {
  Matrix f = times(process.kernel, a);
  double worst = 0.0;
  for (Index c = 0; c < a.cols(); ++c) {
    Vector difference(at(a.rows()));
    Vector size(at(a.rows()));
    for (Index i = 0; i < a.rows(); ++i) {
      size[at(i)] = regression ? process.y(i, c) : 0.5 * process.u[at(i)];
      difference[at(i)] = regression ? f(i, c) + process.noise / process.u[at(i)] * a(i, c) - process.y(i, c)
                                     : a(i, c) - gradient_at(process, c, i, f(i, c));
    }
    const double found = norm(difference) / std::max(norm(size), 1e-300);
    worst = worse(worst, found);
  }
  return worst;
}

// Solutions with K + σ² U⁻¹ round by its condition number, at most tr K/σ², times the number of operations on an entry.
double inverse_rounding(const Process& process) {
  double trace = 0.0;
  for (Index i = 0; i < process.kernel.rows(); ++i) trace += process.kernel(i, i);
  return std::numeric_limits<double>::epsilon() * trace / process.noise;
}

// Scores of some samples.
Matrix scores_of(const KernelBank& bank, const Model& model, const std::vector<Index>& samples) {
  const Vector weights(model.weights.values.values().begin(), model.weights.values.values().end());
  Matrix rows(bank.cols(), std::ssize(samples));
  bank.combine_rows(weights, samples, rows.view());
  Matrix f(rows.cols(), model.coefficients.cols());
  for (Index c = 0; c < f.cols(); ++c) {
    for (Index j = 0; j < f.rows(); ++j)
      f(j, c) = model.bias[at(c)] + algebra::dot(rows.column(j), model.coefficients.column(c));
  }
  return f;
}

// The model's Q against (K + D)⁻¹ of its variance samples, D = σ² U⁻¹ or W⁻¹ at the scores f: how far Q(K + D)z is from a
// vector z of fixed signs over 1 + D, as D may be anything. A multiplication with all of K would cost as much as the fit.
double precision_error(const Process& process, const Matrix& f, const GpPart& part) {
  const Index n = process.kernel.rows();
  double worst = 0.0;
  for (Index c = 0; c < std::ssize(part.precision); ++c) {
    Matrix z(n, 1);
    Matrix d(n, 1);
    for (Index j = 0; j < n; ++j) {
      const double w = process.u[at(j)] * probability(f(j, c)) * probability(-f(j, c));
      d(j, 0) = part.regression ? process.noise / process.u[at(j)] : 1.0 / std::max(w, 1e-300);
      z(j, 0) = ((j * (j + 1) / 2) % 2 == 0 ? 1.0 : -1.0) / (1.0 + d(j, 0));
    }
    Matrix image = times(process.kernel, z);
    for (Index j = 0; j < n; ++j) image(j, 0) += d(j, 0) * z(j, 0);
    const Matrix back = times(part.precision[at(c)], image);
    for (Index j = 0; j < n; ++j) worst = worse(worst, std::abs(back(j, 0) - z(j, 0)) * (1.0 + d(j, 0)));
  }
  return worst;
}

double precision_error(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<GpPart>(model);
  return precision_error(process_of(bank, targets, model, part.variance_samples),
                         scores_of(bank, model, part.variance_samples), part);
}

// The model's k_p(x, x) against the mean over the samples that count.
double diagonal_error(const KernelBank& bank, const std::vector<Index>& counted, const GpPart& part) {
  const Matrix diagonal = bank.diagonal();
  double worst = 0.0;
  for (Index p = 0; p < diagonal.cols(); ++p) {
    double mean = 0.0;
    for (const Index i : counted) mean += diagonal(i, p) / static_cast<double>(counted.size());
    worst = worse(worst, std::abs(mean - part.self[at(p)]) / std::max(std::abs(mean), 1e-300));
  }
  return worst;
}

// The samples that the machine is made of: all with a weight. A fit that was stopped leaves out those that are not of the
// evidence: none of them has a coefficient.
std::vector<Index> machine_samples(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<GpPart>(model);
  std::vector<Index> counted;
  bool others = false;
  for (Index i = 0; i < bank.rows(); ++i) {
    if (!targets.weights.empty() && !(targets.weights[at(i)] > 0.0)) continue;
    counted.push_back(i);
    if (std::ranges::binary_search(part.evidence_samples, i)) continue;
    for (Index c = 0; c < model.coefficients.cols(); ++c) others = others || model.coefficients(i, c) != 0.0;
  }
  return others ? counted : part.evidence_samples;
}

}  // namespace

Certificate certify_gpmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const auto& part = part_of<GpPart>(model);
  const Process chosen = process_of(bank, targets, model, part.evidence_samples);
  Slopes slopes;
  if (part.regression) {
    slopes = gaussian_slopes(chosen);
  } else {
    slopes.s = Matrix(chosen.kernel.rows(), chosen.kernel.cols());
    for (Index c = 0; c < chosen.y.cols(); ++c) add_laplace_slopes(chosen, c, slopes);
  }
  const double stationarity = worst_slope(bank, model, chosen, slopes);
  const std::vector<Index> counted = machine_samples(bank, targets, model);
  const Process all = process_of(bank, targets, model, counted);
  Matrix a(std::ssize(counted), model.coefficients.cols());
  double bias_error = 0.0;
  double bias_size = 0.0;  // of what it is the sum of
  for (Index c = 0; c < a.cols(); ++c) {
    double sum = 0.0;
    double size = 1.0;
    for (Index i = 0; i < a.rows(); ++i) {
      sum += a(i, c) = model.coefficients(counted[at(i)], c) / part.scale;
      size += part.constant * std::abs(a(i, c));
    }
    const double right = part.centre + part.scale * part.constant * sum;
    bias_error = worse(bias_error, std::abs(right - model.bias[at(c)]));
    bias_size = std::max(bias_size, part.scale * size + std::abs(part.centre));
  }
  const double residual = mode_residual(all, a, part.regression);
  const double precision = part.variance_samples == counted ? precision_error(all, times(all.kernel, a), part)
                                                            : precision_error(bank, targets, model);
  Certificate certificate;
  const double rounding = part.regression ? inverse_rounding(all) : 0.0;
  certificate.items = {
      {"log evidence", slopes.evidence, "of the samples on which the weights were chosen, recomputed",
       std::numeric_limits<double>::infinity(), rounding},
      {"stationarity", stationarity,
       "largest slope of the evidence, per sample, for a factor e "
       "of a weight, or upward at a weight of 0 (0 is right)",
       std::numeric_limits<double>::infinity(), rounding},
      // Newton's method ends when log posterior rises by less than 1e-12 of itself; residuals are then about the root, 1e-6.
      {"residual of the mode", residual,
       "of the equation that the coefficients of all samples satisfy (0 is right)",
       std::max(1e-5 * coarseness(bank), rounding)},
      {"error of the bias", bias_error, "the model's bias against that of its constant kernel (0 is right)",
       1e-9 * bias_size},
      {"error of the precision", precision, "of the variances' samples, against its inverse (0 is right)",
       std::max(1e-6 * coarseness(bank), rounding)},
      {"error of the diagonals", diagonal_error(bank, counted, part),
       "kernels of a sample with itself (0 is right)", 1e-9 * coarseness(bank)},
  };
  certificate.verdict = fmt::format(
      "The kernel weights are a stationary point of the evidence, to {:.1e} nats "
      "per sample, and the coefficients are the posterior's mode, to {:.1e}. "
      "The evidence is not concave: that no other weights have more of it is not proved.",
      stationarity, residual);
  return certificate;
}

}  // namespace kloom::certify_detail
