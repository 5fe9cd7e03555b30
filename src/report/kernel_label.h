// SPDX-License-Identifier: BSD-3-Clause
//
// Names of kernels where there is little room: beside bars and in columns.
#pragma once

#include <string>

namespace kloom::report {

// At most `most` characters of a name such as "rbf(width=0.847134) on view alpha". What tells kernels apart stays longest:
// numbers lose digits first, then "width=" and "view" go, and only then is something left out in the middle.
[[nodiscard]] std::string kernel_label(const std::string& name, std::size_t most);

}  // namespace kloom::report
