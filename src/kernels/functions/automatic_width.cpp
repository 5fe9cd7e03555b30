// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/automatic_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace kloom::kernels {
namespace {

constexpr Index kMostSamples = 1000;

// The first `count` of a shuffled 0…n-1, in ascending order; the same on every platform.
std::vector<Index> draw(Index n, Index count, std::uint64_t seed) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  std::mt19937_64 random(seed);
  for (Index i = 0; i < count; ++i) {
    // std::uniform_int_distribution differs between libraries; the bias of the remainder does not matter here.
    const auto other = i + static_cast<Index>(random() % static_cast<std::uint64_t>(n - i));
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)]);
  }
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

double six_digits(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Vector pair_distances(PairSum sum, const PackedSamples& samples) {
  const Index n = samples.samples();
  Vector distances;
  distances.reserve(static_cast<std::size_t>(n * (n - 1) / 2));
  Vector row(static_cast<std::size_t>(samples.padded()));
  for (Index i = 0; i < n; ++i) {
    pair_sums(sum, {&samples, {i, i + 1}, &samples, {0, n}, row.data(), samples.padded()});
    distances.insert(distances.end(), row.begin() + i + 1, row.begin() + n);
  }
  return distances;
}

}  // namespace

DistanceQuantiles::DistanceQuantiles(const Dataset& train, std::uint64_t seed) {
  const std::vector<Index> chosen = draw(train.samples, std::min(train.samples, kMostSamples), seed);
  samples_ = Matrix(static_cast<Index>(chosen.size()), train.features.cols());
  for (Index f = 0; f < samples_.cols(); ++f)
    for (Index i = 0; i < samples_.rows(); ++i)
      samples_(i, f) = train.features(chosen[static_cast<std::size_t>(i)], f);
}

std::vector<double> DistanceQuantiles::operator()(PairSum sum, const std::vector<Index>& features,
                                                  Index count) const {
  Vector distances = pair_distances(sum, PackedSamples(samples_.view(), features));
  std::vector<double> result;
  // Where more than half of the pairs agree (a 0/1 column, rare events), the distances of those that do not are
  // what a width has to match.
  const auto zeros = std::ranges::count(distances, 0.0);
  if (2 * zeros > std::ssize(distances)) std::erase(distances, 0.0);
  if (distances.empty()) return result;
  auto from = distances.begin();
  for (Index k = 0; k < count; ++k) {
    const double level = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    const auto place =
        std::min(distances.size() - 1, static_cast<std::size_t>(level * static_cast<double>(distances.size())));
    const auto at = distances.begin() + static_cast<Index>(place);
    std::nth_element(from, at, distances.end());  // what lies before `from` is smaller already
    from = at;
    const double value = six_digits(sum == PairSum::squared ? std::sqrt(*at) : *at);
    if (value > 0.0 && std::isfinite(value) && (result.empty() || value > result.back()))
      result.push_back(value);
  }
  return result;
}

}  // namespace kloom::kernels
