// SPDX-License-Identifier: BSD-3-Clause
//
// The entries of the registry: name, summary and needs of every margin method; options.cpp has their options.
#include <fmt/format.h>

#include <cstddef>
#include <string>

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
    {MarginMethod::group_mkl, "group-mkl",
     "group-lasso and elastic-net MKL: kernels of a view count together, with a duality gap as certificate"},
    {MarginMethod::easymkl, "easymkl",
     "EasyMKL: weights from the distance of the classes in every kernel, then a support vector machine"},
    {MarginMethod::gram, "gram",
     "GRAM: weights of the least ratio of radius and margin, then a support vector machine"},
    {MarginMethod::align, "align",
     "weights by the centred alignment of every kernel with the labels, then a support vector machine"},
    {MarginMethod::alignf, "alignf",
     "the weighted sum of kernels that is best aligned with the labels, then a support vector machine"},
    {MarginMethod::fheuristic, "fheuristic",
     "weights by the alignment of every kernel with the labels, nothing centred, then a support vector "
     "machine"},
    {MarginMethod::pwmk, "pwmk",
     "weights by the held-out accuracy of every kernel alone, then a support vector machine"},
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

Learner margin_learner(MarginMethod method) {
  Learner learner;
  learner.name = info(method).name;
  learner.summary = info(method).summary;
  learner.doc_page = fmt::format("docs/methods/{}.md", learner.name);
  learner.tasks = {Task::binary, Task::multiclass};
  // Errors of numbers have no margin that could be measured in a space of their own.
  learner.absent_tasks = {Task::binary, Task::multiclass};
  if (!knows_classes_only(method)) learner.tasks.push_back(Task::regression);
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
