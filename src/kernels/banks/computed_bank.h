// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel functions evaluated on samples when asked: nothing is stored but the samples. Dense, low-rank and
// RBF-family banks are filled from this one.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/functions/pair_source.h"
#include "kloom/bank.h"
#include "kloom/dataset.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

struct ExponentialFamily;

struct GivenKernel {
  SharedMatrix entries;
  double scale = 1.0;
};

class ComputedBank final : public KernelBank {
 public:
  // `columns` are the samples that the terms were fitted on. Symmetric: `rows` are the same samples (and the
  // same object). Throws InvalidArgument where a sample cannot be used (check_samples).
  ComputedBank(std::vector<KernelTerm> terms, std::shared_ptr<const Dataset> rows,
               std::shared_ptr<const Dataset> columns, bool symmetric);

  [[nodiscard]] std::string_view kind() const override { return "computed"; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] std::size_t shared_bytes() const override;
  // Symmetric banks: K_p(i, j) and K_p(j, i) have the same bits, however the rows are divided over calls.
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix diagonal() const override;
  // Kernels that are exponentials of a shared quantity are answered from it, the others one by one.
  void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const override;
  [[nodiscard]] std::unique_ptr<Combination> combination(ConstMatrixView w, std::size_t memory) const override;
  [[nodiscard]] bool combines_cheaply() const override;
  [[nodiscard]] Matrix quadratic_forms(ConstMatrixView c) const override;
  void entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const override;
  [[nodiscard]] Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const override;

  // The given matrix that kernel p is a multiple of, entry for entry as `panels` orders them; empty where it is none.
  [[nodiscard]] GivenKernel given(Index p) const;
  [[nodiscard]] const std::vector<KernelTerm>& terms() const { return terms_; }
  [[nodiscard]] const Dataset& row_samples() const { return *row_samples_; }
  [[nodiscard]] const Dataset& column_samples() const { return *column_samples_; }

 private:
  // 1/sqrt(k(x, x)) of row samples and (padded) column samples; 0 for a zero vector.
  struct Factors {
    Vector rows;
    Vector columns;
  };
  // Kernels of one call that share a source.
  struct Job {
    const PairSource* source = nullptr;
    std::vector<Index> terms;
  };
  struct Output {
    double* data;
    Range kernels;
    Range rows;
  };
  class Builder;

  // Made once; the bank is read by several threads.
  [[nodiscard]] const std::vector<ExponentialFamily>& families() const;
  [[nodiscard]] std::vector<ExponentialFamily> make_families() const;
  [[nodiscard]] std::vector<Job> jobs(Range kernels) const;
  void combine_blocks(std::span<const double> w, std::span<const Index> rows, MatrixView out) const;
  void run_block(const Job& job, Range block, const Output& output, double* scratch) const;
  void write_segment(Index term, Index row, Range cols, const double* base, double* values) const;
  void evaluate(const KernelTerm& term, const double* base, double* values, Index n) const;
  void centre_row(const KernelTerm& term, Index row, double* values) const;

  std::vector<KernelTerm> terms_;
  std::shared_ptr<const Dataset> row_samples_;
  std::shared_ptr<const Dataset> column_samples_;
  std::vector<std::shared_ptr<const PairSource>> sources_;  // distinct ones
  std::vector<std::size_t> source_of_;                      // per term
  std::vector<std::shared_ptr<const Factors>> factors_;     // per term; null if the term needs none
  std::size_t packed_bytes_ = 0;
  mutable std::once_flag families_made_;
  mutable std::shared_ptr<const std::vector<ExponentialFamily>> families_;
};

}  // namespace kloom::kernels
