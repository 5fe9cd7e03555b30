// SPDX-License-Identifier: BSD-3-Clause
//
// From [VarmaBabu2009]. The machines of all outputs are those of margin methods (margin.h) on the one kernel Π_p k_p^γ_p. With
// their coefficients c, whose optimum does not change in first order, the objective's slope is
//
//   ∂T/∂γ_p = r'(γ_p) − ½ Σ_c Σ_ij c_i c_j K_ij log k_p(x_i, x_j),   r'(γ_p) = λ, or λ γ_p
//
// At a stationary point it is 0 where γ_p > 0 and not below 0 where γ_p = 0.
#include "certify/gmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "certify/gap.h"
#include "certify/margin.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

double log_of(double value) {
  return std::log(std::max(value, std::numeric_limits<double>::min()));
}

Vector entries_of(const KernelBank& bank, Index p) {
  Vector entries(at(bank.rows() * bank.cols()));
  bank.panels({p, p + 1}, {0, bank.rows()}, entries.data());
  return entries;
}

Matrix product_of(const KernelBank& bank, const Matrix& gamma) {
  Matrix product(bank.rows(), bank.cols());
  for (Index p = 0; p < bank.kernels(); ++p) {
    if (gamma(0, p) == 0.0) continue;
    const Vector entries = entries_of(bank, p);
    for (std::size_t k = 0; k < entries.size(); ++k) product.values()[k] += gamma(0, p) * log_of(entries[k]);
  }
  for (double& value : product.values()) value = std::exp(value);
  return product;
}

double regulariser(const ProductPart& part, double gamma) {
  return part.squared ? 0.5 * part.lambda * gamma * gamma : part.lambda * gamma;
}

// Slope of T by every exponent.
Vector slopes_of(const KernelBank& bank, const Model& model, const Matrix& product) {
  const auto& part = part_of<ProductPart>(model);
  const Index n = product.rows();
  Matrix pairs(n, n);  // Σ_c c_i c_j K_ij
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    for (Index j = 0; j < n; ++j) {
      const double a = model.coefficients(j, c) / part.target_scale;
      for (Index i = 0; i < n && a != 0.0; ++i)
        pairs(i, j) += a * model.coefficients(i, c) / part.target_scale * product(i, j);
    }
  }
  Vector slopes;
  for (Index p = 0; p < bank.kernels(); ++p) {
    const Vector entries = entries_of(bank, p);
    double sum = 0.0;
    for (std::size_t k = 0; k < entries.size(); ++k) sum += pairs.values()[k] * log_of(entries[k]);
    const double gamma = model.weights.values(0, p);
    slopes.push_back(part.lambda * (part.squared ? gamma : 1.0) - 0.5 * sum);
  }
  return slopes;
}

// The largest change of T in first order by a factor e of an exponent, or by one of 0 that becomes the mean, or 1/P.
double stationarity(const Matrix& gamma, const Vector& slopes, double objective) {
  double sum = 0.0;
  for (const double g : gamma.values()) sum += g;
  const double other = std::max(1.0, sum) / static_cast<double>(gamma.size());
  double worst = 0.0;
  for (std::size_t p = 0; p < slopes.size(); ++p) {
    const double g = gamma.values()[p];
    worst = worse(worst, g > 0.0 ? g * std::abs(slopes[p]) : other * std::max(0.0, -slopes[p]));
  }
  return worst / std::max(objective, 1e-300);
}

}  // namespace

Certificate certify_gmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                         const Context& /*context*/) {
  const auto& part = part_of<ProductPart>(model);
  const Matrix product = product_of(bank, model.weights.values);
  Model alone = model;
  alone.kernel_names = {"product"};
  alone.weights.values = Matrix(1, 1, 1.0);
  const MarginFinding machines = examine_margin(*make_dense_bank({product}, {"product"}, true), targets, alone);
  double objective = machines.primal;
  for (const double gamma : model.weights.values.values()) objective += regulariser(part, gamma);
  const double left = stationarity(model.weights.values, slopes_of(bank, model, product), objective);
  constexpr double kFeasible = 1e-9;
  Certificate certificate;
  certificate.items = {
      {"primal objective", objective, "of the machines, summed over outputs, plus the regulariser"},
      {"duality gap of the machines", machines.gap,
       "relative, the largest of all outputs, on the product as it is", 1e-2 * coarseness(bank)},
      {"KKT residual", machines.kkt, "largest violation of complementary slackness, in units of the labels"},
      {"infeasibility", machines.infeasible, "of the dual coefficients, relative to their size", kFeasible},
      {"stationarity", left,
       "change of the objective in first order by another exponent, in parts of it (0: settled)",
       std::numeric_limits<double>::infinity(), 1e-3 * left},
  };
  certificate.verdict = fmt::format(
      "On this product no machines can have an objective more than {:.1e} (relative) below the model's, and no exponent "
      "by itself changes the objective by more than {:.1e} of it in first order. The problem is not convex: that no "
      "other exponents are better is not proved.",
      std::max(0.0, machines.gap), left);
  return certificate;
}

}  // namespace kloom::certify_detail
