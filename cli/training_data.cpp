// SPDX-License-Identifier: BSD-3-Clause
#include "training_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "interrupt.h"
#include "kloom/kernels.h"
#include "method_options.h"
#include "text.h"

namespace kloom::cli {
namespace {

// Columns that string kernels look at, as far as the spec names them.
std::vector<std::string> named_text_columns(const KernelSpec& spec) {
  std::set<std::string> names;
  for (const auto& family : spec.families) {
    if (!uses_texts(family.function)) continue;
    for (const auto& scope : family.scopes) {
      if (scope.kind == ScopeKind::columns) names.insert(scope.names.begin(), scope.names.end());
    }
  }
  return {names.begin(), names.end()};
}

bool has_open_spectrum(const KernelSpec& spec) {
  return std::any_of(spec.families.begin(), spec.families.end(), [](const KernelFamily& family) {
    const auto open = [](const Scope& scope) { return scope.kind != ScopeKind::columns; };
    return uses_texts(family.function) &&
           (family.scopes.empty() || std::any_of(family.scopes.begin(), family.scopes.end(), open));
  });
}

std::vector<std::string> text_columns_to_keep(const KernelSpec& spec, const Dataset& data,
                                              const std::vector<std::string>& asked) {
  std::vector<std::string> keep = named_text_columns(spec);
  keep.insert(keep.end(), asked.begin(), asked.end());
  if (has_open_spectrum(spec)) {
    for (const auto& column : data.texts) keep.push_back(column.feature.name);
  }
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
  return keep;
}

}  // namespace

void add_kernel_options(CLI::App& app, KernelOptions& options) {
  const std::string group = "Kernels";
  app.add_option(
         "--kernels", options.spec,
         "Families separated by ';', such as \"rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) "
         "on views\". Functions: rbf, poly, linear, cosine, laplacian, chi2, intersection, "
         "overlap, spectrum, edit, words, trees, precomputed, expdist (default: what suits the columns)")
      ->group(group)
      ->type_name("SPEC");
  app.add_option("--normalise,--normalize", options.normalise,
                 "Normalisation where a family names none: "
                 "unit-diagonal (default), unit-trace, unit-variance, centre, none")
      ->group(group)
      ->type_name("KIND");
  app.add_flag("--clip-spectrum", options.clip_spectrum,
               "Make indefinite precomputed kernels positive semidefinite by dropping their negative part")
      ->group(group);
  app.add_option("--bank", options.bank,
                 "How kernels are stored: automatic (default), dense, dense32, low-rank, rbf-family, computed")
      ->group(group)
      ->type_name("KIND");
}

TrainingData read_training_data(const DatasetRequest& request, const KernelOptions& kernels, Session& session) {
  const double start = session.seconds();
  DatasetRequest with_text = request;
  if (!kernels.spec.empty()) {
    for (auto& name : named_text_columns(parse_kernel_spec(kernels.spec)))
      with_text.text.push_back(std::move(name));
  }
  TrainingData training;
  training.data = load_dataset(with_text, session.context());
  training.read_seconds = session.seconds() - start;
  for (const std::string& note : training.data.notes) session.console().note(note);
  stop_if_interrupted();
  return training;
}

void drop_unlabelled(Dataset& data, Session& session) {
  if (!data.kernels.empty() || !data.distances.empty()) return;
  std::vector<Index> kept;
  Index first = -1;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (!data.labels[i].empty()) {
      kept.push_back(static_cast<Index>(i));
    } else if (first < 0) {
      first = static_cast<Index>(i);
    }
  }
  if (first < 0 || kept.empty()) return;
  const bool lines = at(first) < data.lines.size();
  session.console().note(
      fmt::format("{}: {} of {} samples have no value in the target '{}' and are left out, the first {} {} "
                  "({} can use them)",
                  data.source, data.samples - std::ssize(kept), data.samples, data.target_name,
                  lines ? "on line" : "is sample", lines ? data.lines[at(first)] : first + 1,
                  fmt::format("--method {}", fmt::join(methods_that(&Learner::semi_supervised), " or "))));
  data = select_samples(data, kept);
}

KernelChoice choose_kernels(const Dataset& data, const DatasetOptions& options, const KernelOptions& kernels) {
  KernelChoice choice;
  choice.by_default = kernels.spec.empty();
  // Without families the recipe chooses kernels that suit its training samples.
  if (!choice.by_default) choice.spec = parse_kernel_spec(kernels.spec);
  choice.recipe.preprocessing = preprocessing_options(options);
  choice.recipe.preprocessing.keep_text =
      text_columns_to_keep(choice.spec, data, choice.recipe.preprocessing.keep_text);
  if (!kernels.normalise.empty()) choice.recipe.normalisation = parse_normalisation(kernels.normalise);
  choice.recipe.clip_spectrum = kernels.clip_spectrum;
  return choice;
}

TrainRequest kernel_request(const Dataset& data, const DatasetOptions& options, const KernelOptions& kernels) {
  const KernelChoice choice = choose_kernels(data, options, kernels);
  TrainRequest request;
  if (!choice.by_default) request.kernels = choice.spec;
  request.recipe = choice.recipe;
  if (!kernels.bank.empty()) request.bank = parse_bank_kind(kernels.bank);
  return request;
}

std::string describe(const Dataset& data) {
  std::string text = counted(data.samples, "sample");
  if (data.features.cols() > 0) text += ", " + counted(data.features.cols(), "feature");
  if (!data.views.empty()) text += " in " + counted(std::ssize(data.views), "view");
  if (!data.texts.empty()) text += ", " + counted(std::ssize(data.texts), "text column");
  if (!data.kernels.empty()) text += ", " + counted(std::ssize(data.kernels), "precomputed kernel");
  if (!data.distances.empty()) text += ", " + counted(std::ssize(data.distances), "precomputed distance");
  return text;
}

}  // namespace kloom::cli
