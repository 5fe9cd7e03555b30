// SPDX-License-Identifier: BSD-3-Clause
//
// kloom cv: one method on held-out parts of the data.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "commands.h"
#include "exit_code.h"
#include "kloom/compare.h"
#include "kloom/error.h"
#include "method_options.h"
#include "outputs.h"
#include "text.h"
#include "validation_options.h"

namespace kloom::cli {
namespace {

constexpr const char* kCvExamples =
    "  kloom cv data.csv --target label --method bemkl\n"
    "  kloom cv data.csv --method simplemkl --grid C=1e-1..1e4 --folds 5 --repeats 3\n"
    "  kloom cv data.csv --group patient --metric AUC -o report.html\n"
    "  kloom cv data.csv --holdout 0.3 --repeats 20 --resume work.jsonl";

struct CvOptions {
  ValidationOptions validation;
  MethodOptions method;
  std::vector<std::string> grid;
  std::string predictions;
};

void add_cv_options(CLI::App& app, CvOptions& options) {
  app.add_option("--grid", options.grid,
                 "Options to choose from inside every training part: NAME=VALUES, such as C=1e-1..1e4; "
                 "may be repeated")
      ->allow_extra_args(false)
      ->group("Method")
      ->type_name("NAME=VALUES");
  const std::string group = "Output";
  app.add_option("-o,--output", options.validation.output,
                 "Write a report: HTML, or JSON by its name (report.json)")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--predictions", options.predictions,
                 "Write what was predicted for every held-out sample, as CSV")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--resume", options.validation.resume,
                 "Keep finished parts in this file, and go on from it where it exists")
      ->group(group)
      ->type_name("FILE");
}

std::string predictions_header(const Predictions& p, const Targets& targets) {
  std::string text = "repeat,fold,sample,truth,predicted";
  for (Index c = 0; c < p.probabilities.cols(); ++c)
    text += "," + csv_cell(fmt::format("p({})", targets.classes[at(c)]));
  for (Index c = 0; c < p.scores.cols(); ++c) text += fmt::format(",score{}", c + 1);
  for (Index c = 0; c < p.deviation.cols(); ++c) text += fmt::format(",deviation{}", c + 1);
  return text + "\n";
}

// What is true of a sample, and what prediction `row` says.
std::string truth_and_prediction(const Targets& targets, Index sample, const Predictions& p, Index row) {
  const bool classes = targets.task == Task::binary || targets.task == Task::multiclass;
  if (!classes) return csv_number(targets.values(sample, 0)) + "," + csv_number(p.scores(row, 0));
  const auto name = [&](int code) { return csv_cell(targets.classes[static_cast<std::size_t>(code)]); };
  return name(targets.codes[at(sample)]) + "," + name(p.codes[at(row)]);
}

// One row per held-out sample and repeat.
std::string predictions_csv(const Comparison& comparison, const Dataset& data, const Targets& targets) {
  std::string text;
  for (const Outcome& outcome : comparison.validation.outcomes) {
    if (!outcome.failure.empty()) continue;
    const Predictions& p = outcome.predictions;
    if (text.empty()) text = predictions_header(p, targets);
    const Split& split = comparison.request.splits[at(outcome.split)];
    for (Index row = 0; row < std::ssize(split.test); ++row) {
      const Index sample = split.test[at(row)];
      text += fmt::format("{},{},{},", split.repeat + 1, split.fold + 1,
                          data.ids.empty() ? fmt::format("{}", sample + 1) : csv_cell(data.ids[at(sample)]));
      text += truth_and_prediction(targets, sample, p, row);
      for (const Matrix* values : {&p.probabilities, &p.scores, &p.deviation}) {
        for (Index c = 0; c < values->cols(); ++c) text += "," + csv_number((*values)(row, c));
      }
      text += "\n";
    }
  }
  return text;
}

Candidate candidate_of(const CvOptions& options, const Learner& learner) {
  Candidate candidate{learner.name, option_values(options.method, learner), {}};
  for (const std::string& axis : options.grid) {
    candidate.grid.push_back(parse_grid_axis(axis, learner));
    if (candidate.options.contains(candidate.grid.back().first)) {
      throw InvalidArgument(fmt::format("--grid and the option itself both set {}; give one of them",
                                        candidate.grid.back().first));
    }
  }
  return candidate;
}

[[noreturn]] void finish_interrupted(const CvOptions& options, const Comparison& comparison, Session& session) {
  session.console().result(to_text(comparison));
  throw Interrupted(interrupted_sentence(fmt::format("of {} parts", comparison.request.splits.size()),
                                         comparison, options.validation.resume));
}

// The model that the report shows. All parts are done by then: they are told also after Ctrl-C.
void fit_for_report(const CvOptions& options, const ValidationInput& input, Comparison& comparison,
                    Session& session) {
  try {
    comparison.final_fit =
        fit_on_all(input.data, input.targets, input.request, comparison.methods.front(), session.context());
  } catch (const Interrupted&) {
    finish_interrupted(options, comparison, session);
  }
}

int run(CvOptions& options, const Arguments& arguments) {
  Session session(options.validation.common);
  const auto inputs = input_files(dataset_request(options.validation.dataset, true));
  Outputs outputs({{"-o", options.validation.output, OutputKind::text},
                   {"--predictions", options.predictions, OutputKind::text},
                   {"--resume", options.validation.resume, OutputKind::journal}},
                  inputs);
  const bool unlabelled = !options.method.method.empty() && find_learner(options.method.method).semi_supervised;
  ValidationInput input = read_validation_input(options.validation, unlabelled, session);
  const Learner& learner = choose_method(options.method, input.targets);
  if (input.request.metric.empty()) input.request.metric = default_metric(input.targets.task);
  input.request.candidates = {candidate_of(options, learner)};
  input.request.splits = make_splits(input.targets, input.splits, session.context().seed);
  session.console().note(fmt::format("{}: {} splits", learner.name, input.request.splits.size()));
  Comparison comparison = summarise(
      input.request, cross_validate(input.data, input.targets, input.request, session.stoppable_context()));
  session.console().end_progress();
  if (comparison.validation.interrupted) finish_interrupted(options, comparison, session);
  if (comparison.methods.empty())
    throw InvalidArgument(comparison.left_out.empty() ? "no part has a result"
                                                      : comparison.left_out.front().second);
  if (!options.validation.output.empty()) fit_for_report(options, input, comparison, session);
  const std::string json = to_json(comparison, input.data, input.targets,
                                   run_facts("cv", arguments, options.validation, session.seconds()));
  if (!options.validation.output.empty())
    outputs.text(options.validation.output, report_file(options.validation.output, json), session);
  if (!options.predictions.empty())
    outputs.text(options.predictions, predictions_csv(comparison, input.data, input.targets), session);
  session.console().result(to_text(comparison));
  outputs.finish();
  session.console().json_result(json);
  return kDone;
}

}  // namespace

int run_cv(const Arguments& arguments) {
  CvOptions options;
  CommandLine line("cv", "Tests a method on samples that it did not learn from (cross-validation).",
                   kCvExamples);
  add_validation_options(line.app(), options.validation);
  // The method's own --folds is about choosing its options; --inner-folds says that here.
  add_method_options(line, arguments, options.method, {"--folds"});
  add_cv_options(line.app(), options);
  add_common_options(line.app(), options.validation.common);
  return line.parse(arguments) ? run(options, arguments) : kDone;
}

}  // namespace kloom::cli
