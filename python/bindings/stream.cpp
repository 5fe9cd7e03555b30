// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/stream.h"

#include "bindings.h"

namespace kloom::python {
namespace {

// A learner outlives the call that made it, so it keeps no callbacks.
Context plain(const Settings& settings) {
  Context context;
  context.threads = settings.threads;
  context.seed = settings.seed;
  context.memory_budget = settings.memory;
  return context;
}

}  // namespace

void bind_stream(py::module_& m) {
  py::class_<StreamOptions>(m, "StreamOptions")
      .def(py::init<>())
      .def_readwrite("method", &StreamOptions::method)
      .def_readwrite("literal", &StreamOptions::literal)
      .def_readwrite("dt_update", &StreamOptions::dt_update)
      .def_readwrite("budget", &StreamOptions::budget)
      .def_readwrite("kappa", &StreamOptions::kappa)
      .def_readwrite("theta", &StreamOptions::theta)
      .def_readwrite("mu", &StreamOptions::mu)
      .def_readwrite("sigma", &StreamOptions::sigma)
      .def_readwrite("reg_lambda", &StreamOptions::lambda)
      .def_readwrite("alpha", &StreamOptions::alpha)
      .def_readwrite("approx", &StreamOptions::approx)
      .def_readwrite("features", &StreamOptions::features)
      .def_readwrite("classes", &StreamOptions::classes);

  py::class_<StreamLearner>(m, "StreamLearner")
      .def(py::init([](const Recipe& recipe, const StreamOptions& options, const Settings& settings) {
        return StreamLearner(recipe, options, plain(settings));
      }))
      .def(py::init([](const Model& checkpoint, const Settings& settings) {
        return StreamLearner(checkpoint, plain(settings));
      }))
      .def(
          "learn",
          [](StreamLearner& learner, Dataset& samples, std::vector<std::string> labels) {
            samples.labels = std::move(labels);
            const py::gil_scoped_release release;
            const std::lock_guard lock(computation_lock());
            return learner.learn(samples);
          },
          py::arg("samples"), py::arg("labels"))
      .def_property_readonly("samples", &StreamLearner::samples)
      .def_property_readonly("right", &StreamLearner::right)
      .def_property_readonly("support_vectors", &StreamLearner::support_vectors)
      .def_property_readonly("classes", &StreamLearner::classes)
      .def("model", [](const StreamLearner& learner) {
        const py::gil_scoped_release release;
        const std::lock_guard lock(computation_lock());
        return learner.model();
      });
}

}  // namespace kloom::python
