// SPDX-License-Identifier: BSD-3-Clause
#include "report/sample_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace kloom {
namespace report {
namespace {

bool is_switches(const Report::SampleMap& map) {
  return map.kind == Report::SampleMap::Kind::switches;
}

int code_of(const Report::SampleMap& map, Index sample) {
  return map.codes.empty() ? 0 : map.codes[at(sample)];
}

}  // namespace

std::string pattern_text(const Report::SampleMap& map, Index sample) {
  std::string text;
  for (Index p = 0; p < map.values.cols(); ++p) {
    text += map.values(sample, p) != 0.0 ? '1' : map.weights[at(p)] != 0.0 ? '0' : '-';
  }
  return text;
}

std::vector<PatternCount> pattern_counts(const Report::SampleMap& map) {
  std::map<std::string, PatternCount> counts;
  for (Index i = 0; i < map.values.rows(); ++i) {
    const std::string text = pattern_text(map, i);
    PatternCount& count = counts[text];
    count.pattern = text;
    ++count.samples;
    count.by_class.resize(std::max<std::size_t>(1, map.classes.size()));
    ++count.by_class[static_cast<std::size_t>(code_of(map, i))];
  }
  std::vector<PatternCount> order;
  order.reserve(counts.size());
  for (auto& [text, count] : counts) order.push_back(std::move(count));
  std::ranges::stable_sort(order, std::greater<>(), &PatternCount::samples);
  return order;
}

std::vector<Index> drawing_order(const Report::SampleMap& map) {
  std::vector<std::string> keys;
  for (Index i = 0; i < map.values.rows(); ++i) {
    if (is_switches(map)) {
      keys.push_back(pattern_text(map, i));
      continue;
    }
    Index largest = 0;
    for (Index p = 1; p < map.values.cols(); ++p)
      largest = map.values(i, p) > map.values(i, largest) ? p : largest;
    keys.push_back(fmt::format("{:08}", largest));
  }
  std::vector<Index> order(keys.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    if (code_of(map, a) != code_of(map, b)) return code_of(map, a) < code_of(map, b);
    return keys[at(a)] > keys[at(b)];
  });
  return order;
}

Matrix class_means(const Report::SampleMap& map) {
  Matrix means(std::max<Index>(1, std::ssize(map.classes)), map.values.cols());
  Vector counts(at(means.rows()));
  for (Index i = 0; i < map.values.rows(); ++i) {
    const Index c = code_of(map, i);
    counts[at(c)] += 1.0;
    for (Index p = 0; p < means.cols(); ++p) means(c, p) += map.values(i, p);
  }
  for (Index c = 0; c < means.rows(); ++c) {
    for (Index p = 0; p < means.cols(); ++p) means(c, p) /= std::max(1.0, counts[at(c)]);
  }
  return means;
}

}  // namespace report

namespace {

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const Report::SampleMap& map, Index sample) {
  const auto s = static_cast<std::size_t>(sample);
  std::string row =
      fmt::format("{},{},{}", sample + 1,
                  map.codes.empty() ? "" : csv_text(map.classes[static_cast<std::size_t>(map.codes[s])]),
                  csv_text(map.output));
  for (Index p = 0; p < map.values.cols(); ++p) {
    if (map.kind == Report::SampleMap::Kind::gating) {
      row += fmt::format(",{}", map.values(sample, p));
    } else {
      const bool idle = map.weights[static_cast<std::size_t>(p)] == 0.0;
      row += map.values(sample, p) != 0.0 ? ",on" : idle ? ",idle" : ",off";
    }
  }
  return row + "\n";
}

}  // namespace

std::string sample_maps_csv(const Report& report) {
  if (report.maps.empty()) return "";
  std::string text = "sample,class,output";
  for (const std::string& kernel : report.maps.front().kernels) text += "," + csv_text(kernel);
  text += "\n";
  for (const Report::SampleMap& map : report.maps) {
    for (const Index sample : report::drawing_order(map)) text += csv_row(map, sample);
  }
  return text;
}

}  // namespace kloom
