// SPDX-License-Identifier: BSD-3-Clause
//
// The spike-and-slab posterior in a model: predictions with deviations, and its place in the model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/mtmkl/mtmkl.h"
#include "models/scores.h"

namespace kloom {
namespace {

using algebra::Op;

// Of every kernel's function at every row.
Matrix function_variances(const MtmklPart& part, const KernelBank& bank) {
  Matrix variance(bank.rows(), bank.kernels(), 1.0);
  Vector unit(at(bank.kernels()));
  for (Index m = 0; m < bank.kernels(); ++m) {
    const Matrix& factor = part.factors[at(m)];
    if (factor.empty()) continue;
    unit[at(m)] = 1.0;
    const Matrix kernel = bank.combine(unit);  // training samples × rows
    unit[at(m)] = 0.0;
    Matrix known(factor.cols(), bank.rows());
    algebra::gemm(Op::transpose, Op::none, 1.0, factor.view(), kernel.view(), 0.0, known.view());
    for (Index i = 0; i < bank.rows(); ++i)
      variance(i, m) = std::max(0.0, 1.0 - algebra::dot(known.column(i), known.column(i)));
  }
  return variance;
}

// Var(s w φ) = E[s w²] (Var φ + (E φ)²) − (E[s w] E φ)², of an output and every kernel, in units of the output.
Matrix part_variances(const MtmklPart& part, const Matrix& means, const Matrix& variances, Index q) {
  const double unit = part.scale[at(q)] * part.scale[at(q)];
  Matrix result(means.rows(), means.cols());
  for (Index m = 0; m < means.cols(); ++m) {
    const double square = part.mean_square(q, m);
    const double of_weight = std::max(0.0, square - std::pow(part.mean_weight(q, m), 2));
    for (Index i = 0; i < means.rows(); ++i)
      result(i, m) = unit * (square * variances(i, m) + of_weight * means(i, m) * means(i, m));
  }
  return result;
}

void add_deviations(const MtmklPart& part, const Matrix& means, const KernelBank& bank,
                    const PredictOptions& options, Predictions& result) {
  const Matrix variances = function_variances(part, bank);
  result.deviation = Matrix(means.rows(), result.scores.cols());
  for (Index q = 0; q < result.scores.cols(); ++q) {
    Matrix parts = part_variances(part, means, variances, q);
    const double noise = part.scale[at(q)] * part.scale[at(q)] * part.noise[at(q)];
    for (Index i = 0; i < means.rows(); ++i) {
      double sum = noise;
      for (Index m = 0; m < means.cols(); ++m) sum += parts(i, m);
      result.deviation(i, q) = std::sqrt(sum);
    }
    if (!options.contribution_deviations) continue;
    for (double& value : parts.values()) value = std::sqrt(value);
    result.contribution_deviations.push_back(std::move(parts));
  }
}

}  // namespace

double MtmklPart::mean_weight(Index output, Index kernel) const {
  return inclusion(output, kernel) * location(output, kernel);
}

double MtmklPart::mean_square(Index output, Index kernel) const {
  return inclusion(output, kernel) * (std::pow(location(output, kernel), 2) + variance(output, kernel));
}

Predictions MtmklPart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  const Matrix means = bank.apply_each(functions.view());
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  for (Index q = 0; q < result.scores.cols(); ++q) {
    std::ranges::fill(result.scores.column(q), model.bias[at(q)]);
    Matrix parts = options.contributions ? means : Matrix();
    for (Index m = 0; m < means.cols(); ++m) {
      const double factor = scale[at(q)] * mean_weight(q, m);
      algebra::axpy(factor, means.column(m), result.scores.column(q));
      if (options.contributions) algebra::scale(factor, parts.column(m));
    }
    if (options.contributions) result.contributions.push_back(std::move(parts));
  }
  if (variances && (options.probabilities || options.contribution_deviations))
    add_deviations(*this, means, bank, options, result);
  return result;
}

// Every function is of all samples.
Needs MtmklPart::needs(const Model& model) const {
  Needs result = ModelPart::needs(model);
  result.samples = models::all_of(model.coefficients.rows());
  return result;
}

std::shared_ptr<const ModelPart> MtmklPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<MtmklPart>(*this);
  const std::vector<Index> outputs = models::all_of(inclusion.rows());
  small->inclusion = models::selected(inclusion, outputs, needs.kernels);
  small->location = models::selected(location, outputs, needs.kernels);
  small->variance = models::selected(variance, outputs, needs.kernels);
  small->functions = models::selected(functions, needs.samples, needs.kernels);
  small->sizes = models::selected(sizes, needs.kernels);
  small->factors.clear();
  for (const Index m : needs.kernels) {
    const Matrix& factor = factors[at(m)];
    small->factors.push_back(
        factor.empty() ? Matrix() : models::selected(factor, needs.samples, models::all_of(factor.cols())));
  }
  return small;
}

void MtmklPart::save(PartWriter& file) const {
  file.matrix("mtmkl.inclusion", inclusion);
  file.matrix("mtmkl.location", location);
  file.matrix("mtmkl.variance", variance);
  file.matrix("mtmkl.functions", functions);
  file.vector("mtmkl.sizes", sizes);
  file.vector("mtmkl.noise", noise);
  file.vector("mtmkl.scale", scale);
  file.vector("mtmkl.prior", {spread, share, least_noise});
  for (std::size_t m = 0; m < factors.size(); ++m) {
    if (!factors[m].empty()) file.matrix(fmt::format("mtmkl.factor.{}", m), factors[m]);
  }
  file.section("mtmkl").flag("variances", variances);
}

namespace {

std::string factors_trouble(const MtmklPart& part, Index samples) {
  for (const Matrix& factor : part.factors) {
    if (factor.empty()) continue;
    if (!part.variances) return "there are variances that the model says it does not keep";
    if (factor.rows() != samples) return "the variance of a function has the wrong shape";
    if (!models::all_finite(factor.values())) return "a number of a function's variance is not finite";
  }
  return {};
}

std::string shapes_trouble(const MtmklPart& part, const Model& model) {
  const Index outputs = model.coefficients.cols();
  const auto kernels = std::ssize(model.kernel_names);
  for (const Matrix* one : {&part.inclusion, &part.location, &part.variance}) {
    if (!models::is_shape(*one, outputs, kernels)) return "there is not one weight for each output and kernel";
    if (!models::all_finite(one->values())) return "a weight of a kernel is not finite";
  }
  if (!models::is_shape(part.functions, model.coefficients.rows(), kernels))
    return "the functions have the wrong shape";
  if (std::ssize(part.sizes) != kernels) return "there is not one size for each kernel";
  if (std::ssize(part.noise) != outputs || std::ssize(part.scale) != outputs)
    return "there is not one noise and one scale for each output";
  return {};
}

}  // namespace

std::string MtmklPart::trouble(const Model& model) const {
  if (!models::has_numbers(model.task)) return "mtmkl is for numbers";
  if (model.coefficients.cols() > 1 && model.weights.shape != KernelWeights::Shape::per_class)
    return "the outputs share their kernel weights";
  const std::string shapes = shapes_trouble(*this, model);
  if (!shapes.empty()) return shapes;
  if (!models::all_finite(functions.values())) return "a number of a function is not finite";
  if (!models::all_at_least(inclusion.values(), 0.0) || std::ranges::max(inclusion.values()) > 1.0)
    return "a probability is not between 0 and 1";
  if (!models::all_above(variance.values(), 0.0) || !models::all_above(noise, 0.0) ||
      !models::all_above(Vector{spread, share, least_noise}, 0.0))
    return "a variance of the posterior or the prior is no number above 0";
  if (!(share < 1.0)) return "the prior probability is not below 1";
  if (!models::all_above(sizes, 0.0) || !models::all_above(scale, 0.0))
    return "the size of a kernel or an output is no number above 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return factors_trouble(*this, model.coefficients.rows());
}

namespace methods {

std::shared_ptr<const ModelPart> load_mtmkl(PartReader& file, const Model& model) {
  auto part = std::make_shared<MtmklPart>();
  part->inclusion = file.matrix("mtmkl.inclusion");
  part->location = file.matrix("mtmkl.location");
  part->variance = file.matrix("mtmkl.variance");
  part->functions = file.matrix("mtmkl.functions");
  part->sizes = file.vector("mtmkl.sizes");
  part->noise = file.vector("mtmkl.noise");
  part->scale = file.vector("mtmkl.scale");
  const Vector prior = file.vector("mtmkl.prior");
  if (prior.size() != 3) file.damaged("'mtmkl.prior' does not have three numbers");
  part->spread = prior[0];
  part->share = prior[1];
  part->least_noise = prior[2];
  for (std::size_t m = 0; m < model.kernel_names.size(); ++m) {
    const std::string name = fmt::format("mtmkl.factor.{}", m);
    part->factors.push_back(file.has(name) ? file.matrix(name) : Matrix());
  }
  part->variances = file.section("mtmkl").flag("variances");
  return part;
}

}  // namespace methods
}  // namespace kloom
