// SPDX-License-Identifier: BSD-3-Clause
//
// From kernel families to one term per kernel: family by family, scope by scope, input by input, value by
// value, so that kernels on the same inputs are neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/progress.h"
#include "kernels/functions/automatic_width.h"
#include "kernels/functions/edit_distance.h"
#include "kernels/functions/functions.h"
#include "kernels/functions/normalise.h"
#include "kernels/spec/presence.h"
#include "kernels/spec/psd_check.h"
#include "kernels/spec/range.h"
#include "kernels/spec/sample_check.h"
#include "kernels/spec/scopes.h"
#include "kernels/spec/spec.h"
#include "kernels/spec/taught_trees.h"
#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom::kernels {
namespace {

// As automatic widths are rounded, so that the names of kernels tell them exactly.
double six_digits(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

double mean_distance(const PrecomputedMatrix& distance) {
  const Index n = distance.values.rows();
  double sum = 0.0;
  for (Index j = 0; j < n; ++j)
    for (Index i = j + 1; i < n; ++i) sum += distance.values(i, j);
  const double mean = sum / (0.5 * static_cast<double>(n) * static_cast<double>(n - 1));
  if (!(mean > 0.0) || !std::isfinite(mean))
    throw InvalidArgument(
        fmt::format("distance '{}' has mean {} over the training pairs, so exp(-gamma d/s) has no scale s",
                    distance.name, mean));
  return mean;
}

class Resolver {
 public:
  Resolver(Dataset& train, const ResolveOptions& options, const Context& context)
      : train_(train), options_(options), context_(context) {}

  std::vector<KernelTerm> resolve(const KernelSpec& spec) {
    if (train_.samples < 2) throw InvalidArgument("kernels are fitted on two training samples at least");
    if (spec.families.empty()) throw InvalidArgument("the kernel spec names no kernel");
    for (const KernelFamily& family : spec.families) add_family(family);
    if (terms_.empty())
      throw InvalidArgument("the kernel spec gives no kernel on these data: nothing varies over the samples");
    check_overflow();
    // Terms outlive this call, the samples need not: borrowed, not owned.
    const std::shared_ptr<const Dataset> samples(std::shared_ptr<void>(), &train_);
    fit_normalisation(terms_, samples, context_);
    return std::move(terms_);
  }

 private:
  void add_family(const KernelFamily& family) {
    const ScopeRequest request{family.function, &options_.constant, options_.columns};
    const std::vector<Scope> fallback = {Scope{}};
    for (const Scope& scope : family.scopes.empty() ? fallback : family.scopes)
      for (Target& target : targets_of(scope, request, train_, context_)) {
        named_ = scope.kind == ScopeKind::columns;
        views_ = views_of(target, family.function, train_);
        if (transform(family, scope, target)) add_target(family, target);
      }
  }

  // Puts columns as the kernel sees them in the place of the columns that the scope means. False if there are
  // none: categories in a view of numbers.
  bool transform(const KernelFamily& family, const Scope& scope, Target& target) const {
    const bool overlap = family.function == KernelFunction::overlap;
    const Transform wanted = overlap ? Transform::codes : family.transform;
    if (wanted == Transform::standardised || !uses_features(family.function)) return true;
    if (overlap && options_.columns < 0) return true;  // features that are no columns of a table
    std::vector<Index> seen;
    for (const Index f : target.inputs) {
      auto place = options_.transformed.find({wanted, f});
      // Numbers that were named as categories agree where they are equal.
      if (place == options_.transformed.end() && overlap && named_)
        place = options_.transformed.find({Transform::raw, f});
      if (place == options_.transformed.end() && overlap) continue;
      if (place == options_.transformed.end()) throw InternalError("a column was not prepared for its kernel");
      if (std::ranges::find(seen, place->second) == seen.end()) seen.push_back(place->second);
    }
    target.inputs = std::move(seen);
    if (overlap && scope.kind == ScopeKind::each && !target.inputs.empty()) {
      target.group = feature_label(train_, target.inputs.front());  // the column, not one of its categories
      target.label = quoted_name(target.group);
    }
    return !target.inputs.empty();
  }

  void add_target(const KernelFamily& family, const Target& target) {
    prepare_inputs(family.function, target);
    KernelTerm term;
    term.function = family.function;
    term.features = target.inputs;
    term.group = target.group;
    term.views = views_;
    term.normalisation = normalisation_of(family);
    term.mismatches = family.mismatches;
    term.gaps = family.gaps;
    term.tfidf = family.function == KernelFunction::spectrum && family.transform == Transform::tfidf;
    if (family.function == KernelFunction::expdist)
      term.distance_scale = mean_distance(train_.distances[static_cast<std::size_t>(target.inputs.front())]);
    std::string parameter = family.parameter;
    std::vector<double> values = family.values;
    if (family.automatic) {
      parameter = rule_of(family.function).parameters[0];
      values = automatic_values(family, target);
      if (values.empty()) return;
    }
    if (values.empty()) add(term, name_of(family, target, ""));
    for (const double value : values) {
      term.parameter = parameter == "width" ? 0.5 / (value * value) : value;
      std::string said = fmt::format("{}={}", parameter, value);
      if (family.mismatches > 0) said += fmt::format(", mismatches={}", family.mismatches);
      if (family.gaps > 0) said += fmt::format(", gaps={}", family.gaps);
      if (family.function == KernelFunction::trees) {
        add_trees(family, target, term, said);
      } else {
        add(term, name_of(family, target, said));
      }
    }
  }

  // Grown on half of the samples; or, where there are folds, on all of them and once more without each fold that judges.
  void add_trees(const KernelFamily& family, const Target& target, KernelTerm& term, const std::string& said) {
    const TreeTeachers teachers(options_.targets, family.folds);
    for (Index k = 0; k < teachers.kernels(); ++k) {
      term.trees = grow_trees(train_, term, teachers, k);
      add(term, name_of(family, target, said + teachers.label(k)));
    }
  }

  // A family that repeats a kernel of another one adds nothing.
  void add(KernelTerm term, std::string name) {
    if (!names_.insert(name).second) return;
    if (static_cast<Index>(terms_.size()) >= kMostValues)
      throw InvalidArgument(fmt::format(
          "the kernel spec gives more than {} kernels on these data; use fewer values or scopes", kMostValues));
    term.name = std::move(name);
    terms_.push_back(std::move(term));
  }

  static std::string name_of(const KernelFamily& family, const Target& target, std::string parameters) {
    if (family.transform != Transform::standardised)
      parameters +=
          fmt::format("{}scale={}", parameters.empty() ? "" : ", ", kloom::to_string(family.transform));
    if (family.has_normalisation)
      parameters +=
          fmt::format("{}normalise={}", parameters.empty() ? "" : ", ", kloom::to_string(family.normalisation));
    if (!parameters.empty()) parameters = "(" + parameters + ")";
    return fmt::format("{}{} on {}", kloom::to_string(family.function), parameters, target.label);
  }

  // The default unit diagonal is not forced on given kernels, where it may be impossible for new samples.
  [[nodiscard]] Normalisation normalisation_of(const KernelFamily& family) const {
    if (family.has_normalisation) return family.normalisation;
    const bool given =
        family.function == KernelFunction::precomputed || family.function == KernelFunction::expdist;
    if (given && options_.normalisation == Normalisation::unit_diagonal) return Normalisation::none;
    return options_.normalisation;
  }

  void prepare_inputs(KernelFunction function, const Target& target) {
    if (uses_features(function)) {
      check_features(train_, target.inputs, function);
      return;
    }
    const auto input = static_cast<std::size_t>(target.inputs.front());
    if (function == KernelFunction::precomputed && prepared_kernels_.insert(input).second)
      prepare_kernel(train_.kernels[input], train_.samples, options_.clip_spectrum, context_);
    if (function == KernelFunction::expdist && prepared_distances_.insert(input).second)
      prepare_distance(train_.distances[input], train_.samples);
  }

  std::vector<double> automatic_values(const KernelFamily& family, const Target& target) {
    const Index count = family.automatic_count > 0 ? family.automatic_count : kAutomaticWidths;
    const bool multiples = !family.values.empty();
    std::vector<double> values = quantiles_of(family.function, target, multiples ? 1 : count);
    if (multiples && !values.empty()) {
      const double median = values.front();
      values.clear();
      for (const double factor : family.values) values.push_back(six_digits(factor * median));
    }
    if (values.empty() && !named_)
      log(context_, LogLevel::warning,
          fmt::format("{}(auto) on {}: all distances between training samples are 0; no kernel was made",
                      kloom::to_string(family.function), target.label));
    if (values.empty() && named_)
      throw InvalidArgument(
          fmt::format("{}(auto) on {}: all distances between training samples are 0; give a value, "
                      "or leave these features out",
                      kloom::to_string(family.function), target.label));
    if (rule_of(family.function).parameters[0] != "width")
      for (double& v : values) v = 1.0 / v;
    return values;
  }

  std::vector<double> quantiles_of(KernelFunction function, const Target& target, Index count) {
    if (function != KernelFunction::edit)
      return quantiles_of_present()(pair_sum_of(function), target.inputs, count);
    // An edit kernel is a Gaussian of vectors of distances.
    const auto& texts = train_.texts[static_cast<std::size_t>(target.inputs.front())].values;
    const auto present = samples_with_views(train_, views_);
    std::vector<std::string> known = present ? std::vector<std::string>{} : texts;
    for (const Index i : present.value_or(std::vector<Index>{}))
      known.push_back(texts[static_cast<std::size_t>(i)]);
    Dataset vectors;
    vectors.samples = std::ssize(known);
    vectors.features = edit_vectors(known, texts);
    std::vector<Index> places(static_cast<std::size_t>(vectors.features.cols()));
    std::iota(places.begin(), places.end(), Index{0});
    return DistanceQuantiles(vectors, context_.seed)(PairSum::squared, places, count);
  }

  // Of the samples that have the views at hand. With fewer than two of them there are no distances.
  const DistanceQuantiles& quantiles_of_present() {
    const auto present = samples_with_views(train_, views_);
    const std::vector<Index> key = present.value_or(std::vector<Index>{});
    const auto [place, fresh] = quantiles_.try_emplace({present.has_value(), key});
    if (fresh) place->second.emplace(present ? select_samples(train_, *present) : train_, context_.seed);
    return *place->second;
  }

  // Largest squared norm of a training sample over some features.
  [[nodiscard]] double largest_norm(const std::vector<Index>& features) const {
    Vector norms(static_cast<std::size_t>(train_.samples), 0.0);
    for (const Index f : features) {
      const auto column = train_.features.column(f);
      for (std::size_t i = 0; i < norms.size(); ++i) norms[i] += column[i] * column[i];
    }
    return *std::max_element(norms.begin(), norms.end());
  }

  void check_overflow() const {
    constexpr double limit = 1e290;
    std::vector<Index> features;
    double norm = 0.0;
    for (const KernelTerm& term : terms_) {
      if (!uses_features(term.function) || pair_sum_of(term.function) != PairSum::dot) continue;
      if (features != term.features) norm = largest_norm(features = term.features);
      // Polynomials with a unit diagonal divide x·z + 1 by its size before they take the power.
      const bool powered =
          term.function == KernelFunction::polynomial && term.normalisation != Normalisation::unit_diagonal;
      if (norm < limit && (!powered || std::pow(norm + 1.0, term.parameter) < limit)) continue;
      throw InvalidArgument(
          fmt::format("kernel '{}' overflows: the largest squared norm of a training sample is {:.3g}; "
                      "standardise the features, use a lower degree or normalise=unit-diagonal",
                      term.name, norm));
    }
  }

  Dataset& train_;
  const ResolveOptions& options_;
  const Context& context_;
  std::vector<KernelTerm> terms_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::size_t> prepared_kernels_;
  std::unordered_set<std::size_t> prepared_distances_;
  std::map<std::pair<bool, std::vector<Index>>, std::optional<DistanceQuantiles>> quantiles_;
  std::vector<std::string> views_;  // that the target at hand looks at
  bool named_ = false;              // the columns at hand were named one by one
};

}  // namespace
}  // namespace kloom::kernels

namespace kloom {

std::vector<KernelTerm> resolve_kernels(const KernelSpec& spec, Dataset& train, const ResolveOptions& options,
                                        const Context& context) {
  return kernels::Resolver(train, options, context).resolve(spec);
}

}  // namespace kloom
