// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for the kernel spec and for ranges. Any text must give a spec that reads back from its
// canonical text, or InvalidArgument with a place and a caret; anything else throws std::logic_error, which
// neither the fuzzer nor the replay catches.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom::fuzz {

inline void check_values(const std::vector<double>& values) {
  if (values.empty() || values.size() > 100000) throw std::logic_error("a range of impossible size");
  for (const double v : values)
    if (!std::isfinite(v)) throw std::logic_error("a value that is not finite");
}

inline void check_message(const std::string& message) {
  if (message.find(", at position ") == std::string::npos || message.back() != '^')
    throw std::logic_error("a message without a place: " + message);
}

// True if the text was a spec.
inline bool read_kernel_spec_input(std::string_view text) {
  for (const Index count : {Index{-1}, Index{7}}) {
    try {
      check_values(parse_range(text, count, 0.0));
    } catch (const InvalidArgument& error) {
      check_message(error.what());
    }
  }
  KernelSpec spec;
  try {
    spec = parse_kernel_spec(text);
  } catch (const InvalidArgument& error) {
    check_message(error.what());
    return false;
  }
  for (const KernelFamily& family : spec.families)
    if (!family.values.empty()) check_values(family.values);
  const std::string canonical = to_string(spec);
  if (!(parse_kernel_spec(canonical) == spec)) throw std::logic_error("does not read back: " + canonical);
  if (to_string(parse_kernel_spec(canonical)) != canonical)
    throw std::logic_error("not canonical: " + canonical);
  return true;
}

}  // namespace kloom::fuzz
