// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/rbf_family_bank.h"

#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "kernels/functions/exponential_family.h"
#include "kernels/functions/functions.h"
#include "kloom/error.h"

namespace kloom::kernels {
RbfFamilyBank::RbfFamilyBank(std::shared_ptr<const Matrix> t, std::vector<double> gammas,
                             std::vector<double> scales, std::vector<std::string> names, bool symmetric)
    : KernelBank(t->cols(), t->rows(), symmetric, std::move(names)),
      t_(std::move(t)),
      gammas_(std::move(gammas)),
      scales_(std::move(scales)),
      table_(gammas_) {
  if (gammas_.size() != scales_.size() || static_cast<Index>(gammas_.size()) != kernels()) {
    throw InternalError("an RBF family needs one gamma, scale and name per kernel");
  }
}

std::size_t RbfFamilyBank::bytes() const {
  return static_cast<std::size_t>(t_->size()) * sizeof(double);
}

Vector RbfFamilyBank::scaled(std::span<const double> w) const {
  Vector result(w.begin(), w.end());
  for (std::size_t f = 0; f < result.size(); ++f) result[f] *= scales_[f];
  return result;
}

void RbfFamilyBank::panels(Range kernels, Range rows, double* out) const {
  const Index size = rows.size() * cols();
  const double* t = t_->data() + rows.begin * cols();
#pragma omp parallel for schedule(static)
  for (Index f = kernels.begin; f < kernels.end; ++f) {
    double* panel = out + (f - kernels.begin) * size;
    exp_negative(gammas_[static_cast<std::size_t>(f)], t, panel, size);
    algebra::scale(scales_[static_cast<std::size_t>(f)], {panel, static_cast<std::size_t>(size)});
  }
}

void RbfFamilyBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  const Vector coefficients = table_.combined(scaled(w));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto t = t_->column(rows[k]);
    const auto column = out.column(static_cast<Index>(k));
    for (std::size_t j = 0; j < t.size(); ++j) column[j] = table_.evaluate(coefficients, t[j]);
  }
}

void RbfFamilyBank::add_combination(std::span<const double> w, MatrixView out) const {
  const Vector coefficients = table_.combined(scaled(w));
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < rows(); ++i) {
    const double* t = t_->data() + i * cols();
    double* sum = out.column(i).data();
    for (Index j = 0; j < cols(); ++j) sum[j] += table_.evaluate(coefficients, t[j]);
  }
}

std::vector<ExponentialFamily> RbfFamilyBank::family() const {
  ExponentialFamily family{table_, scales_, std::vector<Index>(gammas_.size()), {}};
  std::iota(family.kernels.begin(), family.kernels.end(), Index{0});
  family.quantities = [t = t_](std::span<const Index> rows, std::span<const Index> cols, double* out,
                               Index stride) {
    for (std::size_t i = 0; i < rows.size(); ++i, out += stride) {
      const auto column = t->column(rows[i]);
      for (std::size_t j = 0; j < cols.size(); ++j) out[j] = column[static_cast<std::size_t>(cols[j])];
    }
  };
  return {std::move(family)};
}

Matrix RbfFamilyBank::quadratic_forms(ConstMatrixView c) const {
  if (!symmetric())
    throw InternalError("quadratic_forms needs a bank whose rows and columns are the same samples");
  return family_quadratic_forms(family(), c, kernels());
}

std::unique_ptr<Combination> RbfFamilyBank::combination(ConstMatrixView w, std::size_t /*memory*/) const {
  return family_combination(family(), w);
}

void RbfFamilyBank::entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const {
  family_entries(family(), rows, cols, out);
}

Matrix RbfFamilyBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                   ConstMatrixView c) const {
  return family_apply(family(), {rows, cols, kernels()}, c);
}

}  // namespace kloom::kernels
