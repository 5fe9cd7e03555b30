// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/start.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace kloom::methods {
namespace {

// Has any output a label for sample i?
bool has_label(const Matrix& targets, Index i) {
  bool any = false;
  for (Index c = 0; c < targets.cols(); ++c) any |= targets(i, c) != 0.0;
  return any;
}

Matrix grown_labels(const KernelBank& bank, Matrix targets) {
  const Index n = bank.rows();
  const Matrix similarity = bank.combine(Vector(at(bank.kernels()), 1.0 / static_cast<double>(bank.kernels())));
  std::vector<bool> labelled(at(n));
  Vector closest(at(n), -std::numeric_limits<double>::infinity());
  std::vector<Index> from(at(n), -1);
  const auto spread = [&](Index source) {
    labelled[at(source)] = true;
    for (Index i = 0; i < n; ++i) {
      if (similarity(i, source) <= closest[at(i)]) continue;
      closest[at(i)] = similarity(i, source);
      from[at(i)] = source;
    }
  };
  for (Index i = 0; i < n; ++i) {
    if (has_label(targets, i)) spread(i);
  }
  for (;;) {
    Index next = -1;
    for (Index i = 0; i < n; ++i) {
      if (!labelled[at(i)] && from[at(i)] >= 0 && (next < 0 || closest[at(i)] > closest[at(next)])) next = i;
    }
    if (next < 0) return targets;
    for (Index c = 0; c < targets.cols(); ++c) targets(next, c) = targets(from[at(next)], c);
    spread(next);
  }
}

// `normal` draws z, for a and for G in regression, and `half_normal` |z|.
template <typename Draw, typename DrawHalf>
BemklStart start_from(const KernelBank& bank, const BemklProblem& problem, double margin, Draw&& normal,
                      DrawHalf&& half_normal) {
  const bool gaussian = problem.likelihood == BemklLikelihood::gaussian;
  const bool some_unlabelled =
      !gaussian && std::ranges::any_of(problem.targets.values(), [](double y) { return y == 0.0; });
  const Matrix targets = some_unlabelled ? grown_labels(bank, problem.targets) : problem.targets;
  const Index n = targets.rows();
  const Index outputs = targets.cols();
  BemklStart start{Matrix(n, outputs), Matrix(n * bank.kernels(), outputs), Matrix(n, outputs),
                   Vector(at(outputs)), Vector(at(bank.kernels()), 1.0)};
  const auto draw = [&](double y) { return gaussian ? normal(y) : (half_normal() + margin) * y; };
  for (Index c = 0; c < outputs; ++c) {
    for (double& a : start.a.column(c)) a = normal(1.0);
    for (Index k = 0; k < start.intermediate.rows(); ++k) start.intermediate(k, c) = draw(targets(k % n, c));
    for (Index i = 0; i < n; ++i) start.f(i, c) = draw(targets(i, c));
  }
  return start;
}

}  // namespace

BemklStart expected_start(const KernelBank& bank, const BemklProblem& problem, double margin) {
  return start_from(
      bank, problem, margin, [](double expected) { return expected; },
      [] { return std::sqrt(2.0 / std::numbers::pi); });
}

BemklStart random_start(const KernelBank& bank, const BemklProblem& problem, double margin,
                        std::uint64_t seed) {
  boost::random::mt19937_64 engine(seed);
  boost::random::normal_distribution<double> normal;
  return start_from(
      bank, problem, margin, [&](double) { return normal(engine); }, [&] { return std::abs(normal(engine)); });
}

}  // namespace kloom::methods
