// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "kloom/error.h"
#include "kloom/features.h"

namespace kloom {
namespace {

using algebra::Op;

void check_terms(FeatureMap::Kind kind, const std::vector<KernelTerm>& terms) {
  for (const KernelTerm& term : terms) {
    const bool gaussian = term.function == KernelFunction::rbf;
    const bool laplacian = term.function == KernelFunction::laplacian;
    if (term.normalisation != Normalisation::centre &&
        (gaussian || (laplacian && kind == FeatureMap::Kind::nystroem)))
      continue;
    throw InvalidArgument(fmt::format("kernel '{}' has no {} features; {} kernels without centring have",
                                      term.name, kind == FeatureMap::Kind::rff ? "random Fourier" : "Nyström",
                                      kind == FeatureMap::Kind::rff ? "rbf" : "rbf and laplacian"));
  }
}

// Squared or absolute distances of samples `rows` of `a` (columns) to all rows of `b`, over some features.
Matrix distances(const Matrix& b, const Matrix& a, Range rows, const KernelTerm& term) {
  const bool square = term.function == KernelFunction::rbf;
  Matrix result(b.rows(), rows.size());
  for (Index i = 0; i < rows.size(); ++i) {
    for (const Index d : term.features) {
      const double x = a(rows.begin + i, d);
      const double* other = b.column(d).data();
      double* out = result.column(i).data();
      for (Index r = 0; r < b.rows(); ++r) {
        const double difference = x - other[r];
        out[r] += square ? difference * difference : std::abs(difference);
      }
    }
  }
  return result;
}

// Terms that differ in nothing but width share what is computed before the width.
bool same_distance(const KernelTerm& a, const KernelTerm& b) {
  return a.function == b.function && a.features == b.features;
}

// K(L, x) of one kernel from the distances; exp(−600) is the least that is not slowed down by subnormals.
Matrix kernel_of(const KernelTerm& term, const Matrix& distance) {
  Matrix result = distance;
  for (double& d : result.values()) d = term.scale * std::exp(-std::min(600.0, term.parameter * d));
  return result;
}

// Λ^(−1/2)Uᵀ of K = UΛUᵀ, without the directions in which K is 0 to rounding.
Matrix inverse_root(const Matrix& kernel) {
  const algebra::Eigen eigen = algebra::symmetric_eigen(kernel.view(), true);
  const double least = 1e-10 * std::max(eigen.values.back(), 0.0);
  Matrix root(kernel.rows(), kernel.rows());
  for (Index r = 0; r < root.rows(); ++r) {
    const double value = eigen.values[at(r)];
    for (Index k = 0; k < root.cols() && value > least; ++k)
      root(r, k) = eigen.vectors(k, r) / std::sqrt(value);
  }
  return root;
}

Matrix random_landmarks(const Matrix& samples, Index count, boost::random::mt19937_64& engine) {
  if (samples.rows() < count)
    throw InvalidArgument(
        fmt::format("{} landmarks were asked for, but there are {} samples to take them from; ask for "
                    "fewer features or a longer warm-up",
                    count, samples.rows()));
  std::vector<Index> order(at(samples.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Matrix landmarks(count, samples.cols());
  for (Index r = 0; r < count; ++r) {
    boost::random::uniform_int_distribution<Index> rest(r, samples.rows() - 1);
    std::swap(order[at(r)], order[at(rest(engine))]);
    for (Index d = 0; d < samples.cols(); ++d) landmarks(r, d) = samples(order[at(r)], d);
  }
  return landmarks;
}

// √(2γ) W x + b under the cosine, for all kernels that look at the same features.
Matrix projections(const FeatureMap& map, const KernelTerm& term, const Matrix& samples, Range rows) {
  Matrix result(map.count(), rows.size());
  for (Index i = 0; i < rows.size(); ++i) {
    for (const Index d : term.features)
      algebra::axpy(samples(rows.begin + i, d), map.basis.column(d), result.column(i));
  }
  return result;
}

void add_fourier(const FeatureMap& map, const KernelTerm& term, const Matrix& projected, MatrixView out) {
  const double size = std::sqrt(2.0 * term.scale / static_cast<double>(map.count()));
  const double frequency = std::sqrt(2.0 * term.parameter);
  for (Index i = 0; i < out.cols; ++i) {
    for (Index r = 0; r < out.rows; ++r)
      out(r, i) = size * std::cos(frequency * projected(r, i) + map.phases[at(r)]);
  }
}

}  // namespace

FeatureMap fit_feature_map(FeatureMap::Kind kind, const std::vector<KernelTerm>& terms, const Matrix& samples,
                           Index count, std::uint64_t seed) {
  check_terms(kind, terms);
  boost::random::mt19937_64 engine(seed);
  FeatureMap map;
  map.kind = kind;
  if (kind == FeatureMap::Kind::rff) {
    boost::random::normal_distribution<double> normal;
    boost::random::uniform_01<double> uniform;
    map.basis = Matrix(count, samples.cols());
    for (double& w : map.basis.values()) w = normal(engine);
    for (Index r = 0; r < count; ++r) map.phases.push_back(2.0 * std::numbers::pi * uniform(engine));
    return map;
  }
  map.basis = random_landmarks(samples, count, engine);
  const auto p = static_cast<Index>(terms.size());
  map.whitening = Matrix(p * count, count);
  Matrix distance;
  for (Index k = 0; k < p; ++k) {
    if (k == 0 || !same_distance(terms[at(k)], terms[at(k - 1)]))
      distance = distances(map.basis, map.basis, {0, count}, terms[at(k)]);
    const Matrix root = inverse_root(kernel_of(terms[at(k)], distance));
    for (Index j = 0; j < count; ++j)
      std::ranges::copy(root.column(j), map.whitening.column(j).begin() + k * count);
  }
  return map;
}

Matrix features_of(const FeatureMap& map, const std::vector<KernelTerm>& terms, const Matrix& samples,
                   Range rows) {
  const auto p = static_cast<Index>(terms.size());
  const Index count = map.count();
  Matrix result(p * count, rows.size());
  Index first = 0;
  while (first < p) {
    Index last = first;
    while (last < p && same_distance(terms[at(last)], terms[at(first)])) ++last;
    const KernelTerm& group = terms[at(first)];
    const bool fourier = map.kind == FeatureMap::Kind::rff;
    const Matrix shared =
        fourier ? projections(map, group, samples, rows) : distances(map.basis, samples, rows, group);
#pragma omp parallel for schedule(static)
    for (Index k = first; k < last; ++k) {
      const MatrixView of_kernel{result.data() + k * count, count, rows.size(), result.rows()};
      if (fourier) {
        add_fourier(map, terms[at(k)], shared, of_kernel);
        continue;
      }
      const ConstMatrixView root{map.whitening.data() + k * count, count, count, map.whitening.rows()};
      algebra::gemm(Op::none, Op::none, 1.0, root, kernel_of(terms[at(k)], shared).view(), 0.0, of_kernel);
    }
    first = last;
  }
  return result;
}

FeatureError feature_error(const FeatureMap& map, const std::vector<KernelTerm>& terms, const Matrix& samples) {
  const Index n = samples.rows();
  const Matrix features = features_of(map, terms, samples, {0, n});
  const Index count = map.count();
  FeatureError error;
  Matrix products(n, n);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const ConstMatrixView of_kernel{features.data() + static_cast<Index>(k) * count, count, n, features.rows()};
    algebra::gemm(Op::transpose, Op::none, 1.0, of_kernel, of_kernel, 0.0, products.view());
    const Matrix kernel = kernel_of(terms[k], distances(samples, samples, {0, n}, terms[k]));
    for (std::size_t i = 0; i < kernel.values().size(); ++i) {
      const double difference = std::abs(kernel.values()[i] - products.values()[i]);
      error.mean += difference;
      error.largest = std::max(error.largest, difference);
    }
  }
  error.mean /= static_cast<double>(terms.size()) * static_cast<double>(n * n);
  return error;
}

}  // namespace kloom
