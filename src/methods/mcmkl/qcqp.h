// SPDX-License-Identifier: BSD-3-Clause
//
// Multiclass MKL as the quadratically constrained programme that it is, by a primal–dual interior-point method:
//
//   minimise  γ − Σ_i worth(Σ_u x_iu)
//   subject   ½ q_k(x) ≤ γ,  x ≥ 0,  Σ_u x_iu ≤ C_i [hinge],  class sums 0
//
// in the variables x = α̃ of [ZienOng2007] (7), N·(M−1) of them: α_iu = −x_iu, α_iy_i = Σ_u x_iu. Every step
// factorises a dense matrix of that order, so this is for small problems, as a check of the others.
#pragma once

#include "methods/mcmkl/solver.h"

namespace kloom::methods {

// Throws InvalidArgument if the problem has too many variables.
[[nodiscard]] McmklSolution solve_mcmkl_qcqp(const KernelBank& bank, const McmklTask& task,
                                             const McmklSettings& settings, const Context& context);

}  // namespace kloom::methods
