// SPDX-License-Identifier: BSD-3-Clause
//
// Samples, labels and the recipe that makes kernels of samples.
#include "bindings.h"
#include "kloom/kernels.h"
#include "kloom/recipe.h"
#include "kloom/targets.h"

namespace kloom::python {
namespace {

using Names = std::vector<std::string>;
using ViewList = std::vector<std::pair<std::string, std::vector<Index>>>;

// `features` and `texts` in the order of their names; views name columns of `features`.
Dataset make_dataset(const Array& features, const Names& names, const ViewList& views) {
  Dataset data;
  data.source = "X";
  data.samples = features.shape(0);
  data.features = to_matrix(features);
  for (const std::string& name : names) data.feature_info.push_back({name, ""});
  for (const auto& [name, columns] : views) data.views.push_back({name, columns});
  return data;
}

void add_text(Dataset& data, const std::string& name, Names values) {
  data.texts.push_back({{name, ""}, std::move(values)});
}

void add_kernel(Dataset& data, const std::string& name, const Array& kernel) {
  data.samples = kernel.shape(0);
  data.kernels.push_back({name, to_shared_matrix(kernel)});
}

std::vector<double> weights_of(const std::optional<std::vector<double>>& weights) {
  return weights.value_or(std::vector<double>{});
}

Targets class_targets(Names classes, std::vector<int> codes,
                      const std::optional<std::vector<double>>& weights) {
  Targets targets;
  targets.task = classes.size() == 2 ? Task::binary : Task::multiclass;
  targets.classes = std::move(classes);
  targets.codes = std::move(codes);
  targets.weights = weights_of(weights);
  return targets;
}

Targets label_targets(Names labels, const Array& values, const std::optional<std::vector<double>>& weights) {
  Targets targets;
  targets.task = Task::multilabel;
  targets.classes = std::move(labels);
  targets.values = to_matrix(values);
  targets.weights = weights_of(weights);
  return targets;
}

Targets number_targets(const Array& values, const std::optional<std::vector<double>>& weights) {
  Targets targets;
  targets.values = to_matrix(values);
  targets.task = targets.values.cols() == 1 ? Task::regression : Task::multi_regression;
  targets.weights = weights_of(weights);
  return targets;
}

struct RecipeRequest {
  std::string spec;  // empty: what suits the data
  bool standardise = true;
  std::string normalise;
  bool clip_spectrum = false;
};

Recipe fit_recipe(const Dataset& data, const RecipeRequest& request, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    RecipeOptions options;
    options.preprocessing.standardise = request.standardise;
    // Arrays have no names that say what a column is, and scikit-learn's rules ask that missing values be refused.
    options.preprocessing.impute = Impute::refuse;
    options.preprocessing.drop_ids = false;
    options.preprocessing.decide = false;
    options.normalisation = parse_normalisation(request.normalise);
    options.clip_spectrum = request.clip_spectrum;
    const KernelSpec spec = request.spec.empty() ? default_kernel_spec(data) : parse_kernel_spec(request.spec);
    return Recipe::fit(data, spec, options, context);
  });
}

Names kernel_names(const Recipe& recipe) {
  Names names;
  for (const KernelTerm& term : recipe.terms) names.push_back(term.name);
  return names;
}

void bind_recipe(py::module_& m) {
  py::class_<Recipe>(m, "Recipe")
      .def_static(
          "fit",
          [](const Dataset& data, const std::string& spec, bool standardise, const std::string& normalise,
             bool clip_spectrum, const Settings& settings) {
            return fit_recipe(data, {spec, standardise, normalise, clip_spectrum}, settings);
          },
          py::arg("data"), py::arg("spec"), py::arg("standardise"), py::arg("normalise"),
          py::arg("clip_spectrum"), py::arg("settings"))
      .def_static("for_kernels", &Recipe::for_kernels, py::arg("names"), py::arg("samples"))
      .def_property_readonly("spec", [](const Recipe& recipe) { return to_string(recipe.spec); })
      .def_property_readonly("kernel_names", &kernel_names)
      .def_property_readonly("samples", [](const Recipe& recipe) { return recipe.basis.samples; })
      .def("training_bank", [](const Recipe& self) { return self.training_bank(); })
      .def(
          "bank_for",
          [](const Recipe& recipe, const Dataset& data, const Settings& settings) {
            return run(settings, [&](const Context&) { return recipe.bank_for(data); });
          },
          py::arg("data"), py::arg("settings"));
}

}  // namespace

void bind_data(py::module_& m) {
  py::class_<Dataset>(m, "Dataset")
      .def(py::init(&make_dataset), py::arg("features"), py::arg("names"), py::arg("views") = ViewList{})
      .def("add_text", &add_text, py::arg("name"), py::arg("values"))
      .def("add_kernel", &add_kernel, py::arg("name"), py::arg("kernel"))
      .def_property_readonly("samples", [](const Dataset& data) { return data.samples; });

  py::class_<Targets>(m, "Targets")
      .def_static("classes", &class_targets, py::arg("classes"), py::arg("codes"), py::arg("weights"))
      .def_static("labels", &label_targets, py::arg("labels"), py::arg("values"), py::arg("weights"))
      .def_static("numbers", &number_targets, py::arg("values"), py::arg("weights"))
      .def_property_readonly("task", [](const Targets& t) { return std::string(to_string(t.task)); });

  m.def("parse_kernel_spec", [](const std::string& text) { return to_string(parse_kernel_spec(text)); });
  bind_recipe(m);
}

}  // namespace kloom::python
