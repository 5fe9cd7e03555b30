// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/some_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/problems.h"

namespace kloom::methods {
namespace {

using ::testing::ElementsAre;

// Classes of 30, 28 and 2 samples.
TEST(SomeSamples, EveryClassInItsShareAndRareOnesNotAtAll) {
  auto problem = test::binary_problem(60, 2, {0.5, 2.0}, 3);
  Targets targets;
  targets.task = Task::multiclass;
  targets.classes = {"a", "rare", "z"};
  for (int i = 0; i < 60; ++i) targets.codes.push_back(i < 30 ? 0 : i < 32 ? 1 : 2);
  const auto bank = test::bank_of(problem);
  const SomeSamples some = some_samples(*bank, targets, 30, 3, 1);
  EXPECT_THAT(some.targets.classes, ElementsAre("a", "z"));
  EXPECT_EQ(some.targets.task, Task::binary);
  ASSERT_NE(some.bank, nullptr);
  EXPECT_EQ(some.bank->rows(), std::ssize(some.targets.codes));
  EXPECT_EQ(std::ranges::count(some.targets.codes, 0), 15);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(some.targets.codes, 1)), 14.0, 1.0);
  EXPECT_EQ(some.bank->names(), bank->names());

  // All samples, in their order: the same kernels.
  const SomeSamples all = some_samples(*bank, targets, 100, 1, 1);
  EXPECT_EQ(all.targets.codes, targets.codes);
  const Vector equal(static_cast<std::size_t>(bank->kernels()), 1.0);
  EXPECT_EQ(all.bank->combine(equal), bank->combine(equal));
}

TEST(SomeSamples, NoBankWhereOneClassIsLeft) {
  auto problem = test::binary_problem(5, 2, {0.5, 2.0}, 3);
  Targets targets;
  targets.task = Task::multiclass;
  targets.classes = {"a", "b", "c"};
  targets.codes = {0, 0, 0, 1, 2};
  EXPECT_EQ(some_samples(*test::bank_of(problem), targets, 30, 3, 1).bank, nullptr);
}

}  // namespace
}  // namespace kloom::methods
