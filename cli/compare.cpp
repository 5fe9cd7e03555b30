// SPDX-License-Identifier: BSD-3-Clause
//
// kloom compare: which method should I use?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "commands.h"
#include "completions.h"
#include "exit_code.h"
#include "kloom/compare.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "outputs.h"
#include "text.h"
#include "validation_options.h"

namespace kloom::cli {
namespace {

constexpr const char* kCompareExamples =
    "  kloom compare data.csv --target label\n"
    "  kloom compare data.csv --methods bemkl,simplemkl,uniform --repeats 20 --time 2h -o report.html\n"
    "  kloom compare data.csv --model best.kloom --metric AUC";

struct CompareOptions {
  ValidationOptions validation;
  std::string methods = "all";
  std::string time = "10m";
  std::string model;
  std::string absent_baselines;
  bool every_kernel = false;
};

void add_compare_options(CLI::App& app, CompareOptions& options) {
  app.add_option("--methods", options.methods, "Names separated by commas (default: all that do the task)")
      ->group("Method")
      ->type_name(kMethodsType);
  app.add_option("--time", options.time,
                 "Budget; grids, repeats, folds and methods shrink until the estimate fits (default 10m)")
      ->group("Running")
      ->type_name("TIME");
  app.add_option(
         "--absent-baselines", options.absent_baselines,
         "Where samples lack views: methods, separated by commas, that are also run on whole samples only, on imputed "
         "means, and on kernels that are 0 or means of the nearest samples where a view is absent; or none "
         "(default: the first method that can learn from such samples, apart from auto)")
      ->group("Method")
      ->type_name(kMethodsType);
  app.add_flag(
         "--every-kernel", options.every_kernel,
         "'single' judges every kernel by itself, not only the five that look best; the page shows the results "
         "beside the learned weights")
      ->group("Method");
  const std::string group = "Output";
  options.validation.output = "report.html";
  app.add_option("-o,--output", options.validation.output,
                 "The report: HTML, or JSON by its name (default report.html)")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--model", options.model, "Write the model of the recommended method, trained on all samples")
      ->group(group)
      ->type_name("FILE");
  app.add_option(
         "--resume", options.validation.resume,
         "Keep finished work in this file, and go on from it where it exists (default: the report's name "
         "with .partial, removed at the end)")
      ->group(group)
      ->type_name("FILE");
}

ComparisonRequest comparison_request(const CompareOptions& options, const ValidationInput& input) {
  ComparisonRequest request;
  request.validation = input.request;
  request.splits = input.splits;
  request.seconds = parse_duration(options.time, "--time");
  request.every_kernel = options.every_kernel;
  if (options.methods != "all") request.methods = split_commas(options.methods);
  if (!options.absent_baselines.empty())
    request.absent_baselines = options.absent_baselines == "none" ? std::vector<std::string>{}
                                                                  : split_commas(options.absent_baselines);
  return request;
}

void save_final_model(const CompareOptions& options, Comparison& comparison, Outputs& outputs,
                      Session& session) {
  if (options.model.empty() || !comparison.final_fit) return;
  FitResult& fit = *comparison.final_fit;
  fit.model.report_json = to_json(fit.report);
  session.console().note(fmt::format("writing {}: {} on all samples", options.model, fit.model.method));
  save_model(fit.model, options.model);
  outputs.keep(options.model);
}

int run(CompareOptions& options, const Arguments& arguments) {
  Session session(options.validation.common);
  static_cast<void>(parse_duration(options.time, "--time"));
  const bool own_journal = options.validation.resume.empty();
  // Beside a report that goes to a device or pipe there is no place for a file.
  if (own_journal && is_file_output(options.validation.output))
    options.validation.resume = options.validation.output + ".partial";
  const auto inputs = input_files(dataset_request(options.validation.dataset, true));
  Outputs outputs({{"-o", options.validation.output, OutputKind::text},
                   {"--model", options.model, OutputKind::file},
                   {"--resume", options.validation.resume, OutputKind::journal}},
                  inputs);
  const ValidationInput input = read_validation_input(options.validation, false, session);
  const ComparisonRequest request = comparison_request(options, input);
  Comparison comparison = compare(input.data, input.targets, request, session.stoppable_context());
  session.console().end_progress();
  if (comparison.validation.interrupted) {
    session.console().result(to_text(comparison));
    throw Interrupted(interrupted_sentence("results", comparison, options.validation.resume));
  }
  const std::string json = to_json(comparison, input.data, input.targets,
                                   run_facts("compare", arguments, options.validation, session.seconds()));
  outputs.attempt([&] { save_final_model(options, comparison, outputs, session); });
  outputs.text(options.validation.output, report_file(options.validation.output, json), session);
  session.console().result(to_text(comparison));
  outputs.finish();
  if (own_journal) std::filesystem::remove(options.validation.resume);
  session.console().note(fmt::format("report: {}", options.validation.output));
  session.console().json_result(json);
  return kDone;
}

}  // namespace

int run_compare(const Arguments& arguments) {
  CompareOptions options;
  CommandLine line(
      "compare",
      "Compares all methods that suit the data on the same splits, recommends one, and writes a page.",
      kCompareExamples);
  add_validation_options(line.app(), options.validation);
  add_compare_options(line.app(), options);
  add_common_options(line.app(), options.validation.common);
  return line.parse(arguments) ? run(options, arguments) : kDone;
}

}  // namespace kloom::cli
