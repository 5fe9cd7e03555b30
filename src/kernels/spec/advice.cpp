// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that suit the data where the user named none. docs/guide/columns.md has the same table for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "data/column_finder.h"
#include "data/column_fit.h"
#include "kernels/spec/relevance.h"
#include "kernels/spec/spec.h"
#include "kernels/spec/taught_trees.h"
#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom {
namespace {

using kernels::quoted_name;

// Every kernel costs memory and time that grow with the square of the number of samples.
constexpr Index kManySamples = 2000;
constexpr Index kKernels = 54;
constexpr Index kKernelsOfMany = 24;
// A kernel on each column says which of them matter, where the columns are few and the samples enough.
constexpr Index kFewColumns = 30;
constexpr Index kEnoughSamples = 50;
// Sparse or "many columns" from here on.
constexpr Index kManyColumns = 20;
constexpr Index kHistogramBins = 5;
// Beyond this, ranks cost more than they bring.
constexpr Index kRankedColumns = 500;

enum class BlockKind { dense, counts, histogram, sparse_histogram };

// Columns that are compared together: a view, or the whole table.
struct Block {
  std::string scope;
  BlockKind kind = BlockKind::dense;
  Index numbers = 0;       // columns of numbers that vary
  Index marks = 0;         // 0/1 columns of categories and gaps
  double zeros = 0.0;      // share among the numbers
  bool two_valued = true;  // no number has more than two values
};

struct BlockStatistics {
  Index entries = 0;
  Index zeros = 0;
  bool negative = false;
  double variance = 0.0;  // of the columns, summed
  Vector row_sums;
};

class Adviser {
 public:
  Adviser(const Dataset& raw, const Preprocessing& preprocessing, const std::vector<ColumnDecision>& decisions,
          const Targets* targets, bool spares_teachers)
      : raw_(raw),
        preprocessing_(preprocessing),
        decisions_(decisions),
        targets_(targets),
        spares_teachers_(spares_teachers),
        finder_(raw) {
    budget_ = raw.samples > kManySamples ? kKernelsOfMany : kKernels;
  }

  KernelAdvice advise() {
    given();
    texts();
    if (preprocessing_.views().empty()) {
      table();
    } else {
      views();
    }
    categories();
    if (text_.empty()) refuse();
    return {parse_kernel_spec(text_), std::move(reasons_)};
  }

 private:
  using Families = std::vector<std::pair<std::string, Index>>;  // a family and its number of kernels per scope

  void add(const std::string& family, const std::string& scope, Index kernels) {
    text_ += (text_.empty() ? "" : "; ") + family + (scope.empty() ? "" : " on " + scope);
    budget_ -= kernels;
  }
  void add_all(const Families& families, const std::string& scope, Index scopes) {
    for (const auto& [family, kernels] : families) add(family, scope, kernels * scopes);
  }
  void why(std::string reason) { reasons_.push_back(std::move(reason)); }

  // Whether a kernel can stay as it is: its diagonal is about 1, or it is constant and no scale would help.
  static bool well_sized(const PrecomputedMatrix& kernel) {
    const auto& k = kernel.values;
    const Index n = k.rows();
    if (n == 0 || n != k.cols()) return true;  // refused elsewhere
    double trace = 0.0;
    double sum = 0.0;
    for (Index j = 0; j < n; ++j) {
      trace += k(j, j);
      for (Index i = 0; i < n; ++i) sum += k(i, j);
    }
    const double size = static_cast<double>(n);
    const double mean = trace / size;
    const bool varies = mean - sum / (size * size) > 1e-9 * mean;
    return !varies || !(mean > 0.0) || (mean > 0.1 && mean < 10.0);
  }

  // Given kernels stay as they are unless their diagonals are far from 1, which is what all others have there.
  void given() {
    if (!raw_.kernels.empty()) {
      const bool sized = std::ranges::all_of(raw_.kernels, well_sized);
      add(sized ? "precomputed" : "precomputed(normalise=unit-variance)", "", std::ssize(raw_.kernels));
      why(sized ? "given kernels: as they are"
                : "given kernels: scaled to a variance of 1, because their diagonals are far from 1");
    }
    if (!raw_.distances.empty()) {
      add("expdist(gamma=2^-2..2^2)", "", 5 * std::ssize(raw_.distances));
      why("given distances: five widths");
    }
  }

  void texts() {
    for (const Feature& feature : preprocessing_.text_columns()) {
      const auto decision = std::ranges::find(decisions_, feature, &ColumnDecision::feature);
      const bool sentences = decision != decisions_.end() && decision->kind == ColumnKind::sentences;
      const std::string scope = quoted_name(feature.name);
      if (sentences) {
        add("words", scope, 1);
        add("spectrum(k=3..5, scale=tfidf)", scope, 3);
        why(fmt::format(
            "'{}' holds sentences: words, and substrings for words that are written in several ways",
            feature.name));
      } else {
        add("spectrum(k=3..5)", scope, 3);
        add("spectrum(k=2..4, scale=tfidf)", scope, 3);
        why(fmt::format(
            "'{}' holds sequences: substrings of several lengths, as often as they occur and by how rare they are",
            feature.name));
      }
    }
  }

  [[nodiscard]] Vector values_of(const Preprocessing::Column& column) const {
    const Index j = finder_.numeric(column.feature);
    Vector values;
    if (j >= 0) {
      const auto feature = raw_.features.column(j);
      values.assign(feature.begin(), feature.end());
    } else if (const TextColumn* text = finder_.text(column.feature)) {
      values = data::numbers_in(text->values, column.format);
    }
    for (double& v : values)
      if (std::isnan(v)) v = column.fill;
    return values;
  }

  static double variance_of(const Vector& values) {
    const double n = static_cast<double>(values.size());
    double sum = 0.0;
    for (const double v : values) sum += v;
    double squares = 0.0;
    for (const double v : values) squares += (v - sum / n) * (v - sum / n);
    return squares / n;
  }

  [[nodiscard]] Block measure(std::string scope, const std::vector<Index>& features) const {
    Block block;
    block.scope = std::move(scope);
    BlockStatistics found;
    found.row_sums.assign(static_cast<std::size_t>(raw_.samples), 0.0);
    for (const Index f : features) {
      const auto& column = preprocessing_.columns()[static_cast<std::size_t>(f)];
      if (column.onehot || column.indicator) {
        ++block.marks;
        continue;
      }
      const Vector values = values_of(column);
      if (values.empty()) continue;
      if (column.scale != 0.0) ++block.numbers;
      const double first = values.front();
      double second = first;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i];
        found.zeros += v == 0.0 ? 1 : 0;
        found.negative = found.negative || v < 0.0;
        found.row_sums[i] += v;
        if (v == first || v == second) continue;
        block.two_valued = block.two_valued && second == first;
        second = v;
      }
      found.entries += std::ssize(values);
      found.variance += variance_of(values);
    }
    block.zeros = static_cast<double>(found.zeros) / static_cast<double>(std::max<Index>(1, found.entries));
    block.kind = kind_of(block, found);
    return block;
  }

  static BlockKind kind_of(const Block& block, const BlockStatistics& found) {
    if (found.negative) return BlockKind::dense;
    const bool counts = block.numbers >= kManyColumns && block.zeros >= 0.5;
    double sum = 0.0;
    for (const double s : found.row_sums) sum += s;
    const double mean = sum / static_cast<double>(found.row_sums.size());
    const double variance = variance_of(found.row_sums);
    // Rows of the same sum because columns make up for each other, not because one of them dwarfs the rest.
    const bool histogram = block.numbers >= kHistogramBins && mean > 0.0 &&
                           std::sqrt(variance) <= 0.05 * mean && variance <= 0.25 * found.variance;
    if (counts) return histogram ? BlockKind::sparse_histogram : BlockKind::counts;
    return histogram ? BlockKind::histogram : BlockKind::dense;
  }

  // Families for a block of which about `most` kernels may be made.
  static Families dense(const Block& block, Index most) {
    const bool ranks = block.numbers > 0 && block.numbers <= kRankedColumns && !block.two_valued;
    Families families;
    if (most >= 12) {
      // Few columns: distances near 0 occur, and narrow kernels see structure there.
      const bool narrow = block.numbers + block.marks <= 10;
      families = {{narrow ? "rbf(auto=2^-3..2^1)" : "rbf(auto=2^-2..2^1)", narrow ? 5 : 4},
                  {"laplacian(auto=0.5,1)", 2},
                  {"poly(degree=2..3)", 2},
                  {"linear", 1}};
      if (ranks) families.insert(families.begin() + 1, {"rbf(auto=0.5,1, scale=ranks)", 2});
      if (ranks) families.emplace_back("laplacian(auto=1, scale=ranks)", 1);
    } else if (most >= 5) {
      families = {{"rbf(auto=0.5,1)", 2}, {"laplacian(auto=1)", 1}, {"linear", 1}};
      if (ranks) families.emplace_back("rbf(auto=1, scale=ranks)", 1);
    } else {
      families = {{"rbf(auto=0.5)", 1}};
      if (most >= 2) families.emplace_back("linear", 1);
    }
    return families;
  }

  static Families counts(const Block& block, Index most) {
    Families families = {{"cosine(scale=tfidf)", 1}, {"rbf(auto=0.5, scale=raw)", 1}};
    if (most >= 6)
      families = {{"cosine(scale=raw)", 1},
                  {"cosine(scale=tfidf)", 1},
                  {"linear(scale=raw, normalise=unit-variance)", 1},
                  {"linear(scale=tfidf, normalise=unit-variance)", 1},
                  {"rbf(auto=0.5,1, scale=raw)", 2}};
    if (most >= 12 && block.numbers <= kRankedColumns) {
      families.emplace_back("rbf(auto=0.5,1)", 2);
      families.emplace_back("rbf(auto=0.5,1, scale=ranks)", 2);
      families.emplace_back("laplacian(auto=1, scale=ranks)", 1);
    }
    return families;
  }

  static Families histogram(Index most) {
    if (most < 6) return {{"chi2(auto=1, scale=raw)", 1}};
    return {{"chi2(auto=0.5,1,2, scale=raw)", 3}, {"intersection(scale=raw)", 1}};
  }

  static Families families_of(const Block& block, Index most) {
    const bool sparse = block.kind == BlockKind::counts || block.kind == BlockKind::sparse_histogram;
    const bool bins = block.kind == BlockKind::histogram || block.kind == BlockKind::sparse_histogram;
    Families families = sparse ? counts(block, bins ? most / 2 : most) : dense(block, bins ? most / 2 : most);
    if (bins)
      for (auto& family : histogram(most)) families.push_back(std::move(family));
    return families;
  }

  static std::string reason_of(const Block& block, const std::string& what) {
    switch (block.kind) {
      case BlockKind::counts:
        return fmt::format(
            "{}: {:.0f} % zeros and nothing negative, so counts: kernels on raw and tf-idf values", what,
            100.0 * block.zeros);
      case BlockKind::histogram:
        return fmt::format(
            "{}: nothing negative and rows of about the same sum, so histograms: chi2 and "
            "intersection besides kernels of numbers",
            what);
      case BlockKind::sparse_histogram:
        return fmt::format(
            "{}: {:.0f} % zeros and rows of about the same sum, so histograms of counts: raw, tf-idf, "
            "chi2 and intersection",
            what, 100.0 * block.zeros);
      case BlockKind::dense:
        break;
    }
    if (block.numbers == 0) return fmt::format("{}: 0/1 columns of categories", what);
    return fmt::format("{}: numbers, as they are and as ranks, which skewed columns need", what);
  }

  [[nodiscard]] std::vector<Index> all_columns() const {
    std::vector<Index> all;
    for (std::size_t f = 0; f < preprocessing_.columns().size(); ++f) all.push_back(static_cast<Index>(f));
    return all;
  }

  void table() {
    const Block block = measure("all", all_columns());
    if (block.numbers + block.marks == 0 || !varies()) return;
    taught();
    add_all(families_of(block, budget_), "all", 1);
    why(reason_of(block, "all columns"));
    if (block.numbers > kFewColumns || raw_.samples < kEnoughSamples || block.numbers < 2) {
      if (block.numbers >= 2)
        why(block.numbers > kFewColumns ? "no kernels on single columns: there are more than 30"
                                        : "no kernels on single columns: there are fewer than 50 samples");
      return;
    }
    const Index categories = categorical_columns();
    const Index left = budget_ - (categories > 1 ? categories + 1 : 0);
    const std::vector<std::string> names = varying_numbers();
    if (block.marks > 0 && left >= 2) {
      std::string together;
      for (const std::string& name : names) together += (together.empty() ? "" : " + ") + name;
      add("rbf(auto=0.5,1)", together, 2);
    }
    const Index each = (block.marks > 0 ? left - 2 : left) / block.numbers;
    if (each < 1) return;
    add(each >= 2 ? "rbf(auto=0.25,1)" : "rbf(auto=0.5)",
        block.marks > 0 ? fmt::format("{}", fmt::join(names, ", ")) : "each",
        std::min<Index>(2, each) * block.numbers);
    why("few columns: a kernel on each shows which of them matter");
  }

  // Kernels that learn from the targets, where there are samples enough.
  void taught() {
    std::set<std::pair<std::string, std::string>> sources;
    for (const auto& column : preprocessing_.columns())
      if (column.scale != 0.0) sources.emplace(column.source().name, column.source().view);
    if (targets_ == nullptr) return;
    if (spares_teachers_ && kernels::trees_pay(*targets_, std::ssize(sources))) {
      const std::vector<Index> leaves = kernels::leaves_worth_trying(*targets_);
      const Index folds = kernels::folds_worth_growing(*targets_);
      const std::string grown = folds > 0 ? fmt::format(", folds={}", folds) : "";
      add(fmt::format("trees(leaves={}{})", fmt::join(leaves, ","), grown), "all", std::ssize(leaves));
      why(fmt::format(
          "enough samples: trees {}, for thresholds and for columns that matter together",
          folds > 0 ? "that are judged by samples which did not grow them" : "that half of them grow"));
    }
    if (!kernels::relevance_pays(*targets_, std::ssize(sources))) return;
    add("rbf(width=0.6,1,1.7, scale=relevance)", "all", 3);
    add("laplacian(auto=0.5,1, scale=relevance)", "all", 2);
    why("many samples: kernels that weigh every column by how much the target depends on it");
  }

  [[nodiscard]] bool varies() const {
    return std::ranges::any_of(preprocessing_.columns(),
                               [](const Preprocessing::Column& column) { return column.scale != 0.0; });
  }

  [[nodiscard]] std::vector<std::string> varying_numbers() const {
    std::vector<std::string> names;
    for (const auto& column : preprocessing_.columns())
      if (!column.onehot && !column.indicator && column.scale != 0.0)
        names.push_back(quoted_name(column.feature.name));
    return names;
  }

  [[nodiscard]] Index categorical_columns() const {
    std::set<std::pair<std::string, std::string>> names;
    for (const auto& column : preprocessing_.columns())
      if (column.onehot) names.emplace(column.source().name, column.source().view);
    return std::ssize(names);
  }

  void views() {
    std::vector<Block> blocks;
    for (const View& view : preprocessing_.views()) {
      if (view.features.empty()) continue;
      Block block = measure("view " + quoted_name(view.name), view.features);
      const bool flat = std::ranges::all_of(view.features, [&](Index f) { return preprocessing_.constant(f); });
      if (!flat) blocks.push_back(std::move(block));
    }
    if (blocks.empty()) return;
    constexpr Index for_all = 3;
    const Index each = std::clamp<Index>((budget_ - for_all) / std::ssize(blocks), 1, 12);
    std::vector<bool> done(blocks.size(), false);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (done[b]) continue;
      // Views of the same kind share their families, which keeps the spec short.
      const Families families = families_of(blocks[b], each);
      std::string scope;
      Index count = 0;
      for (std::size_t other = b; other < blocks.size(); ++other) {
        if (families_of(blocks[other], each) != families) continue;
        done[other] = true;
        scope += (scope.empty() ? "" : ", ") + blocks[other].scope;
        ++count;
      }
      add_all(families, scope, count);
      why(reason_of(blocks[b], scope));
    }
    together(blocks);
  }

  // All views side by side, where they are of one kind.
  void together(const std::vector<Block>& blocks) {
    if (blocks.size() < 2) return;
    const auto is = [](BlockKind a) { return [a](const Block& block) { return block.kind == a; }; };
    if (std::ranges::all_of(blocks, is(BlockKind::counts))) {
      add("cosine(scale=tfidf)", "all", 1);
    } else if (std::ranges::none_of(blocks, is(BlockKind::counts)) && budget_ >= 3) {
      add("rbf(auto=0.5,1)", "all", 2);
      add("linear", "all", 1);
    }
  }

  void categories() {
    const Index columns = categorical_columns();
    if (columns == 0) return;
    add("overlap", "all", 1);
    why(fmt::format("{} categorical column{}: in how many of them two samples agree", columns,
                    columns == 1 ? "" : "s"));
    const bool each = columns > 1 && columns <= kFewColumns && columns <= budget_ &&
                      raw_.samples >= kEnoughSamples && preprocessing_.views().empty();
    if (each) add("overlap", "each", columns);
  }

  [[noreturn]] void refuse() const {
    std::vector<std::string> names;
    for (const ColumnDecision& decision : decisions_)
      names.push_back(fmt::format("'{}' ({})", decision.feature.name,
                                  decision.reason.empty() ? decision.treatment : decision.reason));
    if (names.empty()) throw InvalidArgument("the data have neither features, kernels nor distances");
    constexpr std::size_t shown = 8;
    const std::size_t all = names.size();
    names.resize(std::min(all, shown));
    throw InvalidArgument(fmt::format(
        "{}: no column varies over the training samples, so there is nothing to learn from: {}{}. Add "
        "columns that differ between samples.",
        raw_.source.empty() ? "the data" : raw_.source, fmt::join(names, ", "), all > shown ? ", …" : ""));
  }

  const Dataset& raw_;
  const Preprocessing& preprocessing_;
  const std::vector<ColumnDecision>& decisions_;
  const Targets* targets_;
  bool spares_teachers_;
  data::ColumnFinder finder_;
  std::string text_;
  std::vector<std::string> reasons_;
  Index budget_ = kKernels;
};

}  // namespace

KernelAdvice advise_kernels(const Dataset& raw, const Preprocessing& preprocessing,
                            const std::vector<ColumnDecision>& decisions, const Targets* targets,
                            bool spares_teachers) {
  return Adviser(raw, preprocessing, decisions, targets, spares_teachers).advise();
}

KernelSpec default_kernel_spec(const Dataset& train, const Targets* targets, bool spares_teachers) {
  std::vector<ColumnDecision> decisions;
  const Preprocessing preprocessing = Preprocessing::fit(train, {}, &decisions);
  return advise_kernels(train, preprocessing, decisions, targets, spares_teachers).spec;
}

}  // namespace kloom
