// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gated/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/container_json.h"

namespace kloom::models {
namespace {

using data::Fields;
using nlohmann::json;
using Kind = GatePart::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 3> all_kinds = {
    {{Kind::switches, "switches"}, {Kind::softmax, "softmax"}, {Kind::sigmoid, "sigmoid"}}};

std::string name_of(std::size_t output, std::string_view what) {
  return fmt::format("gate.{}.{}", output, what);
}

bool is_shape(const Matrix& m, Index rows, Index cols) {
  return m.rows() == rows && m.cols() == cols;
}

bool only_switches(const Matrix& m) {
  return std::ranges::all_of(m.values(), [](double h) { return h == 0.0 || h == 1.0; });
}

std::string switches_trouble(const GatePart& gate, Index samples, Index kernels) {
  if (std::ssize(gate.start) != kernels) return "the switches to begin with are not one per kernel";
  for (const auto& output : gate.outputs) {
    if (output.patterns.rows() < 1 || output.patterns.cols() != kernels)
      return "the patterns of switches have the wrong shape";
    if (!only_switches(output.patterns) || !only_switches(output.samples))
      return "a switch is neither on nor off";
    if (std::ssize(output.margins) != samples) return "the margins are not one per sample";
    if (!std::ranges::all_of(output.margins, [](double tau) { return tau > 0.0; }))
      return "a margin is not positive";
  }
  return {};
}

std::string functions_trouble(const GatePart& gate, Index samples, Index kernels) {
  const Index inputs = gate.projection.cols();
  if (inputs < 1 || gate.projection.rows() != samples || std::ssize(gate.offset) != inputs ||
      std::ssize(gate.space) != kernels)
    return "the inputs of the gates have the wrong shape";
  for (const auto& output : gate.outputs) {
    if (!is_shape(output.parameters, kernels, inputs + 1))
      return "the parameters of the gates have the wrong shape";
  }
  return {};
}

}  // namespace

json save_gate(const GatePart& gate, data::SectionList& sections) {
  const bool switches = gate.kind == Kind::switches;
  if (switches) {
    sections.vector("gate.start", gate.start);
    sections.vector("gate.changes", {gate.changes});
  } else {
    sections.vector("gate.space", gate.space);
    sections.matrix("gate.projection", gate.projection);
    sections.vector("gate.offset", gate.offset);
  }
  for (std::size_t k = 0; k < gate.outputs.size(); ++k) {
    const GatePart::Output& output = gate.outputs[k];
    sections.matrix(name_of(k, "samples"), output.samples);
    if (switches) {
      sections.matrix(name_of(k, "patterns"), output.patterns);
      sections.vector(name_of(k, "margins"), output.margins);
    } else {
      sections.matrix(name_of(k, "parameters"), output.parameters);
    }
  }
  json document = {{"outputs", gate.outputs.size()}};
  for (const auto& [kind, name] : all_kinds)
    if (kind == gate.kind) document["kind"] = name;
  return document;
}

GatePart load_gate(const json& document, data::TensorReader& tensors) {
  Fields fields(document, tensors.container().source(), "the gates");
  GatePart gate;
  const std::string kind = fields.text("kind");
  const auto* const known = std::ranges::find(all_kinds, kind, [](const auto& entry) { return entry.second; });
  if (known == all_kinds.end()) tensors.container().damaged("it has gates of an unknown kind");
  gate.kind = known->first;
  const bool switches = gate.kind == Kind::switches;
  if (switches) {
    gate.start = tensors.vector("gate.start");
    const Vector changes = tensors.vector("gate.changes");
    if (changes.size() != 1) tensors.container().damaged("'gate.changes' is not one number");
    gate.changes = changes.front();
  } else {
    gate.space = tensors.vector("gate.space");
    gate.projection = tensors.matrix("gate.projection");
    gate.offset = tensors.vector("gate.offset");
  }
  const Index outputs = fields.index("outputs");
  for (Index k = 0; k < outputs; ++k) {
    const auto o = static_cast<std::size_t>(k);
    GatePart::Output output;
    output.samples = tensors.matrix(name_of(o, "samples"));
    if (switches) {
      output.patterns = tensors.matrix(name_of(o, "patterns"));
      output.margins = tensors.vector(name_of(o, "margins"));
    } else {
      output.parameters = tensors.matrix(name_of(o, "parameters"));
    }
    gate.outputs.push_back(std::move(output));
  }
  fields.finish();
  return gate;
}

std::string gate_trouble(const Model& model) {
  const GatePart& gate = *model.gate;
  const Index samples = model.coefficients.rows();
  const auto kernels = static_cast<Index>(model.kernel_names.size());
  if (!model.margin) return "it has gates without a margin part";
  if (!model.margin->pairs.empty()) return "it has gates for pairs of classes";
  if (std::ssize(gate.outputs) != model.coefficients.cols()) return "the gates are not one set for each score";
  for (const auto& output : gate.outputs) {
    if (!is_shape(output.samples, samples, kernels)) return "the gates are not one for each sample and kernel";
  }
  return gate.kind == Kind::switches ? switches_trouble(gate, samples, kernels)
                                     : functions_trouble(gate, samples, kernels);
}

}  // namespace kloom::models
