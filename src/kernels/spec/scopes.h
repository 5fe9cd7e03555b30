// SPDX-License-Identifier: BSD-3-Clause
//
// From the words after `on` to the inputs of kernels.
#pragma once

#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

// What one kernel looks at.
struct Target {
  std::vector<Index> inputs;  // feature columns, or one text column or matrix
  std::string label;          // as it follows `on` in the kernel's name
  std::string group;          // view, feature, text column or matrix, for reports
  std::string view = {};      // where it is a view
};

struct ScopeRequest {
  KernelFunction function = KernelFunction::rbf;
  const std::vector<bool>* constant = nullptr;  // per feature; may be empty
  Index columns = -1;                           // scopes mean the first so many features; -1: all
};

// Throws InvalidArgument for unknown names and for scopes that hold nothing for this kernel.
[[nodiscard]] std::vector<Target> targets_of(const Scope& scope, const ScopeRequest& request,
                                             const Dataset& train, const Context& context);

}  // namespace kloom::kernels
