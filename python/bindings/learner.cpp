// SPDX-License-Identifier: BSD-3-Clause
//
// The registry, and a fit from recipe or bank to model.
#include "kloom/learner.h"

#include "bindings.h"
#include "kloom/certify.h"
#include "kloom/train.h"

namespace kloom::python {

py::dict describe(const OptionInfo& option) {
  static constexpr const char* kKinds[] = {"real", "integer", "flag", "choice", "text"};
  static constexpr const char* kSuits[] = {"all", "classes", "numbers"};
  py::dict result;
  result["name"] = option.name;
  result["kind"] = kKinds[static_cast<int>(option.kind)];
  result["default"] = option.default_value;
  result["rule"] = option.rule;
  result["doc"] = option.doc;
  result["choices"] = option.choices;
  result["low"] = option.low;
  result["high"] = option.high;
  result["low_open"] = option.low_open;
  result["infinite"] = option.infinite;
  result["suits"] = kSuits[static_cast<int>(option.suits)];
  return result;
}

namespace {

py::dict describe_learner(const Learner& learner) {
  py::list options;
  for (const OptionInfo& option : learner.options) options.append(describe(option));
  py::list tasks;
  for (const Task task : learner.tasks) tasks.append(std::string(to_string(task)));
  py::dict result;
  result["name"] = learner.name;
  result["summary"] = learner.summary;
  result["doc_page"] = learner.doc_page;
  result["tasks"] = tasks;
  result["semi_supervised"] = learner.semi_supervised;
  result["options"] = options;
  return result;
}

TrainRequest request_for(const std::string& method, const OptionValues& options) {
  TrainRequest request;
  request.method = method;
  request.options = options;
  return request;
}

Model fit_recipe(const std::string& method, const Recipe& recipe, const Targets& targets,
                 const OptionValues& options, const std::string& kind, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    TrainRequest request = request_for(method, options);
    request.bank = parse_bank_kind(kind);
    TrainingKernels kernels(recipe);
    return train(kernels, targets, request, context).model;
  });
}

// A table, as `kloom train` does it.
Model fit_table(const std::string& method, const Dataset& data, const Targets& targets,
                const OptionValues& options, const RecipeRequest& recipe, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    TrainRequest request = request_for(method, options);
    request.bank = parse_bank_kind(recipe.bank);
    request.recipe = table_options(recipe);
    if (!recipe.spec.empty()) request.kernels = parse_kernel_spec(recipe.spec);
    return train(data, targets, request, context).model;
  });
}

Model fit_bank(const std::string& method, const KernelBank& bank, const Targets& targets,
               const OptionValues& options, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    return train(bank, targets, request_for(method, options), context).model;
  });
}

}  // namespace

void bind_learner(py::module_& m) {
  m.def("learners", [] {
    py::dict result;
    for (const Learner& learner : all_learners()) result[py::str(learner.name)] = describe_learner(learner);
    return result;
  });
  m.def("fit_recipe", &fit_recipe, py::arg("method"), py::arg("recipe"), py::arg("targets"), py::arg("options"),
        py::arg("bank"), py::arg("settings"));
  m.def("fit_table", &fit_table, py::arg("method"), py::arg("data"), py::arg("targets"), py::arg("options"),
        py::arg("recipe"), py::arg("settings"));
  m.def("fit_bank", &fit_bank, py::arg("method"), py::arg("bank"), py::arg("targets"), py::arg("options"),
        py::arg("settings"));
  m.def("require_training_samples", &require_training_samples, py::arg("model"), py::arg("samples"));
  m.def(
      "certify",
      [](const KernelBank& bank, const Targets& targets, const Model& model, const Settings& settings) {
        return run(settings,
                   [&](const Context& context) { return to_json(certify(bank, targets, model, context)); });
      },
      py::arg("bank"), py::arg("targets"), py::arg("model"), py::arg("settings"));
}

}  // namespace kloom::python
