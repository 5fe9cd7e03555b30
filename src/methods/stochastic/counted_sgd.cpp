// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stochastic/counted_sgd.h"

#include <algorithm>

#include "models/scores.h"

namespace kloom::methods {
namespace {

constexpr Index kBlock = 256;

// The state of one sweep.
class Sweep {
 public:
  Sweep(const Combination& kernel, const ClassLabels& labels, Index samples, const SweepPlan& plan)
      : kernel_(kernel),
        labels_(labels),
        plan_(plan),
        share_(plan.average ? static_cast<Index>(plan.order.size()) : 1),
        counts_(samples, labels.outputs()),
        averaged_(plan.average ? samples : 0, labels.outputs()),
        seen_(at(samples)) {}

  SweepResult run() {
    const auto steps = static_cast<Index>(plan_.order.size());
    for (Index start = 0; start < steps; start += kBlock) {
      if (plan_.look && start > 0) plan_.look();
      block(start, std::min(kBlock, steps - start));
    }
    return {plan_.average ? std::move(averaged_) : std::move(counts_), steps, violations_, evaluations_};
  }

 private:
  void block(Index start, Index length) {
    const auto rows = plan_.order.subspan(at(start), at(length));
    const Index outputs = labels_.outputs();
    Matrix scores(length, outputs);
    Matrix counts(static_cast<Index>(support_.size()), outputs);
    for (Index k = 0; k < outputs; ++k) {
      for (std::size_t j = 0; j < support_.size(); ++j)
        counts(static_cast<Index>(j), k) = counts_(support_[j], k);
    }
    kernel_.add_scores(rows, support_, counts.view(), scores.view());
    Matrix entries(length * length, outputs);
    kernel_.add_entries(rows, rows, entries.view());
    evaluations_ += length * (length + static_cast<Index>(support_.size())) * outputs;
    Vector g(at(outputs));
    for (Index i = 0; i < length; ++i) {
      const Index t = start + i + 1;
      for (Index k = 0; k < outputs; ++k) {
        g[at(k)] = t > 1 ? plan_.scales[at(k)] * scores(i, k) / static_cast<double>(t - 1)
                   : plan_.first_scores.empty() ? 0.0
                                                : plan_.first_scores[at(k)];
      }
      const Index n = rows[at(i)];
      const Violation v = find_violation(g, labels_.codes[at(n)], labels_.classes);
      if (!v.happened) continue;
      count(n, t, v, [&](Index k, double step) {
        const double* row = entries.column(k).data() + i * length;
        double* later = scores.column(k).data();
        for (Index j = i + 1; j < length; ++j) later[j] += step * row[j];
      });
    }
  }

  template <typename Spread>
  void count(Index n, Index t, const Violation& v, Spread spread) {
    ++violations_;
    if (!seen_[at(n)]) support_.push_back(n);
    seen_[at(n)] = true;
    apply_violation(v, labels_.classes, labels_.weight(n), [&](Index k, double step) {
      counts_(n, k) += step;
      if (plan_.average) averaged_(n, k) += step * share_(t);
      spread(k, step);
    });
  }

  const Combination& kernel_;
  const ClassLabels& labels_;
  const SweepPlan& plan_;
  SuffixAverage share_;
  Matrix counts_;
  Matrix averaged_;
  std::vector<bool> seen_;
  std::vector<Index> support_;  // in the order of their first violation
  Index violations_ = 0;
  Index evaluations_ = 0;
};

}  // namespace

Violation find_violation(std::span<const double> scores, int code, Index classes) {
  if (classes == 2) {
    const double margin = code == 1 ? scores[0] : -scores[0];
    return {margin < 1.0, code, 1 - code};
  }
  return find_class_violation(scores, code);
}

Violation find_class_violation(std::span<const double> scores, int code) {
  if (scores.size() < 2) return {false, code, code};
  int near = code == 0 ? 1 : 0;
  for (int m = near + 1; m < static_cast<int>(scores.size()); ++m) {
    if (m != code && scores[static_cast<std::size_t>(m)] > scores[static_cast<std::size_t>(near)]) near = m;
  }
  const double loss = 1.0 + scores[static_cast<std::size_t>(near)] - scores[static_cast<std::size_t>(code)];
  return {loss > 0.0, code, near};
}

SuffixAverage::SuffixAverage(Index steps) : first_(steps / 2 + 1) {
  const Index length = steps - first_ + 1;
  tails_.resize(at(length));
  double sum = 0.0;
  for (Index t = steps; t >= first_; --t) {
    sum += 1.0 / static_cast<double>(t);
    tails_[at(t - first_)] = sum * static_cast<double>(steps) / static_cast<double>(length);
  }
}

double SuffixAverage::operator()(Index t) const {
  return tails_[at(std::max<Index>(0, t - first_))];
}

SweepResult run_sweep(const Combination& kernel, const ClassLabels& labels, Index samples,
                      const SweepPlan& plan) {
  return Sweep(kernel, labels, samples, plan).run();
}

Matrix sweep_scores(const Combination& kernel, const SweepResult& sweep, const Vector& scales,
                    std::span<const Index> rows) {
  const std::vector<Index> support = models::used_rows(sweep.counts);
  const Index outputs = sweep.counts.cols();
  Matrix counts(static_cast<Index>(support.size()), outputs);
  for (Index k = 0; k < outputs; ++k) {
    const double scale = scales[at(k)] / static_cast<double>(sweep.steps);
    for (std::size_t j = 0; j < support.size(); ++j)
      counts(static_cast<Index>(j), k) = scale * sweep.counts(support[j], k);
  }
  Matrix scores(static_cast<Index>(rows.size()), outputs);
  kernel.add_scores(rows, support, counts.view(), scores.view());
  return scores;
}

}  // namespace kloom::methods
