// SPDX-License-Identifier: BSD-3-Clause
//
// From fuzz bytes to a container file in memory. The length bytes and the padding of the header would stop
// nearly every mutation at the door, so they are made here:
//   input that starts with '{'   header up to the first line break, then the data
//   anything else                the file as it is
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/container.h"
#include "data/container_layout.h"

namespace kloom::fuzz {

inline std::string as_container(std::string_view input) {
  if (!input.starts_with('{')) return std::string(input);
  const std::size_t end = input.find('\n');
  std::string header(input.substr(0, end));
  const std::string_view data = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
  const std::size_t odd = (data::layout::length_bytes + header.size()) % data::layout::alignment;
  header.append((data::layout::alignment - odd) % data::layout::alignment, ' ');
  return data::layout::encode_length(header.size()) + header + std::string(data);
}

// Checksums are left out, so that the checks behind them are reached. Throws FileError.
inline data::Container open_container(std::string bytes, std::string_view format) {
  auto memory = std::make_shared<std::string>(std::move(bytes));
  const auto span = std::as_bytes(std::span(*memory));
  return data::Container::parse(memory, span, "input", format, data::Verify::nothing);
}

}  // namespace kloom::fuzz
