// SPDX-License-Identifier: BSD-3-Clause
//
// The constants of one column, and what every part of preprocessing says about a column.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kloom/dataset.h"

namespace kloom::data {

// "column 'age' of view 'clinical'".
[[nodiscard]] std::string column_name(const Feature& feature);
[[nodiscard]] std::string source_of(const Dataset& data);

void refuse_infinite(const Dataset& data, const Feature& feature, std::span<const double> values);
void refuse_missing(const Dataset& data, const Feature& feature, std::span<const double> values);

// Settles fill, centre and scale of one column from its training values. Throws InvalidArgument for infinite
// values, for missing ones that must not be filled, and where there is no value at all.
void fit_column(Preprocessing::Column& column, const Dataset& data, std::span<const double> raw,
                const PreprocessingOptions& options);

// 1 where the text is `category`, NaN where it is missing, else 0.
[[nodiscard]] Vector indicator(const std::vector<std::string>& texts, const std::string& category);
// How the numbers of a column are written: with marks of thousands or a unit, where all of its values agree on that.
[[nodiscard]] NumberFormat number_format(const std::vector<std::string>& texts);
// The number that a text holds, also with a decimal comma; nothing for other texts and missing ones.
[[nodiscard]] std::optional<double> number_in(std::string_view text, const NumberFormat& format = {});
// NaN where a text is no number.
[[nodiscard]] Vector numbers_in(const std::vector<std::string>& texts, const NumberFormat& format);
// Number of each text among the (sorted) categories, from 1; 0 where it is missing, -1 where it is none of them.
[[nodiscard]] Vector codes_of(const std::vector<std::string>& texts,
                              const std::vector<std::string>& categories);

// Ranks: distinct training values, each followed by the normal score of its mean rank; many values are thinned
// out, the first and the last stay.
[[nodiscard]] Vector rank_knots(std::span<const double> values);
// The score of a value: between knots a straight line, beyond them the score of the first or last.
[[nodiscard]] double rank_score(const Vector& knots, double value);

}  // namespace kloom::data
