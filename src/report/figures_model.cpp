// SPDX-License-Identifier: BSD-3-Clause
//
// Figures about one model: its kernels, how it got there, its classes and samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/figure_frame.h"
#include "report/figures.h"

namespace kloom::report {
namespace {

constexpr std::size_t kMostKernels = 18;
constexpr std::size_t kMostGroups = 12;
constexpr std::size_t kOwnColours = 7;  // groups beyond share the last one

struct Kernel {
  std::string name, group, function;
  double weight = 0.0;
  double deviation = NAN;
};

std::vector<Kernel> kernels_of(const Json& report) {
  std::vector<Kernel> kernels;
  if (!report.contains("model")) return kernels;
  for (const Json& json : report.at("model").at("kernels")) {
    if (!json.at("weight").is_number()) continue;
    Kernel kernel;
    kernel.name = json.at("name").get<std::string>();
    kernel.weight = json.at("weight").get<double>();
    if (json.contains("deviation") && json.at("deviation").is_number())
      kernel.deviation = json.at("deviation").get<double>();
    kernel.group = json.value("group", "");
    kernel.function = json.value("function", "");
    if (kernel.group.empty()) kernel.group = "all";
    kernels.push_back(kernel);
  }
  std::ranges::stable_sort(kernels, std::ranges::greater{}, [](const Kernel& k) { return std::abs(k.weight); });
  return kernels;
}

// Sums of |weight| by a name, largest first.
std::vector<std::pair<std::string, double>> sums_by(const std::vector<Kernel>& kernels,
                                                    std::string Kernel::*name) {
  std::map<std::string, double> sums;
  for (const Kernel& kernel : kernels) sums[kernel.*name] += std::abs(kernel.weight);
  std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& entry) { return entry.second; });
  return sorted;
}

std::size_t place_of(const std::vector<std::pair<std::string, double>>& list, const std::string& name) {
  const auto place = std::ranges::find(list, name, [](const auto& entry) { return entry.first; });
  return static_cast<std::size_t>(place - list.begin());
}

std::string method_of(const Json& report) {
  return report.at("model").at("method").get<std::string>();
}

// One output's map of samples × kernels as a report holds it: `samples` are texts of '1', '0' and '-'
// (switches) or rows of numbers (gates).
struct SampleMap {
  std::vector<std::string> kernels, classes;
  std::vector<std::size_t> order;           // of drawing: by class, then alike samples together
  std::vector<int> codes;                   // class of each sample; empty without classes
  std::vector<std::vector<double>> values;  // 0 … 1; −1: off where the kernel has no weight
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
      for (const char mark : sample.get<std::string>())
        row.push_back(mark == '1' ? 1.0 : mark == '0' ? 0.0 : -1.0);
    } else {
      row = sample.get<std::vector<double>>();
    }
    for (const double value : row) most = std::max(most, value);
    map.values.push_back(std::move(row));
  }
  for (auto& row : map.values) {
    for (double& value : row) value = value < 0.0 ? value : value / most;
  }
  return map;
}

// Neighbours of the same shade are one cell.
double shade(double value) {
  constexpr double kShades = 12.0;
  return value < 0.0 ? value : std::round(kShades * value) / kShades;
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
      svg.rect(left, top, width, height, "fill-s8", 0.25);
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

std::string sample_map_figure(const Json& json, const FigureText& text, const std::string& legend) {
  const SampleMap map = map_of(json);
  if (map.order.empty() || map.kernels.empty()) return "";
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
  std::string names;
  for (std::size_t k = 0; k < std::min<std::size_t>(map.kernels.size(), kMostKernels); ++k)
    names += fmt::format("{}{} {}", k == 0 ? " Kernels: " : ", ", k + 1, map.kernels[k]);
  FigureText whole = text;
  whole.says += fmt::format(" {} samples from top to bottom, by class.{}{}", map.order.size(), names,
                            map.kernels.size() > kMostKernels ? ", …" : ".");
  return framed(whole, svg, legend);
}

// The maps of all outputs, at most four of them.
std::string sample_map_figures(const Json& report, const std::string& key, const FigureText& text,
                               const std::string& legend) {
  if (!report.contains("model") || !report.at("model").at("report").contains(key)) return "";
  std::string figures;
  std::size_t shown = 0;
  for (const Json& map : report.at("model").at("report").at(key)) {
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

std::string weights_figure(const Json& report) {
  const std::vector<Kernel> kernels = kernels_of(report);
  if (kernels.empty()) return "";
  const auto groups = sums_by(kernels, &Kernel::group);
  const std::size_t shown = std::min(kMostKernels, kernels.size());
  double low = 0.0;
  double high = 0.0;
  for (std::size_t k = 0; k < shown; ++k) {
    const double spread = std::isfinite(kernels[k].deviation) ? kernels[k].deviation : 0.0;
    low = std::min(low, kernels[k].weight - spread);
    high = std::max(high, kernels[k].weight + spread);
  }
  constexpr double kRow = 19.0;
  const double bottom = 8.0 + kRow * static_cast<double>(shown);
  Svg svg(bottom + 42.0);
  const Axis x{low, high > low ? high : low + 1.0, 178.0, Svg::kRight - 8.0};
  svg.x_axis(x, 8.0, bottom, "weight, " + report.at("model").at("weights").get<std::string>());
  for (std::size_t k = 0; k < shown; ++k) {
    const Kernel& kernel = kernels[k];
    const double y = 8.0 + kRow * static_cast<double>(k);
    svg.text(170.0, y + 13.5, shortened_inside(kernel.name, 26), "end", "small");
    svg.rect(std::min(x(0.0), x(kernel.weight)), y + 4.0, std::abs(x(kernel.weight) - x(0.0)), 11.0,
             "fill-" + colour(std::min(kOwnColours, place_of(groups, kernel.group))));
    if (!std::isfinite(kernel.deviation)) continue;
    svg.line(x(kernel.weight - kernel.deviation), y + 9.5, x(kernel.weight + kernel.deviation), y + 9.5, "bar");
  }
  svg.line(x(0.0), 8.0, x(0.0), bottom, "zero");
  std::string legend;
  for (std::size_t g = 0; groups.size() > 1 && g < std::min(kOwnColours, groups.size()); ++g)
    legend += legend_entry(g, groups[g].first);
  if (groups.size() > kOwnColours) legend += legend_entry(kOwnColours, "others");
  const bool deviations = std::isfinite(kernels.front().deviation);
  return framed({"figure-weights", fmt::format("Kernels by weight: {}", method_of(report)),
                 fmt::format("The {} largest of {} weights in the model of all samples{}{}.", shown,
                             kernels.size(), deviations ? ", lines are one posterior deviation" : "",
                             groups.size() > 1 ? "; colour by what the kernel looks at" : ""),
                 "/model/kernels"},
                svg, legend);
}

std::string groups_figure(const Json& report) {
  const std::vector<Kernel> kernels = kernels_of(report);
  auto groups = sums_by(kernels, &Kernel::group);
  const auto functions = sums_by(kernels, &Kernel::function);
  if (groups.size() < 2 && functions.size() < 2) return "";
  double total = 0.0;
  for (const auto& [name, sum] : groups) total += sum;
  if (!(total > 0.0)) return "";
  const std::size_t all = groups.size();
  groups.resize(std::min(kMostGroups, all));
  constexpr double kRow = 22.0;
  const double bottom = 8.0 + kRow * static_cast<double>(groups.size());
  Svg svg(bottom + 42.0);
  const Axis x{0.0, groups.front().second / total, 130.0, Svg::kRight - 8.0};
  svg.x_axis(x, 8.0, bottom, "share of the sum of absolute weights");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double y = 8.0 + kRow * static_cast<double>(g);
    svg.text(122.0, y + 15.0, shortened(groups[g].first, 17), "end", "small");
    double done = 0.0;  // stacked by kernel function
    for (std::size_t f = 0; f < functions.size(); ++f) {
      double sum = 0.0;
      for (const Kernel& kernel : kernels) {
        if (kernel.group == groups[g].first && kernel.function == functions[f].first)
          sum += std::abs(kernel.weight);
      }
      svg.rect(x(done / total), y + 4.0, x((done + sum) / total) - x(done / total), 14.0, "fill-" + colour(f));
      done += sum;
    }
  }
  std::string legend;
  for (std::size_t f = 0; f < functions.size(); ++f)
    legend += legend_entry(f, functions[f].first.empty() ? "given" : functions[f].first);
  return framed(
      {"figure-groups", "What the model looks at",
       fmt::format("Weights by {} and kind of kernel{}.",
                   report.at("data").at("views").empty() ? "features" : "view",
                   all > groups.size() ? fmt::format("; the largest {} of {}", groups.size(), all) : ""),
       "/model/kernels"},
      svg, legend);
}

std::string convergence_figure(const Json& report) {
  if (!report.contains("model")) return "";
  const Json& trace = report.at("model").at("report").at("trace");
  std::vector<std::pair<double, double>> points;
  for (const Json& point : trace) {
    if (point.at("objective").is_number())
      points.emplace_back(point.at("iteration").get<double>(), point.at("objective").get<double>());
  }
  if (points.size() < 3) return "";
  double low = INFINITY;
  double high = -INFINITY;
  for (const auto& [iteration, objective] : points) {
    low = std::min(low, objective);
    high = std::max(high, objective);
  }
  Svg svg(240.0);
  const Axis x{points.front().first, points.back().first, 62.0, Svg::kRight - 12.0};
  const Axis y{low, high > low ? high : low + 1.0, 196.0, 32.0};
  const Json& inside = report.at("model").at("report");
  svg.x_axis(x, 32.0, 196.0, "iteration")
      .y_axis(y, 62.0, Svg::kRight - 12.0, inside.at("objective_name").get<std::string>());
  for (auto& [iteration, objective] : points) {
    iteration = x(iteration);
    objective = y(objective);
  }
  svg.path(points, "curve s1");
  return framed({"figure-convergence", "How training went",
                 fmt::format("{} after {} iterations. {}", inside.at("status").get<std::string>(),
                             inside.at("iterations").get<long>(), inside.at("message").get<std::string>()),
                 "/model/report/trace"},
                svg);
}

std::string embedding_figure(const Json& report) {
  if (!report.contains("model")) return "";
  const Json& classes = report.at("model").at("classes");
  for (const Json& table : report.at("model").at("report").at("tables")) {
    if (!table.at("title").get<std::string>().starts_with("places of the classes")) continue;
    const Json& rows = table.at("rows");
    if (rows.size() < 2 || rows.size() != classes.size()) return "";
    double size = 1e-12;
    for (const Json& row : rows) {
      if (!row[1].is_number() || !row[2].is_number()) return "";
      size = std::max({size, std::abs(row[1].get<double>()), std::abs(row[2].get<double>())});
    }
    Svg svg(300.0);
    const Axis x{-1.25 * size, 1.25 * size, 20.0, 380.0};
    const Axis y{-1.25 * size, 1.25 * size, 290.0, 10.0};
    svg.line(x.start, y(0.0), x.end, y(0.0), "grid").line(x(0.0), y.start, x(0.0), y.end, "grid");
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const double px = x(rows[c][1].get<double>());
      const double py = y(rows[c][2].get<double>());
      svg.circle(px, py, 5.0, "mean");
      svg.text(px + (px > 300.0 ? -9.0 : 9.0), py + 4.0, shortened(classes[c].get<std::string>(), 16),
               px > 300.0 ? "end" : "start");
    }
    return framed({"figure-embedding", "Which classes are alike",
                   "Classes that the model learned to treat alike lie close together.", "/model/report/tables"},
                  svg);
  }
  return "";
}

std::string switches_figure(const Json& report) {
  return sample_map_figures(report, "switches",
                            {"figure-switches", "Kernels that each sample uses",
                             "A filled cell is a kernel that is on for a sample, an empty one is switched off.",
                             "/model/report/switches"},
                            legend_entry(0, "on") + legend_entry(7, "off, and without weight anyway"));
}

std::string gating_figure(const Json& report) {
  return sample_map_figures(report, "gating",
                            {"figure-gating", "Weight of each kernel, sample by sample",
                             "Darker cells are larger gates of a kernel at a sample.", "/model/report/gating"},
                            "");
}

}  // namespace kloom::report
