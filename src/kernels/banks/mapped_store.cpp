// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/mapped_store.h"

#include <cstdint>

namespace kloom::kernels {

using data::Dtype;

DenseStore mapped_store(const data::Container& container, const data::Tensor& tensor) {
  if ((tensor.dtype != Dtype::f64 && tensor.dtype != Dtype::f32) || tensor.shape.size() != 3)
    container.damaged("its kernels are not a list of real matrices");
  const auto bytes = container.bytes(tensor);
  if (bytes.empty()) container.damaged("it has no kernel entries");
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % data::size_of(tensor.dtype) != 0)
    container.damaged("its kernels are not aligned");

  DenseStore store;
  store.owner = container.owner();
  if (tensor.dtype == Dtype::f64)
    store.f64 = reinterpret_cast<const double*>(bytes.data());
  else
    store.f32 = reinterpret_cast<const float*>(bytes.data());
  store.bytes = bytes.size();
  const std::size_t kernel_bytes = bytes.size() / static_cast<std::size_t>(tensor.shape[0]);
  store.verify = [container, start = tensor.begin, kernel_bytes](Index kernel) {
    const std::size_t begin = start + static_cast<std::size_t>(kernel) * kernel_bytes;
    container.verify(begin, begin + kernel_bytes);
  };
  return store;
}

}  // namespace kloom::kernels
