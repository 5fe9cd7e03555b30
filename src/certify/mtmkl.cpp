// SPDX-License-Identifier: BSD-3-Clause
//
// From [TitsiasLazaroGredilla2011]. With u the samples' weights, K̂_m = U^½ K_m U^½/d_m, y_q the standardised outputs times √u
// and a = γ μ, b = γ (μ² + v) the moments of s w, the model's functions α̂ and weights (γ, μ, v) determine
//
//   c_m = Σ_q b_qm/σ_q²,   φ̄_m = K̂_m α̂_m,   S_m = K̂_m (I + c_m K̂_m)⁻¹
//
// and the lower bound is the sum of these expectations:
//
//   log p(y | φ, s, w)   −½ Σ_q (Σ_i u_i log(2π σ_q²) + (‖y_q − Σ_m a φ̄_m‖² + Σ_m b (‖φ̄_m‖² + tr S_m) − a² ‖φ̄_m‖²)/σ_q²)
//   −KL(q(φ_m))          −½ Σ_m (α̂ᵀ K̂ α̂ + tr (I + c K̂)⁻¹ − N + log det(I + c K̂))
//   −KL(q(s))            −Σ_qm γ log(γ/π) + (1 − γ) log((1 − γ)/(1 − π))
//   −KL(q(w | s = 1))    −½ Σ_qm γ ((μ² + v)/σ_w² − 1 − log(v/σ_w²))
//
// Each factor is then updated once more, the others being as they are: what that changes says how far it is from its best.
// The model's factors F of variances are to take K̂ F̂ F̂ᵀ K̂ = K̂ − S from the functions' variances.
#include "certify/mtmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

using algebra::Op;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// What the referee makes of the model; samples are those with a weight above 0.
struct SpikeSlab {
  std::vector<Index> samples;
  Vector roots;
  double total = 0.0;       // of the weights
  Matrix y;                 // times the roots
  Matrix rest;              // y − Σ_m a φ̄_m
  Matrix functions;         // φ̄
  Vector traces;            // tr S
  double divergence = 0.0;  // of all functions
  double constants = 0.0;   // distance of centres, scales and sizes from what the data give
  double factors = 0.0;     // of the variances' factors from what they stand for
  double function_change = 0.0;
  double stray = 0.0;  // numbers of samples without weight
};

struct Moments {
  Matrix first;   // a
  Matrix second;  // b
};

Moments moments_of(const MtmklPart& part) {
  Moments moments{part.inclusion, part.inclusion};
  for (std::size_t k = 0; k < part.inclusion.values().size(); ++k) {
    const double mean = part.location.values()[k];
    moments.first.values()[k] *= mean;
    moments.second.values()[k] *= mean * mean + part.variance.values()[k];
  }
  return moments;
}

SpikeSlab observed_outputs(const Targets& targets, const Model& model) {
  const auto& part = part_of<MtmklPart>(model);
  SpikeSlab found;
  Vector weights;
  for (Index i = 0; i < targets.samples(); ++i) {
    const double weight = targets.weights.empty() ? 1.0 : targets.weights[at(i)];
    if (weight > 0.0) {
      found.samples.push_back(i);
      weights.push_back(weight);
      found.roots.push_back(std::sqrt(weight));
      continue;
    }
    for (Index m = 0; m < part.functions.cols(); ++m)
      found.stray = worse(found.stray, std::abs(part.functions(i, m)));
  }
  found.total = std::accumulate(weights.begin(), weights.end(), 0.0);
  found.y = Matrix(std::ssize(found.samples), targets.values.cols());
  for (Index q = 0; q < found.y.cols(); ++q) {
    const double scale = part.scale[at(q)];
    double mean = 0.0;
    double square = 0.0;
    for (Index i = 0; i < found.y.rows(); ++i) {
      const double y = (targets.values(found.samples[at(i)], q) - model.bias[at(q)]) / scale;
      mean += weights[at(i)] * y / found.total;
      square += weights[at(i)] * y * y / found.total;
      found.y(i, q) = y * found.roots[at(i)];
    }
    found.constants = worse(found.constants, std::abs(mean));
    // Outputs that are all the same keep their unit.
    if (square > 0.0 || scale != 1.0)
      found.constants = worse(found.constants, std::abs(std::sqrt(square) - 1.0));
  }
  return found;
}

// K̂_m by the model's d.
Matrix kernel_of(const KernelBank& bank, const MtmklPart& part, Index m, SpikeSlab& found) {
  Vector unit(at(bank.kernels()));
  unit[at(m)] = 1.0;
  const Matrix whole = bank.combine(unit);
  const Index n = std::ssize(found.samples);
  Matrix kernel(n, n);
  double diagonal = 0.0;
  for (Index j = 0; j < n; ++j) {
    const Index column = found.samples[at(j)];
    diagonal += whole(column, column) * std::pow(found.roots[at(j)], 2) / found.total;
    for (Index i = 0; i < n; ++i)
      kernel(i, j) =
          whole(found.samples[at(i)], column) * found.roots[at(i)] * found.roots[at(j)] / part.sizes[at(m)];
  }
  const double size = diagonal > 0.0 ? diagonal : 1.0;
  found.constants = worse(found.constants, std::abs(part.sizes[at(m)] / size - 1.0));
  return kernel;
}

// Of functions and factors, which are written for kernels as they are and samples without their weights.
Matrix weighed(const Matrix& rows, const SpikeSlab& found, double size) {
  Matrix result(std::ssize(found.samples), rows.cols());
  for (Index c = 0; c < rows.cols(); ++c) {
    for (Index i = 0; i < result.rows(); ++i)
      result(i, c) = rows(found.samples[at(i)], c) * size / found.roots[at(i)];
  }
  return result;
}

// (I + c K̂)⁻¹ by eigenvectors, because kernels may have eigenvalues that rounding left below 0.
struct FunctionPosterior {
  Matrix kernel;
  algebra::Eigen eigen;
  double c = 0.0;
  [[nodiscard]] double lambda(Index k) const { return std::max(0.0, eigen.values[at(k)]); }
};

// V diag(g(λ)) Vᵀ.
template <typename Function>
Matrix spectral(const FunctionPosterior& posterior, const Function& g) {
  Matrix scaled = posterior.eigen.vectors;
  for (Index k = 0; k < scaled.cols(); ++k) algebra::scale(g(posterior.lambda(k)), scaled.column(k));
  Matrix result(scaled.rows(), scaled.rows());
  algebra::gemm(Op::none, Op::transpose, 1.0, scaled.view(), posterior.eigen.vectors.view(), 0.0,
                result.view());
  return result;
}

double largest_of(const Matrix& m) {
  double largest = 0.0;
  for (const double value : m.values()) largest = worse(largest, std::abs(value));
  return largest;
}

// Does the model keep a factor where it must, and is it the right one?
double factor_error(const MtmklPart& part, const SpikeSlab& found, const FunctionPosterior& posterior, Index m,
                    const Moments& moments) {
  const Matrix& factor = part.factors[at(m)];
  if (factor.empty()) {
    // Its variance is taken to be 1: too much by b at most.
    double excess = 0.0;
    for (Index q = 0; q < moments.second.rows(); ++q)
      excess = worse(excess, moments.second(q, m) / part.noise[at(q)]);
    const bool little = excess * static_cast<double>(part.factors.size()) <= 1.001e-2;
    return little || !part.variances ? 0.0 : kUnlimited;
  }
  for (Index i = 0; i < factor.rows(); ++i) {
    const bool counts = std::ranges::binary_search(found.samples, i);
    for (Index k = 0; k < factor.cols() && !counts; ++k) {
      if (factor(i, k) != 0.0) return kUnlimited;
    }
  }
  const double c = posterior.c;
  const Matrix wanted = spectral(posterior, [&](double x) { return c * x * x / (1.0 + c * x); });
  const Matrix own = weighed(factor, found, part.sizes[at(m)]);
  Matrix known(own.cols(), own.rows());
  algebra::gemm(Op::transpose, Op::none, 1.0, own.view(), posterior.kernel.view(), 0.0, known.view());
  Matrix difference = wanted;
  algebra::gemm(Op::transpose, Op::none, -1.0, known.view(), known.view(), 1.0, difference.view());
  return largest_of(difference) / std::max(largest_of(wanted), 1e-300);
}

void examine_function(const KernelBank& bank, const MtmklPart& part, const Moments& moments, Index m,
                      SpikeSlab& found, std::vector<FunctionPosterior>& kept) {
  FunctionPosterior posterior;
  posterior.kernel = kernel_of(bank, part, m, found);
  posterior.eigen = algebra::symmetric_eigen(posterior.kernel.view(), true);
  for (Index q = 0; q < moments.second.rows(); ++q) posterior.c += moments.second(q, m) / part.noise[at(q)];
  const Index n = posterior.kernel.rows();
  const Matrix alpha = weighed(part.functions, found, part.sizes[at(m)]);
  const auto function = found.functions.column(m);
  algebra::gemv(Op::none, 1.0, posterior.kernel.view(), alpha.column(m), 0.0, function);
  double divergence = algebra::dot(function, alpha.column(m)) - static_cast<double>(n);
  double trace = 0.0;
  for (Index k = 0; k < n; ++k) {
    const double lambda = posterior.lambda(k);
    divergence += 1.0 / (1.0 + posterior.c * lambda) + std::log1p(posterior.c * lambda);
    trace += lambda / (1.0 + posterior.c * lambda);
  }
  found.divergence += 0.5 * divergence;
  found.traces.push_back(trace);
  if (part.variances) found.factors = worse(found.factors, factor_error(part, found, posterior, m, moments));
  posterior.kernel = {};
  kept.push_back(std::move(posterior));
}

// What another update of the function would change of what it adds to an output.
void examine_change(const MtmklPart& part, const Moments& moments, Index m, const FunctionPosterior& posterior,
                    SpikeSlab& found) {
  Vector right(found.samples.size());
  for (Index q = 0; q < found.rest.cols(); ++q) {
    algebra::axpy(moments.first(q, m) / part.noise[at(q)], found.rest.column(q), right);
    algebra::axpy(std::pow(moments.first(q, m), 2) / part.noise[at(q)], found.functions.column(m), right);
  }
  Vector parts(right.size());
  algebra::gemv(Op::transpose, 1.0, posterior.eigen.vectors.view(), right, 0.0, parts);
  for (Index k = 0; k < std::ssize(parts); ++k) {
    const double lambda = posterior.lambda(k);
    parts[at(k)] *= lambda / (1.0 + posterior.c * lambda);
  }
  Vector change(found.functions.column(m).begin(), found.functions.column(m).end());
  algebra::gemv(Op::none, 1.0, posterior.eigen.vectors.view(), parts, -1.0, change);
  double most = 0.0;
  for (Index q = 0; q < found.rest.cols(); ++q) most = worse(most, std::abs(moments.first(q, m)));
  const double size = std::sqrt(algebra::dot(change, change) / found.total);
  found.function_change = worse(found.function_change, most * size);
}

SpikeSlab examine_model(const KernelBank& bank, const Targets& targets, const Model& model,
                        const Moments& moments) {
  const auto& part = part_of<MtmklPart>(model);
  SpikeSlab found = observed_outputs(targets, model);
  found.functions = Matrix(found.y.rows(), bank.kernels());
  std::vector<FunctionPosterior> posteriors;
  for (Index m = 0; m < bank.kernels(); ++m) examine_function(bank, part, moments, m, found, posteriors);
  found.rest = found.y;
  algebra::gemm(Op::none, Op::transpose, -1.0, found.functions.view(), moments.first.view(), 1.0,
                found.rest.view());
  for (Index m = 0; m < bank.kernels(); ++m) examine_change(part, moments, m, posteriors[at(m)], found);
  return found;
}

// E ‖y_q − Σ_m s w φ_m‖² for every output.
Vector expected_errors(const SpikeSlab& found, const Moments& moments) {
  Vector errors;
  for (Index q = 0; q < found.y.cols(); ++q) {
    double error = algebra::dot(found.rest.column(q), found.rest.column(q));
    for (Index m = 0; m < found.functions.cols(); ++m) {
      const double square = algebra::dot(found.functions.column(m), found.functions.column(m));
      error +=
          moments.second(q, m) * (square + found.traces[at(m)]) - std::pow(moments.first(q, m), 2) * square;
    }
    errors.push_back(error);
  }
  return errors;
}

double entropy_part(double p, double prior) {
  return p > 0.0 ? p * std::log(p / prior) : 0.0;
}

double lower_bound_of(const MtmklPart& part, const SpikeSlab& found, const Moments& moments) {
  const Vector errors = expected_errors(found, moments);
  double bound = -found.divergence;
  for (std::size_t q = 0; q < errors.size(); ++q) {
    bound -= 0.5 * errors[q] / part.noise[q];
    bound -= 0.5 * found.total * std::log(2.0 * std::numbers::pi * part.noise[q]);
  }
  for (std::size_t k = 0; k < part.inclusion.values().size(); ++k) {
    const double p = part.inclusion.values()[k];
    const double mean = part.location.values()[k];
    const double variance = part.variance.values()[k];
    bound -= entropy_part(p, part.share) + entropy_part(1.0 - p, 1.0 - part.share);
    bound -= 0.5 * p * ((mean * mean + variance) / part.spread - 1.0 - std::log(variance / part.spread));
  }
  return bound;
}

struct Changes {
  double inclusion = 0.0;  // absolute
  double weights = 0.0;    // of what a kernel adds to an output, in its deviations
  double scales = 0.0;     // relative: noise and prior
};

Changes changes_of(const MtmklPart& part, const SpikeSlab& found, const Moments& moments) {
  Changes changes;
  double used = 0.0;
  double squares = 0.0;
  for (Index m = 0; m < found.functions.cols(); ++m) {
    const auto function = found.functions.column(m);
    const double square = algebra::dot(function, function);
    const double second = square + found.traces[at(m)];
    for (Index q = 0; q < found.y.cols(); ++q) {
      const double noise = part.noise[at(q)];
      const double along = algebra::dot(function, found.rest.column(q)) + moments.first(q, m) * square;
      const double variance = 1.0 / (second / noise + 1.0 / part.spread);
      const double mean = variance * along / noise;
      const double odds = std::log(part.share) - std::log1p(-part.share) +
                          0.5 * std::log(variance / part.spread) + 0.5 * mean * mean / variance;
      const double p = 1.0 / (1.0 + std::exp(-odds));
      changes.inclusion = worse(changes.inclusion, std::abs(p - part.inclusion(q, m)));
      changes.weights =
          worse(changes.weights, std::abs(p * mean - moments.first(q, m)) * std::sqrt(second / found.total));
      used += part.inclusion(q, m);
      squares += moments.second(q, m);
    }
  }
  const Vector errors = expected_errors(found, moments);
  for (std::size_t q = 0; q < errors.size(); ++q)
    changes.scales = worse(changes.scales,
                           std::abs(std::max(part.least_noise, errors[q] / found.total) / part.noise[q] - 1.0));
  const double share = std::clamp(used / static_cast<double>(part.inclusion.size()), 1e-6, 1.0 - 1e-6);
  changes.scales = worse(changes.scales, std::abs(share / part.share - 1.0));
  return {changes.inclusion, changes.weights,
          worse(changes.scales, std::abs(std::max(1e-10, squares / used) / part.spread - 1.0))};
}

// What the kernels add to an output's squares, as it is expected, in shares.
double weight_error(const Model& model, const SpikeSlab& found, const Moments& moments, Index q) {
  const Index kernels = moments.second.cols();
  Vector shares;
  for (Index m = 0; m < kernels; ++m) {
    const auto function = found.functions.column(m);
    shares.push_back(moments.second(q, m) * (algebra::dot(function, function) + found.traces[at(m)]));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  double error = 0.0;
  for (Index m = 0; m < kernels; ++m) {
    const double share = sum > 0.0 ? shares[at(m)] / sum : 1.0 / static_cast<double>(kernels);
    error = worse(error, std::abs(share - model.weights.values(q, m)));
  }
  return error;
}

// Of kernel weights, and of coefficients from the sums of what the kernels' functions have.
double summary_error(const Model& model, const SpikeSlab& found, const Moments& moments) {
  const auto& part = part_of<MtmklPart>(model);
  double error = found.stray;
  for (Index q = 0; q < moments.first.rows(); ++q) {
    error = worse(error, weight_error(model, found, moments, q));
    Vector row;
    for (Index m = 0; m < moments.first.cols(); ++m) row.push_back(part.scale[at(q)] * moments.first(q, m));
    Vector coefficients(at(part.functions.rows()));
    algebra::gemv(Op::none, 1.0, part.functions.view(), row, 0.0, coefficients);
    double size = 1e-300;
    double apart = 0.0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      const double kept = model.coefficients(static_cast<Index>(i), q);
      apart = worse(apart, std::abs(coefficients[i] - kept));
      size = std::max(size, std::abs(coefficients[i]));
    }
    error = worse(error, apart / size);
  }
  return error;
}

}  // namespace

Certificate certify_mtmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const auto& part = part_of<MtmklPart>(model);
  const Moments moments = moments_of(part);
  const SpikeSlab found = examine_model(bank, targets, model, moments);
  const Changes changes = changes_of(part, found, moments);
  const double coarse = coarseness(bank);
  // Kernels at training may have been rounded to single precision.
  constexpr double kRounded = 1e-6;
  // Sums of N products of coefficients that the kernels' conditions enlarge; what is settled is far below it.
  const double rounding = 1e-7 * coarse;
  Certificate certificate;
  certificate.items = {
      {"lower bound", lower_bound_of(part, found, moments), "of the log evidence, by its definition"},
      {"error of weights and coefficients", summary_error(model, found, moments),
       "from those that the posterior has as their consequence (0 is right)", kRounded * coarse},
      {"error of centres, scales and sizes", found.constants,
       "from means and deviations of the outputs and mean diagonals of the kernels (0 is right)",
       kRounded * coarse},
      {"error of the variances", found.factors,
       "from what the functions' posterior has as its consequence (0 is right)", 1e-6 * coarse, 1e-6 * coarse},
      {"change of the functions", found.function_change,
       "what one more update would change of what a kernel adds to an output, in its deviations (0: settled)",
       kUnlimited, rounding},
      {"change of the weights", changes.weights, "the same of the weights", kUnlimited, rounding},
      {"change of the probabilities", changes.inclusion,
       "what one more update would change of a probability that an output uses a kernel", kUnlimited, rounding},
      {"change of noise and prior", changes.scales, "in parts of them", kUnlimited, rounding},
  };
  certificate.verdict = fmt::format(
      "The posterior has the lower bound {:.6g}, and one more update would change a probability by {:.2g} and a "
      "prediction by {:.2g} deviations of the output. A bound has several maxima: that no other posterior has a "
      "higher one is not proved.",
      certificate.items.front().value, changes.inclusion, worse(changes.weights, found.function_change));
  return certificate;
}

}  // namespace kloom::certify_detail
