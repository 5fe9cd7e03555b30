// SPDX-License-Identifier: BSD-3-Clause
//
// Figures about samples and kernels: switches, gates, contributions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/figure_frame.h"
#include "report/figures.h"

namespace kloom::report {
namespace {

constexpr std::size_t kOpenNames = 8;  // a longer list of kernels below a map is folded

// Neighbours of the same shade are one cell.
double shade(double value) {
  constexpr double kShades = 12.0;
  return std::round(kShades * value) / kShades;
}

// One output's map of samples × kernels as a report holds it: `samples` are texts of '1', '0' and '-'
// (switches) or rows of numbers (gates, contributions).
struct SampleMap {
  std::vector<std::string> kernels, classes;
  std::vector<std::size_t> order;           // of drawing: by class, then alike samples together
  std::vector<int> codes;                   // class of each sample; empty without classes
  std::vector<std::vector<double>> values;  // −1 … 1
  bool switches = false;                    // then −1: off where the kernel has no weight anyway
};

SampleMap map_of(const Json& json) {
  SampleMap map;
  map.kernels = json.at("kernels").get<std::vector<std::string>>();
  map.classes = json.at("classes").get<std::vector<std::string>>();
  map.order = json.at("order").get<std::vector<std::size_t>>();
  map.codes = json.at("sample_classes").get<std::vector<int>>();
  double most = 1e-12;
  for (const Json& sample : json.at("samples")) {
    std::vector<double> row;
    if (sample.is_string()) {
      map.switches = true;
      for (const char mark : sample.get<std::string>())
        row.push_back(mark == '1' ? 1.0 : mark == '0' ? 0.0 : -1.0);
    } else {
      row = sample.get<std::vector<double>>();
    }
    for (const double value : row) most = std::max(most, std::abs(value));
    map.values.push_back(std::move(row));
  }
  for (auto& row : map.values) {
    for (double& value : row) value /= most;
  }
  return map;
}

void draw_column(const SampleMap& map, std::size_t kernel, double left, double width, const Axis& down,
                 Svg& svg) {
  for (std::size_t i = 0; i < map.order.size();) {
    const double value = shade(map.values[map.order[i]][kernel]);
    std::size_t end = i;
    while (end < map.order.size() && shade(map.values[map.order[end]][kernel]) == value) ++end;
    const double top = down(static_cast<double>(i));
    const double height = down(static_cast<double>(end)) - top;
    if (value < 0.0) {
      svg.rect(left, top, width, height, map.switches ? "fill-s8" : "fill-s2", map.switches ? 0.25 : -value);
    } else if (value > 0.0) {
      svg.rect(left, top, width, height, "fill-s1", value);
    }
    i = end;
  }
}

// Lines between the classes, and their names beside them.
void draw_classes(const SampleMap& map, double left, const Axis& down, Svg& svg) {
  for (std::size_t i = 0; i < map.order.size() && !map.codes.empty();) {
    const int code = map.codes[map.order[i]];
    std::size_t end = i;
    while (end < map.order.size() && map.codes[map.order[end]] == code) ++end;
    svg.line(left - 4.0, down(static_cast<double>(end)), Svg::kRight, down(static_cast<double>(end)), "zero");
    svg.text(left - 8.0, down(0.5 * static_cast<double>(i + end)) + 4.0,
             shortened(map.classes[static_cast<std::size_t>(code)], 10), "end");
    i = end;
  }
}

// Kernels after the last one of which something can be seen are left out.
void drop_blank_kernels(SampleMap& map) {
  const auto blank = [&](std::size_t kernel) {
    return std::ranges::all_of(map.values, [&](const auto& row) { return shade(row[kernel]) == 0.0; });
  };
  while (map.kernels.size() > 1 && blank(map.kernels.size() - 1)) map.kernels.pop_back();
}

std::string names_below(const std::vector<std::string>& kernels) {
  std::string list;
  for (const std::string& kernel : kernels) list += "<li>" + escaped(kernel) + "</li>";
  return fmt::format("<details{}><summary>Kernels by number</summary><ol>{}</ol></details>",
                     kernels.size() > kOpenNames ? "" : " open", list);
}

std::string sample_map_figure(const Json& json, const FigureText& text, const std::string& legend) {
  SampleMap map = map_of(json);
  if (map.order.empty() || map.kernels.empty()) return "";
  const auto all = json.value("all_kernels", map.kernels.size());  // only where they are sorted
  if (json.contains("all_kernels")) drop_blank_kernels(map);
  const double left = map.codes.empty() ? 12.0 : 80.0;
  const double width = (Svg::kRight - left) / static_cast<double>(map.kernels.size());
  Svg svg(330.0);
  const Axis down{0.0, static_cast<double>(map.order.size()), 8.0, 268.0};
  svg.line(left - 4.0, down.start, Svg::kRight, down.start, "zero");
  const std::size_t every = (map.kernels.size() + 11) / 12;
  for (std::size_t k = 0; k < map.kernels.size(); ++k) {
    const double x = left + width * static_cast<double>(k);
    draw_column(map, k, x, std::max(1.0, width - 1.5), down, svg);
    if (k % every == 0) svg.text(x + 0.5 * width, 284.0, std::to_string(k + 1), "middle");
  }
  draw_classes(map, left, down, svg);
  svg.text(0.5 * (left + Svg::kRight), 304.0, "kernel", "middle");
  FigureText whole = text;
  whole.says += fmt::format(" {} samples from top to bottom, by class.", map.order.size());
  if (map.kernels.size() < all)
    whole.says += fmt::format(" The {} of {} kernels that add most.", map.kernels.size(), all);
  return framed(whole, svg, legend, names_below(map.kernels));
}

// The maps of all outputs that are at this place of the report, at most four of them.
std::string sample_map_figures(const Json& report, const FigureText& text, const std::string& legend) {
  const Json::json_pointer place(text.source);
  if (!report.contains(place)) return "";
  std::string figures;
  std::size_t shown = 0;
  for (const Json& map : report.at(place)) {
    if (shown == 4) break;
    FigureText words = text;
    const auto output = map.at("output").get<std::string>();
    if (!output.empty()) words.title += ": " + output;
    if (shown > 0) words.id += fmt::format("-{}", shown + 1);
    words.source += fmt::format("/{}", shown++);
    figures += sample_map_figure(map, words, legend);
  }
  return figures;
}

}  // namespace

std::string switches_figure(const Json& report) {
  return sample_map_figures(report,
                            {"figure-switches", "Kernels that each sample uses",
                             "A filled cell is a kernel that is on for a sample, an empty one is switched off.",
                             "/model/report/switches"},
                            legend_entry(0, "on") + legend_entry(7, "off, and without weight anyway"));
}

std::string gating_figure(const Json& report) {
  return sample_map_figures(report,
                            {"figure-gating", "Weight of each kernel, sample by sample",
                             "Darker cells are larger gates of a kernel at a sample.", "/model/report/gating"},
                            "");
}

std::string contributions_figure(const Json& report) {
  if (!report.contains("viewed")) return "";
  const Json& viewed = report.at("viewed");
  if (viewed.at("contributions").empty()) return "";
  const std::string says =
      fmt::format("What every kernel added to the score of a sample, of {}; darker is more.",
                  viewed.at("source").get<std::string>());
  return sample_map_figures(
      report, {"figure-contributions", "What each sample owes to each kernel", says, "/viewed/contributions"},
      legend_entry(0, "adds to the score") + legend_entry(1, "takes from it"));
}

}  // namespace kloom::report
