// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/progress.h"
#include "data/folds.h"
#include "methods/kernel_machine/machine.h"

namespace kloom::methods {
namespace {

constexpr Index kMostSamples = 500;
// Entries of all kernels are held at once; many kernels are compared on fewer samples.
constexpr double kMostEntries = 3e7;

// Samples that the output learns from, at most `most`, every class in its share.
std::vector<Index> chosen_samples(const MarginOutput& output, Index most, std::uint64_t seed) {
  std::vector<Index> chosen;
  std::vector<int> codes;
  for (std::size_t i = 0; i < output.task.y.size(); ++i) {
    if (output.task.box[i] == 0.0) continue;
    chosen.push_back(static_cast<Index>(i));
    codes.push_back(output.task.regression ? 0 : output.task.y[i] > 0.0 ? 1 : 0);
  }
  return data::spread_samples(chosen, codes, most, seed);
}

MachineTask task_of(const MarginTask& task, const std::vector<Index>& samples) {
  MachineTask part;
  part.classes = task.regression ? 0 : 2;
  for (const Index i : samples) {
    part.weights.push_back(task.box[at(i)]);
    if (task.regression) {
      part.numbers.push_back(task.y[at(i)]);
    } else {
      part.labels.push_back(task.y[at(i)] > 0.0 ? 1 : 0);
    }
  }
  return part;
}

}  // namespace

std::vector<Index> promising_kernels(const KernelBank& bank, const MarginOutput& output, Index count,
                                     const Context& context) {
  const Index p = bank.kernels();
  std::vector<Index> order(at(p));
  std::iota(order.begin(), order.end(), Index{0});
  if (p <= count) return order;
  const auto affordable = static_cast<Index>(std::sqrt(kMostEntries / static_cast<double>(p)));
  const std::vector<Index> samples =
      chosen_samples(output, std::min(kMostSamples, std::max<Index>(affordable, 40)), context.seed);
  const auto n = std::ssize(samples);
  const MachineTask task = task_of(output.task, samples);
  Vector entries(at(p * n * n));
  bank.entries(samples, samples, entries.data());
  Vector losses(at(p), std::numeric_limits<double>::infinity());
  ProgressMeter meter(context, "choice of kernels");
  for (Index k = 0; k < p; ++k) {
    Matrix kernel(n, n);
    std::copy_n(entries.begin() + k * n * n, n * n, kernel.values().begin());
    losses[at(k)] = screening_loss(kernel, task);
    if (meter.step(k + 1, p, losses[at(k)])) break;  // the rest is not in play
  }
  std::ranges::stable_sort(order, {}, [&](Index k) { return losses[at(k)]; });
  order.resize(at(count));
  std::ranges::sort(order);
  return order;
}

}  // namespace kloom::methods
