// SPDX-License-Identifier: BSD-3-Clause
//
// SAMKL: the limit without switches, the published formulas transcribed, what theory says of the alternation,
// collapse, and hard inputs.
#include "methods/samkl/samkl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/margin/margin.h"
#include "methods/samkl/solver.h"
#include "support/multiclass.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::MarginTask;
using methods::SamklOptions;
using methods::SwitchedMkl;
using methods::SwitchedSolution;
using methods::SwitchSettings;
using test::bank_of;
using ::testing::HasSubstr;

SamklOptions fixed(double c, const std::string& m0, const std::string& updates) {
  SamklOptions options;
  options.C = c;
  options.m0 = m0;
  options.updates = updates;
  options.probability = false;
  return options;
}

TEST(Samkl, WithoutSwitchesIsL1Mkl) {
  const test::BinaryProblem problem = test::binary_problem(60, 3, {0.5, 1.0, 3.0}, 3);
  const auto bank = bank_of(problem);
  for (const double c : {0.3, 10.0}) {
    SamklOptions options = fixed(c, "0", "stop");
    options.tolerance = 1e-8;
    methods::MarginOptions plain;
    plain.C = c;
    plain.tolerance = 1e-8;
    plain.probability = false;
    const FitResult samkl = methods::fit_samkl(*bank, problem.targets, options, {});
    const FitResult l1 =
        methods::fit_margin(methods::MarginMethod::simplemkl, *bank, problem.targets, plain, {});
    EXPECT_NEAR(samkl.report.objective, l1.report.objective, 2e-8 * l1.report.objective);
    const Matrix a = predict(samkl.model, *bank, {}, {}).scores;
    const Matrix b = predict(l1.model, *bank, {}, {}).scores;
    // Solutions of gap g have scores within √(2g) of each other.
    EXPECT_LE(test::relative_difference(a.values(), b.values()), std::sqrt(2e-8));
  }
}

// g_i of eq. 14 by loops over the kernels' entries.
struct Transcribed {
  std::vector<Vector> g;
};

Transcribed transcribe(const std::vector<Matrix>& kernels, const Model& model, Index c) {
  const auto& own = part_of<GatedPart>(model).gates.outputs[static_cast<std::size_t>(c)];
  const Index n = model.coefficients.rows();
  Transcribed result;
  for (Index i = 0; i < n; ++i) {
    Vector g;
    for (std::size_t p = 0; p < kernels.size(); ++p) {
      double sum = 0.0;
      for (Index j = 0; j < n; ++j) {
        sum += model.coefficients(j, c) * own.samples(j, static_cast<Index>(p)) * kernels[p](j, i);
      }
      g.push_back(model.weights.values(model.weights.values.rows() == 1 ? 0 : c, static_cast<Index>(p)) * sum);
    }
    result.g.push_back(g);
  }
  return result;
}

// Eq. 17 over the switches of every training sample, one by one.
TEST(Samkl, PredictsByTheBestPatternOfTheTrainingSamples) {
  const test::BinaryProblem problem = test::binary_problem(50, 3, {0.5, 1.0, 3.0}, 4);
  const auto bank = bank_of(problem);
  const FitResult fit = methods::fit_samkl(*bank, problem.targets, fixed(1.0, "2", "one"), {});
  const Model& model = fit.model;
  const auto& own = part_of<GatedPart>(model).gates.outputs.front();
  ASSERT_GT(own.patterns.rows(), 1);
  const Transcribed t = transcribe(problem.kernels, model, 0);
  const Predictions p = predict(model, *bank, {}, {});
  for (Index i = 0; i < 50; ++i) {
    double best = -1.0;
    double score = 0.0;
    for (Index k = 0; k < 50; ++k) {
      double sum = model.bias[0];
      for (Index q = 0; q < bank->kernels(); ++q)
        sum += own.samples(k, q) * t.g[static_cast<std::size_t>(i)][static_cast<std::size_t>(q)];
      for (const double y : {1.0, -1.0}) {
        if (y * sum > best + 1e-12) {
          best = y * sum;
          score = sum;
        }
      }
    }
    EXPECT_NEAR(std::abs(p.scores(i, 0)), std::abs(score), 1e-9);
  }
}

// Eq. 18, and classes from the largest score.
TEST(Samkl, SeveralClassesTakeTheLargestScore) {
  const auto problem = test::simplex_problem(60, 3, {0.5, 1.0, 2.0}, 5);
  const auto bank = bank_of(problem);
  const FitResult fit = methods::fit_samkl(*bank, problem.targets, fixed(1.0, "1", "one"), {});
  const Predictions p = predict(fit.model, *bank, {}, {});
  ASSERT_EQ(p.scores.cols(), 3);
  ASSERT_EQ(fit.report.maps.size(), 3U);
  Index right = 0;
  for (Index c = 0; c < 3; ++c) {
    const Transcribed t = transcribe(problem.kernels, fit.model, c);
    const auto& own = part_of<GatedPart>(fit.model).gates.outputs[static_cast<std::size_t>(c)];
    for (Index i = 0; i < 60; ++i) {
      double best = -1e300;
      for (Index k = 0; k < 60; ++k) {
        double sum = fit.model.bias[static_cast<std::size_t>(c)];
        for (Index q = 0; q < bank->kernels(); ++q)
          sum += own.samples(k, q) * t.g[static_cast<std::size_t>(i)][static_cast<std::size_t>(q)];
        best = std::max(best, sum);
      }
      EXPECT_NEAR(p.scores(i, c), best, 1e-9);
    }
  }
  for (Index i = 0; i < 60; ++i) {
    right += p.codes[static_cast<std::size_t>(i)] == problem.targets.codes[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  EXPECT_GE(right, 45);
}

// After one update every sample keeps its constraint of eq. 15 within the allowance, and τ is eq. 16 of
// the solution before.
TEST(Samkl, OneUpdateFollowsThePublishedFormulas) {
  const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 3.0}, 6);
  const auto bank = bank_of(problem);
  const MarginTask task{problem.targets.signs(), Vector(40, 2.0)};
  SwitchSettings settings;
  settings.changes = 2;
  settings.inner.tolerance = 1e-8;
  const Context context;
  const SwitchedMkl mkl(*bank, task, settings, Vector(4, 1.0), context);
  const SwitchedSolution before = mkl.first(methods::uniform_weights(4, 1.0));
  const SwitchedSolution after = mkl.next(before);
  Vector norms;
  double total = 0.0;
  for (Index p = 0; p < 4; ++p) {
    double square = 0.0;
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 40; ++j) {
        square += before.inner.coefficients[static_cast<std::size_t>(i)] *
                  before.inner.coefficients[static_cast<std::size_t>(j)] *
                  problem.kernels[static_cast<std::size_t>(p)](i, j);
      }
    }
    norms.push_back(before.inner.theta[static_cast<std::size_t>(p)] * std::sqrt(std::max(0.0, square)));
    total += norms.back();
  }
  Index switched = 0;
  for (Index i = 0; i < 40; ++i) {
    const double y = task.y[static_cast<std::size_t>(i)];
    double kept = 0.0;
    double all = before.inner.bias;
    double some = before.inner.bias;
    Index off = 0;
    for (Index p = 0; p < 4; ++p) {
      double g = 0.0;
      for (Index j = 0; j < 40; ++j) {
        g += before.inner.theta[static_cast<std::size_t>(p)] *
             before.inner.coefficients[static_cast<std::size_t>(j)] *
             problem.kernels[static_cast<std::size_t>(p)](j, i);
      }
      all += g;
      some += after.switches(i, p) * g;
      kept += after.switches(i, p) * norms[static_cast<std::size_t>(p)];
      off += after.switches(i, p) == 0.0 ? 1 : 0;
    }
    EXPECT_LE(off, 2);
    switched += off;
    // 1 − ξ_i = min(1, y f), allowance 1e-6.
    EXPECT_GE(y * some, std::min(1.0, y * all) - 1.1e-6);
    EXPECT_NEAR(after.margins[static_cast<std::size_t>(i)], std::max(settings.least_margin, kept / total),
                1e-9);
  }
  EXPECT_GT(switched, 20);
}

// With τ = 1 every update leaves the old solution feasible, so the objective cannot rise by more than what an
// inner problem may miss of its optimum.
TEST(Samkl, ObjectiveFallsWhileTauIsOne) {
  for (unsigned seed = 10; seed < 30; ++seed) {
    const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 3.0}, seed);
    const auto bank = bank_of(problem);
    SamklOptions options = fixed(seed % 2 == 0 ? 0.5 : 20.0, std::to_string(1 + seed % 3), "stop");
    options.margins = "one";
    options.tolerance = 1e-6;
    const FitResult fit = methods::fit_samkl(*bank, problem.targets, options, {});
    double box = 0.0;
    for (double value : part_of<MarginPart>(fit.model).box.values()) box += value;
    for (std::size_t k = 1; k < fit.report.trace.size(); ++k) {
      const double before = fit.report.trace[k - 1].objective;
      // The allowance of 1e-6 per constraint costs at most C each.
      EXPECT_LE(fit.report.trace[k].objective, before * (1.0 + 1e-6) + 1e-6 * box) << seed;
    }
  }
}

TEST(Samkl, RefereeProvesTheInnerProblemAndCountsTheRest) {
  const test::BinaryProblem problem = test::binary_problem(50, 3, {0.5, 1.0, 3.0}, 7);
  const auto bank = bank_of(problem);
  SamklOptions options = fixed(2.0, "2", "one");
  options.tolerance = 1e-6;
  FitResult fit = methods::fit_samkl(*bank, problem.targets, options, {});
  const auto item = [](const Certificate& certificate, const std::string& name) {
    for (const auto& one : certificate.items) {
      if (one.name == name) return one.value;
    }
    return std::nan("");
  };
  const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
  EXPECT_FALSE(certificate.proof);
  EXPECT_LE(item(certificate, "duality gap"), 1e-6);
  EXPECT_EQ(item(certificate, "samples too far"), 0.0);
  EXPECT_NEAR(item(certificate, "primal objective"), fit.report.objective, 2e-6 * fit.report.objective);
  // A sample with one switch too many, and a margin that is not its own.
  Model altered = fit.model;
  for (Index p = 0; p < 3; ++p) edit_part<GatedPart>(altered).gates.outputs[0].samples(0, p) = 0.0;
  EXPECT_EQ(item(certify(*bank, problem.targets, altered, {}), "samples too far"), 1.0);
  altered = fit.model;
  altered.coefficients(3, 0) += 0.5;
  EXPECT_THAT(certify(*bank, problem.targets, altered, {}).verdict, HasSubstr("infeasibility"));
}

// As many switches as kernels: the samples of one class switch everything off and the bias classifies them. The
// published algorithm does it, and the report says so.
TEST(Samkl, WarnsOfCollapse) {
  const test::BinaryProblem problem = test::binary_problem(60, 3, {1.0}, 8);
  const auto bank = bank_of(problem);
  const FitResult fit = methods::fit_samkl(*bank, problem.targets, fixed(10.0, "2", "literal"), {});
  std::string all;
  for (const std::string& warning : fit.report.warnings) all += warning + "\n";
  EXPECT_THAT(all, HasSubstr("collapse"));
  // Chosen by cross-validation with m₀ = 0 among the candidates it does not fall below ℓ1 MKL on the folds.
  SamklOptions options;
  const FitResult chosen = methods::fit_samkl(*bank, problem.targets, options, {});
  double best = 1.0;
  double without = 1.0;
  for (const Vector& row : chosen.report.tables.front().rows) {
    best = std::min(best, row[3]);
    if (row[1] == 0.0) without = std::min(without, row[3]);
  }
  EXPECT_LE(best, without);
}

// The switches that prediction takes are those of one more update by eq. 15: within m₀ of h⁰, the constraint of the
// solution holds, and no smaller set of kernels would do, which is seen by trying all of them.
TEST(Samkl, LiteralUpdatesOnceMoreAfterTheLastSolution) {
  const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 3.0}, 12);
  const auto bank = bank_of(problem);
  SamklOptions options;
  options.C = 2.0;
  options.updates = "literal";
  options.probability = false;
  const FitResult fit = methods::fit_samkl(*bank, problem.targets, options, {});
  EXPECT_EQ(fit.report.options.at("m0"), "3") << "as the paper sets it, where nothing is said";
  const auto& own = part_of<GatedPart>(fit.model).gates.outputs.front();
  ASSERT_EQ(own.last.rows(), 40);
  const Transcribed t = transcribe(problem.kernels, fit.model, 0);
  const Vector y = problem.targets.signs();
  for (Index i = 0; i < 40; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const auto sum = [&](unsigned set) {
      double total = 0.0;
      for (std::size_t p = 0; p < 4; ++p) total += (set >> p & 1U) != 0 ? y[n] * t.g[n][p] : 0.0;
      return total;
    };
    unsigned before = 0;
    unsigned after = 0;
    for (unsigned p = 0; p < 4; ++p) {
      before |= own.samples(i, p) == 1.0 ? 1U << p : 0U;
      after |= own.last(i, p) == 1.0 ? 1U << p : 0U;
    }
    const double bias = y[n] * fit.model.bias[0];
    const double tau = own.margins[n];
    const double needed = std::min(tau, sum(before) + bias) - bias - 1e-6;
    EXPECT_GE(sum(after), needed - 1e-9);
    int fewest = 4;
    for (unsigned set = 0; set < 16; ++set) {
      if (__builtin_popcount(set) >= 1 && sum(set) >= needed)
        fewest = std::min(fewest, __builtin_popcount(set));
    }
    EXPECT_EQ(__builtin_popcount(after), fewest) << i;
  }
  const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
  EXPECT_NE(certificate.finding, Certificate::Finding::refuted) << certificate.verdict;
  const Model copy = model_from_bytes(model_bytes(fit.model));
  EXPECT_EQ(part_of<GatedPart>(copy).gates.outputs.front().last, own.last);
  Model altered = fit.model;
  for (Index p = 0; p < 3; ++p)
    edit_part<GatedPart>(altered).gates.outputs[0].last(7, p) = 1.0 - own.last(7, p);
  EXPECT_EQ(certify(*bank, problem.targets, altered, {}).finding, Certificate::Finding::refuted);
}

TEST(Samkl, BeginsWhereItIsTold) {
  const test::BinaryProblem problem = test::binary_problem(50, 3, {0.5, 1.0, 3.0}, 9);
  const auto bank = bank_of(problem);
  SamklOptions options = fixed(1.0, "1", "one");
  options.h0 = "0110";
  const FitResult given = methods::fit_samkl(*bank, problem.targets, options, {});
  EXPECT_EQ(part_of<GatedPart>(given.model).gates.start, (Vector{0.0, 1.0, 1.0, 0.0}));
  options.h0 = "l1";
  const FitResult l1 = methods::fit_samkl(*bank, problem.targets, options, {});
  const Vector& start = part_of<GatedPart>(l1.model).gates.start;
  EXPECT_LT(start[0] + start[1] + start[2] + start[3], 4.0);
  for (const FitResult* fit : {&given, &l1}) {
    for (Index p = 0; p < 4; ++p) {
      // A kernel that is off in h⁰ has no weight and is worth nothing to anyone.
      if (part_of<GatedPart>(fit->model).gates.start[static_cast<std::size_t>(p)] == 0.0) {
        EXPECT_EQ(fit->model.weights.values(0, p), 0.0);
      }
    }
  }
}

TEST(Samkl, EndsWithinItsLimitAndSaysHow) {
  int limits = 0;
  for (unsigned seed = 1; seed < 15; ++seed) {
    const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 3.0}, seed);
    SamklOptions options = fixed(3.0, "2", "stop");
    options.update_limit = 3;
    const FitResult fit = methods::fit_samkl(*bank_of(problem), problem.targets, options, {});
    EXPECT_LE(fit.report.iterations, 3);
    limits += fit.report.status == Status::iteration_limit ? 1 : 0;
    EXPECT_FALSE(fit.report.message.empty());
  }
  EXPECT_GT(limits, 0);
}

TEST(Samkl, SampleOfWeightZeroIsNotThere) {
  const test::BinaryProblem problem = test::binary_problem(40, 2, {0.7, 2.0}, 10);
  const auto bank = bank_of(problem);
  Targets weighted = problem.targets;
  weighted.weights.assign(40, 1.0);
  weighted.weights[5] = 0.0;
  const FitResult fit = methods::fit_samkl(*bank, weighted, fixed(1.0, "1", "stop"), {});
  EXPECT_EQ(fit.model.coefficients(5, 0), 0.0);
  EXPECT_EQ(part_of<GatedPart>(fit.model).gates.outputs[0].margins[5], 1.0);
}

TEST(Samkl, RefusesWhatItCannotDo) {
  const test::BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 11);
  const auto bank = bank_of(problem);
  const auto refused = [&](const SamklOptions& options) {
    try {
      (void)methods::fit_samkl(*bank, problem.targets, options, {});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused(fixed(1.0, "1", "one")), "accepted");
  EXPECT_THAT(refused(fixed(1.0, "0.5", "one")), HasSubstr("whole numbers"));
  EXPECT_THAT(refused(fixed(1.0, "-1", "one")), HasSubstr("m0"));
  EXPECT_THAT(refused(fixed(1.0, "7", "one")), HasSubstr("number of kernels"));
  SamklOptions options = fixed(0.0, "1", "one");
  options.C_grid = "0..2";
  EXPECT_THAT(refused(options), HasSubstr("C_grid"));
  options = fixed(1.0, "1", "one");
  for (const char* h0 : {"111", "00", "1x", ""}) {
    options.h0 = h0;
    EXPECT_THAT(refused(options), HasSubstr("h0")) << h0;
  }
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = test::normal_matrix(20, 1, 5);
  EXPECT_THROW((void)methods::fit_samkl(*bank, numbers, {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace kloom
