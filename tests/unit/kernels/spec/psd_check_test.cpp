// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/psd_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "kloom/error.h"

namespace kloom::kernels {
namespace {

using ::testing::HasSubstr;

// An orthogonal matrix in closed form (discrete sine transform): column k is an eigenvector by construction.
double basis(Index n, Index i, Index k) {
  const auto m = static_cast<double>(n + 1);
  return std::sqrt(2.0 / m) * std::sin(std::numbers::pi * static_cast<double>((i + 1) * (k + 1)) / m);
}

Matrix with_eigenvalues(const Vector& values) {
  const auto n = static_cast<Index>(values.size());
  Matrix k(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      for (Index e = 0; e < n; ++e)
        k(i, j) += values[static_cast<std::size_t>(e)] * basis(n, i, e) * basis(n, j, e);
      k(j, i) = k(i, j);
    }
  return k;
}

std::string refusal(PrecomputedMatrix kernel, Index samples) {
  try {
    prepare_kernel(kernel, samples, false, {});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SpectrumCheckTest, FindsTheEndsOfTheSpectrum) {
  const Matrix k = with_eigenvalues({5.0, -0.25, 1.0, 0.0, 2.0});
  const SpectrumCheck check = check_spectrum(k);
  EXPECT_FALSE(check.semidefinite);
  EXPECT_NEAR(check.smallest, -0.25, 1e-14);
  EXPECT_NEAR(check.largest, 5.0, 1e-14);
}

TEST(SpectrumCheckTest, BothTestsAgreeOnEitherSideOfTheTolerance) {
  for (const Index exact_up_to : {100, 0}) {
    EXPECT_TRUE(check_spectrum(with_eigenvalues({4.0, 1.0, 0.5, 0.0, 0.0, 0.0}), exact_up_to).semidefinite);
    EXPECT_TRUE(check_spectrum(with_eigenvalues({4.0, 1.0, 0.5, 0.0, 0.0, -2e-8}), exact_up_to).semidefinite);
    EXPECT_FALSE(check_spectrum(with_eigenvalues({4.0, 1.0, 0.5, 0.0, 0.0, -6e-8}), exact_up_to).semidefinite);
    EXPECT_FALSE(
        check_spectrum(with_eigenvalues({-4.0, -1.0, -0.5, -1.0, -1.0, -6e-8}), exact_up_to).semidefinite);
    EXPECT_TRUE(check_spectrum(Matrix(4, 4), exact_up_to).semidefinite);
  }
}

TEST(ClipSpectrum, KeepsThePositivePart) {
  const Vector values = {5.0, -0.25, 1.0, 0.0, 2.0, -3.0};
  Matrix k = with_eigenvalues(values);
  EXPECT_NEAR(clip_spectrum(k), 3.25, 1e-13);
  Vector positive = values;
  for (double& v : positive) v = std::max(v, 0.0);
  const Matrix expected = with_eigenvalues(positive);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      EXPECT_NEAR(k(i, j), expected(i, j), 1e-13);
      EXPECT_EQ(k(i, j), k(j, i));
    }
  EXPECT_TRUE(check_spectrum(k).semidefinite);
  Matrix negative = with_eigenvalues({-1.0, -2.0});
  EXPECT_NEAR(clip_spectrum(negative), 3.0, 1e-14);
  for (const double v : negative.values()) EXPECT_EQ(v, 0.0);
}

TEST(PrepareKernel, SaysWhatIsWrongAndWhere) {
  const Matrix good = with_eigenvalues({3.0, 2.0, 1.0, 0.5});
  EXPECT_EQ(refusal({"k", good}, 4), "accepted");
  EXPECT_THAT(refusal({"k", Matrix(4, 3)}, 4),
              HasSubstr("kernel 'k' is 4 × 3; for training it must be square"));
  EXPECT_THAT(refusal({"k", good}, 5), HasSubstr("is 4 × 4, but there are 5 samples"));
  Matrix bad = good;
  bad(2, 1) = std::nan("");
  EXPECT_THAT(refusal({"k", bad}, 4), HasSubstr("the value nan in row 3, column 2"));
  bad(2, 1) = good(2, 1) + 1.0;
  EXPECT_THAT(refusal({"k", bad}, 4), HasSubstr("not symmetric: row 3, column 2 is"));
  EXPECT_THAT(refusal({"k", with_eigenvalues({3.0, 2.0, 1.0, -0.5})}, 4),
              HasSubstr("its smallest eigenvalue is -0.5, its largest 3"));
}

TEST(PrepareKernel, MakesTheMatrixExactlySymmetricAndClipsWhereAsked) {
  Matrix given = with_eigenvalues({3.0, 2.0, 1.0, -0.5});
  given(0, 3) += 1e-9;
  PrecomputedMatrix kernel{"k", given};
  std::string said;
  Context context;
  context.log = [&](LogLevel, std::string_view message) { said += message; };
  prepare_kernel(kernel, 4, true, context);
  EXPECT_THAT(said, HasSubstr("negative eigenvalues of sum -0.5 were dropped"));
  const Matrix expected = with_eigenvalues({3.0, 2.0, 1.0, 0.0});
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NEAR(kernel.values(i, j), expected(i, j), 2e-9);  // the asymmetry that was put in
      EXPECT_EQ(kernel.values(i, j), kernel.values(j, i));
    }
}

TEST(PrepareDistance, ChecksSignSymmetryAndDiagonal) {
  const auto refused = [](const Matrix& d) -> std::string {
    PrecomputedMatrix distance{"d", d};
    try {
      prepare_distance(distance, 3);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  Matrix d(3, 3, 1.0);
  for (Index i = 0; i < 3; ++i) d(i, i) = 0.0;
  EXPECT_EQ(refused(d), "accepted");
  d(0, 1) = d(1, 0) = -2.0;
  EXPECT_THAT(refused(d), HasSubstr("is negative (-2) in row 2, column 1"));
  d(0, 1) = 1.0;
  d(1, 0) = 2.0;
  EXPECT_THAT(refused(d), HasSubstr("not symmetric"));
  d(1, 0) = 1.0;
  d(2, 2) = 0.1;
  EXPECT_THAT(refused(d), HasSubstr("is 0.1 between sample 3 and itself"));
  EXPECT_THAT(refused(Matrix(2, 2)), HasSubstr("but there are 3 samples"));
}

}  // namespace
}  // namespace kloom::kernels
