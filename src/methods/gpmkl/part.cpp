// SPDX-License-Identifier: BSD-3-Clause
//
// The Gaussian process in a model: predictions with variance, and its place in the model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/gpmkl/gpmkl.h"
#include "methods/gpmkl/predictive.h"
#include "models/scores.h"

namespace kloom {
namespace {

using algebra::Op;

Vector as_numbers(const std::vector<Index>& indices) {
  return {indices.begin(), indices.end()};
}

std::vector<Index> as_indices(const Vector& numbers, Index below, const char* what, const PartReader& file) {
  std::vector<Index> indices;
  for (const double number : numbers) {
    const bool ascending = indices.empty() || number > static_cast<double>(indices.back());
    if (!(number >= 0.0 && number < static_cast<double>(below)) || number != std::floor(number) || !ascending)
      file.damaged(fmt::format("'{}' does not hold ascending numbers of training samples", what));
    indices.push_back(static_cast<Index>(number));
  }
  return indices;
}

// k(x, x) − kᵀ Q k for every column k of the covariances with the variance samples.
Vector latent_variance(const Matrix& covariances, const Matrix& precision, double prior) {
  Matrix solved(covariances.rows(), covariances.cols());
  algebra::gemm(Op::none, Op::none, 1.0, precision.view(), covariances.view(), 0.0, solved.view());
  Vector variance;
  for (Index i = 0; i < covariances.cols(); ++i) {
    const double explained = algebra::dot(covariances.column(i), solved.column(i));
    variance.push_back(std::max(0.0, prior - explained));
  }
  return variance;
}

}  // namespace

Predictions GpPart::predict(const Model& model, const KernelBank& bank, const PredictOptions& options) const {
  const Vector weights = models::weights_of(model, 0);
  const Matrix combined = bank.combine(weights);  // N × rows
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  for (Index c = 0; c < result.scores.cols(); ++c)
    std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
  algebra::gemm(Op::transpose, Op::none, 1.0, combined.view(), model.coefficients.view(), 1.0,
                result.scores.view());
  if (options.contributions) {
    const Matrix applied = bank.apply(model.coefficients.view());
    for (Index c = 0; c < result.scores.cols(); ++c)
      result.contributions.push_back(
          models::contributions_of(models::outputs_of(applied, c, bank.rows(), bank.kernels()), weights));
  }
  if (models::has_codes(model.task)) result.codes = models::codes_of(result.scores);
  if (!options.probabilities) return result;
  Matrix covariances = models::selected(combined, variance_samples, models::all_of(bank.rows()));
  for (double& value : covariances.values()) value += constant;
  const double prior = constant + algebra::dot(weights, self);
  result.deviation = Matrix(result.scores.rows(), result.scores.cols());
  for (Index c = 0; c < result.scores.cols(); ++c) {
    const Vector variance = latent_variance(covariances, precision[at(c)], prior);
    for (Index i = 0; i < bank.rows(); ++i) result.deviation(i, c) = scale * std::sqrt(variance[at(i)] + noise);
  }
  if (!regression)
    result.probabilities = methods::gp_probabilities(result.scores, result.deviation, temperature);
  return result;
}

// Variances need all samples.
Needs GpPart::needs(const Model& model) const {
  Needs result = ModelPart::needs(model);
  result.samples = models::all_of(model.coefficients.rows());
  return result;
}

std::shared_ptr<const ModelPart> GpPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<GpPart>(*this);
  small->self = models::selected(self, needs.kernels);
  return small;
}

void GpPart::save(PartWriter& file) const {
  file.vector("gpmkl", {constant, noise, penalty, centre, scale, temperature});
  file.vector("gpmkl.self", self);
  file.vector("gpmkl.evidence_samples", as_numbers(evidence_samples));
  file.vector("gpmkl.variance_samples", as_numbers(variance_samples));
  for (std::size_t c = 0; c < precision.size(); ++c)
    file.triangle(fmt::format("gpmkl.precision.{}", c), precision[c]);
  file.section("gpmkl").flag("regression", regression);
}

std::string GpPart::trouble(const Model& model) const {
  if (regression == models::has_codes(model.task)) return "the Gaussian process is for another task";
  if (model.weights.shape != KernelWeights::Shape::shared)
    return "the outputs do not share their kernel weights";
  if (std::ssize(precision) != model.coefficients.cols()) return "there is not one precision for each score";
  for (const Matrix& one : precision) {
    if (!models::is_shape(one, std::ssize(variance_samples), std::ssize(variance_samples)))
      return "a precision does not have the shape of the samples of the variance";
  }
  if (std::ssize(self) != std::ssize(model.kernel_names)) return "there is not one diagonal for each kernel";
  if (variance_samples.empty() || evidence_samples.empty())
    return "there are no samples of evidence or variance";
  if (!(constant >= 0.0 && std::isfinite(constant)) || !(noise >= 0.0 && std::isfinite(noise)) ||
      !(penalty >= 0.0 && std::isfinite(penalty)) || !std::isfinite(centre) || !(scale > 0.0 && std::isfinite(scale)) ||
      !(temperature > 0.0 && std::isfinite(temperature)))
    return "a number of the Gaussian process is not finite or has the wrong sign";
  if (regression && noise == 0.0) return "the Gaussian process has no noise";
  if (!models::all_at_least(self, 0.0)) return "the diagonal of a kernel is no number >= 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  if (!std::ranges::all_of(precision, models::like_covariance)) return "a precision has impossible numbers";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_gpmkl(PartReader& file, const Model& model) {
  auto part = std::make_shared<GpPart>();
  part->regression = file.section("gpmkl").flag("regression");
  const Vector numbers = file.vector("gpmkl");
  if (numbers.size() != 6) file.damaged("'gpmkl' does not have six numbers");
  part->constant = numbers[0];
  part->noise = numbers[1];
  part->penalty = numbers[2];
  part->centre = numbers[3];
  part->scale = numbers[4];
  part->temperature = numbers[5];
  part->self = file.vector("gpmkl.self");
  const Index n = model.coefficients.rows();
  part->evidence_samples = as_indices(file.vector("gpmkl.evidence_samples"), n, "gpmkl.evidence_samples", file);
  part->variance_samples = as_indices(file.vector("gpmkl.variance_samples"), n, "gpmkl.variance_samples", file);
  for (Index c = 0; c < model.coefficients.cols(); ++c)
    part->precision.push_back(
        file.triangle(fmt::format("gpmkl.precision.{}", c), std::ssize(part->variance_samples)));
  return part;
}

}  // namespace methods
}  // namespace kloom
