// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for the lines of a stream: pieces of text, separated by the byte 0x1e. See csv_input.h.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "kloom/error.h"
#include "kloom/stream.h"

namespace kloom::fuzz {

inline void check_samples(const Dataset& data) {
  const auto samples = static_cast<std::size_t>(data.samples);
  const auto fits = [&](std::size_t size) { return size == 0 || size == samples; };
  bool good = data.features.rows() == data.samples || data.feature_info.empty();
  good =
      good && static_cast<Index>(data.feature_info.size()) == data.features.cols() && fits(data.labels.size());
  for (const TextColumn& text : data.texts) good = good && text.values.size() == samples;
  if (!good) throw std::logic_error("columns of different lengths");
}

// True if a piece was read.
inline bool read_stream_input(std::string_view input) {
  Context context;
  context.memory_budget = std::size_t{1} << 26U;
  bool read = false;
  for (const auto format :
       {StreamReader::Format::automatic, StreamReader::Format::csv, StreamReader::Format::svmlight}) {
    try {
      StreamReader reader(format, "");
      for (std::string_view rest = input; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\x1e'), rest.size());
        check_samples(reader.read(rest.substr(0, end), context));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        read = true;
      }
    } catch (const Error&) {  // refusing is fine
    }
  }
  return read;
}

}  // namespace kloom::fuzz
