// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mklda/strength_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "solvers/draws.h"

namespace kloom::methods {
namespace {

constexpr Index kFolds = 5;
constexpr Index kFoldsUsed = 3;

// At most `most` samples, at random.
std::vector<Index> some_samples(const ClassLabels& labels, Index most, std::uint64_t seed) {
  const auto n = static_cast<Index>(labels.codes.size());
  std::vector<Index> chosen(at(n));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  if (n <= most) return chosen;
  solvers::Draws draws(seed);
  draws.shuffle(chosen);
  chosen.resize(at(most));
  std::ranges::sort(chosen);
  return chosen;
}

bool is_wrong(const Matrix& scores, Index row, int code) {
  if (scores.cols() == 1) return (scores(row, 0) > 0.0 ? 1 : 0) != code;
  Index best = 0;
  for (Index k = 1; k < scores.cols(); ++k) best = scores(row, k) > scores(row, best) ? k : best;
  return static_cast<int>(best) != code;
}

// wrong[price][held-out sample]
using Wrong = std::vector<Vector>;

struct Fold {
  std::vector<Index> train;
  std::vector<Index> held_out;
};

// One sweep per price; with equal kernel weights all prices share the combination and differ by a factor.
void judge_fold(const Combination& kernel, const ClassLabels& labels, const Fold& fold,
                const StrengthRequest& request, solvers::Draws& draws, Wrong& wrong) {
  const auto n = static_cast<Index>(fold.train.size());
  const auto steps =
      std::max<Index>(1, static_cast<Index>(std::llround(request.epochs * static_cast<double>(n))));
  std::vector<Index> order;
  while (static_cast<Index>(order.size()) < steps) {
    std::vector<Index> pass = fold.train;
    draws.shuffle(pass);
    order.insert(order.end(), pass.begin(), pass.end());
  }
  order.resize(at(steps));
  for (std::size_t c = 0; c < request.prices.size(); ++c) {
    // γ = F/(CN) and weights 1/F: K̄ = C·N times the mean kernel, twice that for two classes in one output.
    const double scale = request.prices[c] * static_cast<double>(n) * (labels.classes == 2 ? 2.0 : 1.0);
    const Vector scales(at(labels.outputs()), scale);
    const SweepResult sweep =
        run_sweep(kernel, labels, static_cast<Index>(labels.codes.size()), {order, scales, true, {}});
    const Matrix scores = sweep_scores(kernel, sweep, scales, fold.held_out);
    for (std::size_t i = 0; i < fold.held_out.size(); ++i) {
      const Index sample = fold.held_out[i];
      wrong[c].push_back(
          is_wrong(scores, static_cast<Index>(i), labels.codes[at(sample)]) ? labels.weight(sample) : 0.0);
    }
  }
}

Wrong judge(const KernelBank& bank, const ClassLabels& labels, const StrengthRequest& request,
            const Context& context) {
  const std::vector<Index> samples = some_samples(labels, request.samples, context.seed);
  std::vector<int> codes;
  codes.reserve(samples.size());
  for (const Index n : samples) codes.push_back(labels.codes[at(n)]);
  const std::vector<Index> folds = data::stratified_folds(codes, kFolds, context.seed);
  const Matrix mean(bank.kernels(), labels.outputs(), 1.0 / static_cast<double>(bank.kernels()));
  const auto kernel = bank.combination(mean.view(), request.memory);
  ProgressMeter meter(context, "choice of C");
  Wrong wrong(request.prices.size());
  solvers::Draws draws(context.seed + 1);
  for (Index f = 0; f < kFoldsUsed; ++f) {
    Fold fold;
    for (std::size_t i = 0; i < samples.size(); ++i)
      (folds[i] == f ? fold.held_out : fold.train).push_back(samples[i]);
    if (fold.held_out.empty() || fold.train.empty()) continue;
    judge_fold(*kernel, labels, fold, request, draws, wrong);
    if (meter.step(f + 1, kFoldsUsed, std::nan(""))) break;
  }
  return wrong;
}

double mean_of(const Vector& values) {
  return values.empty()
             ? 0.0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Standard error of the mean of the differences, sample by sample.
double paired_deviation(const Vector& a, const Vector& b) {
  const auto n = static_cast<double>(a.size());
  if (n < 2.0) return 0.0;
  const double mean = mean_of(a) - mean_of(b);
  double square = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
  return std::sqrt(square / (n - 1.0) / n);
}

double smoothed(const std::vector<Strength>& all, std::size_t c) {
  double sum = 0.5 * all[c].error;
  double weight = 0.5;
  if (c > 0) sum += 0.25 * all[c - 1].error, weight += 0.25;
  if (c + 1 < all.size()) sum += 0.25 * all[c + 1].error, weight += 0.25;
  return sum / weight;
}

void distribute(std::vector<Strength>& strengths, Index sweeps) {
  double total = 0.0;
  for (const Strength& s : strengths) total += s.weight;
  Index given = 0;
  for (Strength& s : strengths) {
    s.weight /= total;
    s.sweeps = static_cast<Index>(std::llround(static_cast<double>(sweeps) * s.weight));
    given += s.sweeps;
  }
  // With very few sweeps all shares may round to 0: the best one takes them.
  if (given == 0) std::ranges::max_element(strengths, {}, &Strength::weight)->sweeps = sweeps;
}

}  // namespace

std::vector<Strength> choose_strengths(const KernelBank& bank, const ClassLabels& labels,
                                       const StrengthRequest& request, const Context& context) {
  StrengthRequest sorted = request;
  std::ranges::sort(sorted.prices);
  if (sorted.prices.empty() || !(sorted.prices.front() > 0.0))
    throw InvalidArgument(fmt::format("option strengths must hold numbers > 0; got {}",
                                      sorted.prices.empty() ? 0.0 : sorted.prices[0]));
  std::vector<Strength> strengths(sorted.prices.size());
  for (std::size_t c = 0; c < strengths.size(); ++c) strengths[c].price = sorted.prices[c];
  if (strengths.size() == 1) {
    strengths[0].weight = 1.0;
    strengths[0].sweeps = request.sweeps;
    return strengths;
  }
  const Wrong wrong = judge(bank, labels, sorted, context);
  for (std::size_t c = 0; c < strengths.size(); ++c) strengths[c].error = mean_of(wrong[c]);
  for (std::size_t c = 0; c < strengths.size(); ++c) strengths[c].smoothed = smoothed(strengths, c);
  const auto best = static_cast<std::size_t>(std::ranges::min_element(strengths, {}, &Strength::smoothed) -
                                             strengths.begin());
  for (std::size_t c = 0; c < strengths.size(); ++c) {
    Strength& s = strengths[c];
    s.deviation = paired_deviation(wrong[c], wrong[best]);
    s.weight = std::exp(-(s.smoothed - strengths[best].smoothed) / std::max(s.deviation, 1e-3));
  }
  distribute(strengths, request.sweeps);
  return strengths;
}

Report::Table strength_table(const std::vector<Strength>& strengths) {
  Report::Table table{
      "choice of C", {"C", "held-out error", "smoothed", "standard error to best", "weight", "sweeps"}, {}};
  for (const Strength& s : strengths)
    table.rows.push_back({s.price, s.error, s.smoothed, s.deviation, s.weight, static_cast<double>(s.sweeps)});
  return table;
}

}  // namespace kloom::methods
