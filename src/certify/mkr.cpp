// SPDX-License-Identifier: BSD-3-Clause
//
// Of every target, with its kernel weights θ and strength α, K = Σ_m θ_m K_m, S the weights of the samples and y the target
// less the model's bias (which must be the weighted mean):
//
//   primal(c) = (y − Kc)ᵀS(y − Kc) + α cᵀKc     dual(c) = 2α cᵀy − α cᵀKc − α² cᵀS⁻¹c     primal − dual = ‖S^½(y − Kc − αS⁻¹c)‖²
//
// so the residual of the linear equations proves how good the coefficients are. Leave-one-out errors are computed again,
// from an inverse, for some targets. Weights in groups (groups.h) were learned: α cᵀKc in the dual becomes α times the largest
// θ'ᵀq of all weights θ', q_m = cᵀK_mc, so that the gap is larger by α (max θ'ᵀq − θᵀq), and a proof about the weights as well. Where samples lack kernels, K(i, j) is divided by √(σ_i σ_j), σ_i the share of Σ_m θ_m d_m
// that sample i has, d_m the mean diagonal of kernel m over the samples that have it, and c is that of the model times √σ. θ and α must be among those that the model says were tried, unless it went on from them.
#include "certify/mkr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/groups.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

// Inverses are computed for so many targets at most: each takes n³.
constexpr Index kMostInverses = 20;

struct RidgeFinding {
  double objective = 0.0;
  double gap = 0.0;   // relative, the largest
  double mean = 0.0;  // of the weighted residuals' means: the bias is not the mean, in deviations of the target
  double norm = 0.0;  // kernel weights below 0, or of another sum than 1
  double tried = 0.0;     // distance of weights and strengths from those that were tried
  double left_out = 0.0;  // relative error of leave-one-out errors
};

struct RidgeProblem {
  KernelGroups set;
  Vector weights;  // of the samples
  Vector sizes;    // d; empty where nothing is lacking
  double total = 0.0;
  Matrix y;  // less the bias
};

RidgeProblem ridge_problem(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<RidgePart>(model);
  RidgeProblem problem;
  problem.set = {part.groups, part.group_norm, part.mix};
  problem.weights = part.sample_weights.empty() ? Vector(at(targets.samples()), 1.0) : part.sample_weights;
  problem.total = std::accumulate(problem.weights.begin(), problem.weights.end(), 0.0);
  const Matrix& presence = bank.presence().rows;
  const Matrix diagonal = presence.empty() ? Matrix() : bank.diagonal();
  for (Index m = 0; m < diagonal.cols(); ++m) {
    double sum = 0.0;
    double count = 0.0;
    for (Index i = 0; i < diagonal.rows(); ++i) {
      count += presence(i, m);
      sum += presence(i, m) * diagonal(i, m);
    }
    problem.sizes.push_back(count > 0.0 ? sum / count : 0.0);
  }
  problem.y = targets.values;
  for (Index t = 0; t < problem.y.cols(); ++t) {
    for (double& value : problem.y.column(t)) value -= model.bias[at(t)];
  }
  return problem;
}

Vector weights_for(const Model& model, Index target) {
  Vector theta;
  const Index row = model.weights.values.rows() > 1 ? target : 0;
  for (Index m = 0; m < model.weights.values.cols(); ++m) theta.push_back(model.weights.values(row, m));
  return theta;
}

// 1/√σ of every sample; 1 of one that lacks all of it.
Vector factors_for(const KernelBank& bank, const RidgeProblem& problem, const Vector& theta) {
  Vector factors(at(bank.rows()), 1.0);
  if (problem.sizes.empty()) return factors;
  const double whole = algebra::dot(theta, problem.sizes);
  for (Index i = 0; i < bank.rows(); ++i) {
    double own = 0.0;
    for (Index m = 0; m < bank.kernels(); ++m)
      own += bank.presence().rows(i, m) * theta[at(m)] * problem.sizes[at(m)];
    if (own > 0.0) factors[at(i)] = std::sqrt(whole / own);
  }
  return factors;
}

// The sum of kernels, and coefficients that belong to it.
struct RidgeSystem {
  Matrix kernel;
  Vector factors;
};

RidgeSystem system_for(const KernelBank& bank, const RidgeProblem& problem, const Vector& theta) {
  RidgeSystem system{bank.combine(theta), factors_for(bank, problem, theta)};
  for (Index j = 0; j < bank.rows(); ++j) {
    for (Index i = 0; i < bank.rows(); ++i)
      system.kernel(i, j) *= system.factors[at(i)] * system.factors[at(j)];
  }
  return system;
}

// Targets of the same kernel weights, whose kernels need not be summed again.
std::map<Vector, std::vector<Index>> groups_of(const Model& model) {
  std::map<Vector, std::vector<Index>> groups;
  for (Index t = 0; t < model.coefficients.cols(); ++t) groups[weights_for(model, t)].push_back(t);
  return groups;
}

void examine_weights(const Model& model, Index target, const Vector& theta, RidgeFinding& finding) {
  const auto& part = part_of<RidgePart>(model);
  const bool grouped = !part.groups.empty();
  // The simplex is the set of a single group whose norm is the sum.
  const KernelGroups set = grouped ? KernelGroups{part.groups, part.group_norm, part.mix}
                                   : KernelGroups{Vector(theta.size()), 1.0, 1.0};
  finding.norm = worse(finding.norm, distance_from_edge(set, theta));
  if (part.refined) return;
  double nearest = grouped ? 0.0 : std::numeric_limits<double>::infinity();
  for (Index d = 0; d < part.points.rows() && !grouped; ++d) {
    double apart = 0.0;
    for (std::size_t m = 0; m < theta.size(); ++m)
      apart = worse(apart, std::abs(theta[m] - part.points(d, static_cast<Index>(m))));
    nearest = std::min(nearest, apart);
  }
  double strength = std::numeric_limits<double>::infinity();
  for (const double one : part.grid)
    strength = std::min(strength, std::abs(part.strengths[at(target)] / one - 1.0));
  finding.tried = worse(finding.tried, worse(nearest, strength));
}

// max θ'ᵀq − θᵀq over the set of the weights; 0 where they are no groups.
double beyond_weights(const KernelBank& bank, const RidgeProblem& problem, const Vector& theta,
                      const Vector& c) {
  if (problem.set.groups.empty()) return 0.0;
  const Matrix forms = bank.quadratic_forms({c.data(), std::ssize(c), 1, std::ssize(c)});
  Vector q;
  for (const double form : forms.values()) q.push_back(std::max(0.0, form));
  return largest_sum(problem.set, q) - algebra::dot(theta, q);
}

void examine_coefficients(const KernelBank& bank, const RidgeProblem& problem, const RidgeSystem& system,
                          const Model& model, Index target, RidgeFinding& finding) {
  const double strength = part_of<RidgePart>(model).strengths[at(target)];
  Vector c;
  for (Index i = 0; i < model.coefficients.rows(); ++i)
    c.push_back(model.coefficients(i, target) / system.factors[at(i)]);
  const auto y = problem.y.column(target);
  Vector f(y.size());
  algebra::gemv(algebra::Op::none, 1.0, system.kernel.view(), c, 0.0, f);
  double primal = strength * algebra::dot(f, c);
  double apart = 0.0;
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double s = problem.weights[i];
    if (s == 0.0) {
      apart = worse(apart, std::abs(c[i]) > 0.0 ? std::numeric_limits<double>::infinity() : 0.0);
      continue;
    }
    const double residual = y[i] - f[i];
    primal += s * residual * residual;
    const double equation = residual - strength * c[i] / s;
    apart += s * equation * equation;
    mean += s * y[i] / problem.total;
    square += s * y[i] * y[i] / problem.total;
  }
  finding.objective += primal;
  if (square == 0.0) return;  // a target that does not vary is its mean
  apart += strength * beyond_weights(bank, problem, weights_for(model, target), c);
  finding.gap = worse(finding.gap, apart / std::max(primal, 1e-300));
  finding.mean = worse(finding.mean, std::abs(mean) / std::sqrt(square));
}

// (K + αS⁻¹)⁻¹ gives c_i over its diagonal as the error of sample i without itself.
double left_out_error(const RidgeProblem& problem, const Matrix& kernel, const Model& model, Index target) {
  const auto& part = part_of<RidgePart>(model);
  std::vector<Index> samples;
  for (Index i = 0; i < kernel.rows(); ++i) {
    if (problem.weights[at(i)] > 0.0) samples.push_back(i);
  }
  const auto n = std::ssize(samples);
  Matrix system(n, n);
  Matrix inverse(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) system(i, j) = kernel(samples[at(i)], samples[at(j)]);
    system(j, j) += part.strengths[at(target)] / problem.weights[at(samples[at(j)])];
    inverse(j, j) = 1.0;
  }
  if (algebra::cholesky(system.view()) != 0) return std::nan("");
  algebra::cholesky_solve(system.view(), inverse.view());
  double loss = 0.0;
  for (Index j = 0; j < n; ++j) {
    double dual = 0.0;
    for (Index i = 0; i < n; ++i) dual += inverse(i, j) * problem.y(samples[at(i)], target);
    const double error = dual / inverse(j, j);
    loss += problem.weights[at(samples[at(j)])] * error * error / problem.total;
  }
  return loss;
}

RidgeFinding examine_ridge(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<RidgePart>(model);
  const RidgeProblem problem = ridge_problem(bank, targets, model);
  RidgeFinding finding;
  Index inverses = 0;
  for (const auto& [theta, members] : groups_of(model)) {
    const RidgeSystem system = system_for(bank, problem, theta);
    for (const Index t : members) {
      examine_weights(model, t, theta, finding);
      examine_coefficients(bank, problem, system, model, t, finding);
      if (++inverses > kMostInverses) continue;
      const double loss = left_out_error(problem, system.kernel, model, t);
      const double scale = std::max(loss, part.losses[at(t)]);
      if (scale != 0.0) finding.left_out = worse(finding.left_out, std::abs(loss - part.losses[at(t)]) / scale);
    }
  }
  return finding;
}

}  // namespace

Certificate certify_mkr(const KernelBank& bank, const Targets& targets, const Model& model,
                        const Context& /*context*/) {
  const RidgeFinding found = examine_ridge(bank, targets, model);
  // Solutions by eigenvectors of sums of N products; squares of residuals are far below this.
  constexpr double kSolved = 1e-8;
  constexpr double kErrors = 1e-6;
  constexpr double kRounded = 1e-9;
  const double coarse = coarseness(bank);
  const bool grouped = !part_of<RidgePart>(model).groups.empty();
  // Given weights have coefficients that solve equations; learned ones come near the best.
  Certificate::Item gap_item{"duality gap", found.gap, "relative, the largest of all targets"};
  if (!grouped) {
    gap_item = {"duality gap", found.gap, "relative, the largest of all targets", kSolved * coarse,
                kSolved * coarse};
  }
  Certificate certificate;
  certificate.items = {
      {"objective", found.objective, "squared errors plus penalty, summed over targets"},
      gap_item,
      {"error of the bias", found.mean, "distance from the target's mean, in its deviations", kRounded},
      {"error of the weights", found.norm, "kernel weights below 0, or with another sum or norm than 1",
       kRounded},
      {"distance from what was tried", found.tried, "of kernel weights and strengths", kRounded},
      {"error of the leave-one-out errors", found.left_out, "relative, of up to 20 targets", kErrors * coarse,
       kErrors * coarse},
  };
  judge_gap(model, found.gap,
            grouped ? "With these strengths no kernel weights and coefficients"
                    : "With these kernel weights and strengths no coefficients",
            certificate);
  certificate.verdict += fmt::format(
      " {} are the best of those that were tried, by leave-one-out error, and others may be better.",
      grouped ? "Strengths" : "Weights and strengths");
  return certificate;
}

}  // namespace kloom::certify_detail
