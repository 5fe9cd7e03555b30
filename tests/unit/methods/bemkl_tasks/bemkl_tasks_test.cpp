// SPDX-License-Identifier: BSD-3-Clause
//
// Several tasks as a whole: one task is BEMKL itself, orders do not matter, files, the referee, tables, and what is refused.
#include "kloom/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "support/files.h"
#include "unit/methods/bemkl_tasks/made_up_tasks.h"

namespace kloom {
namespace {

using namespace test;

const OptionValues kShared{{"weights_across", "shared"}, {"calibration", "none"}};

MadeUpTasks few_tasks(unsigned seed = 3) {
  MadeUp made;
  made.tasks = 4;
  made.samples = 18;
  made.features = 5;
  made.fresh = 12;
  return made_up_tasks(made, seed);
}

std::string refusal_of(const std::vector<TaskData>& tasks, const OptionValues& options = kShared) {
  try {
    static_cast<void>(train_tasks(tasks, options, {}));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

// The same updates in the same order: only rounding differs, which the passes until the bound settles (some dozens) may
// multiply, and 1e-7 of the bound is a hundredth of the rule by which they end.
TEST(BemklTasks, OneTaskIsBemklItself) {
  const MadeUpTasks made = few_tasks();
  for (std::size_t t = 0; t < 2; ++t) {
    const std::vector<TaskData> one{made.train[t]};
    const TasksFit fit = train_tasks(one, kShared, {});
    // Numbers: with the precision of the kernels' outputs that was given to them.
    auto options = nlohmann::json::parse(fit.models.models.front().options_json).get<OptionValues>();
    const FitResult plain = find_learner("bemkl").fit(*one[0].bank, one[0].targets, options, {});
    EXPECT_NEAR(fit.report.objective, plain.report.objective, 1e-7 * std::abs(plain.report.objective));
    EXPECT_LT(
        relative_difference(fit.models.models.front().coefficients.values(), plain.model.coefficients.values()),
        1e-3);
  }
}

TEST(BemklTasks, SeparateWeightsAreBemklOfEachTask) {
  const MadeUpTasks made = few_tasks();
  const TasksFit fit = train_tasks(made.train, {{"weights_across", "separate"}}, {});
  EXPECT_FALSE(fit.models.shared);
  double sum = 0.0;
  for (std::size_t t = 0; t < made.train.size(); ++t) {
    const auto options = nlohmann::json::parse(fit.models.models[t].options_json).get<OptionValues>();
    const FitResult plain = find_learner("bemkl").fit(*made.train[t].bank, made.train[t].targets, options, {});
    EXPECT_EQ(fit.models.models[t].coefficients, plain.model.coefficients);
    EXPECT_EQ(part_of<BemklPosterior>(fit.models.models[t]).temperature,
              part_of<BemklPosterior>(plain.model).temperature);
    sum += plain.report.objective;
  }
  EXPECT_NEAR(fit.report.objective, sum, 1e-12 * std::abs(sum));
}

TEST(BemklTasks, OrdersOfTasksDoNotMatter) {
  const MadeUpTasks made = few_tasks();
  std::vector<TaskData> turned(made.train.rbegin(), made.train.rend());
  OptionValues options = kShared;
  options["tolerance"] = "1e-9";
  const TasksFit one = train_tasks(made.train, options, {});
  const TasksFit other = train_tasks(turned, options, {});
  EXPECT_NEAR(one.report.objective, other.report.objective, 1e-7 * std::abs(one.report.objective));
  for (const TaskData& task : made.train) {
    const Predictions a = predict(model_of(one.models, task.name), *task.bank, {}, {});
    const Predictions b = predict(model_of(other.models, task.name), *task.bank, {}, {});
    EXPECT_LT(relative_difference(a.scores.values(), b.scores.values()), 1e-3);
  }
}

TEST(BemklTasks, OrdersOfSamplesAndKernelsDoNotMatter) {
  const MadeUpTasks made = few_tasks();
  std::vector<TaskData> turned;
  for (const TaskData& task : made.train) {
    const Index n = task.bank->rows();
    std::vector<Matrix> kernels;
    std::vector<std::string> names = task.bank->names();
    for (Index p = task.bank->kernels() - 1; p >= 0; --p) {
      const Matrix k = kernel_of(*task.bank, p);
      Matrix back(n, n);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) back(i, j) = k(n - 1 - i, n - 1 - j);
      kernels.push_back(std::move(back));
    }
    std::ranges::reverse(names);
    Targets targets = task.targets;
    std::ranges::reverse(targets.codes);
    std::ranges::reverse(targets.values.values());
    turned.push_back({task.name, make_dense_bank(kernels, names, true), std::move(targets)});
  }
  OptionValues options = kShared;
  options["tolerance"] = "1e-9";
  const TasksFit one = train_tasks(made.train, options, {});
  const TasksFit other = train_tasks(turned, options, {});
  EXPECT_NEAR(one.report.objective, other.report.objective, 1e-7 * std::abs(one.report.objective));
  const Matrix& weights = one.models.models.front().weights.values;
  for (Index m = 0; m < weights.cols(); ++m)
    EXPECT_NEAR(weights(0, m), other.models.models.front().weights.values(0, weights.cols() - 1 - m), 1e-3);
}

TEST(BemklTasks, SharedWeightsAreTheSameBitsInEveryModel) {
  const MadeUpTasks made = few_tasks();
  const TasksFit fit = train_tasks(made.train, kShared, {});
  ASSERT_TRUE(fit.models.shared);
  for (const Model& model : fit.models.models)
    EXPECT_EQ(model.weights.values, fit.models.models.front().weights.values);
  EXPECT_EQ(fit.models.models[0].task, Task::regression);
  EXPECT_EQ(fit.models.models[1].task, Task::binary);
}

TEST(BemklTasks, RefereeFindsTheReportedBound) {
  const MadeUpTasks made = few_tasks();
  for (const char* across : {"shared", "separate", "auto"}) {
    TasksFit fit = train_tasks(made.train, {{"weights_across", across}}, {});
    const Certificate found = certify_tasks(made.train, fit.models, {});
    EXPECT_EQ(found.finding, Certificate::Finding::checked) << across << ": " << found.verdict;
    EXPECT_NEAR(found.items.at(0).value, fit.report.objective, 1e-8 * std::abs(fit.report.objective)) << across;
    fit.models.models[1].coefficients(0, 0) += 0.5;
    const Certificate altered = certify_tasks(made.train, fit.models, {});
    EXPECT_EQ(altered.finding, Certificate::Finding::refuted);
    EXPECT_NE(altered.refutations.front().find("task 2"), std::string::npos) << altered.refutations.front();
  }
}

// A number that is twice as large in every model is refuted, whichever it is.
TEST(BemklTasks, RefereeSeesWhatWasChangedInAllTasks) {
  using Group = BemklPosterior::Group;
  struct Change {
    const char* name;
    void (*make)(Model&, Group&);
  };
  const std::vector<Change> changes = {
      {"coefficient", [](Model& model, Group&) { model.coefficients(1, 0) *= 2.0; }},
      {"bias", [](Model& model, Group&) { model.bias[0] = 2.0 * model.bias[0] + 0.1; }},
      {"kernel weight", [](Model& model, Group&) { model.weights.values(0, 1) *= 2.0; }},
      {"its deviation", [](Model& model, Group&) { model.weights.deviation(0, 1) *= 2.0; }},
      {"omega", [](Model&, Group& group) { group.omega[1] *= 2.0; }},
      {"gamma", [](Model&, Group& group) { group.gamma[0] *= 2.0; }},
      {"lambda", [](Model&, Group& group) { group.lambda(0, 0) *= 2.0; }},
      {"upsilon", [](Model&, Group& group) { group.upsilon[0] *= 2.0; }},
      {"epsilon", [](Model&, Group& group) { group.epsilon[0] *= 2.0; }},
      {"covariance", [](Model&, Group& group) { group.be_covariance(2, 2) *= 2.0; }}};
  const MadeUpTasks made = few_tasks();
  const TasksFit fit = train_tasks(made.train, kShared, {});
  EXPECT_EQ(certify_tasks(made.train, fit.models, {}).finding, Certificate::Finding::checked);
  for (const Change& change : changes) {
    TaskModels altered = fit.models;
    for (Model& model : altered.models) change.make(model, edit_part<BemklPosterior>(model).groups.front());
    EXPECT_EQ(certify_tasks(made.train, altered, {}).finding, Certificate::Finding::refuted) << change.name;
  }
}

TEST(BemklTasks, RefereeSeesWeightsThatAreNotShared) {
  const MadeUpTasks made = few_tasks();
  TasksFit fit = train_tasks(made.train, {{"weights_across", "separate"}, {"calibration", "none"}}, {});
  fit.models.shared = true;
  EXPECT_EQ(certify_tasks(made.train, fit.models, {}).finding, Certificate::Finding::refuted);
}

TEST(BemklTasks, FilesKeepEveryBit) {
  const MadeUpTasks made = few_tasks();
  TasksFit fit = train_tasks(made.train, {}, {});
  fit.models.column = "clinic";
  const kloom::testing::TemporaryFolder folder;
  const std::string path = folder.file("tasks.kloom");
  save_tasks(fit.models, path);
  const TaskModels loaded = load_tasks(path);
  EXPECT_EQ(tasks_bytes(loaded), tasks_bytes(fit.models));
  EXPECT_EQ(tasks_bytes(tasks_from_bytes(tasks_bytes(loaded))), tasks_bytes(fit.models));
  EXPECT_EQ(loaded.names, fit.models.names);
  EXPECT_EQ(loaded.column, "clinic");
  EXPECT_EQ(loaded.shared, fit.models.shared);
  EXPECT_EQ(loaded.report_json, fit.models.report_json);
  for (std::size_t t = 0; t < made.train.size(); ++t) {
    const Predictions before = predict(fit.models.models[t], *made.new_rows[t], {}, {});
    const Predictions after = predict(loaded.models[t], *made.new_rows[t], {}, {});
    EXPECT_EQ(before.scores, after.scores);
    EXPECT_EQ(before.deviation, after.deviation);
    EXPECT_EQ(before.probabilities, after.probabilities);
  }
  EXPECT_TRUE(holds_tasks(path));
  save_model(fit.models.models.front(), folder.file("one.kloom"));
  EXPECT_FALSE(holds_tasks(folder.file("one.kloom")));
  EXPECT_FALSE(holds_tasks(folder.file("nothing.kloom")));
  EXPECT_THROW(static_cast<void>(load_model(path)), FileError);
  EXPECT_THROW(static_cast<void>(load_tasks(folder.file("one.kloom"))), FileError);
}

// Every byte is under a checksum: a change anywhere is refused.
TEST(BemklTasks, DamagedFilesAreRefused) {
  const MadeUpTasks made = few_tasks();
  std::vector<TaskData> two(made.train.begin(), made.train.begin() + 2);
  const std::string whole =
      tasks_bytes(train_tasks(two, {{"variance", "false"}, {"calibration", "none"}}, {}).models);
  for (std::size_t place = 0; place < whole.size(); place += 97) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 4);
    EXPECT_THROW(static_cast<void>(tasks_from_bytes(damaged)), Error) << "byte " << place;
  }
  for (std::size_t length = 0; length < whole.size(); length += 311)
    EXPECT_THROW(static_cast<void>(tasks_from_bytes(whole.substr(0, length))), Error) << "length " << length;
}

TEST(BemklTasks, WhatDoesNotBelongTogetherIsNotSaved) {
  const MadeUpTasks made = few_tasks();
  const TasksFit fit = train_tasks(made.train, kShared, {});
  TaskModels same_names = fit.models;
  same_names.names[1] = same_names.names[0];
  EXPECT_THROW(static_cast<void>(tasks_bytes(same_names)), InvalidArgument);
  TaskModels other_weights = fit.models;
  other_weights.models[1].weights.values(0, 0) += 1e-9;
  EXPECT_THROW(static_cast<void>(tasks_bytes(other_weights)), InvalidArgument);
  TaskModels no_model = fit.models;
  no_model.models.pop_back();
  EXPECT_THROW(static_cast<void>(tasks_bytes(no_model)), InvalidArgument);
}

TEST(BemklTasks, RefusesWithASentence) {
  const MadeUpTasks made = few_tasks();
  EXPECT_EQ(refusal_of({}), "there are no tasks to learn");
  std::vector<TaskData> tasks = made.train;
  tasks[1].name = "task 1";
  EXPECT_EQ(refusal_of(tasks), "there are two tasks called 'task 1'");
  tasks = made.train;
  tasks[2].targets.values(3, 0) = std::nan("");
  EXPECT_EQ(refusal_of(tasks),
            "task 'task 3': sample 4 has no number to learn; fill it in or remove the sample");
  tasks = made.train;
  tasks[3].bank = make_dense_bank({kernel_of(*tasks[3].bank, 0)}, {"other"}, true);
  EXPECT_EQ(
      refusal_of(tasks),
      "task 'task 4' has 1 kernels that are not the 5 of task 'task 1': all tasks need the same kernels in the "
      "same order");
  EXPECT_NE(refusal_of(made.train, {{"weights_across", "none"}}).find("weights_across"), std::string::npos);
  EXPECT_NE(refusal_of(made.train, {{"literal", "true"}}).find("literal"), std::string::npos);
  const TasksFit fit = train_tasks(made.train, kShared, {});
  try {
    static_cast<void>(model_of(fit.models, "task 9"));
    FAIL() << "there is no such task";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "there is no task 'task 9' (did you mean 'task 1'?); the tasks of the model are task 1, task 2, task 3, "
        "task 4");
  }
}

// ---- from a table

// Rows of two clinics, in turns: the one has numbers, the other words.
struct Table {
  Dataset data;
  TasksRequest request;
};
Table clinics() {
  Table table;
  table.data = dataset_of(normal_matrix(40, 3, 8));
  table.data.source = "clinics.csv";
  for (Index i = 0; i < 40; ++i) {
    const double value = table.data.features(i, 0) + 0.2 * table.data.features(i, 1);
    table.request.task_of.emplace_back(i % 2 == 0 ? "north" : "south");
    table.data.labels.push_back(i % 2 == 0 ? std::to_string(value) : value > 0.0 ? "ill" : "well");
  }
  table.request.kernels = parse_kernel_spec("rbf(width=1..2) on each");
  return table;
}

TEST(BemklTasks, TableWithAMixedTarget) {
  const Table table = clinics();
  const TasksFit fit = train_tasks(table.data, table.request, {});
  EXPECT_EQ(fit.models.names, (std::vector<std::string>{"north", "south"}));
  EXPECT_EQ(fit.models.models[0].task, Task::regression);
  EXPECT_EQ(fit.models.models[1].task, Task::binary);
  EXPECT_EQ(fit.models.models[1].classes, (std::vector<std::string>{"ill", "well"}));
  EXPECT_EQ(fit.models.models[0].coefficients.rows(), 20);
  EXPECT_EQ(fit.models.models[0].kernel_names, fit.models.models[1].kernel_names);
  const auto samples = samples_of_tasks(table.data, table.request.task_of, fit.models.names);
  const Dataset south = select_samples(table.data, samples[1]);
  const Predictions found = predict(fit.models.models[1], south, {}, {});
  int right = 0;
  for (std::size_t i = 0; i < south.labels.size(); ++i)
    right += fit.models.models[1].classes[static_cast<std::size_t>(found.codes[i])] == south.labels[i] ? 1 : 0;
  EXPECT_GE(right, 17);
}

TEST(BemklTasks, TablesAreRefusedWithASentence) {
  const auto refusal = [](const Table& table) -> std::string {
    try {
      static_cast<void>(train_tasks(table.data, table.request, {}));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  Table one_class = clinics();
  for (std::size_t i = 1; i < 40; i += 2) one_class.data.labels[i] = "ill";
  EXPECT_NE(refusal(one_class).find("task 'south': "), std::string::npos) << refusal(one_class);
  Table lonely = clinics();
  lonely.request.task_of[0] = "east";
  EXPECT_NE(refusal(lonely).find("task 'east'"), std::string::npos) << refusal(lonely);
  Table centred = clinics();
  centred.request.recipe.normalisation = Normalisation::centre;
  EXPECT_NE(refusal(centred).find("is centred on all samples"), std::string::npos) << refusal(centred);
  Table few_names = clinics();
  few_names.request.task_of.pop_back();
  EXPECT_EQ(refusal(few_names), "39 names of tasks were given for 40 samples");
  const Table table = clinics();
  try {
    static_cast<void>(samples_of_tasks(table.data, table.request.task_of, {"north"}));
    FAIL() << "south is no task";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "clinics.csv, sample 2: there is no task 'south' (did you mean 'north'?); the tasks of the model are north");
  }
}

TEST(BemklTasks, TaskColumnIsTakenOutOfTheData) {
  Dataset data = dataset_of(normal_matrix(2, 1, 1));
  data.source = "t.csv";
  data.texts = {{{"site", ""}, {"a", "b"}}, {{"note", ""}, {"x", "y"}}};
  data.views = {{"all", {0}, {0, 1}}};
  EXPECT_EQ(take_task_column(data, "site"), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(data.texts.size(), 1U);
  EXPECT_EQ(data.views[0].texts, (std::vector<Index>{0}));
  EXPECT_THROW(static_cast<void>(take_task_column(data, "site")), InvalidArgument);
  data.texts[0].values[1] = "";
  try {
    static_cast<void>(take_task_column(data, "note"));
    FAIL() << "a row without a task";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "t.csv, sample 2: column 'note' is empty, so that the row belongs to no task; fill it in or remove the row");
  }
}

}  // namespace
}  // namespace kloom
