// SPDX-License-Identifier: BSD-3-Clause
#include "select/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "data/absent_views.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/train.h"

namespace kloom::select {
namespace {

bool has(const Matrix& presence, Index sample, Index kernel) {
  return presence.empty() || presence(sample, kernel) > 0.0;
}

// Mean of the kernels that a row and a training sample both have, training samples × rows; −infinity where there is none.
Matrix nearness(const KernelBank& samples, const Matrix& training_presence) {
  const Matrix all_rows(samples.rows(), samples.kernels(), 1.0);
  const Matrix all_columns(samples.cols(), samples.kernels(), 1.0);
  const Matrix& rows = samples.presence().rows.empty() ? all_rows : samples.presence().rows;
  const Matrix& columns = training_presence.empty() ? all_columns : training_presence;
  Matrix counts(samples.cols(), samples.rows());
  algebra::gemm(algebra::Op::none, algebra::Op::transpose, 1.0, columns.view(), rows.view(), 0.0,
                counts.view());
  Matrix mean = samples.combine(Vector(at(samples.kernels()), 1.0));
  for (Index k = 0; k < mean.size(); ++k) {
    mean.data()[k] =
        counts.data()[k] > 0.0 ? mean.data()[k] / counts.data()[k] : -std::numeric_limits<double>::infinity();
  }
  return mean;
}

}  // namespace

CompletedKernels::CompletedKernels(const KernelBank& training, Index neighbours)
    : count_(neighbours),
      presence_(training.presence().rows),
      names_(training.names()),
      entries_(std::make_shared<Vector>(at(training.kernels() * training.rows() * training.cols()))) {
  const Index n = training.rows();
  training.panels({0, training.kernels()}, {0, n}, entries_->data());
  neighbours_ = neighbours_of(training);
  for (Index p = 0; p < training.kernels(); ++p) {
    double* kernel = entries_->data() + p * n * n;
    for (Index i = 0; i < n; ++i) complete_columns(p, kernel + i * n);
    // Neighbours have the kernel, so their rows are not changed here.
    for (Index i = 0; i < n; ++i) {
      const std::vector<Index>& near = neighbours_[at(p)][at(i)];
      for (const Index l : near) {
        for (Index j = 0; j < n; ++j) kernel[i * n + j] += kernel[l * n + j] / static_cast<double>(near.size());
      }
    }
  }
}

// Empty where the sample has the kernel.
CompletedKernels::Neighbours CompletedKernels::neighbours_of(const KernelBank& samples) const {
  Neighbours found(at(samples.kernels()), std::vector<std::vector<Index>>(at(samples.rows())));
  const Matrix& presence = samples.presence().rows;
  if (count_ == 0 || presence.empty()) return found;
  const Matrix near = nearness(samples, presence_);
  for (Index i = 0; i < samples.rows(); ++i) {
    std::vector<Index> order;
    for (Index j = 0; j < samples.cols(); ++j) order.push_back(j);
    std::ranges::stable_sort(order, std::greater(), [&](Index j) { return near(j, i); });
    for (Index p = 0; p < samples.kernels(); ++p) {
      if (has(presence, i, p)) continue;
      std::vector<Index>& chosen = found[at(p)][at(i)];
      for (const Index j : order) {
        if (std::ssize(chosen) == count_) break;
        if (has(presence_, j, p)) chosen.push_back(j);
      }
    }
  }
  return found;
}

// In a row that has the kernel, the columns of training samples that lack it.
void CompletedKernels::complete_columns(Index kernel, double* row) const {
  const std::vector<std::vector<Index>>& all = neighbours_[at(kernel)];
  for (std::size_t j = 0; j < all.size(); ++j) {
    for (const Index l : all[j]) row[j] += row[l] / static_cast<double>(all[j].size());
  }
}

std::unique_ptr<KernelBank> CompletedKernels::training() const {
  const auto n = static_cast<Index>(neighbours_.front().size());
  return make_dense_bank(BorrowedKernels{entries_->data(), n, n, entries_}, names_, true);
}

std::unique_ptr<KernelBank> CompletedKernels::of(const KernelBank& samples) const {
  const Index n = samples.cols();
  const auto entries = std::make_shared<Vector>(at(samples.kernels() * samples.rows() * n));
  samples.panels({0, samples.kernels()}, {0, samples.rows()}, entries->data());
  const Neighbours neighbours = neighbours_of(samples);
  for (Index p = 0; p < samples.kernels(); ++p) {
    const double* known = entries_->data() + p * n * n;
    for (Index i = 0; i < samples.rows(); ++i) {
      double* row = entries->data() + (p * samples.rows() + i) * n;
      if (has(samples.presence().rows, i, p)) complete_columns(p, row);
      const std::vector<Index>& near = neighbours[at(p)][at(i)];
      for (const Index l : near) {
        for (Index j = 0; j < n; ++j) row[j] += known[l * n + j] / static_cast<double>(near.size());
      }
    }
  }
  return make_dense_bank(BorrowedKernels{entries->data(), samples.rows(), n, entries}, names_, false);
}

RecipeOptions with_imputed_means(RecipeOptions options) {
  options.preprocessing.absent_views = false;
  options.preprocessing.impute = Impute::mean;
  options.preprocessing.indicate = false;
  return options;
}

bool lacks_views(const Dataset& data, const ComparisonRequest& request) {
  return !data::views_there(data::blocks_of(data, request.validation.recipe.preprocessing), data).empty();
}

std::vector<std::string> baseline_methods(const Targets& targets, const ComparisonRequest& request,
                                          const std::vector<std::string>& planned) {
  const auto can = [&](const std::string& name) {
    return std::ranges::count(find_learner(name).absent_tasks, targets.task) > 0;
  };
  std::vector<std::string> methods;
  if (request.absent_baselines) {
    for (const std::string& name : *request.absent_baselines) {
      const bool compared = request.methods.empty() || std::ranges::count(request.methods, name) > 0;
      if (!can(name) || !compared)
        throw InvalidArgument(fmt::format(
            "baselines for absent views stand beside methods that learn {} tasks from samples without them and are "
            "compared; '{}' is {}",
            to_string(targets.task), name, compared ? "no such method" : "not among the methods asked for"));
      if (std::ranges::count(planned, name) > 0) methods.push_back(name);
    }
    return methods;
  }
  const std::string usual = choose_learner("", targets).name;
  const auto first =
      std::ranges::find_if(planned, [&](const std::string& name) { return name != usual && can(name); });
  if (first != planned.end()) methods.push_back(*first);
  return methods;
}

}  // namespace kloom::select

namespace kloom {

std::string name_of(const Candidate& candidate) {
  switch (candidate.completion) {
    case Completion::none:
      break;
    case Completion::whole_samples:
      return candidate.method + ", whole samples only";
    case Completion::imputed_means:
      return candidate.method + ", imputed means";
    case Completion::zero_kernels:
      return candidate.method + ", zero kernels";
    case Completion::nearest_kernels:
      return candidate.method + ", nearest kernels";
  }
  return candidate.method;
}

}  // namespace kloom
