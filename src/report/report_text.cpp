// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "kloom/machine.h"
#include "kloom/report.h"
#include "kloom/words.h"
#include "report/sample_maps.h"

namespace kloom {
namespace {

constexpr std::size_t kReportWidth = 100;

std::string seconds_text(const Report& report) {
  double total = 0.0;
  std::string stages;
  for (const auto& [stage, seconds] : report.seconds) {
    total += seconds;
    stages += fmt::format("{}{} {:.2f} s", stages.empty() ? "" : ", ", stage, seconds);
  }
  return report.seconds.size() > 1 ? fmt::format("{:.2f} s ({})", total, stages)
                                   : fmt::format("{:.2f} s", total);
}

std::string joined(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string confusion_text(const Evaluation& evaluation) {
  std::size_t name_width = 5;
  std::size_t count_width = 1;
  for (const auto& name : evaluation.classes) name_width = std::max(name_width, width_of(name));
  for (const auto& row : evaluation.confusion) {
    for (const Index count : row) count_width = std::max(count_width, fmt::format("{}", count).size());
  }
  std::string text = "  confusion (rows: true class, columns: predicted class, in the same order)\n";
  for (std::size_t c = 0; c < evaluation.confusion.size(); ++c) {
    text += "    " + padded(evaluation.classes[c], name_width);
    for (const Index count : evaluation.confusion[c]) text += fmt::format("  {:>{}}", count, count_width);
    text += "\n";
  }
  return text;
}

std::string table_text(const Report::Table& table) {
  std::string text = table.title + "\n ";
  for (const auto& column : table.columns) text += fmt::format(" {:>14}", column);
  text += "\n";
  for (const auto& row : table.rows) {
    text += " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += fmt::format(" {:>{}.6g}", row[c], std::max<std::size_t>(14, width_of(table.columns[c])));
    }
    text += "\n";
  }
  return text;
}

// How often each kernel is used by each class, and the most frequent patterns of switches.
std::string map_text(const Report::SampleMap& map) {
  constexpr Index kMostKernels = 20;
  constexpr std::size_t kMostPatterns = 8;
  const bool switches = map.kind == Report::SampleMap::Kind::switches;
  std::string text = switches ? "share of samples with the kernel on" : "mean gate";
  if (!map.output.empty()) text += fmt::format(", output '{}'", map.output);
  const Matrix means = report::class_means(map);
  text += "\n ";
  std::size_t width = 0;
  for (const auto& kernel : map.kernels) width = std::max(width, width_of(kernel));
  text += " " + padded("", width) + fmt::format("  {:>8}", "weight");
  for (const auto& name : map.classes) text += fmt::format("  {:>8}", name);
  text += "\n";
  for (Index p = 0; p < std::min(kMostKernels, means.cols()); ++p) {
    text += "  " + padded(map.kernels[static_cast<std::size_t>(p)], width) +
            fmt::format("  {:>8.3g}", map.weights[static_cast<std::size_t>(p)]);
    for (Index c = 0; c < means.rows(); ++c) text += fmt::format("  {:>8.3f}", means(c, p));
    text += "\n";
  }
  if (means.cols() > kMostKernels) text += fmt::format("  and {} more kernels\n", means.cols() - kMostKernels);
  if (!switches) return text;
  const auto counts = report::pattern_counts(map);
  text += fmt::format("patterns of switches: {} (1 on, 0 off, - off without weight)\n", counts.size());
  for (std::size_t k = 0; k < std::min(kMostPatterns, counts.size()); ++k) {
    text += fmt::format("  {}  {}\n", counts[k].pattern, counts[k].samples);
  }
  return text;
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration limit";
    case Status::stopped:
      return "stopped";
    case Status::numerical_trouble:
      return "numerical trouble";
  }
  return "unknown";
}

std::string_view to_string(Certificate::Finding finding) {
  switch (finding) {
    case Certificate::Finding::checked:
      return "checked";
    case Certificate::Finding::proved:
      return "proved";
    case Certificate::Finding::refuted:
      return "refuted";
  }
  return "unknown";
}

std::string to_text(const Certificate& certificate) {
  if (certificate.verdict.empty() && certificate.items.empty()) return "certificate: none\n";
  const std::string title = fmt::format(
      "certificate ({}{}): ", to_string(certificate.finding),
      certificate.finding == Certificate::Finding::checked ? ", which is not a proof" : "");
  std::string text = "  " + wrap(title + certificate.verdict, kReportWidth, 2) + "\n";
  text.erase(0, 2);  // the first line is not indented
  std::size_t width = 0;
  for (const auto& item : certificate.items) width = std::max(width, width_of(item.name));
  for (const auto& item : certificate.items) {
    text += fmt::format("  {}  {:<13.6g} {}\n", padded(item.name, width), item.value, item.meaning);
  }
  // The first one is in the verdict.
  for (std::size_t k = 1; k < certificate.refutations.size(); ++k)
    text += "  " + wrap("also: " + certificate.refutations[k], kReportWidth, 4) + "\n";
  return text;
}

std::string to_text(const Evaluation& evaluation) {
  std::string text = fmt::format("evaluation{}{}: {} samples\n", evaluation.name.empty() ? "" : " on ",
                                 evaluation.name, evaluation.samples);
  std::size_t width = 0;
  for (const auto& [name, value] : evaluation.values) width = std::max(width, width_of(name));
  for (const auto& [name, value] : evaluation.values)
    text += fmt::format("  {}  {:.6g}\n", padded(name, width), value);
  // A table of hundreds of classes helps nobody; the JSON report has it.
  constexpr std::size_t kMostClasses = 12;
  if (!evaluation.confusion.empty() && evaluation.classes.size() <= kMostClasses)
    text += confusion_text(evaluation);
  return text;
}

std::string to_text(const Report& report) {
  std::string text =
      fmt::format("{}: {} after {} iterations", report.method, to_string(report.status), report.iterations);
  if (!report.objective_name.empty())
    text += fmt::format(", {} {:.10g}", report.objective_name, report.objective);
  text += "\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<10} {}\n", name, wrap(value, kReportWidth, 13));
  };
  if (!report.message.empty()) text += "  " + report.message + "\n";
  line("data", fmt::format("{} samples, {} kernels ({} bank), {}", report.samples, report.kernels, report.bank,
                           report.task));
  line("time", seconds_text(report) + fmt::format(", {} threads, seed {}", report.threads, report.seed));
  if (report.memory_bytes > 0) line("memory", format_bytes(report.memory_bytes) + " (estimate)");
  line("options", joined(report.options));
  line("machine", joined(report.environment));
  for (const auto& warning : report.warnings) line("warning", warning);
  for (const auto& table : report.tables) text += table_text(table);
  constexpr std::size_t kMostMaps = 5;
  for (std::size_t k = 0; k < std::min(kMostMaps, report.maps.size()); ++k) text += map_text(report.maps[k]);
  text += to_text(report.certificate);
  for (const auto& evaluation : report.evaluations) text += to_text(evaluation);
  return text;
}

}  // namespace kloom
