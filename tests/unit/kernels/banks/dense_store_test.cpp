// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that are given are checked, and held once.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/banks/dense_bank.h"
#include "kloom/bank.h"
#include "kloom/error.h"
#include "kloom/recipe.h"
#include "support/problems.h"

namespace kloom {
namespace {

Dataset given_kernels() {
  Dataset data;
  data.samples = 60;
  const Matrix x = test::normal_matrix(60, 4, 22);
  for (const double width : {1.0, 2.0, 3.0})
    data.kernels.push_back({"k" + std::to_string(data.kernels.size()), test::rbf_kernel(x, x, width)});
  return data;
}

TEST(DenseStore, GivenMatricesAreChecked) {
  const Matrix square(3, 3, 1.0);
  EXPECT_THROW((void)make_dense_bank(std::vector<Matrix>{}, {}, true), InvalidArgument);
  EXPECT_THROW((void)make_dense_bank({square, Matrix(2, 2)}, {"a", "b"}, true), InvalidArgument);
  EXPECT_THROW((void)make_dense_bank({Matrix(3, 2)}, {"a"}, true), InvalidArgument);
  EXPECT_THROW((void)make_dense_bank({square}, {"a", "b"}, true), InvalidArgument);
  Matrix skew = square;
  skew(0, 2) = 2.0;
  EXPECT_THROW((void)make_dense_bank({skew}, {"a"}, true), InvalidArgument);
  Matrix nan = square;
  nan(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)make_dense_bank({nan}, {"a"}, true), InvalidArgument);
}

TEST(DenseStore, BorrowedKernelsAreNotCopiedAndKeptAlive) {
  // Two kernels of 2 × 3, rows contiguous.
  auto memory = std::make_shared<Vector>(Vector{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
  const std::weak_ptr<Vector> watch = memory;
  const double* values = memory->data();
  auto bank = make_dense_bank(BorrowedKernels{values, 2, 3, std::move(memory)}, {"a", "b"}, false);
  EXPECT_FALSE(watch.expired());
  (*watch.lock())[7] = 99.0;  // kernel b, row 0, column 1: seen through the bank
  Vector row(3);
  bank->panels({1, 2}, {0, 1}, row.data());
  EXPECT_EQ(row, (Vector{10, 99, 12}));
  bank.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(DenseStore, GivenKernelsAreInMemoryOnce) {
  const Dataset data = given_kernels();
  const Dataset copy = data;
  for (std::size_t k = 0; k < data.kernels.size(); ++k)
    EXPECT_EQ(copy.kernels[k].values.data(), data.kernels[k].values.data());
  for (const char* spec : {"precomputed", "precomputed(normalise=unit-trace)"}) {
    SCOPED_TRACE(spec);
    const auto recipe = std::make_shared<const Recipe>(Recipe::fit(data, parse_kernel_spec(spec), {}, {}));
    BankRequest request;
    request.kind = BankKind::dense;
    const auto bank = store_bank(Recipe::training_bank(recipe), request, {});
    EXPECT_EQ(bank->kind(), "dense");
    EXPECT_EQ(bank->bytes(), 3U * 60U * 60U * sizeof(double));
    EXPECT_EQ(bank->shared_bytes(), bank->bytes());
    const auto& dense = dynamic_cast<const kernels::DenseBank&>(*bank);
    for (Index p = 0; p < 3; ++p) EXPECT_EQ(dense.f64(p), data.kernels[at(p)].values.data());
  }
}

TEST(DenseStore, GivenKernelsThatAreNotSymmetricToTheBitAreCopied) {
  Dataset data = given_kernels();
  Matrix k = data.kernels[1].values.copy();
  const double before = k(3, 7);
  k(3, 7) += 1e-10;
  data.kernels[1].values = k;
  const Recipe recipe = Recipe::fit(data, parse_kernel_spec("precomputed"), {}, {});
  EXPECT_EQ(recipe.basis.kernels[0].values.data(), data.kernels[0].values.data());
  EXPECT_NE(recipe.basis.kernels[1].values.data(), data.kernels[1].values.data());
  EXPECT_EQ(data.kernels[1].values(3, 7), before + 1e-10);
  EXPECT_EQ(recipe.basis.kernels[1].values(3, 7), recipe.basis.kernels[1].values(7, 3));
}

TEST(DenseStore, BorrowedKernelsAreChecked) {
  Vector values(2 * 70 * 70, 1.0);
  const auto make = [&](Index rows, Index cols) {
    return make_dense_bank(BorrowedKernels{values.data(), rows, cols, {}}, {"a", "b"}, true);
  };
  EXPECT_NO_THROW((void)make(70, 70));
  EXPECT_THROW((void)make(70, 35), InvalidArgument);
  for (const Index place : {Index{1}, Index{69}, Index{33 * 70 + 2}, Index{68 * 70 + 69}}) {
    values[static_cast<std::size_t>(70 * 70 + place)] = 2.0;
    EXPECT_THROW((void)make(70, 70), InvalidArgument) << place;
    values[static_cast<std::size_t>(70 * 70 + place)] = std::numeric_limits<double>::infinity();
    EXPECT_THROW((void)make(70, 70), InvalidArgument) << place;
    values[static_cast<std::size_t>(70 * 70 + place)] = 1.0;
  }
}

// Methods read the half of a kernel that suits them, so its rounding must not show in what they find.
TEST(DenseStore, KernelsThatRoundingMadeDifferAreTheirMeans) {
  constexpr Index n = 40;
  Vector values;
  for (const double width : {1.0, 2.0, 3.0}) {
    const Matrix x = test::normal_matrix(n, 4, 22);
    const Matrix kernel = test::rbf_kernel(x, x, width);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) values.push_back(kernel(std::max(i, j), std::min(i, j)));
  }
  double& entry = values[static_cast<std::size_t>(n * n + 7 * n + 3)];
  entry *= 1.0 + 4.0 * std::numeric_limits<double>::epsilon();
  const Vector before = values;
  const auto bank =
      make_dense_bank(BorrowedKernels{values.data(), n, n, {}}, {"same", "differs", "same too"}, true);
  EXPECT_EQ(values, before) << "memory that is lent is only read";
  Vector held(values.size());
  bank->panels({0, 3}, {0, n}, held.data());
  for (Index p = 0; p < 3; ++p) {
    const double* k = before.data() + p * n * n;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        ASSERT_EQ(held[at(p * n * n + i * n + j)], (k[i * n + j] + k[j * n + i]) / 2.0) << p;
  }
  EXPECT_EQ(bank->bytes(), 4 * n * n * sizeof(double))
      << "a copy of one kernel, beside the three that are lent";
}

}  // namespace
}  // namespace kloom
