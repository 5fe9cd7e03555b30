// SPDX-License-Identifier: BSD-3-Clause
#include "data/outer_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "data/names.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

constexpr Index kNowhere = -1;

struct Places {
  std::vector<std::string> ids;
  std::vector<std::vector<Index>> rows;  // of every part: the row of each id, or kNowhere
};

Places places_of(const std::vector<Dataset>& parts) {
  Places places;
  std::unordered_map<std::string, std::size_t> known;
  for (const Dataset& part : parts) {
    for (const std::string& id : part.ids) {
      if (known.emplace(id, places.ids.size()).second) places.ids.push_back(id);
    }
  }
  for (const Dataset& part : parts) {
    std::vector<Index>& rows = places.rows.emplace_back(places.ids.size(), kNowhere);
    for (std::size_t i = 0; i < part.ids.size(); ++i) rows[known.at(part.ids[i])] = static_cast<Index>(i);
  }
  return places;
}

// Leaves out the samples for which `why` gives a reason, and says how many there are of each.
template <typename Reason>
void leave_out(Places& places, std::vector<std::string>& notes, const Reason& why) {
  std::unordered_map<std::string, std::vector<std::string>> lost;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < places.ids.size(); ++i) {
    const std::string reason = why(i);
    if (reason.empty()) {
      kept.push_back(i);
    } else {
      lost[reason].push_back(places.ids[i]);
    }
  }
  for (const auto& [reason, ids] : lost)
    notes.push_back(fmt::format("{} sample{} {} {} left out: {}.", ids.size(), ids.size() == 1 ? "" : "s",
                                reason, ids.size() == 1 ? "is" : "are", list_some(ids, 5)));
  const auto keep = [&](auto& values) {
    std::remove_reference_t<decltype(values)> own;
    for (const std::size_t i : kept) own.push_back(std::move(values[i]));
    values = std::move(own);
  };
  keep(places.ids);
  for (auto& rows : places.rows) keep(rows);
}

template <typename Value>
std::vector<Value> spread(const std::vector<Value>& values, const std::vector<Index>& rows, const Value& gap) {
  if (values.empty()) return {};
  std::vector<Value> result;
  result.reserve(rows.size());
  for (const Index row : rows) result.push_back(row == kNowhere ? gap : values[static_cast<std::size_t>(row)]);
  return result;
}

Dataset with_rows(Dataset part, const std::vector<std::string>& ids, const std::vector<Index>& rows) {
  Dataset result = std::move(part);
  Matrix features(std::ssize(rows), result.features.cols(), std::numeric_limits<double>::quiet_NaN());
  for (Index f = 0; f < features.cols(); ++f) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i] != kNowhere) features(static_cast<Index>(i), f) = result.features(rows[i], f);
  }
  result.features = std::move(features);
  result.samples = std::ssize(rows);
  result.ids = ids;
  result.lines.clear();
  for (TextColumn& text : result.texts) text.values = spread(text.values, rows, std::string());
  result.labels = spread(result.labels, rows, std::string());
  result.weights = spread(result.weights, rows, 1.0);
  return result;
}

// A sample has the label of the files that have it; files that lack it do not contradict.
void fill_labels(std::vector<Dataset>& parts, const Places& places) {
  for (std::size_t i = 0; i < places.ids.size(); ++i) {
    const std::string* label = nullptr;
    for (std::size_t k = 0; k < parts.size() && label == nullptr; ++k)
      if (!parts[k].labels.empty() && places.rows[k][i] != kNowhere) label = &parts[k].labels[i];
    for (std::size_t k = 0; k < parts.size() && label != nullptr; ++k)
      if (!parts[k].labels.empty() && places.rows[k][i] == kNowhere) parts[k].labels[i] = *label;
  }
}

}  // namespace

std::vector<Dataset> with_all_samples(std::vector<Dataset> parts, bool training,
                                      std::vector<std::string>& notes) {
  Places places = places_of(parts);
  const auto found = [&](std::size_t i, const auto& counts) {
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (places.rows[k][i] != kNowhere && counts(parts[k])) return true;
    return false;
  };
  const bool labels = std::ranges::any_of(parts, [](const Dataset& part) { return !part.labels.empty(); });
  if (training) {
    leave_out(places, notes, [&](std::size_t i) -> std::string {
      if (labels && !found(i, [](const Dataset& part) { return !part.labels.empty(); }))
        return "without a label";
      if (!found(i, [](const Dataset& part) { return !part.feature_info.empty() || !part.texts.empty(); }))
        return "without any view";
      return {};
    });
  }
  if (places.ids.empty()) {
    throw InvalidArgument(fmt::format("{} and {} have no sample with both a label and a view.", parts[0].source,
                                      parts[1].source));
  }
  for (std::size_t k = 0; k < parts.size(); ++k)
    parts[k] = with_rows(std::move(parts[k]), places.ids, places.rows[k]);
  fill_labels(parts, places);
  return parts;
}

}  // namespace kloom::data
