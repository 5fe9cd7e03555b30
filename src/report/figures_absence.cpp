// SPDX-License-Identifier: BSD-3-Clause
//
// Figures about samples that lack views.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/figure_frame.h"
#include "report/figures.h"

namespace kloom::report {

std::string absence_figure(const Json& report) {
  if (!report.contains("absent_views")) return "";
  const Json& views = report.at("absent_views").at("views");
  const Json& patterns = report.at("absent_views").at("patterns");
  constexpr std::size_t kMost = 16;
  constexpr double kLeft = 96.0;
  constexpr double kTop = 10.0;
  constexpr double kRow = 20.0;
  const std::size_t rows = std::min(kMost, patterns.size());
  const double cell = std::min(60.0, (Svg::kRight - kLeft) / static_cast<double>(views.size()));
  const double bottom = kTop + kRow * static_cast<double>(rows);
  Svg svg(bottom + 24.0);
  for (std::size_t k = 0; k < rows; ++k) {
    const double y = kTop + kRow * static_cast<double>(k);
    const auto samples = patterns[k].at("samples").get<long>();
    svg.text(kLeft - 8.0, y + 14.0, fmt::format("{} sample{}", samples, samples == 1 ? "" : "s"), "end");
    for (std::size_t v = 0; v < views.size(); ++v) {
      const double x = kLeft + cell * static_cast<double>(v);
      const bool has = patterns[k].at("has")[v].get<int>() != 0;
      svg.rect(x, y, cell - 1.0, kRow - 1.0, has ? "fill-s1" : "cell", has ? 0.75 : 1.0);
    }
  }
  std::string below;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const auto name = views[v].get<std::string>();
    const std::string words =
        cell >= 24.0 ? shortened(name, static_cast<std::size_t>(cell / 7.0)) : fmt::format("{}", v + 1);
    svg.text(kLeft + cell * (static_cast<double>(v) + 0.5), bottom + 16.0, words, "middle");
    if (cell < 24.0) below += fmt::format("{}{}: {}", below.empty() ? "" : ", ", v + 1, escaped(name));
  }
  const std::size_t more = patterns.size() - rows;
  return framed(
      {"figure-absence", "Which samples have which views",
       fmt::format("A row is a set of views, a filled cell a view that is there; the most frequent first{}.",
                   more > 0 ? fmt::format(", {} rarer ones are not drawn", more) : ""),
       "/absent_views"},
      svg, legend_entry(0, "there"), below.empty() ? "" : "<p>" + below + "</p>");
}

std::string by_views_figure(const Json& report) {
  constexpr std::size_t kMost = 8;
  const bool numbers = report.at("data").at("task") == "regression";
  double least = INFINITY, most = -INFINITY, low = INFINITY, high = -INFINITY;
  const Json& methods = report.at("methods");
  const std::size_t drawn = std::min(kMost, methods.size());
  for (std::size_t m = 0; m < drawn; ++m) {
    if (!methods[m].contains("by_views")) return "";
    for (const Json& point : methods[m].at("by_views")) {
      const auto count = point.at("views").get<double>();
      const auto value = point.at("value").get<double>();
      least = std::min(least, count), most = std::max(most, count);
      low = std::min(low, value), high = std::max(high, value);
    }
  }
  if (!(most > least)) return "";
  const double air = high > low ? 0.06 * (high - low) : 0.05;
  constexpr double kTop = 16.0, kBottom = 250.0, kFirst = 52.0;
  Svg svg(kBottom + 45.0);
  const Axis x{least, most, kFirst, Svg::kRight - 10.0};
  const Axis y{low - air, high + air, kBottom, kTop};
  const double step = std::ceil((most - least) / 10.0);
  for (double count = least; count <= most; count += step) {
    svg.line(x(count), kTop, x(count), kBottom, "grid");
    svg.text(x(count), kBottom + 16.0, short_number(count), "middle", "axis");
  }
  svg.text(0.5 * (x.start + x.end), kBottom + 34.0, "views that a sample has", "middle", "axis");
  svg.y_axis(y, kFirst, Svg::kRight - 10.0, numbers ? "RMSE" : "accuracy");
  std::string legend;
  for (std::size_t m = 0; m < drawn; ++m) {
    const auto name = methods[m].at("method").get<std::string>();
    std::vector<std::pair<double, double>> line;
    for (const Json& point : methods[m].at("by_views"))
      line.emplace_back(x(point.at("views").get<double>()), y(point.at("value").get<double>()));
    svg.path(line, "curve " + colour(m));
    for (std::size_t k = 0; k < line.size(); ++k) {
      const Json& point = methods[m].at("by_views")[k];
      svg.circle(
          line[k].first, line[k].second, 3.2, "dot " + colour(m),
          fmt::format("{}: {} of {} samples with {} views", name, short_number(point.at("value").get<double>()),
                      point.at("samples").get<long>(), point.at("views").get<long>()));
    }
    legend += legend_entry(m, name);
  }
  return framed(
      {"figure-by-views", numbers ? "Error by number of views" : "Accuracy by number of views",
       fmt::format("Held-out samples of the first repeat, by how many views they have; {}.",
                   drawn < methods.size() ? fmt::format("the first {} methods", drawn) : "every method"),
       "/methods/*/by_views"},
      svg, legend);
}

}  // namespace kloom::report
