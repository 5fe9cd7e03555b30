// SPDX-License-Identifier: BSD-3-Clause
//
// From [ZienOng2007]. With α the model's coefficients (N × M), β its weights, b its biases and
// α̂ its dual point:
//
//   scores  s_iu = Σ_k β_k Σ_jv α_jv K_k(x_i, x_j) L_k(v, u) + b_u          (1), (10), (12)
//   primal  ½ Σ_k β_k ‖w_k(α)‖² + Σ_i C_i loss(s_iy_i − max_{u≠y_i} s_iu)    (4) with v_k = β_k w_k
//   dual    Σ_i α̂_iy_i − ½ max_k ‖w_k(α̂)‖²                                   minus (9)
//   ‖w_k(α)‖² = Σ_ij K_k(x_i, x_j) Σ_uv α_iu α_jv L_k(u, v)
//
// loss(m) = max(0, 1 − m), or its square; then the dual loses Σ_i α̂_iy_i²/(4C_i) (Theorem 1 with ℓ* of the
// square) and has no upper bound. With log(1 + exp(−m)) the sum of α̂_iy_i is replaced by
// Σ_i C_i H(α̂_iy_i/C_i), H(p) = −p log p − (1 − p) log(1 − p). Any β on the simplex and any α̂ in the polytope give
// dual ≤ optimum ≤ primal.
#include "certify/mcmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "certify/gap.h"

namespace kloom::certify_detail {
namespace {

struct Problem {
  std::vector<int> y;
  Index classes = 0;
  std::vector<Matrix> l;  // kernels on classes
  Matrix beta;            // J × P
  Matrix alpha;           // N × M
  Vector b;
};

Problem problem_of(const Targets& targets, const Model& model) {
  const McmklPart& part = part_of<McmklPart>(model);
  Problem p;
  p.y = targets.codes;
  p.classes = static_cast<Index>(model.classes.size());
  if (part.class_kernels.empty()) {
    Matrix identity(p.classes, p.classes);
    for (Index u = 0; u < p.classes; ++u) identity(u, u) = 1.0;
    p.l.push_back(identity);
    p.beta = model.weights.values;
  } else {
    for (Index j = 0; j < part.class_weights.rows(); ++j) {
      Matrix one(p.classes, p.classes);
      for (Index v = 0; v < p.classes; ++v) {
        for (Index u = 0; u < p.classes; ++u) one(u, v) = part.class_kernels(u, j * p.classes + v);
      }
      p.l.push_back(one);
    }
    p.beta = part.class_weights;
  }
  if (model.task == Task::binary) {
    // One score, that of class 1 less that of class 0: both classes have half of it.
    p.alpha = Matrix(model.coefficients.rows(), 2);
    for (Index i = 0; i < p.alpha.rows(); ++i) {
      p.alpha(i, 0) = -0.5 * model.coefficients(i, 0);
      p.alpha(i, 1) = 0.5 * model.coefficients(i, 0);
    }
    p.b = {-0.5 * model.bias[0], 0.5 * model.bias[0]};
  } else {
    p.alpha = model.coefficients;
    p.b = model.bias;
  }
  return p;
}

// Σ_uv L(u,v) Σ_ij α_iu K(x_i, x_j) α_jv, with `k_alpha` = K α.
double squared_norm(const Matrix& l, const Matrix& alpha, ConstMatrixView k_alpha) {
  double sum = 0.0;
  for (Index v = 0; v < l.cols(); ++v) {
    for (Index u = 0; u < l.rows(); ++u) {
      if (l(u, v) == 0.0) continue;
      double between = 0.0;
      for (Index i = 0; i < k_alpha.rows; ++i) between += alpha(i, u) * k_alpha(i, v);
      sum += l(u, v) * between;
    }
  }
  return sum;
}

void add_scores(const Matrix& l, double weight, ConstMatrixView k_alpha, Matrix& scores) {
  for (Index v = 0; v < l.rows(); ++v) {
    for (Index u = 0; u < l.cols(); ++u) {
      if (weight * l(v, u) == 0.0) continue;
      for (Index i = 0; i < k_alpha.rows; ++i) scores(i, u) += weight * l(v, u) * k_alpha(i, v);
    }
  }
}

// w_k's norms and, if asked, the scores Σ_k β_k K_k α L_k, from one pass over the bank.
Matrix squared_norms(const KernelBank& bank, const Problem& p, const Matrix& alpha, Matrix* scores) {
  const Matrix applied = bank.apply(alpha.view());
  const Index n = bank.rows();
  Matrix norms(p.beta.rows(), bank.kernels());
  for (Index k = 0; k < bank.kernels(); ++k) {
    const ConstMatrixView k_alpha{applied.data() + k * n, n, p.classes, applied.rows()};
    for (Index j = 0; j < p.beta.rows(); ++j) {
      norms(j, k) = squared_norm(p.l[at(j)], alpha, k_alpha);
      if (scores != nullptr) add_scores(p.l[at(j)], p.beta(j, k), k_alpha, *scores);
    }
  }
  return norms;
}

double loss_of(McmklPart::Loss loss, double margin) {
  // exp does not overflow for margins that any finite kernel gives; where it would, the loss is −margin.
  if (loss == McmklPart::Loss::logistic) return margin < -700.0 ? -margin : std::log1p(std::exp(-margin));
  const double violation = std::max(0.0, 1.0 - margin);
  return loss == McmklPart::Loss::hinge ? violation : violation * violation;
}

// −ℓ*(−a) for a sample of price C.
double dual_part(McmklPart::Loss loss, double price, double a) {
  if (loss == McmklPart::Loss::hinge || price == 0.0) return a;
  if (loss == McmklPart::Loss::squared_hinge) return a - a * a / (4.0 * price);
  const double share = std::clamp(a / price, 0.0, 1.0);
  if (share == 0.0 || share == 1.0) return 0.0;
  return -price * (share * std::log(share) + (1.0 - share) * std::log1p(-share));
}

double loss(const Problem& p, const McmklPart& part, const Matrix& scores) {
  double sum = 0.0;
  for (Index i = 0; i < scores.rows(); ++i) {
    const Index y = p.y[at(i)];
    double highest = -std::numeric_limits<double>::infinity();
    for (Index u = 0; u < p.classes; ++u) {
      if (u != y) highest = std::max(highest, scores(i, u) + p.b[at(u)]);
    }
    sum += part.box[at(i)] * loss_of(part.loss, scores(i, y) + p.b[at(y)] - highest);
  }
  return sum;
}

// How far α̂ is from the polytope and β from the simplex, relative to their sizes.
double infeasibility(const Problem& p, const McmklPart& part) {
  double size = 0.0;
  double outside = 0.0;
  Vector class_sums(at(p.classes));
  for (Index i = 0; i < part.dual.rows(); ++i) {
    double sample_sum = 0.0;
    for (Index u = 0; u < p.classes; ++u) {
      const double a = part.dual(i, u);
      size += std::abs(a);
      sample_sum += a;
      class_sums[at(u)] += a;
      if (u != p.y[at(i)]) {
        outside = std::max(outside, a);
      } else {
        const bool bounded = part.loss != McmklPart::Loss::squared_hinge || part.box[at(i)] == 0.0;
        outside = std::max({outside, -a, bounded ? a - part.box[at(i)] : 0.0});
      }
    }
    outside = std::max(outside, std::abs(sample_sum));
  }
  for (double sum : class_sums) outside = std::max(outside, part.bias ? std::abs(sum) : 0.0);
  double weights = 0.0;
  double negative = 0.0;
  for (double value : p.beta.values()) {
    weights += value;
    negative = std::max(negative, -value);
  }
  double unwanted = 0.0;
  for (double b : p.b) unwanted = std::max(unwanted, part.bias ? 0.0 : std::abs(b));
  return std::max({outside / std::max(size, 1e-300), std::abs(weights - 1.0), negative, unwanted});
}

// The shared weights are the column sums of those of the kernels on classes, which are symmetric.
double shown_error(const Model& model, const Problem& p) {
  double worst = 0.0;
  for (Index k = 0; k < p.beta.cols(); ++k) {
    double sum = 0.0;
    for (Index j = 0; j < p.beta.rows(); ++j) sum += p.beta(j, k);
    worst = worse(worst, std::abs(sum - model.weights.values(0, k)));
  }
  for (const Matrix& l : p.l) {
    for (Index v = 0; v < l.cols(); ++v) {
      for (Index u = 0; u < v; ++u) worst = worse(worst, std::abs(l(u, v) - l(v, u)));
    }
  }
  return worst;
}

}  // namespace

Certificate certify_mcmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const McmklPart& part = part_of<McmklPart>(model);
  const Problem p = problem_of(targets, model);
  Matrix scores(bank.rows(), p.classes);
  const Matrix norms = squared_norms(bank, p, p.alpha, &scores);
  double primal = loss(p, part, scores);
  for (Index k = 0; k < norms.cols(); ++k) {
    for (Index j = 0; j < norms.rows(); ++j) primal += 0.5 * p.beta(j, k) * norms(j, k);
  }
  const Matrix dual_norms = squared_norms(bank, p, part.dual, nullptr);
  double dual = -0.5 * *std::ranges::max_element(dual_norms.values());
  for (Index i = 0; i < bank.rows(); ++i) {
    dual += dual_part(part.loss, part.box[at(i)], part.dual(i, p.y[at(i)]));
  }
  const double gap = (primal - dual) / std::max(std::abs(primal), 1e-300);
  const double infeasible = infeasibility(p, part);
  Certificate certificate;
  certificate.items = {
      {"primal objective", primal, "regulariser plus loss, of all classes together"},
      {"dual objective", dual, "a lower bound on the best primal objective"},
      {"duality gap", gap, "relative"},
      // Sums of N products round by about N·eps; a coefficient outside its bounds by more than that is a fault.
      {"infeasibility", infeasible, "of dual point and kernel weights, relative to their size", 1e-9},
      {"error of the weights", shown_error(model, p), "shared kernel weights against their parts", 1e-9},
  };
  judge_gap(model, gap, "No kernel weights and coefficients", certificate);
  return certificate;
}

}  // namespace kloom::certify_detail
