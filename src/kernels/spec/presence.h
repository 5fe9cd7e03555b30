// SPDX-License-Identifier: BSD-3-Clause
//
// Which kernels a sample has: those whose views it has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/spec/scopes.h"
#include "kloom/bank.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

// The views that a kernel of `function` on `target` looks at, of those that the prepared samples have: a sample that lacks
// one of them has no value there.
[[nodiscard]] std::vector<std::string> views_of(const Target& target, KernelFunction function,
                                                const Dataset& prepared);

// The samples that have all of these views, ascending; nothing where that is every sample.
[[nodiscard]] std::optional<std::vector<Index>> samples_with_views(const Dataset& prepared,
                                                                   const std::vector<std::string>& views);

// Samples × kernels: 1 where the sample has the kernel, else 0. Empty where every sample has all of them.
// Throws InvalidArgument naming a sample that has no view at all, and in training one that has none of the kernels; in
// prediction that may be a sample about which the kernels that were kept say nothing.
[[nodiscard]] Matrix presence_of(const std::vector<KernelTerm>& terms, const Dataset& prepared, bool training);

// The bank of these terms, aware of what its samples lack.
[[nodiscard]] std::shared_ptr<const KernelBank> present_bank(const std::vector<KernelTerm>& terms,
                                                             std::shared_ptr<const Dataset> rows,
                                                             std::shared_ptr<const Dataset> columns,
                                                             bool symmetric);

}  // namespace kloom::kernels
