// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/pair_source.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/words.h"
#include "kloom/error.h"

namespace kloom::kernels {

void PairSource::fill_rows(std::span<const Index> rows, Range cols, double* out, Index stride,
                           double* scratch) const {
  for (const Index i : rows) {
    fill({i, i + 1}, cols, out, stride, scratch);
    out += stride;
  }
}

void FeaturePairs::fill(Range rows, Range cols, double* out, Index stride, double* /*scratch*/) const {
  pair_sums(sum_, {rows_.get(), rows, columns_.get(), cols, out, stride});
}

void FeaturePairs::fill_rows(std::span<const Index> rows, Range cols, double* out, Index stride,
                             double* /*scratch*/) const {
  pair_sums(sum_, {rows_.get(), {0, std::ssize(rows)}, columns_.get(), cols, out, stride, rows});
}

void FeaturePairs::fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                               Index stride) const {
  const PackedSamples row_pack(*rows_, rows);
  const PackedSamples column_pack(*columns_, cols);
  pair_sums(sum_, {&row_pack, {0, row_pack.samples()}, &column_pack, {0, column_pack.samples()}, out, stride});
}

TextPairs::TextPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns, Index k,
                     bool tfidf) {
  KmerNumbers numbers;
  columns_ = KmerCounts(columns, k, numbers);
  rows_ = KmerCounts(rows, k, numbers);
  numbers_ = std::ssize(numbers);
  if (!tfidf) return;
  columns_.dampen();
  rows_.dampen();
  weigh_by_rarity();
}

NearTextPairs::NearTextPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                             const SubstringRule& rule) {
  SubstringNumbers numbers(rule, columns);
  columns_ = numbers.counts(columns);
  rows_ = numbers.counts(rows);
  numbers_ = numbers.size();
}

WordPairs::WordPairs(const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
  std::unordered_map<std::string, Index> numbers;
  const auto count = [&](const std::vector<std::string>& texts) {
    KmerCounts counts;
    for (const std::string& text : texts) {
      std::vector<Index> found;
      for (std::string& word : data::words_of(text))
        found.push_back(numbers.emplace(std::move(word), std::ssize(numbers)).first->second);
      counts.add(std::move(found));
    }
    return counts;
  };
  columns_ = count(columns);
  rows_ = count(rows);
  numbers_ = std::ssize(numbers);
  weigh_by_rarity();
}

void CountPairs::weigh_by_rarity() {
  const auto n = static_cast<double>(columns_.texts());
  std::vector<double> factors;
  for (const Index texts : columns_.frequencies(numbers_))
    factors.push_back(std::log((1.0 + n) / (1.0 + static_cast<double>(texts))) + 1.0);
  columns_.weigh(factors);
  rows_.weigh(factors);
}

void CountPairs::fill(Range rows, Range cols, double* out, Index stride, double* scratch) const {
  for (Index i = rows.begin; i < rows.end; ++i) {
    rows_.scatter(i, 1.0, scratch);
    double* row = out + (i - rows.begin) * stride;
    for (Index j = cols.begin; j < cols.end; ++j) row[j - cols.begin] = columns_.gather(j, scratch);
    rows_.clear(i, scratch);
  }
}

void CountPairs::fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                             Index stride) const {
  Vector scratch(static_cast<std::size_t>(scratch_size()));
  for (std::size_t i = 0; i < rows.size(); ++i, out += stride) {
    rows_.scatter(rows[i], 1.0, scratch.data());
    for (std::size_t j = 0; j < cols.size(); ++j) out[j] = columns_.gather(cols[j], scratch.data());
    rows_.clear(rows[i], scratch.data());
  }
}

Vector CountPairs::norms(const KmerCounts& counts) {
  Vector result;
  for (Index i = 0; i < counts.texts(); ++i) result.push_back(counts.squared_norm(i));
  return result;
}

void MatrixPairs::fill(Range rows, Range cols, double* out, Index stride, double* /*scratch*/) const {
  if (symmetric_) {
    for (Index i = rows.begin; i < rows.end; ++i, out += stride)
      std::copy_n(values_.column(i).data() + cols.begin, cols.size(), out);
    return;
  }
  // A few rows at a time, down one column after the other, as they are in memory.
  for (Index j = cols.begin; j < cols.end; ++j, ++out) {
    const double* column = values_.column(j).data();
    for (Index i = rows.begin; i < rows.end; ++i) out[(i - rows.begin) * stride] = column[i];
  }
}

void MatrixPairs::fill_chosen(std::span<const Index> rows, std::span<const Index> cols, double* out,
                              Index stride) const {
  for (std::size_t i = 0; i < rows.size(); ++i, out += stride) {
    for (std::size_t j = 0; j < cols.size(); ++j)
      out[j] = symmetric_ ? values_(cols[j], rows[i]) : values_(rows[i], cols[j]);
  }
}

Vector MatrixPairs::row_self() const {
  if (!symmetric_) throw InternalError("the self-similarity of new samples is not in a given matrix");
  Vector result;
  for (Index i = 0; i < values_.rows(); ++i) result.push_back(values_(i, i));
  return result;
}

}  // namespace kloom::kernels
