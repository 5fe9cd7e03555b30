// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/joint_kernel.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algebra/blas.h"

namespace kloom::solvers {
JointKernel::JointKernel(std::vector<JointTerm> terms) : terms_(std::move(terms)) {
  prepare();
}

JointKernel::JointKernel(std::vector<JointTerm> terms, std::vector<int> labels)
    : terms_(std::move(terms)), labels_(std::move(labels)) {
  prepare();
  work_ = Matrix(samples(), classes());
}

void JointKernel::prepare() {
  for (const JointTerm& term : terms_) {
    Vector& diagonal = diagonals_.emplace_back(at(samples()));
    for (Index i = 0; i < samples(); ++i) diagonal[at(i)] = term.samples->diagonal(i);
  }
  touched_.resize(at(classes()));
  for (Index u = 0; u < classes(); ++u) {
    for (Index w = 0; w < classes(); ++w) {
      const bool linked =
          std::ranges::any_of(terms_, [&](const JointTerm& t) { return t.classes(u, w) != 0.0; });
      if (linked || w == u || compact()) touched_[at(u)].push_back(w);
    }
  }
}

void JointKernel::add_unfolded_column(Index i, Index u, double step, MatrixView g) {
  for (JointTerm& term : terms_) {
    const std::span<const double> row{term.samples->row(i), at(samples())};
    for (Index w = 0; w < classes(); ++w) {
      const double weight = term.classes(u, w);
      if (weight != 0.0) algebra::axpy(step * weight, row, g.column(w));
    }
  }
}

void JointKernel::add_relative(const Matrix& from, MatrixView g) const {
  for (Index w = 0; w < classes(); ++w) {
    for (Index j = 0; j < samples(); ++j) g(j, w) += from(j, w) - from(j, labels_[at(j)]);
  }
}

void JointKernel::add_column(Index i, Index u, double step, MatrixView g) {
  if (!compact()) return add_unfolded_column(i, u, step, g);
  std::ranges::fill(work_.values(), 0.0);
  add_unfolded_column(i, u, step, work_.view());
  add_relative(work_, g);
}

void JointKernel::add_product(const Matrix& alpha, MatrixView g) {
  Matrix sum(samples(), classes());
  for (JointTerm& term : terms_) {
    Matrix mixed(samples(), classes());  // α L
    algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, alpha.view(), term.classes.view(), 0.0,
                  mixed.view());
    for (Index j = 0; j < samples(); ++j) {
      const bool used = [&] {
        for (Index w = 0; w < classes(); ++w) {
          if (mixed(j, w) != 0.0) return true;
        }
        return false;
      }();
      if (!used) continue;
      const std::span<const double> row{term.samples->row(j), at(samples())};
      for (Index w = 0; w < classes(); ++w) {
        if (mixed(j, w) != 0.0) algebra::axpy(mixed(j, w), row, sum.column(w));
      }
    }
  }
  if (compact()) return add_relative(sum, g);
  for (Index w = 0; w < classes(); ++w) algebra::axpy(1.0, sum.column(w), g.column(w));
}

double JointKernel::entry(Index i, Index u, Index j, Index v) {
  double sum = 0.0;
  for (JointTerm& term : terms_) {
    const double weight = term.classes(u, v);
    if (weight == 0.0) continue;
    sum += weight * (i == j ? term.samples->diagonal(i) : term.samples->row(i)[j]);
  }
  return sum;
}

void JointKernel::curvatures(Index i, Index u, Index v, std::span<const Index> others, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    JointTerm& term = terms_[t];
    const double weight = term.classes(u, u) + term.classes(v, v) - 2.0 * term.classes(u, v);
    if (weight == 0.0) continue;
    const double* diagonal = diagonals_[t].data();
    const double diagonal_i = diagonal[i];
    const double* row = term.samples->row(i);
    for (std::size_t k = 0; k < others.size(); ++k) {
      out[k] += weight * (diagonal_i + diagonal[others[k]] - 2.0 * row[others[k]]);
    }
  }
}

}  // namespace kloom::solvers
