// SPDX-License-Identifier: BSD-3-Clause
//
// Several tasks: a fit from one table, and the models of all tasks.
#include "kloom/tasks.h"

#include "bindings.h"

namespace kloom::python {
namespace {

TaskModels fit_tasks(const Dataset& data, std::vector<std::string> task_of, std::vector<std::string> labels,
                     const OptionValues& options, const RecipeRequest& recipe, const Settings& settings) {
  return run(settings, [&](const Context& context) {
    Dataset labelled = data;
    labelled.labels = std::move(labels);
    TasksRequest request;
    request.task_of = std::move(task_of);
    request.options = options;
    request.recipe = table_options(recipe);
    request.bank = parse_bank_kind(recipe.bank);
    if (!recipe.spec.empty()) request.kernels = parse_kernel_spec(recipe.spec);
    return train_tasks(labelled, request, context).models;
  });
}

py::list describe_tasks() {
  py::list options;
  for (const OptionInfo& option : task_options()) options.append(describe(option));
  return options;
}

}  // namespace

void bind_tasks(py::module_& m) {
  py::class_<TaskModels>(m, "TaskModels")
      .def_readonly("names", &TaskModels::names)
      .def_readonly("shared", &TaskModels::shared)
      .def_readonly("options_json", &TaskModels::options_json)
      .def_readonly("report_json", &TaskModels::report_json)
      .def("model", [](const TaskModels& models, const std::string& name) { return model_of(models, name); })
      .def("save",
           [](const TaskModels& models, const std::string& path) {
             const py::gil_scoped_release release;
             save_tasks(models, path);
           })
      .def_static("load",
                  [](const std::string& path) {
                    const py::gil_scoped_release release;
                    return load_tasks(path);
                  })
      .def(py::pickle([](const TaskModels& models) { return py::bytes(tasks_bytes(models)); },
                      [](const py::bytes& bytes) { return tasks_from_bytes(bytes); }));
  m.def("holds_tasks", &holds_tasks, py::arg("path"));
  m.def("task_options", &describe_tasks);
  m.def("fit_tasks", &fit_tasks, py::arg("data"), py::arg("task_of"), py::arg("labels"), py::arg("options"),
        py::arg("recipe"), py::arg("settings"));
}

}  // namespace kloom::python
