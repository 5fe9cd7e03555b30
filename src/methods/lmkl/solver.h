// SPDX-License-Identifier: BSD-3-Clause
//
// Localised MKL with one output [GonenAlpaydin2008]: how much each kernel counts is a function of the sample.
//
//   minimise     J(V) = max over α of  Σ_i α_i − ½ Σ_p Σ_ij c_i c_j g_p(x_i) k_p(x_i, x_j) g_p(x_j),   c = y∘α
//   with         g_p(x) ∝ exp(v_pᵀz(x) + v_p0)/Σ_q exp(v_qᵀz(x) + v_q0)     softmax, or
//                g_p(x) ∝ 1/(1 + exp(−v_pᵀz(x) − v_p0))                      sigmoid
//   given        a bank, labels ±1 (or numbers), C_i per sample, the gates' inputs z of every sample
//   returns      V, coefficients, bias
//
// For fixed V it is an SVM (solve_margin_mkl with fixed weights on the gated bank). Its derivative in V needs α
// alone, because the maximum does not change to first order: gradient steps with a line search. The
// factors left out above make constant gates the mean of all kernels. J is not convex in V: there is no
// proof of optimality.
#pragma once

#include "kloom/parts.h"
#include "methods/margin/mkl.h"

namespace kloom::methods {

struct LocalSettings {
  Gates::Kind kind = Gates::Kind::softmax;
  Index steps = 50;         // of the gradient, at most
  double change = 1e-4;     // stop when a step lowers J by less, relative
  double tolerance = 1e-5;  // relative duality gap of each SVM
};

struct LocalSolution {
  MarginSolution inner;  // the SVM on the gated kernels
  Matrix parameters;     // V: P × (R + 1), offsets last
  Matrix gates;          // g of every sample: N × P
  Index steps = 0;
  Status status = Status::converged;
  std::vector<TracePoint> trace;
};

// The gates' inputs from the kernels themselves: coordinates of the samples along the R leading principal
// components of the kernel Σ_p space_p k_p. With a linear kernel and R the number of features these are the
// features, rotated, which changes nothing: slopes rotate with them. Scaled so that coordinates have mean
// square 1. On many samples the components come from some of them.
void set_gate_inputs(Gates& gate, const KernelBank& bank, Vector space, Index inputs);

// J and its gradient at V, for the line search and for tests.
struct LocalPoint {
  Matrix parameters;
  Matrix gates;
  MarginSolution inner;
};
[[nodiscard]] Matrix local_gradient(const KernelBank& bank, const Matrix& inputs, Gates::Kind kind,
                                    const LocalPoint& point);
// What stays the same from point to point.
struct LocalProblem {
  const KernelBank& bank;
  const MarginTask& task;
  const Matrix& inputs;  // of the gates
  const LocalSettings& settings;
};
// `warm`: dual variables to begin with; empty: none.
[[nodiscard]] LocalPoint local_point(const LocalProblem& problem, Matrix parameters, const Vector& warm,
                                     const Context& context);

[[nodiscard]] LocalSolution solve_local_mkl(const KernelBank& bank, const MarginTask& task,
                                            const Matrix& inputs, const LocalSettings& settings,
                                            const Context& context);

}  // namespace kloom::methods
