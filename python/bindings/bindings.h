// SPDX-License-Identifier: BSD-3-Clause
//
// The extension module kloom._core: one file per noun, no algorithms. The package around it (python/kloom)
// makes scikit-learn estimators of it.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/matrix.h"
#include "kloom/recipe.h"
#include "kloom/shared_matrix.h"

namespace kloom::python {

namespace py = pybind11;

// Where and how one call runs, as Python says it.
struct Settings {
  int threads = 0;
  std::uint64_t seed = 1;
  std::size_t memory = 0;
  py::object log = py::none();       // called with (level, message)
  py::object progress = py::none();  // called with (stage, step, steps, objective, seconds)
};

// Python between two steps of a computation: signals (Ctrl-C) and callbacks. What Python raised there is
// carried out of the computation by the exception Interrupted and raised again at its end.
class Watch {
 public:
  explicit Watch(const Settings& settings) : settings_(settings) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] Context context();
  [[nodiscard]] std::exception_ptr raised() const { return raised_; }

 private:
  Signal look(const Progress& progress);
  void tell(LogLevel level, std::string_view message);

  const Settings& settings_;
  double last_look_ = 0.0;
  std::exception_ptr raised_;
};

// One computation at a time in a process: threads of BLAS and OpenMP are counted per process. Other Python
// threads go on meanwhile. A forked child begins with a free lock.
[[nodiscard]] std::mutex& computation_lock();

// work(context) with the GIL released.
template <typename Work>
auto run(const Settings& settings, Work work) {
  Watch watch(settings);
  const Context context = watch.context();
  const py::gil_scoped_release release;
  const std::lock_guard lock(computation_lock());
  try {
    return work(context);
  } catch (const Interrupted&) {
    if (watch.raised()) std::rethrow_exception(watch.raised());
    throw;
  }
}

using Array = py::array_t<double>;  // any strides

[[nodiscard]] Matrix to_matrix(const Array& array);  // (rows, cols), copied
// The same, but a symmetric matrix, which reads the same by rows and by columns, stays where it is.
[[nodiscard]] SharedMatrix to_shared_matrix(const Array& array);
// Keeps the object alive. Whoever drops the last reference may be a thread without the GIL.
[[nodiscard]] std::shared_ptr<const void> keep_alive(py::object object);
// The array owns the matrix; nothing is copied. Column-major.
[[nodiscard]] py::array to_array(Matrix matrix);
[[nodiscard]] py::array to_array(std::vector<int> values);
[[nodiscard]] py::array to_array(Vector values);

// What an estimator says about kernels and columns.
struct RecipeRequest {
  std::string spec;  // empty: what suits the data
  bool standardise = true;
  std::string normalise = "unit-diagonal";
  bool clip_spectrum = false;
  std::string method;  // that the kernels are for
  // Of a table:
  std::string bank = "auto";            // how its kernels are kept
  std::vector<std::string> keep;        // columns that must not be dropped
  std::vector<std::string> text;        // columns for kernels of texts
  std::vector<std::string> categories;  // columns that are categories whatever they look like
};
// For tables whose columns have names: decided column by column, as the command line does.
[[nodiscard]] RecipeOptions table_options(const RecipeRequest& request);
[[nodiscard]] py::list decisions_of(const Recipe& recipe);
// Columns of text: those of string kernels, and those that are coded one-hot.
[[nodiscard]] std::vector<std::string> text_names(const Preprocessing& preprocessing);

// An option of a method or of a fit of several tasks, as Python reads it.
[[nodiscard]] py::dict describe(const OptionInfo& option);

void bind_context(py::module_& m);
void bind_data(py::module_& m);
void bind_bank(py::module_& m);
void bind_learner(py::module_& m);
void bind_model(py::module_& m);
void bind_stream(py::module_& m);
void bind_tasks(py::module_& m);

}  // namespace kloom::python
