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
#include "report/kernel_label.h"

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

// Sums of |weight| by a name, largest first, without those that are 0.
std::vector<std::pair<std::string, double>> sums_by(const std::vector<Kernel>& kernels,
                                                    std::string Kernel::*name) {
  std::map<std::string, double> sums;
  for (const Kernel& kernel : kernels) sums[kernel.*name] += std::abs(kernel.weight);
  std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
  std::erase_if(sorted, [](const auto& entry) { return entry.second == 0.0; });
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& entry) { return entry.second; });
  return sorted;
}

std::size_t place_of(const std::vector<std::pair<std::string, double>>& list, const std::string& name) {
  const auto place = std::ranges::find(list, name, [](const auto& entry) { return entry.first; });
  return static_cast<std::size_t>(place - list.begin());
}

// Kernels of weight 0 come last and have nothing to show; a model without any weight still shows one.
std::size_t in_use(const std::vector<Kernel>& kernels) {
  const auto used = std::ranges::count_if(kernels, [](const Kernel& kernel) { return kernel.weight != 0.0; });
  return std::max<std::size_t>(1, static_cast<std::size_t>(used));
}

std::string weights_shown(std::size_t shown, std::size_t used, std::size_t all) {
  if (shown == all) return fmt::format("All {} weights", all);
  if (shown == used) return fmt::format("The {} of {} weights that are not 0", used, all);
  return fmt::format("The {} largest of {} weights", shown, all);
}

std::string method_of(const Json& report) {
  return report.at("model").at("method").get<std::string>();
}

}  // namespace

std::string weights_figure(const Json& report) {
  const std::vector<Kernel> kernels = kernels_of(report);
  if (kernels.empty()) return "";
  const auto groups = sums_by(kernels, &Kernel::group);
  const std::size_t shown = std::min(kMostKernels, in_use(kernels));
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
    svg.text(170.0, y + 13.5, kernel_label(kernel.name, 26), "end", "small");
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
  return framed(
      {"figure-weights", fmt::format("Kernels by weight: {}", method_of(report)),
       fmt::format("{} in the model of all samples{}{}.", weights_shown(shown, in_use(kernels), kernels.size()),
                   deviations ? ", lines are one posterior deviation" : "",
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
                 fmt::format("{} after {} iterations: {}.", capitalised(inside.at("status").get<std::string>()),
                             inside.at("iterations").get<long>(), inside.at("message").get<std::string>()),
                 "/model/report/trace"},
                svg);
}

std::string path_figure(const Json& report) {
  if (!report.contains("model")) return "";
  for (const Json& table : report.at("model").at("report").at("tables")) {
    const auto columns = table.at("columns").get<std::vector<std::string>>();
    if (!table.at("title").get<std::string>().starts_with("cross-validation") || columns.size() < 2 ||
        columns[0] != "C" || table.at("rows").size() < 2 || columns[1] == "m0")
      continue;
    std::vector<std::pair<double, double>> points;
    double high = 0.0;
    for (const Json& row : table.at("rows")) {
      if (!row.at(0).is_number() || !row.at(1).is_number() || !(row.at(0).get<double>() > 0.0)) return "";
      points.emplace_back(row.at(0).get<double>(), row.at(1).get<double>());
      high = std::max(high, points.back().second);
    }
    std::ranges::sort(points);
    const auto best = std::ranges::min_element(points, {}, [](const auto& point) { return point.second; });
    Svg svg(240.0);
    const Axis x{points.front().first, points.back().first, 62.0, Svg::kRight - 12.0, true};
    const Axis y{0.0, high > 0.0 ? 1.05 * high : 1.0, 196.0, 32.0};
    svg.x_axis(x, 32.0, 196.0, columns[0]).y_axis(y, 62.0, Svg::kRight - 12.0, columns[1]);
    std::vector<std::pair<double, double>> line;
    line.reserve(points.size());
    for (const auto& [price, error] : points) line.emplace_back(x(price), y(error));
    svg.path(line, "curve s1");
    for (const auto& [price, error] : points)
      svg.circle(
          x(price), y(error), price == best->first ? 6.0 : 3.0, "mean",
          fmt::format("{} = {}: {} {}", columns[0], short_number(price), columns[1], short_number(error)));
    return framed({"figure-path", "How C was chosen",
                   fmt::format("{} of held-out folds; the larger circle, C = {}, was taken.", columns[1],
                               short_number(best->first)),
                   "/model/report/tables"},
                  svg);
  }
  return "";
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

}  // namespace kloom::report
