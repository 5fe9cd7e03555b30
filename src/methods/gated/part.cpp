// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gated/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "methods/gated/scores.h"
#include "methods/margin/part.h"
#include "models/scores.h"

namespace kloom {
namespace {

using models::is_shape;
using Kind = Gates::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 3> all_kinds = {
    {{Kind::switches, "switches"}, {Kind::softmax, "softmax"}, {Kind::sigmoid, "sigmoid"}}};

std::string array_of(std::size_t output, std::string_view what) {
  return fmt::format("gate.{}.{}", output, what);
}

bool only_switches(std::span<const double> values) {
  return std::ranges::all_of(values, [](double h) { return h == 0.0 || h == 1.0; });
}

std::string switches_trouble(const Gates& gate, Index samples, Index kernels) {
  if (std::ssize(gate.start) != kernels) return "the switches to begin with are not one per kernel";
  if (!only_switches(gate.start)) return "a switch to begin with is neither on nor off";
  if (!(gate.changes >= 0.0 && gate.changes <= static_cast<double>(kernels) &&
        gate.changes == std::floor(gate.changes)))
    return "the most changes of a sample's switches are no number of kernels";
  for (const auto& output : gate.outputs) {
    if (output.patterns.rows() < 1 || output.patterns.cols() != kernels)
      return "the patterns of switches have the wrong shape";
    if (!output.last.empty() && !is_shape(output.last, samples, kernels))
      return "the last switches are not one for each sample and kernel";
    if (!only_switches(output.patterns.values()) || !only_switches(output.samples.values()) ||
        !only_switches(output.last.values()))
      return "a switch is neither on nor off";
    if (std::ssize(output.margins) != samples) return "the margins are not one per sample";
    if (!models::all_above(output.margins, 0.0)) return "a margin is not positive";
  }
  return {};
}

std::string functions_trouble(const Gates& gate, Index samples, Index kernels) {
  const Index inputs = gate.projection.cols();
  if (inputs < 1 || gate.projection.rows() != samples || std::ssize(gate.offset) != inputs ||
      std::ssize(gate.space) != kernels)
    return "the inputs of the gates have the wrong shape";
  if (!models::all_finite(gate.projection.values()) || !models::all_finite(gate.offset) ||
      !models::all_finite(gate.space))
    return "an input of the gates is made by a number that is not finite";
  for (const auto& output : gate.outputs) {
    if (!is_shape(output.parameters, kernels, inputs + 1))
      return "the parameters of the gates have the wrong shape";
    if (!models::all_finite(output.parameters.values())) return "a parameter of the gates is no finite number";
    if (!models::all_at_least(output.samples.values(), 0.0)) return "a gate is no number >= 0";
  }
  return {};
}

Gates::Output load_output(PartReader& file, std::size_t k, bool switches) {
  Gates::Output output;
  output.samples = file.matrix(array_of(k, "samples"));
  if (switches) {
    output.patterns = file.matrix(array_of(k, "patterns"));
    output.margins = file.vector(array_of(k, "margins"));
    if (file.has(array_of(k, "last"))) output.last = file.matrix(array_of(k, "last"));
  } else {
    output.parameters = file.matrix(array_of(k, "parameters"));
  }
  return output;
}

}  // namespace

Predictions GatedPart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  Predictions result = methods::gated_predictions(model, bank, options.contributions);
  methods::add_margin_classes(model, options, result);
  return result;
}

// Gating functions look at a sample through its kernels with all training samples.
Needs GatedPart::needs(const Model& model) const {
  Needs result = MarginPart::needs(model);
  if (gates.space.empty()) return result;
  result.samples = models::all_of(model.coefficients.rows());
  for (Index p = 0; p < std::ssize(gates.space); ++p) {
    if (gates.space[at(p)] != 0.0 && !std::ranges::binary_search(result.kernels, p))
      result.kernels.push_back(p);
  }
  std::ranges::sort(result.kernels);
  return result;
}

std::shared_ptr<const ModelPart> GatedPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<GatedPart>(*this);
  for (Gates::Output& output : small->gates.outputs) {
    output.samples = models::selected(output.samples, needs.samples, needs.kernels);
    if (!output.last.empty()) output.last = models::selected(output.last, needs.samples, needs.kernels);
    if (!output.patterns.empty())
      output.patterns =
          models::selected(output.patterns, models::all_of(output.patterns.rows()), needs.kernels);
    if (!output.parameters.empty())
      output.parameters =
          models::selected(output.parameters, needs.kernels, models::all_of(output.parameters.cols()));
  }
  if (!gates.space.empty()) small->gates.space = models::selected(gates.space, needs.kernels);
  return small;
}

void GatedPart::save(PartWriter& file) const {
  MarginPart::save(file);
  const bool switches = gates.kind == Kind::switches;
  if (switches) {
    file.vector("gate.start", gates.start);
    file.vector("gate.changes", {gates.changes});
  } else {
    file.vector("gate.space", gates.space);
    file.matrix("gate.projection", gates.projection);
    file.vector("gate.offset", gates.offset);
  }
  for (std::size_t k = 0; k < gates.outputs.size(); ++k) {
    const Gates::Output& output = gates.outputs[k];
    file.matrix(array_of(k, "samples"), output.samples);
    if (switches) {
      file.matrix(array_of(k, "patterns"), output.patterns);
      file.vector(array_of(k, "margins"), output.margins);
      if (!output.last.empty()) file.matrix(array_of(k, "last"), output.last);
    } else {
      file.matrix(array_of(k, "parameters"), output.parameters);
    }
  }
  PartWriter& section = file.section("gate");
  section.count("outputs", std::ssize(gates.outputs));
  for (const auto& [kind, name] : all_kinds)
    if (kind == gates.kind) section.text("kind", std::string(name));
}

std::string GatedPart::trouble(const Model& model) const {
  std::string found = MarginPart::trouble(model);
  if (!found.empty()) return found;
  const Index samples = model.coefficients.rows();
  const auto kernels = std::ssize(model.kernel_names);
  if (!pairs.empty()) return "it has gates for pairs of classes";
  if (std::ssize(gates.outputs) != model.coefficients.cols()) return "the gates are not one set for each score";
  for (const auto& output : gates.outputs) {
    if (!is_shape(output.samples, samples, kernels)) return "the gates are not one for each sample and kernel";
  }
  return gates.kind == Kind::switches ? switches_trouble(gates, samples, kernels)
                                      : functions_trouble(gates, samples, kernels);
}

namespace methods {

std::shared_ptr<const ModelPart> load_gated(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<GatedPart>();
  load_margin_part(file, *part);
  Gates& gates = part->gates;
  PartReader& section = file.section("gate");
  const std::string kind = section.text("kind");
  const auto* const known = std::ranges::find(all_kinds, kind, [](const auto& entry) { return entry.second; });
  if (known == all_kinds.end()) file.damaged("it has gates of an unknown kind");
  gates.kind = known->first;
  const bool switches = gates.kind == Kind::switches;
  if (switches) {
    gates.start = file.vector("gate.start");
    const Vector changes = file.vector("gate.changes");
    if (changes.size() != 1) file.damaged("'gate.changes' is not one number");
    gates.changes = changes.front();
  } else {
    gates.space = file.vector("gate.space");
    gates.projection = file.matrix("gate.projection");
    gates.offset = file.vector("gate.offset");
  }
  const Index outputs = section.count("outputs");
  for (Index k = 0; k < outputs; ++k) gates.outputs.push_back(load_output(file, at(k), switches));
  return part;
}

}  // namespace methods
}  // namespace kloom
