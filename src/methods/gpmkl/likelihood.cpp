// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gpmkl/likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

using algebra::Op;

double sigmoid(double f) {
  return f > 0.0 ? 1.0 / (1.0 + std::exp(-f)) : std::exp(f) / (1.0 + std::exp(f));
}

double log_sigmoid(double f) {
  return f > 0.0 ? -std::log1p(std::exp(-f)) : f - std::log1p(std::exp(f));
}

Vector product(const Matrix& kernel, const Vector& x) {
  Vector y(x.size());
  algebra::gemv(Op::none, 1.0, kernel.view(), x, 0.0, y);
  return y;
}

// B = I + W^½ K W^½.
Matrix balanced(const Matrix& kernel, const Vector& root) {
  Matrix b(kernel.rows(), kernel.cols());
  for (Index j = 0; j < b.cols(); ++j) {
    const double rj = root[at(j)];
    for (Index i = 0; i < b.rows(); ++i) b(i, j) = root[at(i)] * kernel(i, j) * rj;
    b(j, j) += 1.0;
  }
  return b;
}

// S += ½ x yᵀ + ½ y xᵀ.
void add_pair(const Vector& x, const Vector& y, Matrix& s) {
  for (Index j = 0; j < s.cols(); ++j) {
    algebra::axpy(0.5 * y[at(j)], x, s.column(j));
    algebra::axpy(0.5 * x[at(j)], y, s.column(j));
  }
}

class Newton {
 public:
  Newton(const Matrix& kernel, const GpTask& task, Index output)
      : kernel_(kernel), y_(task.targets.column(output)), u_(task.weights) {}

  // Mode, likelihood and curvature at f = K a.
  void look(LaplaceMode& at_a) const {
    at_a.f = product(kernel_, at_a.a);
    at_a.pi.resize(y_.size());
    at_a.root.resize(y_.size());
    at_a.objective = -0.5 * algebra::dot(at_a.a, at_a.f);
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double p = sigmoid(at_a.f[i]);
      at_a.pi[i] = p;
      // 1 − σ(f) = σ(−f), without cancellation.
      at_a.root[i] = std::sqrt(u_[i] * p * sigmoid(-at_a.f[i]));
      at_a.objective += u_[i] * log_sigmoid(y_[i] * at_a.f[i]);
    }
  }

  // Where Newton's step leads: a = b − W^½ B⁻¹ W^½ K b with b = W f + ∇ log p. False where B cannot be factored.
  bool step(const LaplaceMode& now, Vector& a) const {
    Matrix factor = balanced(kernel_, now.root);
    if (algebra::cholesky(factor.view()) != 0) return false;
    Vector b(y_.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      const double gradient = y_[i] * u_[i] * sigmoid(-y_[i] * now.f[i]);
      b[i] = now.root[i] * now.root[i] * now.f[i] + gradient;
    }
    Vector c = product(kernel_, b);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] *= now.root[i];
    algebra::cholesky_solve(factor.view(), {c.data(), std::ssize(c), 1, std::ssize(c)});
    a = std::move(b);
    for (std::size_t i = 0; i < c.size(); ++i) a[i] -= now.root[i] * c[i];
    return true;
  }

 private:
  const Matrix& kernel_;
  std::span<const double> y_;
  const Vector& u_;
};

}  // namespace

GpEvidence gaussian_evidence(const Matrix& kernel, const GpTask& task, double noise) {
  GpEvidence result;
  const Index n = kernel.rows();
  const std::span<const double> y = task.targets.column(0);
  result.slope = kernel;  // becomes (K + σ² U⁻¹)⁻¹ and then the slope
  double weight = 0.0;
  double log_weights = 0.0;
  for (Index i = 0; i < n; ++i) {
    result.slope(i, i) += noise / task.weights[at(i)];
    weight += task.weights[at(i)];
    log_weights += std::log(task.weights[at(i)]);
  }
  double log_det_inverse = 0.0;
  if (!algebra::invert_positive(result.slope.view(), log_det_inverse)) return result;
  Vector alpha(at(n));
  algebra::gemv(Op::none, 1.0, result.slope.view(), y, 0.0, alpha);
  const double spare = static_cast<double>(n) - weight;
  const double log_two_pi = std::log(2.0 * std::numbers::pi);
  result.value = 0.5 * log_det_inverse - 0.5 * algebra::dot(alpha, y) -
                 0.5 * static_cast<double>(n) * log_two_pi + 0.5 * spare * (log_two_pi + std::log(noise)) -
                 0.5 * log_weights;
  algebra::scale(-0.5, result.slope.values());
  algebra::rank_one(0.5, alpha, result.slope.view());
  result.noise_slope = 0.5 * spare;
  for (Index i = 0; i < n; ++i) result.noise_slope += noise / task.weights[at(i)] * result.slope(i, i);
  result.sound = std::isfinite(result.value);
  return result;
}

LaplaceMode laplace_mode(const Matrix& kernel, const GpTask& task, Index output, Vector a) {
  const Newton newton(kernel, task, output);
  LaplaceMode now;
  now.a = std::move(a);
  newton.look(now);
  LaplaceMode zero;
  zero.a.assign(now.a.size(), 0.0);
  newton.look(zero);
  if (!(now.objective > zero.objective)) now = std::move(zero);
  // The objective is concave in f and convergence is quadratic: a step that gains 1e-12 of it leads to the mode, and the log
  // determinant, which the mode does not maximise, is exact only there.
  constexpr int kSteps = 100;
  for (int t = 0; t < kSteps; ++t) {
    const double rounding = 1e-12 * (1.0 + std::abs(now.objective));
    Vector target;
    if ((task.stopped && task.stopped()) || !newton.step(now, target)) return now;
    LaplaceMode next;
    double length = 1.0;
    for (int tries = 0; tries < 30; ++tries, length *= 0.5) {
      next.a = now.a;
      algebra::scale(1.0 - length, next.a);
      algebra::axpy(length, target, next.a);
      newton.look(next);
      if (next.objective >= now.objective - rounding) break;
    }
    if (!(next.objective >= now.objective - rounding)) break;
    const double gain = next.objective - now.objective;
    now = std::move(next);
    if (gain <= rounding) break;
  }
  now.sound = std::isfinite(now.objective);
  return now;
}

Matrix laplace_precision(const Matrix& kernel, const Vector& root, double& log_det) {
  Matrix inverse = balanced(kernel, root);
  if (!algebra::invert_positive(inverse.view(), log_det)) return {};
  for (Index j = 0; j < inverse.cols(); ++j) {
    for (Index i = 0; i < inverse.rows(); ++i) inverse(i, j) *= root[at(i)] * root[at(j)];
  }
  return inverse;
}

// [RasmussenWilliams2006] algorithm 5.1 with R = W^½ B⁻¹ W^½. A change dK of the covariance changes the evidence directly by
// ½ aᵀ dK a − ½ tr(R dK), and through the mode by s₂ᵀ (I + K W)⁻¹ dK a, where s₂ᵢ = ½ Σᵢᵢ ∂³ log p / ∂fᵢ³ and
// Σ = (K⁻¹ + W)⁻¹. The third derivative is −Wᵢᵢ (1 − 2πᵢ), and Σᵢᵢ Wᵢᵢ = 1 − Rᵢᵢ/Wᵢᵢ, so Σ itself is not needed. (I + K W)⁻ᵀ = I − R K.
GpEvidence laplace_evidence(const Matrix& kernel, const GpTask& task, Matrix& a) {
  GpEvidence result;
  const Index n = kernel.rows();
  result.slope = Matrix(n, n);
  for (Index c = 0; c < task.targets.cols(); ++c) {
    const LaplaceMode mode = laplace_mode(kernel, task, c, {a.column(c).begin(), a.column(c).end()});
    if (!mode.sound || (task.stopped && task.stopped())) return result;
    std::ranges::copy(mode.a, a.column(c).begin());
    double log_det_inverse = 0.0;
    const Matrix r = laplace_precision(kernel, mode.root, log_det_inverse);
    if (r.empty()) return result;
    result.value += mode.objective + 0.5 * log_det_inverse;
    Vector s(at(n));
    for (Index i = 0; i < n; ++i) {
      const double w = mode.root[at(i)] * mode.root[at(i)];
      s[at(i)] = w > 0.0 ? -0.5 * (1.0 - r(i, i) / w) * (1.0 - 2.0 * mode.pi[at(i)]) : 0.0;
    }
    Vector z = s;
    algebra::gemv(Op::none, -1.0, r.view(), product(kernel, s), 1.0, z);
    algebra::axpy(-0.5, r.values(), result.slope.values());
    algebra::axpy(0.5, mode.a, z);  // ½ a aᵀ + ½ (z aᵀ + a zᵀ) = ½ (z + ½a) aᵀ + ½ a (z + ½a)ᵀ
    add_pair(z, mode.a, result.slope);
  }
  result.sound = std::isfinite(result.value);
  return result;
}

}  // namespace kloom::methods
