// SPDX-License-Identifier: BSD-3-Clause
//
// The small pieces of the descent. Whole sweeps are compared with a transcription in tests/unit/methods/mklda.
#include "methods/stochastic/counted_sgd.h"

#include <gtest/gtest.h>

#include <vector>

namespace kloom::methods {
namespace {

TEST(CountedSgd, AViolationIsAMarginBelowOne) {
  const auto violated = [](const Vector& scores, int code, Index classes) {
    return find_violation(scores, code, classes);
  };
  // Two classes, one score: that of class 1 less that of class 0.
  EXPECT_TRUE(violated({0.99}, 1, 2).happened);
  EXPECT_FALSE(violated({1.0}, 1, 2).happened);
  EXPECT_FALSE(violated({-1.0}, 0, 2).happened);
  EXPECT_EQ(violated({0.5}, 0, 2).near, 1);
  // Several classes: against the highest of the others, the first where two are equal.
  EXPECT_FALSE(violated({2.0, 1.0, 0.5}, 0, 3).happened);
  const Violation close = violated({2.0, 1.0, 1.5}, 0, 3);
  EXPECT_TRUE(close.happened);
  EXPECT_EQ(close.truth, 0);
  EXPECT_EQ(close.near, 2);
  EXPECT_EQ(violated({0.0, 0.0, 0.0}, 1, 3).near, 0);
  EXPECT_FALSE(find_class_violation(Vector{-7.0}, 0).happened) << "a class alone";
}

TEST(CountedSgd, AViolationRaisesItsOwnClassAndLowersTheOther) {
  const auto moved = [](const Violation& v, Index classes) {
    Vector steps(classes == 2 ? 1 : at(classes));
    apply_violation(v, classes, 2.5, [&](Index k, double step) { steps[at(k)] += step; });
    return steps;
  };
  EXPECT_EQ(moved({true, 1, 0}, 2), (Vector{2.5}));
  EXPECT_EQ(moved({true, 0, 1}, 2), (Vector{-2.5}));
  EXPECT_EQ(moved({true, 2, 0}, 3), (Vector{-2.5, 0.0, 2.5}));
}

// A violation at step t is in every iterate from t on, in iterate s as 1/s of its count; the units are 1/T.
TEST(CountedSgd, SuffixAverageIsItsDefinition) {
  for (const Index steps : {1, 2, 3, 10, 101}) {
    const SuffixAverage share(steps);
    const Index first = steps / 2 + 1;
    for (Index t = 1; t <= steps; ++t) {
      double sum = 0.0;
      for (Index s = std::max(t, first); s <= steps; ++s) sum += 1.0 / static_cast<double>(s);
      const double expected = sum * static_cast<double>(steps) / static_cast<double>(steps - first + 1);
      EXPECT_NEAR(share(t), expected, 1e-13 * expected) << t << " of " << steps;
    }
  }
}

}  // namespace
}  // namespace kloom::methods
