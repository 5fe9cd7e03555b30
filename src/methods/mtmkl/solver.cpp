// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mtmkl/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// π and σ_w² (and 1/σ_w²) stay above these: the maximum of the bound under that rule, so that it is raised all the same.
constexpr double kLeastShare = 1e-6;
constexpr double kLeastSpread = 1e-10;

// A bound of this kind has many maxima. Kernels, in the order of what they explain, begin with what the ones before left of
// the outputs, or with the outputs themselves; little noise makes the first ones take more.
struct Start {
  double noise;
  bool from_rest;
};
constexpr Start kStarts[] = {{0.1, true}, {0.5, true}, {0.1, false}};

double times_log(double a, double b) {
  return a > 0.0 ? a * std::log(a / b) : 0.0;
}

// Λ^½ Vᵀ Y, whose square is YᵀK̂Y.
Matrix explained_parts(const KernelSpectrum& spectrum, const Matrix& y) {
  Matrix parts(std::ssize(spectrum.values), y.cols());
  algebra::gemm(Op::transpose, Op::none, 1.0, spectrum.vectors.view(), y.view(), 0.0, parts.view());
  for (Index q = 0; q < parts.cols(); ++q) {
    for (Index k = 0; k < parts.rows(); ++k) parts(k, q) *= std::sqrt(spectrum.values[at(k)]);
  }
  return parts;
}

// The direction of the outputs in which a kernel explains most: the first eigenvector of YᵀK̂Y, of length √Q.
Vector first_direction(const KernelSpectrum& spectrum, const Matrix& y) {
  Matrix gram(y.cols(), y.cols());
  algebra::syrk(Op::transpose, 1.0, explained_parts(spectrum, y).view(), 0.0, gram.view());
  const algebra::Eigen eigen = algebra::symmetric_eigen(gram.view(), true);
  const auto last = eigen.vectors.column(y.cols() - 1);
  const double largest = *std::ranges::max_element(last, {}, [](double x) { return std::abs(x); });
  Vector direction(last.begin(), last.end());
  algebra::scale(std::copysign(std::sqrt(static_cast<double>(y.cols())), largest), direction);
  return direction;
}

// Kernels by Σ_q y_qᵀ K̂ y_q, the largest first.
std::vector<Index> by_alignment(const std::vector<KernelSpectrum>& spectra,
                                const std::vector<std::string>& names, const Matrix& y) {
  Vector explained;
  for (const KernelSpectrum& spectrum : spectra) {
    const Matrix parts = explained_parts(spectrum, y);
    explained.push_back(algebra::dot(parts.values(), parts.values()));
  }
  std::vector<Index> order(spectra.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    if (explained[at(a)] != explained[at(b)]) return explained[at(a)] > explained[at(b)];
    return names[at(a)] < names[at(b)];
  });
  return order;
}

class Inference {
 public:
  Inference(const std::vector<KernelSpectrum>& spectra, const MtmklTask& task, const std::vector<Index>& order,
            const MtmklSettings& settings, const Start& start);

  void pass();
  // The functions once more, so that they are those of the last weights and noise.
  void settle();
  [[nodiscard]] double bound() const;
  [[nodiscard]] MtmklPosterior take() { return std::move(posterior_); }

 private:
  void begin(Index m, const Start& start);
  void update_weights(Index m);
  void rescale(Index m);
  void update_function(Index m);
  void update_spread();
  void update_scales();
  // What all functions leave of the outputs; and with (1) or without (−1) the part of kernel m again.
  void subtract_all();
  void add_part(Index m, double sign);
  [[nodiscard]] double expected_error(Index q) const;

  const std::vector<KernelSpectrum>& spectra_;
  const MtmklTask& task_;
  const std::vector<Index>& order_;
  const MtmklSettings& settings_;
  double total_;  // of the samples' weights
  MtmklPosterior posterior_;
  Matrix rest_;
};

Inference::Inference(const std::vector<KernelSpectrum>& spectra, const MtmklTask& task,
                     const std::vector<Index>& order, const MtmklSettings& settings, const Start& start)
    : spectra_(spectra),
      task_(task),
      order_(order),
      settings_(settings),
      total_(algebra::dot(task.roots, task.roots)),
      rest_(task.y) {
  const auto kernels = std::ssize(spectra);
  const Index outputs = task.y.cols();
  MtmklPart& part = posterior_.part;
  part.inclusion = Matrix(outputs, kernels, start.from_rest ? 1.0 : 0.5);
  part.location = Matrix(outputs, kernels);
  part.variance = Matrix(outputs, kernels, 0.1);
  part.noise.assign(at(outputs), start.noise);
  posterior_.functions = posterior_.coefficients = Matrix(task.y.rows(), kernels);
  posterior_.squares.assign(spectra.size(), 0.0);
  posterior_.sizes = posterior_.divergences = posterior_.squares;
  for (const Index m : order) begin(m, start);
  if (!start.from_rest) subtract_all();
}

void Inference::begin(Index m, const Start& start) {
  const Vector direction = first_direction(spectra_[at(m)], rest_);
  for (Index q = 0; q < rest_.cols(); ++q) posterior_.part.location(q, m) = direction[at(q)];
  update_function(m);
  if (start.from_rest) {
    update_weights(m);
  } else {
    add_part(m, 1.0);  // the next kernel sees the outputs as they are
  }
}

void Inference::subtract_all() {
  rest_ = task_.y;
  for (const Index m : order_) add_part(m, -1.0);
}

void Inference::add_part(Index m, double sign) {
  for (Index q = 0; q < rest_.cols(); ++q)
    algebra::axpy(sign * posterior_.part.mean_weight(q, m), posterior_.functions.column(m), rest_.column(q));
}

void Inference::update_weights(Index m) {
  MtmklPart& part = posterior_.part;
  add_part(m, 1.0);
  for (Index q = 0; q < rest_.cols(); ++q) {
    const double noise = part.noise[at(q)];
    const double precision = posterior_.squares[at(m)] / noise + 1.0 / part.spread;
    const double location = algebra::dot(posterior_.functions.column(m), rest_.column(q)) / (precision * noise);
    const double odds = std::log(part.share / (1.0 - part.share)) - 0.5 * std::log(precision * part.spread) +
                        0.5 * location * location * precision;
    part.location(q, m) = location;
    part.variance(q, m) = 1.0 / precision;
    part.inclusion(q, m) = 1.0 / (1.0 + std::exp(-odds));
  }
  add_part(m, -1.0);
}

// φ_m times √x and its weights by √x leave the outputs as they are; the divergences are least where
// A x² − (R − Σγ) x − B = 0 with R the rank of K̂, A = E φᵀK̂⁻¹φ and B = Σ γ (μ² + v)/σ_w².
void Inference::rescale(Index m) {
  double weights = 0.0;
  double used = 0.0;
  for (Index q = 0; q < rest_.cols(); ++q) {
    weights += posterior_.part.mean_square(q, m) / posterior_.part.spread;
    used += posterior_.part.inclusion(q, m);
  }
  const double size = posterior_.sizes[at(m)];
  const double linear = static_cast<double>(spectra_[at(m)].values.size()) - used;
  const double root = std::sqrt(linear * linear + 4.0 * size * weights);
  // Of the two forms the one that does not subtract.
  const double x = linear > 0.0 ? (linear + root) / (2.0 * size) : 2.0 * weights / (root - linear);
  if (!(x > 0.0 && std::isfinite(x))) return;
  for (Index q = 0; q < rest_.cols(); ++q) {
    posterior_.part.location(q, m) /= std::sqrt(x);
    posterior_.part.variance(q, m) /= x;
  }
  algebra::scale(std::sqrt(x), posterior_.functions.column(m));
}

void Inference::update_function(Index m) {
  const KernelSpectrum& spectrum = spectra_[at(m)];
  const double c = function_precision(posterior_.part, m);
  add_part(m, 1.0);
  const auto alpha = posterior_.coefficients.column(m);
  std::ranges::fill(alpha, 0.0);
  for (Index q = 0; q < rest_.cols(); ++q)
    algebra::axpy(posterior_.part.mean_weight(q, m) / posterior_.part.noise[at(q)], rest_.column(q), alpha);
  // α = (I + c K̂)⁻¹ r, and of directions that K̂ does not have, r itself.
  Vector kept;
  double squares = 0.0;
  double size = 0.0;
  double log_det = 0.0;
  for (const double value : spectrum.values) {
    kept.push_back(c * value / (1.0 + c * value));
    squares += value / (1.0 + c * value);
    size += 1.0 / (1.0 + c * value);
    log_det += std::log1p(c * value);
  }
  Vector lost(alpha.begin(), alpha.end());
  filter(spectrum, kept, lost);
  algebra::axpy(-1.0, lost, alpha);
  // φ̄ = K̂ α = (c K̂ (I + c K̂)⁻¹ r)/c
  const auto function = posterior_.functions.column(m);
  std::ranges::copy(lost, function.begin());
  algebra::scale(1.0 / c, function);
  posterior_.squares[at(m)] = algebra::dot(function, function) + squares;
  posterior_.sizes[at(m)] = algebra::dot(function, alpha) + size;
  posterior_.divergences[at(m)] =
      0.5 * (posterior_.sizes[at(m)] - static_cast<double>(spectrum.values.size()) + log_det);
  add_part(m, -1.0);
}

// E ‖y_q − Σ_m s w φ_m‖²
double Inference::expected_error(Index q) const {
  double sum = algebra::dot(rest_.column(q), rest_.column(q));
  for (const Index m : order_) {
    const auto function = posterior_.functions.column(m);
    const double mean = posterior_.part.mean_weight(q, m);
    sum += posterior_.part.mean_square(q, m) * posterior_.squares[at(m)] -
           mean * mean * algebra::dot(function, function);
  }
  return sum;
}

// σ_w² and all variances v together, which one after the other would creep where σ_w² is to be small: with the best v for it
// the bound has −½ Σ γ (μ²/σ_w² + log(1 + σ_w² p)) with p = E φᵀφ/σ_q², which is largest where t Σ γ p/(1 + t p) = Σ γ μ²/t.
void Inference::update_spread() {
  const auto rising = [&](double t) {
    double sum = 0.0;
    for (const Index m : order_) {
      for (Index q = 0; q < rest_.cols(); ++q) {
        const double scaled = t * posterior_.squares[at(m)] / posterior_.part.noise[at(q)];
        const double location = posterior_.part.location(q, m);
        sum += posterior_.part.inclusion(q, m) * (scaled / (1.0 + scaled) - location * location / t);
      }
    }
    return sum > 0.0;
  };
  double low = std::log(kLeastSpread);
  double high = -low;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (rising(std::exp(middle)) ? high : low) = middle;
  }
  posterior_.part.spread = std::exp(0.5 * (low + high));
  for (const Index m : order_) {
    for (Index q = 0; q < rest_.cols(); ++q)
      posterior_.part.variance(q, m) =
          1.0 / (posterior_.squares[at(m)] / posterior_.part.noise[at(q)] + 1.0 / posterior_.part.spread);
  }
}

void Inference::update_scales() {
  update_spread();
  for (Index q = 0; q < rest_.cols(); ++q)
    posterior_.part.noise[at(q)] = std::max(settings_.least_noise, expected_error(q) / total_);
  double used = 0.0;
  for (const double one : posterior_.part.inclusion.values()) used += one;
  const double share = used / static_cast<double>(posterior_.part.inclusion.size());
  posterior_.part.share = std::clamp(share, kLeastShare, 1.0 - kLeastShare);
}

void Inference::pass() {
  for (const Index m : order_) {
    update_weights(m);
    if (settings_.rescale) rescale(m);
    update_function(m);
  }
  subtract_all();  // without what rounding has left
  update_scales();
}

void Inference::settle() {
  for (const Index m : order_) update_function(m);
}

double Inference::bound() const {
  double sum = 0.0;
  for (Index q = 0; q < rest_.cols(); ++q) {
    const double noise = posterior_.part.noise[at(q)];
    sum -= 0.5 * total_ * std::log(2.0 * std::numbers::pi * noise);
    sum -= 0.5 * expected_error(q) / noise;
  }
  for (const double divergence : posterior_.divergences) sum -= divergence;
  const MtmklPart& part = posterior_.part;
  for (std::size_t k = 0; k < part.inclusion.values().size(); ++k) {
    const double used = part.inclusion.values()[k];
    const double location = part.location.values()[k];
    const double ratio = part.variance.values()[k] / part.spread;
    sum -= times_log(used, part.share) + times_log(1.0 - used, 1.0 - part.share);
    sum -= 0.5 * used * (location * location / part.spread + ratio - 1.0 - std::log(ratio));
  }
  return sum;
}

// From one start. `done`: passes before it, of `planned` at most.
struct Steps {
  Index done = 0;
  Index planned = 0;
};

MtmklSolution climb(Inference inference, const MtmklSettings& settings, double least_gain, Steps& steps,
                    ProgressMeter& meter) {
  MtmklSolution solution;
  solution.bound = inference.bound();
  while (solution.status == Status::iteration_limit && solution.iterations < settings.iterations) {
    inference.pass();
    const double before = std::exchange(solution.bound, inference.bound());
    ++solution.iterations;
    solution.trace.push_back({solution.iterations, solution.bound, meter.seconds()});
    if (!std::isfinite(solution.bound)) {
      solution.status = Status::numerical_trouble;
    } else if (solution.bound - before <= least_gain) {
      solution.status = Status::converged;
    }
    if (meter.step(++steps.done, steps.planned, solution.bound)) solution.status = Status::stopped;
  }
  inference.settle();
  solution.bound = inference.bound();
  solution.posterior = inference.take();
  return solution;
}

}  // namespace

double function_precision(const MtmklPart& part, Index kernel) {
  double c = 0.0;
  for (Index q = 0; q < part.inclusion.rows(); ++q) c += part.mean_square(q, kernel) / part.noise[at(q)];
  return c;
}

MtmklSolution solve_mtmkl(const std::vector<KernelSpectrum>& spectra, const std::vector<std::string>& names,
                          const MtmklTask& task, const MtmklSettings& settings, const Context& context) {
  ProgressMeter meter(context, "mtmkl");
  const std::vector<Index> order = by_alignment(spectra, names, task.y);
  const double least_gain = settings.tolerance * static_cast<double>(task.y.size());
  Steps steps{0, settings.iterations * std::ssize(kStarts)};
  MtmklSolution best;
  best.bound = -std::numeric_limits<double>::infinity();
  Status status = Status::converged;
  for (const Start& start : kStarts) {
    MtmklSolution found =
        climb(Inference(spectra, task, order, settings, start), settings, least_gain, steps, meter);
    status = found.status;
    if (best.trace.empty() || found.bound > best.bound) best = std::move(found);
    if (status == Status::stopped) break;
  }
  if (status == Status::stopped) best.status = status;
  return best;
}

}  // namespace kloom::methods
