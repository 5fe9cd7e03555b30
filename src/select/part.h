// SPDX-License-Identifier: BSD-3-Clause
//
// One split into training and test samples: everything is fitted on the training part, and all methods
// share its kernels.
#pragma once

#include <optional>
#include <vector>

#include "kloom/train.h"
#include "kloom/validate.h"

namespace kloom::select {

// What is the same for all parts.
struct Problem {
  const Dataset& data;
  const Targets& targets;
  const KernelSpec& spec;
  const RecipeOptions& recipe;
  BankKind bank = BankKind::automatic;
};

// One fit and the predictions of the test samples.
struct Trial {
  FitResult fit;
  Predictions predictions;  // classes as in the whole data
  Evaluation evaluation;
  double kernel_seconds = 0.0;
  double train_seconds = 0.0;
  double predict_seconds = 0.0;
  std::size_t memory_bytes = 0;
};

class Part {
 public:
  // Fits preprocessing and kernels on `train`. `test` may be empty.
  Part(const Problem& problem, const std::vector<Index>& train, const std::vector<Index>& test,
       const Context& context);

  // Throws InvalidArgument where the method cannot take the data or options, ResourceError
  // where it does not fit.
  [[nodiscard]] Trial run(const Learner& learner, const OptionValues& options, const Context& context,
                          Completion completion = Completion::none);

  [[nodiscard]] const Recipe& recipe() const { return kernels_.recipe(); }

 private:
  // With absent views filled in.
  [[nodiscard]] Trial run_imputed(const Learner& learner, const OptionValues& options, const Context& context,
                                  bool whole_samples_only) const;
  // Fills in fit and, where there are test samples, their predictions.
  void learn(const TrainRequest& request, TrainingKernels& kernels, const Context& context, Trial& trial);
  void learn_completed(const TrainRequest& request, TrainingKernels& kernels, Index neighbours,
                       const Context& context, Trial& trial);
  [[nodiscard]] TrainingKernels training_kernels(bool spares_teachers, const Context& context) const;
  [[nodiscard]] TrainingKernels& kernels_for(const Learner& learner, const Context& context);
  [[nodiscard]] Targets restricted_targets();
  void restore_classes(Predictions& predictions) const;

  const Problem& problem_;
  std::vector<Index> train_rows_;
  std::vector<Index> test_rows_;
  Dataset test_;
  std::vector<int> classes_;                // class of the whole data behind each class of the training part
  Targets train_targets_;                   // made after classes_
  TrainingKernels kernels_;                 // made after train_targets_, from which some kernels learn
  std::optional<TrainingKernels> sparing_;  // for methods that spare teachers, where kernels are chosen here
  Targets test_targets_;
};

// Targets of some samples.
[[nodiscard]] Targets select_targets(const Targets& targets, const std::vector<Index>& rows);

}  // namespace kloom::select
