// SPDX-License-Identifier: BSD-3-Clause
//
// The posterior in a model: predictions with variance, and its place in the model file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/bemkl/bemkl.h"
#include "methods/bemkl/predictive.h"
#include "models/scores.h"

namespace kloom {
namespace {

using models::all_above;
using models::all_finite;
using models::empty_or;
using models::is_shape;
using Group = BemklPosterior::Group;
using Likelihood = BemklLikelihood;

constexpr std::array<std::pair<Likelihood, std::string_view>, 3> all_likelihoods = {
    {{Likelihood::probit, "probit"},
     {Likelihood::multinomial, "multinomial"},
     {Likelihood::gaussian, "gaussian"}}};

// The numbers of a prior in the order of the array "bemkl".
template <typename Prior>
auto scalars(Prior& p) {
  return std::array{&p.sigma_g,       &p.margin,        &p.lambda.shape,  &p.lambda.scale,
                    &p.gamma.shape,   &p.gamma.scale,   &p.omega.shape,   &p.omega.scale,
                    &p.upsilon.shape, &p.upsilon.scale, &p.epsilon.shape, &p.epsilon.scale};
}

// Arrays of group k are called "bemkl.k.…".
std::string array_of(std::size_t k, std::string_view name) {
  return fmt::format("bemkl.{}.{}", k, name);
}

void save_group(const Group& group, std::size_t k, PartWriter& file, PartWriter& item) {
  file.matrix(array_of(k, "lambda"), group.lambda);
  file.vector(array_of(k, "omega"), group.omega);
  file.vector(array_of(k, "gamma"), group.gamma);
  file.vector(array_of(k, "upsilon"), group.upsilon);
  file.vector(array_of(k, "epsilon"), group.epsilon);
  file.matrix(array_of(k, "be_covariance"), group.be_covariance);
  if (!group.f_location.empty()) file.matrix(array_of(k, "f_location"), group.f_location);
  if (!group.e_location.empty()) {
    file.vector(array_of(k, "e_location"), group.e_location);
    file.vector(array_of(k, "e_precision"), group.e_precision);
  }
  if (!group.output_squares.empty()) file.matrix(array_of(k, "output_squares"), group.output_squares);
  for (std::size_t c = 0; c < group.a_covariance.size(); ++c)
    file.triangle(array_of(k, fmt::format("a_covariance.{}", c)), group.a_covariance[c]);
  item.flag("a_covariance", !group.a_covariance.empty());
}

Group load_group(std::size_t k, PartReader& file, PartReader& item, Index samples) {
  Group group;
  group.lambda = file.matrix(array_of(k, "lambda"));
  group.omega = file.vector(array_of(k, "omega"));
  group.gamma = file.vector(array_of(k, "gamma"));
  group.upsilon = file.vector(array_of(k, "upsilon"));
  group.epsilon = file.vector(array_of(k, "epsilon"));
  group.be_covariance = file.matrix(array_of(k, "be_covariance"));
  if (file.has(array_of(k, "f_location"))) group.f_location = file.matrix(array_of(k, "f_location"));
  if (file.has(array_of(k, "e_location"))) {
    group.e_location = file.vector(array_of(k, "e_location"));
    group.e_precision = file.vector(array_of(k, "e_precision"));
  }
  if (file.has(array_of(k, "output_squares")))
    group.output_squares = file.matrix(array_of(k, "output_squares"));
  if (!item.flag("a_covariance")) return group;
  for (std::size_t c = 0; c < group.gamma.size(); ++c)
    group.a_covariance.push_back(file.triangle(array_of(k, fmt::format("a_covariance.{}", c)), samples));
  return group;
}

std::string group_trouble(const Group& group, Index samples, Index kernels, Index outputs) {
  if (!is_shape(group.lambda, samples, outputs) || std::ssize(group.omega) != kernels ||
      std::ssize(group.gamma) != outputs || std::ssize(group.upsilon) != outputs ||
      std::ssize(group.epsilon) != outputs ||
      (!group.f_location.empty() && !is_shape(group.f_location, samples, outputs)) ||
      !empty_or(group.e_location, kernels) || group.e_precision.size() != group.e_location.size())
    return "a factor of the posterior has the wrong length";
  if (!is_shape(group.be_covariance, kernels + outputs, kernels + outputs))
    return "the covariance of bias and kernel weights has the wrong shape";
  if (!group.a_covariance.empty() && std::ssize(group.a_covariance) != outputs)
    return "the covariances of the coefficients are not one per score";
  for (const Matrix& covariance : group.a_covariance) {
    if (!is_shape(covariance, samples, samples))
      return "the covariance of the coefficients has the wrong shape";
    if (!models::like_covariance(covariance)) return "the covariance of the coefficients is none";
  }
  for (const auto& precisions :
       {std::span(group.lambda.values()), std::span<const double>(group.omega),
        std::span<const double>(group.gamma), std::span<const double>(group.upsilon),
        std::span<const double>(group.epsilon), std::span<const double>(group.e_precision)}) {
    if (!all_above(precisions, 0.0)) return "a precision of the posterior is no number above 0";
  }
  if (!models::like_covariance(group.be_covariance)) return "the covariance of bias and kernel weights is none";
  if (!all_finite(group.f_location.values()) || !all_finite(group.e_location))
    return "a location of the posterior is no finite number";
  if (group.output_squares.empty()) return {};
  if (!is_shape(group.output_squares, kernels, outputs))
    return "the mean squares of the kernels' outputs have the wrong shape";
  if (!all_above(group.output_squares.values(), 0.0))
    return "a mean square of the kernels' outputs is no number above 0";
  return {};
}

}  // namespace

Predictions BemklPosterior::predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const {
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  if (options.probabilities) result.deviation = result.scores;
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    const Matrix outputs = models::outputs_of(applied, c, bank.rows(), bank.kernels());
    models::add_output(model, outputs, c, options, result);
    if (options.contribution_deviations)
      result.contribution_deviations.push_back(methods::bemkl_contribution_deviation(model, bank, outputs, c));
    if (!options.probabilities) continue;
    const Vector variance = methods::bemkl_variance(model, bank, outputs, c);
    for (Index i = 0; i < bank.rows(); ++i) result.deviation(i, c) = std::sqrt(variance[at(i)]);
  }
  if (options.probabilities && !model.classes.empty())
    result.probabilities = methods::bemkl_probabilities(model, result.scores, result.deviation);
  if (models::has_codes(model.task)) result.codes = models::codes_of(result.scores);
  return result;
}

// The variance needs all kernels and samples.
Needs BemklPosterior::needs(const Model& model) const {
  return {models::all_of(std::ssize(model.kernel_names)), models::all_of(model.coefficients.rows())};
}

void BemklPosterior::save(PartWriter& file) const {
  Vector values;
  for (const double* scalar : scalars(prior)) values.push_back(*scalar);
  file.vector("bemkl", std::move(values));
  if (!sample_weights.empty()) file.vector("bemkl.sample_weights", sample_weights);
  if (temperature != 1.0) file.vector("bemkl.temperature", {temperature});
  if (!target_scale.empty()) {
    file.vector("bemkl.target_centre", target_centre);
    file.vector("bemkl.target_scale", target_scale);
  }
  PartWriter& section = file.section("bemkl");
  for (std::size_t k = 0; k < groups.size(); ++k) save_group(groups[k], k, file, section.item("groups"));
  section.flag("literal", literal);
  for (const auto& [kind, name] : all_likelihoods)
    if (kind == likelihood) section.text("likelihood", std::string(name));
}

std::string BemklPosterior::trouble(const Model& model) const {
  const Index samples = model.coefficients.rows();
  const Index outputs = model.coefficients.cols();
  const bool apart = model.weights.shape == KernelWeights::Shape::per_class;
  if (std::ssize(groups) != (apart ? outputs : 1))
    return "the posterior does not have one group for each set of kernel weights";
  if (!empty_or(sample_weights, samples)) return "there is not one weight for each sample";
  if (!empty_or(target_scale, outputs) || target_centre.size() != target_scale.size())
    return "there is not one scale for each target";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  if (!all_above(target_scale, 0.0) || !all_finite(target_centre))
    return "the scale or centre of a target is not finite or has the wrong sign";
  for (const double* number : scalars(prior)) {
    const bool margin = number == &prior.margin;  // the one that may be 0
    if (!std::isfinite(*number) || !(margin ? *number >= 0.0 : *number > 0.0))
      return "a number of the prior is not finite or has the wrong sign";
  }
  if (prior.non_negative && !models::all_at_least(model.weights.values.values(), 0.0))
    return "a kernel weight that must not be negative is";
  if (!(temperature > 0.0 && std::isfinite(temperature)))
    return "the temperature of its probabilities is not above 0";
  for (const auto& group : groups) {
    std::string found = group_trouble(group, samples, std::ssize(model.kernel_names), apart ? 1 : outputs);
    if (!found.empty()) return found;
  }
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_bemkl(PartReader& file, const Model& model) {
  auto posterior = std::make_shared<BemklPosterior>();
  PartReader& section = file.section("bemkl");
  posterior->literal = section.flag("literal");
  const std::string likelihood = section.text("likelihood");
  const auto* const known =
      std::ranges::find(all_likelihoods, likelihood, [](const auto& entry) { return entry.second; });
  if (known == all_likelihoods.end())
    file.damaged(fmt::format("it has the unknown likelihood '{}'", likelihood));
  posterior->likelihood = known->first;
  const Vector values = file.vector("bemkl");
  const auto targets = scalars(posterior->prior);
  if (values.size() != targets.size())
    file.damaged(fmt::format("'bemkl' does not have {} numbers", targets.size()));
  for (std::size_t i = 0; i < targets.size(); ++i) *targets[i] = values[i];
  if (file.has("bemkl.sample_weights")) posterior->sample_weights = file.vector("bemkl.sample_weights");
  if (file.has("bemkl.temperature")) posterior->temperature = load_temperature(file, "bemkl.temperature");
  if (file.has("bemkl.target_scale")) {
    posterior->target_centre = file.vector("bemkl.target_centre");
    posterior->target_scale = file.vector("bemkl.target_scale");
  }
  const std::vector<PartReader*> items = section.items("groups");
  for (std::size_t k = 0; k < items.size(); ++k)
    posterior->groups.push_back(load_group(k, file, *items[k], model.coefficients.rows()));
  for (const Group& group : posterior->groups) posterior->prior.non_negative |= !group.e_location.empty();
  return posterior;
}

}  // namespace methods
}  // namespace kloom
