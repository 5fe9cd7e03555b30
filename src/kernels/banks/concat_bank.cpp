// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/concat_bank.h"

#include <algorithm>
#include <string>
#include <utility>

#include "algebra/blas.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

std::vector<std::string> merged_names(const std::vector<BankPart>& parts) {
  std::size_t count = 0;
  for (const BankPart& part : parts) count += part.kernels.size();
  std::vector<std::string> names(count);
  for (const BankPart& part : parts) {
    for (std::size_t k = 0; k < part.kernels.size(); ++k) {
      names.at(static_cast<std::size_t>(part.kernels[k])) = part.bank->names()[k];
    }
  }
  return names;
}

const KernelBank& first_bank(const std::vector<BankPart>& parts) {
  if (parts.empty()) throw InternalError("a concatenation needs at least one bank");
  return *parts.front().bank;
}

class SumCombination final : public Combination {
 public:
  explicit SumCombination(std::vector<std::unique_ptr<Combination>> parts) : parts_(std::move(parts)) {}
  void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const override {
    for (const auto& part : parts_) part->add_entries(rows, cols, out);
  }
  void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                  MatrixView out) const override {
    for (const auto& part : parts_) part->add_scores(rows, cols, c, out);
  }

 private:
  std::vector<std::unique_ptr<Combination>> parts_;
};

}  // namespace

ConcatBank::ConcatBank(std::vector<BankPart> parts)
    : KernelBank(first_bank(parts).rows(), first_bank(parts).cols(), first_bank(parts).symmetric(),
                 merged_names(parts)),
      parts_(std::move(parts)),
      places_(static_cast<std::size_t>(kernels())) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const KernelBank& bank = *parts_[b].bank;
    if (bank.rows() != rows() || bank.cols() != cols() || bank.symmetric() != symmetric()) {
      throw InvalidArgument("banks of different samples cannot be joined: " + std::to_string(bank.rows()) +
                            " x " + std::to_string(bank.cols()) + " against " + std::to_string(rows()) + " x " +
                            std::to_string(cols()));
    }
    for (std::size_t k = 0; k < parts_[b].kernels.size(); ++k) {
      places_[static_cast<std::size_t>(parts_[b].kernels[k])] = {static_cast<Index>(b), static_cast<Index>(k)};
    }
    kind_ += (b == 0 ? "" : " + ") + std::string(bank.kind());
  }
}

std::size_t ConcatBank::shared_bytes() const {
  std::size_t sum = 0;
  for (const BankPart& part : parts_) sum += part.bank->shared_bytes();
  return sum;
}

std::size_t ConcatBank::bytes() const {
  std::size_t sum = 0;
  for (const BankPart& part : parts_) sum += part.bank->bytes();
  return sum;
}

void ConcatBank::panels(Range kernels, Range rows, double* out) const {
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    const Place place = places_[static_cast<std::size_t>(p)];
    parts_[static_cast<std::size_t>(place.part)].bank->panels({place.kernel, place.kernel + 1}, rows, out);
    out += rows.size() * cols();
  }
}

Vector ConcatBank::weights_of(const BankPart& part, std::span<const double> w) {
  Vector in_part(part.kernels.size());
  for (std::size_t k = 0; k < in_part.size(); ++k) in_part[k] = w[static_cast<std::size_t>(part.kernels[k])];
  return in_part;
}

Matrix ConcatBank::diagonal() const {
  Matrix result(rows(), kernels());
  for (const BankPart& part : parts_) {
    const Matrix in_part = part.bank->diagonal();
    for (std::size_t k = 0; k < part.kernels.size(); ++k) {
      std::ranges::copy(in_part.column(static_cast<Index>(k)), result.column(part.kernels[k]).begin());
    }
  }
  return result;
}

void ConcatBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  Matrix in_part(cols(), static_cast<Index>(rows.size()));
  for (Index j = 0; j < out.cols; ++j) std::ranges::fill(out.column(j), 0.0);
  for (const BankPart& part : parts_) {
    part.bank->combine_rows(weights_of(part, w), rows, in_part.view());
    for (Index j = 0; j < out.cols; ++j) algebra::axpy(1.0, in_part.column(j), out.column(j));
  }
}

void ConcatBank::add_combination(std::span<const double> w, MatrixView out) const {
  for (const BankPart& part : parts_) part.bank->add_combination(weights_of(part, w), out);
}

Matrix ConcatBank::apply(ConstMatrixView v) const {
  Matrix result(rows() * kernels(), v.cols);
  for (const BankPart& part : parts_) {
    const Matrix in_part = part.bank->apply(v);
    for (Index j = 0; j < v.cols; ++j) {
      for (std::size_t k = 0; k < part.kernels.size(); ++k) {
        std::copy_n(in_part.column(j).data() + static_cast<Index>(k) * rows(), rows(),
                    result.column(j).data() + part.kernels[k] * rows());
      }
    }
  }
  return result;
}

Matrix ConcatBank::apply_each(ConstMatrixView v) const {
  Matrix result(rows(), kernels());
  for (const BankPart& part : parts_) {
    Matrix in_part(cols(), static_cast<Index>(part.kernels.size()));
    for (std::size_t k = 0; k < part.kernels.size(); ++k) {
      std::ranges::copy(v.column(part.kernels[k]), in_part.column(static_cast<Index>(k)).begin());
    }
    const Matrix answer = part.bank->apply_each(in_part.view());
    for (std::size_t k = 0; k < part.kernels.size(); ++k) {
      std::ranges::copy(answer.column(static_cast<Index>(k)), result.column(part.kernels[k]).begin());
    }
  }
  return result;
}

Matrix ConcatBank::apply_adjoint(ConstMatrixView g) const {
  Matrix result(cols(), g.cols);
  for (const BankPart& part : parts_) {
    Matrix in_part(rows() * static_cast<Index>(part.kernels.size()), g.cols);
    for (Index j = 0; j < g.cols; ++j) {
      for (std::size_t k = 0; k < part.kernels.size(); ++k) {
        std::copy_n(g.column(j).data() + part.kernels[k] * rows(), rows(),
                    in_part.column(j).data() + static_cast<Index>(k) * rows());
      }
    }
    const Matrix answer = part.bank->apply_adjoint(in_part.view());
    algebra::axpy(1.0, answer.values(), result.values());
  }
  return result;
}

Matrix ConcatBank::quadratic_forms(ConstMatrixView c) const {
  Matrix result(kernels(), c.cols);
  for (const BankPart& part : parts_) {
    const Matrix in_part = part.bank->quadratic_forms(c);
    for (Index j = 0; j < c.cols; ++j) {
      for (std::size_t k = 0; k < part.kernels.size(); ++k)
        result(part.kernels[k], j) = in_part(static_cast<Index>(k), j);
    }
  }
  return result;
}

Matrix ConcatBank::gram() const {
  Matrix result(cols(), cols());
  for (const BankPart& part : parts_) {
    const Matrix in_part = part.bank->gram();
    algebra::axpy(1.0, in_part.values(), result.values());
  }
  return result;
}

bool ConcatBank::combines_by_rows() const {
  return std::ranges::all_of(parts_, [](const BankPart& part) { return part.bank->combines_by_rows(); });
}

bool ConcatBank::combines_cheaply() const {
  return std::ranges::all_of(parts_, [](const BankPart& part) { return part.bank->combines_cheaply(); });
}

std::unique_ptr<Combination> ConcatBank::combination(ConstMatrixView w, std::size_t memory) const {
  const auto whole = static_cast<std::size_t>(rows() * cols() * w.cols) * sizeof(double);
  if (!combines_cheaply() && whole <= memory) return KernelBank::combination(w, memory);
  std::vector<std::unique_ptr<Combination>> combinations;
  for (const BankPart& part : parts_) {
    Matrix in_part(static_cast<Index>(part.kernels.size()), w.cols);
    for (Index k = 0; k < w.cols; ++k)
      std::ranges::copy(weights_of(part, w.column(k)), in_part.column(k).begin());
    combinations.push_back(part.bank->combination(in_part.view(), 0));
  }
  if (combinations.size() == 1) return std::move(combinations.front());
  return std::make_unique<SumCombination>(std::move(combinations));
}

void ConcatBank::entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const {
  const std::size_t block = rows.size() * cols.size();
  Vector in_part;
  for (const BankPart& part : parts_) {
    in_part.resize(block * part.kernels.size());
    part.bank->entries(rows, cols, in_part.data());
    for (std::size_t k = 0; k < part.kernels.size(); ++k)
      std::copy_n(in_part.data() + k * block, block, out + static_cast<std::size_t>(part.kernels[k]) * block);
  }
}

Matrix ConcatBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                ConstMatrixView c) const {
  const auto n = static_cast<Index>(rows.size());
  Matrix result(n * kernels(), c.cols);
  for (const BankPart& part : parts_) {
    const Matrix in_part = part.bank->apply_chosen(rows, cols, c);
    for (Index j = 0; j < c.cols; ++j) {
      for (std::size_t k = 0; k < part.kernels.size(); ++k)
        std::copy_n(in_part.column(j).data() + static_cast<Index>(k) * n, n,
                    result.column(j).data() + part.kernels[k] * n);
    }
  }
  return result;
}

}  // namespace kloom::kernels
