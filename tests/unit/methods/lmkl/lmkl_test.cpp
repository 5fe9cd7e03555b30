// SPDX-License-Identifier: BSD-3-Clause
//
// Localised MKL: its gradient against finite differences, the limit of constant gates, gates on features,
// several classes and numbers.
#include "methods/lmkl/lmkl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/gated/scores.h"
#include "methods/lmkl/solver.h"
#include "methods/margin/margin.h"
#include "support/multiclass.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::LmklOptions;
using methods::LocalPoint;
using methods::LocalSettings;
using methods::MarginTask;
using Kind = Gates::Kind;
using test::bank_of;

// J(V + h e) − J(V − h e) over 2h. J is known to the SVM's gap, 1e-11 of it, so with h = 1e-3 the quotient is
// known to about 1e-8·J plus the h² of its third derivative: 1e-5·J is far above both.
TEST(Lmkl, GradientAgreesWithFiniteDifferences) {
  const test::BinaryProblem problem = test::binary_problem(40, 2, {0.7, 2.0}, 3);
  const auto bank = bank_of(problem);
  const Matrix inputs = test::normal_matrix(40, 2, 7);
  Targets numbers;
  const Matrix values = test::normal_matrix(40, 1, 8);
  MarginTask regression;
  regression.y.assign(values.values().begin(), values.values().end());
  regression.box.assign(40, 2.0);
  regression.regression = true;
  const MarginTask classes{problem.targets.signs(), Vector(40, 2.0)};
  for (const MarginTask& task : {classes, regression}) {
    for (const Kind kind : {Kind::softmax, Kind::sigmoid}) {
      LocalSettings settings;
      settings.kind = kind;
      settings.tolerance = 1e-11;
      Matrix parameters = test::normal_matrix(3, 3, 9);
      const auto at = [&](const Matrix& v) {
        return methods::local_point({*bank, task, inputs, settings}, v, {}, {});
      };
      const LocalPoint here = at(parameters);
      const Matrix gradient = methods::local_gradient(*bank, inputs, kind, here);
      for (std::size_t k = 0; k < parameters.values().size(); ++k) {
        constexpr double kStep = 1e-3;
        Matrix up = parameters;
        Matrix down = parameters;
        up.values()[k] += kStep;
        down.values()[k] -= kStep;
        const double quotient = (at(up).inner.primal - at(down).inner.primal) / (2.0 * kStep);
        EXPECT_NEAR(gradient.values()[k], quotient, 1e-5 * here.inner.primal);
      }
    }
  }
}

TEST(Lmkl, ConstantGatesAreTheMeanOfAllKernels) {
  const test::BinaryProblem problem = test::binary_problem(50, 3, {0.5, 2.0}, 4);
  const auto bank = bank_of(problem);
  methods::MarginOptions uniform;
  uniform.C = 3.0;
  uniform.tolerance = 1e-9;
  uniform.probability = false;
  const FitResult mean =
      methods::fit_margin(methods::MarginMethod::uniform, *bank, problem.targets, uniform, {});
  for (const char* gate : {"softmax", "sigmoid"}) {
    LmklOptions options;
    options.C = 3.0;
    options.gate = gate;
    options.steps = 0;
    options.tolerance = 1e-9;
    options.probability = false;
    const FitResult local = methods::fit_lmkl(*bank, problem.targets, options, {});
    EXPECT_NEAR(local.report.objective, mean.report.objective, 2e-9 * mean.report.objective);
    // Solutions of gap g have scores within √(2g) of each other.
    EXPECT_LE(test::relative_difference(predict(local.model, *bank, {}, {}).scores.values(),
                                        predict(mean.model, *bank, {}, {}).scores.values()),
              std::sqrt(2e-9));
  }
}

// A linear kernel shows the gates the centred features, rotated and scaled by one number: distances say so.
TEST(Lmkl, LinearKernelShowsTheFeatures) {
  const Matrix x = test::normal_matrix(30, 3, 5);
  Matrix linear(30, 30);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 30; ++j) {
      for (Index d = 0; d < 3; ++d) linear(i, j) += x(i, d) * x(j, d);
    }
  }
  const auto bank = make_dense_bank({linear}, {"linear"}, true);
  Gates gate;
  methods::set_gate_inputs(gate, *bank, {1.0}, 10);
  const Matrix inputs = methods::gate_inputs(gate, *bank);
  ASSERT_EQ(inputs.cols(), 3);
  const auto distance = [](const Matrix& m, Index i, Index j) {
    double sum = 0.0;
    for (Index d = 0; d < m.cols(); ++d) sum += (m(i, d) - m(j, d)) * (m(i, d) - m(j, d));
    return std::sqrt(sum);
  };
  const double scale = distance(inputs, 0, 1) / distance(x, 0, 1);
  double square = 0.0;
  for (Index i = 0; i < 30; ++i) {
    for (Index d = 0; d < 3; ++d) square += inputs(i, d) * inputs(i, d) / 90.0;
    for (Index j = 0; j < i; ++j) EXPECT_NEAR(distance(inputs, i, j), scale * distance(x, i, j), 1e-9);
  }
  EXPECT_NEAR(square, 1.0, 1e-9);
}

TEST(Lmkl, ObjectiveFallsAndTheRefereeAgrees) {
  const test::BinaryProblem problem = test::binary_problem(60, 3, {0.5, 1.0, 3.0}, 6);
  const auto bank = bank_of(problem);
  for (const char* gate : {"softmax", "sigmoid"}) {
    LmklOptions options;
    options.gate = gate;
    options.steps = 15;
    options.probability = false;
    const FitResult fit = methods::fit_lmkl(*bank, problem.targets, options, {});
    ASSERT_GT(fit.report.trace.size(), 2U);
    for (std::size_t k = 1; k < fit.report.trace.size(); ++k) {
      EXPECT_LT(fit.report.trace[k].objective, fit.report.trace[k - 1].objective);
    }
    const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
    EXPECT_FALSE(certificate.proof);
    EXPECT_NEAR(certificate.items[0].value, fit.report.objective, 2e-5 * fit.report.objective);
    EXPECT_LE(certificate.items[2].value, 1.1e-5);
    // Gates kept in the model are what its functions give, to rounding.
    EXPECT_LE(certificate.items.back().value, 1e-9);
    Model altered = fit.model;
    edit_part<GatedPart>(altered).gates.outputs[0].parameters(0, 0) += 0.5;
    EXPECT_GT(certify(*bank, problem.targets, altered, {}).items.back().value, 1e-3);
  }
}

// Σ_p g_p(x) Σ_n c_n g_p(x_n) k_p(x, x_n) + b from the entries.
// At a price that no double can compute with, the SVM behind the gates fails; that is no convergence.
TEST(Lmkl, AFailedMachineIsNotConverged) {
  const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 3.0}, 6);
  const auto bank = bank_of(problem);
  LmklOptions options;
  options.C = 1e25;
  options.probability = false;
  const FitResult fit = methods::fit_lmkl(*bank, problem.targets, options, {});
  ASSERT_GT(certify(*bank, problem.targets, fit.model, {}).items[2].value, 0.5) << "the SVM did not fail";
  EXPECT_NE(fit.report.status, Status::converged);
  EXPECT_NE(fit.report.message.find("above the 1.0e-05 asked for"), std::string::npos) << fit.report.message;
}

TEST(Lmkl, PredictsByTheGatesOfBothSamples) {
  const test::BinaryProblem problem = test::binary_problem(40, 3, {0.5, 2.0}, 7);
  const auto bank = bank_of(problem);
  LmklOptions options;
  options.steps = 5;
  const FitResult fit = methods::fit_lmkl(*bank, problem.targets, options, {});
  const Predictions p = predict(fit.model, *bank, {}, {});
  const Matrix& g = part_of<GatedPart>(fit.model).gates.outputs[0].samples;
  for (Index i = 0; i < 40; ++i) {
    double sum = fit.model.bias[0];
    double total = 0.0;
    for (Index m = 0; m < bank->kernels(); ++m) {
      total += g(i, m);
      for (Index n = 0; n < 40; ++n) {
        sum += g(i, m) * fit.model.coefficients(n, 0) * g(n, m) *
               problem.kernels[static_cast<std::size_t>(m)](i, n);
      }
    }
    EXPECT_NEAR(p.scores(i, 0), sum, 1e-8 * (1.0 + std::abs(sum)));
    EXPECT_NEAR(total, std::sqrt(3.0), 1e-9);  // a softmax times √P
    EXPECT_NEAR(p.probabilities(i, 0) + p.probabilities(i, 1), 1.0, 1e-12);
  }
}

TEST(Lmkl, SeveralClassesAndNumbersArePredicted) {
  const auto problem = test::simplex_problem(60, 3, {0.5, 2.0}, 8, 0.3);
  const auto bank = bank_of(problem);
  LmklOptions options;
  options.C = 10.0;
  options.steps = 5;
  options.folds = 3;
  const FitResult fit = methods::fit_lmkl(*bank, problem.targets, options, {});
  const Predictions p = predict(fit.model, *bank, {}, {});
  Index right = 0;
  for (std::size_t i = 0; i < 60; ++i) right += p.codes[i] == problem.targets.codes[i] ? 1 : 0;
  EXPECT_GE(right, 57);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(60, 1);
  for (Index i = 0; i < 60; ++i) numbers.values(i, 0) = 1000.0 + 300.0 * std::sin(problem.x(i, 0));
  options.C_grid = "1,10";
  const FitResult line = methods::fit_lmkl(*bank, numbers, options, {});
  const Predictions q = predict(line.model, *bank, {}, {});
  double square = 0.0;
  double mean = 0.0;
  double spread = 0.0;
  for (Index i = 0; i < 60; ++i) mean += numbers.values(i, 0) / 60.0;
  for (Index i = 0; i < 60; ++i) {
    square += std::pow(q.scores(i, 0) - numbers.values(i, 0), 2);
    spread += std::pow(numbers.values(i, 0) - mean, 2);
  }
  EXPECT_LE(square, 0.1 * spread);
  EXPECT_NEAR(certify(*bank, numbers, line.model, {}).items[0].value, line.report.objective,
              2e-5 * line.report.objective);
}

TEST(Lmkl, TakesTheKernelOfItsGatesByNameOrNumberAndRefusesOthers) {
  const test::BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 11);
  const auto bank = bank_of(problem);
  LmklOptions options;
  options.probability = false;
  const auto space = [&](const char* gate_kernel) {
    options.gate_kernel = gate_kernel;
    return part_of<GatedPart>(methods::fit_lmkl(*bank, problem.targets, options, {}).model).gates.space;
  };
  EXPECT_EQ(space("cosine"), (Vector{0.0, 1.0}));
  EXPECT_EQ(space("2"), (Vector{0.0, 1.0}));
  EXPECT_EQ(space("1"), (Vector{1.0, 0.0}));
  for (const char* name : {"cosin", "0", "3", ""}) {
    options.gate_kernel = name;
    EXPECT_THROW((void)methods::fit_lmkl(*bank, problem.targets, options, {}), InvalidArgument) << name;
  }
}

}  // namespace
}  // namespace kloom
