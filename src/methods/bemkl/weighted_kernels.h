// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels as the updates of BEMKL see them: with weights of the samples. A sample of weight w has p(g_i|a)
// and p(f_i|…) to the power w. With the rows of the kernels, g_i, f_i, the ones of the bias and the margin all
// multiplied by √w, every update of the paper holds as it stands, and only constants of the bound differ. A
// sample of weight 0 is absent, also as a basis function (a_i = 0).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kloom/bank.h"

namespace kloom::methods {

class WeightedKernels {
 public:
  WeightedKernels(const KernelBank& bank, const Vector& weights);  // no weights: all 1

  [[nodiscard]] Index samples() const { return bank_->rows(); }
  [[nodiscard]] Index kernels() const { return bank_->kernels(); }
  // Samples × kernels: which kernels a sample has; empty: all.
  [[nodiscard]] const Matrix& presence() const { return bank_->presence().rows; }
  [[nodiscard]] bool present(Index i) const { return root_[at(i)] > 0.0; }
  [[nodiscard]] const Vector& root() const { return root_; }                      // √w
  [[nodiscard]] const std::vector<Index>& presents() const { return presents_; }  // samples with w > 0
  [[nodiscard]] double count() const { return static_cast<double>(presents_.size()); }
  [[nodiscard]] double total_weight() const { return total_; }     // Σ w
  [[nodiscard]] double log_weight() const { return log_weight_; }  // Σ log w over those with w > 0

  // [K_p v]_p for every column of v, (N·P) × columns, rows times √w.
  [[nodiscard]] Matrix apply(const Matrix& v) const;
  // Σ_p K_p g_p for every column of G, laid out like that; 0 for absent samples.
  [[nodiscard]] Matrix apply_adjoint(Matrix g) const;
  // diag λ + υS with S = Σ_p K_p W K_p, between the samples that are present: a is 0 for the others.
  [[nodiscard]] Matrix precision_of_a(std::span<const double> lambda, double upsilon) const;
  // The numbers of those samples, in a column of one number for every sample.
  [[nodiscard]] Matrix of_present(std::span<const double> all) const;
  // The way back: 0 for absent samples.
  void spread(std::span<const double> of_present, std::span<double> all) const;
  [[nodiscard]] const Matrix& gram() const { return *gram_; }  // S

  // Rows of every N × P block of a stacked matrix times √w.
  void scale_rows(Matrix& stacked) const;
  // From now on these samples have weight 0.
  void leave_out(std::span<const Index> gone);

 private:
  void count_samples();

  const KernelBank* bank_;
  Vector root_;
  std::vector<Index> presents_;
  double total_ = 0.0, log_weight_ = 0.0;
  std::shared_ptr<const Matrix> gram_;
};

}  // namespace kloom::methods
