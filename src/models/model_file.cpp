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
#include "kloom/learner.h"
#include "models/part_sections.h"
#include "models/scores.h"

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
  SectionWriter part(document, sections);
  model.part->save(part);
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

std::string classes_trouble(const Model& model, Index outputs) {
  const auto classes = static_cast<Index>(model.classes.size());
  switch (model.task) {
    case Task::binary:
      if (classes != 2 || outputs != 1) return "a binary model needs two classes and one score";
      break;
    case Task::multiclass:
    case Task::multilabel:
      if (model.part->scores_for(classes) != outputs)
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
  if (!all_finite(weights.values.values())) return "a kernel weight is no finite number";
  if (!all_at_least(weights.deviation.values(), 0.0))
    return "the deviation of a kernel weight is no number >= 0";
  return {};
}

}  // namespace

std::string model_trouble(const Model& model) {
  const Index samples = model.coefficients.rows();
  const Index outputs = model.coefficients.cols();
  const auto kernels = static_cast<Index>(model.kernel_names.size());
  if (samples < 1 || outputs < 1) return "it has no coefficients";
  if (kernels < 1) return "it has no kernels";
  if (!model.part) return "it has no part of a method";
  if (static_cast<Index>(model.bias.size()) != outputs)
    return "the number of biases is not the number of scores";
  if (!all_finite(model.coefficients.values())) return "a coefficient is no finite number";
  if (!all_finite(model.bias)) return "a bias is no finite number";
  std::string trouble = classes_trouble(model, outputs);
  if (trouble.empty()) trouble = weights_trouble(model.weights, samples, kernels, outputs);
  if (trouble.empty()) trouble = model.part->trouble(model);
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
  SectionReader reader(document, tensors, "the model");
  Fields& fields = reader.fields();
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
  const Learner* learner = learner_of_model(model.method);
  if (learner == nullptr)
    container.damaged(
        fmt::format("it is a model of '{}', a method that this kloom does not know", model.method));
  model.part = learner->load(reader, model);
  if (const json* recipe = fields.find("recipe")) model.recipe = kernels::load_recipe(*recipe, tensors);
  reader.finish();
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
