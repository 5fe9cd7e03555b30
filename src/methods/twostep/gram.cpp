// SPDX-License-Identifier: BSD-3-Clause
//
// With θ on the simplex, R²(θ) is the largest of functions that are linear in θ, one for every α, and ρ²(θ) the least of
// such functions of γ. So R²/ρ² is quasi-convex, its minimum is global, and any α and γ prove a lower bound for all θ:
//
//   R²(θ)/ρ²(θ) ≥ rᵀθ/gᵀθ ≥ min_m r_m/g_m,   r_m = (1 − λ)(Σ_i α_i K_m(i, i) − αᵀK_mα) + λ (1 − Σ_i α_i²/s_i)
//                                            g_m = (1 − λ) γᵀYK_mYγ + λ Σ_i γ_i²/s_i
//
// The paper takes gradient steps on β, θ = softmax(β). Here h(θ) = R²(θ) − t ρ²(θ), convex and 0 at the best point so far if t
// is its ratio, is minimised by Newton's steps: while the samples A with α > 0 and Γ with γ > 0 stay the same,
//
//   Hessian of R²   ½ Uᵀ B U,     U_m = (1 − λ)(d_m − 2 K_m α) on A,   B the inverse of Q_AA where Σ_i x_i = 0
//   Hessian of ρ²   −2 Vᵀ B' V,   V_m = (1 − λ) K_m Yγ on Γ,           B' that of Q_ΓΓ where both sides sum to 0
//
// A step that does not lower the ratio is followed by one of the level method [LemarechalNemirovskiiNesterov1995] on the cuts
// r − t g of all points. The multipliers of the cuts average the α and γ to those of the best bound.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "methods/twostep/geometry.h"
#include "methods/twostep/rules.h"
#include "solvers/simplex_cuts.h"
#include "solvers/simplex_model.h"

namespace kloom::methods {
namespace {

// What is known at some weights.
struct RatioPoint {
  Vector theta;
  NearestPoints points;
  SmallestBall ball;
  Vector radius;        // r
  Vector margin;        // g
  double ratio = 0.0;   // R²/ρ²
  Matrix radius_curve;  // Hessian of R²; empty where there are too many kernels
  Matrix margin_curve;  // that of −ρ²
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
        diagonal_(bank.diagonal()),
        curved_(bank.kernels() <= kMostCurved) {}

  // `near`: a point to start from, or none.
  [[nodiscard]] RatioPoint at_weights(Vector theta, const RatioPoint& near) const;
  // By which part a ratio may be too low: each of its squares is within two violations.
  [[nodiscard]] double error() const { return 8.0 * violation_; }

 private:
  // What the kernels say of α or of Yγ.
  struct Side {
    std::vector<Index> samples;  // where it is not 0; a small part of them
    Matrix products;             // K_m c there, samples × P; empty where no Hessian is wanted
    Vector forms;                // cᵀK_m c
  };
  [[nodiscard]] Side side_of(const Vector& c) const;
  void compare(RatioPoint& point, RidgedSum& sum) const;
  [[nodiscard]] Matrix radius_curve(const Side& ball, RidgedSum& sum) const;
  [[nodiscard]] Matrix margin_curve(const Side& hulls, RidgedSum& sum) const;

  static constexpr Index kMostCurved = 500;  // kernels
  static constexpr double kPart = 1e-3;
  static constexpr double kLeast = 1e-11;

  const KernelBank& bank_;
  const RuleTask& task_;
  double lambda_;
  double violation_;
  const Context& context_;
  Vector ridge_;
  Matrix diagonal_;
  bool curved_;
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
  compare(point, sum);
  return point;
}

RadiusMargin::Side RadiusMargin::side_of(const Vector& c) const {
  Side side;
  if (!curved_) {
    const Matrix forms = bank_.quadratic_forms({c.data(), bank_.rows(), 1, bank_.rows()});
    side.forms.assign(forms.values().begin(), forms.values().end());
    return side;
  }
  for (Index i = 0; i < bank_.rows(); ++i) {
    if (c[at(i)] != 0.0) side.samples.push_back(i);
  }
  Vector own;
  for (const Index i : side.samples) own.push_back(c[at(i)]);
  const Index n = std::ssize(own);
  const Matrix all = bank_.apply_chosen(side.samples, side.samples, {own.data(), n, 1, n});
  side.products = Matrix(n, bank_.kernels());
  std::ranges::copy(all.values(), side.products.values().begin());
  for (Index m = 0; m < bank_.kernels(); ++m) side.forms.push_back(algebra::dot(own, side.products.column(m)));
  return side;
}

// The kernel among some samples, as its lower Cholesky factor; nothing where rounding made it singular.
Matrix factor_among(RidgedSum& sum, const std::vector<Index>& samples) {
  Matrix factor(std::ssize(samples), std::ssize(samples));
  for (Index k = 0; k < factor.cols(); ++k) {
    const double* row = sum.rows().row(samples[at(k)]);
    for (Index l = k; l < factor.rows(); ++l) factor(l, k) = row[samples[at(l)]];
  }
  return algebra::cholesky(factor.view()) == 0 ? factor : Matrix();
}

// BLAS adds in another order with another number of threads. What decides about the path is done by one.
Context by_one_thread() {
  Context context;
  context.threads = 1;
  return context;
}

Matrix RadiusMargin::radius_curve(const Side& ball, RidgedSum& sum) const {
  const Matrix factor = factor_among(sum, ball.samples);
  const Index p = bank_.kernels();
  if (factor.empty()) return Matrix(p, p);
  Matrix right(factor.rows(), p + 1, 1.0);
  for (Index m = 0; m < p; ++m) {
    for (Index k = 0; k < right.rows(); ++k)
      right(k, m) =
          std::sqrt(0.5) * (1.0 - lambda_) * (diagonal_(ball.samples[at(k)], m) - 2.0 * ball.products(k, m));
  }
  return solvers::projected_inverse_form(factor, std::move(right), 1);
}

Matrix RadiusMargin::margin_curve(const Side& hulls, RidgedSum& sum) const {
  const Matrix factor = factor_among(sum, hulls.samples);
  const Index p = bank_.kernels();
  if (factor.empty()) return Matrix(p, p);
  Matrix right(factor.rows(), p + 2);
  for (Index k = 0; k < right.rows(); ++k) {
    for (Index m = 0; m < p; ++m) right(k, m) = std::sqrt(2.0) * (1.0 - lambda_) * hulls.products(k, m);
    right(k, p + (task_.labels(hulls.samples[at(k)], 0) > 0.0 ? 0 : 1)) = 1.0;
  }
  return solvers::projected_inverse_form(factor, std::move(right), 2);
}

// Fills in r, g, the ratio and the Hessians.
void RadiusMargin::compare(RatioPoint& point, RidgedSum& sum) const {
  Vector signed_gamma = point.points.gamma;
  double r0 = lambda_;
  double g0 = 0.0;
  for (Index i = 0; i < bank_.rows(); ++i) {
    const double gamma = point.points.gamma[at(i)];
    const double alpha = point.ball.alpha[at(i)];
    signed_gamma[at(i)] *= task_.labels(i, 0);
    g0 += ridge_[at(i)] * gamma * gamma;
    r0 -= ridge_[at(i)] * alpha * alpha;
  }
  const Side ball = side_of(point.ball.alpha);
  const Side hulls = side_of(signed_gamma);
  for (Index m = 0; m < bank_.kernels(); ++m) {
    const double squares = algebra::dot(point.ball.alpha, diagonal_.column(m));
    point.margin.push_back(g0 + (1.0 - lambda_) * std::max(0.0, hulls.forms[at(m)]));
    point.radius.push_back(r0 + (1.0 - lambda_) * std::max(0.0, squares - ball.forms[at(m)]));
  }
  point.ratio = algebra::dot(point.radius, point.theta) / algebra::dot(point.margin, point.theta);
  if (!curved_) return;
  const algebra::ThreadScope alone(by_one_thread());
  point.radius_curve = radius_curve(ball, sum);
  point.margin_curve = margin_curve(hulls, sum);
}

// All points that were looked at, the best of them, and the best bound that they prove together.
class RatioBundle {
 public:
  // Whether it is the best so far, which alone keeps its Hessians.
  bool add(RatioPoint point) {
    const bool better = seen_.empty() || point.ratio < best().ratio;
    const std::size_t worse = better ? best_ : seen_.size();
    if (better) best_ = seen_.size();
    seen_.push_back(std::move(point));
    if (worse != best_) seen_[worse].radius_curve = seen_[worse].margin_curve = Matrix();
    return better;
  }
  [[nodiscard]] const RatioPoint& best() const { return seen_[best_]; }
  [[nodiscard]] double bound() const { return bound_; }
  // Looks for the least value of the cuts; false where nothing can be lower.
  bool bound_again();
  // The weights that the level method would look at next.
  [[nodiscard]] Vector level_weights() const {
    constexpr double kLevel = 0.5;  // between the least value and that of the best point, 0
    return weights_of(cuts_->project(best().theta, kLevel * least_));
  }
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
  std::unique_ptr<solvers::SimplexCuts> cuts_;
  double least_ = 0.0;  // value of the cuts
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

bool RatioBundle::bound_again() {
  cuts_ = std::make_unique<solvers::SimplexCuts>(std::ssize(best().theta));
  for (const RatioPoint& point : seen_) {
    Vector slope = point.radius;
    algebra::axpy(-best().ratio, point.margin, slope);
    algebra::scale(1.0 / algebra::dot(point.radius, point.theta),
                   slope);  // of the size 1, whatever the kernels'
    cuts_->add(0.0, slope);
  }
  const solvers::SimplexCuts::Minimum least = cuts_->minimise();
  least_ = least.value;
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
  return least.value < -kRounding;
}

// The least point of the quadratic model of h.
Vector newton_weights(const RatioPoint& point, double tolerance) {
  const algebra::ThreadScope alone(by_one_thread());
  Matrix hessian = point.radius_curve;
  Vector slope = point.radius;
  algebra::axpy(-point.ratio, point.margin, slope);
  double size = 0.0;
  for (Index m = 0; m < hessian.cols(); ++m) {
    algebra::axpy(point.ratio, point.margin_curve.column(m), hessian.column(m));
    size = std::max(size, hessian(m, m));
  }
  // Kernels that are the same would make it singular.
  const double radius = algebra::dot(point.radius, point.theta);
  for (Index m = 0; m < hessian.cols(); ++m) hessian(m, m) += 1e-9 * size + 1e-6 * radius;
  return weights_of(solvers::simplex_model_minimum(hessian, slope, point.theta, 1e-2 * tolerance * radius));
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
  bool better = bundle.add(problem.at_weights(std::move(result.theta), {}));
  for (result.iterations = 1;; ++result.iterations) {
    const bool done = !bundle.bound_again() || gap(bundle.best()) <= settings.tolerance;
    if (done || result.iterations >= settings.iterations ||
        meter.step(result.iterations, settings.iterations, bundle.best().ratio))
      break;
    Vector theta = better && !bundle.best().radius_curve.empty()
                       ? newton_weights(bundle.best(), settings.tolerance)
                       : bundle.level_weights();
    better = bundle.add(problem.at_weights(std::move(theta), bundle.best()));
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
