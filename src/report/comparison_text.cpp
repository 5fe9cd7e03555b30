// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kloom/machine.h"
#include "kloom/page.h"
#include "kloom/words.h"

namespace kloom {
namespace {

constexpr std::size_t kComparisonWidth = 100;

std::string plus_minus(const MetricSummary* metric) {
  if (metric == nullptr) return "";
  if (std::isnan(metric->deviation)) return fmt::format("{:.4f}", metric->mean);
  return fmt::format("{:.4f} ± {:.4f}", metric->mean, metric->deviation);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "";
  return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], width_of(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(width[c] - width_of(row[c]), ' ');
      text += "  " + (c == 0 ? row[c] + gap : gap + row[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string paragraph(const std::string& text, std::size_t indent) {
  return std::string(indent, ' ') + wrap(text, kComparisonWidth, indent) + "\n";
}

std::string chosen_text(const OptionValues& chosen) {
  std::string text;
  for (const auto& [name, value] : chosen) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

// All metrics of one method.
std::string metric_list(const MethodSummary& method) {
  std::vector<std::vector<std::string>> rows;
  for (const MetricSummary& metric : method.metrics) rows.push_back({metric.name, plus_minus(&metric)});
  return table(rows);
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  const std::string& metric = comparison.request.metric;
  if (comparison.methods.empty()) return "nothing was finished\n";
  std::vector<std::vector<std::string>> rows{
      {"method", metric, "rank", "p (t)", "p (W)", "train s", "predict s", "kernels", "memory", "most chosen"}};
  for (const MethodSummary& method : comparison.methods) {
    rows.push_back({name_of(method.candidate), plus_minus(method.find(metric)),
                    fmt::format("{:.2f}", method.rank), p_text(method.t_p), p_text(method.wilcoxon_p),
                    fmt::format("{:.2f}", method.train_seconds), fmt::format("{:.3f}", method.predict_seconds),
                    fmt::format("{:.0f}/{:.0f}", method.kernels_used, method.kernels),
                    format_bytes(method.memory_bytes), chosen_text(method.chosen)});
  }
  std::string text;
  if (comparison.methods.size() > 1) {
    text += fmt::format("{} splits, best first; p: corrected t-test and Wilcoxon test against the first\n",
                        comparison.complete_splits) +
            table(rows);
  } else {
    text += fmt::format("{}: mean ± deviation over {} splits\n", name_of(comparison.methods.front().candidate),
                        comparison.complete_splits) +
            metric_list(comparison.methods.front()) + table(rows);
  }
  if (!comparison.left_out.empty()) text += "left out\n";
  for (const auto& [method, why] : comparison.left_out)
    text += paragraph(fmt::format("{}: {}", method, why), 2);
  for (const std::string& note : comparison.notes) text += paragraph(note, 0);
  if (!comparison.recommendation.empty()) text += "\n" + paragraph(comparison.recommendation, 0);
  return text;
}

}  // namespace kloom
