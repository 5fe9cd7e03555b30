// SPDX-License-Identifier: BSD-3-Clause
//
// A computed bank's kernels that are exponentials of a quantity they share: Gaussian widths on one distance,
// and their like. Any number of them costs as much as one.
#include <omp.h>

#include <algorithm>
#include <utility>

#include "algebra/blas.h"
#include "kernels/banks/computed_bank.h"
#include "kernels/functions/exponential_family.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

bool is_exponential(const KernelTerm& term) {
  switch (term.function) {
    case KernelFunction::rbf:
    case KernelFunction::laplacian:
    case KernelFunction::chi2:
    case KernelFunction::expdist:
    case KernelFunction::edit:
      return term.normalisation != Normalisation::centre;
    default:
      return false;
  }
}

double rate_of(const KernelTerm& term) {
  return term.function == KernelFunction::expdist ? term.parameter / term.distance_scale : term.parameter;
}

// A combination in two parts: kernels that are exponentials of a shared quantity by table, the others row by row.
class MixedCombination final : public Combination {
 public:
  MixedCombination(std::unique_ptr<Combination> first, std::unique_ptr<Combination> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const override {
    first_->add_entries(rows, cols, out);
    second_->add_entries(rows, cols, out);
  }
  void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                  MatrixView out) const override {
    first_->add_scores(rows, cols, c, out);
    second_->add_scores(rows, cols, c, out);
  }

 private:
  std::unique_ptr<Combination> first_;
  std::unique_ptr<Combination> second_;
};

}  // namespace

const std::vector<ExponentialFamily>& ComputedBank::families() const {
  std::call_once(families_made_, [this] {
    families_ = std::make_shared<const std::vector<ExponentialFamily>>(make_families());
  });
  return *families_;
}

std::vector<ExponentialFamily> ComputedBank::make_families() const {
  std::vector<ExponentialFamily> result;
  for (std::size_t source = 0; source < sources_.size(); ++source) {
    std::vector<double> rates;
    std::vector<double> scales;
    std::vector<Index> members;
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      if (source_of_[p] != source || !is_exponential(terms_[p])) continue;
      rates.push_back(rate_of(terms_[p]));
      scales.push_back(terms_[p].scale);
      members.push_back(static_cast<Index>(p));
    }
    if (members.empty()) continue;
    const PairSource* pairs = sources_[source].get();
    result.push_back({ExponentialTable(std::move(rates)), std::move(scales), std::move(members),
                      [pairs](std::span<const Index> rows, std::span<const Index> cols, double* out,
                              Index stride) { pairs->fill_chosen(rows, cols, out, stride); }});
  }
  return result;
}

bool ComputedBank::combines_cheaply() const {
  return std::ranges::all_of(terms_, is_exponential);
}

// Where most kernels have no weight, those are not computed.
void ComputedBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  const bool scattered = rows.size() > 1 && rows[1] != rows[0] + 1;
  if (2 * std::ranges::count(w, 0.0) < kernels() && !scattered) return KernelBank::combine_rows(w, rows, out);
  combine_blocks(w, rows, out);
}

// Rows of a block share what is loaded of the column samples, and kernels of one source share its sums: with many
// features that is most of the work. Kernels are added in their order, whatever they share, so that a row has the same
// bits in every block.
void ComputedBank::combine_blocks(std::span<const double> w, std::span<const Index> rows,
                                  MatrixView out) const {
  std::vector<std::pair<Index, Index>> used;  // kernel, and the place of its source among those in use
  std::vector<const PairSource*> sources;
  Index scratch_size = 0;
  for (Index p = 0; p < kernels(); ++p) {
    if (w[static_cast<std::size_t>(p)] == 0.0) continue;
    const PairSource* source = sources_[source_of_[static_cast<std::size_t>(p)]].get();
    const auto place = std::ranges::find(sources, source) - sources.begin();
    if (place == std::ssize(sources)) sources.push_back(source);
    used.emplace_back(p, place);
    scratch_size = std::max(scratch_size, source->scratch_size());
  }
  const Index stride = (cols() + PackedSamples::block - 1) / PackedSamples::block * PackedSamples::block;
  constexpr Index entries = Index{1} << 21;  // of all sources in use, for one thread: 16 MB
  const Index block_rows =
      std::clamp<Index>(entries / (stride * std::max<Index>(1, std::ssize(sources))), 1, 32);
  const auto count = std::ssize(rows);
  // Memory is taken before the parallel region: an exception must not leave it.
  const Index each = (block_rows * std::ssize(sources) + 1) * stride + scratch_size;
  Vector space(static_cast<std::size_t>(each * omp_get_max_threads()), 0.0);
#pragma omp parallel for schedule(dynamic)
  for (Index begin = 0; begin < count; begin += block_rows) {
    const auto block = rows.subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(std::min(block_rows, count - begin)));
    double* values = space.data() + each * omp_get_thread_num();
    double* base = values + stride;
    double* scratch = base + block_rows * std::ssize(sources) * stride;
    for (std::size_t k = 0; k < sources.size(); ++k)
      sources[k]->fill_rows(block, {0, cols()}, base + static_cast<Index>(k) * block_rows * stride, stride,
                            scratch);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto sum = out.column(begin + static_cast<Index>(i));
      std::ranges::fill(sum, 0.0);
      for (const auto& [p, place] : used) {
        const KernelTerm& term = terms_[static_cast<std::size_t>(p)];
        write_segment(p, block[i], {0, cols()}, base + (place * block_rows + static_cast<Index>(i)) * stride,
                      values);
        if (term.normalisation == Normalisation::centre) centre_row(term, block[i], values);
        algebra::axpy(w[static_cast<std::size_t>(p)], {values, static_cast<std::size_t>(cols())}, sum);
      }
    }
  }
}

std::unique_ptr<Combination> ComputedBank::combination(ConstMatrixView w, std::size_t memory) const {
  if (combines_cheaply()) return family_combination(families(), w);
  const auto whole = static_cast<std::size_t>(rows() * cols() * w.cols) * sizeof(double);
  if (whole <= memory) return KernelBank::combination(w, memory);
  Matrix rest(w.rows, w.cols);
  for (Index p = 0; p < w.rows; ++p) {
    for (Index k = 0; k < w.cols; ++k)
      rest(p, k) = is_exponential(terms_[static_cast<std::size_t>(p)]) ? 0.0 : w(p, k);
  }
  return std::make_unique<MixedCombination>(family_combination(families(), w),
                                            KernelBank::combination(rest.view(), memory));
}

Matrix ComputedBank::quadratic_forms(ConstMatrixView c) const {
  if (!symmetric())
    throw InternalError("quadratic_forms needs a bank whose rows and columns are the same samples");
  return combines_cheaply() ? family_quadratic_forms(families(), c, kernels()) : KernelBank::quadratic_forms(c);
}

void ComputedBank::entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const {
  if (combines_cheaply()) {
    family_entries(families(), rows, cols, out);
  } else {
    KernelBank::entries(rows, cols, out);
  }
}

Matrix ComputedBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                  ConstMatrixView c) const {
  return combines_cheaply() ? family_apply(families(), {rows, cols, kernels()}, c)
                            : KernelBank::apply_chosen(rows, cols, c);
}

}  // namespace kloom::kernels
