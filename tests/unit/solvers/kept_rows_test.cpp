// SPDX-License-Identifier: BSD-3-Clause
//
// Rows that are kept: each computed once, when asked for, and anew after a reset.
#include "solvers/kept_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace kloom {
namespace {

TEST(KeptRows, AreComputedOnceUntilReset) {
  std::vector<Index> asked;
  double offset = 0.0;
  const auto compute = [&](Index i, double* out) {
    asked.push_back(i);
    for (Index j = 0; j < 4; ++j) out[j] = offset + static_cast<double>(10 * i + j);
  };
  solvers::KeptRows rows(4);
  rows.reset({1.0, 2.0, 3.0, 4.0}, compute);
  EXPECT_TRUE(asked.empty());
  const double* second = rows.row(2);
  EXPECT_EQ(rows.row(0)[3], 3.0);
  EXPECT_EQ(rows.row(2), second);
  EXPECT_EQ(second[1], 21.0);
  EXPECT_EQ(asked, (std::vector<Index>{2, 0}));
  EXPECT_EQ(rows.diagonal(3), 4.0);
  EXPECT_EQ(rows.size(), 4);
  offset = 100.0;
  rows.reset({5.0, 6.0, 7.0, 8.0}, compute);
  EXPECT_EQ(rows.row(2)[1], 121.0);
  EXPECT_EQ(rows.diagonal(0), 5.0);
  EXPECT_EQ(asked, (std::vector<Index>{2, 0, 2}));
}

}  // namespace
}  // namespace kloom
