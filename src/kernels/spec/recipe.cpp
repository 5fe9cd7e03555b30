// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/functions/functions.h"
#include "kernels/spec/presence.h"
#include "kernels/spec/transformed_columns.h"
#include "kloom/error.h"

namespace kloom {
namespace {

// Text columns that the spec's string kernels look at.
std::vector<std::string> texts_of(const KernelSpec& spec, const Dataset& train) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const KernelFamily& family : spec.families) {
    if (!uses_texts(family.function)) continue;
    if (family.scopes.empty()) {
      for (const auto& text : train.texts) add(text.feature.name);
    }
    for (const Scope& scope : family.scopes) {
      if (scope.kind == ScopeKind::columns) {
        for (const auto& name : scope.names) add(name);
      } else if (scope.kind == ScopeKind::each || train.texts.size() == 1) {
        for (const auto& text : train.texts) add(text.feature.name);
      }
    }
  }
  return names;
}

// The matrices of new samples in the order of training: by name where the names agree, else by position.
std::vector<PrecomputedMatrix> in_training_order(const std::vector<PrecomputedMatrix>& given,
                                                 const std::vector<PrecomputedMatrix>& training,
                                                 const char* what) {
  if (given.size() != training.size())
    throw InvalidArgument(fmt::format("the model was trained with {} {} matrices, but {} were given",
                                      training.size(), what, given.size()));
  std::vector<PrecomputedMatrix> ordered;
  for (const auto& wanted : training) {
    const auto place = std::find_if(given.begin(), given.end(),
                                    [&](const PrecomputedMatrix& m) { return m.name == wanted.name; });
    if (place == given.end()) return given;
    ordered.push_back(*place);
  }
  return ordered;
}

bool uses(const std::vector<KernelTerm>& terms, KernelFunction function) {
  return std::any_of(terms.begin(), terms.end(), [&](const KernelTerm& t) { return t.function == function; });
}

}  // namespace

Recipe Recipe::fit(const Dataset& train, const KernelSpec& spec, const RecipeOptions& options,
                   const Context& context, const Targets* targets) {
  Recipe recipe;
  PreprocessingOptions preprocessing = options.preprocessing;
  for (const std::string& name : texts_of(spec, train)) {
    auto& kept = preprocessing.keep_text;
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
  }
  recipe.preprocessing = Preprocessing::fit(train, preprocessing, &recipe.decisions);
  recipe.spec = spec;
  if (spec.families.empty()) {
    KernelAdvice advice =
        advise_kernels(train, recipe.preprocessing, recipe.decisions, targets, options.spares_teachers);
    recipe.spec = std::move(advice.spec);
    recipe.advice = std::move(advice.reasons);
  }
  recipe.basis = recipe.preprocessing.apply(train);
  // Preprocessing is about columns; given matrices pass by it.
  if (recipe.basis.kernels.empty()) recipe.basis.kernels = train.kernels;
  if (recipe.basis.distances.empty()) recipe.basis.distances = train.distances;
  ResolveOptions resolve;
  resolve.normalisation = options.normalisation;
  resolve.clip_spectrum = options.clip_spectrum;
  resolve.targets = targets;
  for (Index f = 0; f < recipe.basis.features.cols(); ++f)
    resolve.constant.push_back(recipe.preprocessing.constant(f));
  kernels::add_transformed_columns(recipe, train, targets, resolve);
  recipe.terms = resolve_kernels(recipe.spec, recipe.basis, resolve, context);
  kernels::drop_unused_inputs(recipe, preprocessing.keep_text, !resolve.transformed.empty());
  return recipe;
}

Recipe Recipe::for_kernels(const std::vector<std::string>& names, Index samples) {
  Recipe recipe;
  recipe.spec = parse_kernel_spec("precomputed(normalise=none)");
  recipe.basis.samples = samples;
  for (const std::string& name : names) {
    KernelTerm term;
    term.name = name;
    term.function = KernelFunction::precomputed;
    term.features = {std::ssize(recipe.terms)};
    term.group = name;
    recipe.terms.push_back(std::move(term));
    recipe.basis.kernels.push_back({name, {}});
  }
  return recipe;
}

std::shared_ptr<const KernelBank> Recipe::training_bank() const {
  const auto samples = std::make_shared<const Dataset>(basis);
  return kernels::present_bank(terms, samples, samples, true);
}

std::shared_ptr<const KernelBank> Recipe::training_bank(const std::shared_ptr<const Recipe>& recipe) {
  const std::shared_ptr<const Dataset> samples(recipe, &recipe->basis);
  return kernels::present_bank(recipe->terms, samples, samples, true);
}

std::shared_ptr<const KernelBank> Recipe::training_bank_with(const Dataset& samples) const {
  Recipe whole = *this;
  if (uses(terms, KernelFunction::precomputed))
    whole.basis.kernels = in_training_order(samples.kernels, basis.kernels, "kernel");
  if (uses(terms, KernelFunction::expdist))
    whole.basis.distances = in_training_order(samples.distances, basis.distances, "distance");
  return whole.training_bank();
}

std::shared_ptr<const KernelBank> Recipe::bank_for(const Dataset& samples) const {
  Dataset rows = preprocessing.apply(samples);
  if (uses(terms, KernelFunction::precomputed))
    rows.kernels = in_training_order(samples.kernels, basis.kernels, "kernel");
  if (uses(terms, KernelFunction::expdist))
    rows.distances = in_training_order(samples.distances, basis.distances, "distance");
  Dataset columns = basis;
  columns.kernels.clear();  // the rows bring their own
  columns.distances.clear();
  return kernels::present_bank(terms, std::make_shared<const Dataset>(std::move(rows)),
                               std::make_shared<const Dataset>(std::move(columns)), false);
}

}  // namespace kloom
