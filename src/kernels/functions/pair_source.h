// SPDX-License-Identifier: BSD-3-Clause
//
// The quantity that several kernels of a bank share: a distance or dot product between samples, k-mer
// products of texts, or a given matrix. A kernel is a function of one such number per pair.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/functions/distance.h"
#include "kernels/functions/spectrum.h"
#include "kernels/functions/substrings.h"
#include "kloom/matrix.h"
#include "kloom/shared_matrix.h"

namespace kloom::kernels {

class PairSource {
 public:
  virtual ~PairSource() = default;
  PairSource() = default;
  PairSource(const PairSource&) = delete;
  PairSource& operator=(const PairSource&) = delete;

  // out[(i - rows.begin) * stride + (j - cols.begin)]. `cols` begins at a multiple of PackedSamples::block; out
  // has room for whole blocks. `scratch` has scratch_size() doubles, all 0 on entry and again on return.
  virtual void fill(Range rows, Range cols, double* out, Index stride, double* scratch) const = 0;
  [[nodiscard]] virtual Index scratch_size() const { return 0; }
  // The same for rows that need not be neighbours: out[k * stride + (j - cols.begin)] for rows[k].
  virtual void fill_rows(std::span<const Index> rows, Range cols, double* out, Index stride,
                         double* scratch) const;
  // The same between chosen samples: out[i * stride + j] for rows[i] and cols[j]. A row of out has room for
  // whole blocks.
  virtual void fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                           Index stride) const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  // The quantity between a sample and itself, for every row sample and every column sample.
  [[nodiscard]] virtual Vector row_self() const = 0;
  [[nodiscard]] virtual Vector column_self() const = 0;
};

class FeaturePairs final : public PairSource {
 public:
  FeaturePairs(PairSum sum, std::shared_ptr<const PackedSamples> rows,
               std::shared_ptr<const PackedSamples> columns)
      : sum_(sum), rows_(std::move(rows)), columns_(std::move(columns)) {}
  void fill(Range rows, Range cols, double* out, Index stride, double* scratch) const override;
  void fill_rows(std::span<const Index> rows, Range cols, double* out, Index stride,
                 double* scratch) const override;
  void fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                   Index stride) const override;
  // The packed samples are shared between sources and counted by the bank.
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  [[nodiscard]] Vector row_self() const override { return self_sums(sum_, *rows_); }
  [[nodiscard]] Vector column_self() const override { return self_sums(sum_, *columns_); }

 private:
  PairSum sum_;
  std::shared_ptr<const PackedSamples> rows_;
  std::shared_ptr<const PackedSamples> columns_;
};

// Inner products of counts: of what, the classes below say.
class CountPairs : public PairSource {
 public:
  void fill(Range rows, Range cols, double* out, Index stride, double* scratch) const override;
  void fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                   Index stride) const override;
  [[nodiscard]] Index scratch_size() const override { return numbers_; }
  [[nodiscard]] std::size_t bytes() const override { return rows_.bytes() + columns_.bytes(); }
  [[nodiscard]] Vector row_self() const override { return norms(rows_); }
  [[nodiscard]] Vector column_self() const override { return norms(columns_); }

 protected:
  // Counts times ln((1 + n)/(1 + texts that have it)) + 1, for n training texts, which are the columns.
  void weigh_by_rarity();

  Index numbers_ = 0;
  KmerCounts columns_;
  KmerCounts rows_;

 private:
  static Vector norms(const KmerCounts& counts);
};

// Substrings of length k. With `tfidf` their counts c become (1 + ln c) times the inverse document frequency.
class TextPairs final : public CountPairs {
 public:
  TextPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns, Index k, bool tfidf);
};

// Strings that are near to substrings; the columns are the training texts.
class NearTextPairs final : public CountPairs {
 public:
  NearTextPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                const SubstringRule& rule);
};

// Words times their inverse document frequency in the columns, which are the training samples; words that
// training never saw count as if they were in none of them.
class WordPairs final : public CountPairs {
 public:
  WordPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns);
};

class MatrixPairs final : public PairSource {
 public:
  // A symmetric matrix is read by columns, which are contiguous.
  MatrixPairs(SharedMatrix values, bool symmetric) : values_(std::move(values)), symmetric_(symmetric) {}
  void fill(Range rows, Range cols, double* out, Index stride, double* scratch) const override;
  void fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                   Index stride) const override;
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  [[nodiscard]] Vector row_self() const override;
  [[nodiscard]] Vector column_self() const override { return row_self(); }

 private:
  SharedMatrix values_;
  bool symmetric_;
};

}  // namespace kloom::kernels
