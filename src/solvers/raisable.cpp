// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/raisable.h"

#include <algorithm>
#include <array>

#include "base/clones.h"
#include "solvers/curvature.h"

namespace kloom::solvers {
namespace {

constexpr std::size_t kMany = 6;  // more than a sixth of all samples are many

// min over i of a_i − b_i.
KLOOM_CLONES double least_of_columns(const double* a, const double* b, std::size_t n) {
  double least = kInfinity;
#pragma omp simd reduction(min : least)
  for (std::size_t i = 0; i < n; ++i) least = std::min(least, a[i] - b[i]);
  return least;
}

// min over i of s·(a_i − c_i) and of s·(b_i − c_i), s = ±1.
template <int Sign>
[[gnu::always_inline]] inline std::array<double, 2> least_of_three(const double* a, const double* b,
                                                                   const double* c, std::size_t n) {
  double first = kInfinity;
  double second = kInfinity;
#pragma omp simd reduction(min : first, second)
  for (std::size_t i = 0; i < n; ++i) {
    first = std::min(first, Sign * (a[i] - c[i]));
    second = std::min(second, Sign * (b[i] - c[i]));
  }
  return {first, second};
}
KLOOM_CLONES void least_of_two_above(const double* a, const double* b, const double* c, std::size_t n,
                                     std::array<double, 2>& least) {
  least = least_of_three<1>(a, b, c, n);
}
KLOOM_CLONES void least_above_two(const double* a, const double* b, const double* c, std::size_t n,
                                  std::array<double, 2>& least) {
  least = least_of_three<-1>(a, b, c, n);
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

std::array<double, 2> Raisable::least_differences(std::span<const double> a, std::span<const double> b) const {
  std::array<double, 2> least{kInfinity, kInfinity};
  if (whole_) {
    least_above_two(a.data(), b.data(), gradients_.data(), a.size(), least);
    return least;
  }
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const auto i = static_cast<std::size_t>(samples[k]);
    least[0] = std::min(least[0], gradients_[k] - a[i]);
    least[1] = std::min(least[1], gradients_[k] - b[i]);
  }
  return least;
}

std::array<double, 2> Raisable::least_differences(const Raisable& a, const Raisable& b,
                                                  std::span<const double> other) {
  if (!a.whole_ || !b.whole_) return {a.least_difference(other), b.least_difference(other)};
  std::array<double, 2> least{};
  least_of_two_above(a.gradients_.data(), b.gradients_.data(), other.data(), other.size(), least);
  return least;
}

}  // namespace kloom::solvers
