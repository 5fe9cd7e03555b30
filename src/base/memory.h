// SPDX-License-Identifier: BSD-3-Clause
//
// Memory: how much there is, how much may be used, and how to say so. The public part (memory_budget,
// format_bytes) is declared in kloom/machine.h.
#pragma once

#include <cstddef>
#include <string>

#include "kloom/context.h"
#include "kloom/machine.h"

namespace kloom::base {

// Where the kernel tells about memory; other folders in tests.
struct MemorySources {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

// Bytes of memory in the machine, or the container's limit where that is smaller; 0 if unknown.
[[nodiscard]] std::size_t total_memory(const MemorySources& sources = {});
// Address space that this process has, 0 if unknown; by system calls alone, so that a forked child can ask.
[[nodiscard]] std::size_t address_space();
// Bytes that can be had without swapping: MemAvailable, or less where a cgroup (v1 or v2) of this process
// or one above it has a lower limit, or `ulimit -v` leaves less; 0 if unknown.
[[nodiscard]] std::size_t free_memory(const MemorySources& sources = {});

// Freed blocks of a few megabytes stay with the process, for its next ones. Where much was freed and something large comes
// next, they can go back to the system before.
void give_back_freed_memory();

// The same context, of whose budget `bytes` are taken already. A budget that was not set is what is free: memory that is
// held does not count as free anyway.
[[nodiscard]] Context without_memory(const Context& context, std::size_t bytes);

// Throws ResourceError with one sentence if `needed` exceeds the context's budget.
//   what    "the posterior of 20000 samples"
//   remedy  "leave it out with --no-variance"
void require_memory(std::size_t needed, const Context& context, const std::string& what,
                    const std::string& remedy);

}  // namespace kloom::base
