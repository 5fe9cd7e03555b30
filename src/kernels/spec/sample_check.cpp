// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/sample_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/number_range.h"
#include "kernels/functions/functions.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

void check_matrix(const Dataset& data, const PrecomputedMatrix& matrix, Index columns, const char* what) {
  if (matrix.values.rows() != data.samples || matrix.values.cols() != columns)
    throw InvalidArgument(fmt::format("{} '{}' is {} × {}, but there are {} samples and {} training samples",
                                      what, matrix.name, matrix.values.rows(), matrix.values.cols(),
                                      data.samples, columns));
  double largest = 0.0;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < data.samples; ++i) {
      const double value = matrix.values(i, j);
      if (std::isnan(value) || base::too_large(value))
        throw InvalidArgument(fmt::format(
            "{} '{}' has the value {} in row {}, column {}; every entry must be finite and none beyond {}",
            what, matrix.name, value, i + 1, j + 1, base::kLargestInput));
      largest = std::max(largest, std::abs(value));
    }
  }
  if (largest > 0.0 && largest < base::kSmallestSpread)
    throw InvalidArgument(
        fmt::format("the largest entry of {} '{}' is {}, less than {}; multiply it by a number", what,
                    matrix.name, largest, base::kSmallestSpread));
}

// Throws if the term points at something that the data do not have.
void check_places(const Dataset& data, const KernelTerm& term) {
  Index available = data.features.cols();
  if (uses_texts(term.function)) available = static_cast<Index>(data.texts.size());
  if (term.function == KernelFunction::precomputed) available = static_cast<Index>(data.kernels.size());
  if (term.function == KernelFunction::expdist) available = static_cast<Index>(data.distances.size());
  for (const Index f : term.features)
    if (f < 0 || f >= available)
      throw InvalidArgument(fmt::format("kernel '{}' looks at input {}, but the data have {} of that kind",
                                        term.name, f + 1, available));
  if (term.features.empty() || (!uses_features(term.function) && term.features.size() != 1))
    throw InvalidArgument(fmt::format("kernel '{}' has no input to look at", term.name));
}

}  // namespace

std::string describe_sample(const Dataset& data, Index sample) {
  const auto i = static_cast<std::size_t>(sample);
  std::string text =
      i < data.ids.size() ? fmt::format("sample '{}'", data.ids[i]) : fmt::format("sample {}", i + 1);
  std::string where = data.source;
  if (i < data.lines.size()) where += fmt::format("{}line {}", where.empty() ? "" : ", ", data.lines[i]);
  return where.empty() ? text : fmt::format("{} ({})", text, where);
}

std::string feature_label(const Dataset& data, Index feature) {
  const Feature& f = data.feature_info[static_cast<std::size_t>(feature)];
  const auto same = std::count_if(data.feature_info.begin(), data.feature_info.end(),
                                  [&](const Feature& g) { return g.name == f.name && g.view != f.view; });
  return same > 0 && !f.view.empty() ? f.view + "." + f.name : f.name;
}

void check_features(const Dataset& data, const std::vector<Index>& features, KernelFunction function) {
  const bool non_negative = needs_non_negative(function);
  for (const Index f : features) {
    const auto column = data.features.column(f);
    for (Index i = 0; i < data.samples; ++i) {
      const double value = column[static_cast<std::size_t>(i)];
      if (!std::isfinite(value))
        throw InvalidArgument(fmt::format("feature '{}' of {} is {}; fill missing values with --impute mean",
                                          feature_label(data, f), describe_sample(data, i), value));
      if (non_negative && value < 0.0)
        throw InvalidArgument(
            fmt::format("the {} kernel needs features that are not negative, but '{}' of {} is {}; "
                        "standardised features are negative, so write scale=raw, or use --no-standardise",
                        kloom::to_string(function), feature_label(data, f), describe_sample(data, i), value));
    }
  }
}

void check_samples(const Dataset& data, const std::vector<KernelTerm>& terms, Index columns) {
  std::set<std::pair<bool, std::vector<Index>>> seen;
  std::set<std::pair<KernelFunction, Index>> seen_inputs;
  for (const KernelTerm& term : terms) {
    check_places(data, term);
    if (uses_features(term.function)) {
      if (seen.emplace(needs_non_negative(term.function), term.features).second)
        check_features(data, term.features, term.function);
      continue;
    }
    if (!seen_inputs.emplace(term.function, term.features.front()).second) continue;
    const auto input = static_cast<std::size_t>(term.features.front());
    if (term.function == KernelFunction::precomputed)
      check_matrix(data, data.kernels[input], columns, "kernel");
    if (term.function == KernelFunction::expdist)
      check_matrix(data, data.distances[input], columns, "distance");
    if (uses_texts(term.function) && static_cast<Index>(data.texts[input].values.size()) != data.samples)
      throw InvalidArgument(fmt::format("text column '{}' has {} values for {} samples",
                                        data.texts[input].feature.name, data.texts[input].values.size(),
                                        data.samples));
  }
}

}  // namespace kloom::kernels
