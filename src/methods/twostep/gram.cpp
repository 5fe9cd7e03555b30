// SPDX-License-Identifier: BSD-3-Clause
//
// With θ on the simplex, R²(θ) is the largest of functions that are linear in θ, one for every α, and ρ²(θ) the least of
// such functions of γ. So R²/ρ² is quasi-convex, its minimum is global, and any α and γ prove a lower bound for all θ:
//
//   R²(θ)/ρ²(θ) ≥ rᵀθ/gᵀθ ≥ min_m r_m/g_m,   r_m = (1 − λ)(Σ_i α_i K_m(i, i) − αᵀK_mα) + λ (1 − Σ_i α_i²/s_i)
//                                            g_m = (1 − λ) γᵀYK_mYγ + λ Σ_i γ_i²/s_i
//
// The paper takes gradient steps on β, θ = softmax(β). Here h(θ) = R²(θ) − t ρ²(θ), convex and 0 at the best point so far if t
// is its ratio, is minimised from its cuts r − t g of all points by the level method [LemarechalNemirovskiiNesterov1995]. The
// multipliers of the cuts average the α and γ to those of the best bound.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "methods/twostep/geometry.h"
#include "methods/twostep/rules.h"
#include "solvers/simplex_cuts.h"

namespace kloom::methods {
namespace {

// What is known at some weights.
struct RatioPoint {
  Vector theta;
  NearestPoints points;
  SmallestBall ball;
  Vector radius;       // r
  Vector margin;       // g
  double ratio = 0.0;  // R²/ρ²
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
  // By which part a ratio may be too low: each of its squares is within two violations.
  [[nodiscard]] double error() const { return 8.0 * violation_; }

 private:
  void compare(RatioPoint& point) const;

  static constexpr double kPart = 1e-3;
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

// Fills in r, g and the ratio.
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
  for (Index m = 0; m < bank_.kernels(); ++m) {
    const double squares = algebra::dot(point.ball.alpha, diagonal_.column(m));
    point.margin.push_back(g0 + (1.0 - lambda_) * std::max(0.0, forms(m, 0)));
    point.radius.push_back(r0 + (1.0 - lambda_) * std::max(0.0, squares - forms(m, 1)));
  }
  point.ratio = algebra::dot(point.radius, point.theta) / algebra::dot(point.margin, point.theta);
}

// All points that were looked at, the best of them, and the best bound that they prove together.
class RatioBundle {
 public:
  void add(RatioPoint point) {
    if (seen_.empty() || point.ratio < best().ratio) best_ = seen_.size();
    seen_.push_back(std::move(point));
  }
  [[nodiscard]] const RatioPoint& best() const { return seen_[best_]; }
  [[nodiscard]] double bound() const { return bound_; }
  // Looks for the least value of the cuts; the weights to look at next, or none where nothing can be lower.
  [[nodiscard]] Vector next();
  // Σ_k multiplier_k x_k of the best bound.
  template <typename Part>
  [[nodiscard]] Vector average(const Part& part) const {
    Vector sum(part(seen_.front()).size());
    for (std::size_t k = 0; k < multipliers_.size(); ++k) algebra::axpy(multipliers_[k], part(seen_[k]), sum);
    return sum;
  }

 private:
  [[nodiscard]] double bound_of(const Vector& multipliers) const;

  std::vector<RatioPoint> seen_;
  std::size_t best_ = 0;
  double bound_ = 0.0;
  Vector multipliers_;  // of the best bound
};

double RatioBundle::bound_of(const Vector& multipliers) const {
  Vector radius(seen_.front().radius.size());
  Vector margin(radius.size());
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    algebra::axpy(multipliers[k], seen_[k].radius, radius);
    algebra::axpy(multipliers[k], seen_[k].margin, margin);
  }
  double least = radius.front() / margin.front();
  for (std::size_t m = 1; m < radius.size(); ++m) least = std::min(least, radius[m] / margin[m]);
  return least;
}

Vector RatioBundle::next() {
  solvers::SimplexCuts cuts(std::ssize(best().theta));
  for (const RatioPoint& point : seen_) {
    Vector slope = point.radius;
    algebra::axpy(-best().ratio, point.margin, slope);
    algebra::scale(1.0 / algebra::dot(point.radius, point.theta),
                   slope);  // of the size 1, whatever the kernels'
    cuts.add(0.0, slope);
  }
  const solvers::SimplexCuts::Minimum least = cuts.minimise();
  Vector multipliers = least.multipliers;
  for (std::size_t k = 0; k < multipliers.size(); ++k)
    multipliers[k] /= algebra::dot(seen_[k].radius, seen_[k].theta);
  multipliers = weights_of(std::move(multipliers));
  const double bound = bound_of(multipliers);
  if (multipliers_.empty() || bound > bound_) {
    bound_ = bound;
    multipliers_ = std::move(multipliers);
  }
  constexpr double kRounding = 1e-12;
  if (!(least.value < -kRounding)) return {};
  constexpr double kLevel = 0.5;  // between the least value and that of the best point, 0
  return weights_of(cuts.project(best().theta, kLevel * least.value));
}

Vector without_small(Vector theta) {
  constexpr double kSmall = 1e-3;
  const double least = kSmall * *std::ranges::max_element(theta);
  for (double& weight : theta) weight = weight < least ? 0.0 : weight;
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
  const RadiusMargin problem(bank, task, settings, context);
  ProgressMeter meter(context, "ratio of radius and margin");
  RatioBundle bundle;
  const auto gap = [&](const RatioPoint& point) {
    return std::max(0.0, 1.0 - bundle.bound() / point.ratio) + problem.error();
  };
  bundle.add(problem.at_weights(std::move(result.theta), {}));
  for (result.iterations = 1;; ++result.iterations) {
    Vector theta = bundle.next();
    const bool done = theta.empty() || gap(bundle.best()) <= settings.tolerance;
    if (done || result.iterations >= settings.iterations ||
        meter.step(result.iterations, settings.iterations, bundle.best().ratio))
      break;
    bundle.add(problem.at_weights(std::move(theta), bundle.best()));
  }
  RatioPoint point = bundle.best();
  // Projections are inside of the simplex: kernels with next to no weight go where the rest is as good as was asked for.
  RatioPoint few = problem.at_weights(without_small(point.theta), point);
  if (gap(few) <= settings.tolerance) point = std::move(few);
  result.gap = gap(point);
  result.theta = std::move(point.theta);
  result.gamma = std::move(point.points.gamma);
  result.ball = std::move(point.ball.alpha);
  result.bound_gamma = bundle.average([](const RatioPoint& one) -> const Vector& { return one.points.gamma; });
  result.bound_ball = bundle.average([](const RatioPoint& one) -> const Vector& { return one.ball.alpha; });
  return result;
}

}  // namespace kloom::methods
