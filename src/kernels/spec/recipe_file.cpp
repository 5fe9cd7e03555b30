// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/recipe_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "data/container_json.h"
#include "kernels/functions/decision_trees.h"
#include "kernels/spec/preprocessing_file.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

using data::encode_text;
using data::encode_texts;
using data::Fields;
using nlohmann::json;

constexpr std::array all_functions = {
    KernelFunction::rbf,          KernelFunction::polynomial, KernelFunction::linear,
    KernelFunction::cosine,       KernelFunction::laplacian,  KernelFunction::chi2,
    KernelFunction::intersection, KernelFunction::spectrum,   KernelFunction::precomputed,
    KernelFunction::expdist,      KernelFunction::overlap,    KernelFunction::words,
    KernelFunction::trees,        KernelFunction::edit};
constexpr std::array all_normalisations = {Normalisation::none, Normalisation::unit_diagonal,
                                           Normalisation::unit_trace, Normalisation::unit_variance,
                                           Normalisation::centre};
template <typename Enum, std::size_t count>
Enum parse_enum(Fields& fields, const char* key, const std::array<Enum, count>& values) {
  const std::string text = fields.text(key);
  for (const Enum value : values)
    if (to_string(value) == text) return value;
  fields.damaged(key, "has a value that this version of kloom does not know");
}

std::vector<std::string> names_of(const std::vector<PrecomputedMatrix>& matrices) {
  std::vector<std::string> out;
  out.reserve(matrices.size());
  for (const auto& m : matrices) out.push_back(m.name);
  return out;
}

std::vector<PrecomputedMatrix> matrices_named(const std::vector<std::string>& names) {
  std::vector<PrecomputedMatrix> out;
  out.reserve(names.size());
  for (const auto& name : names) out.push_back({name, {}});
  return out;
}

// The trees of all kernels, back to back, and how many each kernel has.
void save_trees(const std::vector<KernelTerm>& terms, data::SectionList& sections) {
  std::vector<Index> counts;
  Packed<Index> features;
  Packed<Index> children;
  Packed<double> thresholds;
  for (const KernelTerm& term : terms) {
    counts.push_back(std::ssize(term.trees));
    for (const DecisionTree& tree : term.trees) {
      features.add(tree.features);
      children.add(tree.children);
      thresholds.add(tree.thresholds);
    }
  }
  if (features.lengths.empty()) return;
  sections.indices("recipe.trees", std::move(counts));
  sections.indices("recipe.trees.nodes", std::move(features.lengths));
  sections.indices("recipe.trees.features", std::move(features.entries));
  sections.indices("recipe.trees.children", std::move(children.entries));
  sections.vector("recipe.trees.thresholds", std::move(thresholds.entries));
}

void load_trees(std::vector<KernelTerm>& terms, data::TensorReader& tensors) {
  if (!tensors.has("recipe.trees")) return;
  const data::Container& file = tensors.container();
  const std::vector<Index> counts = tensors.indices("recipe.trees");
  const std::vector<Index> nodes = tensors.indices("recipe.trees.nodes");
  auto features =
      unpack(nodes, tensors.indices("recipe.trees.features"), nodes.size(), file, "recipe.trees.features");
  auto children =
      unpack(nodes, tensors.indices("recipe.trees.children"), nodes.size(), file, "recipe.trees.children");
  auto thresholds =
      unpack(nodes, tensors.vector("recipe.trees.thresholds"), nodes.size(), file, "recipe.trees.thresholds");
  std::vector<DecisionTree> trees;
  for (std::size_t t = 0; t < nodes.size(); ++t)
    trees.push_back({std::move(features[t]), std::move(thresholds[t]), std::move(children[t])});
  auto grown = unpack(counts, trees, terms.size(), file, "recipe.trees");
  for (std::size_t p = 0; p < terms.size(); ++p) terms[p].trees = std::move(grown[p]);
}

json save_terms(const std::vector<KernelTerm>& terms, data::SectionList& sections) {
  json list = json::array();
  Vector numbers;
  Packed<Index> features;
  Packed<double> means;
  for (const auto& t : terms) {
    list.push_back({{"name", encode_text(t.name)},
                    {"function", to_string(t.function)},
                    {"group", encode_text(t.group)},
                    {"normalisation", to_string(t.normalisation)}});
    if (!t.views.empty()) list.back()["views"] = encode_texts(t.views);
    if (t.mismatches > 0) list.back()["mismatches"] = t.mismatches;
    if (t.gaps > 0) list.back()["gaps"] = t.gaps;
    if (t.tfidf) list.back()["tfidf"] = true;
    numbers.insert(numbers.end(), {t.parameter, t.distance_scale, t.scale, t.centre_mean});
    features.add(t.features);
    means.add(t.centre_means);
  }
  sections.vector("recipe.terms", std::move(numbers));
  sections.indices("recipe.terms.feature_counts", std::move(features.lengths));
  sections.indices("recipe.terms.features", std::move(features.entries));
  sections.indices("recipe.terms.mean_counts", std::move(means.lengths));
  sections.vector("recipe.terms.means", std::move(means.entries));
  save_trees(terms, sections);
  return list;
}

std::vector<KernelTerm> load_terms(const json& list, data::TensorReader& tensors) {
  const data::Container& file = tensors.container();
  const Vector numbers = tensors.vector("recipe.terms");
  if (numbers.size() != 4 * list.size()) file.damaged("'recipe.terms' does not have four numbers per kernel");
  auto features = unpack(tensors.indices("recipe.terms.feature_counts"),
                         tensors.indices("recipe.terms.features"), list.size(), file, "recipe.terms.features");
  auto means = unpack(tensors.indices("recipe.terms.mean_counts"), tensors.vector("recipe.terms.means"),
                      list.size(), file, "recipe.terms.means");
  std::vector<KernelTerm> terms;
  for (std::size_t p = 0; p < list.size(); ++p) {
    Fields entry(list[p], file.source(), "a kernel");
    KernelTerm t;
    t.name = entry.text("name");
    t.function = parse_enum(entry, "function", all_functions);
    t.group = entry.text("group");
    t.normalisation = parse_enum(entry, "normalisation", all_normalisations);
    if (entry.find("views") != nullptr) t.views = entry.texts("views");
    if (entry.find("mismatches") != nullptr) t.mismatches = entry.index("mismatches");
    if (entry.find("gaps") != nullptr) t.gaps = entry.index("gaps");
    if (entry.find("tfidf") != nullptr) t.tfidf = entry.flag("tfidf");
    t.parameter = numbers[4 * p];
    t.distance_scale = numbers[4 * p + 1];
    t.scale = numbers[4 * p + 2];
    t.centre_mean = numbers[4 * p + 3];
    t.features = std::move(features[p]);
    t.centre_means = std::move(means[p]);
    entry.finish();
    terms.push_back(std::move(t));
  }
  load_trees(terms, tensors);
  return terms;
}

json save_basis(const Dataset& basis, data::SectionList& sections) {
  json texts = json::array();
  for (const auto& t : basis.texts)
    texts.push_back({{"name", encode_text(t.feature.name)},
                     {"view", encode_text(t.feature.view)},
                     {"values", encode_texts(t.values)}});
  sections.matrix("recipe.basis", basis.features);
  return {{"source", encode_text(basis.source)},
          {"samples", basis.samples},
          {"ids", encode_texts(basis.ids)},
          {"features", encode_features(basis.feature_info)},
          {"views", encode_views(basis.views)},
          {"texts", std::move(texts)},
          {"kernels", encode_texts(names_of(basis.kernels))},
          {"distances", encode_texts(names_of(basis.distances))},
          {"target", encode_text(basis.target_name)},
          {"absent_is_zero", basis.absent_is_zero}};
}

Dataset load_basis(const json& document, data::TensorReader& tensors) {
  const std::string& source = tensors.container().source();
  Fields fields(document, source, "the training samples");
  Dataset basis;
  basis.source = fields.text("source");
  basis.samples = fields.index("samples");
  basis.ids = fields.texts("ids");
  basis.feature_info = decode_features(fields.array("features"), source);
  basis.features = tensors.matrix("recipe.basis");
  basis.views = decode_views(fields.array("views"), source, basis.samples);
  for (const auto& value : fields.array("texts")) {
    Fields entry(value, source, "a text column");
    TextColumn column;
    column.feature = {entry.text("name"), entry.text("view")};
    column.values = entry.texts("values");
    entry.finish();
    basis.texts.push_back(std::move(column));
  }
  basis.kernels = matrices_named(fields.texts("kernels"));
  basis.distances = matrices_named(fields.texts("distances"));
  basis.target_name = fields.text("target");
  basis.absent_is_zero = fields.flag("absent_is_zero");
  fields.finish();
  return basis;
}

// True if every index is in [0, limit).
bool in_range(const std::vector<Index>& indices, std::size_t limit) {
  for (const Index i : indices)
    if (i < 0 || static_cast<std::size_t>(i) >= limit) return false;
  return true;
}

bool views_fit(const std::vector<View>& views, std::size_t features, std::size_t texts) {
  for (const auto& v : views)
    if (!in_range(v.features, features) || !in_range(v.texts, texts)) return false;
  return true;
}

std::string basis_trouble(const Dataset& basis) {
  const auto n = static_cast<std::size_t>(basis.samples);
  if (basis.samples < 1) return "it has no training samples";
  if (!basis.ids.empty() && basis.ids.size() != n)
    return "the number of sample names is not the number of samples";
  if (static_cast<std::size_t>(basis.features.cols()) != basis.feature_info.size())
    return "the number of feature names is not the number of features";
  if (basis.features.cols() > 0 && basis.features.rows() != basis.samples)
    return "the feature matrix does not have one row per sample";
  for (const double value : basis.features.values())
    if (!std::isfinite(value)) return "a training sample has a feature that is no finite number";
  if (!views_fit(basis.views, basis.feature_info.size(), basis.texts.size()))
    return "a view speaks of a feature that is not there";
  for (const auto& t : basis.texts)
    if (t.values.size() != n) return "a text column does not have one value per sample";
  return {};
}

std::string term_trouble(const KernelTerm& t, const Dataset& basis) {
  std::size_t limit = basis.feature_info.size();
  bool single = true;
  switch (t.function) {
    case KernelFunction::spectrum:
    case KernelFunction::words:
    case KernelFunction::edit:
      limit = basis.texts.size();
      break;
    case KernelFunction::precomputed:
      limit = basis.kernels.size();
      break;
    case KernelFunction::expdist:
      limit = basis.distances.size();
      break;
    default:
      single = false;
  }
  if (t.features.empty() || !in_range(t.features, limit) || (single && t.features.size() != 1))
    return "a kernel speaks of a feature that is not there";
  for (const double mean : t.centre_means)
    if (!std::isfinite(mean)) return "a kernel has a mean that is not finite";
  if (!std::isfinite(t.parameter) || !std::isfinite(t.distance_scale) || !std::isfinite(t.scale) ||
      !std::isfinite(t.centre_mean))
    return "a kernel has a constant that is not finite";
  const bool falls = t.function == KernelFunction::rbf || t.function == KernelFunction::laplacian ||
                     t.function == KernelFunction::chi2 || t.function == KernelFunction::expdist ||
                     t.function == KernelFunction::edit;
  if ((falls && t.parameter < 0.0) || t.scale < 0.0) return "a kernel has a width or scale below 0";
  if ((t.function == KernelFunction::trees) == t.trees.empty())
    return "a kernel of trees has none, or another kernel has some";
  std::string trouble = trees_trouble(t.trees, std::ssize(t.features));
  if (!trouble.empty()) return trouble;
  // Length of a k-mer: a small whole number, or the conversion to an integer would be meaningless.
  if (t.function == KernelFunction::spectrum &&
      (t.parameter < 1 || t.parameter > 1e6 || t.parameter != std::floor(t.parameter)))
    return "a spectrum kernel has an impossible k";
  const bool tolerates = t.mismatches != 0 || t.gaps != 0;
  const bool possible = t.mismatches >= 0 && t.gaps >= 0 && (t.mismatches == 0 || t.gaps == 0) &&
                        static_cast<double>(t.mismatches) < t.parameter && t.gaps <= 1000000;
  if (tolerates && (t.function != KernelFunction::spectrum || !possible))
    return "a kernel has impossible mismatches or gaps";
  if (t.tfidf && (tolerates || t.function != KernelFunction::spectrum))
    return "a kernel that is no plain spectrum kernel has tf-idf weights";
  if (!t.centre_means.empty() && static_cast<Index>(t.centre_means.size()) != basis.samples)
    return "a kernel does not have one mean per training sample";
  return {};
}

}  // namespace

std::string recipe_trouble(const Recipe& recipe) {
  std::string trouble = basis_trouble(recipe.basis);
  if (!trouble.empty()) return trouble;
  const Preprocessing& preprocessing = recipe.preprocessing;
  if (!preprocessing.columns().empty() && preprocessing.columns().size() != recipe.basis.feature_info.size())
    return "preprocessing and training samples have different features";
  if (!views_fit(preprocessing.views(), preprocessing.columns().size(), preprocessing.text_columns().size()))
    return "a view of the preprocessing speaks of a feature that is not there";
  for (const auto& term : recipe.terms) {
    trouble = term_trouble(term, recipe.basis);
    if (!trouble.empty()) return trouble;
  }
  return {};
}

json save_recipe(const Recipe& recipe, data::SectionList& sections) {
  json document;
  document["spec"] = encode_text(to_string(recipe.spec));
  document["preprocessing"] = save_preprocessing(recipe.preprocessing, sections);
  document["terms"] = save_terms(recipe.terms, sections);
  document["basis"] = save_basis(recipe.basis, sections);
  json decisions = save_decisions(recipe);
  if (!decisions.empty()) document["decisions"] = std::move(decisions);
  if (!recipe.advice.empty()) document["advice"] = encode_texts(recipe.advice);
  return document;
}

Recipe load_recipe(const json& document, data::TensorReader& tensors) {
  const data::Container& file = tensors.container();
  Fields fields(document, file.source(), "the recipe");
  Recipe recipe;
  try {
    const std::string spec = fields.text("spec");
    if (!spec.empty()) recipe.spec = parse_kernel_spec(spec);
  } catch (const InvalidArgument& error) {
    file.damaged(fmt::format("its kernel spec cannot be read ({})", error.what()));
  }
  recipe.preprocessing = load_preprocessing(fields.at("preprocessing"), tensors);
  recipe.terms = load_terms(fields.array("terms"), tensors);
  recipe.basis = load_basis(fields.at("basis"), tensors);
  recipe.decisions = load_decisions(fields.find("decisions"), recipe.preprocessing, file.source());
  if (fields.find("advice") != nullptr) recipe.advice = fields.texts("advice");
  fields.finish();
  const std::string trouble = recipe_trouble(recipe);
  if (!trouble.empty()) file.damaged(trouble);
  return recipe;
}

}  // namespace kloom::kernels
