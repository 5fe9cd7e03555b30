// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for the NPY and NPZ readers and for gzip: see csv_input.h.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "data/gzip.h"
#include "data/npy.h"
#include "kloom/error.h"

namespace kloom::fuzz {

inline void check_array(const data::Array& array) {
  const auto size = static_cast<std::size_t>(array.size());
  if (array.shape.empty() || array.shape.size() > 3 ||
      (array.is_text ? array.texts.size() : array.values.size()) != size) {
    throw std::logic_error("shape and content disagree");
  }
}

// True if the bytes were an array, an archive of arrays, or gzip data.
inline bool read_npy_input(std::string_view bytes) {
  constexpr std::size_t limit = std::size_t{1} << 18U;  // small: inputs are, and filling memory takes time
  bool read = false;
  try {
    check_array(data::parse_npy(bytes, "input", limit));
    read = true;
  } catch (const Error&) {  // refusing is fine
  }
  try {
    for (const data::Array& array : data::parse_npz(bytes, "input", {limit})) {
      check_array(array);
    }
    read = true;
  } catch (const Error&) {
  }
  try {
    if (data::gunzip(bytes, "input", {limit}).size() > limit) {
      throw std::logic_error("more than allowed was unpacked");
    }
    read = true;
  } catch (const Error&) {
  }
  return read;
}

}  // namespace kloom::fuzz
