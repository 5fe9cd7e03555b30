// SPDX-License-Identifier: BSD-3-Clause
//
// Reference numbers as the golden files have them.
#pragma once

#include <nlohmann/json.hpp>

#include "kloom/matrix.h"

namespace kloom::test {

// A list of rows.
inline Matrix matrix_of(const nlohmann::json& rows) {
  Matrix m(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = rows.at(at(i)).at(at(j));
  }
  return m;
}

}  // namespace kloom::test
