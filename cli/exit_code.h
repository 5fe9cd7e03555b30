// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace kloom::cli {

// What the program tells the shell. 130 and 143 are what shells use for a program ended by Ctrl-C and SIGTERM.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsersMistake = 2, kInterrupted = 130, kTerminated = 143 };

}  // namespace kloom::cli
