// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/duality_gap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kloom/error.h"

namespace kloom::methods {
namespace {

TEST(DualityGap, IsAShareOfThePrimal) {
  EXPECT_DOUBLE_EQ(relative_gap(4.0, 3.0), 0.25);
  EXPECT_DOUBLE_EQ(relative_gap(-4.0, -5.0), 0.25);
  EXPECT_EQ(relative_gap(0.0, 0.0), 0.0);
  EXPECT_FALSE(std::isfinite(relative_gap(std::numeric_limits<double>::infinity(), 0.0)));
}

// Trouble and convergence are seen without asking; the user is asked in every other iteration.
TEST(DualityGap, ReasonsToEnd) {
  Index asked = 0;
  Signal answer = Signal::go_on;
  Context context;
  context.progress = [&](const Progress& progress) {
    ++asked;
    EXPECT_EQ(progress.steps, 50);
    EXPECT_EQ(progress.objective, 0.2);
    return answer;
  };
  ProgressMeter meter(context, "test");
  const GapTarget target{0.1, 50};
  EXPECT_EQ(reason_to_end(std::nan(""), target, 1, meter), Status::numerical_trouble);
  EXPECT_EQ(reason_to_end(std::numeric_limits<double>::infinity(), target, 1, meter),
            Status::numerical_trouble);
  EXPECT_EQ(reason_to_end(0.1, target, 1, meter), Status::converged);
  EXPECT_EQ(reason_to_end(-1e-17, target, 1, meter), Status::converged);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(reason_to_end(0.2, target, 1, meter), std::nullopt);
  EXPECT_EQ(asked, 1);
  answer = Signal::stop;
  EXPECT_EQ(reason_to_end(0.2, target, 2, meter), Status::stopped);
  answer = Signal::abort;
  EXPECT_THROW(static_cast<void>(reason_to_end(0.2, target, 3, meter)), Interrupted);
}

}  // namespace
}  // namespace kloom::methods
