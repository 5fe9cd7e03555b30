// SPDX-License-Identifier: BSD-3-Clause
#include "validation_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kloom/error.h"
#include "kloom/machine.h"
#include "text.h"

namespace kloom::cli {
namespace {

// A column that says something about samples and is no feature: taken out of the data.
std::vector<std::string> take_column(Dataset& data, const std::string& name, const char* option) {
  const auto place =
      std::ranges::find(data.texts, name, [](const TextColumn& column) { return column.feature.name; });
  if (place == data.texts.end()) {
    std::vector<std::string> names;
    for (const Feature& feature : data.feature_info) names.push_back(feature.name);
    for (const TextColumn& column : data.texts) names.push_back(column.feature.name);
    throw InvalidArgument(fmt::format("{}: there is no column '{}' for {}{}; the columns are: {}", data.source,
                                      name, option, did_you_mean(name, names), list_of(names, 12)));
  }
  const auto index = static_cast<Index>(place - data.texts.begin());
  std::vector<std::string> values = std::move(place->values);
  data.texts.erase(place);
  for (View& view : data.views) {
    std::erase(view.texts, index);
    for (Index& text : view.texts) text -= text > index ? 1 : 0;
  }
  return values;
}

SplitRequest split_request(const ValidationOptions& options, Dataset& data) {
  SplitRequest request;
  request.folds = options.folds;
  request.repeats = options.repeats;
  if (!options.split.empty() && options.holdout > 0.0)
    throw InvalidArgument("--split and --holdout both say what is tested; give one of them");
  if (options.holdout > 0.0) {
    request.kind = SplitRequest::Kind::holdout;
    request.test_share = options.holdout;
  }
  if (!options.group.empty()) request.groups = take_column(data, options.group, "--group");
  if (!options.split.empty()) {
    request.kind = SplitRequest::Kind::given;
    request.given = take_column(data, options.split, "--split");
    request.repeats = 1;
  }
  return request;
}

}  // namespace

void add_validation_options(CLI::App& app, ValidationOptions& options) {
  add_dataset_options(app, options.dataset);
  add_target_options(app, options.dataset);
  add_preprocessing_options(app, options.dataset);
  add_kernel_options(app, options.kernels);
  const std::string group = "Splits";
  app.add_option("--folds", options.folds, "Parts, each of which is held out once (default 5)")
      ->group(group)
      ->type_name("N");
  app.add_option("--repeats", options.repeats, "Divide the samples anew so many times (default 1)")
      ->group(group)
      ->type_name("N");
  app.add_option("--holdout", options.holdout, "Instead of folds, hold out this share of the samples")
      ->group(group)
      ->type_name("SHARE");
  app.add_option("--group", options.group, "Column of groups (patients, say) that are never on both sides")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--split", options.split,
                 "Column that names the part of each sample: every part is held out once; 'train' never")
      ->group(group)
      ->type_name("NAME");
  app.add_option(
         "--metric", options.metric,
         "What decides: accuracy (default), 'balanced accuracy', 'F1 macro', MCC, AUC, EER, 'log loss', "
         "'Brier score', ECE; RMSE (default), MAE, R2, NLL")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--inner-folds", options.inner_folds,
                 "Folds of the training part that choose options from grids (default 3)")
      ->group(group)
      ->type_name("N");
}

ValidationInput read_validation_input(const ValidationOptions& options, bool unlabelled, Session& session) {
  DatasetRequest request = dataset_request(options.dataset, true);
  for (const std::string* column : {&options.group, &options.split}) {
    if (!column->empty()) request.text.push_back(*column);
  }
  ValidationInput input;
  input.data = read_training_data(request, options.kernels, session).data;
  if (!unlabelled) drop_unlabelled(input.data, session);
  input.splits = split_request(options, input.data);
  session.console().note(describe(input.data));
  TargetsRequest labels = targets_request(options.dataset, input.data);
  labels.allow_unlabelled = unlabelled;
  input.targets = make_targets(input.data.labels, labels);
  input.targets.weights = input.data.weights;
  const KernelChoice kernels = choose_kernels(input.data, options.dataset, options.kernels);
  if (kernels.by_default) {
    std::vector<ColumnDecision> decisions;
    const auto preprocessing = Preprocessing::fit(input.data, kernels.recipe.preprocessing, &decisions);
    const KernelAdvice advice = advise_kernels(input.data, preprocessing, decisions, &input.targets);
    for (const std::string& line : summarise(decisions)) session.console().note(line);
    for (const std::string& line : advice.reasons) session.console().note(line);
    session.console().note(fmt::format(
        "kernels: {} (no --kernels given; columns and kernels are chosen anew from every training part)",
        to_string(advice.spec)));
  } else {
    session.console().note(fmt::format("kernels: {}", to_string(kernels.spec)));
  }
  input.request.spec = kernels.spec;
  input.request.recipe = kernels.recipe;
  if (!options.kernels.bank.empty()) input.request.bank = parse_bank_kind(options.kernels.bank);
  input.request.metric = options.metric == "R2" ? "R²" : options.metric;
  input.request.inner_folds = options.inner_folds;
  input.request.journal = options.resume;
  return input;
}

RunFacts run_facts(const std::string& kind, const Arguments& arguments, const ValidationOptions& options,
                   double seconds) {
  RunFacts facts;
  facts.kind = kind;
  Arguments words{"kloom", kind};
  words.insert(words.end(), arguments.begin(), arguments.end());
  facts.command = shell_line(words);
  facts.seconds = seconds;
  facts.threads = options.common.threads > 0 ? options.common.threads : machine_info(false).threads;
  facts.seed = std::stoull(options.common.seed);
  return facts;
}

std::string interrupted_sentence(const std::string& parts, const Comparison& comparison,
                                 const std::string& journal) {
  return fmt::format("interrupted after {} {}; {}", comparison.validation.outcomes.size(), parts,
                     journal.empty() ? "with --resume FILE they would have been kept"
                                     : "they are in " + journal + ", and the same command goes on from there");
}

std::string report_file(const std::string& path, const std::string& json) {
  return path.ends_with(".json") ? json + "\n" : report_page(json);
}

}  // namespace kloom::cli
