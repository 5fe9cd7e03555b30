// SPDX-License-Identifier: BSD-3-Clause
//
// Predictions as a table with a header, for CSV and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kloom/dataset.h"
#include "kloom/model.h"

namespace kloom::cli {

struct PredictionTable {
  struct Cell {
    bool is_text = false;
    std::string text;
    double number = 0.0;
  };
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;
};

[[nodiscard]] PredictionTable::Cell text_cell(const std::string& text);
[[nodiscard]] PredictionTable::Cell number_cell(double number);

[[nodiscard]] PredictionTable prediction_table(const Model& model, const Predictions& predictions,
                                               const Dataset& data);
[[nodiscard]] std::string to_csv(const PredictionTable& table);
// An object for each row.
[[nodiscard]] nlohmann::ordered_json table_json(const PredictionTable& table);

}  // namespace kloom::cli
