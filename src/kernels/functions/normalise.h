// SPDX-License-Identifier: BSD-3-Clause
//
// The constants of normalisations that depend on the whole training kernel: traces, variances, means.
#pragma once

#include <memory>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

// Sets scale, centre_means and centre_mean of the terms whose normalisation needs them. Throws
// InvalidArgument naming a kernel that is zero or constant on the training samples.
void fit_normalisation(std::vector<KernelTerm>& terms, const std::shared_ptr<const Dataset>& train,
                       const Context& context);

}  // namespace kloom::kernels
