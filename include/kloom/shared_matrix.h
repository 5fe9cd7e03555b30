// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices whose copies share their memory: kernels that are given as matrices are large, and go from the reader
// through data set and recipe to the bank as they are.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "kloom/matrix.h"

namespace kloom {

// A matrix that nobody changes any more, so that all copies of it share its memory.
class SharedMatrix {
 public:
  SharedMatrix() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a matrix becomes a shared one wherever one is kept.
  SharedMatrix(Matrix matrix) : rows_(matrix.rows()), cols_(matrix.cols()) {
    const auto owner = std::make_shared<const Matrix>(std::move(matrix));
    data_ = std::shared_ptr<const double>(owner, owner->data());
  }
  // rows · cols numbers, column by column, in memory that `data` keeps alive.
  SharedMatrix(std::shared_ptr<const double> data, Index rows, Index cols)
      : rows_(rows), cols_(cols), data_(std::move(data)) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const double* data() const { return data_.get(); }
  [[nodiscard]] double operator()(Index i, Index j) const { return data_.get()[i + j * rows_]; }
  [[nodiscard]] std::span<const double> column(Index j) const {
    return {data() + j * rows_, static_cast<std::size_t>(rows_)};
  }
  [[nodiscard]] std::span<const double> values() const { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] ConstMatrixView view() const { return {data(), rows_, cols_, rows_}; }

  // The same numbers in memory of their own, to be changed.
  [[nodiscard]] Matrix copy() const {
    Matrix own(rows_, cols_);
    std::ranges::copy(values(), own.data());
    return own;
  }

  friend bool operator==(const SharedMatrix& a, const SharedMatrix& b) {
    return a.rows_ == b.rows_ && a.cols_ == b.cols_ && std::ranges::equal(a.values(), b.values());
  }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  std::shared_ptr<const double> data_;
};

}  // namespace kloom
