// SPDX-License-Identifier: BSD-3-Clause
//
// What auto chose, as one line of text: enough to fit the same model again without choosing.
//
//   loss 0.1637; logistic 0.1 1 0.405 12*1; ridge 1 3.49 0.28 3*0.2,5*0.8
//
// First the held-out loss, and for numbers "deviation D", that of the held-out errors; then one machine after the other:
// its kind, strength, factor of its scores and share of the blend, and the kernels (counted from 1) with their weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"
#include "kloom/parts.h"

namespace kloom::methods {

struct ChosenMachine {
  MachineKind kind = MachineKind::ridge;
  double ridge = 0.0;
  double factor = 1.0;
  double share = 0.0;
  Vector weights;  // of all kernels
  friend bool operator==(const ChosenMachine&, const ChosenMachine&) = default;
};

struct Chosen {
  double loss = 0.0;
  double deviation = 0.0;  // numbers only
  std::vector<ChosenMachine> machines;
  friend bool operator==(const Chosen&, const Chosen&) = default;
};

// "ridge", "logistic" or "margin".
[[nodiscard]] std::string_view kind_name(MachineKind kind);

// parse_chosen(to_text(c), P) == c.
[[nodiscard]] std::string to_text(const Chosen& chosen);
// Throws InvalidArgument that names the part that cannot be read.
[[nodiscard]] Chosen parse_chosen(std::string_view text, Index kernels);

}  // namespace kloom::methods
