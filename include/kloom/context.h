// SPDX-License-Identifier: BSD-3-Clause
//
// Where and how a computation runs. A Context is passed to everything that takes time; there are no
// globals. A default-constructed Context is silent, uses every core, may use most of the free memory and
// has a fixed seed, so two runs of the same program give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kloom {

enum class LogLevel { debug, info, warning };

// What a long computation tells its caller between two steps.
struct Progress {
  std::string_view stage;    // "kernels", "bemkl", ...
  std::ptrdiff_t step = 0;   // steps done
  std::ptrdiff_t steps = 0;  // steps planned, 0 if unknown
  double objective = 0.0;    // objective, gap or bound; NaN if the stage has none
  double seconds = 0.0;      // since the stage began
};

// The answer of the callback. `stop`: finish at once with what is there (status "stopped").
// `abort`: throw Interrupted.
enum class Signal { go_on, stop, abort };

struct Context {
  // Beyond that, OpenMP and BLAS run out of stacks and tables, and crash rather than say so.
  static constexpr int most_threads = 1024;

  int threads = 0;                // 0: one per core
  std::size_t memory_budget = 0;  // bytes; 0: 80 % of what the machine has free
  // Packed files (.gz, .npz) that unpack to more than this many times their size, and to more than 16 MB, are refused: a
  // table that people made seldom shrinks a hundredfold, and one that was made to fill the memory does so a thousandfold.
  double unpack_ratio = 200.0;
  std::uint64_t seed = 1;
  std::function<void(LogLevel, std::string_view)> log;  // empty: silent
  std::function<Signal(const Progress&)> progress;      // empty: go on
};

}  // namespace kloom
