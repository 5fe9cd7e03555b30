// SPDX-License-Identifier: BSD-3-Clause
//
// When are two labels the same class?
#pragma once

#include <string>

namespace kloom::data {

// A label as classes are told apart: numbers by value (1 and 1.0 are one class) and before texts. Integers that a double
// cannot hold are told apart by their digits.
struct ClassKey {
  bool is_text = false;
  double value = 0.0;
  std::string text;
  friend bool operator<(const ClassKey& a, const ClassKey& b);
  friend bool operator==(const ClassKey& a, const ClassKey& b) = default;
};

[[nodiscard]] ClassKey class_key(const std::string& label);

}  // namespace kloom::data
