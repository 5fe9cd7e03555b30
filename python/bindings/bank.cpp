// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/bank.h"

#include <memory>

#include "bindings.h"

namespace kloom::python {
namespace {

using Stack = py::array_t<double, py::array::c_style>;  // (P, rows, cols)

std::shared_ptr<KernelBank> from_stack(const Stack& stack, std::vector<std::string> names, bool symmetric) {
  if (stack.ndim() != 3) throw InvalidArgument("kernels must come as a stack with three dimensions");
  if (static_cast<py::ssize_t>(names.size()) != stack.shape(0))
    throw InvalidArgument("there must be one name per kernel");
  BorrowedKernels kernels{stack.data(), stack.shape(1), stack.shape(2), keep_alive(stack)};
  const py::gil_scoped_release release;
  return make_dense_bank(std::move(kernels), std::move(names), symmetric);
}

// Entries of some kernels and rows as (kernels, rows, cols).
Stack panels(const KernelBank& bank, Index first_kernel, Index last_kernel, Index first_row, Index last_row) {
  const bool sound = 0 <= first_kernel && first_kernel <= last_kernel && last_kernel <= bank.kernels() &&
                     0 <= first_row && first_row <= last_row && last_row <= bank.rows();
  if (!sound) throw InvalidArgument("kernels or rows outside the bank");
  Stack result({last_kernel - first_kernel, last_row - first_row, bank.cols()});
  double* out = result.mutable_data();
  if (result.size() == 0) return result;
  const py::gil_scoped_release release;
  const std::lock_guard lock(computation_lock());
  bank.panels({first_kernel, last_kernel}, {first_row, last_row}, out);
  return result;
}

}  // namespace

void bind_bank(py::module_& m) {
  py::class_<KernelBank, std::shared_ptr<KernelBank>>(m, "Bank")
      .def_static("from_stack", &from_stack, py::arg("stack").noconvert(), py::arg("names"),
                  py::arg("symmetric"))
      .def_static("load", [](const std::string& path) { return std::shared_ptr<KernelBank>(load_bank(path)); })
      .def("save",
           [](const KernelBank& bank, const std::string& path, const Settings& settings) {
             run(settings, [&](const Context& context) { save_bank(bank, path, context); });
           })
      .def_property_readonly("rows", &KernelBank::rows)
      .def_property_readonly("cols", &KernelBank::cols)
      .def_property_readonly("symmetric", &KernelBank::symmetric)
      .def_property_readonly("names", &KernelBank::names)
      .def_property_readonly("kind", [](const KernelBank& bank) { return std::string(bank.kind()); })
      .def_property_readonly("bytes", &KernelBank::bytes)
      .def("panels", &panels, py::arg("first_kernel"), py::arg("last_kernel"), py::arg("first_row"),
           py::arg("last_row"));
}

}  // namespace kloom::python
