// SPDX-License-Identifier: BSD-3-Clause
//
// With θ on the simplex, R²(θ) is the largest of functions that are linear in θ, one for every α, and ρ²(θ) the least of
// such functions of γ. So R²/ρ² is quasi-convex, what the gradient finds is the global minimum, and the solutions α and γ
// for any θ prove a lower bound for all θ':
//
//   R²(θ')/ρ²(θ') ≥ (r₀ + rᵀθ')/(g₀ + gᵀθ') ≥ min_m (r₀ + r_m)/(g₀ + g_m),
//   r_m = (1 − λ)(Σ_i α_i K_m(i, i) − αᵀK_mα),   r₀ = λ (1 − Σ_i α_i²/s_i)
//   g_m = (1 − λ) γᵀYK_mYγ,                      g₀ = λ Σ_i γ_i²/s_i
//
// The paper takes gradient steps on β, θ = softmax(β). These are steps along the same path without the factor θ_m of
// that gradient, which would let small weights stay small for long: θ_m is multiplied by exp(−step · slope_m).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "methods/twostep/geometry.h"
#include "methods/twostep/rules.h"

namespace kloom::methods {
namespace {

// What is known at some weights.
struct RatioPoint {
  Vector theta;
  NearestPoints points;
  SmallestBall ball;
  Vector slope;        // of log(R²/ρ²) by θ_m
  double ratio = 0.0;  // R²/ρ²
  double bound = 0.0;  // no weights have a lower ratio
};

class RadiusMargin {
 public:
  RadiusMargin(const KernelBank& bank, const RuleTask& task, const GramSettings& settings,
               const Context& context)
      : bank_(bank),
        task_(task),
        lambda_(settings.lambda),
        violation_(std::max(kLeast, kPart * settings.tolerance)),
        context_(context),
        ridge_(ridges(task.weights, settings.lambda)),
        diagonal_(bank.diagonal()) {}

  // `near`: a point to start from, or none.
  [[nodiscard]] RatioPoint at_weights(Vector theta, const RatioPoint& near) const;
  // Of the ratio; each square may be off by two violations, and the ratio by twice as much either way.
  [[nodiscard]] double gap(const RatioPoint& point) const {
    return 1.0 - point.bound / point.ratio + 8.0 * violation_;
  }

 private:
  void compare(RatioPoint& point) const;

  // The ratio changes with the square of the gap, so its error must be far smaller than the gap.
  static constexpr double kPart = 1e-5;
  static constexpr double kLeast = 1e-11;

  const KernelBank& bank_;
  const RuleTask& task_;
  double lambda_;
  double violation_;
  const Context& context_;
  Vector ridge_;
  Matrix diagonal_;
};

RatioPoint RadiusMargin::at_weights(Vector theta, const RatioPoint& near) const {
  RatioPoint point;
  point.theta = std::move(theta);
  Vector share = point.theta;
  algebra::scale(1.0 - lambda_, share);
  Vector squares(at(bank_.rows()), lambda_);
  algebra::gemv(algebra::Op::none, 1.0, diagonal_.view(), share, 1.0, squares);
  RidgedSum sum(bank_, std::move(share), ridge_, context_);
  point.points = nearest_points(sum, task_.labels.column(0), task_.weights, lambda_, violation_, near.points);
  point.ball = smallest_ball(sum, squares, task_.weights, violation_, near.ball);
  compare(point);
  return point;
}

// Fills in ratio, bound and slope.
void RadiusMargin::compare(RatioPoint& point) const {
  Matrix both(bank_.rows(), 2);
  double r0 = lambda_;
  double g0 = 0.0;
  for (Index i = 0; i < bank_.rows(); ++i) {
    const double gamma = point.points.gamma[at(i)];
    const double alpha = point.ball.alpha[at(i)];
    both(i, 0) = task_.labels(i, 0) * gamma;
    both(i, 1) = alpha;
    g0 += ridge_[at(i)] * gamma * gamma;
    r0 -= ridge_[at(i)] * alpha * alpha;
  }
  const Matrix forms = bank_.quadratic_forms(both.view());
  Vector g;
  Vector r;
  for (Index m = 0; m < bank_.kernels(); ++m) {
    g.push_back((1.0 - lambda_) * std::max(0.0, forms(m, 0)));
    const double squares = algebra::dot(point.ball.alpha, diagonal_.column(m));
    r.push_back((1.0 - lambda_) * std::max(0.0, squares - forms(m, 1)));
  }
  const double radius = r0 + algebra::dot(r, point.theta);
  const double margin = g0 + algebra::dot(g, point.theta);
  point.ratio = radius / margin;
  point.bound = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < g.size(); ++m) {
    point.slope.push_back(r[m] / radius - g[m] / margin);
    point.bound = std::min(point.bound, (r0 + r[m]) / (g0 + g[m]));
  }
}

Vector moved(const RatioPoint& point, double step) {
  const double least = *std::ranges::min_element(point.slope);
  Vector theta = point.theta;
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] *= std::exp(-step * (point.slope[m] - least));
  return weights_of(std::move(theta));
}

}  // namespace

RuleWeights gram_weights(const KernelBank& bank, const RuleTask& task, const GramSettings& settings,
                         const Context& context) {
  RuleWeights result;
  result.theta = weights_of(Vector(at(bank.kernels())));
  if (!has_both_sides(task)) return result;
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  constexpr double kShortest = 1e-10;  // a step so short that rounding decides
  const RadiusMargin problem(bank, task, settings, context);
  ProgressMeter meter(context, "ratio of radius and margin");
  RatioPoint best = problem.at_weights(std::move(result.theta), {});
  double step = 1.0;
  for (result.iterations = 1; result.iterations < settings.iterations; ++result.iterations) {
    if (problem.gap(best) <= settings.tolerance || step < kShortest) break;
    if (meter.step(result.iterations, settings.iterations, best.ratio)) break;
    RatioPoint next = problem.at_weights(moved(best, step), best);
    const bool lower = next.ratio < best.ratio;
    step *= lower ? 2.0 : 0.25;
    if (lower) best = std::move(next);
  }
  result.gap = problem.gap(best);
  result.theta = std::move(best.theta);
  result.gamma = std::move(best.points.gamma);
  result.ball = std::move(best.ball.alpha);
  return result;
}

}  // namespace kloom::methods
