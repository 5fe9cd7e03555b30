// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for kloom's own walk through MAT files, which comes before matio sees them. See csv_input.h.
#pragma once

#include <stdexcept>
#include <string_view>

#include "data/mat_v5.h"
#include "data/mat_v73.h"
#include "kloom/error.h"

namespace kloom::fuzz {

// True if the bytes have the structure of a MAT file.
inline bool read_mat_input(std::string_view bytes) {
  constexpr std::size_t limit = std::size_t{1} << 24U;
  try {
    if (data::mat_version(bytes.substr(0, data::mat_v73_head_bytes), "input") == data::MatVersion::v73) {
      data::check_superblock(bytes.substr(0, data::mat_v73_head_bytes), bytes.size(), "input");
      return true;
    }
    for (const data::MatEntry& entry : data::check_mat_v5(bytes, "input", limit)) {
      if (entry.shape.size() > 3) throw std::logic_error("an array of too many dimensions");
      for (const Index extent : entry.shape)
        if (extent < 1) throw std::logic_error("an array without elements");
    }
    return true;
  } catch (const Error&) {  // refusing is fine
    return false;
  }
}

}  // namespace kloom::fuzz
