// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/boosting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kloom::kernels {
namespace {

constexpr Index kBins = 255;
constexpr double kDamping = 1.0;  // added to every H

// A feature, its values put into bins of neighbours.
struct BinnedFeature {
  Vector thresholds;               // between the bins
  std::vector<std::uint8_t> bins;  // per sample
  [[nodiscard]] Index count() const { return std::ssize(thresholds) + 1; }
};

// The last value of every bin but the last: each value is a bin where they are few; else frequent values have one of their
// own (such as the zeros of a column that is mostly 0), and the others share the rest evenly.
Vector last_values(const Vector& sorted) {
  const auto n = std::ssize(sorted);
  std::vector<std::pair<double, Index>> counts;
  for (const double value : sorted) {
    if (counts.empty() || counts.back().first != value) counts.emplace_back(value, 0);
    ++counts.back().second;
  }
  const bool few = std::ssize(counts) <= kBins;
  Index frequent = 0;
  Index rest = n;
  for (const auto& [value, count] : counts) {
    if (few || count * kBins < n) continue;
    ++frequent;
    rest -= count;
  }
  const Index share = few ? 1 : rest / std::max<Index>(1, kBins - 2 * frequent) + 1;
  Vector last;
  Index inside = 0;
  for (std::size_t k = 0; k + 1 < counts.size() && std::ssize(last) < kBins - 1; ++k) {
    inside += counts[k].second;
    const bool before_frequent = !few && counts[k + 1].second * kBins >= n;
    if (inside < share && !before_frequent) continue;
    last.push_back(counts[k].first);
    inside = 0;
  }
  return last;
}

BinnedFeature binned(std::span<const double> column) {
  Vector sorted(column.begin(), column.end());
  std::ranges::sort(sorted);
  BinnedFeature feature;
  for (const double last : last_values(sorted)) {
    const double next = *std::ranges::upper_bound(sorted, last);
    feature.thresholds.push_back(last + 0.5 * (next - last));
  }
  for (const double value : column) {
    const auto bin = std::ranges::lower_bound(feature.thresholds, value) - feature.thresholds.begin();
    feature.bins.push_back(static_cast<std::uint8_t>(bin));
  }
  return feature;
}

struct Question {
  double gain = 0.0;  // 0: none is worth asking
  Index feature = -1;
  Index bin = -1;  // yes: the bin is at most this
};

// A leaf that may be divided.
struct Leaf {
  Index node = 0;
  std::vector<Index> samples;
  Question question;
};

class Booster {
 public:
  Booster(const BoostingProblem& problem, const BoostingSettings& settings)
      : problem_(problem),
        settings_(settings),
        samples_(problem.features.rows()),
        outputs_(problem.classes <= 2 ? 1 : problem.classes),
        scores_(outputs_, samples_),
        slopes_(outputs_, samples_),
        curvatures_(outputs_, samples_) {
    for (Index f = 0; f < problem.features.cols(); ++f) features_.push_back(binned(problem.features.column(f)));
  }

  std::vector<DecisionTree> trees() {
    std::vector<DecisionTree> grown;
    for (Index round = 0; round < affordable(); ++round) {
      differentiate();
      DecisionTree tree = grow();
      const bool divides = tree.features.size() > 1;
      if (divides || grown.empty()) grown.push_back(std::move(tree));
      if (!divides) break;
    }
    return grown;
  }

 private:
  [[nodiscard]] Index affordable() const {
    // Every sample is looked at once per level, and every bin once per node.
    const auto leaves = static_cast<double>(settings_.leaves);
    const double depth = 1.0 + std::log2(leaves);
    double per_tree = 1.0;
    for (const BinnedFeature& feature : features_) {
      const auto bins = static_cast<double>(feature.count());
      per_tree += static_cast<double>(outputs_) * (depth * static_cast<double>(samples_) + 2.0 * leaves * bins);
    }
    const auto most = static_cast<Index>(settings_.operations / per_tree);
    return std::clamp<Index>(most, std::min<Index>(10, settings_.trees), settings_.trees);
  }

  // Slopes and curvatures of the loss at the scores of now.
  void differentiate() {
    for (Index i = 0; i < samples_; ++i) {
      const auto f = scores_.column(i);
      const auto g = slopes_.column(i);
      const auto h = curvatures_.column(i);
      if (problem_.classes == 0) {
        g[0] = f[0] - problem_.numbers[at(i)];
        h[0] = 1.0;
        continue;
      }
      const Vector p = probabilities(f);
      for (std::size_t c = 0; c < p.size(); ++c) {
        const bool yes = problem_.labels[at(i)] == (outputs_ == 1 ? 1 : static_cast<int>(c));
        g[c] = p[c] - (yes ? 1.0 : 0.0);
        h[c] = p[c] * (1.0 - p[c]);
      }
    }
  }

  // Of class 1 where there are two, else of every class.
  [[nodiscard]] Vector probabilities(std::span<const double> f) const {
    if (outputs_ == 1) return {1.0 / (1.0 + std::exp(-f[0]))};
    const double top = *std::ranges::max_element(f);
    Vector p;
    for (const double score : f) p.push_back(std::exp(score - top));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= sum;
    return p;
  }

  DecisionTree grow() {
    DecisionTree tree;
    add_node(tree);
    std::vector<Leaf> leaves(1);
    leaves[0].samples.resize(at(samples_));
    std::iota(leaves[0].samples.begin(), leaves[0].samples.end(), Index{0});
    leaves[0].question = best_question(leaves[0].samples);
    while (std::ssize(leaves) < settings_.leaves) {
      const auto next = std::ranges::max_element(leaves, {}, [](const Leaf& l) { return l.question.gain; });
      if (!(next->question.gain > 0.0)) break;
      divide(tree, leaves, static_cast<std::size_t>(next - leaves.begin()));
    }
    for (const Leaf& leaf : leaves) step(leaf);
    return tree;
  }

  static void add_node(DecisionTree& tree) {
    tree.features.push_back(-1);
    tree.thresholds.push_back(0.0);
    tree.children.push_back(0);
  }

  void divide(DecisionTree& tree, std::vector<Leaf>& leaves, std::size_t which) {
    Leaf parent = std::move(leaves[which]);
    const BinnedFeature& feature = features_[at(parent.question.feature)];
    tree.features[at(parent.node)] = parent.question.feature;
    tree.thresholds[at(parent.node)] = feature.thresholds[at(parent.question.bin)];
    tree.children[at(parent.node)] = std::ssize(tree.features);
    Leaf yes{std::ssize(tree.features), {}, {}};
    Leaf no{yes.node + 1, {}, {}};
    add_node(tree);
    add_node(tree);
    for (const Index i : parent.samples)
      (feature.bins[at(i)] <= parent.question.bin ? yes : no).samples.push_back(i);
    if (std::ssize(leaves) + 1 < settings_.leaves) {
      yes.question = best_question(yes.samples);
      no.question = best_question(no.samples);
    }
    leaves[which] = std::move(yes);
    leaves.push_back(std::move(no));
  }

  // The step of a leaf, in all outputs.
  void step(const Leaf& leaf) {
    for (Index c = 0; c < outputs_; ++c) {
      double g = 0.0;
      double h = kDamping;
      for (const Index i : leaf.samples) {
        g += slopes_(c, i);
        h += curvatures_(c, i);
      }
      for (const Index i : leaf.samples) scores_(c, i) -= settings_.rate * g / h;
    }
  }

  // Every feature is looked at by one thread, and equal gains are settled by the order of the features: the same tree for
  // any number of threads.
  [[nodiscard]] Question best_question(const std::vector<Index>& samples) const {
    if (std::ssize(samples) < 2 * settings_.least) return {};
    const auto count = std::ssize(features_);
    std::vector<Question> best(features_.size());
#pragma omp parallel for schedule(dynamic) if (std::ssize(samples) * count * outputs_ > 20000)
    for (Index f = 0; f < count; ++f) best[at(f)] = best_of_feature(f, samples);
    Question found;
    for (const Question& one : best)
      if (one.gain > found.gain) found = one;
    return found;
  }

  // Sums over the samples of a node, by the bin of a feature.
  struct Sums {
    std::array<Index, kBins> counts{};
    Vector slopes, curvatures;  // bins × outputs, outputs together
  };

  [[nodiscard]] Sums sums_of(const BinnedFeature& feature, const std::vector<Index>& samples) const {
    const auto size = at(feature.count() * outputs_);
    Sums sums{{}, Vector(size), Vector(size)};
    for (const Index i : samples) {
      const Index bin = feature.bins[at(i)];
      ++sums.counts[at(bin)];
      const double* g = slopes_.column(i).data();
      const double* h = curvatures_.column(i).data();
      double* to_slopes = sums.slopes.data() + bin * outputs_;
      double* to_curvatures = sums.curvatures.data() + bin * outputs_;
      for (Index c = 0; c < outputs_; ++c) {
        to_slopes[c] += g[c];
        to_curvatures[c] += h[c];
      }
    }
    return sums;
  }

  [[nodiscard]] Question best_of_feature(Index f, const std::vector<Index>& samples) const {
    constexpr double kLeastGain = 1e-7;  // of a sample, about: rounding is no reason for a question
    const BinnedFeature& feature = features_[at(f)];
    if (feature.thresholds.empty()) return {};
    const Sums sums = sums_of(feature, samples);
    Vector g_all(at(outputs_));
    Vector h_all(at(outputs_), kDamping);
    for (Index k = 0; k < feature.count() * outputs_; ++k) {
      g_all[at(k % outputs_)] += sums.slopes[at(k)];
      h_all[at(k % outputs_)] += sums.curvatures[at(k)];
    }
    double before = kLeastGain * static_cast<double>(samples.size());
    for (Index c = 0; c < outputs_; ++c) before += g_all[at(c)] * g_all[at(c)] / h_all[at(c)];
    Question found;
    Vector g(at(outputs_));
    Vector h(at(outputs_), kDamping);
    Index yes = 0;
    for (Index bin = 0; bin < std::ssize(feature.thresholds); ++bin) {
      yes += sums.counts[at(bin)];
      double after = 0.0;
      for (Index c = 0; c < outputs_; ++c) {
        g[at(c)] += sums.slopes[at(bin * outputs_ + c)];
        h[at(c)] += sums.curvatures[at(bin * outputs_ + c)];
        const double rest = g_all[at(c)] - g[at(c)];
        after += g[at(c)] * g[at(c)] / h[at(c)] + rest * rest / (h_all[at(c)] - h[at(c)] + kDamping);
      }
      const bool allowed = yes >= settings_.least && std::ssize(samples) - yes >= settings_.least;
      if (allowed && after - before > found.gain) found = {after - before, f, bin};
    }
    return found;
  }

  const BoostingProblem& problem_;
  const BoostingSettings& settings_;
  Index samples_;
  Index outputs_;
  std::vector<BinnedFeature> features_;
  Matrix scores_, slopes_, curvatures_;  // outputs × samples
};

}  // namespace

std::vector<DecisionTree> boosted_trees(const BoostingProblem& problem, const BoostingSettings& settings) {
  return Booster(problem, settings).trees();
}

}  // namespace kloom::kernels
