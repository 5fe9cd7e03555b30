// SPDX-License-Identifier: BSD-3-Clause
#include "models/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/container_json.h"
#include "kernels/spec/recipe_file.h"
#include "kloom/error.h"
#include "methods/gated/file.h"

namespace kloom {
namespace models {
namespace {

using data::encode_text;
using data::encode_texts;
using data::Fields;
using nlohmann::json;

constexpr std::array all_tasks = {Task::binary, Task::multiclass, Task::multilabel, Task::regression,
                                  Task::multi_regression};

using Shape = KernelWeights::Shape;
constexpr std::array<std::pair<Shape, std::string_view>, 3> all_shapes = {
    {{Shape::shared, "shared"}, {Shape::per_class, "per class"}, {Shape::per_sample, "per sample"}}};

// The scalars of a BEMKL posterior in the order of the tensor "bemkl".
template <typename Posterior>
auto scalars(Posterior& b) {
  return std::array{&b.sigma_g,       &b.margin,       &b.alpha_lambda,  &b.beta_lambda,
                    &b.alpha_gamma,   &b.beta_gamma,   &b.alpha_omega,   &b.beta_omega,
                    &b.alpha_upsilon, &b.beta_upsilon, &b.alpha_epsilon, &b.beta_epsilon};
}

using Likelihood = BemklPosterior::Likelihood;
constexpr std::array<std::pair<Likelihood, std::string_view>, 3> all_likelihoods = {
    {{Likelihood::probit, "probit"},
     {Likelihood::multinomial, "multinomial"},
     {Likelihood::gaussian, "gaussian"}}};

void save_lower_triangle(data::SectionList& sections, std::string name, const Matrix& matrix) {
  const Index n = matrix.rows();
  sections.add(std::move(name), data::Dtype::f64, {n * (n + 1) / 2}, [&matrix](data::ContainerWriter& writer) {
    Vector row;
    for (Index i = 0; i < matrix.rows(); ++i) {
      row.clear();
      for (Index j = 0; j <= i; ++j) row.push_back(matrix(i, j));
      writer.write(row);
    }
  });
}

Matrix load_lower_triangle(data::TensorReader& tensors, const std::string& name, Index n) {
  const Vector packed = tensors.vector(name);
  std::size_t expected = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(n), static_cast<std::size_t>(n) + 1, &expected) ||
      packed.size() != expected / 2)
    tensors.container().damaged(fmt::format("'{}' is not the triangle of an {} × {} matrix", name, n, n));
  Matrix out(n, n);
  std::size_t next = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) out(i, j) = out(j, i) = packed[next++];
  return out;
}

// Tensors of group k are called "bemkl.k.…".
std::string group_tensor(std::size_t k, std::string_view name) {
  return fmt::format("bemkl.{}.{}", k, name);
}

json save_group(const BemklPosterior::Group& group, std::size_t k, data::SectionList& sections) {
  sections.matrix(group_tensor(k, "lambda"), group.lambda);
  sections.vector(group_tensor(k, "omega"), group.omega);
  sections.vector(group_tensor(k, "gamma"), group.gamma);
  sections.vector(group_tensor(k, "upsilon"), group.upsilon);
  sections.vector(group_tensor(k, "epsilon"), group.epsilon);
  sections.matrix(group_tensor(k, "be_covariance"), group.be_covariance);
  if (!group.f_location.empty()) sections.matrix(group_tensor(k, "f_location"), group.f_location);
  if (!group.e_location.empty()) {
    sections.vector(group_tensor(k, "e_location"), group.e_location);
    sections.vector(group_tensor(k, "e_precision"), group.e_precision);
  }
  for (std::size_t c = 0; c < group.a_covariance.size(); ++c) {
    save_lower_triangle(sections, group_tensor(k, fmt::format("a_covariance.{}", c)), group.a_covariance[c]);
  }
  return {{"a_covariance", !group.a_covariance.empty()}};
}

json save_bemkl(const BemklPosterior& posterior, data::SectionList& sections) {
  Vector values;
  for (const double* scalar : scalars(posterior)) values.push_back(*scalar);
  sections.vector("bemkl", std::move(values));
  if (!posterior.sample_weights.empty()) sections.vector("bemkl.sample_weights", posterior.sample_weights);
  if (posterior.temperature != 1.0) sections.vector("bemkl.temperature", {posterior.temperature});
  if (!posterior.target_scale.empty()) {
    sections.vector("bemkl.target_centre", posterior.target_centre);
    sections.vector("bemkl.target_scale", posterior.target_scale);
  }
  json groups = json::array();
  for (std::size_t k = 0; k < posterior.groups.size(); ++k)
    groups.push_back(save_group(posterior.groups[k], k, sections));
  json document = {{"literal", posterior.literal}, {"groups", groups}};
  for (const auto& [likelihood, name] : all_likelihoods)
    if (likelihood == posterior.likelihood) document["likelihood"] = name;
  return document;
}

BemklPosterior::Group load_group(const json& document, std::size_t k, data::TensorReader& tensors,
                                 Index samples) {
  Fields fields(document, tensors.container().source(), "a group of the posterior");
  BemklPosterior::Group group;
  group.lambda = tensors.matrix(group_tensor(k, "lambda"));
  group.omega = tensors.vector(group_tensor(k, "omega"));
  group.gamma = tensors.vector(group_tensor(k, "gamma"));
  group.upsilon = tensors.vector(group_tensor(k, "upsilon"));
  group.epsilon = tensors.vector(group_tensor(k, "epsilon"));
  group.be_covariance = tensors.matrix(group_tensor(k, "be_covariance"));
  if (tensors.has(group_tensor(k, "f_location")))
    group.f_location = tensors.matrix(group_tensor(k, "f_location"));
  if (tensors.has(group_tensor(k, "e_location"))) {
    group.e_location = tensors.vector(group_tensor(k, "e_location"));
    group.e_precision = tensors.vector(group_tensor(k, "e_precision"));
  }
  if (fields.flag("a_covariance")) {
    for (std::size_t c = 0; c < group.gamma.size(); ++c) {
      group.a_covariance.push_back(
          load_lower_triangle(tensors, group_tensor(k, fmt::format("a_covariance.{}", c)), samples));
    }
  }
  fields.finish();
  return group;
}

BemklPosterior load_bemkl(const json& document, data::TensorReader& tensors, Index samples) {
  Fields fields(document, tensors.container().source(), "the posterior");
  BemklPosterior posterior;
  posterior.literal = fields.flag("literal");
  const std::string likelihood = fields.text("likelihood");
  const auto* const known =
      std::ranges::find(all_likelihoods, likelihood, [](const auto& entry) { return entry.second; });
  if (known == all_likelihoods.end())
    tensors.container().damaged(fmt::format("it has the unknown likelihood '{}'", likelihood));
  posterior.likelihood = known->first;
  const Vector values = tensors.vector("bemkl");
  const auto targets = scalars(posterior);
  if (values.size() != targets.size())
    tensors.container().damaged(fmt::format("'bemkl' does not have {} numbers", targets.size()));
  for (std::size_t i = 0; i < targets.size(); ++i) *targets[i] = values[i];
  if (tensors.has("bemkl.sample_weights")) posterior.sample_weights = tensors.vector("bemkl.sample_weights");
  if (tensors.has("bemkl.temperature")) {
    const Vector temperature = tensors.vector("bemkl.temperature");
    if (temperature.size() != 1 || !(temperature.front() > 0.0) || !std::isfinite(temperature.front()))
      tensors.container().damaged("'bemkl.temperature' is not one number above 0");
    posterior.temperature = temperature.front();
  }
  if (tensors.has("bemkl.target_scale")) {
    posterior.target_centre = tensors.vector("bemkl.target_centre");
    posterior.target_scale = tensors.vector("bemkl.target_scale");
  }
  const json& groups = fields.array("groups");
  for (std::size_t k = 0; k < groups.size(); ++k)
    posterior.groups.push_back(load_group(groups[k], k, tensors, samples));
  fields.finish();
  return posterior;
}

json save_margin(const MarginPart& margin, data::SectionList& sections) {
  sections.vector("margin", {margin.norm, margin.epsilon, margin.target_centre, margin.target_scale});
  sections.matrix("margin.box", margin.box);
  if (!margin.pairs.empty()) sections.matrix("margin.pairs", margin.pairs);
  if (!margin.platt.empty()) sections.matrix("margin.platt", margin.platt);
  return {{"regression", margin.regression}};
}

MarginPart load_margin(const json& document, data::TensorReader& tensors) {
  Fields fields(document, tensors.container().source(), "the margin part");
  MarginPart margin;
  margin.regression = fields.flag("regression");
  const Vector values = tensors.vector("margin");
  if (values.size() != 4) tensors.container().damaged("'margin' does not have four numbers");
  margin.norm = values[0];
  margin.epsilon = values[1];
  margin.target_centre = values[2];
  margin.target_scale = values[3];
  margin.box = tensors.matrix("margin.box");
  if (tensors.has("margin.pairs")) margin.pairs = tensors.matrix("margin.pairs");
  if (tensors.has("margin.platt")) margin.platt = tensors.matrix("margin.platt");
  fields.finish();
  return margin;
}

constexpr std::array<std::pair<McmklPart::Loss, std::string_view>, 3> all_losses = {{
    {McmklPart::Loss::hinge, "hinge"},
    {McmklPart::Loss::squared_hinge, "squared-hinge"},
    {McmklPart::Loss::logistic, "logistic"},
}};

json save_mcmkl(const McmklPart& part, data::SectionList& sections) {
  sections.vector("mcmkl.box", part.box);
  sections.matrix("mcmkl.dual", part.dual);
  if (!part.class_kernels.empty()) {
    sections.matrix("mcmkl.class_kernels", part.class_kernels);
    sections.matrix("mcmkl.class_weights", part.class_weights);
  }
  const auto* name = std::ranges::find(all_losses, part.loss, [](const auto& l) { return l.first; });
  return {{"loss", name->second}, {"bias", part.bias}};
}

McmklPart load_mcmkl(const json& document, data::TensorReader& tensors) {
  Fields fields(document, tensors.container().source(), "the multiclass part");
  McmklPart part;
  const std::string loss = fields.text("loss");
  const auto* known = std::ranges::find(all_losses, loss, [](const auto& l) { return l.second; });
  if (known == all_losses.end()) fields.damaged("loss", "is no loss that this kloom knows");
  part.loss = known->first;
  part.bias = fields.flag("bias");
  part.box = tensors.vector("mcmkl.box");
  part.dual = tensors.matrix("mcmkl.dual");
  if (tensors.has("mcmkl.class_kernels")) {
    part.class_kernels = tensors.matrix("mcmkl.class_kernels");
    part.class_weights = tensors.matrix("mcmkl.class_weights");
  }
  fields.finish();
  return part;
}

json save_stochastic(const StochasticPart& part, data::SectionList& sections) {
  sections.vector("stochastic", {part.lambda, part.alpha, part.norm});
  if (!part.penalties.empty()) sections.matrix("stochastic.penalties", part.penalties);
  for (std::size_t i = 0; i < part.terms.size(); ++i) {
    sections.matrix(fmt::format("stochastic.weights.{}", i), part.terms[i].weights);
    sections.matrix(fmt::format("stochastic.coefficients.{}", i), part.terms[i].coefficients);
  }
  return {{"terms", part.terms.size()}};
}

StochasticPart load_stochastic(const json& document, data::TensorReader& tensors) {
  Fields fields(document, tensors.container().source(), "the stochastic part");
  StochasticPart part;
  const Vector values = tensors.vector("stochastic");
  if (values.size() != 3) tensors.container().damaged("'stochastic' does not have three numbers");
  part.lambda = values[0];
  part.alpha = values[1];
  part.norm = values[2];
  if (tensors.has("stochastic.penalties")) part.penalties = tensors.matrix("stochastic.penalties");
  const Index terms = fields.index("terms");
  for (Index i = 0; i < terms; ++i) {
    part.terms.push_back({tensors.matrix(fmt::format("stochastic.weights.{}", i)),
                          tensors.matrix(fmt::format("stochastic.coefficients.{}", i))});
  }
  fields.finish();
  return part;
}

// The matrices of a stream's state by name.
template <typename Part>
auto stream_matrices(Part& part) {
  return std::array<std::pair<const char*, decltype(&part.counts)>, 7>{
      {{"stream.counts", &part.counts},
       {"stream.births", &part.births},
       {"stream.squares", &part.squares},
       {"stream.inverse_lambda", &part.inverse_lambda},
       {"stream.segments", &part.segments},
       {"stream.weights", &part.weights},
       {"stream.theta", &part.theta}}};
}

json save_stream(const StreamPart& part, data::SectionList& sections) {
  sections.vector("stream", part.numbers);
  for (const auto& [name, matrix] : stream_matrices(part))
    if (!matrix->empty()) sections.matrix(name, *matrix);
  return json::object();
}

StreamPart load_stream(const json& document, data::TensorReader& tensors) {
  Fields(document, tensors.container().source(), "the stream").finish();
  StreamPart part;
  part.numbers = tensors.vector("stream");
  for (const auto& [name, matrix] : stream_matrices(part))
    if (tensors.has(name)) *matrix = tensors.matrix(name);
  return part;
}

json save_features(const FeaturePart& part, data::SectionList& sections) {
  sections.matrix("features.basis", part.map.basis);
  sections.matrix("features.weights", part.weights);
  if (part.map.kind == FeatureMap::Kind::rff) {
    sections.vector("features.phases", part.map.phases);
  } else {
    sections.matrix("features.whitening", part.map.whitening);
  }
  return {{"nystroem", part.map.kind == FeatureMap::Kind::nystroem}};
}

FeaturePart load_features(const json& document, data::TensorReader& tensors) {
  Fields fields(document, tensors.container().source(), "the features");
  FeaturePart part;
  part.map.kind = fields.flag("nystroem") ? FeatureMap::Kind::nystroem : FeatureMap::Kind::rff;
  part.map.basis = tensors.matrix("features.basis");
  part.weights = tensors.matrix("features.weights");
  if (part.map.kind == FeatureMap::Kind::rff) {
    part.map.phases = tensors.vector("features.phases");
  } else {
    part.map.whitening = tensors.matrix("features.whitening");
  }
  fields.finish();
  return part;
}

// Fills `sections` and returns the plan of the file. `model` must outlive `sections`.
data::ContainerPlan plan_model(const Model& model, data::SectionList& sections) {
  json document;
  document["method"] = encode_text(model.method);
  document["task"] = to_string(model.task);
  document["classes"] = encode_texts(model.classes);
  document["target"] = encode_text(model.target_name);
  document["options"] = encode_text(model.options_json);
  document["report"] = encode_text(model.report_json);
  document["kernels"] = encode_texts(model.kernel_names);
  for (const auto& [shape, name] : all_shapes)
    if (shape == model.weights.shape) document["weights"] = name;
  sections.matrix("weights", model.weights.values);
  if (!model.weights.deviation.empty()) sections.matrix("weights.deviation", model.weights.deviation);
  sections.matrix("coefficients", model.coefficients);
  sections.vector("bias", model.bias);
  if (model.bemkl) document["bemkl"] = save_bemkl(*model.bemkl, sections);
  if (model.margin) document["margin"] = save_margin(*model.margin, sections);
  if (model.mcmkl) document["mcmkl"] = save_mcmkl(*model.mcmkl, sections);
  if (model.gate) document["gate"] = save_gate(*model.gate, sections);
  if (model.stochastic) document["stochastic"] = save_stochastic(*model.stochastic, sections);
  if (model.stream) document["stream"] = save_stream(*model.stream, sections);
  if (model.features) document["features"] = save_features(*model.features, sections);
  if (model.recipe) document["recipe"] = kernels::save_recipe(*model.recipe, sections);
  sections.text("document", document.dump());

  data::ContainerPlan plan{std::string(model_format), std::string(model_version)};
  // For people and tools that look into the header; kloom itself reads the document.
  if (data::is_utf8(model.method)) plan.set("method", model.method);
  plan.set("task", std::string(to_string(model.task)));
  if (data::is_utf8(model.options_json)) plan.set("options", model.options_json);
  sections.plan_into(plan);
  return plan;
}

bool is_shape(const Matrix& m, Index rows, Index cols) {
  return m.rows() == rows && m.cols() == cols;
}

// Empty where a method has nothing to say, else one number for each of n.
bool empty_or(const Vector& v, Index n) {
  return v.empty() || static_cast<Index>(v.size()) == n;
}

std::string classes_trouble(const Model& model, Index outputs) {
  const auto classes = static_cast<Index>(model.classes.size());
  switch (model.task) {
    case Task::binary:
      if (classes != 2 || outputs != 1) return "a binary model needs two classes and one score";
      break;
    case Task::multiclass:
    case Task::multilabel:
      if ((model.margin && !model.margin->pairs.empty() ? classes * (classes - 1) / 2 : classes) != outputs)
        return "the number of classes does not fit the number of scores";
      break;
    case Task::regression:
      if (outputs != 1) return "a regression model needs one score";
      break;
    case Task::multi_regression:
      break;
  }
  return {};
}

std::string weights_trouble(const KernelWeights& weights, Index samples, Index kernels, Index outputs) {
  Index rows = 1;
  if (weights.shape == Shape::per_class) rows = outputs;
  if (weights.shape == Shape::per_sample) rows = samples;
  if (!is_shape(weights.values, rows, kernels)) return "the kernel weights have the wrong shape";
  if (!weights.deviation.empty() && !is_shape(weights.deviation, rows, kernels))
    return "the deviations of the kernel weights have the wrong shape";
  return {};
}

std::string group_trouble(const BemklPosterior::Group& group, Index samples, Index kernels, Index outputs) {
  const auto count = [](const Vector& v) { return static_cast<Index>(v.size()); };
  if (!is_shape(group.lambda, samples, outputs) || count(group.omega) != kernels ||
      count(group.gamma) != outputs || count(group.upsilon) != outputs || count(group.epsilon) != outputs ||
      (!group.f_location.empty() && !is_shape(group.f_location, samples, outputs)) ||
      !empty_or(group.e_location, kernels) || group.e_precision.size() != group.e_location.size())
    return "a factor of the posterior has the wrong length";
  if (!is_shape(group.be_covariance, kernels + outputs, kernels + outputs))
    return "the covariance of bias and kernel weights has the wrong shape";
  if (!group.a_covariance.empty() && static_cast<Index>(group.a_covariance.size()) != outputs)
    return "the covariances of the coefficients are not one per score";
  for (const Matrix& covariance : group.a_covariance) {
    if (!is_shape(covariance, samples, samples))
      return "the covariance of the coefficients has the wrong shape";
  }
  return {};
}

std::string bemkl_trouble(const Model& model, Index samples, Index kernels, Index outputs) {
  const BemklPosterior& posterior = *model.bemkl;
  const bool apart = model.weights.shape == Shape::per_class;
  if (static_cast<Index>(posterior.groups.size()) != (apart ? outputs : 1))
    return "the posterior does not have one group for each set of kernel weights";
  if (!empty_or(posterior.sample_weights, samples)) return "there is not one weight for each sample";
  if (!empty_or(posterior.target_scale, outputs) ||
      posterior.target_centre.size() != posterior.target_scale.size())
    return "there is not one scale for each target";
  for (const auto& group : posterior.groups) {
    const std::string trouble = group_trouble(group, samples, kernels, apart ? 1 : outputs);
    if (!trouble.empty()) return trouble;
  }
  return {};
}

std::string margin_trouble(const MarginPart& margin, Index samples, Index outputs, Index classes) {
  if (!is_shape(margin.box, samples, outputs)) return "the bounds of the coefficients have the wrong shape";
  if (!margin.platt.empty() && !is_shape(margin.platt, outputs, 2))
    return "the probability curves have the wrong shape";
  if (!margin.pairs.empty() && !is_shape(margin.pairs, outputs, 2))
    return "the pairs of classes have the wrong shape";
  for (double code : margin.pairs.values())
    if (!(code >= 0.0 && code < static_cast<double>(classes)))
      return "a pair of classes names a class that is not there";
  if (!(margin.target_scale > 0.0)) return "the scale of the target is not positive";
  return {};
}

std::string mcmkl_trouble(const McmklPart& part, const Model& model) {
  const auto classes = static_cast<Index>(model.classes.size());
  const Index samples = model.coefficients.rows();
  if (model.task != Task::binary && model.task != Task::multiclass) return "a multiclass part needs classes";
  if (model.weights.shape != Shape::shared) return "the classes do not share their kernel weights";
  if (static_cast<Index>(part.box.size()) != samples) return "the prices of the samples have the wrong length";
  if (!is_shape(part.dual, samples, classes)) return "the dual point has the wrong shape";
  if (part.class_kernels.empty()) return {};
  const Matrix& kernels = part.class_kernels;
  if (model.task != Task::multiclass || kernels.rows() != classes || kernels.cols() % classes != 0)
    return "the kernels on classes have the wrong shape";
  if (!is_shape(part.class_weights, kernels.cols() / classes, model.weights.values.cols()))
    return "the weights of the kernels on classes have the wrong shape";
  return {};
}

std::string stochastic_trouble(const StochasticPart& part, Index samples, Index kernels, Index outputs) {
  for (const auto& term : part.terms) {
    if (!is_shape(term.weights, outputs, kernels))
      return "the kernel weights of a solution have the wrong shape";
    if (!is_shape(term.coefficients, samples, outputs))
      return "the coefficients of a solution have the wrong shape";
  }
  const Index classes = outputs == 1 ? 2 : outputs;
  if (!part.penalties.empty() && !is_shape(part.penalties, std::ssize(part.terms) * classes, kernels))
    return "the penalties have the wrong shape";
  return {};
}

std::string features_trouble(const FeaturePart& part, const Model& model, Index kernels, Index outputs) {
  const Index count = part.map.count();
  if (!model.recipe) return "it has features but no recipe that makes them";
  if (count < 1 || part.map.basis.cols() != model.recipe->basis.features.cols())
    return "the basis of its features has the wrong shape";
  if (!is_shape(part.weights, kernels * count, outputs))
    return "the weights of its features have the wrong shape";
  const bool rff = part.map.kind == FeatureMap::Kind::rff;
  if (rff && static_cast<Index>(part.map.phases.size()) != count)
    return "there is not one phase for each feature";
  if (!rff && !is_shape(part.map.whitening, kernels * count, count)) return "its whitening has the wrong shape";
  return {};
}

}  // namespace

std::string model_trouble(const Model& model) {
  const Index samples = model.coefficients.rows();
  const Index outputs = model.coefficients.cols();
  const auto kernels = static_cast<Index>(model.kernel_names.size());
  if (samples < 1 || outputs < 1) return "it has no coefficients";
  if (kernels < 1) return "it has no kernels";
  if (static_cast<Index>(model.bias.size()) != outputs)
    return "the number of biases is not the number of scores";
  std::string trouble = classes_trouble(model, outputs);
  if (trouble.empty()) trouble = weights_trouble(model.weights, samples, kernels, outputs);
  if (trouble.empty() && model.bemkl) trouble = bemkl_trouble(model, samples, kernels, outputs);
  if (trouble.empty() && model.margin)
    trouble = margin_trouble(*model.margin, samples, outputs, static_cast<Index>(model.classes.size()));
  if (trouble.empty() && model.mcmkl) trouble = mcmkl_trouble(*model.mcmkl, model);
  if (trouble.empty() && model.gate) trouble = gate_trouble(model);
  if (trouble.empty() && model.stochastic)
    trouble = stochastic_trouble(*model.stochastic, samples, kernels, outputs);
  if (trouble.empty() && model.features) trouble = features_trouble(*model.features, model, kernels, outputs);
  if (trouble.empty() && model.recipe) {
    if (static_cast<Index>(model.recipe->terms.size()) != kernels)
      return "recipe and model have different kernels";
    if (model.recipe->basis.samples != samples) return "recipe and model have different training samples";
    trouble = kernels::recipe_trouble(*model.recipe);
  }
  return trouble;
}

Model read_model(const data::Container& container) {
  if (container.version() != model_version)
    throw FileError(fmt::format(
        "'{}' has version {} of the model format, and this kloom reads version {}; use a newer kloom.",
        container.source(), json(container.version()).dump(), model_version));
  data::TensorReader tensors(container);
  const json document = data::parse_json(tensors.text("document"), container.source(), "its document");
  Fields fields(document, container.source(), "the model");
  Model model;
  model.method = fields.text("method");
  const std::string task = fields.text("task");
  const std::string shape = fields.text("weights");
  const auto* known_task =
      std::find_if(all_tasks.begin(), all_tasks.end(), [&](Task t) { return to_string(t) == task; });
  const auto* known_shape =
      std::find_if(all_shapes.begin(), all_shapes.end(), [&](const auto& s) { return s.second == shape; });
  if (known_task == all_tasks.end())
    fields.damaged("task", "has a value that this version of kloom does not know");
  if (known_shape == all_shapes.end())
    fields.damaged("weights", "has a value that this version of kloom does not know");
  model.task = *known_task;
  model.weights.shape = known_shape->first;
  model.classes = fields.texts("classes");
  model.target_name = fields.text("target");
  model.options_json = fields.text("options");
  model.report_json = fields.text("report");
  model.kernel_names = fields.texts("kernels");
  model.weights.values = tensors.matrix("weights");
  if (tensors.has("weights.deviation")) model.weights.deviation = tensors.matrix("weights.deviation");
  model.coefficients = tensors.matrix("coefficients");
  model.bias = tensors.vector("bias");
  if (const json* bemkl = fields.find("bemkl"))
    model.bemkl = load_bemkl(*bemkl, tensors, model.coefficients.rows());
  if (const json* margin = fields.find("margin")) model.margin = load_margin(*margin, tensors);
  if (const json* mcmkl = fields.find("mcmkl")) model.mcmkl = load_mcmkl(*mcmkl, tensors);
  if (const json* gate = fields.find("gate")) model.gate = load_gate(*gate, tensors);
  if (const json* stochastic = fields.find("stochastic"))
    model.stochastic = load_stochastic(*stochastic, tensors);
  if (const json* stream = fields.find("stream")) model.stream = load_stream(*stream, tensors);
  if (const json* features = fields.find("features")) model.features = load_features(*features, tensors);
  if (const json* recipe = fields.find("recipe")) model.recipe = kernels::load_recipe(*recipe, tensors);
  fields.finish();
  tensors.finish();
  const std::string trouble = model_trouble(model);
  if (!trouble.empty()) container.damaged(trouble);
  return model;
}

}  // namespace models

std::size_t model_file_bytes(const Model& model) {
  data::SectionList sections;
  return models::plan_model(model, sections).file_bytes();
}

namespace {

void require_sound(const Model& model) {
  const std::string trouble = models::model_trouble(model);
  if (!trouble.empty()) throw InvalidArgument(fmt::format("The model cannot be saved: {}.", trouble));
}

}  // namespace

void save_model(const Model& model, const std::string& path) {
  require_sound(model);
  data::SectionList sections;
  const data::ContainerPlan plan = models::plan_model(model, sections);
  data::ContainerWriter writer(plan, path);
  sections.write_to(writer);
  writer.finish();
}

std::string model_bytes(const Model& model) {
  require_sound(model);
  data::SectionList sections;
  const data::ContainerPlan plan = models::plan_model(model, sections);
  data::ContainerWriter writer(plan);
  sections.write_to(writer);
  return writer.finish_in_memory();
}

Model load_model(const std::string& path) {
  return models::read_model(data::Container::read(path, models::model_format));
}

Model model_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return models::read_model(data::Container::parse(owner, std::as_bytes(std::span(*owner)), "model in memory",
                                                   models::model_format, data::Verify::everything));
}

}  // namespace kloom
