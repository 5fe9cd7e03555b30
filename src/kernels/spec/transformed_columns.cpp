// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/transformed_columns.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/functions/functions.h"
#include "kernels/spec/relevance.h"
#include "kernels/spec/scopes.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

using Wanted = std::map<Transform, std::set<Index>>;

void add_wanted(Wanted& wanted, const KernelFamily& family, const Recipe& recipe,
                const ResolveOptions& options) {
  const bool overlap = family.function == KernelFunction::overlap;
  if (!uses_features(family.function) || (!overlap && family.transform == Transform::standardised)) return;
  const ScopeRequest request{family.function, &options.constant, -1};
  const std::vector<Scope> fallback = {Scope{}};
  for (const Scope& scope : family.scopes.empty() ? fallback : family.scopes) {
    for (const Target& target : targets_of(scope, request, recipe.basis, {})) {
      for (const Index f : target.inputs) {
        const auto& column = recipe.preprocessing.columns()[static_cast<std::size_t>(f)];
        if (!overlap) {
          wanted[family.transform].insert(f);
        } else if (column.onehot) {
          wanted[Transform::codes].insert(f);
        } else if (scope.kind == ScopeKind::columns && !column.indicator) {
          wanted[Transform::raw].insert(f);
        }
      }
    }
  }
}

const Targets& needed(const Targets* targets) {
  if (targets == nullptr)
    throw InvalidArgument(
        "scale=relevance is learned from the targets, which are "
        "not known here; use scale=standardised or scale=ranks");
  return *targets;
}

std::vector<Index> places_of(const std::vector<Index>& kept, std::size_t count) {
  std::vector<Index> places(count, -1);
  for (std::size_t k = 0; k < kept.size(); ++k)
    places[static_cast<std::size_t>(kept[k])] = static_cast<Index>(k);
  return places;
}

std::vector<Index> all_of(std::size_t count) {
  std::vector<Index> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<Index>(i));
  return all;
}

void keep_features(Dataset& basis, const std::vector<Index>& kept) {
  Matrix features(basis.samples, static_cast<Index>(kept.size()));
  std::vector<Feature> info;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::ranges::copy(basis.features.column(kept[k]), features.column(static_cast<Index>(k)).begin());
    info.push_back(basis.feature_info[static_cast<std::size_t>(kept[k])]);
  }
  basis.features = std::move(features);
  basis.feature_info = std::move(info);
}

}  // namespace

void add_transformed_columns(Recipe& recipe, const Dataset& raw, const Targets* targets,
                             ResolveOptions& options) {
  Wanted wanted;
  for (const KernelFamily& family : recipe.spec.families) add_wanted(wanted, family, recipe, options);
  options.columns = static_cast<Index>(recipe.preprocessing.columns().size());
  if (wanted.empty()) return;
  for (const auto& [transform, features] : wanted) {
    const std::vector<Index> chosen(features.begin(), features.end());
    const std::vector<Index> places =
        transform == Transform::relevance
            ? add_relevant_columns(recipe.preprocessing, recipe.basis, needed(targets), chosen)
            : recipe.preprocessing.add_transformed(raw, transform, chosen);
    for (std::size_t k = 0; k < chosen.size(); ++k) options.transformed[{transform, chosen[k]}] = places[k];
  }
  Dataset whole = recipe.preprocessing.apply(raw);
  recipe.basis.features = std::move(whole.features);
  recipe.basis.feature_info = std::move(whole.feature_info);
}

void drop_unused_inputs(Recipe& recipe, const std::vector<std::string>& asked, bool columns) {
  std::set<Index> features;
  std::set<Index> texts;
  for (const KernelTerm& term : recipe.terms) {
    if (uses_features(term.function)) features.insert(term.features.begin(), term.features.end());
    if (uses_texts(term.function)) texts.insert(term.features.begin(), term.features.end());
  }
  const auto& text_columns = recipe.preprocessing.text_columns();
  for (std::size_t t = 0; t < text_columns.size(); ++t)
    if (std::ranges::find(asked, text_columns[t].name) != asked.end()) texts.insert(static_cast<Index>(t));
  const std::size_t all_columns = recipe.preprocessing.columns().size();
  const std::vector<Index> kept =
      columns ? std::vector<Index>(features.begin(), features.end()) : all_of(all_columns);
  const std::vector<Index> kept_texts(texts.begin(), texts.end());
  if (kept.size() == all_columns && kept_texts.size() == text_columns.size()) return;
  const std::vector<Index> places = places_of(kept, all_columns);
  const std::vector<Index> text_places = places_of(kept_texts, text_columns.size());
  recipe.preprocessing.keep(kept, kept_texts);
  keep_features(recipe.basis, kept);
  std::vector<TextColumn> texts_left;
  texts_left.reserve(kept_texts.size());
  for (const Index t : kept_texts)
    texts_left.push_back(std::move(recipe.basis.texts[static_cast<std::size_t>(t)]));
  recipe.basis.texts = std::move(texts_left);
  for (std::size_t v = 0; v < recipe.basis.views.size(); ++v) {
    View kept_view = recipe.preprocessing.views()[v];
    kept_view.absent = std::move(recipe.basis.views[v].absent);
    recipe.basis.views[v] = std::move(kept_view);
  }
  for (KernelTerm& term : recipe.terms) {
    if (!uses_features(term.function) && !uses_texts(term.function)) continue;
    const auto& moved = uses_texts(term.function) ? text_places : places;
    for (Index& f : term.features) f = moved[static_cast<std::size_t>(f)];
  }
}

}  // namespace kloom::kernels
