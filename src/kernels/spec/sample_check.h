// SPDX-License-Identifier: BSD-3-Clause
//
// What kernels demand of the samples they are given.
#pragma once

#include <string>
#include <vector>

#include "kloom/dataset.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

// "sample 'p17' (data.csv, line 18)": id, file and line as far as they are known.
[[nodiscard]] std::string describe_sample(const Dataset& data, Index sample);

// The feature's name, with its view in front where another view has a feature of the same name.
[[nodiscard]] std::string feature_label(const Dataset& data, Index feature);

// Features finite, and not negative where the kernel cannot take it. Throws InvalidArgument naming feature,
// sample, value and remedy.
void check_features(const Dataset& data, const std::vector<Index>& features, KernelFunction function);

// Everything that the terms look at is there and usable: features, texts, matrices with one row per sample
// and `columns` columns.
void check_samples(const Dataset& data, const std::vector<KernelTerm>& terms, Index columns);

}  // namespace kloom::kernels
