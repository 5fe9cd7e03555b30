// SPDX-License-Identifier: BSD-3-Clause
//
// kloom predict: a model and new samples → a table of predictions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "evaluation.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/tasks.h"
#include "model_text.h"
#include "outputs.h"
#include "prediction_table.h"
#include "task_models.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr const char* kPredictExamples =
    "  kloom predict model.kloom new.csv -o predictions.csv\n"
    "  kloom predict model.kloom new.csv --contributions | head\n"
    "  kloom predict model.kloom --view rna=new_rna.csv --view clinical=new_clinical.csv --id patient\n"
    "  kloom predict model.kloom --kernel-file K_new.npy        # rows: new samples, columns: training samples";

struct PredictCommandOptions {
  CommonOptions common;
  DatasetOptions dataset;
  std::string model;
  std::string output;
  bool contributions = false;
  bool contribution_deviations = false;
};

int run(const PredictCommandOptions& options) {
  Session session(options.common);
  if (holds_tasks(options.model)) {
    if (options.contributions || options.contribution_deviations)
      throw InvalidArgument(
          fmt::format("{} holds models of several tasks, for which there are no contributions", options.model));
    return predict_tasks(options.model, options.dataset, options.output, session);
  }
  Console& console = session.console();
  const bool to_file = !options.output.empty() && options.output != "-";
  const Model model = load_model(options.model);
  const DatasetRequest request = request_for_model(model, options.dataset, false);
  if (to_file) {
    std::vector<std::string> inputs = input_files(request);
    inputs.push_back(options.model);
    require_outputs({{"-o", options.output, OutputKind::text}}, inputs);
  }
  const Dataset data = load_dataset(request, session.context());
  stop_if_interrupted();
  if (model.recipe) {
    for (const std::string& sentence : model.recipe->preprocessing.surprises(data)) console.warn(sentence);
  }
  PredictOptions asked;
  asked.contributions = options.contributions || options.contribution_deviations;
  asked.contribution_deviations = options.contribution_deviations;
  const Predictions predictions = predict(model, data, asked, session.context());
  console.end_progress();
  stop_if_interrupted();
  if (options.contribution_deviations && predictions.contribution_deviations.empty())
    console.warn(fmt::format("method {} has no deviations of contributions", model.method));
  const auto evaluation = evaluate_labelled(model, predictions, data, console);

  const PredictionTable table = prediction_table(model, predictions, data);
  if (to_file) {
    write_text(options.output, to_csv(table), session.context());
    console.note(fmt::format("{} predictions written to {}", data.samples, options.output));
  } else if (!console.json()) {
    write_stdout(to_csv(table));
  }
  if (evaluation && !console.json()) console.note_block(to_text(*evaluation));
  if (console.json()) {
    nlohmann::ordered_json json = {
        {"command", "predict"}, {"samples", data.samples}, {"classes", model.classes}};
    if (to_file) {
      json["output"] = options.output;
    } else {
      json["predictions"] = table_json(table);
    }
    json["evaluation"] =
        evaluation ? nlohmann::ordered_json::parse(to_json(*evaluation)) : nlohmann::ordered_json();
    console.json_result(dump(json));
  }
  return kDone;
}

}  // namespace

int run_predict(const Arguments& arguments) {
  PredictCommandOptions options;
  CommandLine line("predict",
                   "Predicts new samples. Columns: id (where there is one), label, the probability of "
                   "each class, score and its standard deviation, and the views that were used where some "
                   "samples lack some. Where the data has the model's target, an evaluation is printed too.",
                   kPredictExamples);
  line.app().add_option("model", options.model, "Model file")->required()->type_name("MODEL");
  add_dataset_options(line.app(), options.dataset);
  line.app()
      .add_option("-o,--output", options.output, "CSV file to write (default: standard output)")
      ->group("Output")
      ->type_name("FILE");
  line.app()
      .add_flag("--contributions", options.contributions,
                "Add a column for each kernel: what it added to the score (they sum to score minus bias)")
      ->group("Output");
  line.app()
      .add_flag("--contribution-deviations", options.contribution_deviations,
                "The same, and how sure each of them is: standard deviations (bemkl; takes a pass per kernel)")
      ->group("Output");
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace kloom::cli
