// SPDX-License-Identifier: BSD-3-Clause
//
// Where the iteration of BEMKL starts. The paper's author draws a ~ N(0,1) and G, f = (|N(0,1)| + ν)·sign(y); in
// regression G ~ N(0,1). The expected start takes expectations of these instead, a = 1 from E a² and
// E|z| = √(2/π), and G = y in regression: it needs no seed, and permuted samples give the permuted answer.
//
// Samples without a label start from labels grown along similarity: again and again the one that is most similar
// (by the mean of all kernels) to a sample with a label takes that label. From f = 0 the bias alone would decide
// about all of them.
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "methods/bemkl/bemkl.h"

namespace kloom::methods {
namespace {

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
    bool any = false;
    for (Index c = 0; c < targets.cols(); ++c) any |= targets(i, c) != 0.0;
    if (any) spread(i);
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

}  // namespace

BemklStart bemkl_start(const KernelBank& bank, const BemklProblem& problem, double margin,
                       std::optional<std::uint64_t> seed) {
  const bool gaussian = problem.likelihood == BemklLikelihood::gaussian;
  const bool some_unlabelled =
      !gaussian && std::ranges::any_of(problem.targets.values(), [](double y) { return y == 0.0; });
  const Matrix targets = some_unlabelled ? grown_labels(bank, problem.targets) : problem.targets;
  boost::random::mt19937_64 engine(seed.value_or(0));
  boost::random::normal_distribution<double> normal;
  const auto draw = [&](double expected) { return seed ? normal(engine) : expected; };
  const auto draw_for = [&](double y) {
    return gaussian ? draw(y) : (std::abs(draw(std::sqrt(2.0 / std::numbers::pi))) + margin) * y;
  };
  const Index n = targets.rows();
  const Index outputs = targets.cols();
  BemklStart start{Matrix(n, outputs), Matrix(n * bank.kernels(), outputs), Matrix(n, outputs),
                   Vector(at(outputs)), Vector(at(bank.kernels()), 1.0)};
  for (Index c = 0; c < outputs; ++c) {
    for (double& a : start.a.column(c)) a = draw(1.0);
    for (Index k = 0; k < start.intermediate.rows(); ++k)
      start.intermediate(k, c) = draw_for(targets(k % n, c));
    for (Index i = 0; i < n; ++i) start.f(i, c) = draw_for(targets(i, c));
  }
  return start;
}

}  // namespace kloom::methods
