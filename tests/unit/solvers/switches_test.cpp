// SPDX-License-Identifier: BSD-3-Clause
//
// Switches by sorting against COIN-OR CBC's branch and cut on the same 0/1 programme. The number of kernels is
// unique, the set of them is not: sets of equal size tie.
#include "solvers/switches.h"

#include <gtest/gtest.h>

#include <CbcModel.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <cmath>
#include <numeric>
#include <random>

namespace kloom::solvers {
namespace {

struct Instance {
  Vector gains;
  Vector start;
  double needed = 0.0;
  Index changes = 0;
};

// Fewest kernels, −1 if infeasible.
int cbc_count(const Instance& instance) {
  const int n = static_cast<int>(instance.gains.size());
  // Σ h g ≥ needed, and Σ h (1 − 2h⁰) ≤ changes − Σ h⁰.
  CoinPackedMatrix rows(false, 0, 0);
  rows.setDimensions(0, n);
  CoinPackedVector gain;
  CoinPackedVector distance;
  for (int p = 0; p < n; ++p) {
    gain.insert(p, instance.gains[static_cast<std::size_t>(p)]);
    distance.insert(p, 1.0 - 2.0 * instance.start[static_cast<std::size_t>(p)]);
  }
  rows.appendRow(gain);
  rows.appendRow(distance);
  const double infinity = 1e30;
  const Vector column_low(instance.gains.size(), 0.0);
  const Vector column_high(instance.gains.size(), 1.0);
  const Vector cost(instance.gains.size(), 1.0);
  const double on = std::accumulate(instance.start.begin(), instance.start.end(), 0.0);
  const double row_low[] = {instance.needed, -infinity};
  const double row_high[] = {infinity, static_cast<double>(instance.changes) - on};
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  solver.loadProblem(rows, column_low.data(), column_high.data(), cost.data(), row_low, row_high);
  for (int p = 0; p < n; ++p) solver.setInteger(p);
  CbcModel model(solver);
  model.setLogLevel(0);
  model.messageHandler()->setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.branchAndBound();
  if (!model.isProvenOptimal()) return -1;
  return static_cast<int>(std::lround(model.getObjValue()));
}

// Gains on a grid of quarters: many ties, and every sum is exact, so the border of feasibility is
// the same for both.
Instance random_instance(std::mt19937& engine) {
  const auto uniform = [&](int low, int high) {
    return low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1));
  };
  Instance instance;
  const int kernels = uniform(1, 14);
  const int range = uniform(1, 12);
  const int kind = uniform(0, 3);  // h⁰ all on, all off, mixed, mostly on
  double on = 0.0;
  for (int p = 0; p < kernels; ++p) {
    instance.gains.push_back(0.25 * uniform(-range, range));
    const bool start = kind == 0 || (kind == 2 && uniform(0, 1) == 1) || (kind == 3 && uniform(0, 3) != 0);
    instance.start.push_back(start ? 1.0 : 0.0);
    if (start) on += instance.gains.back();
  }
  instance.changes = uniform(0, kernels + 1);
  // Around what h⁰ reaches, so that feasible, tight and infeasible ones all occur.
  instance.needed = on + 0.25 * uniform(-3 * range, 3 * range) - (uniform(0, 1) == 0 ? 0.125 : 0.0);
  return instance;
}

double distance(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t p = 0; p < a.size(); ++p) sum += std::abs(a[p] - b[p]);
  return sum;
}

TEST(Switches, HaveTheCountOfBranchAndCut) {
  std::mt19937 engine(7);
  int infeasible = 0;
  int switched_on = 0;
  for (int k = 0; k < 600; ++k) {
    const Instance instance = random_instance(engine);
    const auto found = fewest_switches(instance.gains, instance.start, instance.needed, instance.changes);
    const int expected = cbc_count(instance);
    SCOPED_TRACE(k);
    if (!found) {
      EXPECT_EQ(expected, -1);
      ++infeasible;
      continue;
    }
    EXPECT_EQ(std::accumulate(found->begin(), found->end(), 0.0), expected);
    EXPECT_LE(distance(*found, instance.start), static_cast<double>(instance.changes));
    EXPECT_GE(std::inner_product(found->begin(), found->end(), instance.gains.begin(), 0.0), instance.needed);
    for (std::size_t p = 0; p < found->size(); ++p) {
      EXPECT_TRUE((*found)[p] == 0.0 || (*found)[p] == 1.0);
      switched_on += (*found)[p] > instance.start[p] ? 1 : 0;
    }
  }
  // All kinds of instances were there.
  EXPECT_GT(infeasible, 50);
  EXPECT_GT(switched_on, 50);
}

TEST(Switches, WithoutChangesStayOrAreInfeasible) {
  const Vector gains = {1.0, -2.0};
  const Vector start = {1.0, 1.0};
  EXPECT_EQ(fewest_switches(gains, start, -1.0, 0), start);
  EXPECT_EQ(fewest_switches(gains, start, -0.5, 0), std::nullopt);
  EXPECT_EQ(fewest_switches(gains, start, 0.5, 1), (Vector{1.0, 0.0}));
}

TEST(Switches, OfEqualGainsTheFirstKernelGoesFirst) {
  EXPECT_EQ(fewest_switches(Vector(3, 0.0), Vector(3, 1.0), -1.0, 2), (Vector{0.0, 0.0, 1.0}));
}

}  // namespace
}  // namespace kloom::solvers
