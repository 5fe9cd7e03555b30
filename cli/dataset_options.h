// SPDX-License-Identifier: BSD-3-Clause
//
// The options that say which files hold the samples and how they are read.
#pragma once

#include <string>
#include <vector>

#include "kloom/dataset.h"
#include "kloom/targets.h"

namespace CLI {
class App;
}

namespace kloom::cli {

struct DatasetOptions {
  std::string path;
  std::string target;
  std::string id;
  std::string weight;
  std::vector<std::string> ignore;
  std::vector<std::string> text;
  std::vector<std::string> views;
  bool views_by_prefix = false;
  bool no_views = false;
  std::string join;
  std::vector<std::string> kernel_files;
  std::vector<std::string> distance_files;
  // Fitted in training and kept in the model, so only commands that train have them.
  std::string impute;
  std::string categorical;
  std::vector<std::string> keep;
  std::vector<std::string> category;
  bool no_standardise = false;
  std::string positive;
  std::string task;
};

// Files, target and columns: every command that reads samples.
void add_dataset_options(CLI::App& app, DatasetOptions& options);
// --impute, --categorical, --category, --keep, --no-standardise.
void add_preprocessing_options(CLI::App& app, DatasetOptions& options);
// --weight, --positive, --task.
void add_target_options(CLI::App& app, DatasetOptions& options);

// Throws InvalidArgument for what cannot be read as an option's value or if no file is named at all.
[[nodiscard]] DatasetRequest dataset_request(const DatasetOptions& options, bool target_required);
[[nodiscard]] PreprocessingOptions preprocessing_options(const DatasetOptions& options);
[[nodiscard]] TargetsRequest targets_request(const DatasetOptions& options, const Dataset& data);

// Every file that the options name.
[[nodiscard]] std::vector<std::string> input_files(const DatasetRequest& request);

}  // namespace kloom::cli
