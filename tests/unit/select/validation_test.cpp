// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/validate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/stopwatch.h"
#include "kloom/compare.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"

namespace kloom {
namespace {

// Two or three clouds in four features of very different scales.
Dataset clouds(Index samples, int classes, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Dataset data;
  data.source = "clouds";
  data.samples = samples;
  data.features = Matrix(samples, 4);
  data.target_name = "label";
  for (Index f = 0; f < 4; ++f) data.feature_info.push_back({"x" + std::to_string(f), ""});
  for (Index i = 0; i < samples; ++i) {
    const auto c = static_cast<int>(i % classes);
    data.labels.emplace_back(1, static_cast<char>('a' + c));
    for (Index f = 0; f < 4; ++f)
      data.features(i, f) = std::pow(10.0, static_cast<double>(f)) * (normal(random) + (f < 2 ? 1.1 * c : 0.0));
  }
  return data;
}

ValidationRequest request_for(const Targets& targets, const std::string& method, Index folds = 3) {
  ValidationRequest request;
  // Everything that is fitted: widths by quantiles, traces, variances, centres.
  request.spec = parse_kernel_spec(
      "rbf(auto, count=2); poly(degree=2, normalise=unit-trace); "
      "linear(normalise=centre); linear(normalise=unit-variance)");
  request.candidates = {{method, {}, {}}};
  SplitRequest splits;
  splits.folds = folds;
  request.splits = make_splits(targets, splits, 1);
  return request;
}

Context one_thread() {
  Context context;
  context.threads = 1;
  return context;
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.split, b.split);
  EXPECT_EQ(a.candidate, b.candidate);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.evaluation.values, b.evaluation.values);
  EXPECT_EQ(a.predictions.codes, b.predictions.codes);
  EXPECT_EQ(a.predictions.scores, b.predictions.scores);
  EXPECT_EQ(a.predictions.probabilities, b.predictions.probabilities);
  EXPECT_EQ(a.chosen, b.chosen);
}

// The prediction of the first held-out sample of the first split.
double first_score(const Dataset& data, const Targets& targets, const ValidationRequest& request) {
  const Validation validation = cross_validate(data, targets, request, one_thread());
  EXPECT_EQ(validation.outcomes.size(), 1u);
  EXPECT_EQ(validation.outcomes.front().failure, "");
  return validation.outcomes.front().predictions.scores(0, 0);
}

// What a careless program does: standardise, choose widths and normalise on all samples, then split.
double leaky_score(const Dataset& data, const Targets& targets, const ValidationRequest& request) {
  const Split& split = request.splits.front();
  const Recipe recipe = Recipe::fit(data, request.spec, request.recipe, one_thread());
  const auto all = recipe.training_bank();
  std::vector<Matrix> train(static_cast<std::size_t>(all->kernels()),
                            Matrix(std::ssize(split.train), std::ssize(split.train)));
  std::vector<Matrix> test(train.size(), Matrix(1, std::ssize(split.train)));
  Vector row(static_cast<std::size_t>(all->cols()));
  for (Index p = 0; p < all->kernels(); ++p) {
    for (Index i = -1; i < std::ssize(split.train); ++i) {
      const Index sample = i < 0 ? split.test.front() : split.train[static_cast<std::size_t>(i)];
      all->panels({p, p + 1}, {sample, sample + 1}, row.data());
      for (std::size_t j = 0; j < split.train.size(); ++j) {
        const double value = row[static_cast<std::size_t>(split.train[j])];
        (i < 0 ? test : train)[static_cast<std::size_t>(p)](std::max<Index>(i, 0), static_cast<Index>(j)) =
            value;
      }
    }
  }
  Targets known;
  known.task = targets.task;
  known.classes = targets.classes;
  for (const Index i : split.train) known.codes.push_back(targets.codes[static_cast<std::size_t>(i)]);
  const auto bank = make_dense_bank(train, all->names(), true);
  const auto fit = find_learner(request.candidates.front().method).fit(*bank, known, {}, one_thread());
  const auto rows = make_dense_bank(test, all->names(), false);
  return predict(fit.model, *rows, {}, one_thread()).scores(0, 0);
}

// Held-out samples other than the first one, moved and relabelled.
Dataset disturbed(const Dataset& data, const Split& split) {
  Dataset changed = data;
  for (std::size_t k = 1; k < split.test.size(); ++k) {
    for (Index f = 0; f < data.features.cols(); ++f)
      changed.features(split.test[k], f) = -7.0 * data.features(split.test[k], f) + 50.0;
    changed.labels[static_cast<std::size_t>(split.test[k])] = "a";
  }
  return changed;
}

// A prediction may depend on the training part and on the sample itself, and on nothing else: if other held-out
// samples change and the prediction moves by one bit, something was fitted on them.
TEST(Leaks, NoMethodSeesTheOtherHeldOutSamples) {
  const Dataset data = clouds(48, 2, 5);
  const Targets targets = make_targets(data.labels, {});
  for (const Learner& learner : all_learners()) {
    if (std::ranges::find(learner.tasks, Task::binary) == learner.tasks.end()) continue;
    ValidationRequest request = request_for(targets, learner.name);
    // A product needs kernels above 0.
    if (learner.name == "gmkl") request.spec = parse_kernel_spec("rbf(auto, count=2, normalise=unit-trace)");
    request.splits.resize(1);
    const Dataset changed = disturbed(data, request.splits.front());
    const Targets relabelled = make_targets(changed.labels, {});
    EXPECT_EQ(first_score(data, targets, request), first_score(changed, relabelled, request)) << learner.name;
  }
}

TEST(Leaks, TheChoiceFromAGridDoesNotEither) {
  const Dataset data = clouds(48, 2, 6);
  const Targets targets = make_targets(data.labels, {});
  for (const std::string metric : {"accuracy", "log loss"}) {  // walked by the method, and by inner folds
    ValidationRequest request = request_for(targets, "uniform");
    request.candidates.front().grid = {{"C", {"0.01", "1", "100"}}};
    request.metric = metric;
    request.splits.resize(1);
    const Dataset changed = disturbed(data, request.splits.front());
    const Targets relabelled = make_targets(changed.labels, {});
    EXPECT_EQ(first_score(data, targets, request), first_score(changed, relabelled, request)) << metric;
  }
}

TEST(Leaks, TheTestWouldCatchOne) {
  const Dataset data = clouds(48, 2, 5);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "uniform");
  const Dataset changed = disturbed(data, request.splits.front());
  EXPECT_NE(leaky_score(data, targets, request), leaky_score(changed, targets, request));
}

TEST(Validation, AgreesWithTheSameStepsByHand) {
  const Dataset data = clouds(60, 3, 2);
  const Targets targets = make_targets(data.labels, {});
  const ValidationRequest request = request_for(targets, "uniform");
  const Validation validation = cross_validate(data, targets, request, one_thread());
  ASSERT_EQ(validation.outcomes.size(), 3u);
  for (const Outcome& outcome : validation.outcomes) {
    const Split& split = request.splits[static_cast<std::size_t>(outcome.split)];
    const Dataset train = select_samples(data, split.train);
    const Dataset test = select_samples(data, split.test);
    const Recipe recipe = Recipe::fit(train, request.spec, {}, one_thread());
    const auto bank = store_bank(recipe.training_bank(), {}, one_thread());
    FitResult fit = find_learner("uniform").fit(*bank, make_targets(train.labels, {}), {}, one_thread());
    fit.model.recipe = recipe;
    const Predictions expected = predict(fit.model, test, {}, one_thread());
    EXPECT_EQ(outcome.predictions.scores, expected.scores);
    EXPECT_EQ(outcome.predictions.codes, expected.codes);
    EXPECT_EQ(outcome.evaluation.values, evaluate(expected, targets_for(fit.model, test.labels)).values);
  }
}

TEST(Validation, ThreadsDoNotChangeTheTable) {
  const Dataset data = clouds(60, 2, 3);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "bemkl", 5);
  request.candidates.push_back({"single", {}, {}});
  Context two;
  two.threads = 2;
  const Validation a = cross_validate(data, targets, request, one_thread());
  const Validation b = cross_validate(data, targets, request, two);
  ASSERT_EQ(a.outcomes.size(), 10u);
  ASSERT_EQ(b.outcomes.size(), 10u);
  for (std::size_t k = 0; k < 10; ++k) expect_same(a.outcomes[k], b.outcomes[k]);
}

// A file that is gone at the end of the test.
class Scratch {
 public:
  Scratch() : path_(testing::TempDir() + "kloom_journal_" + std::to_string(getpid())) {
    std::remove(path_.c_str());
  }
  ~Scratch() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Validation, InterruptedAndResumedIsTheSame) {
  const Dataset data = clouds(60, 2, 4);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "single", 4);
  request.candidates.push_back({"uniform", {}, {{"C", {"0.1", "10"}}}});
  const Validation whole = cross_validate(data, targets, request, one_thread());
  const Scratch journal;
  request.journal = journal.path();
  Context stopping = one_thread();
  stopping.progress = [](const Progress& p) { return p.step >= 3 ? Signal::stop : Signal::go_on; };
  const Validation part = cross_validate(data, targets, request, stopping);
  EXPECT_TRUE(part.interrupted);
  EXPECT_LT(part.outcomes.size(), whole.outcomes.size());
  EXPECT_GE(part.outcomes.size(), 3u);
  // A line that a crash cut off is done again.
  std::ofstream(journal.path(), std::ios::app) << "{\"candidate\": 1, \"spl";
  const Validation resumed = cross_validate(data, targets, request, one_thread());
  EXPECT_EQ(resumed.taken_from_journal, std::ssize(part.outcomes));
  ASSERT_EQ(resumed.outcomes.size(), whole.outcomes.size());
  for (std::size_t k = 0; k < whole.outcomes.size(); ++k) expect_same(resumed.outcomes[k], whole.outcomes[k]);

  const Validation again = cross_validate(data, targets, request, one_thread());
  EXPECT_EQ(again.taken_from_journal, std::ssize(whole.outcomes));
  for (std::size_t k = 0; k < whole.outcomes.size(); ++k) expect_same(again.outcomes[k], whole.outcomes[k]);
}

TEST(Validation, JournalsOfOtherRunsAndOtherFilesAreRefused) {
  const Dataset data = clouds(40, 2, 4);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "uniform");
  const Scratch journal;
  request.journal = journal.path();
  (void)cross_validate(data, targets, request, one_thread());
  request.candidates.front().options["C"] = "3";
  EXPECT_THROW((void)cross_validate(data, targets, request, one_thread()), InvalidArgument);
  Dataset other = data;
  other.features(0, 0) += 1e-9;
  request.candidates.front().options.clear();
  EXPECT_THROW((void)cross_validate(other, targets, request, one_thread()), InvalidArgument);
  for (const char* content : {"a,b\n1,2\n", "something else", "{\"kloom_journal\": 2}\n", "{}\n"}) {
    std::ofstream(journal.path()) << content;
    EXPECT_THROW((void)cross_validate(data, targets, request, one_thread()), InvalidArgument) << content;
    std::ifstream file(journal.path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content)
        << "a file that is not ours stays as it is";
  }
}

TEST(Validation, AMethodThatCannotHasThatAsItsOutcome) {
  Dataset data = clouds(40, 2, 4);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "uniform");
  request.candidates.push_back({"simplemkl", {{"C", "-1"}}, {}});
  const Comparison comparison = summarise(request, cross_validate(data, targets, request, one_thread()));
  ASSERT_EQ(comparison.methods.size(), 1u);
  EXPECT_EQ(comparison.methods.front().candidate.method, "uniform");
  ASSERT_EQ(comparison.left_out.size(), 1u);
  EXPECT_NE(comparison.left_out.front().second.find("option C"), std::string::npos);
}

TEST(Validation, AClassThatTheTrainingPartLacksIsPredictedWrongNotCrashed) {
  Dataset data = clouds(41, 2, 4);
  data.labels.back() = "rare";
  const Targets targets = make_targets(data.labels, {});
  const ValidationRequest request = request_for(targets, "bemkl");
  const Validation validation = cross_validate(data, targets, request, one_thread());
  ASSERT_EQ(validation.outcomes.size(), 3u);
  for (const Outcome& outcome : validation.outcomes) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(outcome.evaluation.confusion.size(), 3u);
  }
}

TEST(Validation, InnerFoldsChooseWhatIsBest) {
  // Labels that only the radius tells: a linear kernel is blind to them, so a choice between normed options
  // must be made by looking. C = 1e-6 predicts one class for all.
  Dataset data = clouds(60, 2, 9);
  const Targets targets = make_targets(data.labels, {});
  ValidationRequest request = request_for(targets, "uniform");
  request.metric = "log loss";
  request.candidates.front().grid = {{"C", {"1e-06", "1"}}};
  for (const Outcome& outcome : cross_validate(data, targets, request, one_thread()).outcomes)
    EXPECT_EQ(outcome.chosen.at("C"), "1");
}

TEST(GridAxis, RangesChoicesAndMistakes) {
  const Learner& learner = find_learner("simplemkl");
  EXPECT_EQ(parse_grid_axis("C=1e-1..1e2", learner).second,
            (std::vector<std::string>{"0.1", "1", "10", "100"}));
  EXPECT_EQ(parse_grid_axis("class_weight=none,balanced", learner).second,
            (std::vector<std::string>{"none", "balanced"}));
  for (const char* wrong : {"C", "=3", "C=", "D=1", "C=a..b"})
    EXPECT_THROW((void)parse_grid_axis(wrong, learner), InvalidArgument) << wrong;
}

TEST(PreferredBank, StoresEntriesForMethodsThatCombineOftenWhereTheyFit) {
  constexpr std::size_t kBytes = 100 * 100 * 7 * sizeof(double);
  const Learner& margin = find_learner("simplemkl");
  EXPECT_EQ(preferred_bank(margin, 100, 7, 4 * kBytes).kind, BankKind::dense);
  EXPECT_EQ(preferred_bank(margin, 100, 7, 4 * kBytes - 1).kind, BankKind::automatic);
  EXPECT_EQ(preferred_bank(find_learner("bemkl"), 100, 7, 1000 * kBytes).kind, BankKind::automatic);
  EXPECT_TRUE(preferred_bank(find_learner("mkl-da"), 100, 7, kBytes).families);
  EXPECT_FALSE(preferred_bank(margin, 100, 7, kBytes).families);
  // Few rows of many samples are computed as they are asked for, unless an entry takes long and there is room.
  const Learner& automatic = find_learner("auto");
  const Index many = automatic.stores_up_to + 1;
  const auto room = static_cast<std::size_t>(4 * 7 * many * many) * sizeof(double);
  EXPECT_EQ(preferred_bank(automatic, many, 7, room, 20).kind, BankKind::computed);
  EXPECT_EQ(preferred_bank(automatic, many, 7, room, 2000).kind, BankKind::dense);
  EXPECT_EQ(preferred_bank(automatic, many, 7, room - 1, 2000).kind, BankKind::computed);
}

TEST(Compare, FitsItsBudgetAndNamesWhatIsLeftOut) {
  const Dataset data = clouds(60, 2, 5);
  const Targets targets = make_targets(data.labels, {});
  ComparisonRequest request;
  request.validation.spec = parse_kernel_spec("rbf(auto, count=2)");
  request.methods = {"uniform", "single"};
  request.splits.folds = 3;
  request.seconds = 60.0;
  const Stopwatch clock;
  const Comparison comparison = compare(data, targets, request, one_thread());
  EXPECT_LE(clock.seconds(), request.seconds);
  EXPECT_EQ(comparison.budget_seconds, request.seconds);
  EXPECT_GT(comparison.estimated_seconds, 0.0);
  EXPECT_LE(comparison.estimated_seconds, request.seconds);
  EXPECT_FALSE(comparison.validation.out_of_time);
  EXPECT_EQ(comparison.complete_splits, 3);
  ASSERT_EQ(comparison.methods.size(), 2u);
  EXPECT_EQ(comparison.recommended, comparison.methods.front().candidate.method);
  EXPECT_NE(comparison.recommendation.find(comparison.recommended), std::string::npos);
  EXPECT_EQ(comparison.left_out.size(), all_learners().size() - 2);
  ASSERT_TRUE(comparison.final_fit.has_value());
  EXPECT_TRUE(comparison.final_fit->model.recipe.has_value());
  EXPECT_GE(comparison.methods.front().find("accuracy")->mean,
            comparison.methods.back().find("accuracy")->mean);
}

TEST(Compare, ShrinksToAShortBudgetAndSaysSo) {
  const Dataset data = clouds(90, 2, 5);
  const Targets targets = make_targets(data.labels, {});
  ComparisonRequest request;
  request.validation.spec = parse_kernel_spec("rbf(auto, count=2)");
  request.methods = {"uniform", "single"};
  request.splits.repeats = 100000;
  request.seconds = 2.0;
  const Stopwatch clock;
  const Comparison comparison = compare(data, targets, request, one_thread());
  // Validation ends at 0.9 of the budget and the last fit gets at least 0.1 of it. Both ask for the time at every
  // step, and a step takes milliseconds: twice the budget is far more than that, also on a busy machine.
  EXPECT_LE(clock.seconds(), 2.0 * request.seconds);
  EXPECT_LE(comparison.estimated_seconds, request.seconds);
  EXPECT_GT(comparison.complete_splits, 0);
  ASSERT_FALSE(comparison.notes.empty());
  EXPECT_NE(comparison.notes.front().find("of 100000 repeats"), std::string::npos) << comparison.notes.front();
  EXPECT_LT(comparison.request.splits.size(), 100000u);
}

// A method whose grid is too slow for a trial is planned without it; if the method itself is too slow as well, it is left
// out, and the plan in the journal must not name it any more.
TEST(Compare, WhatIsLeftOutIsNowhereElseInThePlan) {
  Learner slow = find_learner("uniform");
  slow.name = "slow";
  slow.fit = [fit = slow.fit](const KernelBank& bank, const Targets& targets, const OptionValues& options,
                              const Context& context) {
    const bool grid = options.contains("C_grid");
    for (const Stopwatch clock; clock.seconds() < (grid ? 60.0 : 0.7);) {
      const Progress here{"sleeping", 0, 0, std::nan(""), clock.seconds()};
      if (context.progress && context.progress(here) != Signal::go_on) throw Interrupted("woken");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return fit(bank, targets, options, context);
  };
  register_learner(slow);
  const Dataset data = clouds(60, 2, 5);
  const Targets targets = make_targets(data.labels, {});
  ComparisonRequest request;
  request.validation.spec = parse_kernel_spec("rbf(auto, count=2)");
  request.methods = {"uniform", "slow"};
  request.seconds = 2.2;  // its three folds take 0.7 s each, its grid longer than the second that a trial may
  const auto journal = std::filesystem::temp_directory_path() / fmt::format("kloom-plan-{}.jsonl", getpid());
  std::filesystem::remove(journal);
  request.validation.journal = journal.string();
  const Comparison comparison = compare(data, targets, request, one_thread());
  std::filesystem::remove(journal);
  ASSERT_EQ(comparison.methods.size(), 1u);
  EXPECT_EQ(comparison.methods.front().candidate.method, "uniform");
  EXPECT_TRUE(std::ranges::any_of(comparison.left_out, [](const auto& one) {
    return one.first == "slow" && one.second.starts_with("would take about");
  }));
  for (const std::string& note : comparison.notes)
    EXPECT_EQ(note.find("slow keeps"), std::string::npos) << note;
}

}  // namespace
}  // namespace kloom
