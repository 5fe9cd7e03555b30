// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/gated_bank.h"

#include <algorithm>
#include <utility>

#include "base/clones.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

// out += scale · gates ∘ row.
KLOOM_CLONES void add_gated(double scale, const double* gates, const double* row, Index n, double* out) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) out[j] += scale * gates[j] * row[j];
}

void multiply(Matrix& values, const Matrix& gates) {
  auto to = values.values();
  const auto by = gates.values();
  for (std::size_t k = 0; k < to.size(); ++k) to[k] *= by[k];
}

}  // namespace

GatedBank::GatedBank(const KernelBank& bank, Matrix gates)
    : KernelBank(bank.rows(), bank.cols(), true, bank.names()), bank_(bank), gates_(std::move(gates)) {
  if (!bank.symmetric() || gates_.rows() != bank.rows() || gates_.cols() != bank.kernels()) {
    throw InternalError("a gated bank needs one gate for each sample and kernel of a symmetric bank");
  }
  set_presence(bank.presence());
}

GatedBank::GatedBank(std::shared_ptr<const KernelBank> bank, Presence presence)
    : KernelBank(bank->rows(), bank->cols(), bank->symmetric(), bank->names()),
      owner_(std::move(bank)),
      bank_(*owner_),
      gates_(presence.rows) {
  if (gates_.rows() != rows() || gates_.cols() != kernels() || presence.cols.rows() != cols() ||
      presence.cols.cols() != kernels()) {
    throw InternalError("a gated bank needs one gate for each row, column and kernel");
  }
  set_presence(std::move(presence));
}

std::size_t GatedBank::bytes() const {
  return bank_.bytes() + static_cast<std::size_t>(gates_.size()) * sizeof(double);
}

void GatedBank::panels(Range kernels, Range rows, double* out) const {
  bank_.panels(kernels, rows, out);
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    const double* gates = gates_.column(p).data();
    const double* across = column_gates().column(p).data();
    for (Index i = rows.begin; i < rows.end; ++i) {
      for (Index j = 0; j < cols(); ++j) *out++ *= gates[i] * across[j];
    }
  }
}

Matrix GatedBank::diagonal() const {
  Matrix result = bank_.diagonal();
  multiply(result, gates_);
  multiply(result, gates_);
  return result;
}

void GatedBank::add_combination(std::span<const double> w, MatrixView out) const {
  const Index block = block_rows(1);
  Vector panel(static_cast<std::size_t>(block * cols()));
  for (Index p = 0; p < kernels(); ++p) {
    const double weight = w[static_cast<std::size_t>(p)];
    if (weight == 0.0) continue;
    const double* gates = gates_.column(p).data();
    const double* across = column_gates().column(p).data();
    for (Index start = 0; start < rows(); start += block) {
      const Range part{start, std::min(rows(), start + block)};
      bank_.panels({p, p + 1}, part, panel.data());
      for (Index i = part.begin; i < part.end; ++i) {
        if (gates[i] == 0.0) continue;
        add_gated(weight * gates[i], across, panel.data() + (i - start) * cols(), cols(), out.column(i).data());
      }
    }
  }
}

Matrix GatedBank::apply(ConstMatrixView v) const {
  Matrix result(rows() * kernels(), v.cols);
  for (Index k = 0; k < v.cols; ++k) {
    Matrix gated(cols(), kernels());
    for (Index p = 0; p < kernels(); ++p) std::ranges::copy(v.column(k), gated.column(p).begin());
    const Matrix outputs = apply_each(gated.view());
    std::ranges::copy(outputs.values(), result.column(k).begin());
  }
  return result;
}

Matrix GatedBank::apply_each(ConstMatrixView v) const {
  Matrix gated(cols(), kernels());
  for (Index p = 0; p < kernels(); ++p) std::ranges::copy(v.column(p), gated.column(p).begin());
  multiply(gated, column_gates());
  Matrix result = bank_.apply_each(gated.view());
  multiply(result, gates_);
  return result;
}

}  // namespace kloom::kernels
