// SPDX-License-Identifier: BSD-3-Clause
//
// Cross-validation: how well do methods do on samples that they did not learn from?
//
// Everything that is fitted is fitted on the training part of a split alone: imputation, standardisation,
// automatic widths, normalisation constants, the choice of options from a grid, and the model. The test part
// is only predicted.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/learner.h"
#include "kloom/model.h"
#include "kloom/recipe.h"
#include "kloom/report.h"
#include "kloom/splits.h"
#include "kloom/targets.h"

namespace kloom {

// Options to choose from: a name and its values, for every axis of the grid.
using OptionGrid = std::vector<std::pair<std::string, std::vector<std::string>>>;

// "C=1e-1..1e4" (ranges as in the kernel spec) or "sparse=true,false". Throws InvalidArgument naming the
// method's options, or what is wrong with the values.
[[nodiscard]] OptionGrid::value_type parse_grid_axis(const std::string& text, const Learner& learner);

// What is done about samples that lack views before a method learns: nothing, or, as a baseline beside methods that learn
// from what is there, what people do with other methods. All of it is fitted on the training part.
enum class Completion {
  none,
  whole_samples,  // learns the samples that have every view; others are predicted with imputed means
  imputed_means,  // absent columns are means
  zero_kernels,   // absent kernels are 0
  nearest_kernels  // rows of absent kernels are means of those of the five samples that are nearest by the other kernels
};
inline constexpr std::array kCompletions = {Completion::whole_samples, Completion::imputed_means,
                                            Completion::zero_kernels, Completion::nearest_kernels};

struct Candidate {
  std::string method;
  OptionValues options;
  OptionGrid grid;
  Completion completion = Completion::none;
};
// The method, and what it does about absent views.
[[nodiscard]] std::string name_of(const Candidate& candidate);

struct ValidationRequest {
  KernelSpec spec;
  RecipeOptions recipe;
  BankKind bank = BankKind::automatic;
  std::vector<Candidate> candidates;
  std::vector<Split> splits;
  std::string metric;     // chooses from grids; empty: accuracy, label accuracy or RMSE
  Index inner_folds = 3;  // of the training part, for choosing from grids
  double seconds = std::numeric_limits<double>::infinity();  // after that, unfinished work is given up
  std::string journal;  // finished outcomes are kept in this file and taken from it; empty: nowhere
};

// One candidate on one split.
struct Outcome {
  Index candidate = 0;
  Index split = 0;
  std::string failure;      // why there is no result; else empty
  Evaluation evaluation;    // on the test part
  Predictions predictions;  // of the test part; without contributions
  OptionValues chosen;      // the point of the grid
  Status status = Status::converged;
  double kernel_seconds = 0.0;
  double train_seconds = 0.0;  // with the choice from the grid
  double predict_seconds = 0.0;
  Index kernels_used = 0;  // whose weight exceeds a thousandth of the largest
  Index kernels = 0;
  std::size_t memory_bytes = 0;  // bank and working memory, estimated
  // On the first split, so that methods can be seen side by side on the same kernels: what the kernels were, the weight
  // that each got, and where the method looked at kernels by themselves, their held-out errors (NaN: not this one). Empty on
  // all others.
  std::vector<std::string> kernel_names;
  Vector kernel_weights;
  Vector errors_alone;
};

struct Validation {
  std::vector<Outcome> outcomes;  // by split, then candidate; only those that ended
  bool interrupted = false;       // the progress callback said stop
  bool out_of_time = false;
  Index taken_from_journal = 0;
};

// Splits are worked on in parallel, as many as fit the memory budget, one thread each where there are several.
// Grids over options for which the method has an option NAME_grid go to the method itself, which walks them
// with warm starts; other grids are searched by inner folds of the training part.
//
// A method that throws InvalidArgument or ends in numerical trouble has an outcome with the reason in
// `failure`. Throws InvalidArgument for a request that cannot be, and for a journal of another request.
[[nodiscard]] Validation cross_validate(const Dataset& data, const Targets& targets,
                                        const ValidationRequest& request, const Context& context);

// The metric that decides where none is named.
[[nodiscard]] std::string default_metric(Task task);
// The samples of one side of a split, with the columns of given matrices cut to the training samples.
[[nodiscard]] Dataset select_part(const Dataset& data, const std::vector<Index>& rows,
                                  const std::vector<Index>& train);
// Value of a metric in an evaluation; NaN if it is not there.
[[nodiscard]] double metric_value(const Evaluation& evaluation, const std::string& metric);
// How many kernels have a weight above a thousandth of the largest.
[[nodiscard]] Index kernels_used(const Model& model);
// The weight of each kernel: the shared one, or the mean over the classes or samples that have their own.
[[nodiscard]] Vector mean_weights(const Model& model);
// What the model looks at: the absolute weights of all kernels on a view, a column or all columns, as shares of their sum,
// largest first. Empty where all kernels look at the same, or the model does not know at what.
struct ViewShare {
  std::string view;
  double share = 0.0;
};
[[nodiscard]] std::vector<ViewShare> weights_by_view(const Model& model);

}  // namespace kloom
