// SPDX-License-Identifier: BSD-3-Clause
//
// From files to kernels: what `train` and `kernels build` do alike.
#pragma once

#include <string>

#include "dataset_options.h"
#include "kloom/train.h"
#include "session.h"

namespace kloom::cli {

struct KernelOptions {
  std::string spec;
  std::string normalise;
  bool clip_spectrum = false;
  std::string bank;
};

void add_kernel_options(CLI::App& app, KernelOptions& options);

struct TrainingData {
  Dataset data;
  double read_seconds = 0.0;
};

// Reads the samples and says what was found.
[[nodiscard]] TrainingData read_training_data(const DatasetRequest& request, const KernelOptions& kernels,
                                              Session& session);
// Leaves out samples without a label and says so, for methods that cannot use them. Where matrices are given they stay: a
// sample has its row and column in each.
void drop_unlabelled(Dataset& data, Session& session);
// The spec, or the default one where the user chose none, and how columns are prepared for it.
struct KernelChoice {
  KernelSpec spec;
  RecipeOptions recipe;
  bool by_default = false;
};
[[nodiscard]] KernelChoice choose_kernels(const Dataset& data, const DatasetOptions& options,
                                          const KernelOptions& kernels);
// The same as a request for `train`, without a method.
[[nodiscard]] TrainRequest kernel_request(const Dataset& data, const DatasetOptions& options,
                                          const KernelOptions& kernels);

// "569 samples, 30 features in 3 views".
[[nodiscard]] std::string describe(const Dataset& data);

}  // namespace kloom::cli
