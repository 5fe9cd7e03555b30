// SPDX-License-Identifier: BSD-3-Clause
#include "prediction_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text.h"

namespace kloom::cli {
namespace {

// "score" with one output, "score(CLASS)" with several.
std::string output_column(const std::string& what, const Model& model, Index output, Index outputs) {
  if (outputs == 1) return what;
  const auto o = static_cast<std::size_t>(output);
  const std::vector<std::string> names =
      model.classes.empty() ? split_commas(model.target_name) : model.classes;
  return fmt::format("{}({})", what, o < names.size() ? names[o] : fmt::format("{}", output + 1));
}

// "rna clinical": the views that the sample has.
std::string views_of(const Model& model, const Predictions& predictions, Index sample) {
  const std::vector<ViewBlock>& blocks = model.recipe->preprocessing.blocks();
  std::string names;
  for (Index b = 0; b < predictions.views.cols(); ++b) {
    if (predictions.views(sample, b) == 0.0) continue;
    names += (names.empty() ? "" : " ") + blocks.at(static_cast<std::size_t>(b)).view;
  }
  return names;
}

class TableMaker {
 public:
  TableMaker(const Model& model, Index samples) : model_(model) {
    table_.rows.resize(static_cast<std::size_t>(samples));
  }

  void add_texts(const std::string& name, const auto& text_of) {
    table_.header.push_back(name);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) table_.rows[i].push_back(text_cell(text_of(i)));
  }
  void add_numbers(const std::string& name, const Matrix& values, Index column) {
    table_.header.push_back(name);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      table_.rows[i].push_back(number_cell(values(static_cast<Index>(i), column)));
    }
  }
  void add_outputs(const std::string& what, const Matrix& values) {
    for (Index o = 0; o < values.cols(); ++o)
      add_numbers(output_column(what, model_, o, values.cols()), values, o);
  }
  void add_per_kernel(const std::string& word, const std::vector<Matrix>& parts) {
    for (std::size_t o = 0; o < parts.size(); ++o) {
      for (Index p = 0; p < parts[o].cols(); ++p) {
        const std::string what =
            fmt::format("{}({})", word, model_.kernel_names.at(static_cast<std::size_t>(p)));
        add_numbers(output_column(what, model_, static_cast<Index>(o), std::ssize(parts)), parts[o], p);
      }
    }
  }
  [[nodiscard]] PredictionTable take() { return std::move(table_); }

 private:
  const Model& model_;
  PredictionTable table_;
};

}  // namespace

PredictionTable::Cell text_cell(const std::string& text) {
  return {true, text, 0.0};
}
PredictionTable::Cell number_cell(double number) {
  return {false, "", number};
}

PredictionTable prediction_table(const Model& model, const Predictions& predictions, const Dataset& data) {
  TableMaker maker(model, predictions.scores.rows());
  if (!data.ids.empty()) maker.add_texts("id", [&](std::size_t i) { return data.ids[i]; });
  const bool classes = model.task == Task::binary || model.task == Task::multiclass;
  if (classes) {
    maker.add_texts("label", [&](std::size_t i) {
      return model.classes.at(static_cast<std::size_t>(predictions.codes[i]));
    });
  }
  for (Index c = 0; c < predictions.probabilities.cols(); ++c) {
    maker.add_numbers(fmt::format("p({})", model.classes.at(static_cast<std::size_t>(c))),
                      predictions.probabilities, c);
  }
  maker.add_outputs(classes ? "score" : "prediction", predictions.scores);
  maker.add_outputs("deviation", predictions.deviation);
  // The views that each prediction was made from, where that differs.
  if (!predictions.views.empty()) {
    maker.add_texts("views",
                    [&](std::size_t i) { return views_of(model, predictions, static_cast<Index>(i)); });
  }
  maker.add_per_kernel("contribution", predictions.contributions);
  maker.add_per_kernel("contribution deviation", predictions.contribution_deviations);
  return maker.take();
}

std::string to_csv(const PredictionTable& table) {
  std::string text;
  for (std::size_t c = 0; c < table.header.size(); ++c)
    text.append(c == 0 ? "" : ",").append(csv_cell(table.header[c]));
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += ',';
      text += row[c].is_text ? csv_cell(row[c].text) : csv_number(row[c].number);
    }
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json table_json(const PredictionTable& table) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& cells : table.rows) {
    auto row = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto& cell = cells[c];
      row[table.header[c]] =
          cell.is_text ? nlohmann::ordered_json(cell.text) : nlohmann::ordered_json(cell.number);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kloom::cli
