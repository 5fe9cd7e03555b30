// SPDX-License-Identifier: BSD-3-Clause
//
// Multiclass MKL: all algorithms agree, special cases with known answers, kernels on classes,
// models and certificates.
#include "methods/mcmkl/mcmkl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/margin/mkl.h"
#include "methods/mcmkl/class_kernels.h"
#include "solvers/msvm.h"
#include "support/multiclass.h"

namespace kloom {
namespace {

using methods::McmklAlgorithm;
using methods::McmklOptions;
using methods::McmklSettings;
using methods::McmklSolution;
using methods::McmklTask;
using solvers::MarginLoss;
using test::bank_of;
using test::identity;
using test::MulticlassProblem;
using test::simplex_problem;

std::vector<Matrix> matrices_of(const std::string& text, const std::vector<std::string>& classes) {
  std::vector<Matrix> matrices;
  for (const methods::ClassKernel& one : methods::class_kernels(text, classes, {}))
    matrices.push_back(one.values);
  return matrices;
}

McmklTask task_of(const MulticlassProblem& problem, double c, const std::string& class_kernels = "identity") {
  McmklTask task;
  task.labels = problem.targets.codes;
  task.classes = static_cast<Index>(problem.targets.classes.size());
  task.box = Vector(task.labels.size(), c);
  task.class_kernels = matrices_of(class_kernels, problem.targets.classes);
  return task;
}

McmklSolution solve(const MulticlassProblem& problem, const McmklTask& task, McmklAlgorithm algorithm,
                    double tolerance) {
  McmklSettings settings;
  settings.algorithm = algorithm;
  settings.tolerance = tolerance;
  settings.iterations = 3000;
  return solve_mcmkl(*bank_of(problem), task, settings, {});
}

constexpr McmklAlgorithm kAll[] = {McmklAlgorithm::level, McmklAlgorithm::silp, McmklAlgorithm::silp_compact,
                                   McmklAlgorithm::qcqp};

// Gaps of 1e-6 bound the differences of the objectives.
void expect_agreement(const MulticlassProblem& problem, const McmklTask& task) {
  const double expected = solve(problem, task, McmklAlgorithm::qcqp, 1e-8).primal;
  for (const McmklAlgorithm algorithm : kAll) {
    const McmklSolution s = solve(problem, task, algorithm, 1e-6);
    EXPECT_EQ(s.status, Status::converged) << static_cast<int>(algorithm);
    EXPECT_LE(s.gap(), 1e-6);
    EXPECT_GE(s.gap(), -1e-9);
    EXPECT_NEAR(s.primal, expected, 2e-6 * expected) << static_cast<int>(algorithm);
    EXPECT_NEAR(s.dual, expected, 2e-6 * expected) << static_cast<int>(algorithm);
  }
}

TEST(Mcmkl, AllAlgorithmsReachTheSameObjective) {
  for (const double c : {0.1, 1.0, 20.0}) {
    const MulticlassProblem problem = simplex_problem(36, 3, {0.3, 0.8, 2.0, 6.0}, 31);
    expect_agreement(problem, task_of(problem, c));
  }
  const MulticlassProblem problem = simplex_problem(40, 5, {0.5, 1.5}, 32);
  expect_agreement(problem, task_of(problem, 1.0));
}

TEST(Mcmkl, AllAlgorithmsAgreeWithEveryLossAndWithoutBias) {
  const MulticlassProblem problem = simplex_problem(30, 3, {0.4, 1.2, 4.0}, 33);
  McmklTask task = task_of(problem, 1.0);
  for (const MarginLoss loss : {MarginLoss::hinge, MarginLoss::squared_hinge, MarginLoss::logistic}) {
    task.loss = loss;
    task.bias = true;
    expect_agreement(problem, task);
    task.bias = false;
    expect_agreement(problem, task);
  }
  for (const double c : {0.05, 50.0}) {
    task = task_of(problem, c);
    task.loss = MarginLoss::logistic;
    expect_agreement(problem, task);
  }
}

TEST(Mcmkl, AllAlgorithmsAgreeOnKernelsOnClasses) {
  const MulticlassProblem problem = simplex_problem(30, 3, {0.6, 2.0}, 34);
  expect_agreement(problem, task_of(problem, 1.0, "identity+pairs"));
  McmklTask task = task_of(problem, 3.0, "pairs");
  expect_agreement(problem, task);
  task.loss = MarginLoss::logistic;
  expect_agreement(problem, task);
}

// As for one kernel (msvm_test.cpp): at C, half the binary problem at 2C, with the same kernel weights.
TEST(Mcmkl, TwoClassesAreBinaryMklAtTwiceThePrice) {
  const MulticlassProblem problem = simplex_problem(60, 2, {0.3, 1.0, 3.0}, 35, 0.7);
  const McmklSolution s = solve(problem, task_of(problem, 0.9), McmklAlgorithm::level, 1e-8);
  methods::MarginTask binary{problem.targets.signs(), Vector(60, 1.8)};
  methods::MarginSettings settings;
  settings.tolerance = 1e-9;
  const methods::MarginSolution expected =
      solve_margin_mkl(*bank_of(problem), binary, settings, methods::uniform_weights(3, 1.0), {});
  EXPECT_NEAR(s.primal, 0.5 * expected.primal, 1e-7 * expected.primal);
  // The objective is flat around its minimum: weights agree to the root of the gap.
  for (Index p = 0; p < 3; ++p) EXPECT_NEAR(s.beta(0, p), expected.theta[static_cast<std::size_t>(p)], 2e-4);
}

TEST(Mcmkl, OneKernelIsTheMsvm) {
  const MulticlassProblem problem = simplex_problem(45, 3, {0.8}, 36);
  const McmklTask task = task_of(problem, 1.0);
  solvers::MatrixRows rows(problem.kernels[0].view());
  solvers::JointKernel joint(std::vector<solvers::JointTerm>{{&rows, identity(3)}});
  solvers::MsvmOptions options;
  options.tolerance = 1e-9;
  const double expected = -solve_msvm({task.labels, 3, task.box}, joint, options).objective;
  for (const McmklAlgorithm algorithm : kAll) {
    EXPECT_NEAR(solve(problem, task, algorithm, 1e-7).primal, expected, 2e-7 * expected);
  }
}

TEST(Mcmkl, NoiseKernelGetsLittleWeightAndADuplicateChangesNothing) {
  MulticlassProblem problem = simplex_problem(90, 3, {1.0}, 37, 0.3);
  problem.kernels.push_back(
      test::rbf_kernel(test::normal_matrix(90, 3, 99), test::normal_matrix(90, 3, 99), 1.0));
  problem.names.emplace_back("noise");
  const McmklTask task = task_of(problem, 1.0);
  const McmklSolution s = solve(problem, task, McmklAlgorithm::level, 1e-6);
  EXPECT_LT(s.beta(0, 1), 0.2);
  MulticlassProblem twice = problem;
  twice.kernels.push_back(twice.kernels[0]);
  twice.names.emplace_back("again");
  EXPECT_NEAR(solve(twice, task, McmklAlgorithm::level, 1e-6).primal, s.primal, 2e-6 * s.primal);
}

FitResult fit(const MulticlassProblem& problem, const McmklOptions& options) {
  return fit_mcmkl(*bank_of(problem), problem.targets, options, {});
}

double item(const Certificate& certificate, const std::string& name) {
  for (const auto& entry : certificate.items) {
    if (entry.name == name) return entry.value;
  }
  ADD_FAILURE() << name;
  return 0.0;
}

// The referee shares no code with the learner and finds the same objective; a model that is not what it
// says is found out.
TEST(Mcmkl, RefereeConfirmsEveryVariant) {
  const MulticlassProblem problem = simplex_problem(45, 3, {0.5, 1.0, 3.0}, 38);
  const auto bank = bank_of(problem);
  for (const char* algorithm : {"level", "silp", "silp-compact", "qcqp"}) {
    for (const char* class_kernels :
         {"identity", "pairs", "identity+pairs", "1,0.5,0;0.5,1,0;0,0,2", "identity+1,0.5,0;0.5,1,0;0,0,2"}) {
      for (const char* loss : {"hinge", "squared-hinge", "logistic"}) {
        SCOPED_TRACE(std::string(algorithm) + " " + class_kernels + " " + loss);
        McmklOptions options;
        options.probability = false;  // three more fits each, which the referee does not look at
        options.algorithm = algorithm;
        options.class_kernels = class_kernels;
        options.loss = loss;
        options.tolerance = 1e-4;
        const FitResult result = fit(problem, options);
        const Certificate certificate = certify(*bank, problem.targets, result.model, {});
        EXPECT_TRUE(certificate.proof);
        EXPECT_LE(item(certificate, "duality gap"), 1.0001e-4);
        EXPECT_NEAR(item(certificate, "primal objective"), result.report.objective,
                    1e-8 * result.report.objective);
        Model wrong = result.model;
        wrong.weights.values(0, 0) += 0.01;
        auto& part = edit_part<McmklPart>(wrong);
        if (!part.class_weights.empty()) part.class_weights(0, 0) += 0.01;
        EXPECT_FALSE(certify(*bank, problem.targets, wrong, {}).proof);
        wrong = result.model;
        edit_part<McmklPart>(wrong).dual(0, 1) += 0.1;
        EXPECT_FALSE(certify(*bank, problem.targets, wrong, {}).proof);
      }
    }
  }
}

TEST(Mcmkl, TwoClassesAreCertifiedAndPredictTheMargin) {
  const MulticlassProblem problem = simplex_problem(50, 2, {0.5, 2.0}, 39);
  const auto bank = bank_of(problem);
  McmklOptions options;
  options.tolerance = 1e-5;
  const FitResult result = fit(problem, options);
  const Certificate certificate = certify(*bank, problem.targets, result.model, {});
  EXPECT_TRUE(certificate.proof);
  EXPECT_LE(item(certificate, "duality gap"), 1.001e-5);
  EXPECT_EQ(predict(result.model, *bank, {}, {}).scores.cols(), 1);
}

// Scores by their definition; saved and loaded the same bits.
TEST(Mcmkl, PredictsBySumsOverSamplesAndClasses) {
  const MulticlassProblem problem = simplex_problem(45, 3, {0.5, 1.0, 3.0}, 40);
  const auto bank = bank_of(problem);
  const Matrix fresh = test::normal_matrix(12, 3, 41);
  std::vector<Matrix> cross;
  for (double width : {0.5, 1.0, 3.0}) cross.push_back(test::rbf_kernel(fresh, problem.x, width));
  const auto fresh_bank = make_dense_bank(cross, problem.names, false);
  for (const char* class_kernels : {"identity", "pairs", "1,0.5,0;0.5,1,0;0,0,2"}) {
    McmklOptions options;
    options.class_kernels = class_kernels;
    const Model model = fit(problem, options).model;
    PredictOptions asked;
    asked.contributions = true;
    const Predictions p = predict(model, *fresh_bank, asked, {});
    const std::vector<Matrix> classes = matrices_of(class_kernels, problem.targets.classes);
    const auto weight = [&](std::size_t j, Index k) {
      return part_of<McmklPart>(model).class_kernels.empty()
                 ? model.weights.values(0, k)
                 : part_of<McmklPart>(model).class_weights(static_cast<Index>(j), k);
    };
    for (Index i = 0; i < 12; ++i) {
      for (Index u = 0; u < 3; ++u) {
        double score = model.bias[static_cast<std::size_t>(u)];
        double parts = score;
        for (Index k = 0; k < 3; ++k) {
          parts += p.contributions[static_cast<std::size_t>(u)](i, k);
          for (std::size_t j = 0; j < classes.size(); ++j) {
            for (Index n = 0; n < 45; ++n) {
              for (Index v = 0; v < 3; ++v) {
                score += weight(j, k) * cross[static_cast<std::size_t>(k)](i, n) * model.coefficients(n, v) *
                         classes[j](v, u);
              }
            }
          }
        }
        EXPECT_NEAR(p.scores(i, u), score, 1e-10);
        EXPECT_NEAR(parts, score, 1e-10);
      }
    }
    const std::string file =
        (std::filesystem::temp_directory_path() / ("kloom-mcmkl-" + std::to_string(::getpid()))).string();
    save_model(model, file);
    EXPECT_EQ(std::filesystem::file_size(file), model_file_bytes(model));
    const Model loaded = load_model(file);
    std::filesystem::remove(file);
    EXPECT_EQ(predict(loaded, *fresh_bank, asked, {}).scores, p.scores);
    EXPECT_TRUE(certify(*bank, problem.targets, loaded, {}).proof);
  }
}

// Squared distances of three classes that the learned kernel on classes implies: (0,1), (0,2), (1,2). Gaussian
// classes around the centres, the linear kernel on samples, as in section 3.4.
Vector learned_distances(const double (&centres)[3][2], double noise, double c, Index n = 150,
                         unsigned seed = 7) {
  test::Normal normal(seed);
  MulticlassProblem problem;
  problem.x = Matrix(n, 2);
  problem.targets.task = Task::multiclass;
  problem.targets.classes = {"a", "b", "c"};
  for (Index i = 0; i < n; ++i) {
    problem.targets.codes.push_back(static_cast<int>(i % 3));
    for (Index d = 0; d < 2; ++d) {
      const double mean = (centres[0][d] + centres[1][d] + centres[2][d]) / 3.0;
      problem.x(i, d) = centres[i % 3][d] - mean + noise * normal();
    }
  }
  Matrix linear(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index d = 0; d < 2; ++d) linear(i, j) += problem.x(i, d) * problem.x(j, d);
    }
  }
  problem.kernels = {linear};
  problem.names = {"linear"};
  McmklOptions options;
  options.class_kernels = "pairs";
  options.C = c;
  options.tolerance = 1e-5;
  const FitResult result = fit(problem, options);
  EXPECT_EQ(result.report.tables.size(), 2U);
  const auto& k = result.report.tables[0].rows;
  const auto& places = result.report.tables[1].rows;
  Vector distances;
  for (const auto& [u, v] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
    distances.push_back(std::sqrt(k[u][u] + k[v][v] - 2.0 * k[u][v]));
    // Three points always fit the plane, so the places have exactly these distances.
    EXPECT_NEAR(std::hypot(places[u][1] - places[v][1], places[u][2] - places[v][2]), distances.back(), 1e-6);
  }
  return distances;
}

// The implied places of the classes have the arrangement of their centres.
TEST(Mcmkl, KernelsOnClassesRecoverTheArrangement) {
  // On a line, the second in the middle.
  const Vector line = learned_distances({{-3.0, 0.0}, {0.0, 0.0}, {3.0, 0.0}}, 0.5, 0.01);
  EXPECT_NEAR(line[1] / line[0], 2.0, 0.2);
  EXPECT_NEAR(line[1] / line[2], 2.0, 0.2);
  // A regular triangle.
  const Vector triangle = learned_distances({{-2.0, 0.0}, {2.0, 0.0}, {0.0, 3.4641}}, 0.5, 0.01);
  EXPECT_NEAR(triangle[1] / triangle[0], 1.0, 0.15);
  EXPECT_NEAR(triangle[2] / triangle[0], 1.0, 0.15);
}

// Classes that overlap, at a low price: the places have the order of the distances of the centres, whatever the
// arrangement and the draw.
TEST(Mcmkl, KernelsOnClassesKeepTheOrderOfDistances) {
  const double arrangements[][3][2] = {
      {{0.0, 0.0}, {2.0, 0.0}, {6.0, 0.0}},   // on a line, not evenly: 2, 6, 4
      {{-1.0, 0.0}, {1.0, 0.0}, {0.0, 6.0}},  // a close pair and a far class: 2, 6.1, 6.1
      {{0.0, 0.0}, {3.0, 0.0}, {4.0, 5.0}},   // three distances: 3, 6.4, 5.1
      {{-3.0, 0.0}, {3.0, 0.0}, {0.0, 1.0}},  // a flat triangle: 6, 3.2, 3.2
  };
  for (const auto& centres : arrangements) {
    Vector true_distances;
    for (const auto& [u, v] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
      true_distances.push_back(std::hypot(centres[u][0] - centres[v][0], centres[u][1] - centres[v][1]));
    }
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const Vector learned = learned_distances(centres, 2.5, 3e-4, 600, seed);
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          // Equal distances of centres may come out in either order.
          if (true_distances[a] < 0.95 * true_distances[b]) {
            EXPECT_LT(learned[a], learned[b]) << "seed " << seed;
          }
        }
      }
    }
  }
}

TEST(Mcmkl, ChoosesCByCrossValidation) {
  const MulticlassProblem problem = simplex_problem(60, 3, {0.5, 2.0}, 44, 0.6);
  McmklOptions options;
  options.C_grid = "0.000001,1,100";
  const FitResult result = fit(problem, options);
  ASSERT_EQ(result.report.tables.size(), 1U);
  ASSERT_EQ(result.report.tables[0].rows.size(), 3U);
  double lowest = 1.0;
  double best = 0.0;
  for (const Vector& row : result.report.tables[0].rows) {
    if (row[1] < lowest) {
      lowest = row[1];
      best = row[0];
    }
  }
  EXPECT_EQ(part_of<McmklPart>(result.model).box[0], best);
  options.C_grid = "0,1";
  EXPECT_THROW((void)fit(problem, options), InvalidArgument);
}

// Rows of the combined kernel computed when needed: the same answer from less memory.
TEST(Mcmkl, RowsUnderAMemoryBudgetGiveTheSameObjective) {
  const MulticlassProblem problem = simplex_problem(240, 3, {0.5, 1.5}, 45);
  const auto bank = bank_of(problem);
  McmklSettings settings;
  settings.tolerance = 1e-5;
  Context context;
  context.memory_budget =
      bank->bytes() +
      (methods::mcmkl_memory(240, 2, 3, 1, true) + methods::mcmkl_memory(240, 2, 3, 1, false)) / 2;
  const McmklTask task = task_of(problem, 1.0);
  const McmklSolution small = solve_mcmkl(*bank, task, settings, context);
  EXPECT_LE(small.gap(), 1e-5);
  EXPECT_NEAR(small.primal, solve_mcmkl(*bank, task, settings, {}).primal, 2e-5 * small.primal);
}

// Kernels of rank one, the kernel of the labels, the zero matrix and the identity; one sample of a class;
// prices of 0: the default ends with its gap, and the interior-point method agrees.
TEST(Mcmkl, HardProblemsEndWithTheirGap) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    test::Normal random(seed + 1);
    const Index classes = 2 + static_cast<Index>(seed % 4);
    const Index n = 2 * classes + static_cast<Index>(seed % 11);
    MulticlassProblem problem;
    problem.x = test::normal_matrix(n, 2, seed + 500);
    McmklTask task;
    task.classes = classes;
    for (Index i = 0; i < n; ++i) {
      const bool first = i < classes;
      const double place = std::floor(random.uniform() * static_cast<double>(classes));
      task.labels.push_back(first ? static_cast<int>(i)
                                  : std::min(static_cast<int>(place), static_cast<int>(classes) - 2));
      task.box.push_back(first || random.uniform() > 0.2 ? std::exp(2.0 * random()) : 0.0);
    }
    for (int kind = 0; kind < 4; ++kind) {
      if ((seed >> kind) % 2 == 0 && kind != 0) continue;
      Matrix k(n, n);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          const bool same =
              task.labels[static_cast<std::size_t>(i)] == task.labels[static_cast<std::size_t>(j)];
          k(i, j) = kind == 0   ? problem.x(i, 0) * problem.x(j, 0)
                    : kind == 1 ? (same ? 1.0 : 0.0)
                    : kind == 2 ? 0.0
                                : (i == j ? 1.0 : 0.0);
        }
      }
      problem.kernels.push_back(k);
      problem.names.push_back("kind " + std::to_string(kind));
    }
    std::vector<std::string> names;
    for (Index u = 0; u < classes; ++u) names.push_back("class " + std::to_string(u));
    task.class_kernels = matrices_of(classes > 2 && seed % 3 == 0 ? "pairs" : "identity", names);
    task.loss = seed % 5 == 1   ? MarginLoss::squared_hinge
                : seed % 5 == 3 ? MarginLoss::logistic
                                : MarginLoss::hinge;
    task.bias = seed % 7 != 2;
    const McmklSolution level = solve(problem, task, McmklAlgorithm::level, 1e-5);
    EXPECT_EQ(level.status, Status::converged);
    EXPECT_LE(level.gap(), 1e-5);
    EXPECT_GE(level.gap(), -1e-8);
    const McmklSolution direct = solve(problem, task, McmklAlgorithm::qcqp, 1e-5);
    EXPECT_NEAR(direct.primal, level.primal, 3e-5 * level.primal);
  }
}

TEST(Mcmkl, SaysWhatIsWrong) {
  const MulticlassProblem two = simplex_problem(20, 2, {1.0}, 42);
  McmklOptions options;
  options.class_kernels = "pairs";
  EXPECT_THROW((void)fit(two, options), InvalidArgument);
  MulticlassProblem three = simplex_problem(20, 3, {1.0}, 42);
  three.targets.codes[4] = Targets::unlabelled;
  EXPECT_THROW((void)fit(three, {}), InvalidArgument);
  const MulticlassProblem large = simplex_problem(2100, 3, {1.0}, 43);
  options = {};
  options.algorithm = "qcqp";
  EXPECT_THROW((void)fit(large, options), InvalidArgument);
}

}  // namespace
}  // namespace kloom
