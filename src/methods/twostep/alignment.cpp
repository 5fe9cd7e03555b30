// SPDX-License-Identifier: BSD-3-Clause
//
// With the weights s_i of the samples and π = s / Σ s, inner products are ⟨A, B⟩ = Σ_ij s_i s_j A_ij B_ij and centring
// takes out weighted means: K̃ = (I − 1πᵀ) K (I − π1ᵀ). With z = s ∘ (y − πᵀy), which sums to 0, ⟨K̃, y yᵀ⟩ = zᵀ K z: the
// products with the labels need no centred kernel. Those of kernels with each other do: means are taken out entry by
// entry before products are summed, since wide kernels are nearly constant and would lose all digits otherwise.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "methods/twostep/rules.h"
#include "solvers/nonnegative_qp.h"

namespace kloom::methods {
namespace {

// Means of the kernels under π.
struct Means {
  Matrix rows;   // N × P: Σ_j π_j K_p(i, j)
  Vector whole;  // P
};

// Kernels whose means are said to be 0 are not centred.
Means no_means(const KernelBank& bank) {
  return {Matrix(bank.rows(), bank.kernels()), Vector(at(bank.kernels()))};
}

Means means_of(const KernelBank& bank, const Vector& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Matrix shares(bank.rows(), 1);
  for (std::size_t i = 0; i < weights.size(); ++i) shares.values()[i] = weights[i] / total;
  const Matrix applied = bank.apply(shares.view());
  Means means{Matrix(bank.rows(), bank.kernels()), Vector(at(bank.kernels()))};
  std::ranges::copy(applied.values(), means.rows.values().begin());
  algebra::gemv(algebra::Op::transpose, 1.0, means.rows.view(), shares.column(0), 0.0, means.whole);
  return means;
}

// Entries of some rows of all kernels as `panels` lays them out: centred, times √(s_i s_j).
void weigh(const Means& means, const Vector& roots, Range rows, Matrix& panel) {
  const auto n = std::ssize(roots);
  for (Index p = 0; p < panel.cols(); ++p) {
    const auto mean = means.rows.column(p);
    double* out = panel.column(p).data();
    for (Index i = rows.begin; i < rows.end; ++i, out += n) {
      const double shift = means.whole[at(p)] - mean[at(i)];
      const double root = roots[at(i)];
      for (Index j = 0; j < n; ++j) out[j] = root * roots[at(j)] * (out[j] + shift - mean[at(j)]);
    }
  }
}

// Calls use(panel) for panels that together hold every weighed entry; its columns are the kernels.
template <typename Use>
void over_panels(const KernelBank& bank, const Means& means, const Vector& weights, const Use& use) {
  constexpr Index kEntries = Index{1} << 20;
  Vector roots;
  for (const double weight : weights) roots.push_back(std::sqrt(weight));
  const Index step = std::clamp<Index>(kEntries / (bank.cols() * bank.kernels()), 1, bank.rows());
  for (Index begin = 0; begin < bank.rows(); begin += step) {
    const Range rows{begin, std::min(begin + step, bank.rows())};
    Matrix panel((rows.end - rows.begin) * bank.cols(), bank.kernels());
    bank.panels({0, bank.kernels()}, rows, panel.values().data());
    weigh(means, roots, rows, panel);
    use(panel);
  }
}

// ‖K̃_p‖² of every kernel.
Vector squared_norms(const KernelBank& bank, const Means& means, const Vector& weights) {
  Vector squares(at(bank.kernels()));
  over_panels(bank, means, weights, [&](const Matrix& panel) {
    for (Index p = 0; p < panel.cols(); ++p) squares[at(p)] += algebra::dot(panel.column(p), panel.column(p));
  });
  return squares;
}

// ⟨K̃_p, K̃_q⟩ of every pair.
Matrix products(const KernelBank& bank, const Means& means, const Vector& weights) {
  Matrix result(bank.kernels(), bank.kernels());
  over_panels(bank, means, weights, [&](const Matrix& panel) {
    algebra::syrk_lower(algebra::Op::transpose, 1.0, panel.view(), 1.0, result.view());
  });
  algebra::symmetrise_from_lower(result.view());
  return result;
}

// ⟨K̃_p, L⟩, or ⟨K_p, L⟩ where nothing is centred.
Vector label_products(const KernelBank& bank, const RuleTask& task, bool centred = true) {
  const double total = std::accumulate(task.weights.begin(), task.weights.end(), 0.0);
  Matrix z = task.labels;
  for (Index c = 0; c < z.cols(); ++c) {
    const double mean = centred ? algebra::dot(z.column(c), task.weights) / total : 0.0;
    for (Index i = 0; i < z.rows(); ++i) z(i, c) = task.weights[at(i)] * (z(i, c) - mean);
  }
  const Matrix forms = bank.quadratic_forms(z.view());
  Vector sums(at(bank.kernels()));
  for (Index c = 0; c < forms.cols(); ++c) algebra::axpy(1.0, forms.column(c), sums);
  return sums;
}

// A centred kernel this small beside the kernel itself is rounding: it is constant, and says nothing.
constexpr double kConstant = 1e-13;

// Which kernels vary: all entries of K̃ are within 2 max_i |K_ii| of 0 for a semidefinite kernel.
std::vector<bool> varying(const KernelBank& bank, const Vector& squares, const Vector& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const Matrix diagonal = bank.diagonal();
  std::vector<bool> result;
  for (Index p = 0; p < bank.kernels(); ++p) {
    double largest = 0.0;
    for (const double value : diagonal.column(p)) largest = std::max(largest, std::abs(value));
    result.push_back(std::sqrt(squares[at(p)]) > kConstant * total * largest);
  }
  return result;
}

}  // namespace

Vector weights_of(Vector values) {
  double sum = 0.0;
  for (double& value : values) sum += value = std::max(0.0, value);
  if (!(sum > 0.0)) return Vector(values.size(), 1.0 / static_cast<double>(values.size()));
  for (double& value : values) value /= sum;
  return values;
}

Vector align_weights(const KernelBank& bank, const RuleTask& task) {
  const Vector squares = squared_norms(bank, means_of(bank, task.weights), task.weights);
  const std::vector<bool> varies = varying(bank, squares, task.weights);
  Vector values = label_products(bank, task);
  for (std::size_t p = 0; p < values.size(); ++p)
    values[p] = varies[p] ? values[p] / std::sqrt(squares[p]) : 0.0;
  return weights_of(std::move(values));
}

Vector fheuristic_weights(const KernelBank& bank, const RuleTask& task) {
  const Vector squares = squared_norms(bank, no_means(bank), task.weights);
  Vector values = label_products(bank, task, false);
  for (std::size_t p = 0; p < values.size(); ++p)
    values[p] = squares[p] > 0.0 ? values[p] / std::sqrt(squares[p]) : 0.0;
  return weights_of(std::move(values));
}

Vector alignf_weights(const KernelBank& bank, const RuleTask& task) {
  Matrix m = products(bank, means_of(bank, task.weights), task.weights);
  Vector a = label_products(bank, task);
  Vector squares;
  for (Index p = 0; p < m.cols(); ++p) squares.push_back(m(p, p));
  const std::vector<bool> varies = varying(bank, squares, task.weights);
  // A kernel that says nothing has no products with any other, and no weight.
  for (Index p = 0; p < m.cols(); ++p) {
    if (varies[at(p)]) continue;
    for (Index q = 0; q < m.cols(); ++q) m(p, q) = m(q, p) = 0.0;
    m(p, p) = 1.0;
    a[at(p)] = 0.0;
  }
  return weights_of(solvers::solve_nonnegative_qp(m, a));
}

}  // namespace kloom::methods
