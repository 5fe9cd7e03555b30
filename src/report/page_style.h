// SPDX-License-Identifier: BSD-3-Clause
//
// The style sheet and the script of the report. Colours keep a contrast of 4.5 to 1 against their ground for
// text and 3 to 1 for marks, in light and in dark.
#pragma once

#include <string>

namespace kloom::report {

extern const char* const kStyle;
// Sorts tables by their columns and hands out the data. The page is whole without it.
extern const char* const kScript;
// For the page's head: nothing is loaded from anywhere, and of scripts and styles only the two above are obeyed, known by
// their hashes. Whoever changes one of them has to change its hash (tests/cli/test_hostile_input.py says to what).
[[nodiscard]] std::string content_security_policy();

}  // namespace kloom::report
