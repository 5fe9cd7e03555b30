// SPDX-License-Identifier: BSD-3-Clause
//
// What every figure has around it: heading, sentence, drawing, and where its numbers are in the JSON.
#pragma once

#include <string>

#include "report/svg.h"

namespace kloom::report {

struct FigureText {
  std::string id;
  std::string title;
  std::string says;    // what is drawn, in a sentence
  std::string source;  // JSON pointer into the embedded report
};

// `below`: HTML that comes last.
[[nodiscard]] std::string framed(const FigureText& text, const Svg& svg, const std::string& legend = "",
                                 const std::string& below = "");
// One entry of a legend: a coloured square and words.
[[nodiscard]] std::string legend_entry(std::size_t colour, const std::string& words);
// "s1" … "s8".
[[nodiscard]] std::string colour(std::size_t index);

}  // namespace kloom::report
