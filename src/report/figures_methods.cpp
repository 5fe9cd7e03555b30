// SPDX-License-Identifier: BSD-3-Clause
//
// Figures about methods: how good, how fast, where they err.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/figure_frame.h"
#include "report/figures.h"

namespace kloom::report {
namespace {

double metric_of(const Json& method, const std::string& name, const char* what) {
  for (const Json& metric : method.at("metrics")) {
    if (metric.at("name") == name && metric.at(what).is_number()) return metric.at(what).get<double>();
  }
  return std::nan("");
}

std::vector<double> split_values(const Json& method, const std::string& metric) {
  std::vector<double> values;
  for (const Json& outcome : method.at("outcomes")) {
    const auto place = outcome.at("values").find(metric);
    if (place != outcome.at("values").end() && place->is_number()) values.push_back(place->get<double>());
  }
  return values;
}

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // A little air on both sides.
  void widen(double share) {
    if (!(high >= low)) low = 0.0, high = 1.0;
    const double air = high > low ? share * (high - low) : std::max(1e-3, 0.05 * std::abs(high));
    low -= air;
    high += air;
  }
};

// What was predicted for labelled samples, first the best: by the methods of a comparison, or by the one model on view.
struct Judged {
  const Json* json;
  std::string method;
  std::string place;  // in the report
  std::string about;  // which samples
};

std::vector<Judged> judged_in(const Json& report) {
  std::vector<Judged> all;
  for (const Json& method : report.at("methods")) {
    all.push_back({&method, method.at("method").get<std::string>(), fmt::format("/methods/{}", all.size()),
                   "held-out samples of the first repeat"});
  }
  if (report.contains("viewed") && report.at("viewed").contains("method")) {
    const Json& viewed = report.at("viewed");
    all.push_back({&viewed, viewed.at("method").get<std::string>(), "/viewed",
                   "samples of " + viewed.at("source").get<std::string>()});
  }
  return all;
}

}  // namespace

std::string colour(std::size_t index) {
  return fmt::format("s{}", index % 8 + 1);
}

std::string legend_entry(std::size_t index, const std::string& words) {
  return fmt::format("<li><span class='swatch {}'></span>{}</li>", colour(index), escaped(words));
}

std::string framed(const FigureText& text, const Svg& svg, const std::string& legend,
                   const std::string& below) {
  return fmt::format(
      "<figure id='{}' data-source='{}'><figcaption><h3>{}</h3><p>{}</p></figcaption>{}{}{}</figure>\n",
      text.id, escaped(text.source), escaped(text.title), escaped(text.says),
      svg.str(text.id, text.title, text.says), legend.empty() ? "" : "<ul class='legend'>" + legend + "</ul>",
      below);
}

std::string metric_figure(const Json& report) {
  const Json& methods = report.at("methods");
  if (methods.empty()) return "";
  const auto metric = report.at("metric").get<std::string>();
  Extent extent;
  for (const Json& method : methods) {
    for (const double value : split_values(method, metric)) extent.add(value);
    const double mean = metric_of(method, metric, "mean");
    const double deviation = metric_of(method, metric, "deviation");
    extent.add(mean);
    if (std::isfinite(deviation)) extent.add(mean - deviation), extent.add(mean + deviation);
  }
  extent.widen(0.04);
  constexpr double kRow = 30.0;
  constexpr double kTop = 10.0;
  const double bottom = kTop + kRow * static_cast<double>(methods.size());
  Svg svg(bottom + 42.0);
  const Axis x{extent.low, extent.high, 96.0, Svg::kRight - 6.0};
  svg.x_axis(x, kTop, bottom, metric);
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const double y = kTop + kRow * (static_cast<double>(m) + 0.5);
    const auto name = methods[m].at("method").get<std::string>();
    svg.text(88.0, y + 4.0, shortened(name, 13), "end", m == 0 ? "strong" : "");
    for (const double value : split_values(methods[m], metric))
      svg.circle(x(value), y, 3.2, "dot " + colour(0), fmt::format("{}: {}", name, short_number(value)));
    const double mean = metric_of(methods[m], metric, "mean");
    const double deviation = metric_of(methods[m], metric, "deviation");
    if (std::isfinite(deviation)) {
      svg.line(x(mean - deviation), y, x(mean + deviation), y, "bar");
      for (const double end : {mean - deviation, mean + deviation})
        svg.line(x(end), y - 5.0, x(end), y + 5.0, "bar");
    }
    svg.circle(x(mean), y, 5.0, "mean", fmt::format("{}: mean {}", name, short_number(mean)));
  }
  return framed(
      {"figure-metric", "How good: " + metric,
       "Dots are held-out parts, the filled circle is their mean, the bar one standard deviation to each side.",
       "/methods/*/outcomes/*/values"},
      svg);
}

std::string time_figure(const Json& report) {
  const Json& methods = report.at("methods");
  if (methods.size() < 2) return "";
  const auto metric = report.at("metric").get<std::string>();
  struct Point {
    double seconds, value, label;
    std::string name;
  };
  std::vector<Point> points;
  Extent time, value;
  for (const Json& method : methods) {
    const double seconds = std::max(1e-4, method.at("seconds").at("training").get<double>());
    points.push_back({seconds, metric_of(method, metric, "mean"), 0.0, method.at("method").get<std::string>()});
    time.add(seconds);
    value.add(points.back().value);
  }
  value.widen(0.06);
  // The names stand in a column of their own beside the plot, in the order of the points, so that none hides another.
  constexpr double kTop = 32.0;
  constexpr double kNameHeight = 15.0;
  const double bottom = std::max(245.0, kTop + kNameHeight * static_cast<double>(points.size()));
  constexpr double kPlotEnd = 292.0;
  constexpr double kNames = 306.0;
  Svg svg(bottom + 45.0);
  const Axis x{std::pow(10.0, std::floor(std::log10(time.low))),
               std::pow(10.0, std::ceil(std::log10(time.high * 1.01))), 52.0, kPlotEnd, true};
  const Axis y{value.low, value.high, bottom, kTop};
  svg.x_axis(x, kTop, bottom, "training seconds, with the choice of options");
  svg.y_axis(y, 52.0, kPlotEnd, metric);
  std::ranges::sort(points, {}, [&](const Point& p) { return y(p.value); });
  double last = kTop - kNameHeight;
  for (Point& point : points) last = point.label = std::max(y(point.value), last + kNameHeight);
  for (std::size_t k = points.size(); k-- > 0;) {
    const double most = k + 1 < points.size() ? points[k + 1].label - kNameHeight : bottom;
    points[k].label = std::min(points[k].label, most);
  }
  for (const Point& point : points) {
    svg.path({{x(point.seconds), y(point.value)}, {kPlotEnd, point.label}, {kNames - 3.0, point.label}},
             "leader");
    svg.text(kNames, point.label + 4.0, shortened(point.name, 13));
  }
  for (const Point& point : points) {
    svg.circle(x(point.seconds), y(point.value), 5.0, "mean",
               fmt::format("{}: {} s, {}", point.name, short_number(point.seconds), short_number(point.value)));
  }
  return framed(
      {"figure-time", "How fast",
       "Up is better where more of the metric is better; left is faster. One thread, mean over the splits.",
       "/methods/*/seconds"},
      svg);
}

std::string confusion_figure(const Json& report) {
  const std::vector<Judged> judged = judged_in(report);
  if (judged.empty() || !judged.front().json->contains("confusion")) return "";
  const Json& confusion = judged.front().json->at("confusion");
  const Json& classes = report.at("data").at("classes");
  const std::size_t count = confusion.size();
  if (count < 2 || count > 30) return "";
  constexpr double kLeft = 104.0;
  constexpr double kTop = 34.0;
  const double cell = std::min(70.0, (Svg::kRight - kLeft) / static_cast<double>(count));
  const double bottom = kTop + cell * static_cast<double>(count);
  Svg svg(bottom + 50.0);
  svg.text(kLeft, 14.0, "predicted", "start", "axis").text(kLeft - 8.0, 14.0, "true", "end", "axis");
  for (std::size_t i = 0; i < count; ++i) {
    const double y = kTop + cell * static_cast<double>(i);
    double total = 0.0;
    for (const Json& value : confusion[i]) total += value.get<double>();
    const auto name = classes[i].at("name").get<std::string>();
    if (cell >= 11.0) svg.text(kLeft - 8.0, y + 0.5 * cell + 4.0, shortened(name, 14), "end");
    if (cell >= 24.0)
      svg.text(kLeft + cell * (static_cast<double>(i) + 0.5), bottom + 16.0,
               shortened(name, static_cast<std::size_t>(cell / 7.5)), "middle");
    for (std::size_t j = 0; j < count; ++j) {
      const double share = total > 0.0 ? confusion[i][j].get<double>() / total : 0.0;
      const double x = kLeft + cell * static_cast<double>(j);
      svg.rect(x, y, cell - 1.0, cell - 1.0, "cell");
      svg.rect(x, y, cell - 1.0, cell - 1.0, i == j ? "fill-s1" : "fill-s2", 0.08 + 0.72 * share);
      if (cell >= 20.0)
        svg.text(x + 0.5 * cell, y + 0.5 * cell + 4.0, fmt::format("{}", confusion[i][j].get<long>()), "middle",
                 "strong");
    }
  }
  return framed({"figure-confusion", "Where it errs: " + judged.front().method,
                 fmt::format("Rows are true classes, columns predicted ones; {}.", judged.front().about),
                 judged.front().place + "/confusion"},
                svg);
}

std::string roc_figure(const Json& report) {
  const std::vector<Judged> judged = judged_in(report);
  const bool binary = report.at("data").at("task") == "binary";
  Svg svg(330.0);
  const Axis x{0.0, 1.0, 46.0, 330.0};
  const Axis y{0.0, 1.0, 286.0, 30.0};
  svg.x_axis(x, 30.0, 286.0, "false positive rate").y_axis(y, 46.0, 330.0, "true positive rate");
  svg.line(x(0.0), y(0.0), x(1.0), y(1.0), "diagonal");
  std::string legend;
  std::size_t drawn = 0;
  const auto draw = [&](const Json& curve, const std::string& name) {
    std::vector<std::pair<double, double>> points;
    for (const Json& point : curve.at("points"))
      points.emplace_back(x(point[0].get<double>()), y(point[1].get<double>()));
    svg.path(points, "curve " + colour(drawn));
    legend += legend_entry(drawn, fmt::format("{} {:.3f}", name, curve.at("auc").get<double>()));
    ++drawn;
  };
  for (std::size_t m = 0; m < judged.size() && (binary || m == 0); ++m) {
    if (!judged[m].json->contains("roc")) continue;
    for (const Json& curve : judged[m].json->at("roc"))
      draw(curve, binary ? judged[m].method : curve.at("class").get<std::string>());
  }
  if (drawn == 0) return "";
  const char* curves =
      binary ? (judged.size() > 1 ? "One curve per method" : "The positive class")
             : (judged.size() > 1 ? "Each class against the rest, best method" : "Each class against the rest");
  return framed({"figure-roc", "Receiver operating characteristic",
                 fmt::format("{}; {}; area beside the name.", curves, judged.front().about),
                 judged.size() > 1 ? "/methods/*/roc" : judged.front().place + "/roc"},
                svg, legend);
}

std::string reliability_figure(const Json& report) {
  for (const Judged& one : judged_in(report)) {
    const auto bins = one.json->find("reliability");
    if (bins == one.json->end() || bins->empty()) continue;
    const bool binary = report.at("data").at("task") == "binary";
    Svg svg(330.0);
    const Axis x{0.0, 1.0, 46.0, 330.0};
    const Axis y{0.0, 1.0, 286.0, 30.0};
    svg.x_axis(x, 30.0, 286.0,
               binary ? "predicted probability of the positive class" : "probability of the predicted class");
    svg.y_axis(y, 46.0, 330.0, "how often it came true");
    svg.line(x(0.0), y(0.0), x(1.0), y(1.0), "diagonal");
    double most = 1.0;
    for (const Json& bin : *bins) most = std::max(most, bin.at("count").get<double>());
    std::vector<std::pair<double, double>> points;
    for (const Json& bin : *bins) {
      if (bin.at("count").get<double>() == 0.0) continue;
      points.emplace_back(x(bin.at("probability").get<double>()), y(bin.at("frequency").get<double>()));
    }
    svg.path(points, "curve s1");
    std::size_t k = 0;
    for (const Json& bin : *bins) {
      const auto count = bin.at("count").get<double>();
      if (count == 0.0) continue;
      svg.circle(points[k].first, points[k].second, 3.0 + 7.0 * std::sqrt(count / most), "mean",
                 fmt::format("{:.0f} samples, predicted {:.3f}, came true {:.3f}", count,
                             bin.at("probability").get<double>(), bin.at("frequency").get<double>()));
      ++k;
    }
    return framed({"figure-reliability", "Are its probabilities right? " + one.method,
                   fmt::format("On the dotted line a probability means what it says; circles grow with the "
                               "number of samples; {}.",
                               one.about),
                   one.place + "/reliability"},
                  svg);
  }
  return "";
}

std::string residual_figure(const Json& report) {
  const std::vector<Judged> judged = judged_in(report);
  if (judged.empty() || !judged.front().json->contains("residuals")) return "";
  const Json& residuals = judged.front().json->at("residuals");
  Extent extent;
  for (const Json& point : residuals) extent.add(point[0].get<double>()), extent.add(point[1].get<double>());
  extent.widen(0.04);
  Svg svg(330.0);
  const Axis x{extent.low, extent.high, 56.0, 340.0};
  const Axis y{extent.low, extent.high, 286.0, 30.0};
  svg.x_axis(x, 30.0, 286.0, "predicted").y_axis(y, 56.0, 340.0, "true");
  svg.line(x(extent.low), y(extent.low), x(extent.high), y(extent.high), "diagonal");
  for (const Json& point : residuals) {
    if (point[2].is_number()) {
      const double guess = point[1].get<double>();
      const double deviation = point[2].get<double>();
      svg.line(x(std::max(extent.low, guess - deviation)), y(point[0].get<double>()),
               x(std::min(extent.high, guess + deviation)), y(point[0].get<double>()), "leader");
    }
    svg.circle(x(point[1].get<double>()), y(point[0].get<double>()), 2.6, "dot s1");
  }
  return framed({"figure-residuals", "Predicted and true: " + judged.front().method,
                 fmt::format("Each dot one of the {}; thin bars are one predicted standard deviation.",
                             judged.front().about),
                 judged.front().place + "/residuals"},
                svg);
}

std::string coverage_figure(const Json& report) {
  for (const Judged& one : judged_in(report)) {
    if (!one.json->contains("coverage")) continue;
    Svg svg(330.0);
    const Axis x{0.0, 1.0, 46.0, 330.0};
    const Axis y{0.0, 1.0, 286.0, 30.0};
    svg.x_axis(x, 30.0, 286.0, "promised: level of the interval");
    svg.y_axis(y, 46.0, 330.0, "share of true values inside");
    svg.line(x(0.0), y(0.0), x(1.0), y(1.0), "diagonal");
    std::vector<std::pair<double, double>> points;
    for (const Json& point : one.json->at("coverage"))
      points.emplace_back(x(point.at("level").get<double>()), y(point.at("frequency").get<double>()));
    svg.path(points, "curve s1");
    for (const auto& [px, py] : points) svg.circle(px, py, 4.0, "mean");
    return framed(
        {"figure-coverage", "Do its intervals hold? " + one.method,
         fmt::format("On the dotted line they hold as often as they promise, above it more often; {}.",
                     one.about),
         one.place + "/coverage"},
        svg);
  }
  return "";
}

}  // namespace kloom::report
