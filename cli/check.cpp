// SPDX-License-Identifier: BSD-3-Clause
//
// kloom check: the referee's certificate for a model, from the data that it was trained on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "console.h"
#include "evaluation.h"
#include "exit_code.h"
#include "help_formatter.h"
#include "interrupt.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/tasks.h"
#include "model_text.h"
#include "task_models.h"
#include "text.h"
#include "training_data.h"

namespace kloom::cli {
namespace {

constexpr const char* kCheckExamples =
    "  kloom check model.kloom data.csv\n"
    "  kloom check model.kloom data.csv --json";

struct CheckOptions {
  CommonOptions common;
  DatasetOptions dataset;
  std::string model;
  std::string bank;
};

Targets training_targets(const Model& model, const Dataset& data) {
  std::vector<std::string> unknown;
  Targets targets = targets_for(model, data.labels, &unknown);
  if (!unknown.empty()) {
    throw InvalidArgument(fmt::format("{}: the model has no class '{}'; check needs the training data",
                                      data.source, unknown.front()));
  }
  targets.weights = data.weights;
  return targets;
}

std::string stored_bank(const Model& model) {
  const auto report = nlohmann::json::parse(model.report_json, nullptr, false);
  if (!report.is_object() || !report.contains("bank") || !report.at("bank").is_string()) return {};
  return report.at("bank").get<std::string>();
}

int run(const CheckOptions& options) {
  Session session(options.common);
  if (holds_tasks(options.model)) return check_tasks(options.model, options.dataset, session);
  const Model model = load_model(options.model);
  if (!model.recipe)
    throw InvalidArgument(fmt::format("{} has no recipe for kernels, so it cannot be checked", options.model));
  Dataset data = load_dataset(request_for_model(model, options.dataset, true), session.context());
  // Training left samples without a label out, unless its method could use them.
  if (data.samples != model.recipe->basis.samples) drop_unlabelled(data, session);
  require_training_samples(model, data);
  const Targets targets = training_targets(model, data);
  BankRequest request;
  // The same kernels as in training, also where those were rounded.
  if (stored_bank(model) == "dense32") request.kind = BankKind::dense32;
  if (!options.bank.empty()) request.kind = parse_bank_kind(options.bank);
  const Learner* learner = learner_of_model(model.method);
  request.families = learner != nullptr && learner->wants_families;
  const auto bank = store_bank(model.recipe->training_bank_with(data), request, session.context());
  stop_if_interrupted();
  const Certificate certificate = certify(*bank, targets, model, session.context());
  session.console().end_progress();
  session.console().result(fmt::format("{} on {}, {}\n", model.method, counted(bank->rows(), "sample"),
                                       counted(bank->kernels(), "kernel")) +
                           to_text(certificate));
  nlohmann::ordered_json json = {{"command", "check"}, {"model", options.model}, {"method", model.method}};
  json["certificate"] = nlohmann::ordered_json::parse(to_json(certificate));
  session.console().json_result(dump(json));
  if (certificate.finding != Certificate::Finding::refuted) return kDone;
  write_stderr(fmt::format("kloom: {} is refuted: {}.\n", options.model, certificate.refutations.front()));
  return kFailed;
}

}  // namespace

int run_check(const Arguments& arguments) {
  CheckOptions options;
  CommandLine line(
      "check",
      "Recomputes what can be proved or checked about a model from the model and its training data alone, "
      "independently of the code that trained it, and compares it with what training promised. The finding is "
      "proved, checked or refuted; refuted models end the program with exit code 1.",
      kCheckExamples);
  line.app().add_option("model", options.model, "Model file")->required()->type_name("MODEL");
  add_dataset_options(line.app(), options.dataset);
  line.app()
      .add_option("--weight", options.dataset.weight, "Column of sample weights")
      ->group("Data")
      ->type_name("NAME");
  line.app()
      .add_option("--bank", options.bank, "How kernels are stored meanwhile (default: automatic)")
      ->group(kCommonGroup)
      ->type_name("KIND");
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace kloom::cli
