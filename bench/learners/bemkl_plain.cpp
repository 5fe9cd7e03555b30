// SPDX-License-Identifier: BSD-3-Clause
#include "bemkl_plain.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/stopwatch.h"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
            const double*, double*, const int*);
void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dpotri_(const char*, const int*, double*, const int*, int*);
void openblas_set_num_threads(int);
}

namespace kloom::bench {
namespace {

// All priors are (1, 1), σ_g = 1 and ν = 1, the library's defaults.
constexpr double kMargin = 1.0;

double expected_precision(double second_moment) {
  return 1.5 / (1.0 + 0.5 * second_moment);
}

void multiply(const Matrix& a, const double* x, double beta, double* y) {
  const int m = static_cast<int>(a.rows());
  const int n = static_cast<int>(a.cols());
  const int one = 1;
  const double alpha = 1.0;
  dgemv_("N", &m, &n, &alpha, a.data(), &m, x, &one, &beta, y, &one);
}

void invert(Matrix& a) {
  const int n = static_cast<int>(a.rows());
  int info = 0;
  dpotrf_("L", &n, a.data(), &n, &info);
  dpotri_("L", &n, a.data(), &n, &info);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) a(j, i) = a(i, j);
  }
}

// E|z + t| of a standard normal z given z + t > 0, less t: φ(t)/Φ(t), for moderate t.
double hazard(double t) {
  return std::exp(-0.5 * t * t) / std::sqrt(2.0 * std::numbers::pi) /
         (0.5 * std::erfc(-t / std::numbers::sqrt2));
}

}  // namespace

void set_plain_threads(int threads) {
  openblas_set_num_threads(threads);
}

double seconds_of_lapack_inverse(Index n) {
  Matrix a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      a(i, j) = (i == j ? 2.0 : 0.0) + 1.0 / (1.0 + std::abs(static_cast<double>(i - j)));
  }
  const int size = static_cast<int>(n);
  int info = 0;
  const kloom::Stopwatch clock;
  dpotrf_("L", &size, a.data(), &size, &info);
  dpotri_("L", &size, a.data(), &size, &info);
  return clock.seconds();
}

PlainBemkl::PlainBemkl(std::vector<Matrix> kernels, Vector signs)
    : kernels_(std::move(kernels)),
      signs_(std::move(signs)),
      gram_(kernels_.front().rows(), kernels_.front().rows()),
      outputs_(gram_.rows(), static_cast<Index>(kernels_.size())),
      g_(outputs_),
      lambda_(signs_.size(), 1.0),
      a_(signs_.size(), 1.0),
      omega_(kernels_.size(), 1.0),
      be_(kernels_.size() + 1, 1.0),
      f_(signs_) {
  const int n = static_cast<int>(gram_.rows());
  const double one = 1.0;
  for (const Matrix& k : kernels_)
    dgemm_("N", "N", &n, &n, &n, &one, k.data(), &n, k.data(), &n, &one, gram_.data(), &n);
  be_.front() = 0.0;
  for (double& f : f_) f *= 1.8;
  for (Index m = 0; m < g_.cols(); ++m) std::ranges::copy(f_, g_.column(m).begin());
  const auto p = static_cast<Index>(kernels_.size());
  a_covariance_ = Matrix(gram_.rows(), gram_.rows());
  for (Index i = 0; i < gram_.rows(); ++i) a_covariance_(i, i) = 1.0;
  be_covariance_ = Matrix(p + 1, p + 1);
  for (Index i = 0; i <= p; ++i) be_covariance_(i, i) = 1.0;
}

void PlainBemkl::iterate() {
  update_a();
  update_g();
  update_be();
  update_f();
}

void PlainBemkl::update_a() {
  const std::size_t n = a_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<Index>(i);
    lambda_[i] = expected_precision(a_[i] * a_[i] + a_covariance_(k, k));
  }
  a_covariance_ = gram_;
  for (std::size_t i = 0; i < n; ++i) a_covariance_(static_cast<Index>(i), static_cast<Index>(i)) += lambda_[i];
  invert(a_covariance_);
  Vector right(n);
  for (std::size_t m = 0; m < kernels_.size(); ++m)
    multiply(kernels_[m], g_.column(static_cast<Index>(m)).data(), 1.0, right.data());
  multiply(a_covariance_, right.data(), 0.0, a_.data());
  for (std::size_t m = 0; m < kernels_.size(); ++m)
    multiply(kernels_[m], a_.data(), 0.0, outputs_.column(static_cast<Index>(m)).data());
}

void PlainBemkl::update_g() {
  const auto p = static_cast<Index>(kernels_.size());
  const Index n = outputs_.rows();
  g_covariance_ = Matrix(p, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i)
      g_covariance_(i, j) = be_covariance_(i + 1, j + 1) +
                            be_[static_cast<std::size_t>(i) + 1] * be_[static_cast<std::size_t>(j) + 1] +
                            (i == j ? 1.0 : 0.0);
  }
  invert(g_covariance_);
  Matrix linear = outputs_;
  for (Index m = 0; m < p; ++m) {
    const double e = be_[static_cast<std::size_t>(m) + 1];
    const double eb = be_.front() * e + be_covariance_(m + 1, 0);
    for (Index i = 0; i < n; ++i) linear(i, m) += e * f_[static_cast<std::size_t>(i)] - eb;
  }
  const int rows = static_cast<int>(n);
  const int cols = static_cast<int>(p);
  const double one = 1.0;
  const double zero = 0.0;
  dgemm_("N", "N", &rows, &cols, &cols, &one, linear.data(), &rows, g_covariance_.data(), &cols, &zero,
         g_.data(), &rows);
}

void PlainBemkl::update_be() {
  const auto p = static_cast<Index>(kernels_.size());
  const Index n = outputs_.rows();
  gamma_ = expected_precision(be_[0] * be_[0] + be_covariance_(0, 0));
  for (Index m = 0; m < p; ++m) {
    const double e = be_[static_cast<std::size_t>(m) + 1];
    omega_[static_cast<std::size_t>(m)] = expected_precision(e * e + be_covariance_(m + 1, m + 1));
  }
  Matrix moment(p, p);
  const int rows = static_cast<int>(n);
  const int cols = static_cast<int>(p);
  const double one = 1.0;
  const double zero = 0.0;
  dsyrk_("L", "T", &cols, &rows, &one, g_.data(), &rows, &zero, moment.data(), &cols);
  Vector right(static_cast<std::size_t>(p) + 1);
  be_covariance_ = Matrix(p + 1, p + 1);
  be_covariance_(0, 0) = gamma_ + static_cast<double>(n);
  for (double f : f_) right[0] += f;
  for (Index j = 0; j < p; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      sum += g_(i, j);
      right[static_cast<std::size_t>(j) + 1] += g_(i, j) * f_[static_cast<std::size_t>(i)];
    }
    be_covariance_(j + 1, 0) = sum;
    for (Index i = j; i < p; ++i)
      be_covariance_(i + 1, j + 1) = moment(i, j) + static_cast<double>(n) * g_covariance_(i, j);
    be_covariance_(j + 1, j + 1) += omega_[static_cast<std::size_t>(j)];
  }
  invert(be_covariance_);
  multiply(be_covariance_, right.data(), 0.0, be_.data());
}

void PlainBemkl::update_f() {
  Vector means(f_.size(), be_.front());
  multiply(g_, be_.data() + 1, 1.0, means.data());
  for (std::size_t i = 0; i < f_.size(); ++i)
    f_[i] = means[i] + signs_[i] * hazard(signs_[i] * means[i] - kMargin);
}

}  // namespace kloom::bench
