// SPDX-License-Identifier: BSD-3-Clause
//
// The machine that kloom runs on, and remedies for two performance traps.
//
// Old OpenBLAS does not know newer processors and falls back to kernels of 2005 (five times slower); and
// OpenMP threads that spin while they wait are twenty times slower on a busy machine. Both are decided by
// environment variables that are read when the libraries load. `machine_cure` says what a program should
// set before it loads kloom (the command line re-executes itself once with it); `cure_blas_core` repairs the
// first trap in a running process. The library never reads or sets the environment on its own.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kloom/context.h"

namespace kloom {

struct MachineInfo {
  std::string processor;
  std::string instruction_set;  // widest that matters here: "avx512", "avx2", "older"
  int cores = 0;
  int threads = 0;
  std::size_t memory_bytes = 0;
  std::size_t memory_free_bytes = 0;
  std::string blas;             // version and build of the BLAS inside kloom
  std::string blas_core;        // kernels it chose
  bool blas_core_suits = true;  // those kernels are right for this processor
  double dgemm_gflops = 0.0;    // measured, 0 if not measured
  double dgemm_gflops_1 = 0.0;  // with one thread
  double bandwidth_gbs = 0.0;   // measured
};

// With `measure`, spends about a second on timing.
[[nodiscard]] MachineInfo machine_info(bool measure);

// Variables (name, value) that should be in the environment before kloom is loaded on this machine;
// empty if all is well. `get` looks a variable up, so that what the user chose is respected.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> machine_cure(const char* (*get)(const char*));

// Re-initialises the private BLAS with kernels that suit the processor. Returns true if the core is right
// afterwards. No other thread may be inside kloom meanwhile.
bool cure_blas_core();

// Bytes that a computation may use: what the context says, else 80 % of the memory that is free now
// (limits of containers are respected).
[[nodiscard]] std::size_t memory_budget(const Context& context);

// "512 B", "1.2 kB", "34 MB", "1.2 GB": powers of 1000, one decimal below ten.
[[nodiscard]] std::string format_bytes(std::size_t bytes);

[[nodiscard]] std::string version();  // "0.1.0"

}  // namespace kloom
