// SPDX-License-Identifier: BSD-3-Clause
//
// Ctrl-C: the first one asks the running work to stop at its next step, the second one ends the program.
#pragma once

namespace kloom::cli {

// `message`: tell so on the terminal.
void watch_for_interrupt(bool message);
[[nodiscard]] bool interrupted();
// Throws kloom::Interrupted if Ctrl-C was pressed: for places where nothing is worth keeping yet.
void stop_if_interrupted();

}  // namespace kloom::cli
