// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers of BLAS under a limit on the address space, each time in a process of its own.
#include "algebra/blas_buffers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/memory.h"
#include "kloom/error.h"

namespace kloom::algebra {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 20;

// From here on this process may take so much more.
void leave(std::size_t bytes) {
  const rlimit limit{base::address_space() + bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

int threads_with(std::size_t bytes, int wanted) {
  leave(bytes);
  try {
    return hold_blas_buffers(wanted);
  } catch (const ResourceError&) {
    return 0;
  }
}

// A product that BLAS makes with all its threads, and so with their buffers.
double sum_of_a_product() {
  const Matrix a(300, 300, 1.0);
  Matrix c(300, 300);
  gemm(Op::none, Op::none, 1.0, a.view(), a.view(), 0.0, c.view());
  return c(0, 0) + c(299, 299);
}

class BlasBuffers : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(BlasBuffers, AreTwoForEachThread) {
  // From the second on a thread takes another buffer's worth for its stack and its allocations, and half a one is to spare.
  EXPECT_EXIT(std::exit(threads_with(kBuffer, 4)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(threads_with(2 * kBuffer + kBuffer / 2, 4)), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(std::exit(threads_with(5 * kBuffer + kBuffer / 2, 4)), ::testing::ExitedWithCode(2), "");
  EXPECT_EXIT(std::exit(threads_with(12 * kBuffer, 4)), ::testing::ExitedWithCode(4), "");
}

TEST_F(BlasBuffers, AreThereWhenNothingElseIs) {
  const auto work = [] {
    leave(6 * kBuffer);
    const int threads = hold_blas_buffers(2);
    leave(kBuffer / 2);   // for the matrices
    set_blas_threads(8);  // for which there are no buffers
    std::exit(threads == 2 && blas_threads() == 2 && sum_of_a_product() == 600.0 ? 7 : 8);
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(7), "");
}

TEST_F(BlasBuffers, AreHeldByWhoeverCallsFirst) {
  const auto work = [] {
    leave(kBuffer);
    try {
      (void)sum_of_a_product();
    } catch (const ResourceError&) {
      std::exit(7);
    }
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(7), "");
}

TEST_F(BlasBuffers, ThreadsThatWereAskedForAreNotMadeFewer) {
  const auto work = [](int asked) {
    leave(2 * kBuffer + kBuffer / 2);
    Context context;
    context.threads = asked;
    try {
      const ThreadScope threads(context);
      std::exit(threads.threads());
    } catch (const ResourceError&) {
      std::exit(7);
    }
  };
  EXPECT_EXIT(work(4), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(work(0), ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace kloom::algebra
