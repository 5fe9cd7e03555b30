// SPDX-License-Identifier: BSD-3-Clause
//
// Samples, labels and the recipe that makes kernels of samples.
#include <algorithm>

#include "bindings.h"
#include "kloom/kernels.h"
#include "kloom/learner.h"
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

// Columns of a DataFrame in their order: an array of numbers, or a list of texts.
Dataset table_dataset(const py::list& columns, Index rows, const std::vector<ViewRequest>& views,
                      bool find_views, const Names& text, bool training) {
  std::vector<TableColumn> table;
  for (const py::handle item : columns) {
    const auto [name, values] = item.cast<std::pair<std::string, py::object>>();
    TableColumn column{name, {}, {}};
    if (py::isinstance<py::array>(values)) {
      const auto numbers = values.cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
      column.numbers.assign(numbers.data(), numbers.data() + numbers.size());
    } else {
      column.texts = values.cast<Names>();
    }
    table.push_back(std::move(column));
  }
  DatasetRequest request;
  request.views = views;
  request.no_views = !find_views;
  request.text = text;
  request.target_required = training;
  const py::gil_scoped_release release;
  return dataset_from_columns(std::move(table), rows, request);
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

Recipe fit_recipe(const Dataset& data, const RecipeRequest& request, const Settings& settings,
                  const Targets* targets) {
  return run(settings, [&](const Context& context) {
    RecipeOptions options;
    options.preprocessing.standardise = request.standardise;
    // Arrays have no names that say what a column is, and scikit-learn's rules ask that missing values be refused.
    options.preprocessing.impute = Impute::refuse;
    options.preprocessing.absent_views = false;
    options.preprocessing.drop_ids = false;
    options.preprocessing.decide = false;
    options.normalisation = parse_normalisation(request.normalise);
    options.clip_spectrum = request.clip_spectrum;
    const bool spares_teachers = !request.method.empty() && find_learner(request.method).spares_teachers;
    const KernelSpec spec = request.spec.empty() ? default_kernel_spec(data, targets, spares_teachers)
                                                 : parse_kernel_spec(request.spec);
    return Recipe::fit(data, spec, options, context, targets);
  });
}

Recipe fit_table_recipe(const Dataset& data, const RecipeRequest& request, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    const KernelSpec spec = request.spec.empty() ? KernelSpec{} : parse_kernel_spec(request.spec);
    return Recipe::fit(data, spec, table_options(request), context);
  });
}

Names kernel_names(const Recipe& recipe) {
  Names names;
  for (const KernelTerm& term : recipe.terms) names.push_back(term.name);
  return names;
}

void bind_recipe(py::module_& m) {
  py::class_<RecipeRequest>(m, "RecipeRequest")
      .def(py::init<>())
      .def_readwrite("spec", &RecipeRequest::spec)
      .def_readwrite("standardise", &RecipeRequest::standardise)
      .def_readwrite("normalise", &RecipeRequest::normalise)
      .def_readwrite("keep", &RecipeRequest::keep)
      .def_readwrite("text", &RecipeRequest::text)
      .def_readwrite("bank", &RecipeRequest::bank)
      .def_readwrite("categories", &RecipeRequest::categories);
  py::class_<Recipe>(m, "Recipe")
      .def_static(
          "fit",
          [](const Dataset& data, const std::string& spec, bool standardise, const std::string& normalise,
             bool clip_spectrum, const Settings& settings, const Targets* targets, const std::string& method) {
            RecipeRequest request;
            request.method = method;
            request.spec = spec;
            request.standardise = standardise;
            request.normalise = normalise;
            request.clip_spectrum = clip_spectrum;
            return fit_recipe(data, request, settings, targets);
          },
          py::arg("data"), py::arg("spec"), py::arg("standardise"), py::arg("normalise"),
          py::arg("clip_spectrum"), py::arg("settings"), py::arg("targets") = nullptr, py::arg("method") = "")
      .def_static("fit_table", &fit_table_recipe, py::arg("data"), py::arg("request"), py::arg("settings"))
      .def_static("for_kernels", &Recipe::for_kernels, py::arg("names"), py::arg("samples"))
      .def_property_readonly("spec", [](const Recipe& recipe) { return to_string(recipe.spec); })
      .def_property_readonly("kernel_names", &kernel_names)
      .def_property_readonly("text_names",
                             [](const Recipe& recipe) { return text_names(recipe.preprocessing); })
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

RecipeOptions table_options(const RecipeRequest& request) {
  RecipeOptions options;
  options.preprocessing.standardise = request.standardise;
  options.preprocessing.keep = request.keep;
  options.preprocessing.keep_text = request.text;
  options.preprocessing.categories = request.categories;
  options.normalisation = parse_normalisation(request.normalise);
  options.clip_spectrum = request.clip_spectrum;
  return options;
}

std::vector<std::string> text_names(const Preprocessing& preprocessing) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& column : preprocessing.columns()) {
    if (column.from_text()) add(column.source().name);
  }
  for (const auto& feature : preprocessing.text_columns()) add(feature.name);
  return names;
}

py::list decisions_of(const Recipe& recipe) {
  py::list list;
  for (const ColumnDecision& d : recipe.decisions) {
    py::dict entry;
    entry["name"] = d.feature.name;
    entry["kind"] = std::string(to_string(d.kind));
    entry["treatment"] = d.treatment;
    entry["reason"] = d.reason;
    entry["used"] = d.used;
    entry["missing"] = d.missing;
    entry["view"] = d.feature.view;
    list.append(std::move(entry));
  }
  return list;
}

void bind_data(py::module_& m) {
  py::class_<ViewRequest>(m, "ViewRequest").def(py::init([](const std::string& name, const Names& columns) {
    return ViewRequest{name, "", columns};
  }));
  py::class_<Dataset>(m, "Dataset")
      .def(py::init(&make_dataset), py::arg("features"), py::arg("names"), py::arg("views") = ViewList{})
      .def_static("of_table", &table_dataset, py::arg("columns"), py::arg("rows"), py::arg("views"),
                  py::arg("find_views"), py::arg("text"), py::arg("training"))
      .def_property_readonly("notes", [](const Dataset& data) { return data.notes; })
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
