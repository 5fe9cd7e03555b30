// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/raisable.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/clones.h"

namespace kloom::solvers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMany = 6;  // more than a sixth of all samples are many

// min over i of a_i − b_i.
KLOOM_CLONES double least_of_columns(const double* a, const double* b, std::size_t n) {
  double least = kInfinity;
#pragma omp simd reduction(min : least)
  for (std::size_t i = 0; i < n; ++i) least = std::min(least, a[i] - b[i]);
  return least;
}

}  // namespace

void Raisable::renew(std::span<const double> gradient) {
  whole_ = kMany * samples.size() > gradient.size();
  gradients_.assign(whole_ ? gradient.size() : samples.size(), kInfinity);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const auto i = static_cast<std::size_t>(samples[k]);
    gradients_[whole_ ? i : k] = gradient[i];
  }
}

double Raisable::least_difference(std::span<const double> other) const {
  const double* a = gradients_.data();
  const double* b = other.data();
  if (whole_) return least_of_columns(a, b, other.size());
  // Four at a time: the compiler makes one chain of comparisons of a plain loop.
  std::array<double, 4> least{kInfinity, kInfinity, kInfinity, kInfinity};
  std::size_t k = 0;
  for (; k + 4 <= samples.size(); k += 4) {
    for (std::size_t l = 0; l < 4; ++l) {
      const double difference = a[k + l] - b[samples[k + l]];
      least[l] = difference < least[l] ? difference : least[l];
    }
  }
  for (; k < samples.size(); ++k) least[0] = std::min(least[0], a[k] - b[samples[k]]);
  return std::min({least[0], least[1], least[2], least[3]});
}

}  // namespace kloom::solvers
