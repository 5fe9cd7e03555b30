// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/computed_bank.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "kernels/functions/decision_trees.h"
#include "kernels/functions/edit_distance.h"
#include "kernels/functions/functions.h"
#include "kernels/spec/sample_check.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr Index kMostRows = 16;         // rows that are computed together
constexpr Index kSegment = 512;         // columns at a time: a segment stays in the first cache
constexpr Index kSerialWork = 1 << 15;  // entries below which threads cost more than they bring

// Smaller self-similarities count as zero vectors: their inverse square roots would overflow in products.
constexpr double kSmallestSelf = 1e-280;

std::vector<std::string> names_of(const std::vector<KernelTerm>& terms) {
  std::vector<std::string> names;
  names.reserve(terms.size());
  for (const auto& term : terms) names.push_back(term.name);
  return names;
}

Vector inverse_roots(const Vector& self, double offset) {
  Vector result;
  for (const double s : self) result.push_back(s + offset < kSmallestSelf ? 0.0 : 1.0 / std::sqrt(s + offset));
  return result;
}

// Kernels that are divided by the square roots of the self-similarities as they are evaluated.
bool needs_factors(const KernelTerm& term) {
  if (term.function == KernelFunction::cosine || term.function == KernelFunction::words) return true;
  // k(x, x) of new samples is not in a given matrix. Its diagonal is constant instead, and was scaled to 1 at training.
  return term.normalisation == Normalisation::unit_diagonal && !has_unit_diagonal(term.function) &&
         term.function != KernelFunction::precomputed;
}

// Many rows share what is loaded for the columns, but every thread should get a few blocks.
Index rows_together(Index rows, int threads) {
  const Index share = (rows / (Index{4} * threads) + 3) / 4 * 4;
  return std::clamp<Index>(threads == 1 ? kMostRows : share, 4, kMostRows);
}

Index padded(Index n) {
  return (n + PackedSamples::block - 1) / PackedSamples::block * PackedSamples::block;
}

}  // namespace

// Gives every term its source and factors, each distinct one made once.
class ComputedBank::Builder {
 public:
  explicit Builder(ComputedBank& bank) : bank_(bank) {}

  void build() {
    for (const KernelTerm& term : bank_.terms_) {
      const std::size_t source = source_of(term);
      bank_.source_of_.push_back(source);
      bank_.factors_.push_back(needs_factors(term) ? factors_of(source, offset_of(term)) : nullptr);
    }
  }

 private:
  using SourceKey =
      std::tuple<int, SubstringRule, bool, std::vector<Index>>;  // kind of sum, inputs; trees share nothing

  // (x.z + 1)^q is normalised before it is raised to the power, where it cannot overflow.
  static double offset_of(const KernelTerm& term) {
    return term.function == KernelFunction::polynomial ? 1.0 : 0.0;
  }

  static SubstringRule rule_of(const KernelTerm& term) {
    return {static_cast<Index>(term.parameter), term.mismatches, term.gaps};
  }

  std::size_t source_of(const KernelTerm& term) {
    constexpr int others = 100;  // beyond the kinds of sums over features
    const bool sums = uses_features(term.function) && term.function != KernelFunction::trees;
    const int kind =
        sums ? static_cast<int>(pair_sum_of(term.function)) : others + static_cast<int>(term.function);
    SubstringRule rule = term.function == KernelFunction::spectrum ? rule_of(term) : SubstringRule{};
    if (term.function == KernelFunction::trees) rule.k = std::ssize(bank_.sources_);
    const auto [place, added] =
        sources_.try_emplace(SourceKey{kind, rule, term.tfidf, term.features}, bank_.sources_.size());
    if (added) bank_.sources_.push_back(make_source(term));
    return place->second;
  }

  std::shared_ptr<const PairSource> make_source(const KernelTerm& term) {
    const Dataset& rows = *bank_.row_samples_;
    const Dataset& columns = *bank_.column_samples_;
    const auto input = static_cast<std::size_t>(term.features.front());
    switch (term.function) {
      case KernelFunction::spectrum:
        if (term.mismatches > 0 || term.gaps > 0)
          return std::make_shared<NearTextPairs>(rows.texts[input].values, columns.texts[input].values,
                                                 rule_of(term));
        return std::make_shared<TextPairs>(rows.texts[input].values, columns.texts[input].values,
                                           static_cast<Index>(term.parameter), term.tfidf);
      case KernelFunction::words:
        return std::make_shared<WordPairs>(rows.texts[input].values, columns.texts[input].values);
      case KernelFunction::precomputed:
        return std::make_shared<MatrixPairs>(rows.kernels[input].values, bank_.symmetric());
      case KernelFunction::expdist:
        return std::make_shared<MatrixPairs>(rows.distances[input].values, bank_.symmetric());
      case KernelFunction::edit: {
        const std::vector<std::string>& training = columns.texts[input].values;
        const auto column_vectors = packed_edits(training, training);
        const auto row_vectors =
            bank_.symmetric() ? column_vectors : packed_edits(rows.texts[input].values, training);
        return std::make_shared<FeaturePairs>(PairSum::squared, row_vectors, column_vectors);
      }
      case KernelFunction::trees: {
        const auto column_leaves = packed_leaves(columns, term);
        const auto row_leaves = bank_.symmetric() ? column_leaves : packed_leaves(rows, term);
        return std::make_shared<FeaturePairs>(PairSum::agreement, row_leaves, column_leaves);
      }
      default: {
        const auto packed_columns = packed(columns, term.features, packed_columns_);
        const auto packed_rows = bank_.symmetric() ? packed_columns : packed(rows, term.features, packed_rows_);
        return std::make_shared<FeaturePairs>(pair_sum_of(term.function), packed_rows, packed_columns);
      }
    }
  }

  using Packs = std::map<std::vector<Index>, std::shared_ptr<const PackedSamples>>;
  std::shared_ptr<const PackedSamples> packed(const Dataset& data, const std::vector<Index>& features,
                                              Packs& packs) {
    auto& pack = packs[features];
    if (!pack) {
      pack = std::make_shared<PackedSamples>(data.features.view(), features);
      bank_.packed_bytes_ += pack->bytes();
    }
    return pack;
  }

  std::shared_ptr<const PackedSamples> packed_leaves(const Dataset& data, const KernelTerm& term) {
    const auto pack = std::make_shared<PackedSamples>(
        PackedSamples::from_columns(leaves_reached(term.trees, data.features.view(), term.features).view()));
    bank_.packed_bytes_ += pack->bytes();
    return pack;
  }

  std::shared_ptr<const PackedSamples> packed_edits(const std::vector<std::string>& texts,
                                                    const std::vector<std::string>& training) {
    const Matrix vectors = edit_vectors(texts, training);
    std::vector<Index> all(static_cast<std::size_t>(vectors.cols()));
    std::iota(all.begin(), all.end(), Index{0});
    const auto pack = std::make_shared<PackedSamples>(vectors.view(), all);
    bank_.packed_bytes_ += pack->bytes();
    return pack;
  }

  std::shared_ptr<const Factors> factors_of(std::size_t source, double offset) {
    auto& factors = factors_[{source, offset}];
    if (!factors) {
      Factors made;
      made.rows = inverse_roots(bank_.sources_[source]->row_self(), offset);
      made.columns =
          bank_.symmetric() ? made.rows : inverse_roots(bank_.sources_[source]->column_self(), offset);
      made.columns.resize(static_cast<std::size_t>(padded(bank_.cols())), 0.0);
      bank_.packed_bytes_ += (made.rows.size() + made.columns.size()) * sizeof(double);
      factors = std::make_shared<const Factors>(std::move(made));
    }
    return factors;
  }

  ComputedBank& bank_;
  std::map<SourceKey, std::size_t> sources_;
  std::map<std::pair<std::size_t, double>, std::shared_ptr<const Factors>> factors_;
  Packs packed_rows_;
  Packs packed_columns_;
};

ComputedBank::ComputedBank(std::vector<KernelTerm> terms, std::shared_ptr<const Dataset> rows,
                           std::shared_ptr<const Dataset> columns, bool symmetric)
    : KernelBank(rows->samples, columns->samples, symmetric, names_of(terms)),
      terms_(std::move(terms)),
      row_samples_(std::move(rows)),
      column_samples_(std::move(columns)) {
  if (symmetric && row_samples_.get() != column_samples_.get())
    throw InternalError("a symmetric bank needs the same samples as rows and columns");
  for (const KernelTerm& term : terms_)
    if (term.normalisation == Normalisation::centre && static_cast<Index>(term.centre_means.size()) != cols())
      throw InvalidArgument("kernel '" + term.name + "' was centred on another number of training samples");
  check_samples(*row_samples_, terms_, cols());
  if (!symmetric) {
    // Of the columns only features and texts are looked at; given matrices belong to the rows.
    std::vector<KernelTerm> column_terms;
    for (const KernelTerm& term : terms_)
      if (uses_features(term.function) || uses_texts(term.function)) column_terms.push_back(term);
    check_samples(*column_samples_, column_terms, cols());
  }
  Builder(*this).build();
}

// A symmetric matrix is its own transpose, so its columns are the rows that are wanted.
GivenKernel ComputedBank::given(Index p) const {
  const KernelTerm& term = terms_[static_cast<std::size_t>(p)];
  if (term.function != KernelFunction::precomputed || term.normalisation == Normalisation::centre ||
      !symmetric())
    return {};
  return {row_samples_->kernels[static_cast<std::size_t>(term.features.front())].values, term.scale};
}

std::size_t ComputedBank::shared_bytes() const {
  const auto held = [](const Dataset& data) { return sample_bytes(data) + matrix_bytes(data); };
  return held(*row_samples_) + (row_samples_.get() != column_samples_.get() ? held(*column_samples_) : 0);
}

std::size_t ComputedBank::bytes() const {
  std::size_t total = packed_bytes_ + shared_bytes();
  for (const auto& source : sources_) total += source->bytes();
  return total;
}

std::vector<ComputedBank::Job> ComputedBank::jobs(Range kernels) const {
  std::vector<Job> result;
  std::map<std::size_t, std::size_t> place;
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    const std::size_t source = source_of_[static_cast<std::size_t>(p)];
    const auto [at, added] = place.try_emplace(source, result.size());
    if (added) result.push_back({sources_[source].get(), {}});
    result[at->second].terms.push_back(p);
  }
  return result;
}

void ComputedBank::panels(Range kernels, Range rows, double* out) const {
  const std::vector<Job> work = jobs(kernels);
  Index scratch_size = 0;
  for (const Job& job : work) scratch_size = std::max(scratch_size, job.source->scratch_size());
  // Memory is taken before the parallel region: an exception must not leave it.
  const bool parallel = rows.size() > 1 && rows.size() * cols() * kernels.size() > kSerialWork;
  const int threads = parallel ? omp_get_max_threads() : 1;
  const Index block_rows = rows_together(rows.size(), threads);
  const Index blocks = (rows.size() + block_rows - 1) / block_rows;
  const Index each = kMostRows * kSegment + scratch_size;
  Vector scratch(static_cast<std::size_t>(each * threads), 0.0);
  const Output output{out, kernels, rows};
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (parallel)
  for (Index b = 0; b < blocks; ++b) {
    double* thread_scratch = scratch.data() + each * omp_get_thread_num();
    const Index begin = rows.begin + b * block_rows;
    for (const Job& job : work)
      run_block(job, {begin, std::min(rows.end, begin + block_rows)}, output, thread_scratch);
  }
}

void ComputedBank::run_block(const Job& job, Range block, const Output& output, double* scratch) const {
  double* base = scratch;
  double* source_scratch = base + kMostRows * kSegment;
  const auto row_of = [&](Index term, Index row) {
    return output.data +
           ((term - output.kernels.begin) * output.rows.size() + (row - output.rows.begin)) * cols();
  };
  for (Index begin = 0; begin < cols(); begin += kSegment) {
    const Range segment{begin, std::min(cols(), begin + kSegment)};
    job.source->fill(block, segment, base, kSegment, source_scratch);
    for (Index i = block.begin; i < block.end; ++i) {
      for (const Index p : job.terms) {
        write_segment(p, i, segment, base + (i - block.begin) * kSegment, row_of(p, i) + begin);
      }
    }
  }
  for (const Index p : job.terms) {
    const KernelTerm& term = terms_[static_cast<std::size_t>(p)];
    if (term.normalisation != Normalisation::centre) continue;
    for (Index i = block.begin; i < block.end; ++i) centre_row(term, i, row_of(p, i));
  }
}

// One segment of a row of a kernel, all but centring. Symmetric in row and column to the bit: the two
// factors are multiplied with each other first.
void ComputedBank::write_segment(Index p, Index row, Range cols, const double* base, double* values) const {
  const KernelTerm& term = terms_[static_cast<std::size_t>(p)];
  const Factors* factors = factors_[static_cast<std::size_t>(p)].get();
  const Index n = cols.size();
  if (factors == nullptr) {
    evaluate(term, base, values, n);
  } else {
    const double row_factor = factors->rows[static_cast<std::size_t>(row)];
    const double* other = factors->columns.data() + cols.begin;
    const double offset = term.function == KernelFunction::polynomial ? 1.0 : 0.0;
    for (Index j = 0; j < n; ++j) values[j] = (base[j] + offset) * (row_factor * other[j]);
    if (term.function == KernelFunction::polynomial)
      whole_power(values, static_cast<int>(term.parameter), values, n);
    if (symmetric() && row >= cols.begin && row < cols.end) values[row - cols.begin] = 1.0;
  }
  if (term.scale != 1.0)
    for (Index j = 0; j < n; ++j) values[j] *= term.scale;
}

// The kernel itself, without normalisation.
void ComputedBank::evaluate(const KernelTerm& term, const double* base, double* values, Index n) const {
  switch (term.function) {
    case KernelFunction::rbf:
    case KernelFunction::laplacian:
    case KernelFunction::chi2:
    case KernelFunction::edit:
      exp_negative(term.parameter, base, values, n);
      break;
    case KernelFunction::expdist:
      exp_negative(term.parameter / term.distance_scale, base, values, n);
      break;
    case KernelFunction::overlap:
      for (Index j = 0; j < n; ++j) values[j] = base[j] / static_cast<double>(term.features.size());
      break;
    case KernelFunction::trees:
      for (Index j = 0; j < n; ++j) values[j] = base[j] / static_cast<double>(term.trees.size());
      break;
    case KernelFunction::polynomial:
      for (Index j = 0; j < n; ++j) values[j] = base[j] + 1.0;
      whole_power(values, static_cast<int>(term.parameter), values, n);
      break;
    default:
      std::copy_n(base, n, values);
  }
}

// k(x,z_j) - mean_i k(x,z_i) - m_j + m: inner products after the training mean is taken from every sample.
// The mean of a training row is one of the fitted means, which keeps the bits symmetric.
void ComputedBank::centre_row(const KernelTerm& term, Index row, double* values) const {
  double mean = 0.0;
  if (symmetric()) {
    mean = term.centre_means[static_cast<std::size_t>(row)];
  } else {
    for (Index j = 0; j < cols(); ++j) mean += values[j];
    mean /= static_cast<double>(cols());
  }
  for (Index j = 0; j < cols(); ++j)
    values[j] = values[j] - (mean + term.centre_means[static_cast<std::size_t>(j)]) + term.centre_mean;
}

Matrix ComputedBank::diagonal() const {
  if (!symmetric()) throw InternalError("diagonal needs a bank whose rows and columns are the same samples");
  Matrix result(rows(), kernels());
  std::map<std::size_t, Vector> selves;
  for (Index p = 0; p < kernels(); ++p) {
    const auto place = static_cast<std::size_t>(p);
    const KernelTerm& term = terms_[place];
    double* values = result.column(p).data();
    if (factors_[place]) {
      std::fill_n(values, rows(), 1.0);
    } else {
      const auto [self, added] = selves.try_emplace(source_of_[place]);
      if (added) self->second = sources_[source_of_[place]]->row_self();
      evaluate(term, self->second.data(), values, rows());
    }
    for (Index i = 0; i < rows(); ++i) {
      values[i] *= term.scale;
      if (term.normalisation != Normalisation::centre) continue;
      const double mean = term.centre_means[static_cast<std::size_t>(i)];
      values[i] = values[i] - (mean + mean) + term.centre_mean;
    }
  }
  return result;
}

}  // namespace kloom::kernels
