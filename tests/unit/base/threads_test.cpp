// SPDX-License-Identifier: BSD-3-Clause
#include "base/threads.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "kloom/error.h"

namespace kloom::base {
namespace {

TEST(Threads, ZeroMeansTheCoresOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(resolve_threads(Context()), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(resolve_threads(Context()), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(Threads, GivenNumbersAreTakenAndNegativeOnesRefused) {
  Context context;
  context.threads = 3;
  EXPECT_EQ(resolve_threads(context), 3);
  context.threads = -1;
  EXPECT_THROW((void)resolve_threads(context), InvalidArgument);
  context.threads = Context::most_threads;
  EXPECT_EQ(resolve_threads(context), Context::most_threads);
  context.threads = 100000;
  EXPECT_THROW((void)resolve_threads(context), InvalidArgument);
}

TEST(Threads, ScopeSetsAndRestores) {
  const int before = omp_get_max_threads();
  Context context;
  context.threads = 3;
  {
    const algebra::ThreadScope outer(context);
    EXPECT_EQ(omp_get_max_threads(), 3);
    context.threads = 1;
    {
      const algebra::ThreadScope inner(context);
      EXPECT_EQ(omp_get_max_threads(), 1);
    }
    EXPECT_EQ(omp_get_max_threads(), 3);
    std::atomic<int> team{0};
#pragma omp parallel
    ++team;
    EXPECT_EQ(team, 3);
  }
  EXPECT_EQ(omp_get_max_threads(), before);
}

// libgomp's threads are gone in a forked child; without the detection the child would wait for them and the
// alarm would end it.
TEST(Threads, AForkedChildComputesWithOneThread) {
  Context context;
  context.threads = 2;
  const Matrix a(300, 300, 1.0);
  Matrix c(300, 300);
  const auto multiply = [&] {
    const algebra::ThreadScope scope(context);
    std::atomic<int> team{0};
#pragma omp parallel
    ++team;
    algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, a.view(), a.view(), 0.0, c.view());
    return static_cast<int>(team);
  };
  ASSERT_EQ(multiply(), 2);
  ASSERT_FALSE(forked_child());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    const bool right = multiply() == 1 && forked_child() && c(299, 299) == 300.0;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "the child hung";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kloom::base
