// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels completed from neighbours, against S K Sᵀ written out.
#include "select/completion.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "kernels/banks/gated_bank.h"
#include "support/problems.h"

namespace kloom {
namespace {

struct Half {
  std::vector<Eigen::MatrixXd> kernels;
  Eigen::MatrixXd presence;
};

// Rows of `samples` as mixtures of training rows: itself where a training sample has the kernel, else its nearest.
Eigen::MatrixXd mixing(const Half& samples, const Half& train, std::size_t p, int count, bool same) {
  const Eigen::Index n = train.presence.rows();
  Eigen::MatrixXd s = Eigen::MatrixXd::Zero(samples.presence.rows(), n);
  for (Eigen::Index i = 0; i < s.rows(); ++i) {
    if (samples.presence(i, static_cast<Eigen::Index>(p)) > 0) {
      if (same) s(i, i) = 1.0;
      continue;
    }
    std::vector<std::pair<double, Eigen::Index>> order;
    for (Eigen::Index j = 0; j < n; ++j) {
      double sum = 0.0;
      double common = 0.0;
      for (std::size_t q = 0; q < train.kernels.size(); ++q) {
        const auto k = static_cast<Eigen::Index>(q);
        if (samples.presence(i, k) * train.presence(j, k) == 0.0) continue;
        sum += samples.kernels[q](i, j);
        common += 1.0;
      }
      if (train.presence(j, static_cast<Eigen::Index>(p)) > 0)
        order.emplace_back(common > 0 ? -sum / common : INFINITY, j);
    }
    std::sort(order.begin(), order.end());
    const auto taken = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < taken; ++k) s(i, order[k].second) = 1.0 / static_cast<double>(taken);
  }
  return s;
}

Eigen::MatrixXd as_eigen(const KernelBank& bank, Index p) {
  Eigen::MatrixXd kernel(bank.cols(), bank.rows());
  bank.panels({p, p + 1}, {0, bank.rows()}, kernel.data());
  return kernel.transpose();
}

TEST(Completion, IsTheMixtureOfTheNearest) {
  constexpr Index kTrain = 20;
  const auto made = test::binary_problem(32, 3, {0.5, 1.0, 3.0}, 5);
  const auto kernels = std::ssize(made.kernels);
  Matrix presence(32, kernels, 1.0);
  for (Index i = 0; i < 32; ++i) {
    for (Index m = 0; m < kernels; ++m)
      presence(i, m) = i % kernels != m && (i * 5 + m * 3) % 8 < 4 ? 0.0 : 1.0;
  }
  Half train;
  Half test;
  std::vector<Matrix> train_kernels;
  std::vector<Matrix> test_kernels;
  Presence of_train{Matrix(kTrain, kernels), {}};
  Presence of_test{Matrix(32 - kTrain, kernels), {}};
  for (Index m = 0; m < kernels; ++m) {
    train_kernels.emplace_back(kTrain, kTrain);
    test_kernels.emplace_back(32 - kTrain, kTrain);
    for (Index i = 0; i < 32; ++i) {
      (i < kTrain ? of_train.rows(i, m) : of_test.rows(i - kTrain, m)) = presence(i, m);
      for (Index j = 0; j < kTrain; ++j)
        (i < kTrain ? train_kernels.back()(i, j) : test_kernels.back()(i - kTrain, j)) =
            made.kernels[static_cast<std::size_t>(m)](i, j);
    }
  }
  of_train.cols = of_test.cols = of_train.rows;
  const kernels::GatedBank train_bank(make_dense_bank(train_kernels, made.names, true), of_train);
  const kernels::GatedBank test_bank(make_dense_bank(test_kernels, made.names, false), of_test);
  train.presence = Eigen::Map<Eigen::MatrixXd>(of_train.rows.data(), kTrain, kernels);
  test.presence = Eigen::Map<Eigen::MatrixXd>(of_test.rows.data(), 32 - kTrain, kernels);
  for (Index m = 0; m < kernels; ++m) {
    train.kernels.push_back(as_eigen(train_bank, m));
    test.kernels.push_back(as_eigen(test_bank, m));
  }
  for (const int neighbours : {0, 3}) {
    const select::CompletedKernels completed(train_bank, neighbours);
    const auto whole = completed.training();
    const auto rows = completed.of(test_bank);
    EXPECT_TRUE(whole->presence().complete() && rows->presence().complete());
    for (std::size_t p = 0; p < train.kernels.size(); ++p) {
      const Eigen::MatrixXd s = mixing(train, train, p, neighbours, true);
      const Eigen::MatrixXd t = mixing(test, train, p, neighbours, false);
      const auto m = static_cast<Index>(p);
      // Means of at most nine entries of size 1.
      EXPECT_LT((as_eigen(*whole, m) - s * train.kernels[p] * s.transpose()).cwiseAbs().maxCoeff(), 1e-14);
      EXPECT_LT(
          (as_eigen(*rows, m) - (test.kernels[p] + t * train.kernels[p]) * s.transpose()).cwiseAbs().maxCoeff(),
          1e-14);
    }
  }
}

}  // namespace
}  // namespace kloom
