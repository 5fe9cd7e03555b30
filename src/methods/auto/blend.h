// SPDX-License-Identifier: BSD-3-Clause
//
// How much of each machine: shares s ≥ 0 of f = Σ_k s_k f_k that lose least on samples that the machines had not seen,
//
//   minimise   Σ_i loss(Σ_k s_k f_k(x_i), y_i) + Σ_k (s_k − s⁰)²,   s⁰ the same for all machines,
//
// with the log loss of classes or the squared error of numbers. The shares need not add up to 1, so they also say how sure
// the blend may be. The second term is worth about one sample: it decides between machines that nothing else tells apart.
#pragma once

#include <vector>

#include "methods/kernel_machine/machine.h"

namespace kloom::methods {

struct Blend {
  Vector shares;           // of every machine; 0: not needed
  Vector bias;             // of the blend itself, one per output: 0, since the machines bring their own
  double loss = 0.0;       // mean held-out loss of the blend
  double deviation = 0.0;  // numbers: 90 % of the held-out errors are within 1.645 of these

  [[nodiscard]] double relative(std::size_t k) const;  // share over the sum of all shares
};

[[nodiscard]] Blend blend_machines(const std::vector<const Machine*>& machines, const MachineTask& task);

}  // namespace kloom::methods
