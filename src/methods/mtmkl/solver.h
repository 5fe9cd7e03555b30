// SPDX-License-Identifier: BSD-3-Clause
//
// Spike-and-slab multi-task and multiple kernel learning [TitsiasLazaroGredilla2011] by variational inference.
//
//   y_iq | φ, s, w ~ N(Σ_m s_qm w_qm φ_m(x_i), σ_q²)    outputs q share the functions; a sample of weight u is there u times
//   φ_m ~ GP(0, K_m/d_m)       one function per kernel; d_m the kernel's mean diagonal
//   w_qm ~ N(0, σ_w²),   s_qm ~ Bernoulli(π)
//
// The posterior that is fitted keeps each s and w together, so that a kernel can be on or off for an output:
//
//   q = Π_m q(φ_m) Π_qm q(w_qm | s_qm) q(s_qm)
//   q(φ_m)           N(φ̄_m, S_m) with S_m⁻¹ = (K_m/d_m)⁻¹ + c_m U,   c_m = Σ_q E[s w²]_qm / σ_q²
//   q(w_qm | s=1)    N(μ_qm, v_qm);  q(w_qm | s=0) is the prior
//   q(s_qm = 1)      γ_qm
//
// The lower bound L = E log p(y | φ, s, w) − Σ_m KL(q(φ_m)) − Σ_qm KL(q(w_qm, s_qm)) is raised by one factor after the
// other, by a rescaling of φ_m against its weights, and by σ_q², σ_w² and π, each in closed form. Numbers here are those of
// √u_i φ(x_i), whose covariance K̂_m = V Λ Vᵀ is decomposed once: a pass over all factors takes N² operations per kernel.
#pragma once

#include <vector>

#include "kloom/context.h"
#include "kloom/parts.h"
#include "kloom/report.h"
#include "methods/mtmkl/spectrum.h"

namespace kloom::methods {

// Samples with a weight above 0.
struct MtmklTask {
  Matrix y;      // samples × outputs, each of mean 0 and deviation 1, times the roots
  Vector roots;  // of the samples' weights
};

struct MtmklSettings {
  Index iterations = 0;
  double tolerance = 0.0;    // a pass that raises the bound by less, for every number of y, is the last
  double least_noise = 0.0;  // of σ²
  bool rescale = true;       // functions against their weights
};

struct MtmklPosterior {
  MtmklPart part;       // weights, noise and prior
  Matrix functions;     // φ̄, times the roots: samples × kernels
  Matrix coefficients;  // α with φ̄ = K̂ α
  Vector squares;       // E φᵀφ
  Vector sizes;         // E φᵀ K̂⁻¹ φ
  Vector divergences;   // KL(q(φ_m))
};

struct MtmklSolution {
  MtmklPosterior posterior;
  double bound = 0.0;
  Index iterations = 0;
  Status status = Status::iteration_limit;
  std::vector<TracePoint> trace;
};

// c_m.
[[nodiscard]] double function_precision(const MtmklPart& part, Index kernel);

// The best of several starts, by the bound. `names` of the kernels say which comes first of two that explain as much.
[[nodiscard]] MtmklSolution solve_mtmkl(const std::vector<KernelSpectrum>& spectra,
                                        const std::vector<std::string>& names, const MtmklTask& task,
                                        const MtmklSettings& settings, const Context& context);

}  // namespace kloom::methods
