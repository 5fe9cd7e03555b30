// SPDX-License-Identifier: BSD-3-Clause
#include "methods/lpbeta/machines.h"

#include <string>
#include <utility>

#include "algebra/blas.h"
#include "data/folds.h"
#include "methods/margin/path_point.h"

namespace kloom::methods {

AloneKernel::AloneKernel(const KernelBank& bank, Index p) {
  Vector only(at(bank.kernels()));
  only[at(p)] = 1.0;
  entries_ = std::make_shared<const Matrix>(bank.combine(only));
  bank_ = make_dense_bank(BorrowedKernels{entries_->data(), bank.rows(), bank.cols(), entries_},
                          {bank.names()[at(p)]}, true);
}

MarginSolution AloneKernel::solved(const MarginTask& task, MarginStart start, double tolerance,
                                   const Context& context) const {
  MarginSettings settings;
  settings.rule = WeightRule::fixed;
  settings.norm = 0.0;
  settings.tolerance = tolerance;
  settings.stage = "machine";
  return solve_margin_mkl(*bank_, task, settings, std::move(start), context);
}

MarginSolution AloneKernel::machine(const MarginOutput& output, double price, double tolerance,
                                    const Context& context) const {
  return solved(with_price(output.task, price), MarginStart({1.0}), tolerance, context);
}

void AloneKernel::score_fold(const MarginSolution& solution, const std::vector<Index>& folds, Index fold,
                             Vector& scores) const {
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] == fold)
      scores[i] = solution.bias + algebra::dot(entries_->column(static_cast<Index>(i)), solution.coefficients);
  }
}

HeldOutMachines AloneKernel::held_out(const std::vector<MarginOutput>& outputs, const AloneSettings& settings,
                                      const Context& context) const {
  const std::vector<Index> folds = data::stratified_folds(outputs.front().codes, settings.folds, settings.seed);
  const auto is_settled = [&](const PathPoint& point) {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!is_free(outputs[k], point.without_fold[k], point.price)) return false;
    }
    return true;
  };
  HeldOutMachines best;
  PathPoint before;
  for (const double price : settings.prices) {
    const bool first = before.without_fold.empty();
    if (!first && is_settled(before)) break;
    PathPoint point;
    point.price = price;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      point.scores.emplace_back(folds.size());
      point.without_fold.emplace_back();
      for (Index fold = 0; fold < settings.folds; ++fold) {
        MarginStart start({1.0});
        if (!first) start = continued(before.without_fold[k][at(fold)], price / before.price);
        point.without_fold[k].push_back(solved(without_fold(with_price(outputs[k].task, price), folds, fold),
                                               std::move(start), settings.tolerance, context));
        score_fold(point.without_fold[k].back(), folds, fold, point.scores[k]);
      }
    }
    point.error = path_error(outputs, point.scores, true);
    if (best.scores.empty() || point.error < best.error) best = {price, point.error, point.scores};
    before = std::move(point);
  }
  return best;
}

}  // namespace kloom::methods
