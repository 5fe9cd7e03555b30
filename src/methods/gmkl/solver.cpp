// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gmkl/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"

namespace kloom::methods {
namespace {

using algebra::Op;

[[noreturn]] void refuse_entry(const KernelBank& bank, Index p, Index i, Index j, double value) {
  throw InvalidArgument(fmt::format(
      "kernel '{}' has the value {:.6g} between samples {} and {}, and a product of powers needs kernels above 0: "
      "take Gaussian or Laplacian kernels, one for each column (--kernels \"rbf(width=1) on each\"), wider ones "
      "where the value is 0, and store them as they are (--bank dense)",
      bank.names()[at(p)], value, i + 1, j + 1));
}

}  // namespace

LogKernels::LogKernels(const KernelBank& bank)
    : samples_(bank.rows()), logs_(bank.rows() * (bank.rows() + 1) / 2, bank.kernels()) {
  // A few rows of one kernel at a time.
  const Index block = std::max<Index>(1, (Index{1} << 20) / std::max<Index>(1, samples_));
  Vector panel(at(block * samples_));
  for (Index p = 0; p < bank.kernels(); ++p) {
    double* log_value = logs_.column(p).data();
    for (Index from = 0; from < samples_; from += block) {
      const Range rows{from, std::min(samples_, from + block)};
      bank.panels({p, p + 1}, rows, panel.data());
      for (Index i = rows.begin; i < rows.end; ++i) {
        for (Index j = i; j < samples_; ++j) {
          const double value = panel[at((i - rows.begin) * samples_ + j)];
          if (!(value > 0.0)) refuse_entry(bank, p, i, j, value);
          *log_value++ = std::log(value);
        }
      }
    }
  }
}

Matrix LogKernels::product(const Vector& gamma) const {
  Vector packed(at(logs_.rows()));
  algebra::gemv(Op::none, 1.0, logs_.view(), gamma, 0.0, packed);
  Matrix kernel(samples_, samples_);
  const double* exponent = packed.data();
  for (Index j = 0; j < samples_; ++j) {
    for (Index i = j; i < samples_; ++i) kernel(i, j) = kernel(j, i) = std::exp(*exponent++);
  }
  return kernel;
}

Vector LogKernels::slopes(const Matrix& product, const std::vector<MarginSolution>& machines) const {
  Vector packed(at(logs_.rows()));
  for (const MarginSolution& machine : machines) {
    const Vector& c = machine.coefficients;
    double* weight = packed.data();
    for (Index j = 0; j < samples_; ++j) {
      const double both = 2.0 * c[at(j)];
      for (Index i = j; i < samples_; ++i, ++weight) {
        if (both != 0.0) *weight += (i == j ? 0.5 : 1.0) * both * c[at(i)] * product(i, j);
      }
    }
  }
  Vector result(at(kernels()));
  algebra::gemv(Op::transpose, 1.0, logs_.view(), packed, 0.0, result);
  return result;
}

namespace {

class ProductDescent {
 public:
  ProductDescent(const LogKernels& kernels, const std::vector<MarginTask>& tasks,
                 const ProductSettings& settings, const Context& context)
      : kernels_(kernels), tasks_(tasks), settings_(settings), context_(context), meter_(context, "gmkl") {}

  ProductSolution solve(ProductStart start);

 private:
  struct Point {
    Vector gamma, slope;
    Matrix kernel;
    std::vector<MarginSolution> machines;
    double objective = 0.0;
    bool settled = true;  // the machines are
  };
  [[nodiscard]] Point at_gamma(Vector gamma, std::vector<Vector> alpha) const;
  [[nodiscard]] double regulariser(const Vector& gamma) const;
  [[nodiscard]] double stationarity(const Point& point) const;
  [[nodiscard]] bool descend(Point& point, double& step) const;

  const LogKernels& kernels_;
  const std::vector<MarginTask>& tasks_;
  const ProductSettings& settings_;
  const Context& context_;
  ProgressMeter meter_;
};

double ProductDescent::regulariser(const Vector& gamma) const {
  return settings_.squared ? 0.5 * settings_.lambda * algebra::dot(gamma, gamma)
                           : settings_.lambda * std::accumulate(gamma.begin(), gamma.end(), 0.0);
}

// Machines are solved far beyond what is asked of T, since steps are judged by differences of T.
ProductDescent::Point ProductDescent::at_gamma(Vector gamma, std::vector<Vector> alpha) const {
  Point point;
  point.kernel = kernels_.product(gamma);
  const std::shared_ptr<const void> borrowed(&point.kernel, [](const void*) {});
  const auto bank =
      make_dense_bank(BorrowedKernels{point.kernel.data(), point.kernel.rows(), point.kernel.cols(), borrowed},
                      {"product"}, true);
  MarginSettings settings;
  settings.rule = WeightRule::fixed;
  settings.norm = 0.0;
  settings.tolerance = 1e-3 * std::min(1e-2, settings_.tolerance);
  settings.stage = "machine";
  point.objective = regulariser(gamma);
  for (std::size_t k = 0; k < tasks_.size(); ++k) {
    MarginStart start({1.0}, alpha.empty() ? Vector{} : std::move(alpha[k]));
    point.machines.push_back(solve_margin_mkl(*bank, tasks_[k], settings, std::move(start), context_));
    point.objective += point.machines.back().primal;
    point.settled = point.settled && point.machines.back().status == Status::converged;
  }
  point.slope = kernels_.slopes(point.kernel, point.machines);
  for (std::size_t p = 0; p < gamma.size(); ++p)
    point.slope[p] = settings_.lambda * (settings_.squared ? gamma[p] : 1.0) - 0.5 * point.slope[p];
  point.gamma = std::move(gamma);
  return point;
}

double ProductDescent::stationarity(const Point& point) const {
  const double sum = std::accumulate(point.gamma.begin(), point.gamma.end(), 0.0);
  const double other = std::max(1.0, sum) / static_cast<double>(point.gamma.size());
  double worst = 0.0;
  for (std::size_t p = 0; p < point.gamma.size(); ++p) {
    const double gain = point.gamma[p] > 0.0 ? point.gamma[p] * std::abs(point.slope[p])
                                             : other * std::max(0.0, -point.slope[p]);
    worst = std::max(worst, gain);
  }
  return worst / std::max(point.objective, 1e-300);
}

// One step; false where no step along the slope lets T fall any more.
bool ProductDescent::descend(Point& point, double& step) const {
  constexpr int kShorter = 40;
  for (int tries = 0; tries < kShorter; ++tries, step *= 0.3) {
    Vector gamma = point.gamma;
    double promised = 0.0;
    for (std::size_t p = 0; p < gamma.size(); ++p) {
      gamma[p] = std::max(0.0, gamma[p] - step * point.slope[p]);
      promised += point.slope[p] * (gamma[p] - point.gamma[p]);
    }
    if (!(promised < 0.0)) return false;
    std::vector<Vector> alpha;
    for (const MarginSolution& machine : point.machines) alpha.push_back(machine.alpha);
    Point next = at_gamma(std::move(gamma), std::move(alpha));
    if (!(next.objective < point.objective) || next.objective > point.objective + 1e-4 * promised) continue;
    double moved = 0.0;
    double turned = 0.0;
    for (std::size_t p = 0; p < point.gamma.size(); ++p) {
      const double change = next.gamma[p] - point.gamma[p];
      moved += change * change;
      turned += change * (next.slope[p] - point.slope[p]);
    }
    step = turned > 0.0 ? moved / turned : 3.0 * step;
    point = std::move(next);
    return true;
  }
  return false;
}

ProductSolution ProductDescent::solve(ProductStart start) {
  ProductSolution solution;
  Point point = at_gamma(std::move(start.gamma), std::move(start.alpha));
  // The first step would move the exponents by about their own size.
  const double length = std::sqrt(algebra::dot(point.slope, point.slope));
  double step = std::sqrt(algebra::dot(point.gamma, point.gamma)) / std::max(length, 1e-300);
  solution.status = Status::iteration_limit;
  for (Index t = 0; t < settings_.iterations; ++t) {
    solution.trace.push_back({t, point.objective, meter_.seconds()});
    if (stationarity(point) <= settings_.tolerance) {
      solution.status = Status::converged;
      break;
    }
    if (meter_.step(t + 1, settings_.iterations, point.objective)) {
      solution.status = Status::stopped;
      break;
    }
    ++solution.iterations;
    if (!descend(point, step)) break;
  }
  if (stationarity(point) <= settings_.tolerance) solution.status = Status::converged;
  if (!point.settled && solution.status == Status::converged) solution.status = Status::iteration_limit;
  solution.stationarity = stationarity(point);
  solution.objective = point.objective;
  solution.gamma = std::move(point.gamma);
  solution.kernel = std::move(point.kernel);
  solution.machines = std::move(point.machines);
  return solution;
}

}  // namespace

ProductSolution solve_product(const LogKernels& kernels, const std::vector<MarginTask>& tasks,
                              const ProductSettings& settings, ProductStart start, const Context& context) {
  return ProductDescent(kernels, tasks, settings, context).solve(std::move(start));
}

}  // namespace kloom::methods
