// SPDX-License-Identifier: BSD-3-Clause
#include "model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kloom/validate.h"
#include "text.h"

namespace kloom::cli {
namespace {

std::string_view weight_heading(KernelWeights::Shape shape) {
  switch (shape) {
    case KernelWeights::Shape::per_class:
      return "mean weight over classes";
    case KernelWeights::Shape::per_sample:
      return "mean weight over samples";
    case KernelWeights::Shape::shared:
      break;
  }
  return "weight";
}

}  // namespace

std::vector<KernelWeight> kernels_by_weight(const Model& model) {
  std::vector<KernelWeight> kernels;
  const Vector weights = mean_weights(model);
  const bool deviations =
      !model.weights.deviation.empty() && model.weights.shape == KernelWeights::Shape::shared;
  for (std::size_t p = 0; p < weights.size(); ++p) {
    kernels.push_back({model.kernel_names[p], weights[p],
                       deviations ? model.weights.deviation(0, static_cast<Index>(p))
                                  : std::numeric_limits<double>::quiet_NaN()});
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelWeight& a, const KernelWeight& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  return kernels;
}

std::string kernel_table(const Model& model, std::size_t most) {
  const auto kernels = kernels_by_weight(model);
  const std::size_t shown = std::min(most, kernels.size());
  std::size_t width = 6;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, width_of(kernels[i].name));
  const bool deviations = shown > 0 && !std::isnan(kernels.front().deviation);
  const std::string heading(weight_heading(model.weights.shape));
  std::string text =
      fmt::format("kernels by weight ({} of {})\n  {}  {}\n", shown, kernels.size(), padded("kernel", width),
                  deviations ? padded(heading, 12) + " deviation" : heading);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("  {}  ", padded(kernels[i].name, width));
    text += deviations ? fmt::format("{:<12.5g} {:.3g}\n", kernels[i].weight, kernels[i].deviation)
                       : fmt::format("{:.5g}\n", kernels[i].weight);
  }
  return text;
}

std::string view_table(const Model& model, std::size_t most) {
  std::vector<ViewShare> shares = weights_by_view(model);
  if (shares.empty()) return "";
  const std::size_t all = shares.size();
  shares.resize(std::min(most, all));
  std::size_t width = 0;
  for (const ViewShare& one : shares) width = std::max(width, width_of(one.view));
  std::string text =
      fmt::format("weights by what kernels look at ({} of {}), shares of their sum\n", shares.size(), all);
  for (const ViewShare& one : shares) text += fmt::format("  {}  {:.3f}\n", padded(one.view, width), one.share);
  return text;
}

std::string class_sentence(const Model& model) {
  if (model.classes.empty()) return "";
  std::string text = "classes " + list_of(model.classes, 20);
  if (model.task == Task::binary && model.classes.size() == 2) {
    text += fmt::format("; positive class '{}'", model.classes.back());
  }
  return text;
}

nlohmann::ordered_json kernels_json(const Model& model) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& kernel : kernels_by_weight(model)) {
    json.push_back({{"name", kernel.name}, {"weight", kernel.weight}, {"deviation", kernel.deviation}});
  }
  return json;
}

nlohmann::ordered_json views_json(const Model& model) {
  auto json = nlohmann::ordered_json::array();
  for (const ViewShare& one : weights_by_view(model))
    json.push_back({{"view", one.view}, {"share", one.share}});
  return json;
}

nlohmann::ordered_json columns_json(const std::vector<ColumnDecision>& decisions) {
  auto list = nlohmann::ordered_json::array();
  for (const ColumnDecision& d : decisions) {
    list.push_back({{"name", d.feature.name},
                    {"view", d.feature.view},
                    {"kind", to_string(d.kind)},
                    {"used", d.used},
                    {"missing", d.missing},
                    {"treatment", d.treatment},
                    {"reason", d.reason}});
  }
  return list;
}

std::string columns_text(const std::vector<ColumnDecision>& decisions) {
  constexpr std::size_t kColumnsShown = 40;
  std::vector<const ColumnDecision*> order;
  for (const ColumnDecision& d : decisions)
    if (decisions.size() <= kColumnsShown || !d.reason.empty()) order.push_back(&d);
  std::string text;
  std::size_t width = 0;
  for (const auto* d : order) width = std::max(width, std::min<std::size_t>(30, d->feature.name.size()));
  for (std::size_t k = 0; k < std::min(order.size(), kColumnsShown); ++k) {
    const ColumnDecision& d = *order[k];
    text += fmt::format("    {:<{}}  {:<10}{}{}\n", d.feature.name, width, to_string(d.kind), d.treatment,
                        d.reason.empty() ? "" : ": " + d.reason);
  }
  if (std::min(order.size(), kColumnsShown) < decisions.size())
    text += fmt::format("    … and {} more columns (--json lists all)\n",
                        decisions.size() - std::min(order.size(), kColumnsShown));
  return text;
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kloom::cli
