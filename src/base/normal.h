// SPDX-License-Identifier: BSD-3-Clause
//
// The standard normal distribution in log space, right in the far tails.
#pragma once

namespace kloom {

// log Φ(z), finite and accurate for every finite z.
[[nodiscard]] double log_normal_cdf(double z);

}  // namespace kloom
