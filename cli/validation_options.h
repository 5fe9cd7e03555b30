// SPDX-License-Identifier: BSD-3-Clause
//
// What `cv` and `compare` have in common: samples, splits, and how results are kept and shown.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "dataset_options.h"
#include "kloom/compare.h"
#include "kloom/page.h"
#include "kloom/validate.h"
#include "session.h"
#include "training_data.h"

namespace kloom::cli {

struct ValidationOptions {
  CommonOptions common;
  DatasetOptions dataset;
  KernelOptions kernels;
  Index folds = 5;
  Index repeats = 1;
  double holdout = 0.0;  // 0: folds
  std::string group;
  std::string split;
  std::string metric;
  Index inner_folds = 3;
  std::string resume;
  std::string output;
};

// Data, kernels and splits; not --method and not what is said about output.
void add_validation_options(CLI::App& app, ValidationOptions& options);

struct ValidationInput {
  Dataset data;
  Targets targets;
  SplitRequest splits;
  ValidationRequest request;  // without candidates and splits
};

// Reads samples and labels and says what was found. `unlabelled`: samples without a label are welcome.
[[nodiscard]] ValidationInput read_validation_input(const ValidationOptions& options, bool unlabelled,
                                                    Session& session);

// Facts for the page.
[[nodiscard]] RunFacts run_facts(const std::string& kind, const Arguments& arguments,
                                 const ValidationOptions& options, double seconds);

// How far an interrupted run came ("results", "of 15 parts"), and where what it has done is.
[[nodiscard]] std::string interrupted_sentence(const std::string& parts, const Comparison& comparison,
                                               const std::string& journal);

// What goes into a report of this name: HTML, or JSON where it ends so.
[[nodiscard]] std::string report_file(const std::string& path, const std::string& json);

}  // namespace kloom::cli
