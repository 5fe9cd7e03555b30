// SPDX-License-Identifier: BSD-3-Clause
//
// VBpMKL's posterior in a model: predictions with variance, and its place in the model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "base/normal.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/vbpmkl/vbpmkl.h"
#include "models/scores.h"
#include "solvers/multinomial_probit.h"

namespace kloom {
namespace {

using algebra::Op;

// Variances of y (of two classes of the difference) for every row: those of the noise, 1 for each class, and kᵀ V k.
Matrix variances_of(const VbpmklPart& part, const Matrix& combined, Index scores) {
  Matrix variance(combined.cols(), scores, scores == 1 ? 2.0 : 1.0);
  Matrix spread(combined.rows(), combined.cols());
  for (std::size_t c = 0; c < part.covariance.size(); ++c) {
    algebra::gemm(Op::none, Op::none, 1.0, part.covariance[c].view(), combined.view(), 0.0, spread.view());
    for (Index i = 0; i < combined.cols(); ++i)
      variance(i, static_cast<Index>(c)) += std::max(0.0, algebra::dot(combined.column(i), spread.column(i)));
  }
  return variance;
}

// The probability that a class has the largest y.
Matrix chances_of(const Matrix& scores, const Matrix& deviation) {
  const Index classes = std::max<Index>(2, scores.cols());
  Matrix result(scores.rows(), classes);
  Vector location(at(classes));
  Vector spread(location.size());
  Vector chances(location.size());
  for (Index i = 0; i < scores.rows(); ++i) {
    if (scores.cols() == 1) {
      result(i, 1) = std::exp(log_normal_cdf(scores(i, 0) / deviation(i, 0)));
      result(i, 0) = std::exp(log_normal_cdf(-scores(i, 0) / deviation(i, 0)));
      continue;
    }
    for (Index c = 0; c < classes; ++c) {
      location[at(c)] = scores(i, c);
      spread[at(c)] = deviation(i, c);
    }
    solvers::largest_probabilities(location, spread, chances);
    for (Index c = 0; c < classes; ++c) result(i, c) = chances[at(c)];
  }
  return result;
}

}  // namespace

Predictions VbpmklPart::predict(const Model& model, const KernelBank& bank,
                                const PredictOptions& options) const {
  Predictions result = models::weighted_sums(model, bank, options);
  result.codes = models::codes_of(result.scores);
  if (!options.probabilities) return result;
  const Matrix combined =
      covariance.empty() ? Matrix(0, bank.rows()) : bank.combine(models::weights_of(model, 0));
  Matrix deviation = variances_of(*this, combined, result.scores.cols());
  for (double& value : deviation.values()) value = std::sqrt(value);
  result.probabilities = chances_of(result.scores, deviation);
  if (!covariance.empty()) result.deviation = std::move(deviation);
  return result;
}

// Variances need all samples.
Needs VbpmklPart::needs(const Model& model) const {
  Needs result = ModelPart::needs(model);
  result.samples = models::all_of(model.coefficients.rows());
  return result;
}

void VbpmklPart::save(PartWriter& file) const {
  file.vector("vbpmkl", {tau, upsilon});
  file.matrix("vbpmkl.precision", precision);
  file.matrix("vbpmkl.location", location);
  file.matrix("vbpmkl.means", means);
  for (std::size_t c = 0; c < covariance.size(); ++c)
    file.triangle(fmt::format("vbpmkl.covariance.{}", c), covariance[c]);
  PartWriter& section = file.section("vbpmkl");
  section.flag("literal", literal);
  section.flag("covariance", !covariance.empty());
}

std::string VbpmklPart::trouble(const Model& model) const {
  if (!models::has_codes(model.task)) return "VBpMKL needs classes";
  if (model.weights.shape != KernelWeights::Shape::shared)
    return "the classes do not share their kernel weights";
  const Index samples = model.coefficients.rows();
  const auto classes = std::ssize(model.classes);
  for (const Matrix* factor : {&precision, &location, &means}) {
    if (!models::is_shape(*factor, samples, classes)) return "a factor of the posterior has the wrong shape";
    if (!models::all_finite(factor->values()))
      return "a factor of the posterior has a number that is not finite";
  }
  if (!models::all_above(precision.values(), 0.0)) return "a precision is no number above 0";
  if (!(tau > 0.0 && std::isfinite(tau)) || !(upsilon > 0.0 && std::isfinite(upsilon)))
    return "a number of the prior is not finite or has the wrong sign";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  if (!covariance.empty() && std::ssize(covariance) != model.coefficients.cols())
    return "there is not one covariance for each score";
  for (const Matrix& one : covariance) {
    if (!models::is_shape(one, samples, samples)) return "a covariance has the wrong shape";
    if (!models::like_covariance(one)) return "a covariance is none";
  }
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_vbpmkl(PartReader& file, const Model& model) {
  auto part = std::make_shared<VbpmklPart>();
  const Vector numbers = file.vector("vbpmkl");
  if (numbers.size() != 2) file.damaged("'vbpmkl' does not have two numbers");
  part->tau = numbers[0];
  part->upsilon = numbers[1];
  part->precision = file.matrix("vbpmkl.precision");
  part->location = file.matrix("vbpmkl.location");
  part->means = file.matrix("vbpmkl.means");
  PartReader& section = file.section("vbpmkl");
  part->literal = section.flag("literal");
  for (Index c = 0; section.flag("covariance") && c < model.coefficients.cols(); ++c)
    part->covariance.push_back(
        file.triangle(fmt::format("vbpmkl.covariance.{}", c), model.coefficients.rows()));
  return part;
}

}  // namespace methods
}  // namespace kloom
