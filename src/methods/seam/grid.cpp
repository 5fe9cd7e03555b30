// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom::methods {

Vector positive_grid(const std::string& name, const std::string& text, const std::string& usual) {
  Vector grid = parse_range(text.empty() ? usual : text, -1, 0.0);
  std::ranges::sort(grid);
  if (!(grid.front() > 0.0))
    throw InvalidArgument(fmt::format("option {} must hold numbers > 0; got {}", name, grid.front()));
  return grid;
}

}  // namespace kloom::methods
