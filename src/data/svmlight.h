// SPDX-License-Identifier: BSD-3-Clause
//
// svmlight (LIBSVM) text: one sample per line,
//
//   label [qid:number] index:value index:value …  # comment
//
// with increasing indices. An index that a line does not mention is 0. The label is a number or a word, or
// several with commas between them (kept as they are); a line that begins with index:value has no label.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom::data {

struct SvmlightData {
  std::string source;
  std::vector<std::string> labels;  // "" where a line has none
  std::vector<Index> lines;
  std::vector<Index> indices;     // as written, 0 or larger
  Vector values;                  // NaN where missing
  std::vector<std::size_t> ends;  // end of each sample in indices and values
  Index first = 1;                // 0 if an index 0 occurs
  Index last = 0;                 // largest index, first - 1 if there is none
  bool query_ids = false;         // qid: was seen (and ignored)
  bool several_labels = false;

  [[nodiscard]] Index samples() const { return static_cast<Index>(labels.size()); }
  [[nodiscard]] Index features() const { return last - first + 1; }
  // Bytes of memory that it takes.
  [[nodiscard]] std::size_t bytes() const;
};

// Throws InvalidArgument naming the line: a pair that is not index:value, indices that do not increase,
// infinite values, NUL bytes, no samples. Throws ResourceError, before the memory is taken, if what is read would take more
// than `limit` bytes.
[[nodiscard]] SvmlightData parse_svmlight(std::string_view text, const std::string& source,
                                          std::size_t limit = std::numeric_limits<std::size_t>::max());

// samples × features, column k is index first + k. Throws ResourceError if it does not fit.
[[nodiscard]] Matrix svmlight_matrix(const SvmlightData& data, const Context& context);

}  // namespace kloom::data
