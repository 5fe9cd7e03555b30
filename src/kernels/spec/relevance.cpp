// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/relevance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "algebra/blas.h"
#include "algebra/lbfgs.h"
#include "kernels/spec/teachers.h"

namespace kloom::kernels {
namespace {

using algebra::Op;

constexpr Index kMostSamples = 500;
constexpr double kShare = 0.4;
constexpr Index kEnough = 2000;  // samples with a label: about 1,500 are left to judge by
constexpr Index kMostColumns = 60;
constexpr double kLeastNoise = 1e-5;
constexpr double kConstant = 4.0;

// After the scales: c₁, c₂, c₃, κ, s.
enum Extra : std::size_t { kLinear, kGaussian, kLaplacian, kDecay, kNoise, kExtras };

// Distances within every column of the table, one number for every pair of samples (j < i).
struct PairDistances {
  std::vector<std::vector<float>> squared;   // ‖x_g − z_g‖²
  std::vector<std::vector<float>> absolute;  // ‖x_g − z_g‖₁
};

PairDistances distances_of(const RelevanceProblem& problem, Index columns) {
  const Index n = problem.features.rows();
  const std::size_t pairs = at(n * (n - 1) / 2);
  PairDistances all{std::vector(at(columns), std::vector<float>(pairs)),
                    std::vector(at(columns), std::vector<float>(pairs))};
  for (std::size_t f = 0; f < problem.columns.size(); ++f) {
    const auto x = problem.features.column(static_cast<Index>(f));
    std::vector<float>& squared = all.squared[at(problem.columns[f])];
    std::vector<float>& absolute = all.absolute[at(problem.columns[f])];
    std::size_t pair = 0;
    for (Index i = 1; i < n; ++i) {
      for (Index j = 0; j < i; ++j, ++pair) {
        const auto d = static_cast<float>(std::abs(x[at(i)] - x[at(j)]));
        squared[pair] += d * d;
        absolute[pair] += d;
      }
    }
  }
  return all;
}

double mean_of_sum(const std::vector<std::vector<float>>& distances) {
  double sum = 0.0;
  for (const auto& column : distances) sum += std::accumulate(column.begin(), column.end(), 0.0);
  return sum / static_cast<double>(std::max<std::size_t>(1, distances.front().size()));
}

class Evidence {
 public:
  explicit Evidence(const RelevanceProblem& problem)
      : problem_(problem),
        columns_(*std::ranges::max_element(problem.columns) + 1),
        distances_(distances_of(problem, columns_)) {
    start_scale_ = std::sqrt(2.0 / std::max(mean_of_sum(distances_.squared), 1e-12));
    decay_unit_ = 1.0 / std::max(start_scale_ * mean_of_sum(distances_.absolute), 1e-12);
  }

  // All scales alike, such that samples at their mean distance have a similarity of 1/e.
  [[nodiscard]] Vector start() const {
    Vector x(at(columns_) + kExtras, std::log(start_scale_));
    x[at(columns_) + kLinear] = std::log(0.1);
    x[at(columns_) + kGaussian] = x[at(columns_) + kLaplacian] = std::log(0.5);
    x[at(columns_) + kDecay] = 0.0;
    x[at(columns_) + kNoise] = std::log(0.1);
    return x;
  }
  [[nodiscard]] Index columns() const { return columns_; }

  [[nodiscard]] RelevanceValue at_logarithms(const Vector& x) const;

 private:
  // Parts of the covariance on the pairs of samples.
  struct Parts {
    Vector theta;
    Matrix scaled;  // features times θ
    Vector gaussian, laplacian;
    Vector decays;  // Σ_g θ_g ‖x_g − z_g‖₁
  };
  [[nodiscard]] Parts parts_of(const Vector& x) const;
  [[nodiscard]] Matrix covariance_of(const Parts& parts, const Vector& x) const;
  void add_slopes(const Parts& parts, const Vector& x, const Matrix& slope, Vector& gradient) const;
  void add_prior(const Vector& x, RelevanceValue& result) const;
  [[nodiscard]] double extra(const Vector& x, Extra which) const { return std::exp(x[at(columns_) + which]); }

  const RelevanceProblem& problem_;
  Index columns_;
  PairDistances distances_;
  double start_scale_ = 1.0;
  double decay_unit_ = 1.0;
};

Evidence::Parts Evidence::parts_of(const Vector& x) const {
  const std::size_t pairs = distances_.squared.front().size();
  Parts parts{Vector(at(columns_)), problem_.features, Vector(pairs), Vector(pairs), Vector(pairs)};
  for (Index g = 0; g < columns_; ++g) {
    const double theta = parts.theta[at(g)] = std::exp(x[at(g)]);
    const float* squared = distances_.squared[at(g)].data();
    const float* absolute = distances_.absolute[at(g)].data();
    for (std::size_t k = 0; k < pairs; ++k) {
      parts.gaussian[k] += theta * theta * squared[k];
      parts.decays[k] += theta * absolute[k];
    }
  }
  const double kappa = decay_unit_ * extra(x, kDecay);
  for (std::size_t k = 0; k < pairs; ++k) {
    parts.gaussian[k] = std::exp(-0.5 * parts.gaussian[k]);
    parts.laplacian[k] = std::exp(-kappa * parts.decays[k]);
  }
  for (std::size_t f = 0; f < problem_.columns.size(); ++f)
    algebra::scale(parts.theta[at(problem_.columns[f])], parts.scaled.column(static_cast<Index>(f)));
  return parts;
}

Matrix Evidence::covariance_of(const Parts& parts, const Vector& x) const {
  const Index n = problem_.features.rows();
  Matrix c(n, n);
  algebra::syrk(Op::none, extra(x, kLinear), parts.scaled.view(), 0.0, c.view());
  const double gaussian = extra(x, kGaussian);
  const double laplacian = extra(x, kLaplacian);
  std::size_t pair = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j, ++pair)
      c(i, j) = c(j, i) += gaussian * parts.gaussian[pair] + laplacian * parts.laplacian[pair] + kConstant;
    c(i, i) += gaussian + laplacian + kConstant + kLeastNoise + extra(x, kNoise);
  }
  return c;
}

RelevanceValue Evidence::at_logarithms(const Vector& x) const {
  RelevanceValue result{std::numeric_limits<double>::infinity(), Vector(x.size())};
  const Index n = problem_.features.rows();
  const auto outputs = static_cast<double>(problem_.targets.cols());
  const Parts parts = parts_of(x);
  Matrix inverse = covariance_of(parts, x);
  double log_det_inverse = 0.0;
  if (!algebra::invert_positive(inverse.view(), log_det_inverse)) return result;
  Matrix alpha(n, problem_.targets.cols());
  algebra::gemm(Op::none, Op::none, 1.0, inverse.view(), problem_.targets.view(), 0.0, alpha.view());
  result.value =
      0.5 * algebra::dot(alpha.values(), problem_.targets.values()) - 0.5 * outputs * log_det_inverse;
  // ∂/∂C = ½ (O C⁻¹ − Σ_c α_c α_cᵀ).
  algebra::syrk(Op::none, -0.5, alpha.view(), 0.5 * outputs, inverse.view());
  add_slopes(parts, x, inverse, result.gradient);
  add_prior(x, result);
  if (!std::isfinite(result.value)) result.value = std::numeric_limits<double>::infinity();
  return result;
}

void Evidence::add_slopes(const Parts& parts, const Vector& x, const Matrix& slope, Vector& gradient) const {
  const Index n = slope.rows();
  const double kappa = decay_unit_ * extra(x, kDecay);
  Vector of_gaussian(parts.gaussian.size());  // slope times the part of the covariance, both triangles
  Vector of_laplacian(parts.gaussian.size());
  double* extras = gradient.data() + columns_;
  std::size_t pair = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j, ++pair) {
      of_gaussian[pair] = 2.0 * slope(j, i) * extra(x, kGaussian) * parts.gaussian[pair];
      of_laplacian[pair] = 2.0 * slope(j, i) * extra(x, kLaplacian) * parts.laplacian[pair];
      extras[kGaussian] += of_gaussian[pair];
      extras[kLaplacian] += of_laplacian[pair];
      extras[kDecay] -= kappa * of_laplacian[pair] * parts.decays[pair];
    }
    extras[kGaussian] += slope(i, i) * extra(x, kGaussian);
    extras[kLaplacian] += slope(i, i) * extra(x, kLaplacian);
    extras[kNoise] += slope(i, i) * extra(x, kNoise);
  }
  Matrix product(n, parts.scaled.cols());
  algebra::gemm(Op::none, Op::none, extra(x, kLinear), slope.view(), parts.scaled.view(), 0.0, product.view());
  for (std::size_t f = 0; f < problem_.columns.size(); ++f) {
    const auto k = static_cast<Index>(f);
    const double along = algebra::dot(product.column(k), parts.scaled.column(k));
    extras[kLinear] += along;
    gradient[at(problem_.columns[f])] += 2.0 * along;
  }
  for (Index g = 0; g < columns_; ++g) {
    const double theta = parts.theta[at(g)];
    double sum = 0.0;
    for (pair = 0; pair < of_gaussian.size(); ++pair)
      sum += theta * theta * distances_.squared[at(g)][pair] * of_gaussian[pair] +
             kappa * theta * distances_.absolute[at(g)][pair] * of_laplacian[pair];
    gradient[at(g)] -= sum;
  }
}

// Scales near their mean (in logarithms), the mean near the start, the shares near 1: as strong as the evidence of about
// one sample each.
void Evidence::add_prior(const Vector& x, RelevanceValue& result) const {
  const double together = std::sqrt(static_cast<double>(problem_.targets.cols()));
  const auto count = static_cast<double>(columns_);
  double mean = 0.0;
  for (Index g = 0; g < columns_; ++g) mean += x[at(g)] / count;
  const double off = mean - std::log(start_scale_);
  result.value += 0.5 * off * off;
  for (Index g = 0; g < columns_; ++g) {
    const double away = x[at(g)] - mean;
    result.value += 0.5 * together * away * away;
    result.gradient[at(g)] += together * away + off / count;
  }
  for (const Extra which : {kLinear, kGaussian, kLaplacian, kDecay}) {
    const double strength = which == kDecay ? 0.5 : 0.05;
    const double value = x[at(columns_) + which];
    result.value += strength * value * value;
    result.gradient[at(columns_) + which] += 2.0 * strength * value;
  }
}

// Numbers, or the codes of classes, of the samples `chosen`: mean 0, mean square 1.
Matrix learned_targets(const Targets& targets, const std::vector<Index>& chosen) {
  const auto n = std::ssize(chosen);
  const bool numbers = targets.task == Task::regression;
  const Index outputs = numbers || targets.classes.size() == 2 ? 1 : std::ssize(targets.classes);
  Matrix y(n, outputs);
  for (Index c = 0; c < outputs; ++c) {
    for (Index i = 0; i < n; ++i) {
      const Index sample = chosen[at(i)];
      y(i, c) = numbers ? targets.values(sample, 0)
                        : (targets.codes[at(sample)] == (outputs == 1 ? 1 : c) ? 1.0 : 0.0);
    }
    const double mean = std::accumulate(y.column(c).begin(), y.column(c).end(), 0.0) / static_cast<double>(n);
    for (double& value : y.column(c)) value -= mean;
  }
  const double square = algebra::dot(y.values(), y.values()) / static_cast<double>(y.size());
  algebra::scale(square > 0.0 ? 1.0 / std::sqrt(square) : 1.0, y.values());
  return y;
}

}  // namespace

RelevanceValue relevance_value(const RelevanceProblem& problem, const Vector& logarithms) {
  return Evidence(problem).at_logarithms(logarithms);
}

Vector learn_relevance(const RelevanceProblem& problem) {
  constexpr int kSteps = 40;
  constexpr double kTolerance = 1e-4;  // of the value, in one step
  const Evidence evidence(problem);
  Vector x = evidence.start();
  RelevanceValue now = evidence.at_logarithms(x);
  if (std::isfinite(now.value)) {
    // The first step moves no logarithm by more than about a half.
    const double largest = std::sqrt(algebra::dot(now.gradient, now.gradient));
    algebra::InverseHessian inverse(Vector(x.size(), std::max(2.0 * largest, 1e-12)));
    for (int step = 0; step < kSteps; ++step) {
      const Vector direction = inverse.direction(now.gradient);
      const double slope = algebra::dot(direction, now.gradient);
      double length = 1.0;
      Vector next = x;
      RelevanceValue there;
      there.value = std::numeric_limits<double>::infinity();
      for (int tries = 0; tries < 12 && !(there.value <= now.value + 1e-4 * length * slope); ++tries) {
        if (tries > 0) length *= 0.5;
        next = x;
        algebra::axpy(length, direction, next);
        there = evidence.at_logarithms(next);
      }
      if (!(there.value < now.value)) break;
      const double gain = now.value - there.value;
      Vector moved = next;
      algebra::axpy(-1.0, x, moved);
      Vector change = there.gradient;
      algebra::axpy(-1.0, now.gradient, change);
      inverse.learn(std::move(moved), std::move(change));
      x = std::move(next);
      now = std::move(there);
      if (gain <= kTolerance * std::abs(now.value)) break;
    }
  }
  Vector theta;
  for (Index g = 0; g < evidence.columns(); ++g) theta.push_back(std::exp(x[at(g)]));
  return theta;
}

std::vector<Index> relevance_samples(const Targets& targets) {
  return teachers(targets, kShare, kMostSamples);
}

bool relevance_pays(const Targets& targets, Index columns) {
  const bool task =
      targets.task == Task::binary || targets.task == Task::multiclass || targets.task == Task::regression;
  return task && columns >= 2 && columns <= kMostColumns && std::ssize(labelled_samples(targets)) >= kEnough;
}

std::vector<Index> add_relevant_columns(Preprocessing& preprocessing, const Dataset& standardised,
                                        const Targets& targets, const std::vector<Index>& chosen) {
  const std::vector<Index> samples = relevance_samples(targets);
  RelevanceProblem problem;
  problem.targets = learned_targets(targets, samples);
  problem.features = Matrix(std::ssize(samples), std::ssize(chosen));
  std::map<std::pair<std::string, std::string>, Index> columns;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Feature source = preprocessing.columns()[at(chosen[k])].source();
    problem.columns.push_back(
        columns.try_emplace({source.name, source.view}, std::ssize(columns)).first->second);
    for (std::size_t i = 0; i < samples.size(); ++i)
      problem.features(static_cast<Index>(i), static_cast<Index>(k)) =
          standardised.features(samples[i], chosen[k]);
  }
  const Vector theta = learn_relevance(problem);
  Vector factors;
  for (const Index column : problem.columns) factors.push_back(theta[at(column)]);
  return preprocessing.add_scaled(chosen, factors);
}

}  // namespace kloom::kernels
