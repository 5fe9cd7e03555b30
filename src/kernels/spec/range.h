// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers and ranges as people write them: 1..3, 2^-3..2^6, 1e-1..1e4, 0.5,1,2.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/spec/scanner.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

// No spec and no grid needs more, and a slip of the finger (1..1e9 by step) must not eat the memory.
constexpr Index kMostValues = 100000;

// A number together with how it was written, because the steps of a range follow the writing.
struct Number {
  enum class Form { integer, power, scientific, decimal };
  Form form = Form::decimal;
  double value = 0.0;
  double base = 0.0;      // power: the base; scientific: the mantissa
  double exponent = 0.0;  // power and scientific
};

struct RangeItem {
  Number first;
  Number last;
  bool is_range = false;
  std::size_t position = 0;  // where it begins, for messages
};

// How a range is filled; at most one of the two is given.
struct Spacing {
  Index count = -1;   // < 0: not given
  double step = 0.0;  // <= 0: not given
  std::size_t position = 0;
  [[nodiscard]] bool given() const { return count >= 0 || step > 0.0; }
};

[[nodiscard]] Number scan_number(Scanner& scanner);
// item { ("," | "|") item }; a comma that is not followed by a number is left for the caller.
[[nodiscard]] std::vector<RangeItem> scan_values(Scanner& scanner);
// The values of one item, ascending; errors are reported at the item's place.
[[nodiscard]] std::vector<double> expand(const RangeItem& item, const Spacing& spacing, const Scanner& scanner);
// Complains about a value that is not allowed; the item says where it came from.
using ValueCheck = std::function<void(const RangeItem&, double)>;
// The distinct values of all items, in the order written, each one checked.
[[nodiscard]] std::vector<double> expand_all(const std::vector<RangeItem>& items, const Spacing& spacing,
                                             const Scanner& scanner, const ValueCheck& check);

}  // namespace kloom::kernels
