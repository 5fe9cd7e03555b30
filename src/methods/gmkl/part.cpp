// SPDX-License-Identifier: BSD-3-Clause
//
// A product of kernels in a model: predictions, what each kernel does to them, and its place in the model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algebra/blas.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/gmkl/gmkl.h"
#include "methods/margin/part.h"
#include "models/scores.h"

namespace kloom {
namespace {

// γ_p log k_p(x, x_j) of every row: training samples × rows. A kernel of 0, which one far away rounds to, is the smallest
// number above it.
Matrix exponents_of(const KernelBank& bank, Index p, double gamma) {
  Matrix result(bank.cols(), bank.rows());
  bank.panels({p, p + 1}, {0, bank.rows()}, result.data());
  for (double& value : result.values()) {
    if (!(value >= -1e-6))
      throw InvalidArgument(
          fmt::format("kernel '{}' has the value {:.6g} between a sample and a training sample, and a product "
                      "of powers needs kernels above 0",
                      bank.names()[at(p)], value));
    value = gamma * std::log(std::max(value, std::numeric_limits<double>::min()));
  }
  return result;
}

// What a factor adds to the score on the way from the product 1, where the score is the bias since Σ_j c_j = 0, to the whole
// product: the mean over t of Σ_j c_j e^(tE_j) E_jp, E_j = Σ_p E_jp. These shares add up to the score.
double mean_of_powers(double exponent) {
  return std::abs(exponent) < 1e-8 ? 1.0 + 0.5 * exponent : std::expm1(exponent) / exponent;
}

void add_contributions(const Model& model, const KernelBank& bank, const Matrix& exponents,
                       Predictions& result) {
  Matrix means = exponents;
  for (double& value : means.values()) value = mean_of_powers(value);
  result.contributions.assign(at(model.coefficients.cols()), Matrix(bank.rows(), bank.kernels()));
  for (Index p = 0; p < bank.kernels(); ++p) {
    const double gamma = model.weights.values(0, p);
    if (gamma == 0.0) continue;
    Matrix own = exponents_of(bank, p, gamma);
    for (std::size_t k = 0; k < own.values().size(); ++k) own.values()[k] *= means.values()[k];
    for (Index c = 0; c < model.coefficients.cols(); ++c)
      algebra::gemv(algebra::Op::transpose, 1.0, own.view(), model.coefficients.column(c), 0.0,
                    result.contributions[at(c)].column(p));
  }
}

}  // namespace

Predictions ProductPart::predict(const Model& model, const KernelBank& bank,
                                 const PredictOptions& options) const {
  Matrix exponents(bank.cols(), bank.rows());
  for (Index p = 0; p < bank.kernels(); ++p) {
    const double gamma = model.weights.values(0, p);
    if (gamma != 0.0) algebra::axpy(1.0, exponents_of(bank, p, gamma).values(), exponents.values());
  }
  Predictions result;
  if (options.contributions) add_contributions(model, bank, exponents, result);
  for (double& value : exponents.values()) value = std::exp(value);
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
    algebra::gemv(algebra::Op::transpose, 1.0, exponents.view(), model.coefficients.column(c), 1.0,
                  result.scores.column(c));
  }
  methods::add_margin_classes(model, options, result);
  return result;
}

void ProductPart::save(PartWriter& file) const {
  MarginPart::save(file);
  file.vector("product.lambda", {lambda});
  file.section("product").flag("squared", squared);
}

std::string ProductPart::trouble(const Model& model) const {
  std::string found = MarginPart::trouble(model);
  if (!found.empty()) return found;
  if (model.weights.shape != KernelWeights::Shape::shared) return "the outputs do not share their product";
  if (norm != 0.0 || !groups.empty() || !norm_shares.empty() || !margins.empty() || !pairs.empty())
    return "a product of kernels has something that only sums of kernels have";
  if (!models::all_at_least({&lambda, 1}, 0.0)) return "lambda is no number >= 0";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_gmkl(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<ProductPart>();
  load_margin_part(file, *part);
  const Vector lambda = file.vector("product.lambda");
  if (lambda.size() != 1) file.damaged("'product.lambda' is not one number");
  part->lambda = lambda.front();
  part->squared = file.section("product").flag("squared");
  return part;
}

}  // namespace methods
}  // namespace kloom
