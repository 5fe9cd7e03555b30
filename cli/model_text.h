// SPDX-License-Identifier: BSD-3-Clause
//
// A model described to people and programs: its kernels by weight, its classes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kloom/model.h"

namespace kloom::cli {

struct KernelWeight {
  std::string name;
  double weight = 0.0;     // shared weight, or the mean over classes or samples
  double deviation = 0.0;  // NaN where the method has none
};

// Largest absolute weight first.
[[nodiscard]] std::vector<KernelWeight> kernels_by_weight(const Model& model);
// A table of the first `most`.
[[nodiscard]] std::string kernel_table(const Model& model, std::size_t most);
// The same by what the kernels look at: a view, a column, all columns; "" where all look at the same.
[[nodiscard]] std::string view_table(const Model& model, std::size_t most);
// "classes benign, malignant; positive class 'malignant'", or "" without classes.
[[nodiscard]] std::string class_sentence(const Model& model);
[[nodiscard]] nlohmann::ordered_json kernels_json(const Model& model);
[[nodiscard]] nlohmann::ordered_json views_json(const Model& model);
// What was decided about columns: all of them for programs, the first for people. Columns about which there is more to say
// than that they are numbers come first.
[[nodiscard]] nlohmann::ordered_json columns_json(const std::vector<ColumnDecision>& decisions);
[[nodiscard]] std::string columns_text(const std::vector<ColumnDecision>& decisions);
// Serialises with everything that is not UTF-8 replaced.
[[nodiscard]] std::string dump(const nlohmann::ordered_json& json);

}  // namespace kloom::cli
