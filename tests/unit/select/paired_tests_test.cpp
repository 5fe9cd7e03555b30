// SPDX-License-Identifier: BSD-3-Clause
//
// Reference values: SciPy 1.10 (scipy.stats.t.sf, scipy.stats.wilcoxon with mode "exact" and "approx").
// tests/cli/test_validation_oracles.py compares the tables of `kloom compare` with SciPy as a whole.
#include "select/paired_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kloom::select {
namespace {

constexpr double kRounding = 1e-12;
const std::vector<double> kDifferences{-0.351791, 0.125283, 1.963724,  0.959148, -1.341397, 0.294797,
                                       -0.323464, 0.448632, -1.308188, 0.541772, 0.535381,  1.875626};

TEST(PairedTests, CorrectedTTestAgreesWithScipy) {
  const TestResult t = corrected_t_test(kDifferences, 0.25);
  EXPECT_NEAR(t.statistic, 0.47368279975236915, kRounding);
  EXPECT_NEAR(t.p, 0.6449881386553572, kRounding);
  std::vector<double> mirrored;
  for (const double d : kDifferences) mirrored.push_back(-d);
  EXPECT_NEAR(corrected_t_test(mirrored, 0.25).p, t.p, kRounding) << "two-sided";
  EXPECT_LT(corrected_t_test(kDifferences, 0.0).p, t.p) << "the correction makes it more careful";
}

TEST(PairedTests, WilcoxonAgreesWithScipy) {
  const TestResult exact = wilcoxon_test(kDifferences);
  EXPECT_EQ(exact.statistic, 26.0);
  EXPECT_NEAR(exact.p, 0.33935546875, kRounding);
  const TestResult ties = wilcoxon_test(std::vector<double>{1, 1, -2, 3, 0, -1, 2, 2, 5, -3, 4, 4});
  EXPECT_EQ(ties.statistic, 14.5);
  EXPECT_NEAR(ties.p, 0.09832311157940572, kRounding);
}

TEST(PairedTests, NothingToTellApart) {
  const std::vector<double> zeros(6, 0.0);
  EXPECT_EQ(corrected_t_test(zeros, 0.25).p, 1.0);
  EXPECT_EQ(wilcoxon_test(zeros).p, 1.0);
  EXPECT_EQ(corrected_t_test(std::vector<double>{0.3}, 0.25).p, 1.0) << "one difference has no spread";
  EXPECT_EQ(corrected_t_test(std::vector<double>{0.3, 0.3, 0.3}, 0.25).p, 0.0) << "always the same: no doubt";
}

}  // namespace
}  // namespace kloom::select
