// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mtmkl/spectrum.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "models/scores.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// Rounding of entries to single precision gives eigenvalues down to some 1e-7 of the largest.
constexpr double kBelowZero = 1e-6;

KernelSpectrum spectrum_of(Matrix kernel, const Vector& roots, const std::string& name) {
  const Index n = kernel.rows();
  KernelSpectrum spectrum;
  double trace = 0.0;
  for (Index i = 0; i < n; ++i) trace += roots[at(i)] * roots[at(i)] * kernel(i, i);
  if (trace > 0.0) spectrum.size = trace / algebra::dot(roots, roots);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) kernel(i, j) *= roots[at(i)] * roots[at(j)] / spectrum.size;
  }
  algebra::Eigen eigen = algebra::symmetric_eigen(kernel.view(), true);
  const double largest = std::max(0.0, eigen.values.back());
  if (eigen.values.front() < -kBelowZero * largest)
    throw InvalidArgument(
        fmt::format("kernel '{}' is not positive semidefinite (an eigenvalue is {:.2g} of the largest), so no "
                    "random function has it as its covariance; use --clip-spectrum",
                    name, eigen.values.front() / largest));
  const double least = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * largest;
  const Index first =
      std::min<Index>(n - 1, std::ranges::upper_bound(eigen.values, least) - eigen.values.begin());
  for (Index k = first; k < n; ++k) spectrum.values.push_back(std::max(0.0, eigen.values[at(k)]));
  std::vector<Index> columns;
  for (Index k = first; k < n; ++k) columns.push_back(k);
  spectrum.vectors =
      first == 0 ? std::move(eigen.vectors) : models::selected(eigen.vectors, models::all_of(n), columns);
  return spectrum;
}

}  // namespace

std::vector<KernelSpectrum> spectra_of(const KernelBank& bank, const std::vector<Index>& samples,
                                       const Vector& roots, const Context& context) {
  const auto n = static_cast<double>(samples.size());
  const algebra::ThreadScope threads(context, n * n * n);
  ProgressMeter meter(context, "eigenvectors of the kernels");
  std::vector<KernelSpectrum> spectra;
  Vector unit(at(bank.kernels()));
  for (Index m = 0; m < bank.kernels(); ++m) {
    unit[at(m)] = 1.0;
    Matrix kernel = bank.combine(unit);
    unit[at(m)] = 0.0;
    if (std::ssize(samples) != kernel.rows()) kernel = models::selected(kernel, samples, samples);
    spectra.push_back(spectrum_of(std::move(kernel), roots, bank.names()[at(m)]));
    if (meter.step(m + 1, bank.kernels(), std::numeric_limits<double>::quiet_NaN()))
      throw Interrupted("mtmkl was stopped before it had the eigenvectors of all kernels");
  }
  return spectra;
}

void filter(const KernelSpectrum& spectrum, std::span<const double> factors, std::span<double> x) {
  Vector parts(spectrum.values.size());
  algebra::gemv(Op::transpose, 1.0, spectrum.vectors.view(), x, 0.0, parts);
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k] *= factors[k];
  algebra::gemv(Op::none, 1.0, spectrum.vectors.view(), parts, 0.0, x);
}

}  // namespace kloom::methods
