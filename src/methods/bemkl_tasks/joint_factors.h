// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL for several tasks at once: T tasks with samples of their own, for each its own λ, a, G, b and (numbers) υ and ε,
// which share the kernel weights e and their precisions ω.
//
//   maximise   log p(y_1) + … + log p(y_T) ≥ Σ_t L_t − (T − 1) S
//              L_t  the bound of task t alone with q(b_t,e) as it is (methods/bemkl/bound.cpp)
//              S    what every L_t counts of the shared factors: E[log p(ω) p(e|ω)] − E[log q(ω) q(e)]
//
// Every factor but q(b,e) is updated task by task as in a fit of its own, since none of them sees another task. The biases
// of different tasks meet only through e: given e they are independent. With A_t = Σ_c E[ε_c] E[H_cᵀH_c] of task t in its
// blocks of (b_t,e), B the diagonal one of the biases with E[γ] added, C that between biases and weights, E that of the
// weights, and r the right-hand sides, the optimum of q(b_1…b_T,e) is
//
//   Σ(e)   = (diag E[ω] + Σ_t E_t − C_tᵀB_t⁻¹C_t)⁻¹       μ(e) = Σ(e) Σ_t (r_e − C_tᵀB_t⁻¹r_b)
//   b_t|e  ~ N(B_t⁻¹(r_b − C_t e), B_t⁻¹)
//
// so that one P × P inverse serves all tasks. Each task keeps the marginal q(b_t,e), and the entropy of the whole is the sum
// of theirs less (T − 1) times that of q(e).
#pragma once

#include <vector>

#include "methods/bemkl/factors.h"

namespace kloom::methods {

class JointFactors {
 public:
  // All over as many kernels and with the same prior of ω.
  explicit JointFactors(std::vector<BemklFactors> tasks);

  // As those of one fit (methods/bemkl/factors.h).
  [[nodiscard]] bool iterate();
  [[nodiscard]] bool iterate_from_intermediate();
  [[nodiscard]] bool update_intermediate();
  [[nodiscard]] double lower_bound() const;
  [[nodiscard]] Vector state() const;
  [[nodiscard]] bool set_state(const Vector& state, const JointFactors& others);
  // From now on these samples of task t have weight 0.
  void leave_out(std::size_t t, std::span<const Index> gone) { tasks_[t].leave_out(gone); }

  [[nodiscard]] const std::vector<BemklFactors>& tasks() const { return tasks_; }

 private:
  // A step of every task; false if one failed.
  template <typename Step>
  [[nodiscard]] bool for_every_task(Step step);
  [[nodiscard]] bool update_be();

  std::vector<BemklFactors> tasks_;
  double entropy_of_e_ = 0.0;
};

}  // namespace kloom::methods
