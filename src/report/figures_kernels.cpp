// SPDX-License-Identifier: BSD-3-Clause
//
// The figure about kernels by themselves: [ZienOng2007], Figure 2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/figure_frame.h"
#include "report/figures.h"
#include "report/kernel_label.h"

namespace kloom::report {
namespace {

constexpr std::size_t kMostAlone = 20;

struct Alone {
  std::string name;
  double error = 0.0;
  double share = 0.0;  // of the sum of absolute weights
};

// Who judged kernels by themselves; null if nobody did.
const Json* judge_of(const Json& report) {
  for (const Json& method : report.at("methods")) {
    if (method.contains("first_split") && method.at("first_split").contains("errors_alone")) return &method;
  }
  return nullptr;
}

// The best method that gives kernels different weights, more than one of them any; null if there is none.
const Json* learner_of(const Json& report) {
  for (const Json& method : report.at("methods")) {
    if (!method.contains("first_split")) continue;
    const auto weights = method.at("first_split").at("weights").get<std::vector<double>>();
    if (weights.empty()) continue;
    const auto [low, high] = std::ranges::minmax(weights);
    const auto used = std::ranges::count_if(weights, [](double w) { return w != 0.0; });
    if (used > 1 && high - low > 1e-9 * std::abs(high)) return &method;
  }
  return nullptr;
}

std::vector<Alone> kernels_of(const Json& judge, const Json* learner) {
  std::map<std::string, double> shares;
  if (learner != nullptr) {
    const Json& first = learner->at("first_split");
    const auto names = first.at("kernels").get<std::vector<std::string>>();
    const auto weights = first.at("weights").get<std::vector<double>>();
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    for (std::size_t k = 0; k < names.size(); ++k) shares[names[k]] += std::abs(weights[k]) / total;
  }
  const Json& first = judge.at("first_split");
  std::vector<Alone> kernels;
  for (std::size_t k = 0; k < first.at("kernels").size(); ++k) {
    const Json& error = first.at("errors_alone").at(k);
    if (!error.is_number()) continue;
    const auto name = first.at("kernels").at(k).get<std::string>();
    kernels.push_back({name, error.get<double>(), shares.contains(name) ? shares[name] : 0.0});
  }
  std::ranges::stable_sort(kernels, {}, &Alone::error);
  return kernels;
}

}  // namespace

std::string alone_figure(const Json& report) {
  const Json* judge = judge_of(report);
  if (judge == nullptr) return "";
  const Json* learner = learner_of(report);
  const std::vector<Alone> kernels = kernels_of(*judge, learner);
  if (kernels.empty()) return "";
  const std::size_t shown = std::min(kMostAlone, kernels.size());
  const bool classes = !report.at("data").at("classes").empty();
  double largest_error = 0.0;
  double largest_share = 0.0;
  for (std::size_t k = 0; k < shown; ++k) {
    largest_error = std::max(largest_error, kernels[k].error);
    largest_share = std::max(largest_share, kernels[k].share);
  }
  constexpr double kRow = 19.0;
  const double bottom = 8.0 + kRow * static_cast<double>(shown);
  Svg svg(bottom + 42.0);
  const Axis value{0.0, classes ? 1.0 : std::max(largest_error, 1e-300), 150.0, 262.0};
  const Axis share{0.0, largest_share > 0.0 ? largest_share : 1.0, 286.0, Svg::kRight - 8.0};
  svg.x_axis(value, 8.0, bottom, classes ? "accuracy alone" : "squared error alone");
  svg.x_axis(share, 8.0, bottom, "share of weights");
  for (std::size_t k = 0; k < shown; ++k) {
    const double y = 8.0 + kRow * static_cast<double>(k);
    const double held_out = classes ? 1.0 - kernels[k].error : kernels[k].error;
    svg.text(142.0, y + 13.5, kernel_label(kernels[k].name, 21), "end", "small");
    svg.rect(value(0.0), y + 4.0, value(held_out) - value(0.0), 11.0, "fill-" + colour(0));
    svg.rect(share(0.0), y + 4.0, share(kernels[k].share) - share(0.0), 11.0, "fill-" + colour(1));
  }
  const std::string weights = learner == nullptr ? "no method learned weights"
                                                 : fmt::format("beside it the weight that {} gave it",
                                                               learner->at("method").get<std::string>());
  return framed({"figure-alone", "Every kernel by itself, and its weight",
                 fmt::format("{} of {} kernels, the best ones first: held-out folds of the first training "
                             "part, judged by {}; {}.",
                             shown, judge->at("first_split").at("kernels").size(),
                             judge->at("method").get<std::string>(), weights),
                 "/methods"},
                svg);
}

}  // namespace kloom::report
