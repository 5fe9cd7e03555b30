// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/draws.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace kloom::solvers {

// Words of a counter stirred twice (splitmix64), so that neighbouring seeds give unrelated states.
Draws::Draws(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31);
  }
}

// xoshiro256++.
std::uint64_t Draws::word() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Draws::uniform() {
  return (static_cast<double>(word() >> 12) + 0.5) * 0x1p-52;
}

Index Draws::index(Index n) {
  // Words beyond the largest multiple of n would favour small values.
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;
  std::uint64_t value = word();
  while (value > limit) value = word();
  return static_cast<Index>(value % range);
}

void Draws::shuffle(std::span<Index> values) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(index(static_cast<Index>(i)))]);
}

double Draws::normal(double mean, double deviation) {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return mean + deviation * radius * std::cos(2.0 * std::numbers::pi * uniform());
}

// Marsaglia and Tsang: a cubed normal, accepted with high probability.
double Draws::gamma(double shape, double scale) {
  if (shape < 1.0) {
    const double lift = std::pow(uniform(), 1.0 / shape);
    return lift * gamma(shape + 1.0, scale);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal(0.0, 1.0);
    const double v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
    if (v <= 0.0) continue;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return scale * d * v;
  }
}

// Michael, Schucany and Haas: s(x − m)²/(m²x) is χ² with one degree of freedom; of its two roots, whose product
// is m², the smaller one is taken with probability m/(m + x). Written so that it does not cancel for large m.
double Draws::inverse_gaussian(double mean, double shape) {
  const double z = normal(0.0, 1.0);
  const double u = uniform();
  const double y = z * z / shape;
  const double r = 0.5 * mean * y;
  const double spread = 1.0 + r + std::sqrt(r * (r + 2.0));
  if (!std::isfinite(spread)) return 1.0 / y;
  const double small = mean / spread;
  return u * (mean + small) <= mean ? small : mean * spread;
}

}  // namespace kloom::solvers
