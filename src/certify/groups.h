// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights in groups as referees see them: θ ≥ 0 with v Σ_g β_g + (1 − v) Σ_g β_g² ≤ 1, β_g = ‖θ_g‖_p.
#pragma once

#include "kloom/matrix.h"

namespace kloom::certify_detail {

struct KernelGroups {
  Vector groups;      // of the kernels; empty: there are none
  double norm = 2.0;  // p
  double mix = 1.0;   // v
};

// The largest θ'ᵀq of all θ' of the set, or a little more: at most η + Σ_g max(0, ‖q_g‖_{p*} − ηv)²/(4η(1 − v)) for any η > 0.
[[nodiscard]] double largest_sum(const KernelGroups& set, const Vector& q);

// How far θ is from θ ≥ 0 and from the set's edge.
[[nodiscard]] double distance_from_edge(const KernelGroups& set, const Vector& theta);

}  // namespace kloom::certify_detail
