// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights of greatest evidence: of a Gaussian process with the covariance
//
//   C = Σ_p w_p K_p + w_0 11ᵀ + σ² I,
//   log evidence = −½ Σ_c y_cᵀ C⁻¹ y_c − ½ O log det C − ½ N O log 2π
//
// over the O columns y_c of the targets: numbers, or the codes of classes. The updates
//
//   w_p ← w_p √( Σ_c α_cᵀ K_p α_c / (O tr(C⁻¹ K_p)) ),   α_c = C⁻¹ y_c,
//
// and the same for σ² with the identity never lower the evidence [ZhouHuZhouLange2019]; weights of useless kernels go to 0.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kloom/bank.h"
#include "methods/kernel_machine/machine.h"
#include "methods/kernel_machine/sampled_kernels.h"

namespace kloom::methods {

struct EvidenceRequest {
  std::vector<Index> samples;  // on which the evidence is computed
  std::vector<Index> kernels;  // that may have a weight
  Index iterations = 60;
  double tolerance = 1e-5;             // stop when the evidence per sample rises by less
  std::function<bool()> stopped = {};  // asked before every iteration; true: no more of them
};

struct EvidenceSolution {
  Vector weights;  // of all kernels of the bank; 0 where the kernel was not in play
  double noise = 0.0;
  double constant = 0.0;
  double evidence = 0.0;  // log evidence of the chosen samples
  Index iterations = 0;
  bool sound = false;  // false: C was not positive definite; there are no weights
  std::vector<double> trace;
};

// `targets`: of all samples of the bank, samples × O.
[[nodiscard]] EvidenceSolution maximise_evidence(const KernelBank& bank, const Matrix& targets,
                                                 const EvidenceRequest& request);
// The same on kernels that are held already, with targets of their samples; `request.samples` is not looked at.
[[nodiscard]] EvidenceSolution maximise_evidence(const SampledKernels& kernels, const Matrix& targets,
                                                 const EvidenceRequest& request);

// Kernels with the smallest finite losses, at most `count`.
[[nodiscard]] std::vector<Index> best_kernels(std::span<const double> losses, Index count);

}  // namespace kloom::methods
