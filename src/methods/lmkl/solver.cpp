// SPDX-License-Identifier: BSD-3-Clause
#include "methods/lmkl/solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kernels/banks/gated_bank.h"
#include "methods/gated/scores.h"

namespace kloom::methods {

using algebra::Op;

namespace {

// Samples whose kernel makes the components: all, or evenly spread ones.
std::vector<Index> landmarks_of(Index samples) {
  constexpr Index kMost = 500;
  const Index count = std::min(samples, kMost);
  std::vector<Index> landmarks;
  for (Index k = 0; k < count; ++k) landmarks.push_back((2 * k + 1) * samples / (2 * count));
  return landmarks;
}

// Row and column means to 0. Returns the row means there were.
Vector centre(Matrix& kernel) {
  const Index m = kernel.rows();
  Vector means(at(m));
  double mean = 0.0;
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) means[at(j)] += kernel(i, j) / static_cast<double>(m);
    mean += means[at(j)] / static_cast<double>(m);
  }
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) kernel(i, j) += mean - means[at(i)] - means[at(j)];
  }
  return means;
}

}  // namespace

void set_gate_inputs(Gates& gate, const KernelBank& bank, Vector space, Index inputs) {
  const std::vector<Index> landmarks = landmarks_of(bank.rows());
  const Index m = std::ssize(landmarks);
  Matrix rows(bank.cols(), m);
  bank.combine_rows(space, landmarks, rows.view());
  Matrix kernel(m, m);
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) kernel(i, j) = 0.5 * (rows(landmarks[at(i)], j) + rows(landmarks[at(j)], i));
  }
  const Vector means = centre(kernel);
  const algebra::Eigen eigen = algebra::symmetric_eigen(kernel.view(), true);
  const double largest = std::max(eigen.values.back(), 1e-300);
  Index rank = 1;  // a kernel without any component still has one input, 0
  while (rank < std::min(inputs, m) && eigen.values[at(m - 1 - rank)] > 1e-10 * largest) ++rank;

  gate.projection = Matrix(bank.rows(), rank);
  gate.offset.assign(at(rank), 0.0);
  double square = 0.0;  // Σ of the landmarks' squared coordinates: Σ of the eigenvalues kept
  for (Index r = 0; r < rank; ++r) square += std::max(0.0, eigen.values[at(m - 1 - r)]);
  const double scale = std::sqrt(static_cast<double>(rank * m) / std::max(square, 1e-300));
  for (Index r = 0; r < rank; ++r) {
    const auto vector = eigen.vectors.column(m - 1 - r);
    const double value = eigen.values[at(m - 1 - r)];
    const double size = value > 1e-10 * largest ? scale / std::sqrt(value) : 0.0;
    double mean = 0.0;
    for (const double u : vector) mean += u / static_cast<double>(m);
    for (Index k = 0; k < m; ++k) {
      const double weight = size * (vector[at(k)] - mean);
      gate.projection(landmarks[at(k)], r) = weight;
      gate.offset[at(r)] -= weight * means[at(k)];
    }
  }
  gate.space = std::move(space);
}

LocalPoint local_point(const LocalProblem& problem, Matrix parameters, const Vector& warm,
                       const Context& context) {
  LocalPoint point;
  point.gates = gate_values(problem.settings.kind, parameters, problem.inputs);
  point.parameters = std::move(parameters);
  const kernels::GatedBank gated(problem.bank, point.gates);
  MarginSettings inner;
  inner.rule = WeightRule::fixed;
  inner.tolerance = problem.settings.tolerance;
  inner.stage = "lmkl";
  const MarginStart start(Vector(at(problem.bank.kernels()), 1.0), warm);
  point.inner = solve_margin_mkl(gated, problem.task, inner, start, context);
  return point;
}

// −Σ_i Σ_k c_i (K_k(c∘g_k))_i ∂g_k(x_i)/∂v_m ([GonenAlpaydin2008] section 3, with the factors of the gates).
Matrix local_gradient(const KernelBank& bank, const Matrix& inputs, Gates::Kind kind, const LocalPoint& point) {
  const Index n = bank.rows();
  const Index kernels = bank.kernels();
  const Vector ones(at(kernels), 1.0);
  Matrix slope = gated_outputs(bank, ones, point.inner.coefficients, point.gates);
  for (Index p = 0; p < kernels; ++p) {
    for (Index i = 0; i < n; ++i) slope(i, p) *= point.inner.coefficients[at(i)] * point.gates(i, p);
  }
  // Now c_i (K_p(c∘g_p))_i g_ip; the derivative of log g_p follows.
  const double root = std::sqrt(static_cast<double>(kernels));
  for (Index i = 0; i < n; ++i) {
    double sum = 0.0;
    for (Index p = 0; p < kernels; ++p) sum += slope(i, p);
    for (Index p = 0; p < kernels; ++p) {
      if (kind == Gates::Kind::softmax) {
        slope(i, p) -= point.gates(i, p) / root * sum;
      } else {
        slope(i, p) *= 1.0 - 0.5 * root * point.gates(i, p);
      }
    }
  }
  Matrix gradient(kernels, inputs.cols() + 1);
  algebra::gemm(Op::transpose, Op::none, -1.0, slope.view(), inputs.view(), 0.0,
                gradient.columns({0, inputs.cols()}));
  for (Index p = 0; p < kernels; ++p) {
    for (Index i = 0; i < n; ++i) gradient(p, inputs.cols()) -= slope(i, p);
  }
  return gradient;
}

namespace {

// The best point along −gradient from `point`, first trying `step`, or `point` itself. J must fall by a part of
// what the slope promises (Armijo).
struct LineSearch {
  LocalPoint point;
  double step = 0.0;  // 0: nothing lower was found
};

LineSearch search_line(const LocalProblem& problem, const LocalPoint& from, const Matrix& gradient, double step,
                       const Context& context) {
  constexpr double kPart = 1e-4;
  const double square = algebra::dot(gradient.values(), gradient.values());
  for (int halvings = 0; halvings < 20; ++halvings, step *= 0.25) {
    Matrix parameters = from.parameters;
    algebra::axpy(-step, gradient.values(), parameters.values());
    LocalPoint candidate = local_point(problem, std::move(parameters), from.inner.alpha, context);
    if (candidate.inner.primal <= from.inner.primal - kPart * step * square)
      return {std::move(candidate), step};
  }
  return {from, 0.0};
}

// Barzilai and Borwein's step from the last move and what it changed of the gradient; the old one
// where that is no use.
double next_step(const Matrix& gradient, const Matrix& before, double step) {
  double change = 0.0;
  double square = 0.0;
  for (std::size_t k = 0; k < gradient.values().size(); ++k) {
    const double difference = gradient.values()[k] - before.values()[k];
    change -= before.values()[k] * difference;
    square += difference * difference;
  }
  return change > 0.0 && square > 0.0 ? std::clamp(step * change / square, 1e-3 * step, 1e3 * step)
                                      : 4.0 * step;
}

}  // namespace

LocalSolution solve_local_mkl(const KernelBank& bank, const MarginTask& task, const Matrix& inputs,
                              const LocalSettings& settings, const Context& context) {
  ProgressMeter meter(context, "lmkl");
  LocalSolution solution;
  const LocalProblem problem{bank, task, inputs, settings};
  LocalPoint point = local_point(problem, Matrix(bank.kernels(), inputs.cols() + 1), {}, context);
  Matrix gradient = local_gradient(bank, inputs, settings.kind, point);
  solution.trace.push_back({0, point.inner.primal, meter.seconds()});
  solution.status = Status::iteration_limit;
  // First a step that moves the gates' arguments by about 1.
  double largest = 1e-300;
  for (const double slope : gradient.values()) largest = std::max(largest, std::abs(slope));
  double step = 1.0 / largest;
  while (solution.steps < settings.steps && point.inner.status != Status::stopped) {
    LineSearch found = search_line(problem, point, gradient, step, context);
    if (found.step == 0.0) {
      solution.status = Status::converged;
      break;
    }
    ++solution.steps;
    const double fall = point.inner.primal - found.point.inner.primal;
    point = std::move(found.point);
    solution.trace.push_back({solution.steps, point.inner.primal, meter.seconds()});
    if (fall <= settings.change * std::abs(point.inner.primal)) {
      solution.status = Status::converged;
      break;
    }
    const Matrix before = std::exchange(gradient, local_gradient(bank, inputs, settings.kind, point));
    step = next_step(gradient, before, found.step);
    if (meter.step(solution.steps, settings.steps, point.inner.primal)) {
      solution.status = Status::stopped;
      break;
    }
  }
  // Gates that nothing improves are no solution if the machine behind them is none.
  if (point.inner.status != Status::converged) solution.status = point.inner.status;
  solution.inner = std::move(point.inner);
  solution.parameters = std::move(point.parameters);
  solution.gates = std::move(point.gates);
  return solution;
}

}  // namespace kloom::methods
