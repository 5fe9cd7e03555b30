// SPDX-License-Identifier: BSD-3-Clause
//
// What people do with samples that lack views where their method learns from whole samples only: baselines beside methods
// that learn from what is there. Everything is taken from the training samples alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kloom/bank.h"
#include "kloom/compare.h"
#include "kloom/dataset.h"

namespace kloom::select {

// Kernels without gaps. Where a sample lacks a kernel, its row is the mean of the rows of its nearest training samples that
// have the kernel, nearness being the mean of the kernels that both have: S K Sᵀ, positive semidefinite like K. Without
// neighbours the rows are 0.
class CompletedKernels {
 public:
  CompletedKernels(const KernelBank& training, Index neighbours);

  // The training samples against themselves. No copy is made: it goes with this object.
  [[nodiscard]] std::unique_ptr<KernelBank> training() const;
  // New samples (rows of their bank) against the training samples.
  [[nodiscard]] std::unique_ptr<KernelBank> of(const KernelBank& samples) const;

 private:
  // Of row i, for kernel p, those training samples.
  using Neighbours = std::vector<std::vector<std::vector<Index>>>;
  [[nodiscard]] Neighbours neighbours_of(const KernelBank& samples) const;
  void complete_columns(Index kernel, double* row) const;

  Index count_;
  Matrix presence_;        // of the training samples; empty: all have all kernels
  Neighbours neighbours_;  // of the training samples
  std::vector<std::string> names_;
  std::shared_ptr<Vector> entries_;  // completed, as `panels` writes them
};

// With absent views and single gaps filled in by training means, as by --impute mean.
[[nodiscard]] RecipeOptions with_imputed_means(RecipeOptions options);

// Whether samples lack views that this comparison does not fill in.
[[nodiscard]] bool lacks_views(const Dataset& data, const ComparisonRequest& request);
// Where samples lack views: the planned methods that are also run as baselines, those asked for, or the first that can do
// without views and is not the default of the task. Throws InvalidArgument for one that is asked for and cannot.
[[nodiscard]] std::vector<std::string> baseline_methods(const Targets& targets,
                                                        const ComparisonRequest& request,
                                                        const std::vector<std::string>& planned);

}  // namespace kloom::select
