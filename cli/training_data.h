// SPDX-License-Identifier: BSD-3-Clause
//
// From files to kernels: what `train` and `kernels build` do alike.
#pragma once

#include <memory>
#include <string>

#include "dataset_options.h"
#include "kloom/bank.h"
#include "kloom/recipe.h"
#include "session.h"

namespace kloom::cli {

struct KernelOptions {
  std::string spec;
  std::string normalise;
  bool clip_spectrum = false;
  std::string bank;
  BankRequest preferred;  // what suits the method, where the user names no bank
};

void add_kernel_options(CLI::App& app, KernelOptions& options);

struct TrainingData {
  Dataset data;
  Recipe recipe;
  double read_seconds = 0.0;
  double kernel_seconds = 0.0;
};

// Reads the samples and says what was found.
[[nodiscard]] TrainingData read_training_data(const DatasetRequest& request, const KernelOptions& kernels,
                                              Session& session);
// The spec, or the default one where the user chose none, and how columns are prepared for it.
struct KernelChoice {
  KernelSpec spec;
  RecipeOptions recipe;
  bool by_default = false;
};
[[nodiscard]] KernelChoice choose_kernels(const Dataset& data, const DatasetOptions& options,
                                          const KernelOptions& kernels);
// Fits preprocessing and kernels; says which kernels were chosen where the user chose none.
void fit_recipe(TrainingData& training, const DatasetOptions& options, const KernelOptions& kernels,
                Session& session);
// Stores the training bank within `budget` bytes and says how.
[[nodiscard]] std::unique_ptr<KernelBank> make_training_bank(TrainingData& training,
                                                             const KernelOptions& kernels, std::size_t budget,
                                                             Session& session);

// "569 samples, 30 features in 3 views".
[[nodiscard]] std::string describe(const Dataset& data);

}  // namespace kloom::cli
