// SPDX-License-Identifier: BSD-3-Clause
#include "report/page_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "kloom/machine.h"
#include "report/kernel_label.h"
#include "report/svg.h"

namespace kloom::report {
namespace {

constexpr std::size_t kMostSideBySide = 30;
constexpr std::size_t kMostListedKernels = 200;
constexpr std::size_t kMostNumbers = 100;  // rows of a method's own table

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

// How a cell of words begins, which are aligned at their left.
constexpr std::string_view kWordsCell = "<td class='words'>";

// A table of cells that are HTML already. Columns in which nothing stands are left out.
class HtmlTable {
 public:
  HtmlTable(std::string label, std::vector<std::string> names)
      : label_(std::move(label)), names_(std::move(names)) {}

  // `classes`: of the row; a cell without content is "<td></td>" or the dash of an unknown number.
  void add(std::vector<std::string> cells, const std::string& classes = "") {
    rows_.emplace_back(std::move(cells), classes);
  }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  [[nodiscard]] std::string str() const {
    std::string text = fmt::format(
        "<div class='table' tabindex='0' role='region' aria-label='{}'><table class='sortable'><thead><tr>",
        escaped(label_));
    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (c == 0 || std::ranges::any_of(rows_, [&](const auto& row) { return says(row.first[c]); }))
        shown.push_back(c);
    }
    for (const std::size_t c : shown) {
      const bool words = !rows_.empty() && rows_.front().first[c].starts_with(kWordsCell);
      text += fmt::format("<th scope='col'{}><button type='button'>{}</button></th>",
                          words ? " class='words'" : "", escaped(names_[c]));
    }
    text += "</tr></thead><tbody>";
    for (const auto& [cells, classes] : rows_) {
      text += classes.empty() ? "<tr>" : fmt::format("<tr class='{}'>", classes);
      for (const std::size_t c : shown) text += cells[c];
      text += "</tr>";
    }
    return text + "</tbody></table></div>";
  }

 private:
  static bool says(const std::string& cell) { return !cell.ends_with("></td>") && !cell.ends_with(">–</td>"); }

  std::string label_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::vector<std::string>, std::string>> rows_;
};

std::string text_cell(const std::string& words) {
  return fmt::format("<td>{}</td>", escaped(words));
}
std::string words_cell(const std::string& words) {
  return fmt::format("{}{}</td>", kWordsCell, escaped(words));
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

std::string short_cell(const Json& value) {
  return cell(value, value.is_number() ? short_number(value.get<double>()) : "–");
}

// Of a sample: a name, a number, or nothing.
std::string value_cell(const Json& sample, const char* key) {
  const Json value = sample.value(key, Json());
  return value.is_string() ? text_cell(value.get<std::string>()) : short_cell(value);
}

// In per cent, on a ground that is the darker the more it is.
std::string share_cell(double share) {
  constexpr double kShades = 10.0;
  const int shade = static_cast<int>(std::ceil(kShades * std::min(1.0, std::abs(share)) - 1e-9));
  return fmt::format("<td data-value='{}' class='shade{}'>{}</td>", share, std::abs(share) < 5e-4 ? 0 : shade,
                     std::abs(share) < 5e-4 ? "0" : fmt::format("{:.1f}", 100.0 * share));
}

}  // namespace

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
  HtmlTable table("Results by method", {"method", metric, "rank", "p (t-test)", "p (Wilcoxon)", "training s",
                                        "prediction s", "kernels in use", "memory", "most chosen"});
  for (std::size_t m = 0; m < report.at("methods").size(); ++m) {
    const Json& method = report.at("methods")[m];
    const auto bytes = method.at("memory_bytes").get<std::size_t>();
    table.add({text_cell(method.at("method").get<std::string>()), plus_minus_cell(find_metric(method, metric)),
               number_cell(method.at("rank"), 2), p_cell(method.at("t_test").at("p")),
               p_cell(method.at("wilcoxon").at("p")), number_cell(method.at("seconds").at("training"), 2),
               number_cell(method.at("seconds").at("prediction"), 3),
               cell(method.at("kernels_used"),
                    fmt::format("{} of {}", short_number(method.at("kernels_used").get<double>()),
                                short_number(method.at("kernels").get<double>()))),
               cell(method.at("memory_bytes"), format_bytes(bytes)), text_cell(words_of(method.at("chosen")))},
              m == 0 ? "best" : "");
  }
  return table.str();
}

std::string metric_table(const Json& report) {
  const Json& methods = report.at("methods");
  std::vector<std::string> columns{"method"};
  for (const Json& metric : methods.front().at("metrics"))
    columns.push_back(metric.at("name").get<std::string>());
  HtmlTable table("All metrics", columns);
  for (const Json& method : methods) {
    std::vector<std::string> cells{text_cell(method.at("method").get<std::string>())};
    for (std::size_t c = 1; c < columns.size(); ++c)
      cells.push_back(plus_minus_cell(find_metric(method, columns[c])));
    table.add(std::move(cells));
  }
  return table.str();
}

// Shares of the sum of absolute weights on the first split: weights of one method cannot be compared with another's, but
// shares can.
std::string weights_side_by_side(const Json& report) {
  struct Shares {
    std::string method;
    std::map<std::string, double> of;
  };
  std::vector<Shares> methods;
  std::vector<std::string> kernels;  // in the order of the methods that have them
  std::map<std::string, double> largest;
  for (const Json& method : report.at("methods")) {
    if (!method.contains("first_split")) continue;
    const auto names = method.at("first_split").at("kernels").get<std::vector<std::string>>();
    const auto weights = method.at("first_split").at("weights").get<std::vector<double>>();
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    if (!(total > 0.0) || names.size() != weights.size()) continue;
    Shares own{method.at("method").get<std::string>(), {}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!largest.contains(names[k])) kernels.push_back(names[k]);
      own.of[names[k]] += weights[k] / total;
      largest[names[k]] = std::max(largest[names[k]], std::abs(own.of[names[k]]));
    }
    methods.push_back(std::move(own));
  }
  if (methods.size() < 2 || kernels.size() < 2) return "";
  std::ranges::stable_sort(kernels, std::ranges::greater{}, [&](const std::string& k) { return largest[k]; });
  std::vector<std::string> columns{"kernel"};
  for (const Shares& own : methods) columns.push_back(own.method);
  HtmlTable table("Kernel weights by method", columns);
  const std::size_t shown = std::min(kMostSideBySide, kernels.size());
  for (std::size_t k = 0; k < shown; ++k) {
    std::vector<std::string> cells{text_cell(kernel_label(kernels[k], 40))};
    for (const Shares& own : methods) {
      const auto share = own.of.find(kernels[k]);
      cells.push_back(share == own.of.end() ? cell(nullptr, "–") : share_cell(share->second));
    }
    table.add(std::move(cells));
  }
  return "<h2>Which kernels each method uses</h2>" + table.str() +
         fmt::format(
             "<p class='lead'>Weights on the first split, in per cent of the sum of their absolute values; "
             "darker is more.{}</p>",
             shown < kernels.size()
                 ? fmt::format(" The {} of {} kernels of which some method makes most.", shown, kernels.size())
                 : "");
}

// Every kernel of one model, with its deviation, or with what each class makes of it.
std::string kernel_table(const Json& report) {
  if (report.at("kind") == "compare" || report.at("kind") == "cv" || !report.contains("model")) return "";
  const Json& model = report.at("model");
  std::vector<const Json*> kernels;
  for (const Json& kernel : model.at("kernels")) kernels.push_back(&kernel);
  if (kernels.empty()) return "";
  const auto size = [](const Json* kernel) {
    return kernel->at("weight").is_number() ? std::abs(kernel->at("weight").get<double>()) : 0.0;
  };
  std::ranges::stable_sort(kernels, std::ranges::greater{}, size);
  const std::size_t shown = std::min(kMostListedKernels, kernels.size());
  const bool by_class = kernels.front()->contains("by_class");
  const auto classes = model.at("classes").get<std::vector<std::string>>();
  std::vector<std::string> columns{"kernel", by_class ? "mean weight" : "weight", "standard deviation"};
  for (std::size_t c = 0; by_class && c < kernels.front()->at("by_class").size(); ++c)
    columns.push_back(c < classes.size() ? classes[c] : fmt::format("output {}", c + 1));
  HtmlTable table("Kernels", columns);
  for (std::size_t k = 0; k < shown; ++k) {
    std::vector<std::string> cells{text_cell(kernels[k]->at("name").get<std::string>()),
                                   short_cell(kernels[k]->at("weight")),
                                   short_cell(kernels[k]->value("deviation", Json()))};
    for (std::size_t c = 3; c < columns.size(); ++c)
      cells.push_back(short_cell(kernels[k]->at("by_class").at(c - 3)));
    table.add(std::move(cells));
  }
  std::string text = "<h2>Kernels</h2>" + table.str();
  if (shown < kernels.size())
    text += fmt::format("<p class='lead'>The {} largest of {}; the others are in the page's data.</p>", shown,
                        kernels.size());
  return text;
}

// What the method itself counted: its path over C, its rounds, its temperature.
std::string method_numbers(const Json& report) {
  if (report.at("kind") == "compare" || report.at("kind") == "cv" || !report.contains("model")) return "";
  std::string text;
  for (const Json& numbers : report.at("model").at("report").at("tables")) {
    const auto columns = numbers.at("columns").get<std::vector<std::string>>();
    const auto title = numbers.at("title").get<std::string>();
    HtmlTable table(title, columns);
    const std::size_t shown = std::min(kMostNumbers, numbers.at("rows").size());
    for (std::size_t r = 0; r < shown; ++r) {
      std::vector<std::string> cells;
      for (std::size_t c = 0; c < columns.size(); ++c) cells.push_back(short_cell(numbers.at("rows")[r].at(c)));
      table.add(std::move(cells));
    }
    if (table.empty() || columns.empty()) continue;
    text += fmt::format("<details><summary>{}</summary>{}", escaped(title), table.str());
    if (shown < numbers.at("rows").size())
      text += fmt::format("<p class='lead'>The first {} of {} rows.</p>", shown, numbers.at("rows").size());
    text += "</details>";
  }
  return text.empty() ? "" : "<h2>What the method counted</h2>" + text;
}

std::string evaluation_tables(const Json& report) {
  if (!report.contains("model")) return "";
  std::vector<const Json*> evaluations;
  for (const Json& one : report.at("model").at("report").at("evaluations")) evaluations.push_back(&one);
  if (report.contains("viewed") && report.at("viewed").contains("evaluation"))
    evaluations.push_back(&report.at("viewed").at("evaluation"));
  if (evaluations.empty()) return "";
  std::vector<std::string> columns{"samples"};
  for (const Json* one : evaluations) {
    for (const auto& [name, value] : one->at("values").items()) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
    }
  }
  HtmlTable table("Evaluations", columns);
  for (const Json* one : evaluations) {
    std::vector<std::string> cells{text_cell(one->at("name").get<std::string>())};
    for (std::size_t c = 1; c < columns.size(); ++c)
      cells.push_back(number_cell(one->at("values").value(columns[c], Json()), 4));
    table.add(std::move(cells));
  }
  return "<h2>How well it predicts</h2>" + table.str();
}

// Sample by sample: what is predicted, and the kernels that spoke most.
std::string sample_table(const Json& report) {
  if (!report.contains("viewed")) return "";
  const Json& viewed = report.at("viewed");
  HtmlTable table("Samples",
                  {"sample", "true", "predicted", "probability", "score", "standard deviation", "spoke most"});
  for (const Json& sample : viewed.at("list")) {
    std::string spoke;
    for (const Json& one : sample.value("spoke", Json::array())) {
      const auto added = one.at("contribution").get<double>();
      spoke += fmt::format("{}{} {}{}", spoke.empty() ? "" : "; ", one.at("kernel").get<std::string>(),
                           added > 0.0 ? "+" : "", short_number(added));
    }
    const bool wrong =
        sample.contains("true") && sample.contains("predicted") && sample.at("true") != sample.at("predicted");
    table.add({text_cell(sample.at("sample").get<std::string>()), value_cell(sample, "true"),
               value_cell(sample, "predicted"), value_cell(sample, "probability"), value_cell(sample, "score"),
               value_cell(sample, "deviation"), words_cell(spoke)},
              wrong ? "wrong" : "");
  }
  if (table.empty()) return "";
  const auto count = viewed.at("count").get<std::size_t>();
  std::string text = fmt::format("<h2>Sample by sample</h2><p class='lead'>{}{}{}</p>",
                                 escaped(capitalised(viewed.at("source").get<std::string>())),
                                 viewed.at("list").size() < count
                                     ? fmt::format(", the first {} of {}. ", viewed.at("list").size(), count)
                                     : ". ",
                                 "A score is the sum of what the kernels add, plus a constant.");
  return text + table.str();
}

// What was made of every column; those about which there is nothing to say are counted.
std::string column_table(const Json& report) {
  const Json& data = report.at("data");
  if (!data.contains("columns") || data.at("columns").empty()) return "";
  constexpr std::size_t few = 40;
  std::size_t plain = 0;
  HtmlTable table("Columns", {"column", "is", "becomes", "because"});
  for (const Json& column : data.at("columns")) {
    const auto reason = column.at("reason").get<std::string>();
    if (reason.empty() && data.at("columns").size() > few) {
      ++plain;
      continue;
    }
    table.add({text_cell(column.at("name").get<std::string>()), text_cell(column.at("kind").get<std::string>()),
               text_cell(column.at("treatment").get<std::string>()), text_cell(reason)});
  }
  std::string text = "<h2>Columns</h2>";
  if (!table.empty()) text += table.str();
  if (plain > 0) text += fmt::format("<p>{} {}columns are numbers.</p>", plain, table.empty() ? "" : "other ");
  return text;
}

}  // namespace kloom::report
