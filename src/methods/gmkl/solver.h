// SPDX-License-Identifier: BSD-3-Clause
//
// Exponents of a product of kernels and the machines on it, learned together [VarmaBabu2009]:
//
//   minimise    T(γ) = Σ_c J_c(γ) + r(γ)   over γ ≥ 0,   r(γ) = λ Σ_p γ_p or ½ λ Σ_p γ_p²
//   J_c(γ)      the optimum of output c's support vector machine (methods/margin/mkl.h) on K_γ = Π_p K_p^γ_p, entry by entry
//   slope       ∂T/∂γ_p = ∂r/∂γ_p − ½ Σ_c c_cᵀ (K_γ ∘ log K_p) c_c,   c_c the coefficients y_i α_i of the machine
//
// by projected gradients: steps of the length that the last two slopes suggest [BarzilaiBorwein1988], shortened until T falls.
// T is not convex: what is found is a stationary point.
#pragma once

#include <vector>

#include "kloom/bank.h"
#include "methods/margin/mkl.h"

namespace kloom::methods {

// log K_p of every pair of samples, once.
class LogKernels {
 public:
  // Throws InvalidArgument where an entry is not above 0.
  explicit LogKernels(const KernelBank& bank);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] Index kernels() const { return logs_.cols(); }
  // K_γ.
  [[nodiscard]] Matrix product(const Vector& gamma) const;
  // cᵀ (K_γ ∘ log K_p) c of every p, added up over the machines.
  [[nodiscard]] Vector slopes(const Matrix& product, const std::vector<MarginSolution>& machines) const;

 private:
  Index samples_;
  Matrix logs_;  // lower triangle column by column, diagonal included, × kernels
};

struct ProductSettings {
  double lambda = 1.0;
  bool squared = false;
  double tolerance = 1e-3;  // of the stationarity
  Index iterations = 200;
};

struct ProductSolution {
  Vector gamma;
  Matrix kernel;                         // K_γ
  std::vector<MarginSolution> machines;  // one for each output
  double objective = 0.0;                // T, by the machines' primal objectives
  // How much T would change, in first order and parts of T, by a change of some γ_p by the factor e; of γ_p = 0, if T fell,
  // by a change to the mean of γ, or to 1/P where that is larger.
  double stationarity = 0.0;
  Index iterations = 0;
  Status status = Status::converged;
  std::vector<TracePoint> trace;
};

// `start`: exponents, and dual variables of every machine or none.
struct ProductStart {
  Vector gamma;
  std::vector<Vector> alpha = {};
};

[[nodiscard]] ProductSolution solve_product(const LogKernels& kernels, const std::vector<MarginTask>& tasks,
                                            const ProductSettings& settings, ProductStart start,
                                            const Context& context);

}  // namespace kloom::methods
