// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include "base/number_range.h"
#include "data/class_key.h"
#include "data/column_fit.h"
#include "data/names.h"
#include "data/number.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using data::class_key;
using data::ClassKey;

std::string place(const TargetsRequest& request, std::size_t i) {
  const std::string source = request.source.empty() ? "The labels" : request.source;
  if (i < request.lines.size()) {
    return fmt::format("{} line {}", source, request.lines[i]);
  }
  return fmt::format("{} sample {}", source, i + 1);
}

// What is known of the labels after one look at each.
struct Census {
  std::map<ClassKey, std::string> classes;  // key -> as it was written first
  std::map<double, double> counts;          // of every number
  std::size_t labelled = 0;
  bool numbers = true;
  bool integers = true;
};

// Neither a number to learn nor, unless somebody says so, the name of a class.
void refuse_infinite_label(const std::string& label, const TargetsRequest& request, std::size_t i) {
  if (request.kind == TargetsRequest::Kind::classes || data::read_cell(label).kind != data::CellKind::infinite)
    return;
  throw InvalidArgument(fmt::format(
      "{}: the label '{}' is infinite or too large. Correct it or leave it empty; if it is the name of a "
      "class, say so (--task classes).",
      place(request, i), label));
}

Census take_census(const std::vector<std::string>& labels, const TargetsRequest& request) {
  Census census;
  if (std::ranges::all_of(labels, &std::string::empty)) {
    throw InvalidArgument(
        fmt::format("{}: no sample has a label{}. Is another column the target (--target)?",
                    request.source.empty() ? "The labels" : request.source,
                    request.target_name.empty() ? "" : fmt::format(" in column '{}'", request.target_name)));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty()) {
      if (!request.allow_unlabelled) {
        throw InvalidArgument(
            fmt::format("{}: the label is missing. Fill it in or remove the sample.", place(request, i)));
      }
      continue;
    }
    refuse_infinite_label(labels[i], request, i);
    ClassKey key = class_key(labels[i]);
    census.numbers = census.numbers && !key.is_text;
    census.integers = census.integers && !key.is_text && key.value == std::floor(key.value);
    ++census.labelled;
    if (!key.is_text) census.counts[key.value] += 1.0;
    census.classes.emplace(std::move(key), labels[i]);
  }
  return census;
}

// Grades and ages are about as frequent as the numbers next to them, with a hill in the middle; codes of classes are as
// frequent as chance would have it, all alike, or sorted by size. What counts is the correlation of the frequencies of
// neighbouring integers: that of codes is 0 give or take 1/√(distinct values).
bool frequencies_have_a_hill(const Census& census) {
  constexpr std::size_t kLeastDistinct = 12;
  constexpr double kCorrelation = 0.5;
  constexpr double kSpread = 0.3;  // standard deviation of the frequencies over their mean
  const double first = census.counts.begin()->first;
  const double width = census.counts.rbegin()->first - first + 1.0;
  const auto distinct = static_cast<double>(census.counts.size());
  if (census.counts.size() < kLeastDistinct || width > 3.0 * distinct) return false;
  Vector away(static_cast<std::size_t>(width), -static_cast<double>(census.labelled) / width);
  for (const auto& [value, count] : census.counts) away[static_cast<std::size_t>(value - first)] += count;
  double square = 0.0;
  double neighbours = 0.0;
  for (std::size_t k = 0; k < away.size(); ++k) {
    square += away[k] * away[k];
    if (k > 0) neighbours += away[k] * away[k - 1];
  }
  const double mean = static_cast<double>(census.labelled) / width;
  const auto top = static_cast<double>(std::ranges::max_element(away) - away.begin()) / (width - 1.0);
  return std::sqrt(square / width) > kSpread * mean && neighbours > kCorrelation * square && top > 0.2 &&
         top < 0.8;
}

// Measured integers leave some out and come in very different numbers, few of each; codes count from 0 or 1 without gaps, or
// there are about as many samples of each, or many.
bool look_measured(const Census& census) {
  constexpr double kLeastDistinct = 10.0;
  constexpr double kFewOfEach = 15.0;
  constexpr double kSpread = 0.5;  // standard deviation of the frequencies over their mean
  const auto distinct = static_cast<double>(census.counts.size());
  const double mean = static_cast<double>(census.labelled) / distinct;
  const double first = census.counts.begin()->first;
  const double width = census.counts.rbegin()->first - first + 1.0;
  if (distinct < kLeastDistinct || mean > kFewOfEach || width > 3.0 * distinct) return false;
  if (width == distinct && (first == 0.0 || first == 1.0)) return false;
  double square = 0.0;
  for (const auto& [value, count] : census.counts) square += (count - mean) * (count - mean);
  return std::sqrt(square / distinct) > kSpread * mean;
}

bool looks_like_regression(const Census& census) {
  const std::size_t distinct = census.classes.size();
  if (!census.numbers || distinct <= 2) return false;
  const bool few_of_each = (distinct > 20 && distinct > census.labelled / 5) ||  //
                           (distinct > 5 && distinct > census.labelled / 3);
  return !census.integers || few_of_each || look_measured(census) || frequencies_have_a_hill(census);
}

// Methods scale targets before they learn from them, which has its limits.
void require_range(const Matrix& values, const TargetsRequest& request) {
  for (Index t = 0; t < values.cols(); ++t) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (Index i = 0; i < values.rows(); ++i) {
      const double value = values(i, t);
      if (base::too_large(value))
        throw InvalidArgument(
            fmt::format("{}: the target {} is beyond {}. Give it in another unit: divide all of them by "
                        "the same number.",
                        place(request, static_cast<std::size_t>(i)), value, base::kLargestInput));
      if (std::isnan(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (most > least && most - least < base::kSmallestSpread)
      throw InvalidArgument(fmt::format(
          "{}: the targets differ by {} at most, less than {}. Give them in another unit: "
          "multiply all of them by the same number.",
          request.source.empty() ? "The labels" : request.source, most - least, base::kSmallestSpread));
  }
}

Targets make_regression(const std::vector<std::string>& labels, const TargetsRequest& request) {
  Targets targets;
  targets.task = Task::regression;
  targets.values = Matrix(static_cast<Index>(labels.size()), 1, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty()) {
      continue;
    }
    const data::CellValue cell = data::read_cell(labels[i]);
    if (cell.kind != data::CellKind::number) {
      throw InvalidArgument(fmt::format("{}: the label '{}' is not a finite number, which regression needs.",
                                        place(request, i), labels[i]));
    }
    targets.values(static_cast<Index>(i), 0) = cell.value;
  }
  require_range(targets.values, request);
  return targets;
}

// Numbers with a decimal comma are no numbers here, and as many classes as there are values would be no help to anyone.
void refuse_decimal_commas(const std::vector<std::string>& labels, const Census& census,
                           const TargetsRequest& request) {
  if (census.numbers || census.classes.size() <= 2) return;
  const auto numeric = [](const auto& entry) { return data::number_in(entry.second).has_value(); };
  if (!std::ranges::all_of(census.classes, numeric)) return;
  const auto comma = [](const std::string& label) { return label.find(',') != std::string::npos; };
  const auto first = std::ranges::find_if(labels, comma);
  throw InvalidArgument(fmt::format(
      "{}: the label '{}' is a number with a decimal comma. Write decimals with a point, or take the labels as "
      "classes (--task classes).",
      place(request, static_cast<std::size_t>(first - labels.begin())), *first));
}

std::vector<std::string> class_names(const Census& census) {
  std::vector<std::string> names;
  for (const auto& [key, name] : census.classes) {
    names.push_back(name);
  }
  return names;
}

// True if the first of two classes was asked for as the positive one, so that the two change places.
bool must_swap(const Census& census, const TargetsRequest& request, const std::vector<std::string>& names) {
  if (request.positive.empty()) {
    return false;
  }
  const auto it = census.classes.find(class_key(request.positive));
  if (it == census.classes.end()) {
    throw InvalidArgument(fmt::format("The positive class '{}' does not occur. The classes are {}.{}",
                                      request.positive, data::list_some(names),
                                      data::suggestion(request.positive, names)));
  }
  if (names.size() != 2) {
    throw InvalidArgument(fmt::format("A positive class ('{}') needs exactly two classes; there are {}.",
                                      request.positive, names.size()));
  }
  return it == census.classes.begin();
}

}  // namespace

std::string_view to_string(Task task) {
  switch (task) {
    case Task::binary:
      return "binary";
    case Task::multiclass:
      return "multiclass";
    case Task::multilabel:
      return "multilabel";
    case Task::regression:
      return "regression";
    case Task::multi_regression:
      return "multi-regression";
  }
  throw InternalError("A task without a name.");
}

Index outputs_of(const Targets& targets) {
  if (targets.task == Task::binary) return 1;
  return targets.classes.empty() ? std::max<Index>(1, targets.values.cols()) : std::ssize(targets.classes);
}

Vector Targets::signs() const {
  if (task != Task::binary) {
    throw InternalError("Signs exist for binary tasks only.");
  }
  Vector signs;
  signs.reserve(codes.size());
  for (const int code : codes) {
    signs.push_back(code == unlabelled ? 0.0 : (code == 1 ? 1.0 : -1.0));
  }
  return signs;
}

namespace {

// Cells of one label; an empty label has none.
std::vector<std::string_view> cells_of(std::string_view label) {
  std::vector<std::string_view> cells;
  for (std::size_t start = 0; start <= label.size() && !label.empty();) {
    const std::size_t end = std::min(label.find(Dataset::separator, start), label.size());
    cells.push_back(label.substr(start, end - start));
    start = end + 1;
  }
  return cells;
}

Targets make_several(const std::vector<std::string>& labels, const TargetsRequest& request,
                     const std::vector<std::string>& names) {
  Targets targets;
  targets.values = Matrix(static_cast<Index>(labels.size()), static_cast<Index>(names.size()),
                          std::numeric_limits<double>::quiet_NaN());
  bool binary = request.kind != TargetsRequest::Kind::regression;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto cells = cells_of(labels[i]);
    for (std::size_t t = 0; t < names.size(); ++t) {
      if (t >= cells.size() || cells[t].empty()) {
        if (!request.allow_unlabelled) {
          throw InvalidArgument(
              fmt::format("{}: the label of '{}' is missing. Fill it in or remove the sample.",
                          place(request, i), names[t]));
        }
        continue;
      }
      const data::CellValue cell = data::read_cell(std::string(cells[t]));
      if (cell.kind != data::CellKind::number) {
        throw InvalidArgument(fmt::format(
            "{}: the label '{}' of '{}' is not a number. Several targets must be numbers, or 0 and 1.",
            place(request, i), cells[t], names[t]));
      }
      targets.values(static_cast<Index>(i), static_cast<Index>(t)) = cell.value;
      binary = binary && (cell.value == 0.0 || cell.value == 1.0);
    }
  }
  require_range(targets.values, request);
  targets.task = binary ? Task::multilabel : Task::multi_regression;
  if (binary) targets.classes = names;
  return targets;
}

}  // namespace

Targets make_targets(const std::vector<std::string>& labels, const TargetsRequest& request) {
  const bool several = std::ranges::any_of(
      labels, [](const std::string& label) { return label.find(Dataset::separator) != std::string::npos; });
  if (several) return make_several(labels, request, data::split_names(request.target_name));
  const Census census = take_census(labels, request);
  using Kind = TargetsRequest::Kind;
  const bool guess = request.kind == Kind::automatic && request.positive.empty();
  if (request.kind == Kind::regression || (guess && looks_like_regression(census))) {
    return make_regression(labels, request);
  }
  if (guess) refuse_decimal_commas(labels, census, request);
  std::vector<std::string> names = class_names(census);
  if (names.size() < 2) {
    throw InvalidArgument(fmt::format(
        "{}: every label{} is '{}'. Learning needs at least "
        "two classes; is another column the target (--target)?",
        request.source.empty() ? "The labels" : request.source,
        request.target_name.empty() ? "" : fmt::format(" in column '{}'", request.target_name), names[0]));
  }
  const bool swap = must_swap(census, request, names);
  std::map<ClassKey, int> codes;
  for (const auto& [key, name] : census.classes) {
    const int code = static_cast<int>(codes.size());
    codes.emplace(key, swap ? 1 - code : code);
  }
  if (swap) {
    std::swap(names[0], names[1]);
  }
  Targets targets;
  targets.task = names.size() == 2 ? Task::binary : Task::multiclass;
  targets.classes = std::move(names);
  targets.codes.reserve(labels.size());
  for (const std::string& label : labels) {
    targets.codes.push_back(label.empty() ? Targets::unlabelled : codes.at(class_key(label)));
  }
  return targets;
}

}  // namespace kloom
