// SPDX-License-Identifier: BSD-3-Clause
//
// What the programs that repeat published experiments share: named data sets with their splits, the measures of
// the papers, and means with standard errors.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kloom/dataset.h"
#include "kloom/learner.h"
#include "kloom/recipe.h"

namespace kloom::reproduce {

// Seconds of the processor, of all threads: what else the machine does hardly counts.
class ProcessorClock {
 public:
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double start_ = now();
};

struct Split {
  Dataset train;
  Dataset test;
};

inline Dataset load(const std::string& path) {
  DatasetRequest request;
  request.path = path;
  return load_dataset(request, {});
}

// `train` samples at random, the others for the test; most > 0 keeps at most that many of the others.
inline Split random_split(const Dataset& data, Index train, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(data.samples));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937 engine(seed);
  std::shuffle(order.begin(), order.end(), engine);
  const auto middle = order.begin() + train;
  return {select_samples(data, {order.begin(), middle}), select_samples(data, {middle, order.end()})};
}

struct Measures {
  double accuracy = 0.0, f_score = 0.0, precision = 0.0, recall = 0.0, specificity = 0.0;
  [[nodiscard]] std::vector<double> values() const {
    return {accuracy, f_score, precision, recall, specificity};
  }
};

// In per cent; all but accuracy are means over the classes. A class that is never predicted has precision 0.
inline Measures measure(const std::vector<int>& predicted, const std::vector<int>& truth, std::size_t classes) {
  std::vector<double> hit(classes), called(classes), there(classes);
  double right = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto t = static_cast<std::size_t>(truth[i]);
    const auto p = static_cast<std::size_t>(predicted[i]);
    there[t] += 1.0;
    called[p] += 1.0;
    if (t == p) hit[t] += 1.0, right += 1.0;
  }
  const auto n = static_cast<double>(truth.size());
  Measures m;
  m.accuracy = 100.0 * right / n;
  for (std::size_t c = 0; c < classes; ++c) {
    const double precision = called[c] > 0.0 ? hit[c] / called[c] : 0.0;
    const double recall = there[c] > 0.0 ? hit[c] / there[c] : 0.0;
    const double false_alarm = n > there[c] ? (called[c] - hit[c]) / (n - there[c]) : 0.0;
    const double share = 100.0 / static_cast<double>(classes);
    m.precision += share * precision;
    m.recall += share * recall;
    m.specificity += share * (1.0 - false_alarm);
    if (precision + recall > 0.0) m.f_score += share * 2.0 * precision * recall / (precision + recall);
  }
  return m;
}

struct Mean {
  double mean = 0.0;
  double error = 0.0;  // standard error
};

inline Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Mean result;
  for (const double v : values) result.mean += v / n;
  for (const double v : values) result.error += (v - result.mean) * (v - result.mean);
  result.error = values.size() > 1 ? std::sqrt(result.error / (n - 1.0) / n) : 0.0;
  return result;
}

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;  // standard deviation of the values
};

inline Spread spread_of(const std::vector<double>& values) {
  const Mean m = mean_of(values);
  return {m.mean, m.error * std::sqrt(static_cast<double>(values.size()))};
}

// One number of a table beside the published one: what bench/reproduce/all counts for its first table.
struct Check {
  double ours, published, deviation;
};
inline void check(const std::string& what, const std::string& where, const Check& c) {
  fmt::print("#check {}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\n", what, where, c.ours, c.published, c.deviation);
  std::fflush(stdout);
}

}  // namespace kloom::reproduce
