// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace kloom::cli {

// What the program tells the shell. 130 is what shells use for a program ended by Ctrl-C.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsersMistake = 2, kInterrupted = 130 };

}  // namespace kloom::cli
