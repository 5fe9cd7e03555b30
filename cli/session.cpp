// SPDX-License-Identifier: BSD-3-Clause
#include "session.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>

#include "help_formatter.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  const std::string group = kCommonGroup;
  app.add_flag("--json", options.json, "Print the result as JSON on standard output")->group(group);
  app.add_flag("-q,--quiet", options.quiet, "Say nothing but warnings and errors")->group(group);
  app.add_option("--seed", options.seed, "Seed of everything random (default 1)")
      ->group(group)
      ->type_name("NUMBER");
  app.add_option("--threads", options.threads, "Threads to use (default: every core)")
      ->group(group)
      ->type_name("NUMBER");
  app.add_option("--unpack-ratio", options.unpack_ratio,
                 "Packed files (.gz, .npz) may unpack to so many times their size (default 200)")
      ->group(group)
      ->type_name("NUMBER");
  app.add_option("--memory", options.memory,
                 "Memory that may be used, such as 4GB (default: 80 % of what is free)")
      ->group(group)
      ->type_name("SIZE");
}

namespace {

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw InvalidArgument(fmt::format("--seed is '{}'; give a whole number from 0 to 2^64-1", text));
  }
  return seed;
}

}  // namespace

Session::Session(const CommonOptions& options) : console_(options.quiet, options.json) {
  if (options.threads < 0 || options.threads > Context::most_threads) {
    throw InvalidArgument(fmt::format("--threads is {}; give a number from 1 to {}, or 0 for every core",
                                      options.threads, Context::most_threads));
  }
  if (!(options.unpack_ratio >= 1.0)) {
    throw InvalidArgument(
        fmt::format("--unpack-ratio is {}; give a number of 1 or more", options.unpack_ratio));
  }
  base_.unpack_ratio = options.unpack_ratio;
  base_.seed = parse_seed(options.seed);
  base_.threads = options.threads;
  if (!options.memory.empty()) base_.memory_budget = parse_bytes(options.memory, "--memory");
  watch_for_interrupt(!options.quiet);
}

double Session::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Context Session::context() {
  return make_context(Signal::abort);
}

Context Session::stoppable_context() {
  return make_context(Signal::stop);
}

Context Session::make_context(Signal on_interrupt) {
  Context context = base_;
  context.log = [this](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) console_.warn(std::string(message));
    if (level == LogLevel::info) console_.note(message);
  };
  context.progress = [this, on_interrupt](const Progress& progress) {
    if (interrupted()) return on_interrupt;
    if (on_interrupt == Signal::stop && out_of_time()) return Signal::stop;
    console_.progress(progress);
    return Signal::go_on;
  };
  return context;
}

}  // namespace kloom::cli
