// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/machine.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>

#include "algebra/blas.h"

namespace kloom {
namespace {

const char* nothing_set(const char* /*name*/) {
  return nullptr;
}
const char* everything_set(const char* /*name*/) {
  return "x";
}

std::map<std::string, std::string> cure_with(const char* (*get)(const char*)) {
  const auto pairs = machine_cure(get);
  return {pairs.begin(), pairs.end()};
}

double largest_gemm_error() {
  constexpr Index kSize = 257;
  Matrix a(kSize, kSize);
  Matrix b(kSize, kSize);
  Matrix c(kSize, kSize);
  // Small integers: every product and sum is exact, so the naive sum is the answer to the last bit.
  for (Index j = 0; j < kSize; ++j) {
    for (Index i = 0; i < kSize; ++i) {
      a(i, j) = static_cast<double>((7 * i + 3 * j) % 11 - 5);
      b(i, j) = static_cast<double>((5 * i + 2 * j) % 13 - 6);
    }
  }
  algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, a.view(), b.view(), 0.0, c.view());
  double worst = 0.0;
  for (Index j = 0; j < kSize; ++j) {
    for (Index i = 0; i < kSize; ++i) {
      double sum = 0.0;
      for (Index k = 0; k < kSize; ++k) sum += a(i, k) * b(k, j);
      worst = std::max(worst, std::abs(sum - c(i, j)));
    }
  }
  return worst;
}

// What is wrong after a cure in this process, or "".
std::string cure_and_look(const std::string& forced) {
  const MachineInfo before = machine_info(false);
  // A processor that cannot run the forced kernels gets others from OpenBLAS.
  if (before.instruction_set == "avx512" && before.blas_core != forced) return "core was not forced";
  if (forced == "Prescott" && before.instruction_set != "older") {
    if (before.blas_core_suits) return "an unsuitable core was not noticed";
    if (!cure_with(nothing_set).contains("OPENBLAS_CORETYPE")) return "no variable was proposed";
  }
  if (largest_gemm_error() != 0.0) return "wrong product before";
  const int threads = omp_get_max_threads();
  if (!cure_blas_core()) return "the cure did not work";
  if (!machine_info(false).blas_core_suits) return "core afterwards: " + machine_info(false).blas_core;
  if (std::getenv("OPENBLAS_CORETYPE") != forced) return "the caller's variable was not restored";
  if (omp_get_max_threads() != threads) return "the number of threads changed";
  if (largest_gemm_error() != 0.0) return "wrong product afterwards";
  if (cure_with(nothing_set).contains("OPENBLAS_CORETYPE")) return "a variable is still proposed";
  return "";
}

// OpenBLAS reads its variable when it is loaded, so the process to cure must start with it: a "threadsafe"
// death test runs this program anew, in the environment that the test has prepared.
class MachineCure : public ::testing::TestWithParam<const char*> {};

TEST_P(MachineCure, WorksInAProcessThatStartedWithThisCore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("OPENBLAS_CORETYPE", GetParam(), 1);
  EXPECT_EXIT(
      {
        const std::string trouble = cure_and_look(GetParam());
        std::fputs(trouble.c_str(), stderr);
        std::_Exit(trouble.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
  unsetenv("OPENBLAS_CORETYPE");
}

INSTANTIATE_TEST_SUITE_P(Cores, MachineCure, ::testing::Values("Prescott", "SkylakeX"));

TEST(Machine, InfoDescribesThisMachine) {
  const MachineInfo info = machine_info(false);
  EXPECT_FALSE(info.processor.empty());
  EXPECT_TRUE(info.instruction_set == "avx512" || info.instruction_set == "avx2" ||
              info.instruction_set == "older");
  EXPECT_GE(info.cores, 1);
  EXPECT_GE(info.threads, 1);
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_LE(info.memory_free_bytes, info.memory_bytes);
  EXPECT_NE(info.blas.find("OpenBLAS"), std::string::npos);
  EXPECT_FALSE(info.blas_core.empty());
  EXPECT_EQ(info.dgemm_gflops, 0.0);
}

TEST(Machine, MeasuredRatesArePlausible) {
  const MachineInfo info = machine_info(true);
  // From an overloaded old core to a large server; a wrong unit is off by a thousand.
  EXPECT_GT(info.dgemm_gflops_1, 0.05);
  EXPECT_LT(info.dgemm_gflops_1, 1000.0);
  EXPECT_GT(info.dgemm_gflops, 0.02);
  EXPECT_GT(info.bandwidth_gbs, 0.05);
  EXPECT_LT(info.bandwidth_gbs, 5000.0);
}

TEST(Machine, CureRespectsWhatTheUserSet) {
  EXPECT_TRUE(cure_with(everything_set).empty());
  const auto cure = cure_with(nothing_set);
  ASSERT_TRUE(cure.contains("OMP_WAIT_POLICY"));
  EXPECT_EQ(cure.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(cure.contains("OPENBLAS_CORETYPE"), !machine_info(false).blas_core_suits);
}

TEST(Machine, VersionHasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+)"))) << version();
}

}  // namespace
}  // namespace kloom
