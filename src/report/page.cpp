// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/container_json.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/page.h"
#include "report/figures.h"
#include "report/page_style.h"
#include "report/svg.h"

namespace kloom {
namespace {

using report::escaped;
using report::Json;
using report::short_number;

// A cell with the number that it sorts by.
std::string cell(const Json& value, const std::string& text) {
  return fmt::format("<td data-value='{}'>{}</td>", value.is_number() ? value.dump() : "", text);
}

std::string number_cell(const Json& value, int digits) {
  return cell(value, value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), digits) : "–");
}

std::string p_cell(const Json& value) {
  if (!value.is_number()) return cell(value, "–");
  const double p = value.get<double>();
  return cell(value, p < 0.001 ? "&lt; 0.001" : fmt::format("{:.3f}", p));
}

std::string heads(const std::vector<std::string>& names) {
  std::string text = "<thead><tr>";
  for (const std::string& name : names)
    text += fmt::format("<th scope='col'><button type='button'>{}</button></th>", escaped(name));
  return text + "</tr></thead>";
}

const Json* find_metric(const Json& method, const std::string& name) {
  for (const Json& metric : method.at("metrics")) {
    if (metric.at("name") == name) return &metric;
  }
  return nullptr;
}

std::string plus_minus_cell(const Json* metric) {
  if (metric == nullptr || !metric->at("mean").is_number()) return cell(nullptr, "–");
  std::string text = fmt::format("{:.4f}", metric->at("mean").get<double>());
  if (metric->at("deviation").is_number())
    text += fmt::format(" ± {:.4f}", metric->at("deviation").get<double>());
  return cell(metric->at("mean"), text);
}

std::string words_of(const Json& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs.items()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string method_table(const Json& report) {
  const auto metric = report.at("metric").get<std::string>();
  std::string text =
      "<div class='table' tabindex='0' role='region' aria-label='Results by method'><table class='sortable'>" +
      heads({"method", metric, "rank", "p (t-test)", "p (Wilcoxon)", "training s", "prediction s",
             "kernels in use", "memory", "most chosen"}) +
      "<tbody>";
  for (std::size_t m = 0; m < report.at("methods").size(); ++m) {
    const Json& method = report.at("methods")[m];
    const auto bytes = method.at("memory_bytes").get<std::size_t>();
    text += fmt::format("<tr{}><td>{}</td>", m == 0 ? " class='best'" : "",
                        escaped(method.at("method").get<std::string>())) +
            plus_minus_cell(find_metric(method, metric)) + number_cell(method.at("rank"), 2) +
            p_cell(method.at("t_test").at("p")) + p_cell(method.at("wilcoxon").at("p")) +
            number_cell(method.at("seconds").at("training"), 2) +
            number_cell(method.at("seconds").at("prediction"), 3) +
            cell(method.at("kernels_used"),
                 fmt::format("{} of {}", short_number(method.at("kernels_used").get<double>()),
                             short_number(method.at("kernels").get<double>()))) +
            cell(method.at("memory_bytes"), format_bytes(bytes)) +
            fmt::format("<td>{}</td></tr>", escaped(words_of(method.at("chosen"))));
  }
  return text + "</tbody></table></div>";
}

// Every metric of every method.
std::string metric_table(const Json& report) {
  const Json& methods = report.at("methods");
  std::vector<std::string> names;
  for (const Json& metric : methods.front().at("metrics"))
    names.push_back(metric.at("name").get<std::string>());
  std::vector<std::string> columns{"method"};
  columns.insert(columns.end(), names.begin(), names.end());
  std::string text =
      "<div class='table' tabindex='0' role='region' aria-label='All metrics'><table class='sortable'>" +
      heads(columns) + "<tbody>";
  for (const Json& method : methods) {
    text += fmt::format("<tr><td>{}</td>", escaped(method.at("method").get<std::string>()));
    for (const std::string& name : names) text += plus_minus_cell(find_metric(method, name));
    text += "</tr>";
  }
  return text + "</tbody></table></div>";
}

std::string left_out_list(const Json& report) {
  if (report.at("left_out").empty()) return "";
  std::string text = "<h2>Left out</h2><ul class='plain'>";
  for (const Json& one : report.at("left_out")) {
    text += fmt::format("<li><strong>{}</strong>: {}</li>", escaped(one.at("method").get<std::string>()),
                        escaped(one.at("why").get<std::string>()));
  }
  return text + "</ul>";
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
}

std::string plural(const Json& count, const std::string& noun) {
  const auto n = count.get<long>();
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string seconds_text(const Json& value) {
  if (!value.is_number() || value.get<double>() <= 0.0) return "";
  const double seconds = value.get<double>();
  return seconds < 180.0 ? fmt::format("{:.0f} s", std::max(1.0, seconds))
                         : fmt::format("{:.1f} min", seconds / 60.0);
}

std::string facts_list(const Json& report) {
  const Json& data = report.at("data");
  std::string text = "<dl class='facts'>" + fact("samples", data.at("samples").dump());
  if (data.at("features").get<long>() > 0) text += fact("features", data.at("features").dump());
  if (!data.at("views").empty()) text += fact("views", fmt::format("{}", data.at("views").size()));
  if (!data.at("classes").empty()) text += fact("classes", fmt::format("{}", data.at("classes").size()));
  if (report.contains("model"))
    text += fact("kernels", fmt::format("{}", report.at("model").at("kernels").size()));
  if (report.contains("splits")) text += fact("held-out parts", report.at("complete_splits").dump());
  if (report.contains("budget_seconds") && !seconds_text(report.at("budget_seconds")).empty()) {
    text += fact("time, of budget",
                 seconds_text(report.at("seconds")) + " of " + seconds_text(report.at("budget_seconds")));
  } else {
    text += fact("time", seconds_text(report.at("seconds")));
  }
  return text + "</dl>";
}

std::string class_sentence(const Json& data) {
  std::string text;
  for (const Json& one : data.at("classes")) {
    if (!one.contains("samples")) return "";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.at("name").get<std::string>(),
                        one.at("samples").get<long>());
  }
  return text.empty() ? "" : "Classes: " + text + ".";
}

std::string title_of(const Json& report) {
  const Json& data = report.at("data");
  const auto target = data.at("target").get<std::string>();
  const std::string about = target.empty() ? data.at("source").get<std::string>() : target;
  const std::string kind = report.at("kind").get<std::string>();
  if (kind == "compare") return fmt::format("Which method for {}?", about);
  if (kind == "cv") return fmt::format("How well can {} be predicted?", about);
  return fmt::format("A model of {}", about);
}

std::string header(const Json& report) {
  const Json& data = report.at("data");
  std::string lead =
      fmt::format("{}: {}", data.at("source").get<std::string>(), plural(data.at("samples"), "sample"));
  if (data.at("features").get<long>() > 0) lead += ", " + plural(data.at("features"), "feature");
  lead += ". " + class_sentence(data);
  return fmt::format("<header><p class='brand'>kloom {}</p><h1>{}</h1><p class='lead'>{}</p></header>\n",
                     escaped(report.at("kind").get<std::string>()), escaped(title_of(report)), escaped(lead));
}

std::string answer(const Json& report) {
  if (!report.contains("recommendation") || report.at("recommendation").get<std::string>().empty()) return "";
  std::string text =
      fmt::format("<section class='answer' aria-label='Recommendation'><h2>{}</h2><p>{}</p></section>\n",
                  escaped(report.at("recommended").get<std::string>()),
                  escaped(report.at("recommendation").get<std::string>()));
  for (const Json& note : report.at("notes"))
    text += fmt::format("<p>{}</p>", escaped(note.get<std::string>()));
  return text;
}

std::string results(const Json& report) {
  if (report.at("methods").empty()) return "";
  std::string text = "<h2>Results</h2>\n" + method_table(report);
  if (report.at("methods").size() > 1) {
    text +=
        "<p class='lead'>Mean ± standard deviation over the held-out parts. p: two-sided tests against the "
        "first method on the same parts, the t-test corrected for overlapping training parts; not adjusted for "
        "the number of methods. Times are of one thread.</p>";
  }
  return text;
}

std::string figures(const Json& json) {
  const std::string methods = report::metric_figure(json) + report::time_figure(json) +
                              report::roc_figure(json) + report::reliability_figure(json) +
                              report::confusion_figure(json) + report::residual_figure(json);
  const std::string model = report::weights_figure(json) + report::groups_figure(json) +
                            report::convergence_figure(json) + report::embedding_figure(json) +
                            report::switches_figure(json) + report::gating_figure(json);
  std::string text;
  if (!methods.empty()) text += "<h2>Pictures</h2><div class='figures'>\n" + methods + "</div>";
  if (!model.empty()) text += "<h2>The model of all samples</h2><div class='figures'>\n" + model + "</div>";
  return text;
}

std::string certificate(const Json& report) {
  if (!report.contains("model")) return "";
  const Json& inside = report.at("model").at("report");
  std::string text;
  const auto verdict = inside.at("certificate").at("verdict").get<std::string>();
  if (!verdict.empty()) {
    text += fmt::format("<h2>Certificate</h2><p>{}</p>", escaped(verdict));
    if (!inside.at("certificate").at("items").empty()) text += "<ul class='plain'>";
    for (const Json& item : inside.at("certificate").at("items")) {
      text += fmt::format("<li>{}: {} ({})</li>", escaped(item.at("name").get<std::string>()),
                          item.at("value").is_number() ? short_number(item.at("value").get<double>()) : "–",
                          escaped(item.at("meaning").get<std::string>()));
    }
    if (!inside.at("certificate").at("items").empty()) text += "</ul>";
  }
  for (const Json& evaluation : inside.at("evaluations")) {
    text += fmt::format("<h2>On {}</h2><div class='table'><table><tbody>",
                        escaped(evaluation.at("name").get<std::string>()));
    for (const auto& [name, value] : evaluation.at("values").items())
      text += fmt::format("<tr><td>{}</td>", escaped(name)) + number_cell(value, 4) + "</tr>";
    text += "</tbody></table></div>";
  }
  return text;
}

// What was made of every column; those about which there is nothing to say are counted.
std::string columns_of(const Json& report) {
  const Json& data = report.at("data");
  if (!data.contains("columns") || data.at("columns").empty()) return "";
  constexpr std::size_t few = 40;
  std::size_t plain = 0;
  std::string rows;
  for (const Json& column : data.at("columns")) {
    const auto reason = column.at("reason").get<std::string>();
    if (reason.empty() && data.at("columns").size() > few) {
      ++plain;
      continue;
    }
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                        escaped(column.at("name").get<std::string>()),
                        escaped(column.at("kind").get<std::string>()),
                        escaped(column.at("treatment").get<std::string>()), escaped(reason));
  }
  std::string text = "<h2>Columns</h2>";
  if (!rows.empty())
    text += "<div class='table' tabindex='0' role='region' aria-label='Columns'><table class='sortable'>" +
            heads({"column", "is", "becomes", "because"}) + "<tbody>" + rows + "</tbody></table></div>";
  if (plain > 0) text += fmt::format("<p>{} {}columns are numbers.</p>", plain, rows.empty() ? "" : "other ");
  return text;
}

std::string how(const Json& report) {
  const Json& data = report.at("data");
  std::string text = "<h2>How this was made</h2><ul class='plain'>";
  const auto item = [&](const std::string& words) { text += "<li>" + escaped(words) + "</li>"; };
  item("Kernels: " + data.at("kernels").get<std::string>());
  for (const Json& reason : data.value("kernels_chosen", Json::array())) item(reason.get<std::string>());
  if (report.contains("splits")) {
    item(
        "Standardisation, widths, normalisation, choice of options and training saw the training part of each "
        "split only; the held-out part was only predicted.");
  }
  for (const Json& method : report.at("methods")) {
    if (!method.at("grid").empty())
      item(fmt::format("{}: chosen from {} by {} folds of the training part",
                       method.at("method").get<std::string>(), words_of(method.at("grid")),
                       report.at("inner_folds").get<long>()));
  }
  item(fmt::format("kloom {} on {}, {} threads, seed {}", report.at("version").get<std::string>(),
                   report.at("machine").at("processor").get<std::string>(), report.at("threads").dump(),
                   report.at("seed").dump()));
  text += "</ul><p>To make it again:</p><pre><code>" + escaped(report.at("command").get<std::string>()) +
          "</code></pre>";
  return text +
         "<p class='screen'>All numbers of this page are inside it: <a id='download' href='#report-data' "
         "download='report.json'>download as JSON</a>.</p>";
}

// "<" would end the element that holds the data; JSON has another way to write it.
std::string embedded(const Json& report) {
  std::string text = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string page_of(const Json& report) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
      "<meta http-equiv='Content-Security-Policy' content=\"{}\">"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>"
      "<meta name='color-scheme' content='light dark'><link rel='icon' href='data:,'>"
      "<title>{}</title><style>{}</style></head>\n<body>\n",
      report::content_security_policy(), escaped(title_of(report)), report::kStyle);
  text += header(report) + "<main>\n" + answer(report) + facts_list(report) + results(report) + figures(report);
  if (!report.at("methods").empty())
    text += "<h2>All metrics</h2>" + metric_table(report) + left_out_list(report);
  text += certificate(report) + columns_of(report) + how(report) +
          "</main>\n<footer>Made by kloom. Nothing on this page leaves your machine.</footer>\n";
  text += "<script type='application/json' id='report-data'>" + embedded(report) + "</script>\n";
  return text + "<script>" + report::kScript + "</script>\n</body></html>\n";
}

}  // namespace

std::string report_page(const std::string& json) {
  try {
    data::require_flat_json(json);
    const Json report = Json::parse(json);
    if (report.at("kloom_report") != 1) throw InvalidArgument("not a report of this version of kloom");
    return page_of(report);
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(fmt::format("not a report of kloom: {}", error.what()));
  }
}

}  // namespace kloom
