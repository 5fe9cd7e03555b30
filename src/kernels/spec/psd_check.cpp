// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/psd_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "data/symmetry.h"
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

void require_finite(const PrecomputedMatrix& m, const char* what) {
  for (Index j = 0; j < m.values.cols(); ++j)
    for (Index i = 0; i < m.values.rows(); ++i) {
      if (std::isfinite(m.values(i, j))) continue;
      throw InvalidArgument(
          fmt::format("{} '{}' has the value {} in row {}, column {}; every entry must be finite", what, m.name,
                      m.values(i, j), i + 1, j + 1));
    }
}

// Numbers are copied only where they must change: the caller's data share them. Returns the size of the largest entry.
double make_symmetric(PrecomputedMatrix& m, const char* what) {
  const data::Asymmetry found = data::asymmetry(m.values.view());
  if (found.exact()) return found.largest;
  if (!found.rounding()) {
    throw InvalidArgument(fmt::format(
        "{} '{}' is not symmetric: row {}, column {} is {}, but row {}, column {} is {}; give (K + Kᵀ)/2 if that is what "
        "you mean",
        what, m.name, found.row + 1, found.column + 1, m.values(found.row, found.column), found.column + 1,
        found.row + 1, m.values(found.column, found.row)));
  }
  Matrix mean = m.values.copy();
  data::average_mirror_images(mean.view());
  m.values = SharedMatrix(std::move(mean));
  return found.largest;
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
  require_finite(kernel, "kernel");
  make_symmetric(kernel, "kernel");
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
  require_finite(distance, "distance");
  for (Index j = 0; j < samples; ++j)
    for (Index i = 0; i < samples; ++i)
      if (distance.values(i, j) < 0.0)
        throw InvalidArgument(
            fmt::format("distance '{}' is negative ({}) in row {}, column {}; if it holds "
                        "similarities, give it as a kernel",
                        distance.name, distance.values(i, j), i + 1, j + 1));
  const double largest = make_symmetric(distance, "distance");
  bool differs = false;
  for (Index i = 0; i < samples; ++i) {
    if (distance.values(i, i) > data::symmetry_tolerance * largest)
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
