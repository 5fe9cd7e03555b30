// SPDX-License-Identifier: BSD-3-Clause
//
// Files of several tasks: format "kloom-tasks", version 1. Sections of the container:
//
//   document   U8   JSON: names of the tasks, the column that names them, whether they share kernel weights, options, report
//   model.0 …  U8   the model of each task, as a file of its own (model_file.h)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "data/container_json.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "kloom/tasks.h"
#include "models/model_file.h"

namespace kloom {
namespace {

using nlohmann::json;

constexpr std::string_view kTasksFormat = "kloom-tasks";
constexpr std::string_view kTasksVersion = "1";

std::string section_of(std::size_t t) {
  return fmt::format("model.{}", t);
}

// The first rule that the models break together, as the end of a sentence; empty: none.
std::string tasks_trouble(const TaskModels& tasks) {
  if (tasks.models.empty() || tasks.names.size() != tasks.models.size())
    return "it does not have one model for each task";
  if (std::set<std::string>(tasks.names.begin(), tasks.names.end()).size() != tasks.names.size())
    return "two of its tasks have the same name";
  if (std::ranges::count(tasks.names, std::string()) > 0) return "one of its tasks has no name";
  const Model& first = tasks.models.front();
  for (const Model& model : tasks.models) {
    if (find_part<BemklPosterior>(model) == nullptr) return "the model of a task is none of BEMKL";
    if (model.kernel_names != first.kernel_names) return "its tasks have different kernels";
    if (tasks.shared && model.weights.values != first.weights.values)
      return "its tasks should share their kernel weights and do not";
  }
  return {};
}

data::ContainerPlan plan_tasks(const TaskModels& tasks, data::SectionList& sections) {
  const std::string trouble = tasks_trouble(tasks);
  if (!trouble.empty()) throw InvalidArgument(fmt::format("The tasks cannot be saved: {}.", trouble));
  json document;
  document["names"] = data::encode_texts(tasks.names);
  document["column"] = data::encode_text(tasks.column);
  document["shared"] = tasks.shared;
  document["options"] = data::encode_text(tasks.options_json);
  document["report"] = data::encode_text(tasks.report_json);
  for (std::size_t t = 0; t < tasks.models.size(); ++t)
    sections.text(section_of(t), model_bytes(tasks.models[t]));
  sections.text("document", document.dump());
  data::ContainerPlan plan{std::string(kTasksFormat), std::string(kTasksVersion)};
  plan.set("tasks", std::to_string(tasks.names.size()));
  sections.plan_into(plan);
  return plan;
}

// JSON inside of JSON must be no deeper than the rest.
std::string inner_json(data::Fields& fields, std::string_view key) {
  std::string text = fields.text(key);
  if (!text.empty()) static_cast<void>(data::parse_json(text, fields.source(), fmt::format("'{}'", key)));
  return text;
}

TaskModels read_tasks(const data::Container& container) {
  if (container.version() != kTasksVersion) {
    throw FileError(fmt::format(
        "'{}' has version {} of the format for several tasks, and this kloom reads version {}; use a "
        "newer kloom.",
        container.source(), json(container.version()).dump(), kTasksVersion));
  }
  data::TensorReader tensors(container);
  const json document = data::parse_json(tensors.text("document"), container.source(), "its document");
  data::Fields fields(document, container.source(), "the document");
  TaskModels tasks;
  tasks.names = fields.texts("names");
  tasks.column = fields.text("column");
  tasks.shared = fields.flag("shared");
  tasks.options_json = inner_json(fields, "options");
  tasks.report_json = inner_json(fields, "report");
  fields.finish();
  for (std::size_t t = 0; t < tasks.names.size(); ++t) {
    const auto bytes = std::make_shared<const std::string>(tensors.text(section_of(t)));
    tasks.models.push_back(
        models::read_model(data::Container::parse(bytes, std::as_bytes(std::span(*bytes)), container.source(),
                                                  models::model_format, data::Verify::everything)));
  }
  tensors.finish();
  const std::string trouble = tasks_trouble(tasks);
  if (!trouble.empty()) container.damaged(trouble);
  return tasks;
}

}  // namespace

void save_tasks(const TaskModels& tasks, const std::string& path) {
  data::SectionList sections;
  const data::ContainerPlan plan = plan_tasks(tasks, sections);
  data::ContainerWriter writer(plan, path);
  sections.write_to(writer);
  writer.finish();
}

std::string tasks_bytes(const TaskModels& tasks) {
  data::SectionList sections;
  const data::ContainerPlan plan = plan_tasks(tasks, sections);
  data::ContainerWriter writer(plan);
  sections.write_to(writer);
  return writer.finish_in_memory();
}

TaskModels load_tasks(const std::string& path) {
  return read_tasks(data::Container::read(path, kTasksFormat));
}

TaskModels tasks_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return read_tasks(data::Container::parse(owner, std::as_bytes(std::span(*owner)), "tasks in memory",
                                           kTasksFormat, data::Verify::everything));
}

bool holds_tasks(const std::string& path) {
  std::array<char, 4096> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  const std::string_view text(start.data(), static_cast<std::size_t>(file.gcount()));
  const std::size_t metadata = text.find("__metadata__");
  return text.size() > 8 && text[8] == '{' && metadata != std::string_view::npos &&
         text.find(fmt::format("\"format\":\"{}\"", kTasksFormat)) != std::string_view::npos;
}

}  // namespace kloom
