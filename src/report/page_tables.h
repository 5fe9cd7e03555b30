// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of the report, each made from a part of its JSON: sortable, and without the columns in which nothing would
// stand. A table without rows is an empty string.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/figures.h"

namespace kloom::report {

// "C = 10, folds = 3"
[[nodiscard]] std::string words_of(const Json& pairs);

[[nodiscard]] std::string method_table(const Json& report);
[[nodiscard]] std::string metric_table(const Json& report);          // every metric of every method
[[nodiscard]] std::string weights_side_by_side(const Json& report);  // kernels × methods
[[nodiscard]] std::string kernel_table(const Json& report);          // of one model
[[nodiscard]] std::string method_numbers(const Json& report);        // its own tables: path, rounds, …
[[nodiscard]] std::string sample_table(const Json& report);       // what is predicted, and which kernels spoke
[[nodiscard]] std::string evaluation_tables(const Json& report);  // metrics of one model
// What was made of every column; those about which there is nothing to say are counted.
[[nodiscard]] std::string column_table(const Json& report);

}  // namespace kloom::report
