// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kloom/error.h"

namespace kloom {
namespace {

struct Heard {
  std::vector<std::pair<Index, Index>> steps;
  std::string stage;
  Signal answer = Signal::go_on;
  Context context;

  Heard() {
    context.progress = [this](const Progress& progress) {
      steps.emplace_back(progress.step, progress.steps);
      stage = progress.stage;
      EXPECT_TRUE(std::isnan(progress.objective));
      return answer;
    };
  }
};

TEST(WholeProgress, SaysTheWholeWheneverAPartSaysAnything) {
  Heard heard;
  WholeProgress whole(heard.context, "all of it", 2);
  ProgressMeter part(whole.part(), "a part");
  EXPECT_FALSE(part.step(7, 500, 0.25));
  EXPECT_FALSE(whole.done());
  EXPECT_FALSE(part.step(1, 500, 0.5));
  EXPECT_FALSE(whole.done());
  EXPECT_EQ(heard.stage, "all of it");
  EXPECT_EQ(heard.steps, (std::vector<std::pair<Index, Index>>{{0, 2}, {1, 2}, {1, 2}, {2, 2}}));
}

TEST(WholeProgress, StopsEveryPartOnceStopped) {
  Heard heard;
  WholeProgress whole(heard.context, "all of it", 3);
  EXPECT_FALSE(whole.stopped());
  heard.answer = Signal::stop;
  EXPECT_TRUE(ProgressMeter(whole.part(), "a part").step(1, 2, 0.0));
  heard.answer = Signal::go_on;
  EXPECT_TRUE(ProgressMeter(whole.part(), "the next").step(1, 2, 0.0)) << "a half stopped whole";
  EXPECT_TRUE(whole.done());
  EXPECT_TRUE(whole.stopped());
}

TEST(WholeProgress, AbortsThroughAPart) {
  Heard heard;
  heard.answer = Signal::abort;
  WholeProgress whole(heard.context, "all of it", 3);
  EXPECT_THROW((void)ProgressMeter(whole.part(), "a part").step(1, 2, 0.0), Interrupted);
}

TEST(WholeProgress, NobodyListens) {
  const Context silence;
  WholeProgress whole(silence, "all of it", 1);
  EXPECT_FALSE(ProgressMeter(whole.part(), "a part").step(1, 2, 0.0));
  EXPECT_FALSE(whole.done());
}

}  // namespace
}  // namespace kloom
