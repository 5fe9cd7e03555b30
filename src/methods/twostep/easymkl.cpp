// SPDX-License-Identifier: BSD-3-Clause
//
// The problem of γ is a support vector machine in disguise. Let Q = (1 − λ) Y K Y + λ I. The minimum over α ≥ 0, yᵀα = 0
// of ½ αᵀQα − 1ᵀα has equal sums s over positives and negatives; for a given s its best α is s γ*, with the value
// ½ s² q − 2s where q = γ*ᵀQγ*, so s = 2/q and γ* = α/s. A sample of weight u counts as u copies
// with γ_i/u each, which add λ γ_i²/u to the penalty.
#include <algorithm>
#include <memory>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "kloom/machine.h"
#include "methods/twostep/rules.h"
#include "solvers/svm.h"

namespace kloom::methods {
namespace {

// γᵀQγ is then within twice this part of its minimum: far below what the machine on the weights is asked for.
constexpr double kViolation = 1e-8;

// (1 − λ) Σ_m K_m + λ diag(1/weights), in memory where it fits the budget, else by rows.
class RidgedSum {
 public:
  RidgedSum(const KernelBank& bank, const Vector& weights, double lambda, const Context& context)
      : bank_(bank), share_(at(bank.kernels()), 1.0 - lambda) {
    for (const double weight : weights) ridge_.push_back(weight > 0.0 ? lambda / weight : lambda);
    const auto n = static_cast<std::size_t>(bank.rows());
    // A budget that the user gave includes the bank.
    const std::size_t taken = context.memory_budget != 0 ? bank.bytes() : 0;
    const std::size_t budget = memory_budget(context);
    const std::size_t left = budget - std::min(budget, taken);
    if (2 * n * n * sizeof(double) <= left) {
      whole_ = bank.combine(share_);
      for (Index i = 0; i < bank.rows(); ++i) whole_(i, i) += ridge_[at(i)];
      rows_ = std::make_unique<solvers::MatrixRows>(whole_.view());
      return;
    }
    Vector diagonal = ridge_;
    algebra::gemv(algebra::Op::none, 1.0, bank.diagonal().view(), share_, 1.0, diagonal);
    const auto compute = [this](Index i, double* out) {
      bank_.combine_rows(share_, {&i, 1}, {out, bank_.cols(), 1, bank_.cols()});
      out[i] += ridge_[at(i)];
    };
    rows_ =
        std::make_unique<solvers::CachedRows>(std::move(diagonal), compute, std::max<std::size_t>(1, left / 2));
  }

  [[nodiscard]] solvers::KernelRows& rows() { return *rows_; }

 private:
  const KernelBank& bank_;
  Vector share_;
  Vector ridge_;
  Matrix whole_;
  std::unique_ptr<solvers::KernelRows> rows_;
};

}  // namespace

EasyWeights easymkl_weights(const KernelBank& bank, const RuleTask& task, double lambda,
                            const Context& context) {
  const auto y = task.labels.column(0);
  double positive = 0.0;
  double negative = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) (y[i] > 0.0 ? positive : negative) += task.weights[i];
  if (!(positive > 0.0) || !(negative > 0.0)) return {weights_of(Vector(at(bank.kernels()))), {}};

  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  RidgedSum sum(bank, task.weights, lambda, context);
  // q ≥ λ Σ γ_i²/weight_i ≥ λ (1/positive + 1/negative), so no α_i ≤ s = 2/q comes near this bound.
  const double bound = 4.0 / (lambda * (1.0 / positive + 1.0 / negative));
  solvers::SvmProblem problem{{y.begin(), y.end()}, Vector(y.size(), -1.0), {}, {}};
  for (const double weight : task.weights) problem.box.push_back(weight > 0.0 ? bound : 0.0);
  solvers::SvmOptions options;
  options.tolerance = kViolation;
  options.iterations = std::max<Index>(1'000'000, 2000 * bank.rows());
  EasyWeights result;
  result.gamma = solve_svm(problem, sum.rows(), options).alpha;
  double s = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) s += y[i] > 0.0 ? result.gamma[i] : 0.0;
  algebra::scale(1.0 / s, result.gamma);

  Matrix signed_gamma(bank.rows(), 1);
  for (std::size_t i = 0; i < y.size(); ++i) signed_gamma.values()[i] = y[i] * result.gamma[i];
  const Matrix forms = bank.quadratic_forms(signed_gamma.view());
  result.theta = weights_of({forms.column(0).begin(), forms.column(0).end()});
  return result;
}

}  // namespace kloom::methods
