// SPDX-License-Identifier: BSD-3-Clause
#include "data/folds.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kloom::data {
namespace {

std::vector<int> codes_of(Index n, int every) {
  std::vector<int> codes;
  for (Index i = 0; i < n; ++i) codes.push_back(i % every == 0 ? 1 : 0);
  return codes;
}

TEST(Folds, EveryClassIsInEveryFold) {
  const std::vector<int> codes = codes_of(100, 5);
  const std::vector<Index> folds = stratified_folds(codes, 4, 1);
  for (Index fold = 0; fold < 4; ++fold) {
    Index rare = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) rare += folds[i] == fold ? codes[i] : 0;
    EXPECT_EQ(rare, 5);
  }
}

// Of 400 and of 4,000 samples: few enough for a fold each, and too many.
TEST(Folds, SomeSamplesHoldEveryClassInItsShare) {
  for (const Index n : {400, 4000}) {
    const std::vector<int> codes = codes_of(n, 4);
    const std::vector<Index> chosen = spread_samples(codes, 100, 3);
    ASSERT_EQ(chosen.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    const auto rare =
        std::ranges::count_if(chosen, [&](Index i) { return codes[static_cast<std::size_t>(i)] == 1; });
    EXPECT_NEAR(static_cast<double>(rare), 25.0, 1.0);
    EXPECT_EQ(chosen, spread_samples(codes, 100, 3));
    EXPECT_NE(chosen, spread_samples(codes, 100, 4));
  }
  EXPECT_EQ(spread_samples(codes_of(7, 2), 100, 1).size(), 7U);
}

}  // namespace
}  // namespace kloom::data
