// SPDX-License-Identifier: BSD-3-Clause
//
// Ctrl-C and SIGTERM (`kill`, `timeout`, a batch system) ask the running work to stop at its next step. A second
// Ctrl-C ends the program; further SIGTERMs do not, because `timeout` sends two at once and who sends them has
// SIGKILL for that.
#pragma once

namespace kloom::cli {

// `message`: tell so on the terminal.
void watch_for_interrupt(bool message);
[[nodiscard]] bool interrupted();
// What the program ends with after one: 128 + the number of the signal, as shells have it.
[[nodiscard]] int interrupted_code();
// Throws kloom::Interrupted after such a signal: for places where nothing is worth keeping yet.
void stop_if_interrupted();

}  // namespace kloom::cli
