// SPDX-License-Identifier: BSD-3-Clause
//
// Several files about the same samples, and groups of columns.
#pragma once

#include <vector>

#include "kloom/dataset.h"

namespace kloom::data {

// Puts files side by side: by sample id where they have ids, else row by row. The order is that of the first.
// Throws InvalidArgument, with the first few ids, where an id occurs twice or is missing from a file (unless
// the request asks for an inner or an outer join), and where labels of the same sample differ.
[[nodiscard]] Dataset join_files(std::vector<Dataset> parts, const DatasetRequest& request);

// Declares the views of the request: a file each, columns by name or glob, or by the prefix of their names.
void declare_views(Dataset& data, const DatasetRequest& request);

// The request with every view named (a file-view without a name is called after its file); names must differ.
[[nodiscard]] DatasetRequest with_named_views(const DatasetRequest& request);

}  // namespace kloom::data
