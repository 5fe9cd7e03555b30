// SPDX-License-Identifier: BSD-3-Clause
//
// Views that samples lack: a sample without a value in any column of a view has not seen that view at all. Gaps in single
// columns are another matter; they are filled in.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/column_finder.h"
#include "kloom/dataset.h"

namespace kloom::data {

// The views of `train` that samples may lack: where there are several views, those of at least two columns, and those of a
// file of their own, where a single column is enough. None where missing values are to be filled in or refused.
[[nodiscard]] std::vector<ViewBlock> blocks_of(const Dataset& train, const PreprocessingOptions& options);

// Which samples lack the view; empty if none does.
[[nodiscard]] std::vector<bool> absent_from(const ViewBlock& block, const Dataset& data,
                                            const ColumnFinder& finder);

// Whether `data` has no column of the view at all.
[[nodiscard]] bool has_no_column(const ViewBlock& block, const Dataset& data, const ColumnFinder& finder);

// Samples × blocks: 1 where a sample has the view, else 0. Empty where every sample has every view.
[[nodiscard]] Matrix views_there(const std::vector<ViewBlock>& blocks, const Dataset& raw);

// The samples that each column of training is fitted on.
class PresentSamples {
 public:
  PresentSamples(const std::vector<ViewBlock>& blocks, const Dataset& train);
  // Those that have all of the views that the column is in, ascending; null where that is every sample.
  [[nodiscard]] const std::vector<Index>* with(const Feature& column);

 private:
  std::vector<std::vector<bool>> absent_;  // of every block
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> blocks_of_;
  std::map<std::vector<std::size_t>, std::vector<Index>> rows_;
};

}  // namespace kloom::data
