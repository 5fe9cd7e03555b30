// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/sample_store.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "kernels/functions/functions.h"
#include "kloom/error.h"

namespace kloom::kernels {

SampleStore::SampleStore(const std::vector<KernelTerm>& terms, Index features)
    : kernels_(static_cast<Index>(terms.size())), samples_(0, features) {
  std::map<std::pair<int, std::vector<Index>>, std::vector<Index>> groups;
  for (std::size_t p = 0; p < terms.size(); ++p) {
    const KernelTerm& term = terms[p];
    const bool exponential = term.function == KernelFunction::rbf || term.function == KernelFunction::laplacian;
    if (!exponential || term.normalisation == Normalisation::centre) {
      throw InvalidArgument(fmt::format(
          "kernel '{}' cannot learn from a stream; rbf and laplacian kernels without centring can", term.name));
    }
    groups[{static_cast<int>(pair_sum_of(term.function)), term.features}].push_back(static_cast<Index>(p));
    self_.push_back(term.scale);
  }
  parts_.reserve(groups.size());  // families point into it
  for (const auto& [key, members] : groups) {
    parts_.push_back({key.second, PackedSamples(0, static_cast<Index>(key.second.size()))});
    std::vector<double> rates;
    std::vector<double> scales;
    for (const Index p : members) {
      rates.push_back(terms[static_cast<std::size_t>(p)].parameter);
      scales.push_back(terms[static_cast<std::size_t>(p)].scale);
    }
    const auto sum = static_cast<PairSum>(key.first);
    const PackedSamples* samples = &parts_.back().samples;
    families_.push_back(
        {ExponentialTable(std::move(rates)), std::move(scales), members,
         [sum, samples](std::span<const Index> rows, std::span<const Index> cols, double* out, Index stride) {
           const PackedSamples a(*samples, rows);
           const PackedSamples b(*samples, cols);
           pair_sums(sum, {&a, {0, a.samples()}, &b, {0, b.samples()}, out, stride});
         }});
  }
}

void SampleStore::append(std::span<const double> sample) {
  samples_.append(sample);
  Vector features;
  for (Part& part : parts_) {
    features.clear();
    for (const Index d : part.features) features.push_back(sample[static_cast<std::size_t>(d)]);
    part.samples.append(features);
  }
}

void SampleStore::keep(std::span<const Index> chosen) {
  samples_ = PackedSamples(samples_, chosen);
  for (Part& part : parts_) part.samples = PackedSamples(part.samples, chosen);
}

}  // namespace kloom::kernels
