// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The C++ library under kloom's estimators; what it offers may change, use the package instead.";
  kloom::python::bind_context(m);
  kloom::python::bind_data(m);
  kloom::python::bind_bank(m);
  kloom::python::bind_learner(m);
  kloom::python::bind_model(m);
  kloom::python::bind_stream(m);
  kloom::python::bind_tasks(m);
}
