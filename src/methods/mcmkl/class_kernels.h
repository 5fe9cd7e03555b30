// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels on classes by the text of the option: one or several of these, joined by '+'.
//
//   identity        classes have nothing in common
//   pairs           for every pair of classes the matrices that are 1 on the pair's diagonal, +1 or −1 beside it and 0
//                   elsewhere ([ZienOng2007] section 3.4)
//   tree:NEWICK     one matrix: what the ways from the root to two classes have in common, by branch lengths (1 where none
//                   is given), divided by the longest way; e.g. tree:((cat,dog),frog)
//   ROWS            one matrix, rows separated by ';' and numbers by ',', in the order of the classes; e.g. 1,0.5;0.5,1
//   file:PATH       the matrices of a file (CSV, NPY, NPZ, MAT); with ids, they are the names of the classes in any order
#pragma once

#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom::methods {

struct ClassKernel {
  std::string name;  // for the report
  Matrix values;     // M × M
};

// Throws InvalidArgument for what is no such text, for classes that are missing or unknown, and for matrices that are not
// symmetric or have a negative eigenvalue.
[[nodiscard]] std::vector<ClassKernel> class_kernels(const std::string& text,
                                                     const std::vector<std::string>& classes,
                                                     const Context& context);

}  // namespace kloom::methods
