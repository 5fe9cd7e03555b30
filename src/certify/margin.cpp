// SPDX-License-Identifier: BSD-3-Clause
//
// For every output, from its coefficients c (y_i α_i, or α_i − α_i* in regression), kernel
// weights θ and bounds C_i:
//
//   f      = Σ_m θ_m K_m c,   b the model's bias
//   primal = ½ (Σ_m ‖w_m‖^{2p/(p+1)})^{(p+1)/p} + Σ_i C_i loss_i(f_i + b),   ‖w_m‖ = θ_m √q_m,  q_m = cᵀ K_m c
//   dual   = linear part − ½ ‖q‖_{p*}                              (θ not learned: ½ Σ θ_m q_m in both)
//
// Where the model has gates g, K_m(i, j) stands for g_im K_m(i, j) g_jm; where it has margins τ_i, the hinge
// loss is max(0, τ_i − y_i(f_i + b)) instead of max(0, 1 − y_i(f_i + b)).
//
// Weights in groups, θ ≥ 0 with v Σ_g β_g + (1 − v) Σ_g β_g² ≤ 1, β_g = ‖θ_g‖_p: ½ Σ θ_m q_m stands for the regulariser, which it
// is not below, and ‖q‖_{p*} becomes the largest θ'ᵀq of all θ' (groups.h).
//
// Any feasible c gives dual ≤ optimum ≤ primal, so the gap proves how far from optimal the model can be.
#include "certify/margin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/groups.h"
#include "kloom/error.h"

namespace kloom::certify_detail {
namespace {

using Finding = MarginFinding;

struct Problem {
  Vector y;
  Vector box;
  Vector c;
  Vector theta;
  Vector margin;     // asked of each sample
  bool own = false;  // that is τ, the norm of w in the kernels that the sample has over that in all
  Matrix gates;      // empty: all 1
  KernelGroups set;
  double b = 0.0;
  double norm = 1.0;
  double epsilon = 0.0;
  bool regression = false;
  bool ruled = false;  // the weights come from a rule, which is judged elsewhere
};

Problem problem_of(const Targets& targets, const Model& model, Index output) {
  const auto& part = part_of<MarginPart>(model);
  const auto* gated = find_part<GatedPart>(model);
  Problem p;
  p.norm = part.norm;
  p.epsilon = part.epsilon;
  p.set = {part.groups, part.group_norm, part.mix};
  p.regression = part.regression;
  p.ruled = find_part<TwoStepPart>(model) != nullptr;
  p.b = (model.bias[at(output)] - part.target_centre) / part.target_scale;
  const Index row = model.weights.shape == KernelWeights::Shape::per_class ? output : 0;
  for (Index m = 0; m < model.weights.values.cols(); ++m) p.theta.push_back(model.weights.values(row, m));
  if (gated != nullptr) p.gates = gated->gates.outputs[at(output)].samples;
  const bool margins = gated != nullptr && gated->gates.kind == Gates::Kind::switches;
  p.own = !part.margins.empty();
  const bool pairs = !part.pairs.empty();
  const int positive = pairs                        ? static_cast<int>(part.pairs(output, 0))
                       : model.task == Task::binary ? 1
                                                    : static_cast<int>(output);
  for (Index i = 0; i < model.coefficients.rows(); ++i) {
    p.c.push_back(model.coefficients(i, output) / part.target_scale);
    p.box.push_back(part.box(i, output));
    p.margin.push_back(margins ? gated->gates.outputs[at(output)].margins[at(i)]
                       : p.own ? part.margins(i, output)
                               : 1.0);
    p.y.push_back(part.regression ? (targets.values(i, 0) - part.target_centre) / part.target_scale
                                  : (targets.codes[at(i)] == positive ? 1.0 : -1.0));
  }
  return p;
}

double loss(const Problem& p, std::size_t i, double score) {
  return std::max(0.0, p.regression ? std::abs(p.y[i] - score) - p.epsilon : p.margin[i] - p.y[i] * score);
}

double total_loss(const Problem& p, const Vector& f) {
  double sum = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += p.box[i] * loss(p, i, f[i] + p.b);
  return sum;
}

double regulariser(const Problem& p, const Vector& q) {
  double sum = 0.0;
  if (p.norm == 0.0 || std::isinf(p.norm)) {
    for (std::size_t m = 0; m < q.size(); ++m) sum += p.theta[m] * q[m];
    return 0.5 * sum;
  }
  const double power = 2.0 * p.norm / (p.norm + 1.0);
  for (std::size_t m = 0; m < q.size(); ++m) sum += std::pow(p.theta[m] * std::sqrt(q[m]), power);
  return 0.5 * std::pow(sum, (p.norm + 1.0) / p.norm);
}

double conjugate_regulariser(const Problem& p, const Vector& q) {
  if (!p.set.groups.empty()) return 0.5 * largest_sum(p.set, q);
  if (p.norm == 0.0 || std::isinf(p.norm)) return regulariser(p, q);
  const double largest = *std::ranges::max_element(q);
  if (p.norm == 1.0 || largest <= 0.0) return 0.5 * largest;
  const double star = p.norm / (p.norm - 1.0);
  double sum = 0.0;
  for (double value : q) sum += std::pow(value / largest, star);
  return 0.5 * largest * std::pow(sum, 1.0 / star);
}

// How far c is from Σ c_i = 0 and 0 ≤ y_i c_i ≤ C_i (regression: |c_i| ≤ C_i).
double infeasibility(const Problem& p) {
  double sum = 0.0;
  double size = 0.0;
  double outside = 0.0;
  for (std::size_t i = 0; i < p.c.size(); ++i) {
    const double a = p.regression ? std::abs(p.c[i]) : p.y[i] * p.c[i];
    sum += p.c[i];
    size += std::abs(p.c[i]);
    outside = std::max({outside, -a, a - p.box[i]});
  }
  return std::max(std::abs(sum), outside) / std::max(size, 1e-300);
}

// How far θ is from θ ≥ 0 and ‖θ‖_p = 1; weights that were not learned must be 1, all 1/P, or 1 for a single kernel,
// unless they come from a rule.
double weights_error(const Problem& p) {
  double negative = 0.0;
  double largest = 0.0;
  double sum = 0.0;
  double uneven = 0.0;
  const double power = p.norm == 0.0 ? 1.0 : p.norm;
  for (const double theta : p.theta) {
    negative = worse(negative, -theta);
    largest = worse(largest, theta);
    uneven = worse(uneven, std::abs(theta - p.theta.front()));
    if (!std::isinf(power)) sum += std::pow(std::abs(theta), power);
  }
  if (!p.set.groups.empty()) return distance_from_edge(p.set, p.theta);
  const bool all_one = std::isinf(power) || (p.norm == 0.0 && !p.gates.empty());
  if (all_one) return worse(negative, worse(uneven, std::abs(largest - 1.0)));
  const double size = std::abs(std::pow(sum, 1.0 / power) - 1.0);
  const double fixed = p.norm == 0.0 && !p.ruled ? std::min(uneven, std::abs(largest - 1.0)) : 0.0;
  return worse(negative, worse(size, fixed));
}

// α_i > 0 needs a loss that is not slack, α_i < C_i needs no loss.
double slackness(const Problem& p, const Vector& f) {
  double worst = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (p.box[i] == 0.0) continue;
    const double a = std::abs(p.c[i]);
    const double distance =
        p.regression ? std::abs(p.y[i] - f[i] - p.b) - p.epsilon : p.margin[i] - p.y[i] * (f[i] + p.b);
    if (a > 0.0) worst = std::max(worst, -distance);
    if (a < p.box[i]) worst = std::max(worst, distance);
  }
  return worst;
}

// K_m c of every kernel, through the gates.
Matrix outputs_of(const KernelBank& bank, const Problem& p) {
  Matrix coefficients(bank.cols(), bank.kernels());
  for (Index m = 0; m < coefficients.cols(); ++m) {
    for (Index i = 0; i < coefficients.rows(); ++i)
      coefficients(i, m) = p.c[at(i)] * (p.gates.empty() ? 1.0 : p.gates(i, m));
  }
  Matrix outputs = bank.apply_each(coefficients.view());
  for (std::size_t k = 0; k < p.gates.values().size(); ++k) outputs.values()[k] *= p.gates.values()[k];
  return outputs;
}

// ‖w‖ in the kernels that sample i has, to the power r that makes it a sum.
double own_size(const Problem& p, const Vector& q, const Matrix& presence, Index i, double r) {
  double sum = 0.0;
  for (Index m = 0; m < std::ssize(q); ++m) {
    if (i >= 0 && presence(i, m) == 0.0) continue;
    const double theta = p.theta[at(m)];
    sum += p.norm == 0.0 || std::isinf(p.norm) ? theta * q[at(m)] : std::pow(theta * std::sqrt(q[at(m)]), r);
  }
  return sum;
}

// Largest distance of a margin from the norms; margins have a floor of 0.05.
double margins_error(const Problem& p, const Vector& q, const Matrix& presence) {
  const double r = p.norm == 0.0 || std::isinf(p.norm) ? 2.0 : 2.0 * p.norm / (p.norm + 1.0);
  const double whole = own_size(p, q, presence, -1, r);
  double worst = 0.0;
  for (Index i = 0; i < presence.rows(); ++i) {
    if (p.box[at(i)] == 0.0 || !(whole > 0.0)) continue;
    const double tau = std::pow(own_size(p, q, presence, i, r) / whole, 1.0 / r);
    worst = worse(worst, std::abs(std::max(tau, 0.05) - p.margin[at(i)]));
  }
  return worst;
}

Finding examine(const KernelBank& bank, const Problem& p) {
  const Matrix outputs = outputs_of(bank, p);
  Vector q;
  for (Index m = 0; m < bank.kernels(); ++m) q.push_back(std::max(0.0, algebra::dot(outputs.column(m), p.c)));
  Vector f(p.c.size());
  algebra::gemv(algebra::Op::none, 1.0, outputs.view(), p.theta, 0.0, f);
  Finding finding;
  finding.primal = regulariser(p, q) + total_loss(p, f);
  for (std::size_t i = 0; i < p.c.size(); ++i) {
    finding.dual +=
        p.regression ? p.y[i] * p.c[i] - p.epsilon * std::abs(p.c[i]) : p.margin[i] * p.y[i] * p.c[i];
  }
  finding.dual -= conjugate_regulariser(p, q);
  finding.infeasible = infeasibility(p);
  finding.kkt = slackness(p, f);
  finding.weights = weights_error(p);
  finding.own_margins = p.own;
  if (p.own) finding.margins = margins_error(p, q, bank.presence().rows);
  return finding;
}

}  // namespace

MarginFinding examine_margin(const KernelBank& bank, const Targets& targets, const Model& model) {
  MarginFinding total;
  for (Index output = 0; output < model.coefficients.cols(); ++output) {
    const Finding one = examine(bank, problem_of(targets, model, output));
    total.primal += one.primal;
    total.dual += one.dual;
    total.infeasible = worse(total.infeasible, one.infeasible);
    total.weights = worse(total.weights, one.weights);
    total.kkt = worse(total.kkt, one.kkt);
    total.own_margins = one.own_margins;
    total.margins = worse(total.margins, one.margins);
    const double gap = (one.primal - one.dual) / std::max(std::abs(one.primal), 1e-300);
    total.gap = output == 0 ? gap : worse(total.gap, gap);
  }
  return total;
}

std::vector<Certificate::Item> items_of(const MarginFinding& total) {
  // Sums of N products round by about N·eps; a coefficient outside its bounds by more than that is a fault. Weights keep
  // their norm through thousands of updates, each with a rounding of its own.
  constexpr double kFeasible = 1e-9;
  // Margins and weights are found in turn, and the last margins are not those of the last weights.
  constexpr double kSettled = 0.1;
  std::vector<Certificate::Item> items = {
      {"primal objective", total.primal, "regulariser plus loss, with the model's bias, summed over outputs"},
      {"dual objective", total.dual, "a lower bound on the best primal objective"},
      {"duality gap", total.gap, "relative, the largest of all outputs"},
      {"KKT residual", total.kkt, "largest violation of complementary slackness, in units of the labels"},
      {"infeasibility", total.infeasible, "of the dual coefficients, relative to their size", kFeasible},
      {"error of the weights", total.weights, "kernel weights below 0, or with another norm than 1", kFeasible},
  };
  if (total.own_margins)
    items.push_back({"distance of the margins", total.margins,
                     "of samples that lack kernels, from the norm of w in the kernels that they have", kSettled,
                     kSettled});
  return items;
}

Certificate certify_margin(const KernelBank& bank, const Targets& targets, const Model& model,
                           const Context& /*context*/) {
  const MarginFinding total = examine_margin(bank, targets, model);
  Certificate certificate;
  certificate.items = items_of(total);
  const bool learned = part_of<MarginPart>(model).norm != 0.0 || !part_of<MarginPart>(model).groups.empty();
  judge_gap(model, total.gap,
            learned ? "No kernel weights and coefficients" : "With these kernel weights no coefficients",
            certificate);
  if (!learned) certificate.verdict += " The weights were not learned, and others may be better.";
  if (total.own_margins)
    certificate.verdict +=
        " The margins of samples that lack kernels were found in turn "
        "with the solution, and that no others are better cannot be proved.";
  return certificate;
}

}  // namespace kloom::certify_detail
