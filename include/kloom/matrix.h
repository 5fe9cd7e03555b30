// SPDX-License-Identifier: BSD-3-Clause
//
// Dense matrices as they cross the public interface: column-major, double, standard library only.
//
// `Matrix` owns its memory, `MatrixView` and `ConstMatrixView` borrow it. A view may have a stride
// (distance between the starts of neighbouring columns) larger than its number of rows, so that a block
// of a larger matrix is a view too. Views never outlive what they look at; nothing here checks bounds.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace kloom {

using Index = std::ptrdiff_t;
using Vector = std::vector<double>;

// Index is signed, indices of standard containers are not: v[at(i)] is element i of a vector.
[[nodiscard]] constexpr std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// Half-open range [begin, end) of rows, columns or kernels.
struct Range {
  Index begin = 0;
  Index end = 0;
  [[nodiscard]] Index size() const { return end - begin; }
};

struct ConstMatrixView {
  const double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  [[nodiscard]] double operator()(Index i, Index j) const { return data[i + j * stride]; }
  [[nodiscard]] std::span<const double> column(Index j) const {
    return {data + j * stride, static_cast<std::size_t>(rows)};
  }
};

struct MatrixView {
  double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  [[nodiscard]] double& operator()(Index i, Index j) const { return data[i + j * stride]; }
  [[nodiscard]] std::span<double> column(Index j) const {
    return {data + j * stride, static_cast<std::size_t>(rows)};
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a mutable view is usable wherever a const one is.
  operator ConstMatrixView() const { return {data, rows, cols, stride}; }
};

class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, double fill = 0.0)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols), fill) {}
  // Takes over rows · cols numbers, column by column.
  Matrix(Index rows, Index cols, Vector values) : rows_(rows), cols_(cols), values_(std::move(values)) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] double* data() { return values_.data(); }
  [[nodiscard]] const double* data() const { return values_.data(); }

  [[nodiscard]] double& operator()(Index i, Index j) {
    return values_[static_cast<std::size_t>(i + j * rows_)];
  }
  [[nodiscard]] double operator()(Index i, Index j) const {
    return values_[static_cast<std::size_t>(i + j * rows_)];
  }
  [[nodiscard]] std::span<double> column(Index j) {
    return {data() + j * rows_, static_cast<std::size_t>(rows_)};
  }
  [[nodiscard]] std::span<const double> column(Index j) const {
    return {data() + j * rows_, static_cast<std::size_t>(rows_)};
  }
  [[nodiscard]] std::span<double> values() { return values_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }

  [[nodiscard]] MatrixView view() { return {data(), rows_, cols_, rows_}; }
  [[nodiscard]] ConstMatrixView view() const { return {data(), rows_, cols_, rows_}; }
  [[nodiscard]] MatrixView columns(Range r) { return {data() + r.begin * rows_, rows_, r.size(), rows_}; }
  [[nodiscard]] ConstMatrixView columns(Range r) const {
    return {data() + r.begin * rows_, rows_, r.size(), rows_};
  }

  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Vector values_;
};

// A vector seen as a matrix of one column.
[[nodiscard]] inline ConstMatrixView as_column(std::span<const double> v) {
  const auto n = static_cast<Index>(v.size());
  return {v.data(), n, 1, n};
}

}  // namespace kloom
