// SPDX-License-Identifier: BSD-3-Clause
//
// A model for its page: what its file says, and what it makes of samples, kernel by kernel.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kloom/page.h"
#include "models/scores.h"
#include "report/held_out_json.h"
#include "report/model_json.h"

namespace kloom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDrawn = 300;   // samples of the map
constexpr std::size_t kMostListed = 200;  // samples of the table
constexpr std::size_t kMostShown = 40;    // kernels of the map
constexpr std::size_t kMostNamed = 3;     // kernels that spoke most, of a sample
constexpr std::size_t kMostOutputs = 12;

// Four significant digits: for drawing and reading.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return 0.0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3.0);
  return std::round(value / unit) * unit;
}

Json model_data(const Model& model, const RunFacts& facts) {
  Json json = {{"source", facts.source},      {"samples", model.coefficients.rows()}, {"features", 0},
               {"target", model.target_name}, {"task", to_string(model.task)},        {"kernels", ""}};
  json["views"] = Json::array();
  if (model.recipe) {
    const Recipe& recipe = *model.recipe;
    json["kernels"] = to_string(recipe.spec);
    if (recipe.basis.samples > 0) json["samples"] = recipe.basis.samples;
    const auto used = std::ranges::count_if(recipe.decisions, &ColumnDecision::used);
    json["features"] = used > 0 ? used : recipe.basis.features.cols();
    for (const View& view : recipe.basis.views)
      json["views"].push_back({{"name", view.name}, {"features", view.features.size() + view.texts.size()}});
  }
  json["classes"] = Json::array();
  for (const std::string& name : model.classes) json["classes"].push_back({{"name", name}});
  return json;
}

// The samples in the order of drawing: by class, within a class by score.
class SampleOrder {
 public:
  SampleOrder(const Model& model, const ViewedSamples& view) {
    const Predictions& p = view.predictions;
    const bool coded = models::has_codes(model.task) && !p.codes.empty();
    if (coded) codes_ = p.codes;
    for (std::size_t i = 0; coded && view.targets && i < codes_.size(); ++i)
      if (view.targets->codes[i] != Targets::unlabelled) codes_[i] = view.targets->codes[i];
    order_.resize(at(p.scores.rows()));
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      return std::pair(coded ? codes_[i] : 0, -p.scores(static_cast<Index>(i), column(p, i)));
    };
    std::ranges::stable_sort(order_, {}, key);
  }
  // At most `most` of them, evenly spread.
  [[nodiscard]] std::vector<std::size_t> some(std::size_t most) const {
    std::vector<std::size_t> chosen;
    const std::size_t count = std::min(most, order_.size());
    for (std::size_t k = 0; k < count; ++k) chosen.push_back(order_[k * order_.size() / count]);
    return chosen;
  }
  [[nodiscard]] const std::vector<int>& codes() const { return codes_; }
  // The output that speaks for what is predicted of a sample.
  static Index column(const Predictions& p, std::size_t sample) {
    const bool own = !p.codes.empty() && p.scores.cols() > 1 && p.codes[sample] < p.scores.cols();
    return own ? p.codes[sample] : 0;
  }

 private:
  std::vector<int> codes_;
  std::vector<std::size_t> order_;
};

std::string output_name(const Model& model, std::size_t output, std::size_t outputs) {
  if (outputs == 1) return model.classes.size() == 2 ? model.classes.back() : "";
  return output < model.classes.size() ? model.classes[output] : "output " + std::to_string(output + 1);
}

// The kernels that add most, over all samples and outputs.
std::vector<std::size_t> loudest(const std::vector<Matrix>& contributions) {
  Vector sums(at(contributions.front().cols()));
  for (const Matrix& own : contributions) {
    for (Index p = 0; p < own.cols(); ++p)
      for (const double value : own.column(p)) sums[at(p)] += std::abs(value);
  }
  std::vector<std::size_t> order(sums.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t p) { return sums[p]; });
  order.resize(std::min(order.size(), kMostShown));
  return order;
}

Json contributions_json(const Model& model, const ViewedSamples& view, const SampleOrder& order) {
  Json maps = Json::array();
  const std::vector<Matrix>& all = view.predictions.contributions;
  const std::vector<std::size_t> drawn = order.some(kMostDrawn);
  if (all.empty() || all.front().cols() == 0 || drawn.empty()) return maps;
  const std::vector<std::size_t> kernels = loudest(all);
  for (std::size_t m = 0; m < std::min(all.size(), kMostOutputs); ++m) {
    Json map = {{"output", output_name(model, m, all.size())}, {"all_kernels", all[m].cols()}};
    map["kernels"] = Json::array();
    for (const std::size_t p : kernels) map["kernels"].push_back(model.kernel_names[p]);
    map["classes"] = order.codes().empty() ? std::vector<std::string>{} : model.classes;
    map["sample_classes"] = Json::array();
    map["order"] = Json::array();
    map["samples"] = Json::array();
    for (const std::size_t i : drawn) {
      map["order"].push_back(map["order"].size());
      if (!order.codes().empty()) map["sample_classes"].push_back(order.codes()[i]);
      Json row = Json::array();
      for (const std::size_t p : kernels)
        row.push_back(rounded(all[m](static_cast<Index>(i), static_cast<Index>(p))));
      map["samples"].push_back(std::move(row));
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

// The kernels that spoke most about a sample.
Json spoke_json(const Model& model, const Matrix& own, Index sample) {
  std::vector<std::size_t> order(at(own.cols()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t p) { return std::abs(own(sample, static_cast<Index>(p))); };
  const std::size_t count = std::min(kMostNamed, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), std::ranges::greater{},
                            size);
  Json spoke = Json::array();
  for (std::size_t k = 0; k < count && size(order[k]) > 0.0; ++k)
    spoke.push_back({{"kernel", model.kernel_names[order[k]]},
                     {"contribution", rounded(own(sample, static_cast<Index>(order[k])))}});
  return spoke;
}

Json sample_json(const Model& model, const ViewedSamples& view, std::size_t i) {
  const Predictions& p = view.predictions;
  const auto row = static_cast<Index>(i);
  const Index column = SampleOrder::column(p, i);
  Json json = {{"sample", view.ids.empty() ? std::to_string(i + 1) : view.ids[i]}};
  const bool coded = models::has_codes(model.task);
  if (coded && view.targets && view.targets->codes[i] != Targets::unlabelled)
    json["true"] = model.classes[static_cast<std::size_t>(view.targets->codes[i])];
  if (model.task == Task::regression && view.targets) json["true"] = view.targets->values(row, 0);
  if (coded && !p.codes.empty()) json["predicted"] = model.classes[static_cast<std::size_t>(p.codes[i])];
  if (coded && !p.probabilities.empty()) json["probability"] = rounded(p.probabilities(row, p.codes[i]));
  json["score"] = rounded(p.scores(row, column));
  if (!p.deviation.empty()) json["deviation"] = rounded(p.deviation(row, column));
  if (column < std::ssize(p.contributions))
    json["spoke"] = spoke_json(model, p.contributions[static_cast<std::size_t>(column)], row);
  return json;
}

Json viewed_json(const Model& model, const ViewedSamples& view) {
  const SampleOrder order(model, view);
  Json json = {{"source", view.source}, {"seen", view.seen}, {"count", view.predictions.scores.rows()}};
  json["list"] = Json::array();
  for (std::size_t i = 0; i < std::min(kMostListed, at(view.predictions.scores.rows())); ++i)
    json["list"].push_back(sample_json(model, view, i));
  json["contributions"] = contributions_json(model, view, order);
  if (!view.targets) return json;
  std::vector<Index> all(at(view.predictions.scores.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  report::HeldOut labelled;
  report::add_samples(labelled, view.predictions, *view.targets, all);
  json["method"] = model.method;
  report::add_held_out(json, labelled, *view.targets);
  return json;
}

}  // namespace

std::string to_json(const Model& model, const ViewedSamples* samples, const RunFacts& facts) {
  Json json = report::facts_json(facts);
  json["data"] = model_data(model, facts);
  report::add_decisions(json["data"], model);
  json["methods"] = Json::array();
  json["model"] = report::model_json(model, model.report_json);
  if (samples != nullptr) {
    json["viewed"] = viewed_json(model, *samples);
    if (samples->judged) {
      Json judged = Json::parse(to_json(*samples->judged));
      judged["name"] = samples->source;
      json["viewed"]["evaluation"] = std::move(judged);
    }
  }
  return report::json_text(json);
}

}  // namespace kloom
