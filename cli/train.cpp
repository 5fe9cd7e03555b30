// SPDX-License-Identifier: BSD-3-Clause
//
// kloom train: data → kernels → bank → learner → certificate → model file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "evaluation.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/page.h"
#include "kloom/train.h"
#include "method_options.h"
#include "model_text.h"
#include "outputs.h"
#include "text.h"
#include "training_data.h"

namespace kloom::cli {
namespace {

constexpr const char* kTrainExamples =
    "  kloom train data.csv --target label -o model.kloom\n"
    "  kloom train data.csv --method bemkl --kernels \"rbf(width=2^-3..2^6) on all, each\"\n"
    "  kloom train --view rna=rna.csv --view clinical=clinical.csv --id patient --target outcome\n"
    "  kloom train labels.csv --kernel-file K1.npy --kernel-file K2.npy\n"
    "  kloom train train.csv --test test.csv --report report.json";

struct TrainOptions {
  CommonOptions common;
  DatasetOptions dataset;
  KernelOptions kernels;
  MethodOptions method;
  std::string output;
  std::string report;
  std::string test;
  std::string sample_map;
  std::string time;     // for methods without such an option of their own
  std::string command;  // as it was typed, for the report
};

void add_output_options(CLI::App& app, TrainOptions& options) {
  const std::string group = "Output";
  app.add_option("-o,--output", options.output,
                 "Model file (default: called after the data file, in this folder)")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--report", options.report,
                 "Write the training report: JSON, or a page by its name (report.html)")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--sample-map", options.sample_map,
                 fmt::format("Write which kernels each sample uses as CSV ({})",
                             list_of(methods_that(&Learner::sample_maps), 10)))
      ->group(group)
      ->type_name("FILE");
  app.add_option("--test", options.test, "Evaluate on this labelled file after training")
      ->group(group)
      ->type_name("FILE");
}

struct Training {
  TrainingData input;
  Targets targets;
  TrainRequest request;
};

std::string target_sentence(const Targets& targets, const Dataset& data) {
  if (targets.task == Task::regression || targets.task == Task::multi_regression) {
    return fmt::format("regression on '{}'", data.target_name);
  }
  if (targets.task == Task::multilabel) return fmt::format("labels {}", data.target_name);
  std::vector<std::string> counts;
  for (std::size_t c = 0; c < targets.classes.size(); ++c) {
    const auto count = std::count(targets.codes.begin(), targets.codes.end(), static_cast<int>(c));
    counts.push_back(fmt::format("{} {}", targets.classes[c], count));
  }
  std::string text = fmt::format("target '{}': {}", data.target_name, list_of(counts, 12));
  const auto without = std::count(targets.codes.begin(), targets.codes.end(), Targets::unlabelled);
  if (without > 0) text += fmt::format("; without a label {}", without);
  if (targets.task == Task::binary) text += fmt::format("; positive class '{}'", targets.classes.back());
  return text;
}

void require_sample_maps(const TrainOptions& options, const Learner& learner) {
  if (options.sample_map.empty() || learner.sample_maps) return;
  throw InvalidArgument(fmt::format("--sample-map: {} uses the same kernels for every sample; these do not: {}",
                                    learner.name, list_of(methods_that(&Learner::sample_maps), 10)));
}

// Samples without a label are used by a method that was asked for and can.
bool uses_unlabelled(const TrainOptions& options) {
  return !options.method.method.empty() && find_learner(options.method.method).semi_supervised;
}

Training prepare(const TrainOptions& options, const DatasetRequest& request, Session& session) {
  Training training;
  training.input = read_training_data(request, options.kernels, session);
  if (!uses_unlabelled(options)) drop_unlabelled(training.input.data, session);
  const Dataset& data = training.input.data;
  session.console().note(describe(data));
  TargetsRequest labels = targets_request(options.dataset, data);
  labels.allow_unlabelled = options.method.method.empty() || uses_unlabelled(options);
  training.targets = make_targets(data.labels, labels);
  training.targets.weights = data.weights;
  session.console().note(target_sentence(training.targets, data));
  const Learner& learner = choose_method(options.method, training.targets);
  require_sample_maps(options, learner);
  training.request = kernel_request(data, options.dataset, options.kernels);
  training.request.method = options.method.method;
  training.request.options = option_values(options.method, learner);
  training.request.evaluate = true;
  return training;
}

// How good the model is on the samples of another file.
void evaluate_test(const TrainOptions& options, FitResult& fit, Session& session) {
  DatasetOptions test;
  test.path = options.test;
  test.id = options.dataset.id;
  const Dataset data = load_dataset(request_for_model(fit.model, test, true), session.context());
  auto result =
      evaluate_labelled(fit.model, predict(fit.model, data, {}, session.context()), data, session.console());
  if (!result)
    throw InvalidArgument(fmt::format("{}: no sample has a label that the model knows", options.test));
  result->name = options.test;
  fit.report.evaluations.push_back(std::move(*result));
}

// After Ctrl-C the user waits and the model is what counts: nothing more is measured.
void complete_report(const TrainOptions& options, const Training& training, FitResult& fit, Session& session) {
  try {
    if (!options.test.empty() && !interrupted()) evaluate_test(options, fit, session);
  } catch (const Interrupted&) {
    session.console().note("interrupted before the test file was evaluated");
  }
  fit.report.seconds.insert(fit.report.seconds.begin(), {"reading", training.input.read_seconds});
  for (const auto& warning : session.console().warnings()) fit.report.warnings.push_back(warning);
  fit.model.report_json = to_json(fit.report);
}

// The command that makes this model again without choosing: what was left to choose is written out.
std::string repeat_command(const TrainOptions& options, const Training& training, const FitResult& fit) {
  std::string command = options.command;
  const auto add = [&](const std::string& option, const std::string& value) {
    command += fmt::format(" {} {}", option, shell_line({value}));
  };
  if (options.method.method.empty()) add("--method", fit.report.method);
  if (!training.request.kernels && fit.model.recipe && !fit.model.recipe->spec.families.empty())
    add("--kernels", to_string(fit.model.recipe->spec));
  const auto asked = nlohmann::json::parse(fit.model.options_json);
  for (const auto& [name, value] : fit.report.options) {
    const auto place = asked.find(name);
    if (place == asked.end() || *place == value) continue;
    std::string flag = "--" + name;
    std::ranges::replace(flag, '_', '-');
    add(flag, value);
  }
  return command;
}

// What was decided about columns, and why these kernels.
void add_decisions(nlohmann::ordered_json& json, const Model& model) {
  if (!model.recipe) return;
  json["spec"] = to_string(model.recipe->spec);
  json["kernels_chosen"] = model.recipe->advice;
  json["columns"] = columns_json(model.recipe->decisions);
}

std::string train_json(const TrainOptions& options, const Training& training, const FitResult& fit,
                       bool whole) {
  nlohmann::ordered_json json = {{"command", "train"}, {"model", options.output}};
  json["model_bytes"] = model_file_bytes(fit.model);
  json["interrupted"] = !whole;
  json["classes"] = fit.model.classes;
  if (fit.model.task == Task::binary && !fit.model.classes.empty())
    json["positive_class"] = fit.model.classes.back();
  json["repeat"] = repeat_command(options, training, fit);
  json["report"] = nlohmann::ordered_json::parse(fit.model.report_json);
  json["kernels"] = kernels_json(fit.model);
  json["weights_by_view"] = views_json(fit.model);
  add_decisions(json, fit.model);
  return dump(json);
}

std::string training_report(const TrainOptions& options, const Training& training, const FitResult& fit,
                            Session& session) {
  if (!options.report.ends_with(".html")) {
    auto json = nlohmann::ordered_json::parse(fit.model.report_json);
    add_decisions(json, fit.model);
    return dump(json) + "\n";
  }
  RunFacts facts;
  facts.kind = "train";
  facts.command = options.command;
  for (const auto& [stage, seconds] : fit.report.seconds) facts.seconds += seconds;
  facts.seed = session.context().seed;
  facts.threads = fit.report.threads;
  return report_page(to_json(fit, training.input.data, training.targets, facts));
}

// The model first: whatever happens to the rest, the training is not lost.
void write_outputs(const TrainOptions& options, const Training& training, const FitResult& fit,
                   Outputs& outputs, Session& session) {
  const bool usable = fit.report.status != Status::numerical_trouble;
  if (usable) {
    session.console().note(
        fmt::format("writing {} ({})", options.output, format_bytes(model_file_bytes(fit.model))));
    outputs.attempt([&] {
      save_model(fit.model, options.output);
      outputs.keep(options.output);
    });
  }
  if (!options.report.empty())
    outputs.text(options.report, training_report(options, training, fit, session), session);
  if (!options.sample_map.empty() && usable)
    outputs.text(options.sample_map, sample_maps_csv(fit.report), session);
  if (!usable) {
    throw Error(fmt::format("{} ran into numerical trouble: {}; no model was written", fit.model.method,
                            fit.report.message));
  }
}

FitResult fit_in_time(const TrainOptions& options, const Training& training, Session& session) {
  try {
    return train(training.input.data, training.targets, training.request, session.stoppable_context());
  } catch (const Interrupted& error) {
    if (interrupted()) throw;
    throw Error(fmt::format("--time {} was over before there was a model: {}", options.time, error.what()));
  }
}

// Methods that plan their time have an option of that name.
void add_time_option(CLI::App& app, TrainOptions& options) {
  const std::vector<OptionInfo>& own = find_learner(options.method.table).options;
  if (std::ranges::find(own, "time", &OptionInfo::name) != own.end()) return;
  app.add_option("--time", options.time,
                 "Stop after so long, such as 60 or 10m, with the model so far (default: no limit)")
      ->group("Method")
      ->type_name("TIME");
}

int run(TrainOptions& options) {
  Session session(options.common);
  if (!options.time.empty()) session.stop_after(parse_duration(options.time, "--time"));
  const DatasetRequest request = dataset_request(options.dataset, true);
  if (options.output.empty()) {
    const std::string stem = stem_of(options.dataset.path);
    options.output = (stem.empty() ? "model" : stem) + ".kloom";
  }
  std::vector<std::string> inputs = input_files(request);
  inputs.push_back(options.test);
  Outputs outputs({{"-o", options.output, OutputKind::file},
                   {"--report", options.report, OutputKind::text},
                   {"--sample-map", options.sample_map, OutputKind::text}},
                  inputs);

  const Training training = prepare(options, request, session);
  FitResult fit = fit_in_time(options, training, session);
  session.console().end_progress();
  const bool usable = fit.report.status != Status::numerical_trouble;
  if (usable) complete_report(options, training, fit, session);
  const bool whole = !interrupted();
  write_outputs(options, training, fit, outputs, session);
  constexpr std::size_t kKernelsShown = 10;
  session.console().result(to_text(fit.report) + kernel_table(fit.model, kKernelsShown) +
                           view_table(fit.model, kKernelsShown));
  outputs.finish();
  const std::string repeat = repeat_command(options, training, fit);
  if (repeat != options.command) session.console().note("the same again, without choosing: " + repeat);
  session.console().json_result(train_json(options, training, fit, whole));
  if (whole && fit.report.status == Status::stopped && session.out_of_time())
    session.console().note(
        fmt::format("--time {} is over; the model so far is in {}", options.time, options.output));
  if (whole) return kDone;
  session.console().note(fmt::format("interrupted after {} iterations; the model so far is in {}",
                                     fit.report.iterations, options.output));
  return interrupted_code();
}

}  // namespace

int run_train(const Arguments& arguments) {
  TrainOptions options;
  CommandLine line("train", "Learns a model from labelled samples and writes it to a file.", kTrainExamples);
  add_dataset_options(line.app(), options.dataset);
  add_target_options(line.app(), options.dataset);
  add_preprocessing_options(line.app(), options.dataset);
  add_kernel_options(line.app(), options.kernels);
  add_method_options(line, arguments, options.method);
  add_time_option(line.app(), options);
  add_output_options(line.app(), options);
  add_common_options(line.app(), options.common);
  Arguments words{"kloom", "train"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  options.command = shell_line(words);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace kloom::cli
