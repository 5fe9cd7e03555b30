// SPDX-License-Identifier: BSD-3-Clause
//
// Random numbers for samplers: the same on every platform, with a state of four words that can be
// kept and restored.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kloom/matrix.h"

namespace kloom::solvers {

class Draws {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Draws(std::uint64_t seed);
  explicit Draws(const State& state) : state_(state) {}
  [[nodiscard]] const State& state() const { return state_; }

  std::uint64_t word();
  // In (0, 1), never at the ends.
  double uniform();
  // 0 … n − 1, each equally likely.
  Index index(Index n);
  void shuffle(std::span<Index> values);
  double normal(double mean, double deviation);
  double gamma(double shape, double scale);
  // Density sqrt(s/(2πx³)) exp(−s(x − m)²/(2m²x)). m = ∞ is its limit, the Lévy distribution
  // s/z² with z normal.
  double inverse_gaussian(double mean, double shape);

 private:
  State state_;
};

}  // namespace kloom::solvers
