// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gpmkl/predictive.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

// [RasmussenWilliams2006] section 3.4, with the probit of the same slope at 0.
double averaged_sigmoid(double score, double variance) {
  const double f = score / std::sqrt(1.0 + std::numbers::pi * variance / 8.0);
  return f > 0.0 ? 1.0 / (1.0 + std::exp(-f)) : std::exp(f) / (1.0 + std::exp(f));
}

}  // namespace

Matrix gp_probabilities(const Matrix& scores, const Matrix& deviation, double temperature) {
  const bool two = scores.cols() == 1;
  Matrix result(scores.rows(), two ? 2 : scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    double sum = 0.0;
    for (Index c = 0; c < result.cols(); ++c) {
      const Index output = two ? 0 : c;
      const double score = two && c == 0 ? -scores(i, 0) : scores(i, output);
      const double chance = averaged_sigmoid(score, deviation(i, output) * deviation(i, output));
      // Far from all samples of a class its probability may round to 0, which has no logarithm.
      sum += result(i, c) = std::pow(std::max(chance, 1e-300), 1.0 / temperature);
    }
    for (Index c = 0; c < result.cols(); ++c) result(i, c) /= sum;
  }
  return result;
}

LeftOut left_out_scores(const Matrix& precision, std::span<const double> f, std::span<const double> a,
                        std::span<const double> root) {
  LeftOut result{Vector(f.begin(), f.end()), Vector(f.size())};
  // Where the likelihood is as flat as this, the sample's label taught nothing, and the score stays as it is.
  constexpr double kFlat = 1e-10;
  Vector pseudo(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double w = root[i] * root[i];
    pseudo[i] = w > kFlat ? f[i] + a[i] / w : f[i];
  }
  Vector weighted(f.size());
  algebra::gemv(algebra::Op::none, 1.0, precision.view(), pseudo, 0.0, weighted);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double w = root[i] * root[i];
    const double precision_ii = precision(static_cast<Index>(i), static_cast<Index>(i));
    if (!(w > kFlat && precision_ii > 0.0)) continue;
    result.mean[i] = pseudo[i] - weighted[i] / precision_ii;
    result.variance[i] = std::max(0.0, 1.0 / precision_ii - 1.0 / w);
  }
  return result;
}

}  // namespace kloom::methods
