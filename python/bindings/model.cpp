// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/parts.h"

#include "bindings.h"
#include "kloom/validate.h"

namespace kloom::python {
namespace {

// Names of the raw columns that the model's recipe reads, numeric ones first.
std::vector<std::string> feature_names(const Model& model) {
  std::vector<std::string> names;
  if (!model.recipe) return names;
  for (const auto& column : model.recipe->preprocessing.columns()) {
    const std::string name = column.source().name;
    if (!column.from_text() && !column.indicator && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

bool takes_kernels(const Model& model) {
  if (!model.recipe) return true;
  return std::ranges::all_of(
      model.recipe->terms, [](const KernelTerm& term) { return term.function == KernelFunction::precomputed; });
}

std::string_view to_string(KernelWeights::Shape shape) {
  switch (shape) {
    case KernelWeights::Shape::shared:
      return "shared";
    case KernelWeights::Shape::per_class:
      return "per class";
    case KernelWeights::Shape::per_sample:
      break;
  }
  return "per sample";
}

py::dict predict_samples(const Model& model, const Dataset& samples, bool probabilities, bool contributions,
                         bool deviations, const Settings& settings) {
  Predictions found = run(settings, [&](const Context& context) {
    return predict(model, samples, {contributions, probabilities, deviations}, context);
  });
  py::dict result;
  result["scores"] = to_array(std::move(found.scores));
  result["codes"] = to_array(std::move(found.codes));
  if (!found.probabilities.empty()) result["probabilities"] = to_array(std::move(found.probabilities));
  if (!found.deviation.empty()) result["deviation"] = to_array(std::move(found.deviation));
  if (!found.views.empty()) result["views"] = to_array(std::move(found.views));
  for (auto& [name, matrices] : {std::pair{"contributions", &found.contributions},
                                 std::pair{"contribution_deviations", &found.contribution_deviations}}) {
    py::list parts;
    for (Matrix& part : *matrices) parts.append(to_array(std::move(part)));
    result[name] = parts;
  }
  return result;
}

void bind_parts(py::class_<Model>& model) {
  model.def_readonly("method", &Model::method)
      .def_property_readonly("task", [](const Model& m) { return std::string(kloom::to_string(m.task)); })
      .def_readonly("classes", &Model::classes)
      .def_readwrite("target_name", &Model::target_name)
      .def_readonly("options_json", &Model::options_json)
      .def_readonly("report_json", &Model::report_json)
      .def_readonly("kernel_names", &Model::kernel_names)
      .def_property_readonly("weights", [](const Model& m) { return to_array(m.weights.values); })
      .def_property_readonly("view_names",
                             [](const Model& m) {
                               std::vector<std::string> names;
                               if (!m.recipe) return names;
                               for (const ViewBlock& block : m.recipe->preprocessing.blocks())
                                 names.push_back(block.view);
                               return names;
                             })
      .def_property_readonly("weights_by_view",
                             [](const Model& m) {
                               py::dict shares;
                               for (const ViewShare& one : weights_by_view(m))
                                 shares[py::str(one.view)] = one.share;
                               return shares;
                             })
      .def_property_readonly("weights_deviation", [](const Model& m) { return to_array(m.weights.deviation); })
      .def_property_readonly("weights_shape", [](const Model& m) { return to_string(m.weights.shape); })
      .def_property_readonly("coefficients", [](const Model& m) { return to_array(m.coefficients); })
      .def_property_readonly("bias", [](const Model& m) { return to_array(m.bias); })
      .def_property_readonly("samples", [](const Model& m) { return m.coefficients.rows(); })
      .def_property_readonly("has_probabilities",
                             [](const Model& m) { return !m.classes.empty() && m.part->has_probabilities(); })
      .def_property_readonly("pairs",
                             [](const Model& m) {
                               const auto* margin = find_part<MarginPart>(m);
                               return to_array(margin != nullptr ? margin->pairs : Matrix());
                             })
      .def_property_readonly("inclusion",
                             [](const Model& m) {
                               const auto* part = find_part<MtmklPart>(m);
                               return to_array(part != nullptr ? part->inclusion : Matrix());
                             })
      .def_property_readonly("noise",
                             [](const Model& m) {
                               const auto* part = find_part<MtmklPart>(m);
                               return to_array(part != nullptr ? part->noise : Vector());
                             })
      .def_property_readonly("is_stream", [](const Model& m) { return find_part<StreamPart>(m) != nullptr; })
      .def_property_readonly("spec", [](const Model& m) { return m.recipe ? to_string(m.recipe->spec) : ""; })
      .def_property_readonly("takes_kernels", &takes_kernels)
      .def_property_readonly(
          "standardised",
          [](const Model& m) { return m.recipe && m.recipe->preprocessing.options().standardise; })
      .def_property_readonly(
          "imputes",
          [](const Model& m) { return m.recipe && m.recipe->preprocessing.options().impute != Impute::refuse; })
      .def_property_readonly("decisions",
                             [](const Model& m) { return m.recipe ? decisions_of(*m.recipe) : py::list(); })
      .def_property_readonly(
          "kernel_reasons",
          [](const Model& m) { return m.recipe ? m.recipe->advice : std::vector<std::string>{}; })
      .def("surprises",
           [](const Model& m, const Dataset& data) {
             return m.recipe ? m.recipe->preprocessing.surprises(data) : std::vector<std::string>{};
           })
      .def_property_readonly("feature_names", &feature_names)
      .def_property_readonly("text_names", [](const Model& m) {
        return m.recipe ? text_names(m.recipe->preprocessing) : std::vector<std::string>{};
      });
}

}  // namespace

void bind_model(py::module_& m) {
  py::class_<Model> model(m, "Model");
  bind_parts(model);
  model
      .def("predict", &predict_samples, py::arg("samples"), py::arg("probabilities"), py::arg("contributions"),
           py::arg("deviations"), py::arg("settings"))
      .def("training_bank", [](const Model& self) { return self.recipe.value().training_bank(); })
      .def("bank_for",
           [](const Model& self, const Dataset& data, const Settings& settings) {
             return run(settings, [&](const Context&) { return self.recipe.value().bank_for(data); });
           })
      .def("save",
           [](const Model& self, const std::string& path) {
             const py::gil_scoped_release release;
             save_model(self, path);
           })
      .def_static("load",
                  [](const std::string& path) {
                    const py::gil_scoped_release release;
                    return load_model(path);
                  })
      .def(py::pickle([](const Model& self) { return py::bytes(model_bytes(self)); },
                      [](const py::bytes& bytes) { return model_from_bytes(bytes); }));
}

}  // namespace kloom::python
