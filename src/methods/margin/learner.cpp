// SPDX-License-Identifier: BSD-3-Clause
//
// The entries of the registry: name, summary, options and needs of every margin method.
#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "kloom/learner.h"
#include "methods/margin/first_weights.h"
#include "methods/margin/margin.h"
#include "methods/margin/part.h"
#include "methods/twostep/part.h"

namespace kloom::methods {
namespace {

struct MethodInfo {
  MarginMethod method;
  const char* name;
  const char* summary;
};
constexpr MethodInfo kMethods[] = {
    {MarginMethod::uniform, "uniform",
     "support vector machine on the mean of all kernels: the baseline to beat"},
    {MarginMethod::single, "single", "support vector machine on the one kernel that cross-validates best"},
    {MarginMethod::simplemkl, "simplemkl", "l1-norm MKL: few kernels, with a duality gap as certificate"},
    {MarginMethod::lp_mkl, "lp-mkl",
     "lp-norm MKL: weights spread over all kernels, with a duality gap as certificate"},
    {MarginMethod::easymkl, "easymkl",
     "EasyMKL: weights from the distance of the classes in every kernel, then a support vector machine"},
    {MarginMethod::align, "align",
     "weights by the centred alignment of every kernel with the labels, then a support vector machine"},
    {MarginMethod::alignf, "alignf",
     "the weighted sum of kernels that is best aligned with the labels, then a support vector machine"},
};
const MethodInfo& info(MarginMethod method) {
  return kMethods[static_cast<std::size_t>(method)];
}

// Bytes for the solver, and for box and coefficients of all outputs.
std::size_t working_memory(Index n, Index p, Index outputs, bool whole_kernel) {
  return margin_memory(n, p, whole_kernel) + static_cast<std::size_t>(2 * n * outputs) * sizeof(double);
}

}  // namespace

const char* name_of(MarginMethod method) {
  return info(method).name;
}

const OptionTable<MarginOptions>& margin_option_table(MarginMethod method) {
  using O = MarginOptions;
  static const NumberRule norm_rule{1.0, false, std::numeric_limits<double>::infinity(), true};
  static const OptionTable<O> common = {
      {"C", &O::C, kNonNegative,
       "price of a margin violation: larger fits the training samples more closely; 0: chosen from C_grid"},
      {"C_grid", &O::C_grid, "values to choose C from by cross-validation, with warm starts"},
      {"folds", &O::folds, NumberRule{2.0}, "folds for choosing C and for probabilities"},
      {"epsilon", &O::epsilon, kNonNegative,
       "regression: errors below this are free, in standard deviations of the target", kForNumbers},
      {"tolerance", &O::tolerance, kPositive, "stop at this relative duality gap"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many updates of the kernel weights"},
      {"multiclass", &O::multiclass, one_of("one-versus-rest", "one-versus-one"),
       "how several classes become two", kForClasses},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size", kForClasses},
      {"probability", &O::probability, "fit class probabilities on held-out folds (Platt scaling)",
       kForClasses},
  };
  static const OptionTable<O> simple = [] {
    OptionTable<O> table = common;
    table.push_back({"algorithm", &O::algorithm, one_of("second-order", "reduced-gradient"),
                     "reduced-gradient is SimpleMKL's own; both solve the same problem"});
    return table;
  }();
  static const OptionTable<O> norm = [] {
    OptionTable<O> table = common;
    table.push_back(
        {"norm", &O::norm, norm_rule, "p: 1 selects few kernels, 2 spreads the weights, inf makes them equal"});
    return table;
  }();
  static const OptionTable<O> easy = [] {
    OptionTable<O> table = common;
    std::erase_if(table, [](const OptionField<O>& field) { return field.suits == kForNumbers; });
    table.push_back(
        {"lambda", &O::lambda, NumberRule{0.0, true, 1.0},
         "weights by the distance of the nearest samples of two classes (towards 0) or of their means (1)"});
    return table;
  }();
  if (method == MarginMethod::easymkl) return easy;
  return method == MarginMethod::simplemkl ? simple : method == MarginMethod::lp_mkl ? norm : common;
}

Learner margin_learner(MarginMethod method) {
  Learner learner;
  learner.name = info(method).name;
  learner.summary = info(method).summary;
  learner.doc_page = fmt::format("docs/methods/{}.md", learner.name);
  learner.tasks = {Task::binary, Task::multiclass};
  // Errors of numbers have no margin that could be measured in a space of their own.
  learner.absent_tasks = {Task::binary, Task::multiclass};
  if (method != MarginMethod::easymkl) learner.tasks.push_back(Task::regression);
  learner.options = describe_options(margin_option_table(method));
  learner.fit = [method](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                         const Context& context) {
    return fit_margin(method, bank, targets,
                      parse_options(margin_option_table(method), values, name_of(method)), context);
  };
  learner.working_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, true); };
  learner.least_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, false); };
  learner.wants_entries = true;
  learner.equal_weights = method == MarginMethod::uniform;
  learner.load = is_two_step(method) ? load_two_step : load_margin;
  return learner;
}

}  // namespace kloom::methods
