// SPDX-License-Identifier: BSD-3-Clause
//
// kloom kernels build: data → kernel matrices in a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_code.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/output_file.h"
#include "model_text.h"
#include "text.h"
#include "training_data.h"

namespace kloom::cli {
namespace {

constexpr const char* kKernelsExamples =
    "  kloom kernels build data.csv --target label --kernels \"rbf(width=2^-3..2^6) on all\" -o bank.kloom\n"
    "  kloom kernels build --view rna=rna.csv --view methylation=methylation.csv "
    "--kernels \"rbf(auto)\" -o bank.kloom";

struct BuildOptions {
  CommonOptions common;
  DatasetOptions dataset;
  KernelOptions kernels;
  std::string output = "bank.kloom";
};

int run(BuildOptions& options) {
  Session session(options.common);
  const DatasetRequest request = dataset_request(options.dataset, false);
  require_outputs({{"-o", options.output, OutputKind::file}}, input_files(request));
  TrainingData training = read_training_data(request, options.kernels, session);
  session.console().note(describe(training.data));
  TrainRequest wanted = kernel_request(training.data, options.dataset, options.kernels);
  wanted.recipe.preprocessing.absent_views = false;  // a bank file does not hold who lacks what
  TrainingKernels kernels(training.data, wanted, session.context());
  BankRequest how;
  how.kind = options.kernels.bank.empty() ? BankKind::dense : parse_bank_kind(options.kernels.bank);
  const auto bank = kernels.stored(how, memory_budget(session.context()), session.context());
  save_bank(*bank, options.output, session.context());
  session.console().end_progress();
  session.console().result(fmt::format("{} of {} samples ({}, {}) written to {}\n",
                                       counted(bank->kernels(), "kernel"), bank->rows(), bank->kind(),
                                       format_bytes(bank->bytes()), options.output));
  const nlohmann::ordered_json json = {{"command", "kernels build"}, {"output", options.output},
                                       {"samples", bank->rows()},    {"kernels", bank->names()},
                                       {"kind", bank->kind()},       {"bytes", bank->bytes()}};
  session.console().json_result(dump(json));
  return kDone;
}

int run_build(const Arguments& arguments) {
  BuildOptions options;
  CommandLine line("kernels build", "Computes the kernels of training samples and keeps them in a bank file.",
                   kKernelsExamples);
  add_dataset_options(line.app(), options.dataset);
  add_preprocessing_options(line.app(), options.dataset);
  add_kernel_options(line.app(), options.kernels);
  line.app()
      .add_option("-o,--output", options.output, "Bank file (default: bank.kloom)")
      ->group("Output")
      ->type_name("FILE");
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace

int run_kernels(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "build")
    return run_build({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && (arguments.front() == "--help" || arguments.front() == "-h"))
    return run_build({"--help"});
  const std::string first = arguments.empty() ? "" : arguments.front();
  throw InvalidArgument(arguments.empty()
                            ? "'kloom kernels' needs a word more: kloom kernels build …"
                            : fmt::format("there is no command 'kernels {}'{}; there is: kernels build", first,
                                          did_you_mean(first, {"build"})));
}

}  // namespace kloom::cli
