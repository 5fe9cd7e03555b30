// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for bank files: a container (container_input.h), or 'D' and the JSON document of a bank of
// two kernels of 3 × 3.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/container_input.h"
#include "kernels/banks/bank_file.h"
#include "kloom/bank.h"
#include "kloom/error.h"

namespace kloom::fuzz {

inline std::string bank_with_document(std::string_view document) {
  data::ContainerPlan plan{std::string(data::bank_format), std::string(data::bank_version)};
  plan.add("kernels", data::Dtype::f64, {2, 3, 3});
  std::string bytes(plan.data_bytes(), '\0');
  plan.add("document", data::Dtype::u8, {static_cast<Index>(document.size())});
  bytes.append(document);
  bytes.append((bytes.size() + data::layout::block_bytes - 1) / data::layout::block_bytes * 8, '\0');
  return plan.header() + bytes;
}

// Returns true if the input is a bank; every entry of it is then read.
inline bool read_bank_input(std::string_view input) {
  const bool document = input.starts_with('D');
  try {
    const auto bank = kernels::read_bank(open_container(
        document ? bank_with_document(input.substr(1)) : as_container(input), data::bank_format));
    Vector row(static_cast<std::size_t>(bank->cols()));
    double sum = 0.0;
    for (Index p = 0; p < bank->kernels(); ++p)
      for (Index i = 0; i < bank->rows(); ++i) {
        bank->panels({p, p + 1}, {i, i + 1}, row.data());
        for (const double x : row) sum += x;
      }
    volatile double kept = sum;
    (void)kept;
    return true;
  } catch (const FileError&) {
    return false;
  }
}

}  // namespace kloom::fuzz
