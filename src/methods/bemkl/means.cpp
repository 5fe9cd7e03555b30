// SPDX-License-Identifier: BSD-3-Clause
//
// The means of a and G together. Taking turns, each hardly moves while the other stays: G follows [K_p a]
// closely, and a follows G. With G at its best for every a, the bound is a quadratic function of a:
//
//   G(a) = Σ(g)(υ[K_p a] + r)                          r what f, e and b ask of G
//   slope      υ Σ_p K_p(G(a)_p − K_p a) − λa
//   curvature  H = diag λ + υS − υ² Σ_pl K_p Σ(g)_pl K_l
//
// Σ(g) is nearly a multiple of the identity, υΣ(g) ≈ (1 − t)I, and with that H ≈ diag λ + υtS, where the update
// of a alone has diag λ + υS: t is about 1/N. One step along the slope, scaled by the inverse of that, as far
// as the bound rises.
#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {
// [K_p v]_p, one N × P matrix.
Matrix BemklFactors::outputs_of(const Vector& v) const {
  const Matrix applied = (rounded_ ? *rounded_ : *bank_).apply({v.data(), samples(), 1, samples()});
  Matrix rows(samples(), kernels());
  std::ranges::copy(applied.values(), rows.data());
  scale_rows(rows);
  return rows;
}

// Σ_p K_p x_p at the samples that are there.
Vector BemklFactors::adjoint_of(Matrix x) const {
  scale_rows(x);
  const Matrix sum = (rounded_ ? *rounded_ : *bank_).apply_adjoint({x.data(), x.size(), 1, x.size()});
  Vector result(sum.values().begin(), sum.values().end());
  for (Index i = 0; i < samples(); ++i) {
    if (!present(i)) result[at(i)] = 0.0;
  }
  return result;
}

// (diag λ + υtS)⁻¹ of `slope`; empty if that is not positive definite.
Vector BemklFactors::scaled_slope(Index c, const Vector& slope) const {
  const Index n = samples();
  const double upsilon = upsilon_[at(c)];
  const double t = 1.0 - upsilon * g_trace(c) / static_cast<double>(kernels());
  Matrix factor = a_precision(lambda_.column(c), upsilon * std::clamp(t, 1e-8, 1.0));
  if (algebra::cholesky(factor.view()) != 0) return {};
  Vector scaled = slope;
  algebra::cholesky_solve(factor.view(), {scaled.data(), n, 1, n});
  return scaled;
}

void BemklFactors::improve_means(Index c) {
  const Index n = samples();
  const double upsilon = upsilon_[at(c)];
  const auto add_lambda = [&](double sign, std::span<const double> a, Vector& to) {
    for (Index i = 0; i < n; ++i)
      to[at(i)] = upsilon * to[at(i)] + (present(i) ? sign * lambda_(i, c) * a[at(i)] : 0.0);
  };
  Matrix away(n, kernels());  // G(a) − [K_p a]
  times_g_covariance(c, g_linear(c).view(), away.view());
  algebra::axpy(-1.0, outputs_.column(c), away.values());
  Vector slope = adjoint_of(std::move(away));
  add_lambda(-1.0, a_.column(c), slope);

  const Vector direction = scaled_slope(c, slope);
  if (direction.empty()) return;
  const Matrix moved = outputs_of(direction);
  Matrix bent(n, kernels());
  times_g_covariance(c, moved.view(), bent.view());
  algebra::scale(-upsilon, bent.values());
  algebra::axpy(1.0, moved.values(), bent.values());
  Vector curved = adjoint_of(std::move(bent));
  add_lambda(1.0, direction, curved);

  const double length = algebra::dot(direction, slope) / algebra::dot(direction, curved);
  if (!(length > 0.0) || !std::isfinite(length)) return;
  algebra::axpy(length, direction, a_.column(c));
  algebra::axpy(length, moved.values(), outputs_.column(c));
}

}  // namespace kloom::methods
