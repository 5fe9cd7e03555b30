// SPDX-License-Identifier: BSD-3-Clause
//
// The style sheet and the script of the report. Colours keep a contrast of 4.5 to 1 against their ground for
// text and 3 to 1 for marks, in light and in dark.
#pragma once

namespace kloom::report {

extern const char* const kStyle;
// Sorts tables by their columns and hands out the data. The page is whole without it.
extern const char* const kScript;

}  // namespace kloom::report
