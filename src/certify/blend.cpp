// SPDX-License-Identifier: BSD-3-Clause
//
// Every solution of a blend minimises, for its own sum of kernels K = Σ_p w_p K_p divided by
// the mean diagonal s,
//
//   Σ_i u_i loss(f_i, y_i) + ½ λ cᵀ (K/s) c,   f = (K/s) c + b,
//
// the log loss of classes (λ as it stands), half the squared error of numbers and codes, or half the squared hinge of each
// class against the others, over coefficients c on the landmarks L, the samples that have one. At the minimum the gradient
// K(L, ·)(λ c + r) vanishes, with r_i = u_i ∂loss/∂f_i, and so does Σ_i r_i, the gradient in b. Both are compared with what
// they are at c = 0, b = 0.
// The coefficients in the model are c/s times factor, share and the scale of the target.
//
// Where samples lack kernels, K(i, j) stands for Σ_p w_p K_p(i, j) over the kernels that both have, times t_i t_j with
// t_i² = Σ_p w_p d_p over Σ_p w_p d_p of the kernels that i has, d_p the size of kernel p; the coefficients have t_j in them.
#include "certify/blend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "certify/gap.h"

namespace kloom::certify_detail {
namespace {

using algebra::Op;

// What output c of sample i should say: its number in units of the training numbers; for the log loss the probability of
// the class; for the hinge ±1; for squared errors ±1, or for several classes an indicator that adds up to 0.
double wanted(const Targets& targets, const BlendPart& part, MachineKind kind, Index i, Index c,
              Index outputs) {
  if (targets.classes.empty()) return (targets.values(i, 0) - part.centre) / part.scale;
  const bool is_class = targets.codes[at(i)] == (outputs == 1 ? 1 : c);
  if (kind == MachineKind::logistic) return is_class ? 1.0 : 0.0;
  if (outputs == 1 || kind == MachineKind::margin) return is_class ? 1.0 : -1.0;
  return (is_class ? 1.0 : 0.0) - 1.0 / static_cast<double>(targets.classes.size());
}

// Scores of one sample as probabilities.
void to_probabilities(Vector& scores) {
  if (scores.size() == 1) {
    scores[0] = 1.0 / (1.0 + std::exp(-scores[0]));
    return;
  }
  double sum = 0.0;
  for (double& score : scores) sum += score = std::exp(score);
  for (double& score : scores) score /= sum;
}

// Residuals ∂loss/∂f of all outputs at the scores f, times the samples' weights.
Matrix residuals(const Targets& targets, const BlendPart& part, MachineKind kind, const Matrix& f) {
  Matrix r(f.rows(), f.cols());
  Vector said(at(f.cols()));
  for (Index i = 0; i < f.rows(); ++i) {
    const double u = targets.weights.empty() ? 1.0 : targets.weights[at(i)];
    for (Index c = 0; c < f.cols(); ++c) said[at(c)] = f(i, c);
    if (kind == MachineKind::logistic) to_probabilities(said);
    for (Index c = 0; c < f.cols(); ++c) {
      const double y = wanted(targets, part, kind, i, c, f.cols());
      const bool beyond = kind == MachineKind::margin && y * said[at(c)] >= 1.0;
      r(i, c) = beyond ? 0.0 : u * (said[at(c)] - y);
    }
  }
  return r;
}

double norm(const Matrix& m) {
  return std::sqrt(algebra::dot(m.values(), m.values()));
}

// t of every sample; 1 where nothing is lacking, or everything.
Vector factors_of(const Matrix& presence, const Vector& weights, const Vector& sizes, Index n) {
  Vector t(at(n), 1.0);
  double whole = 0.0;
  for (std::size_t p = 0; p < sizes.size(); ++p) whole += weights[p] * sizes[p];
  for (Index i = 0; i < presence.rows(); ++i) {
    double own = 0.0;
    for (Index p = 0; p < presence.cols(); ++p) own += presence(i, p) * weights[at(p)] * sizes[at(p)];
    if (own > 0.0) t[at(i)] = std::sqrt(whole / own);
  }
  return t;
}

// Largest of the two gradients, relative to its size at the origin.
double stationarity(const KernelBank& bank, const Targets& targets, const BlendPart& part, std::size_t k) {
  const WeightedTerm& term = part.terms[k];
  const BlendPart::Solution& one = part.solutions[k];
  const Index n = term.coefficients.rows();
  const Index outputs = term.coefficients.cols();
  std::vector<Index> landmarks;
  for (Index i = 0; i < n; ++i) {
    bool used = false;
    for (Index c = 0; c < outputs; ++c) used = used || term.coefficients(i, c) != 0.0;
    if (used) landmarks.push_back(i);
  }
  if (landmarks.empty() || one.share == 0.0) return 0.0;
  const auto m = std::ssize(landmarks);
  Vector weights(term.weights.values().begin(), term.weights.values().end());
  Matrix cross(n, m);
  bank.combine_rows(weights, landmarks, cross.view());
  const Vector t = factors_of(bank.presence().rows, weights, part.sizes, n);
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < n; ++i) cross(i, j) *= t[at(i)] * t[at(landmarks[at(j)])];
  }
  double s = 0.0;
  for (Index j = 0; j < m; ++j) s += cross(landmarks[at(j)], j) / static_cast<double>(m);
  const double undo = 1.0 / (one.factor * one.share * part.scale);
  Matrix c(m, outputs);
  for (Index o = 0; o < outputs; ++o) {
    for (Index j = 0; j < m; ++j) {
      const Index i = landmarks[at(j)];
      c(j, o) = s * undo * term.coefficients(i, o) / t[at(i)];
    }
  }
  Matrix f(n, outputs);
  for (Index o = 0; o < outputs; ++o) std::ranges::fill(f.column(o), one.bias[at(o)]);
  algebra::gemm(Op::none, Op::none, 1.0 / s, cross.view(), c.view(), 1.0, f.view());
  Matrix r = residuals(targets, part, one.kind, f);
  const Matrix origin = residuals(targets, part, one.kind, Matrix(n, outputs));
  double bias_now = 0.0;
  double bias_size = 0.0;
  for (Index o = 0; o < outputs; ++o) {
    double sum = 0.0;
    for (const double value : r.column(o)) sum += value;
    for (const double value : origin.column(o)) bias_size += std::abs(value);
    bias_now = std::max(bias_now, std::abs(sum));
  }
  for (Index o = 0; o < outputs; ++o) {
    for (Index j = 0; j < m; ++j) r(landmarks[at(j)], o) += one.ridge * c(j, o);
  }
  Matrix gradient(m, outputs);
  Matrix size(m, outputs);
  algebra::gemm(Op::transpose, Op::none, 1.0, cross.view(), r.view(), 0.0, gradient.view());
  algebra::gemm(Op::transpose, Op::none, 1.0, cross.view(), origin.view(), 0.0, size.view());
  return std::max(norm(gradient) / std::max(norm(size), 1e-300), bias_now / std::max(bias_size, 1e-300));
}

// Prediction looks at the samples that have a coefficient in the sum of all solutions.
double sums_error(const Model& model, const BlendPart& part) {
  Matrix sum = model.coefficients;
  double size = 0.0;
  for (const WeightedTerm& term : part.terms) {
    algebra::axpy(-1.0, term.coefficients.values(), sum.values());
    size += norm(term.coefficients);
  }
  return norm(sum) / std::max(size, 1e-300);
}

}  // namespace

Certificate certify_blend(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const auto& part = part_of<BlendPart>(model);
  Certificate certificate;
  double worst = 0.0;
  double bias_error = 0.0;
  Vector bias(model.bias.size());
  for (std::size_t k = 0; k < part.terms.size(); ++k) {
    const double found = stationarity(bank, targets, part, k);
    worst = worse(worst, found);
    const BlendPart::Solution& one = part.solutions[k];
    for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += one.factor * one.share * one.bias[c];
  }
  for (std::size_t c = 0; c < bias.size(); ++c) {
    const double whole = part.scale * bias[c] + (targets.classes.empty() ? part.centre : 0.0);
    bias_error = worse(bias_error, std::abs(whole - model.bias[c]) / std::max(1.0, std::abs(model.bias[c])));
  }
  certificate.items = {
      {"solutions", static_cast<double>(part.terms.size()), "kernel machines in the blend"},
      // Logistic machines stop when a step gains 1e-5 of the objective, which leaves gradients of about its root.
      {"stationarity", worst,
       "largest gradient of a solution's own problem, relative to its size at 0 (0 is right)",
       1e-1 * coarseness(bank)},
      {"error of the bias", bias_error, "the model's bias against the sum of the solutions' (0 is right)",
       1e-9},
      {"error of the sums", sums_error(model, part),
       "the model's coefficients against the sum of the solutions'", 1e-9},
  };
  certificate.verdict = fmt::format(
      "Every solution of the blend is the minimum of its own convex problem, to {:.1e} of the gradient. That "
      "these kernels, strengths and shares were the best choice rests on held-out losses and cannot be proved.",
      worst);
  return certificate;
}

}  // namespace kloom::certify_detail
