// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "bindings.h"

namespace kloom::python {
namespace {

// A capsule that frees what the array looks at.
template <typename Owner>
py::capsule keeper(Owner* owner) {
  return py::capsule(owner, [](void* p) { delete static_cast<Owner*>(p); });
}

template <typename Value>
py::array vector_array(std::vector<Value> values) {
  auto owner = std::make_unique<std::vector<Value>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(owner->size());
  const Value* data = owner->data();
  // With strides said: a pybind11 older than NumPy 2 would compute 0 for them there.
  return py::array_t<Value>({size}, {static_cast<py::ssize_t>(sizeof(Value))}, data, keeper(owner.release()));
}

}  // namespace

std::shared_ptr<const void> keep_alive(py::object object) {
  return std::shared_ptr<const void>(object.release().ptr(), [](const void* p) {
    const py::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(p)));
  });
}

SharedMatrix to_shared_matrix(const Array& array) {
  const bool plain = array.ndim() == 2 && (array.flags() & py::array::c_style) != 0;
  if (!plain || array.shape(0) != array.shape(1)) return to_matrix(array);
  const Index n = array.shape(0);
  const double* values = array.data();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (values[i * n + j] != values[j * n + i]) return to_matrix(array);
    }
  }
  return {std::shared_ptr<const double>(keep_alive(array), values), n, n};
}

Matrix to_matrix(const Array& array) {
  if (array.ndim() != 2) throw InvalidArgument("a matrix must have two dimensions");
  const auto in = array.unchecked<2>();
  Matrix matrix(in.shape(0), in.shape(1));
  for (Index j = 0; j < matrix.cols(); ++j) {
    const auto column = matrix.column(j);
    for (Index i = 0; i < matrix.rows(); ++i) column[static_cast<std::size_t>(i)] = in(i, j);
  }
  return matrix;
}

py::array to_array(Matrix matrix) {
  auto owner = std::make_unique<Matrix>(std::move(matrix));
  const auto rows = static_cast<py::ssize_t>(owner->rows());
  const auto cols = static_cast<py::ssize_t>(owner->cols());
  const auto size = static_cast<py::ssize_t>(sizeof(double));
  const double* data = owner->data();
  return Array({rows, cols}, {size, size * rows}, data, keeper(owner.release()));
}

py::array to_array(std::vector<int> values) {
  return vector_array(std::move(values));
}

py::array to_array(Vector values) {
  return vector_array(std::move(values));
}

}  // namespace kloom::python
