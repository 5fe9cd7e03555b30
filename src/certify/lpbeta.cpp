// SPDX-License-Identifier: BSD-3-Clause
//
// From [GehlerNowozin2009]. With f_pc(x_i) the held-out scores in the model, β its weights, v its dual point and
// d_i = s_i/(ν Σ s):
//
//   margin_iu = Σ_p β_p,y f_p,y(x_i) − Σ_p β_pu f_pu(x_i)    (one score for two classes: ±Σ_p β_p f_p(x_i))
//   primal    = min over ρ of  −ρ + Σ_i d_i max(0, ρ − min_u margin_iu),   which is piecewise linear with corners at the margins
//   dual      = −Σ_u max_p (Σ_i,u' v_iu' times the coefficient of β_pu in margin_iu')
//
// Any feasible v gives dual ≤ optimum ≤ primal. The machines, coefficients a and bias b of kernel p for class c, are those
// of a support vector machine:  ½ aᵀK_p a + Σ C_i max(0, 1 − y_i(K_p a + b)_i) against Σ |a_i| − ½ aᵀK_p a.
//
// Held-out scores are of machines that are not in the model: they are taken as they are.
#include "certify/lpbeta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

struct Weighing {
  const LpBetaPart& part;
  const Targets& targets;
  const Matrix& beta;
  Index kernels = 0;
  Index outputs = 0;
  Vector caps;  // d

  [[nodiscard]] Index groups() const { return beta.rows(); }
  // Calls with group, kernel and coefficient of every β in the margin of sample i to rival u.
  void each(Index i, Index u, const std::function<void(Index, Index, double)>& call) const {
    const int y = targets.codes[at(i)];
    for (Index p = 0; p < kernels; ++p) {
      if (outputs == 1) {
        call(0, p, (y == 1 ? 1.0 : -1.0) * part.held_out(i, p));
        continue;
      }
      call(groups() == 1 ? 0 : y, p, part.held_out(i, p + kernels * y));
      call(groups() == 1 ? 0 : u, p, -part.held_out(i, p + kernels * u));
    }
  }
  [[nodiscard]] bool rivals(Index i, Index u) const { return outputs == 1 || u != targets.codes[at(i)]; }
};

Weighing weighing_of(const Targets& targets, const Model& model) {
  const auto& part = part_of<LpBetaPart>(model);
  Weighing weighing{part,
                    targets,
                    model.weights.values,
                    std::ssize(model.kernel_names),
                    model.coefficients.cols(),
                    part.sample_weights};
  Vector& caps = weighing.caps;
  const bool none = std::ranges::none_of(caps, [](double s) { return s > 0.0; });
  if (none) caps.assign(at(model.coefficients.rows()), 1.0);
  double total = 0.0;
  for (const double s : caps) total += s;
  for (double& s : caps) s /= part.nu * total;
  return weighing;
}

double primal_of(const Weighing& weighing) {
  Vector margins;
  for (Index i = 0; i < std::ssize(weighing.caps); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (Index u = 0; u < weighing.outputs; ++u) {
      if (!weighing.rivals(i, u)) continue;
      double margin = 0.0;
      weighing.each(i, u, [&](Index g, Index p, double f) { margin += weighing.beta(g, p) * f; });
      nearest = std::min(nearest, margin);
    }
    margins.push_back(nearest);
  }
  double least = std::numeric_limits<double>::infinity();
  for (const double rho : margins) {
    double value = -rho;
    for (std::size_t i = 0; i < margins.size(); ++i)
      value += weighing.caps[i] * std::max(0.0, rho - margins[i]);
    least = std::min(least, value);
  }
  return least;
}

double dual_of(const Weighing& weighing) {
  Matrix sums(weighing.groups(), weighing.kernels);
  for (Index i = 0; i < weighing.part.dual.rows(); ++i) {
    for (Index u = 0; u < weighing.outputs; ++u) {
      const double v = weighing.part.dual(i, u);
      if (v != 0.0) weighing.each(i, u, [&](Index g, Index p, double f) { sums(g, p) += v * f; });
    }
  }
  double value = 0.0;
  for (Index g = 0; g < sums.rows(); ++g) {
    double largest = sums(g, 0);
    for (Index p = 1; p < sums.cols(); ++p) largest = std::max(largest, sums(g, p));
    value -= largest;
  }
  return value;
}

// How far v is from a distribution below its caps that gives a sample's own class nothing, and β from sums of 1.
double programme_infeasibility(const Weighing& weighing) {
  const Matrix& dual = weighing.part.dual;
  double worst = 0.0;
  double total = 0.0;
  for (Index i = 0; i < dual.rows(); ++i) {
    double own = 0.0;
    for (Index u = 0; u < dual.cols(); ++u) {
      own += dual(i, u);
      worst = worse(worst, weighing.rivals(i, u) ? -dual(i, u) : std::abs(dual(i, u)));
    }
    worst = worse(worst, own - weighing.caps[at(i)]);
    total += own;
  }
  worst = worse(worst, std::abs(total - 1.0));
  for (Index g = 0; g < weighing.groups(); ++g) {
    double sum = 0.0;
    for (Index p = 0; p < weighing.kernels; ++p) {
      sum += weighing.beta(g, p);
      worst = worse(worst, -weighing.beta(g, p));
    }
    worst = worse(worst, std::abs(sum - 1.0));
  }
  return worst;
}

// Bounds of an output's dual variables at C = 1.
Vector boxes_of(const LpBetaPart& part, const Vector& y) {
  Vector box = part.sample_weights;
  if (box.empty()) box.assign(y.size(), 1.0);
  if (!part.balanced) return box;
  double positive = 0.0;
  double negative = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) (y[i] > 0.0 ? positive : negative) += box[i];
  for (std::size_t i = 0; i < y.size(); ++i)
    box[i] *= box[i] == 0.0 ? 0.0 : 0.5 * (positive + negative) / (y[i] > 0.0 ? positive : negative);
  return box;
}

struct MachineFinding {
  double gap = 0.0;
  double infeasible = 0.0;
};

// The machines of output c; `outputs`: K_p a_p of every kernel.
MachineFinding machines_of(const Targets& targets, const Model& model, Index c, const Matrix& outputs) {
  const auto& part = part_of<LpBetaPart>(model);
  const Index kernels = outputs.cols();
  Vector y;
  for (const int code : targets.codes) y.push_back(code == (part.biases.cols() == 1 ? 1 : c) ? 1.0 : -1.0);
  const Vector box = boxes_of(part, y);
  MachineFinding finding;
  for (Index p = 0; p < kernels; ++p) {
    if (model.weights.values(model.weights.values.rows() == 1 ? 0 : c, p) == 0.0) continue;
    const auto a = part.machines.column(p + kernels * c);
    double linear = 0.0;
    double loss = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double bound = part.prices[at(p)] * box[i];
      loss += bound * std::max(0.0, 1.0 - y[i] * (outputs(static_cast<Index>(i), p) + part.biases(p, c)));
      linear += y[i] * a[i];
      sum += a[i];
      finding.infeasible = worse(finding.infeasible, std::max(-y[i] * a[i], y[i] * a[i] - bound));
    }
    const double square = algebra::dot(a, outputs.column(p));
    const double primal = 0.5 * square + loss;
    const double dual = linear - 0.5 * square;
    finding.gap = worse(finding.gap, primal > 0.0 ? (primal - dual) / primal : 0.0);
    finding.infeasible = worse(finding.infeasible, std::abs(sum) / std::max(1.0, linear));
  }
  return finding;
}

// Of coefficients and biases of the model from the machines' times their weights.
double sums_error(const Model& model) {
  const auto& part = part_of<LpBetaPart>(model);
  const Index kernels = part.biases.rows();
  double worst = 0.0;
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    Vector sum(at(model.coefficients.rows()));
    double bias = 0.0;
    double size = 1e-300;
    for (Index p = 0; p < kernels; ++p) {
      const double beta = model.weights.values(model.weights.values.rows() == 1 ? 0 : c, p);
      algebra::axpy(beta, part.machines.column(p + kernels * c), sum);
      bias += beta * part.biases(p, c);
    }
    for (const double value : sum) size = std::max(size, std::abs(value));
    for (Index i = 0; i < model.coefficients.rows(); ++i)
      worst = worse(worst, std::abs(sum[at(i)] - model.coefficients(i, c)) / size);
    worst = worse(worst, std::abs(bias - model.bias[at(c)]) / std::max(1.0, std::abs(bias)));
  }
  return worst;
}

MachineFinding all_machines(const KernelBank& bank, const Targets& targets, const Model& model) {
  const auto& part = part_of<LpBetaPart>(model);
  MachineFinding all;
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    Matrix own(bank.cols(), bank.kernels());
    for (Index p = 0; p < bank.kernels(); ++p)
      std::ranges::copy(part.machines.column(p + bank.kernels() * c), own.column(p).begin());
    const MachineFinding one = machines_of(targets, model, c, bank.apply_each(own.view()));
    all.gap = worse(all.gap, one.gap);
    all.infeasible = worse(all.infeasible, one.infeasible);
  }
  return all;
}

}  // namespace

Certificate certify_lp_beta(const KernelBank& bank, const Targets& targets, const Model& model,
                            const Context& /*context*/) {
  // Sums of N products round by about N·eps; the programme is solved to 1e-9 of the margins.
  constexpr double kFeasible = 1e-9;
  const Weighing weighing = weighing_of(targets, model);
  const double primal = primal_of(weighing);
  const double dual = dual_of(weighing);
  const double gap = (primal - dual) / std::max(1.0, std::abs(primal));
  const MachineFinding machines = all_machines(bank, targets, model);
  Certificate certificate;
  certificate.items = {
      {"primal objective", primal, "of the linear programme, with the best margin to aim at"},
      {"dual objective", dual, "a lower bound on the best primal objective"},
      {"duality gap", gap,
       "of the weights, in units of margins or relative to the objective, whichever is less"},
      {"duality gap of the machines", machines.gap, "relative, the largest of all that have weight", 1e-1},
      {"infeasibility", programme_infeasibility(weighing), "of the weights and the dual point of the programme",
       kFeasible},
      {"infeasibility of the machines", machines.infeasible, "of their coefficients", kFeasible},
      {"error of the sums", sums_error(model), "the model's coefficients and bias against the machines'", 1e-9},
  };
  judge_gap(model, worse(gap, machines.gap),
            "With these held-out scores no weights, and with these C no machines,", certificate);
  certificate.verdict +=
      " The held-out scores are of machines that are not in the model, and that they are right cannot be checked.";
  return certificate;
}

}  // namespace kloom::certify_detail
