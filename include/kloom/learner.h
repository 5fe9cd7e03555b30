// SPDX-License-Identifier: BSD-3-Clause
//
// The registry: every method under one name, with its options described once.
//
//   const Learner& bemkl = find_learner("bemkl");
//   FitResult fit = bemkl.fit(*bank, targets, {{"sigma_g", "0.5"}}, context);
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/model.h"
#include "kloom/part_file.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom {

// One option of one method: the only place where it is described. The command line, the Python signature
// and the docs page are made from this table.
struct OptionInfo {
  enum class Kind { real, integer, flag, choice, text };
  enum class Suits { all, classes, numbers };  // tasks in which it means something
  std::string name;                            // as in the options struct; the command line writes '-' for '_'
  Kind kind = Kind::real;
  std::string default_value;
  std::string rule;  // "> 0", "in [0, 1]", "one of: a, b"
  std::string doc;   // one line: what it does and why one would change it
  std::vector<std::string> choices;
  // The rule of a number as data: low ≤ value ≤ high, low < value where it is open; "inf" where that is allowed.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool infinite = false;
  Suits suits = Suits::all;
};

// What the user set, by name, as text; everything else keeps its default.
using OptionValues = std::map<std::string, std::string>;

struct FitResult {
  Model model;
  Report report;
  std::shared_ptr<const KernelBank> bank;  // the kernels as they were stored, where `train` made them
};

struct Learner {
  std::string name;
  std::string summary;   // one line
  std::string doc_page;  // docs/methods/NAME.md
  std::vector<Task> tasks;
  bool semi_supervised = false;    // samples without a label are used, not refused
  std::vector<Task> absent_tasks;  // those it learns and predicts from samples that lack some views
  std::vector<OptionInfo> options;
  // Throws InvalidArgument for options and targets that break a rule; numerical outcomes are in the report.
  // Written with `complete_fit`.
  std::function<FitResult(const KernelBank&, const Targets&, const OptionValues&, const Context&)> fit;
  // The method's part from a model file; the model has all but its part and its recipe.
  std::function<std::shared_ptr<const ModelPart>(PartReader&, const Model&)> load;
  // The referee's finding, by code that shares nothing with `fit`.
  std::function<Certificate(const KernelBank&, const Targets&, const Model&, const Context&)> certify;
  // Names of models that this entry loads and certifies besides its own: those of `kloom stream`.
  std::vector<std::string> also;
  // Bytes of working memory that a fit needs besides the bank, for n samples, p kernels and m outputs.
  std::function<std::size_t(Index n, Index p, Index m)> working_memory;
  // The same for the slower way that the method takes by itself where that does not fit; empty: there is none.
  std::function<std::size_t(Index n, Index p, Index m)> least_memory;
  // Floating-point operations between two points where threads wait for each other: where these are few, the fit
  // uses one thread. Empty: n² p.
  std::function<double(double n, double p)> operations;
  // Reads combinations of kernels by entries, so that families of kernels of one distance need not be stored.
  bool wants_families = false;
  // Kernels depend on the sample: the report has maps of samples × kernels.
  bool sample_maps = false;
  // Judges kernels that learned from labels by samples other than those that taught them.
  bool spares_teachers = false;
  // Learns no kernel weights, all kernels count alike: what methods that learn weights have to beat.
  bool equal_weights = false;
  // Combines kernels again and again, so that stored entries are worth their memory.
  bool wants_entries = false;
  // A sum of kernels serves it best as a thin factor, where there is one; else entries.
  bool wants_factors = false;
  // With more samples than this it reads few rows of kernels, which are computed as they are asked for; 0: never.
  Index stores_up_to = 0;
};

// What is around every fit. Checks samples, task, labels and weights against what `learner` does; calls `learn`, which
// fills weights, coefficients, bias and part of the model and its own findings of the report; adds the rest of both.
// `options`: the effective ones; those that `learn` put into the report, because it chose them, take precedence.
[[nodiscard]] FitResult complete_fit(const Learner& learner, const KernelBank& bank, const Targets& targets,
                                     const OptionValues& options, const Context& context,
                                     const std::function<void(FitResult&)>& learn);

// What a fit on n samples, p kernels and m outputs leaves of the memory budget for its bank. Throws
// ResourceError with one sentence if the fit itself does not fit.
struct MemoryShare {
  std::size_t working = 0;  // for the fit
  std::size_t bank = 0;     // left for the kernels
  bool slower = false;      // the fit goes its slower way, which needs less
};
[[nodiscard]] MemoryShare share_memory(const Learner& learner, Index n, Index p, Index m,
                                       const Context& context);

// How this method likes n × n × p kernels stored, where `budget` bytes are to be had for them. `features`: how many
// numbers of each sample an entry of a kernel is computed from, on average; with many, entries are kept rather than
// computed again.
[[nodiscard]] BankRequest preferred_bank(const Learner& learner, Index n, Index p, std::size_t budget,
                                         Index features = 0);

[[nodiscard]] std::span<const Learner> all_learners();
// Throws InvalidArgument listing the names, with the nearest one suggested.
[[nodiscard]] const Learner& find_learner(std::string_view name);
// The entry behind a model's method; null if there is none.
[[nodiscard]] const Learner* learner_of_model(std::string_view method);
// One more method for this process, from outside of kloom. Throws InvalidArgument if the name is taken. Not to be called
// while other threads use the registry.
void register_learner(Learner learner);

}  // namespace kloom
