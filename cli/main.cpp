// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "text.h"

namespace {

using namespace kloom::cli;  // NOLINT(google-build-using-namespace): this is its main program

constexpr std::array<Command, 14> kCommands{
    {{"train", "learn a model from labelled samples", run_train},
     {"predict", "label, probabilities and uncertainty of new samples", run_predict},
     {"compare", "which method suits these data? All of them on the same splits, and a page", run_compare},
     {"cv", "how well does one method do on samples that it did not learn from?", run_cv},
     {"stream", "learn from a pipe without end, sample by sample", run_stream},
     {"tasks", "learn several related tasks at once, with kernel weights in common", run_tasks},
     {"check", "recompute what can be proved or checked about a model", run_check},
     {"view", "a page about one model: weights, training, certificate, samples", run_view},
     {"kernels", "'kernels build' computes kernels and keeps them in a file", run_kernels, "build"},
     {"info", "describe a model, a kernel bank, a data file or this machine", run_info},
     {"methods", "list the learning methods and their options", run_methods},
     {"man", "print a manual page", run_man, "", false},
     {"completion", "print what makes a shell complete kloom's words", run_completion, "", false},
     {"complete-words", "answer a shell that completes a word", run_complete_words, "", false}}};

constexpr const char* kGuard = "KLOOM_REEXECUTED";

// BLAS and OpenMP decide how they work when they are loaded, that is before main. Where they decided badly, the
// program starts itself once more with the environment that makes them do well.
void start_again_if_that_helps(char** argv) {
  if (std::getenv(kGuard) == nullptr) {
    const auto cure = kloom::machine_cure([](const char* name) -> const char* { return std::getenv(name); });
    if (cure.empty()) return;
    for (const auto& [name, value] : cure) setenv(name.c_str(), value.c_str(), 1);
    setenv(kGuard, "1", 1);
    execv("/proc/self/exe", argv);
  }
  unsetenv(kGuard);
  // Starting again was not possible or did not help: repair what can be repaired here.
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr) kloom::cure_blas_core();
}

std::string overview() {
  std::string text = std::string(kProgramSentence) + "\n\nUsage: kloom COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    if (command.listed) text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  }
  return text +
         "\n'kloom COMMAND --help' explains a command; 'kloom --version' prints the version; 'kloom completion "
         "bash'\n"
         "(zsh, fish) prints what makes the shell complete commands, options and methods.\n\n"
         "Examples:\n" +
         kProgramExamples;
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    write_stderr(overview());
    return kUsersMistake;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    write_stdout(overview());
    return kDone;
  }
  if (first == "--version") {
    write_stdout("kloom " + kloom::version() + "\n");
    return kDone;
  }
  return find_command(first).run({arguments.begin() + 1, arguments.end()});
}

int fail(const std::string& message, int code, const Arguments& arguments) {
  write_stderr("kloom: " + kloom::printable(message) + "\n");
  if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
    const nlohmann::ordered_json json = {{"error", valid_utf8(message)}, {"exit_code", code}};
    const std::string text = json.dump(2) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return code;
}

}  // namespace

namespace kloom::cli {

std::span<const Command> all_commands() {
  return kCommands;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
    if (command.listed) names.emplace_back(command.name);
  }
  throw InvalidArgument(fmt::format("there is no command '{}'{}; the commands are: {}", name,
                                    did_you_mean(name, names), list_of(names, 20)));
}

}  // namespace kloom::cli

int main(int argc, char** argv) {
  start_again_if_that_helps(argv);
  // A limit on the size of files (ulimit -f) is an error like a full disk, not the end of the program.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  try {
    return dispatch(arguments);
  } catch (const kloom::InvalidArgument& error) {
    return fail(error.what(), kUsersMistake, arguments);
  } catch (const kloom::Interrupted& error) {
    return fail(error.what(), interrupted_code(), arguments);
  } catch (const kloom::InternalError& error) {
    return fail(fmt::format("internal error: {}; please report it with the command that you ran", error.what()),
                kFailed, arguments);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; --memory sets a lower limit, within which kloom works in smaller blocks",
                kFailed, arguments);
  } catch (const std::exception& error) {
    return fail(error.what(), kFailed, arguments);
  }
}
