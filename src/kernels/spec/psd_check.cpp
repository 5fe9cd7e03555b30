// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/psd_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

void require_square(const PrecomputedMatrix& m, Index samples, const char* what) {
  if (m.values.rows() != m.values.cols())
    throw InvalidArgument(
        fmt::format("{} '{}' is {} × {}; for training it must be square, samples against samples", what, m.name,
                    m.values.rows(), m.values.cols()));
  if (m.values.rows() != samples)
    throw InvalidArgument(fmt::format("{} '{}' is {} × {}, but there are {} samples", what, m.name,
                                      m.values.rows(), m.values.cols(), samples));
}

// Largest absolute entry of a matrix whose entries are all finite.
double largest_finite(const PrecomputedMatrix& m, const char* what) {
  double largest = 0.0;
  for (Index j = 0; j < m.values.cols(); ++j)
    for (Index i = 0; i < m.values.rows(); ++i) {
      const double v = m.values(i, j);
      if (!std::isfinite(v))
        throw InvalidArgument(
            fmt::format("{} '{}' has the value {} in row {}, column {}; every entry must be finite", what,
                        m.name, v, i + 1, j + 1));
      largest = std::max(largest, std::abs(v));
    }
  return largest;
}

// Numbers are copied only where they must change: the caller's data share them.
void make_symmetric(PrecomputedMatrix& m, double largest, const char* what) {
  bool differs = false;
  for (Index j = 0; j < m.values.cols(); ++j)
    for (Index i = j + 1; i < m.values.rows(); ++i) {
      const double below = m.values(i, j);
      const double above = m.values(j, i);
      if (std::abs(below - above) > kSymmetryTolerance * largest)
        throw InvalidArgument(
            fmt::format("{} '{}' is not symmetric: row {}, column {} is {}, but row {}, column {} is "
                        "{}; give (K + Kᵀ)/2 if that is what you mean",
                        what, m.name, i + 1, j + 1, below, j + 1, i + 1, above));
      differs = differs || below != above;
    }
  if (!differs) return;
  Matrix mean = m.values.copy();
  for (Index j = 0; j < mean.cols(); ++j)
    for (Index i = j + 1; i < mean.rows(); ++i) mean(i, j) = mean(j, i) = 0.5 * mean(i, j) + 0.5 * mean(j, i);
  m.values = SharedMatrix(std::move(mean));
}

// Lower estimate of the largest eigenvalue by power iteration; good to a few per cent, which a tolerance
// does not notice.
double power_iteration(const SharedMatrix& kernel) {
  const auto n = static_cast<std::size_t>(kernel.rows());
  Vector x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0 + static_cast<double>(i % 7) / 7.0;
  Vector y(n);
  double norm = 0.0;
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    const double length = std::sqrt(algebra::dot(x, x));
    if (!(length > 0.0)) return 0.0;
    algebra::scale(1.0 / length, x);
    algebra::gemv(algebra::Op::none, 1.0, kernel.view(), x, 0.0, y);
    norm = std::sqrt(algebra::dot(y, y));
    std::swap(x, y);
  }
  return norm;
}

[[noreturn]] void fail_indefinite(const std::string& name, const SpectrumCheck& check) {
  const std::string finding =
      check.exact
          ? fmt::format("its smallest eigenvalue is {:.6g}, its largest {:.6g}", check.smallest, check.largest)
          : fmt::format("it has an eigenvalue below {:.3g}", -kDefinitenessTolerance * check.largest);
  throw InvalidArgument(
      fmt::format("kernel '{}' is not positive semidefinite: {}. Use --clip-spectrum to drop its "
                  "negative part, or, if it holds distances, give it as a distance",
                  name, finding));
}

}  // namespace

SpectrumCheck check_spectrum(const SharedMatrix& kernel, Index exact_up_to) {
  SpectrumCheck result;
  if (kernel.rows() == 0) return result;
  if (kernel.rows() <= exact_up_to) {
    const Vector values = algebra::symmetric_eigen(kernel.view(), false).values;
    result.smallest = values.front();
    result.largest = values.back();
    const double size = std::max(std::abs(result.smallest), std::abs(result.largest));
    result.semidefinite = result.smallest >= -kDefinitenessTolerance * size;
    return result;
  }
  result.exact = false;
  result.largest = power_iteration(kernel);
  if (result.largest == 0.0) return result;
  Matrix shifted = kernel.copy();
  for (Index i = 0; i < kernel.rows(); ++i) shifted(i, i) += kDefinitenessTolerance * result.largest;
  result.semidefinite = algebra::cholesky(shifted.view()) == 0;
  return result;
}

double clip_spectrum(Matrix& kernel) {
  algebra::Eigen eigen = algebra::symmetric_eigen(kernel.view(), true);
  double dropped = 0.0;
  Index first = 0;
  for (; first < kernel.rows(); ++first) {
    const double value = eigen.values[static_cast<std::size_t>(first)];
    if (value > 0.0) break;
    dropped -= value;
  }
  for (Index k = first; k < kernel.rows(); ++k)
    algebra::scale(std::sqrt(eigen.values[static_cast<std::size_t>(k)]), eigen.vectors.column(k));
  const Matrix& vectors = eigen.vectors;
  algebra::syrk(algebra::Op::none, 1.0, vectors.columns({first, kernel.rows()}), 0.0, kernel.view());
  return dropped;
}

void prepare_kernel(PrecomputedMatrix& kernel, Index samples, bool clip, const Context& context) {
  require_square(kernel, samples, "kernel");
  const double largest = largest_finite(kernel, "kernel");
  make_symmetric(kernel, largest, "kernel");
  const SpectrumCheck check = check_spectrum(kernel.values);
  if (check.semidefinite) return;
  if (!clip) fail_indefinite(kernel.name, check);
  double trace = 0.0;
  for (Index i = 0; i < samples; ++i) trace += kernel.values(i, i);
  Matrix clipped = kernel.values.copy();
  const double dropped = clip_spectrum(clipped);
  kernel.values = SharedMatrix(std::move(clipped));
  log(context, LogLevel::warning,
      fmt::format(
          "kernel '{}' is not positive semidefinite: negative eigenvalues of sum {:.3g} were dropped (its "
          "trace was {:.3g})",
          kernel.name, -dropped, trace));
}

void prepare_distance(PrecomputedMatrix& distance, Index samples) {
  require_square(distance, samples, "distance");
  const double largest = largest_finite(distance, "distance");
  for (Index j = 0; j < samples; ++j)
    for (Index i = 0; i < samples; ++i)
      if (distance.values(i, j) < 0.0)
        throw InvalidArgument(
            fmt::format("distance '{}' is negative ({}) in row {}, column {}; if it holds "
                        "similarities, give it as a kernel",
                        distance.name, distance.values(i, j), i + 1, j + 1));
  make_symmetric(distance, largest, "distance");
  bool differs = false;
  for (Index i = 0; i < samples; ++i) {
    if (distance.values(i, i) > kSymmetryTolerance * largest)
      throw InvalidArgument(fmt::format("distance '{}' is {} between sample {} and itself; it must be 0",
                                        distance.name, distance.values(i, i), i + 1));
    differs = differs || distance.values(i, i) != 0.0;
  }
  if (!differs) return;
  Matrix exact = distance.values.copy();
  for (Index i = 0; i < samples; ++i) exact(i, i) = 0.0;
  distance.values = SharedMatrix(std::move(exact));
}

}  // namespace kloom::kernels
