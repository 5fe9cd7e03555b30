// SPDX-License-Identifier: BSD-3-Clause
#include "dataset_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {
namespace {

std::vector<std::string> split_all(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const auto& text : texts) {
    for (auto& part : split_commas(text)) parts.push_back(std::move(part));
  }
  return parts;
}

bool has_data_extension(const std::string& path) {
  constexpr std::array<std::string_view, 9> kExtensions{".csv", ".tsv", ".txt",    ".svm", ".svmlight",
                                                        ".npy", ".npz", ".libsvm", ".mat"};
  std::filesystem::path name(path);
  if (name.extension() == ".gz") name = name.stem();
  const std::string extension = name.extension().string();
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

// `name=path`, `name=column,column,glob*`, or `path` alone, whose view is called after the file.
ViewRequest parse_view(const std::string& text, bool main_table) {
  const std::size_t equals = text.find('=');
  ViewRequest view;
  const std::string what = equals == std::string::npos ? text : text.substr(equals + 1);
  view.name = equals == std::string::npos ? stem_of(text) : text.substr(0, equals);
  if (view.name.empty() || what.empty()) {
    throw InvalidArgument(fmt::format("--view is '{}'; write NAME=FILE or NAME=COLUMN,COLUMN", text));
  }
  // Without a main table there are no columns to choose from, so it must be a file.
  if (!main_table || has_data_extension(what) || equals == std::string::npos) {
    view.path = what;
  } else {
    view.columns = split_commas(what);
  }
  return view;
}

std::string choice(const std::string& option, const std::string& value,
                   const std::vector<std::string>& choices) {
  if (value.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  throw InvalidArgument(fmt::format("{} is '{}'; choose one of: {}{}", option, value, list_of(choices, 20),
                                    did_you_mean(value, choices)));
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->allow_extra_args(false);
}

}  // namespace

void add_dataset_options(CLI::App& app, DatasetOptions& options) {
  const std::string group = "Data";
  app.add_option("data", options.path, "Table of samples: CSV, TSV, svmlight, NPY, NPZ or MAT, also with .gz")
      ->type_name("FILE");
  app.add_option("--target", options.target,
                 "Column of labels (default: a single one called label, target, class or y)")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--id", options.id, "Column of sample ids; joins the files of several views")
      ->group(group)
      ->type_name("NAME");
  repeatable(app.add_option("--ignore", options.ignore, "Columns that are not features, separated by commas"))
      ->group(group)
      ->type_name("NAMES");
  repeatable(
      app.add_option("--text", options.text, "Columns to take as text even where they look like numbers"))
      ->group(group)
      ->type_name("NAMES");
  repeatable(
      app.add_option("--view", options.views,
                     "A view: NAME=FILE, or NAME=COLUMN,COLUMN (globs work: NAME='L1.*'); may be repeated"))
      ->group(group)
      ->type_name("VIEW");
  app.add_flag("--views-by-prefix", options.views_by_prefix,
               "Headers have the form view.column (seen by itself where all of them have)")
      ->group(group);
  app.add_flag("--no-views", options.no_views, "Do not take such headers for views")->group(group);
  app.add_option(
         "--join", options.join,
         "'inner' keeps the ids that are present in every file, 'outer' those that some file has: samples "
         "without some views are learned and predicted from the others")
      ->group(group)
      ->type_name("inner|outer");
  repeatable(app.add_option(
                 "--kernel-file", options.kernel_files,
                 "Precomputed kernel matrix, a stack of them, or a bank from 'kernels build'; may be repeated"))
      ->group(group)
      ->type_name("FILE");
  repeatable(app.add_option("--distance-file", options.distance_files,
                            "Precomputed distance matrix, for expdist kernels; may be repeated"))
      ->group(group)
      ->type_name("FILE");
}

void add_preprocessing_options(CLI::App& app, DatasetOptions& options) {
  const std::string group = "Preparation";
  app.add_option("--impute", options.impute,
                 "Replace missing values by the training 'mean' or 'median', or refuse them: 'none' (default: "
                 "median, and a 0/1 feature that marks them; a view of which a sample has nothing is left out)")
      ->group(group)
      ->type_name("none|mean|median");
  app.add_option("--categorical", options.categorical,
                 "'onehot' makes a 0/1 feature of every value of every text column, 'refuse' refuses text "
                 "(default: decided column by column, see docs/guide/columns.md)")
      ->group(group)
      ->type_name("refuse|onehot");
  repeatable(app.add_option("--category", options.category,
                            "Columns of categories, even where they look like numbers"))
      ->group(group)
      ->type_name("NAMES");
  repeatable(app.add_option("--keep", options.keep, "Columns that must not be dropped as ids, names or dates"))
      ->group(group)
      ->type_name("NAMES");
  app.add_flag("--no-standardise,--no-standardize", options.no_standardise,
               "Leave features as they are (default: mean 0, deviation 1)")
      ->group(group);
}

void add_target_options(CLI::App& app, DatasetOptions& options) {
  const std::string group = "Data";
  app.add_option("--weight", options.weight, "Column of sample weights")->group(group)->type_name("NAME");
  app.add_option("--positive", options.positive, "Name of the positive class (default: the last of the two)")
      ->group(group)
      ->type_name("CLASS");
  app.add_option("--task", options.task, "What labels are (default: auto, decided from the labels)")
      ->group(group)
      ->type_name("auto|classes|regression");
}

DatasetRequest dataset_request(const DatasetOptions& options, bool target_required) {
  DatasetRequest request;
  request.path = options.path;
  for (const std::string& view : options.views)
    request.views.push_back(parse_view(view, !options.path.empty()));
  const bool has_view_file = std::any_of(request.views.begin(), request.views.end(),
                                         [](const ViewRequest& view) { return !view.path.empty(); });
  if (options.path.empty() && !has_view_file && options.kernel_files.empty() &&
      options.distance_files.empty()) {
    throw InvalidArgument("no data: name a file, or give --view NAME=FILE or --kernel-file FILE");
  }
  request.views_by_prefix = options.views_by_prefix;
  request.no_views = options.no_views;
  request.kernel_files = options.kernel_files;
  request.distance_files = options.distance_files;
  request.target = options.target;
  request.target_required = target_required;
  request.id = options.id;
  request.weight = options.weight;
  const std::string join = choice("--join", options.join, {"inner", "outer"});
  request.inner_join = join == "inner";
  request.outer_join = join == "outer";
  request.ignore = split_all(options.ignore);
  request.text = split_all(options.text);
  for (std::string& name : split_all(options.category)) request.text.push_back(std::move(name));
  return request;
}

PreprocessingOptions preprocessing_options(const DatasetOptions& options) {
  PreprocessingOptions result;
  result.standardise = !options.no_standardise;
  const std::string impute = choice("--impute", options.impute, {"none", "mean", "median"});
  if (impute == "none") result.impute = Impute::refuse;
  if (impute == "mean") result.impute = Impute::mean;
  if (impute == "median") result.impute = Impute::median;
  result.indicate = impute.empty();
  result.absent_views = impute.empty();
  const std::string categorical = choice("--categorical", options.categorical, {"refuse", "onehot"});
  result.decide = categorical.empty();
  result.onehot = categorical == "onehot";
  result.keep = split_all(options.keep);
  result.keep_text = split_all(options.text);
  result.categories = split_all(options.category);
  return result;
}

TargetsRequest targets_request(const DatasetOptions& options, const Dataset& data) {
  TargetsRequest request;
  const std::string task = choice("--task", options.task, {"auto", "classes", "regression"});
  if (task == "classes") request.kind = TargetsRequest::Kind::classes;
  if (task == "regression") request.kind = TargetsRequest::Kind::regression;
  request.positive = options.positive;
  request.target_name = data.target_name;
  request.source = data.source;
  request.lines = data.lines;
  return request;
}

std::vector<std::string> input_files(const DatasetRequest& request) {
  std::vector<std::string> files;
  if (!request.path.empty()) files.push_back(request.path);
  for (const auto& view : request.views) {
    if (!view.path.empty()) files.push_back(view.path);
  }
  files.insert(files.end(), request.kernel_files.begin(), request.kernel_files.end());
  files.insert(files.end(), request.distance_files.begin(), request.distance_files.end());
  return files;
}

}  // namespace kloom::cli
