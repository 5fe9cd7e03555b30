// SPDX-License-Identifier: BSD-3-Clause
//
// The verb: from samples and labels to a model with its certificate.
//
//   Dataset data = load_dataset(files, context);
//   Targets targets = make_targets(data.labels, {});
//   FitResult fit = train(data, targets, {.method = "simplemkl"}, context);
//   save_model(fit.model, "model.kloom");
//
// `train` plans memory, chooses kernels where none are named, stores them as the method likes, fits, attaches the recipe
// for new samples, asks the referee, and writes the report. What it decides it says through Context::log. The command
// line, comparisons and Python call it and nothing beside it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/kernels.h"
#include "kloom/learner.h"
#include "kloom/recipe.h"
#include "kloom/targets.h"

namespace kloom {

struct TrainRequest {
  std::string method;                   // empty: the default for the task
  OptionValues options = {};            // of the method; what is not named keeps its default
  std::optional<KernelSpec> kernels;    // none: kernels that suit the data
  RecipeOptions recipe = {};            // how columns are prepared and kernels normalised
  BankKind bank = BankKind::automatic;  // automatic: as the method likes them stored
  bool certificate = true;              // false: for fits that only choose something and are thrown away
  bool evaluate = false;                // also predict the training samples; the report has the result
};

// The method of that name, or the default one for the task where it is empty: one that can use samples without a label
// where there are some. Throws InvalidArgument, naming those that do the task, where the named one does not.
[[nodiscard]] const Learner& choose_learner(std::string_view method, const Targets& targets);

// Throws InvalidArgument for data, options or kernels that break a rule, ResourceError with one sentence where the fit does
// not fit into memory, and Interrupted where the progress callback asks to stop before there is a model. Numerical outcomes
// are in the report: with Status::numerical_trouble there is no usable model.
[[nodiscard]] FitResult train(const Dataset& data, const Targets& targets, const TrainRequest& request,
                              const Context& context);

// The same on kernels that are there already. New samples bring their rows of each kernel.
[[nodiscard]] FitResult train(const KernelBank& bank, const Targets& targets, const TrainRequest& request,
                              const Context& context);

// The kernels of one training set, for those who train on it several times: fitted once, and stored once for every way of
// storing that a method asks for.
class TrainingKernels {
 public:
  // Fits preprocessing and kernels on `data`; says which kernels were chosen where the request names none. `targets`:
  // of these samples, for kernels that learn from them (scale=relevance).
  TrainingKernels(const Dataset& data, const TrainRequest& request, const Context& context,
                  const Targets* targets = nullptr);
  explicit TrainingKernels(Recipe recipe) : recipe_(std::make_shared<const Recipe>(std::move(recipe))) {}

  [[nodiscard]] const Recipe& recipe() const { return *recipe_; }
  [[nodiscard]] Index samples() const { return recipe_->basis.samples; }
  // Seconds spent on making kernels so far.
  [[nodiscard]] double seconds() const { return seconds_; }

  // Memory for the data: as they were given, as kernels see them, and as the model keeps them; matrices once.
  [[nodiscard]] std::size_t data_bytes() const;
  // The most that was held at once before a fit could begin: while the data were read, or the kernels were stored, when
  // the computed kernels with their copies of the features are there as well.
  [[nodiscard]] std::size_t preparing_bytes() const;

  // Stored as asked for, in `budget` bytes.
  [[nodiscard]] std::shared_ptr<const KernelBank> stored(const BankRequest& request, std::size_t budget,
                                                         const Context& context);
  // Stored as the method likes them, or as `kind` says, in what the fit leaves of the memory.
  [[nodiscard]] std::shared_ptr<const KernelBank> stored_for(const Learner& learner, BankKind kind,
                                                             Index outputs, const Context& context);

 private:
  std::shared_ptr<const Recipe> recipe_;
  std::size_t raw_bytes_ = 0;      // of the samples as they were given
  std::size_t reading_bytes_ = 0;  // Dataset::reading_bytes
  std::size_t making_bytes_ = 0;   // the most that computed and stored kernels took together
  std::map<std::pair<BankKind, bool>, std::shared_ptr<const KernelBank>> banks_;  // by kind and families
  double seconds_ = 0.0;
};
// As `train` on the data that they were made from. Of the request, what kernels are made of is settled already.
[[nodiscard]] FitResult train(TrainingKernels& kernels, const Targets& targets, const TrainRequest& request,
                              const Context& context);

}  // namespace kloom
