// SPDX-License-Identifier: BSD-3-Clause
//
// Which sums of kernels are worth trying, given how good every kernel is alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::methods {

struct Candidate {
  std::string name;  // "best rbf", "sum of the best 5", …
  Vector weights;    // of the kernels, not negative
};

// What a kernel's name says: "rbf(width=2) on age" is of kind "rbf" on the group "age".
struct KernelLabel {
  std::string kind;
  std::string group;
};
[[nodiscard]] KernelLabel label_of(const std::string& kernel_name);

// `losses`: of every kernel alone, smaller is better; infinite: of no use. `diagonals`: their mean diagonals, by which
// weights in sums are divided, so that every kernel counts alike. At most `most` candidates, the most promising first,
// without repetitions.
[[nodiscard]] std::vector<Candidate> propose_candidates(const std::vector<std::string>& kernel_names,
                                                        std::span<const double> losses,
                                                        std::span<const double> diagonals, Index most);

}  // namespace kloom::methods
