// SPDX-License-Identifier: BSD-3-Clause
//
// A small problem of the same kind: some samples, with their kernels stored. Options that hardly depend on the number of
// samples are chosen there.
#pragma once

#include <memory>

#include "kloom/bank.h"
#include "kloom/targets.h"

namespace kloom::methods {

struct SomeSamples {
  std::unique_ptr<KernelBank> bank;
  Targets targets;
};

// At most `most` labelled samples of a task with classes, every class in its share; a class of which fewer than
// `least` are among them is left out. No bank if that leaves fewer than two classes.
[[nodiscard]] SomeSamples some_samples(const KernelBank& bank, const Targets& targets, Index most, Index least,
                                       std::uint64_t seed);

}  // namespace kloom::methods
