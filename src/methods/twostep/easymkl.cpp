// SPDX-License-Identifier: BSD-3-Clause
//
// γ minimises γᵀ((1 − λ) Y K Y + λ I)γ. A sample of weight u counts as u copies with γ_i/u each, which add λ γ_i²/u to the
// penalty.
#include <algorithm>
#include <utility>

#include "algebra/threads.h"
#include "methods/twostep/geometry.h"
#include "methods/twostep/rules.h"

namespace kloom::methods {
namespace {

// γᵀQγ is then within twice this part of its minimum: far below what the machine on the weights is asked for.
constexpr double kViolation = 1e-8;

}  // namespace

bool has_both_sides(const RuleTask& task) {
  bool positive = false;
  bool negative = false;
  for (Index i = 0; i < task.labels.rows(); ++i) {
    if (task.weights[at(i)] > 0.0) (task.labels(i, 0) > 0.0 ? positive : negative) = true;
  }
  return positive && negative;
}

RuleWeights easymkl_weights(const KernelBank& bank, const RuleTask& task, double lambda,
                            const Context& context) {
  RuleWeights result;
  if (!has_both_sides(task)) {
    result.theta = weights_of(Vector(at(bank.kernels())));
    return result;
  }
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  RidgedSum sum(bank, Vector(at(bank.kernels()), 1.0 - lambda), ridges(task.weights, lambda), context);
  const auto y = task.labels.column(0);
  result.gamma = nearest_points(sum, y, task.weights, lambda, kViolation).gamma;
  Matrix signed_gamma(bank.rows(), 1);
  for (std::size_t i = 0; i < y.size(); ++i) signed_gamma.values()[i] = y[i] * result.gamma[i];
  const Matrix forms = bank.quadratic_forms(signed_gamma.view());
  result.theta = weights_of({forms.column(0).begin(), forms.column(0).end()});
  return result;
}

}  // namespace kloom::methods
