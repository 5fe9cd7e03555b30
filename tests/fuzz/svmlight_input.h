// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for the svmlight reader: see csv_input.h.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "data/svmlight.h"
#include "kloom/error.h"

namespace kloom::fuzz {

// True if the text was svmlight.
inline bool read_svmlight_input(std::string_view text) {
  Context context;
  context.memory_budget = std::size_t{1} << 24U;  // a single large index must be refused, not allocated
  try {
    const data::SvmlightData data = data::parse_svmlight(text, "input");
    const auto n = static_cast<std::size_t>(data.samples());
    if (n == 0 || data.lines.size() != n || data.ends.size() != n || data.ends.back() != data.indices.size() ||
        data.values.size() != data.indices.size()) {
      throw std::logic_error("counts disagree");
    }
    const Matrix matrix = data::svmlight_matrix(data, context);
    std::size_t set = 0;
    for (const double value : matrix.values()) {
      set += value != 0.0 ? 1 : 0;
    }
    if (set > data.values.size()) {
      throw std::logic_error("more entries than were written");
    }
    return true;
  } catch (const Error&) {  // refusing is fine
    return false;
  }
}

}  // namespace kloom::fuzz
