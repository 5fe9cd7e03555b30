// SPDX-License-Identifier: BSD-3-Clause
//
// What the referee of each method calls proved, checked and refuted, without and with a report of the training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "kloom/certify.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "kloom/train.h"
#include "support/problems.h"

namespace kloom {
namespace {

using testing::HasSubstr;
using testing::Not;
using Finding = Certificate::Finding;

struct Case {
  std::unique_ptr<KernelBank> bank;
  Targets targets;
  Model model;
};

// The model of a fit, with the report of its training in it or not.
Case fitted(const std::string& method, const OptionValues& options, bool with_report) {
  const auto problem = test::binary_problem(60, 3, {0.5, 1.0, 2.0}, 5);
  Case made{test::bank_of(problem), problem.targets, {}};
  TrainRequest request;
  request.method = method;
  request.options = options;
  request.evaluate = true;
  made.model = train(*made.bank, made.targets, request, {}).model;
  if (!with_report) made.model.report_json.clear();
  return made;
}

Certificate judged(const Case& made) {
  return certify(*made.bank, made.targets, made.model, {});
}

const OptionValues kPrice = {{"C", "1"}};

TEST(Referee, ProvesConvexMethodsAndOnlyChecksTheOthers) {
  for (const char* method : {"simplemkl", "lp-mkl", "lp-beta", "mcmkl", "uniform", "single"})
    EXPECT_EQ(judged(fitted(method, kPrice, true)).finding, Finding::proved) << method;
  for (const char* method : {"samkl", "lmkl"})
    EXPECT_EQ(judged(fitted(method, kPrice, true)).finding, Finding::checked) << method;
  for (const char* method : {"auto", "bemkl", "gp-mkl", "mkl-da", "ufo-mkl", "vbpmkl"})
    EXPECT_EQ(judged(fitted(method, {}, true)).finding, Finding::checked) << method;
}

TEST(Referee, FixedWeightsAreNotCalledTheBest) {
  for (const char* method : {"uniform", "single"}) {
    const Certificate certificate = judged(fitted(method, kPrice, false));
    EXPECT_THAT(certificate.verdict, HasSubstr("With these kernel weights")) << method;
    EXPECT_THAT(certificate.verdict, Not(HasSubstr("No kernel weights"))) << method;
  }
  // The objective that other weights have is below, so the sentence would have been false.
  EXPECT_LT(judged(fitted("simplemkl", kPrice, false)).items[0].value,
            judged(fitted("uniform", kPrice, false)).items[0].value * (1.0 - 1e-2));
}

TEST(Referee, ALargeGapIsNoProof) {
  const Certificate certificate = judged(fitted("ufo-mkl", {{"epochs", "1"}}, false));
  EXPECT_EQ(certificate.items[2].name, "duality gap");
  EXPECT_GT(certificate.items[2].value, 0.1);
  EXPECT_FALSE(certificate.proof);
  EXPECT_EQ(certificate.finding, Finding::checked);
}

TEST(Referee, NumbersThatAreNoneAreNoProof) {
  for (const char* method : {"simplemkl", "lp-mkl", "uniform", "mcmkl"}) {
    Case made = fitted(method, kPrice, false);
    made.model.weights.values(0, 0) = std::numeric_limits<double>::quiet_NaN();
    const Certificate certificate = judged(made);
    EXPECT_EQ(certificate.finding, Finding::refuted) << method;
    EXPECT_FALSE(certificate.proof);
    EXPECT_THAT(certificate.verdict, HasSubstr("kernel weight"));
  }
}

TEST(Referee, NegatedWeightsAreRefuted) {
  Case made = fitted("lp-mkl", kPrice, false);
  for (double& weight : made.model.weights.values.values()) weight = -weight;
  EXPECT_EQ(judged(made).finding, Finding::refuted);
}

// A weight with another norm than 1 scores otherwise, whatever the referee would make of the rest.
TEST(Referee, WeightsOfAnotherNormAreRefuted) {
  for (const char* method : {"simplemkl", "lp-mkl", "uniform", "single", "mcmkl"}) {
    Case made = fitted(method, kPrice, false);
    for (double& weight : made.model.weights.values.values()) weight *= 1.001;
    EXPECT_EQ(judged(made).finding, Finding::refuted) << method;
  }
}

TEST(Referee, TheBiasIsTheModelsOwn) {
  for (const char* method : {"simplemkl", "lp-mkl", "uniform", "mcmkl", "samkl", "lmkl"}) {
    Case made = fitted(method, kPrice, false);
    const double before = judged(made).items[2].value;
    made.model.bias[0] += 1000.0;
    const Certificate alone = judged(made);
    EXPECT_FALSE(alone.proof) << method;
    EXPECT_GT(alone.items[2].value, before + 0.5) << method;
    made = fitted(method, kPrice, true);
    made.model.bias[0] += 1000.0;
    EXPECT_EQ(judged(made).finding, Finding::refuted) << method;
  }
  for (const char* method : {"auto", "gp-mkl", "mkl-da", "ufo-mkl", "vbpmkl"}) {
    Case made = fitted(method, {}, false);
    made.model.bias[0] += 1.0;
    EXPECT_EQ(judged(made).finding, Finding::refuted) << method;
  }
}

// Without any report: the structure of the solutions alone.
TEST(Referee, MkldaIsRefutedByItsOwnNumbers) {
  const std::vector<std::function<void(StochasticPart&)>> edits = {
      [](StochasticPart& part) { part.terms[0].weights(0, 1) *= 1.001; },
      [](StochasticPart& part) { part.penalties(1, 1) *= 1.001; },
      [](StochasticPart& part) {
        for (double& a : part.terms[0].coefficients.values()) a = -a;
      },
  };
  for (const auto& edit : edits) {
    Case made = fitted("mkl-da", {}, false);
    EXPECT_EQ(judged(made).finding, Finding::checked);
    edit(edit_part<StochasticPart>(made.model));
    EXPECT_EQ(judged(made).finding, Finding::refuted);
  }
}

TEST(Referee, WhatTrainingPromisedIsCompared) {
  Case made = fitted("simplemkl", kPrice, true);
  const std::string promised = made.model.report_json;
  const auto with = [&](const std::function<void(nlohmann::json&)>& edit) {
    auto report = nlohmann::json::parse(promised);
    edit(report);
    made.model.report_json = report.dump();
    return judged(made);
  };
  EXPECT_EQ(with([](auto&) {}).finding, Finding::proved);
  const Certificate other = with([](auto& report) { report["objective"] = 1.5 * double(report["objective"]); });
  EXPECT_EQ(other.finding, Finding::refuted);
  EXPECT_THAT(other.refutations.front(), HasSubstr("primal objective"));
  EXPECT_EQ(with([](auto& report) { report["certificate"]["items"][2]["value"] = 0.5; }).finding,
            Finding::refuted);
  const Certificate sums = with([](auto& report) {
    auto& one = report["training_sums"]["scores"][0][1];
    one = 1.0 + double(one);
  });
  EXPECT_EQ(sums.finding, Finding::refuted);
  EXPECT_THAT(sums.refutations.front(), HasSubstr("scores of the training samples"));
  // Reports of earlier programs have neither, and their items may have meant something else.
  EXPECT_EQ(with([](auto& report) {
              report.erase("training_sums");
              report["certificate"].erase("finding");
              report["certificate"]["items"][2]["value"] = 0.5;
            }).finding,
            Finding::proved);
  for (const char* text : {"{", "[]", "7", R"({"certificate": 3, "training_sums": 1, "objective_name": []})",
                           R"({"certificate": {"finding": 1, "items": [1, {"name": 2, "value": 1}]}})"}) {
    made.model.report_json = text;
    EXPECT_NO_THROW((void)judged(made)) << text;
  }
}

TEST(Referee, ProbabilityCurvesAreThoseOfTraining) {
  Case made = fitted("simplemkl", kPrice, true);
  edit_part<MarginPart>(made.model).platt(0, 1) += 0.01;
  const Certificate certificate = judged(made);
  EXPECT_EQ(certificate.finding, Finding::refuted);
  EXPECT_THAT(certificate.verdict, HasSubstr("probabilities"));
}

// A tolerance that somebody wrote into the model proves nothing by itself.
TEST(Referee, NoToleranceMakesAnyGapAProof) {
  Case made = fitted("simplemkl", {{"C", "100"}, {"iterations", "1"}, {"tolerance", "1e-3"}}, false);
  const double gap = judged(made).items[2].value;
  ASSERT_GT(gap, 1e-2);
  made.model.options_json = R"({"tolerance": "1000"})";
  const Certificate certificate = judged(made);
  EXPECT_FALSE(certificate.proof);
  EXPECT_LE(certificate.tolerance, 1e-2);
}

}  // namespace
}  // namespace kloom
