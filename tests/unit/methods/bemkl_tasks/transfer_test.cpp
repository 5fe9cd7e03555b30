// SPDX-License-Identifier: BSD-3-Clause
//
// What sharing kernel weights does for new samples (the table in docs/methods/bemkl-tasks.md), on made-up tasks of which every other one is of numbers and the rest of
// classes: related tasks gain, unrelated ones lose nothing. Over seeds, paired, with standard errors.
#include <gtest/gtest.h>

#include <iostream>

#include "unit/methods/bemkl_tasks/made_up_tasks.h"

namespace kloom {
namespace {

using namespace test;

struct Comparison {
  MeanAndError separate;  // error of fits of each task by itself
  MeanAndError gain;      // by how much it is less with the weights of `across`
  int shared = 0;         // seeds in which all tasks got the same weights
};

Comparison compared(const MadeUp& made, const std::string& across, unsigned seeds) {
  Comparison result;
  std::vector<double> separate, gain;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const MadeUpTasks data = made_up_tasks(made, seed);
    const auto fitted = [&](const std::string& how) {
      return train_tasks(data.train, {{"weights_across", how}, {"calibration", "none"}}, {}).models;
    };
    const TaskModels models = fitted(across);
    separate.push_back(mean_error(data, fitted("separate")));
    gain.push_back(separate.back() - mean_error(data, models));
    result.shared += models.shared ? 1 : 0;
  }
  result.separate = summary_of(separate);
  result.gain = summary_of(gain);
  std::cout << (made.related ? "related" : "unrelated") << ", " << made.samples << " samples each, " << across
            << ": error apart " << result.separate.mean << ", gain " << result.gain.mean << " +- "
            << result.gain.standard_error << ", shared in " << result.shared << " of " << seeds << "\n";
  return result;
}

// Sharing must gain more than two standard errors: a mean of no gain is that far off in one of forty.
// With many samples kernel weights are known without the other tasks; with few they are not.
TEST(BemklTasks, RelatedTasksGain) {
  for (const Index samples : {20, 40}) {
    MadeUp made;
    made.samples = samples;
    const Comparison shared = compared(made, "shared", 10);
    EXPECT_GT(shared.gain.mean, 2.0 * shared.gain.standard_error);
    const Comparison chosen = compared(made, "auto", 10);
    EXPECT_GT(chosen.gain.mean, 2.0 * chosen.gain.standard_error);
    EXPECT_GE(chosen.shared, 5);
  }
}

TEST(BemklTasks, UnrelatedTasksLoseNothing) {
  for (const Index samples : {20, 40, 80}) {
    MadeUp made;
    made.related = false;
    made.samples = samples;
    const unsigned seeds = samples == 20 ? 30 : 10;
    const Comparison chosen = compared(made, "auto", seeds);
    EXPECT_GE(chosen.gain.mean, -2.0 * chosen.gain.standard_error);
    EXPECT_GE(chosen.gain.mean, -0.01);
    EXPECT_LE(10 * chosen.shared, static_cast<int>(seeds));
  }
}

}  // namespace
}  // namespace kloom
