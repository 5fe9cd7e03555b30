// SPDX-License-Identifier: BSD-3-Clause
//
// kloom view: one model as a page to look at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "evaluation.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/page.h"
#include "outputs.h"
#include "text.h"
#include "validation_options.h"

namespace kloom::cli {
namespace {

constexpr const char* kViewExamples =
    "  kloom view model.kloom\n"
    "  kloom view model.kloom held_out.csv -o page.html\n"
    "  kloom view model.kloom held_out.csv -o page.json --quiet";

// Without data the samples are those that the model keeps; with more the page would take minutes.
constexpr Index kMostKept = 3000;

struct ViewOptions {
  CommonOptions common;
  DatasetOptions dataset;
  std::string model;
  std::string output;
};

bool names_data(const DatasetOptions& options) {
  return !options.path.empty() || !options.views.empty() || !options.kernel_files.empty() ||
         !options.distance_files.empty();
}

// Did the model learn from exactly these samples?
bool learned_from(const Model& model, const Dataset& data) {
  if (!model.recipe || model.recipe->basis.samples != data.samples) return false;
  try {
    require_training_samples(model, data);
    return true;
  } catch (const Error&) {
    return false;
  }
}

ViewedSamples view_of_data(const Model& model, const DatasetRequest& request, Session& session) {
  const Dataset data = load_dataset(request, session.context());
  stop_if_interrupted();
  if (model.recipe) {
    for (const std::string& sentence : model.recipe->preprocessing.surprises(data))
      session.console().warn(sentence);
  }
  ViewedSamples view;
  view.source = data.source;
  view.ids = data.ids;
  view.predictions = predict(model, data, {.contributions = true}, session.context());
  view.judged = evaluate_labelled(model, view.predictions, data, session.console());
  if (view.judged) view.targets = targets_for(model, data.labels);
  view.seen = learned_from(model, data);
  return view;
}

// Why the model's own samples cannot be shown; "" if they can.
std::string why_not_its_own(const Model& model) {
  if (!model.recipe || model.part->reads_samples() || model.recipe->basis.samples == 0)
    return "the model does not keep the samples that it learned from";
  if (!model.recipe->basis.kernels.empty() || !model.recipe->basis.distances.empty() ||
      std::ranges::any_of(model.recipe->terms,
                          [](const KernelTerm& term) { return term.function == KernelFunction::precomputed; }))
    return "the model keeps no kernels that were given as matrices";
  if (model.recipe->basis.samples > kMostKept)
    return fmt::format("the model learned from more than {} samples", kMostKept);
  return "";
}

std::optional<ViewedSamples> view_of_its_own(const Model& model, Session& session) {
  const std::string why = why_not_its_own(model);
  if (!why.empty()) {
    session.console().note(
        fmt::format("{}: to see what each sample owes to each kernel, name a file of samples", why));
    return std::nullopt;
  }
  ViewedSamples view;
  view.source = "the samples that it learned from";
  view.seen = true;
  view.ids = model.recipe->basis.ids;
  view.predictions = predict(model, *model.recipe->training_bank(), {.contributions = true}, session.context());
  return view;
}

// When and how it was trained, as far as its report says so.
RunFacts facts_of(const Model& model, const ViewOptions& options, const Arguments& arguments) {
  RunFacts facts;
  facts.kind = "view";
  Arguments words{"kloom", "view"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  facts.command = shell_line(words);
  facts.source = options.model;
  const auto report = nlohmann::json::parse(model.report_json, nullptr, false);
  if (!report.is_object()) return facts;
  const auto number = [&](const char* key) {
    const auto place = report.find(key);
    return place != report.end() && place->is_number_unsigned() ? place->get<std::uint64_t>() : 0;
  };
  facts.seed = number("seed");
  facts.threads = static_cast<int>(std::min<std::uint64_t>(number("threads"), 1'000'000));
  if (const auto seconds = report.find("seconds"); seconds != report.end() && seconds->is_object()) {
    for (const auto& stage : *seconds) facts.seconds += stage.is_number() ? stage.get<double>() : 0.0;
  }
  return facts;
}

int run(ViewOptions& options, const Arguments& arguments) {
  Session session(options.common);
  if (options.output.empty()) options.output = stem_of(options.model) + ".html";
  const Model model = load_model(options.model);
  std::vector<std::string> inputs{options.model};
  std::optional<DatasetRequest> request;
  if (names_data(options.dataset)) {
    request = request_for_model(model, options.dataset, false);
    for (const std::string& file : input_files(*request)) inputs.push_back(file);
  }
  Outputs outputs({{"-o", options.output, OutputKind::text}}, inputs);
  const std::optional<ViewedSamples> view =
      request ? view_of_data(model, *request, session) : view_of_its_own(model, session);
  session.console().end_progress();
  stop_if_interrupted();
  const std::string json = to_json(model, view ? &*view : nullptr, facts_of(model, options, arguments));
  outputs.text(options.output, report_file(options.output, json), session);
  outputs.finish();
  session.console().note(fmt::format("page: {}", options.output));
  session.console().json_result(json);
  return kDone;
}

}  // namespace

int run_view(const Arguments& arguments) {
  ViewOptions options;
  CommandLine line(
      "view",
      "Writes a page about one model: weights of its kernels with their deviations, how training went, "
      "its certificate, and what each sample owes to each kernel. With labelled samples, best ones that "
      "it has never seen, also how right it is and how far its probabilities or intervals can be trusted.",
      kViewExamples);
  line.app().add_option("model", options.model, "Model file")->required()->type_name("MODEL");
  add_dataset_options(line.app(), options.dataset);
  line.app()
      .add_option("-o,--output", options.output,
                  "The page: HTML, or JSON by its name (default: called after the model, in this folder)")
      ->group("Output")
      ->type_name("FILE");
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options, arguments) : kDone;
}

}  // namespace kloom::cli
