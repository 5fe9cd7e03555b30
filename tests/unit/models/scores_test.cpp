// SPDX-License-Identifier: BSD-3-Clause
#include "models/scores.h"

#include <gtest/gtest.h>

#include <vector>

namespace kloom::models {
namespace {

TEST(Scores, UsedRowsAreThoseWithANumber) {
  Matrix coefficients(4, 2);
  coefficients(1, 1) = -1.0;
  coefficients(3, 0) = 2.0;
  EXPECT_EQ(used_rows(coefficients), (std::vector<Index>{1, 3}));
}

}  // namespace
}  // namespace kloom::models
