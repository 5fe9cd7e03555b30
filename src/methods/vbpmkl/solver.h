// SPDX-License-Identifier: BSD-3-Clause
//
// VBpMKL [DamoulasGirolami2008]: a multinomial probit machine on a convex combination of kernels, K = Σ_s β_s K_s.
//
//   y_ic | w_c  ~ N((K w_c)_i, 1/u_i)            the class of sample i is that of its largest y_ic; u_i its weight
//   w_ic | ζ_ic ~ N(0, ζ_ic),   1/ζ_ic ~ Gamma(τ, υ)
//   β           ~ Dirichlet(ρ)
//
// The factors of the posterior, one after the other:
//
//   q(y_i)   normal N(m_i, I/u_i) with m = K w̃ where y_i's own class is the largest; ỹ its mean
//   q(ζ)     E[1/ζ_ic] = (τ + ½)/(υ + ½ E w_ic²)
//   q(w_c)   V_c = (K U K + diag E[1/ζ_c])⁻¹,   w̃_c = V_c K U ỹ_c
//   β        here: the largest bound, that is the largest of bᵀβ − ½ βᵀAβ on the simplex (ρ = 1), with
//            b_s = Σ_c ỹ_cᵀ U K_s w̃_c and A_st = Σ_c w̃_cᵀ K_s U K_t w̃_c + tr(K_s U K_t Σ_c V_c)
//            literal: the mean of draws from Dirichlet(ρ), each weighted by Π N(ỹ; K_β w̃, I/u), and ρ the mean of draws from
//            Gamma(μ, λ), each weighted by Dirichlet(β | ρ)
//
// With β by the bound no step lets the bound fall, and nothing is drawn.
#pragma once

#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/report.h"

namespace kloom::methods {

struct VbpmklTask {
  std::vector<Index> samples;  // of the bank: those that count
  std::vector<int> labels;     // of these
  Vector roots;                // of their weights
  Index classes = 0;
};

struct VbpmklSettings {
  double tau = 0.0;
  double upsilon = 0.0;
  bool literal = false;
  Index draws = 0;      // literal: of β and of ρ
  double mu = 0.0;      // literal: shape and
  double lambda = 0.0;  // rate of the prior of ρ
  Index iterations = 0;
  double tolerance = 0.0;  // relative change of the bound
};

struct VbpmklSolution {
  Vector beta;
  Matrix precision;  // E[1/ζ], samples × classes
  Matrix location;   // m of the last q(y)
  Matrix means;      // w̃
  double bound = 0.0;
  Index iterations = 0;
  Status status = Status::iteration_limit;
  std::vector<TracePoint> trace;
};

[[nodiscard]] VbpmklSolution solve_vbpmkl(const KernelBank& bank, const VbpmklTask& task,
                                          const VbpmklSettings& settings, const Context& context);

// Σ_s β_s K_s among some samples.
[[nodiscard]] Matrix combined_among(const KernelBank& bank, const Vector& beta,
                                    const std::vector<Index>& samples);
// Row i times roots_i.
[[nodiscard]] Matrix with_scaled_rows(Matrix rows, const Vector& roots);
// K U K.
[[nodiscard]] Matrix weighted_square(const Matrix& kernel, const Vector& roots);
// V_c of one class; `square` is K U K.
[[nodiscard]] Matrix vbpmkl_covariance(const Matrix& square, std::span<const double> precision);

}  // namespace kloom::methods
