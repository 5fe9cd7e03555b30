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
#include "report/page_tables.h"
#include "report/svg.h"

namespace kloom {
namespace {

using report::escaped;
using report::Json;
using report::short_number;
using report::words_of;

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
  const bool view = report.at("kind") == "view";
  std::string lead =
      fmt::format("{}: {}{}", data.at("source").get<std::string>(),
                  view ? report.at("model").at("method").get<std::string>() + ", learned from " : "",
                  plural(data.at("samples"), "sample"));
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
  std::string text = "<h2>Results</h2>\n" + report::method_table(report);
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
                              report::confusion_figure(json) + report::residual_figure(json) +
                              report::coverage_figure(json) + report::alone_figure(json) +
                              report::absence_figure(json) + report::by_views_figure(json);
  const std::string model = report::weights_figure(json) + report::groups_figure(json) +
                            report::convergence_figure(json) + report::path_figure(json) +
                            report::embedding_figure(json) + report::switches_figure(json) +
                            report::gating_figure(json) + report::contributions_figure(json);
  std::string text;
  if (!methods.empty()) text += "<h2>Pictures</h2><div class='figures'>\n" + methods + "</div>";
  const char* title = json.at("methods").empty() ? "The model" : "The model of all samples";
  if (!model.empty()) text += fmt::format("<h2>{}</h2><div class='figures'>\n", title) + model + "</div>";
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
  return text;
}

std::string warnings(const Json& report) {
  if (!report.contains("model")) return "";
  const Json& all = report.at("model").at("report").at("warnings");
  if (all.empty()) return "";
  std::string text = "<h2>Warnings</h2><ul class='plain'>";
  for (const Json& warning : all) text += "<li>" + escaped(warning.get<std::string>()) + "</li>";
  return text + "</ul>";
}

// A model alone does not know how good it is.
std::string viewed_sentence(const Json& report) {
  if (report.at("kind") != "view") return "";
  const Json viewed = report.value("viewed", Json::object());
  if (!viewed.contains("method")) {
    return "<p>How right its predictions are can be seen on labelled samples: "
           "name a file of them, best one that the model has never seen.</p>";
  }
  return viewed.at("seen") == true
             ? "<p>The model learned from these samples: on others it will not do as well as it does here.</p>"
             : "";
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
  text += header(report) + "<main>\n" + answer(report) + facts_list(report) + viewed_sentence(report) +
          results(report) + figures(report);
  if (!report.at("methods").empty())
    text += report::weights_side_by_side(report) + "<h2>All metrics</h2>" + report::metric_table(report) +
            left_out_list(report);
  text += report::sample_table(report) + report::kernel_table(report) + certificate(report) + warnings(report) +
          report::evaluation_tables(report) + report::method_numbers(report) + report::column_table(report) +
          how(report) + "</main>\n<footer>Made by kloom. Nothing on this page leaves your machine.</footer>\n";
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
