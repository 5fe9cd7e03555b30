// SPDX-License-Identifier: BSD-3-Clause
//
// The recipe that turns raw samples into kernel rows: preprocessing, kernels with fitted constants, and
// the training samples they are compared with. Fitted once on training data, kept in the model, applied
// to every new sample in exactly the same way.
#pragma once

#include <memory>
#include <vector>

#include "kloom/bank.h"
#include "kloom/dataset.h"
#include "kloom/kernels.h"

namespace kloom {

struct RecipeOptions {
  PreprocessingOptions preprocessing;
  Normalisation normalisation = Normalisation::unit_diagonal;
  bool clip_spectrum = false;
  bool spares_teachers = false;  // the kernels are for a method that does so: trees may be among those advised
};

struct Recipe {
  KernelSpec spec;
  Preprocessing preprocessing;
  std::vector<KernelTerm> terms;          // one per kernel
  Dataset basis;                          // preprocessed training samples: the columns of every bank
  std::vector<ColumnDecision> decisions;  // what was decided about every column of the raw training data
  std::vector<std::string> advice;        // why these kernels, where no spec was given

  // Fits preprocessing and kernels on raw training data. A spec without families: kernels are chosen that suit
  // these data (advise_kernels), so that a cross-validation chooses them from each training part. `targets` of
  // the same samples are what scale=relevance and trees learn from; without them these are refused.
  static Recipe fit(const Dataset& train, const KernelSpec& spec, const RecipeOptions& options,
                    const Context& context, const Targets* targets = nullptr);

  // For kernels that are given as matrices: every new sample brings its row of each of them.
  static Recipe for_kernels(const std::vector<std::string>& names, Index samples);

  // Training samples against themselves, computed on demand; store it with `store_bank`.
  [[nodiscard]] std::shared_ptr<const KernelBank> training_bank() const;
  // The same, without a copy of the samples: the bank keeps the recipe.
  [[nodiscard]] static std::shared_ptr<const KernelBank> training_bank(
      const std::shared_ptr<const Recipe>& recipe);
  // The same with the matrices of `samples`, the training samples once more: a model does not keep them.
  [[nodiscard]] std::shared_ptr<const KernelBank> training_bank_with(const Dataset& samples) const;
  // New raw samples against the basis, computed on demand.
  [[nodiscard]] std::shared_ptr<const KernelBank> bank_for(const Dataset& samples) const;
};

}  // namespace kloom
