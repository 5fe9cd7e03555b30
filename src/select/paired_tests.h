// SPDX-License-Identifier: BSD-3-Clause
//
// Is one method better than another on the same splits? Two answers, both two-sided.
#pragma once

#include <span>

namespace kloom::select {

struct TestResult {
  double statistic = 0.0;
  double p = 1.0;  // 1 where the differences are all 0
};

// Student's test with the variance of overlapping training parts corrected [NadeauBengio2003]:
//   t = d̄ / sqrt((1/k + n_test/n_train) s²), k − 1 degrees of freedom.
// With fewer than two differences nothing can be said: p = 1.
[[nodiscard]] TestResult corrected_t_test(std::span<const double> differences, double test_per_train);

// Wilcoxon's signed ranks; zeros are left out. Exact up to 50 differences without ties, else the normal
// approximation with the variance corrected for ties. The statistic is the smaller sum of ranks.
[[nodiscard]] TestResult wilcoxon_test(std::span<const double> differences);

}  // namespace kloom::select
