// SPDX-License-Identifier: BSD-3-Clause
//
// Switches [Liu2014]: for every sample i with a price, from g_ip = θ_p Σ_j c_j h_jp K_p(j, i),
//
//   needed_i   = min(τ_i, y_i(f_i + b)) − y_i b       what its constraint (eq. 15) asks of Σ_p h_p y_i g_ip
//   too few      Σ_p h_p y_i g_ip of the switches that prediction takes is below that
//   improvable   some h within m₀ of h⁰ has fewer kernels and still reaches needed_i
//
// Improvable is decided here by adding one change at a time in the order of what it costs, which is how the
// fewest are found: after every number b of switch-ons (largest gains first) switch-offs (smallest gains first)
// go on while the sum stays above needed_i.
#include "certify/gated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/margin.h"

namespace kloom::certify_detail {
namespace {

// θ_p Σ_n c_n g_np K_p(x_i, x_n): what kernel p adds to the score of sample i before its own gate.
Matrix gated_outputs(const KernelBank& bank, const Vector& theta, std::span<const double> coefficients,
                     const Matrix& gates) {
  Matrix gated(bank.cols(), bank.kernels());
  for (Index p = 0; p < gated.cols(); ++p) {
    for (Index n = 0; n < gated.rows(); ++n) gated(n, p) = theta[at(p)] * coefficients[at(n)] * gates(n, p);
  }
  return bank.apply_each(gated.view());
}

// z(x) = projectionᵀ k(x) + offset of every sample.
Matrix gate_inputs(const Gates& gates, const KernelBank& bank) {
  const Matrix kernel = bank.combine(gates.space);
  Matrix inputs(bank.rows(), gates.projection.cols());
  for (Index r = 0; r < inputs.cols(); ++r) {
    for (Index i = 0; i < inputs.rows(); ++i)
      inputs(i, r) = gates.offset[at(r)] + algebra::dot(kernel.column(i), gates.projection.column(r));
  }
  return inputs;
}

// Softmax or sigmoid of a linear function of the inputs, scaled so that equal gates make the
// mean of the kernels.
Matrix gate_values(Gates::Kind kind, const Matrix& parameters, const Matrix& inputs) {
  const Index kernels = parameters.rows();
  const auto count = static_cast<double>(kernels);
  Matrix gates(inputs.rows(), kernels);
  for (Index i = 0; i < inputs.rows(); ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (Index p = 0; p < kernels; ++p) {
      gates(i, p) = parameters(p, inputs.cols());
      for (Index r = 0; r < inputs.cols(); ++r) gates(i, p) += parameters(p, r) * inputs(i, r);
      largest = std::max(largest, gates(i, p));
    }
    double sum = 0.0;
    for (Index p = 0; p < kernels; ++p) sum += std::exp(gates(i, p) - largest);
    for (Index p = 0; p < kernels; ++p) {
      gates(i, p) = kind == Gates::Kind::sigmoid ? 2.0 / std::sqrt(count) / (1.0 + std::exp(-gates(i, p)))
                                                 : std::sqrt(count) * std::exp(gates(i, p) - largest) / sum;
    }
  }
  return gates;
}

struct Sample {
  Vector gains;  // y_i g_ip
  Vector switches;
  double needed = 0.0;
};

// The fewest kernels that reach `needed`; as many as there are now if none.
Index fewest(const Sample& sample, const Vector& start, Index changes) {
  Vector on;   // gains of kernels that h⁰ has off, largest first
  Vector off;  // gains of kernels that h⁰ has on, smallest first
  double sum = 0.0;
  for (std::size_t p = 0; p < start.size(); ++p) {
    (start[p] == 0.0 ? on : off).push_back(sample.gains[p]);
    sum += start[p] * sample.gains[p];
  }
  std::ranges::sort(on, std::greater<>());
  std::ranges::sort(off);
  const Index kernels = std::ssize(off);
  Index best = static_cast<Index>(std::ranges::count(sample.switches, 1.0));
  double with = sum;
  for (Index b = 0; b <= std::min(changes, std::ssize(on)); ++b) {
    if (b > 0) with += on[at(b - 1)];
    double left = with;
    for (Index a = 0; a <= std::min(changes - b, kernels); ++a) {
      if (a > 0) left -= off[at(a - 1)];
      if (left >= sample.needed) best = std::min(best, kernels - a + b);
    }
  }
  return best;
}

Vector row_of(const Matrix& matrix, Index i) {
  Vector row;
  for (Index p = 0; p < matrix.cols(); ++p) row.push_back(matrix(i, p));
  return row;
}

struct Switching {
  double improvable = 0.0;    // samples
  double least_margin = 1.0;  // τ
  double margin_error = 0.0;  // of τ against eq. 16 on the model's own weights
  double too_far = 0.0;       // samples with more than m₀ changes
  double too_few = 0.0;       // samples whose last switches are too few for their constraint
};

void examine_output(const KernelBank& bank, const Targets& targets, const Model& model, Index c,
                    Switching& found) {
  const auto& part = part_of<GatedPart>(model);
  const Gates& gates = part.gates;
  const Gates::Output& of_output = gates.outputs[at(c)];
  const Matrix& last = of_output.in_prediction();
  const Index row = model.weights.shape == KernelWeights::Shape::per_class ? c : 0;
  Vector theta;
  for (Index p = 0; p < bank.kernels(); ++p) theta.push_back(model.weights.values(row, p));
  const Matrix g = gated_outputs(bank, theta, model.coefficients.column(c), of_output.samples);
  Vector norms;
  double total = 0.0;
  for (Index p = 0; p < bank.kernels(); ++p) {
    double square = 0.0;
    for (Index i = 0; i < bank.rows(); ++i) {
      square += theta[at(p)] * model.coefficients(i, c) * of_output.samples(i, p) * g(i, p);
    }
    norms.push_back(std::sqrt(std::max(0.0, square)));
    total += norms.back();
  }
  const int positive = model.task == Task::binary ? 1 : static_cast<int>(c);
  for (Index i = 0; i < bank.rows(); ++i) {
    if (part.box(i, c) == 0.0) continue;
    const double y = targets.codes[at(i)] == positive ? 1.0 : -1.0;
    const double tau = of_output.margins[at(i)];
    Sample sample;
    double f = 0.0;
    double kept = 0.0;
    double changed = 0.0;
    double reached = 0.0;
    for (Index p = 0; p < bank.kernels(); ++p) {
      sample.gains.push_back(y * g(i, p));
      sample.switches.push_back(last(i, p));
      f += of_output.samples(i, p) * g(i, p);
      reached += last(i, p) * y * g(i, p);
      kept += of_output.samples(i, p) * norms[at(p)];
      changed += last(i, p) == gates.start[at(p)] ? 0.0 : 1.0;
    }
    const double bias = model.bias[at(c)];
    sample.needed = std::min(tau, y * (f + bias)) - y * bias - 1e-6 * std::max(1.0, tau);
    const auto now = static_cast<Index>(std::ranges::count(sample.switches, 1.0));
    found.improvable += fewest(sample, gates.start, static_cast<Index>(gates.changes)) < now ? 1.0 : 0.0;
    found.least_margin = std::min(found.least_margin, tau);
    found.too_far += changed > gates.changes ? 1.0 : 0.0;
    found.too_few += reached < sample.needed - 1e-6 * std::max(1.0, tau) ? 1.0 : 0.0;
    if (total > 0.0) found.margin_error = worse(found.margin_error, std::abs(kept / total - tau));
  }
}

// Prediction chooses among the patterns of the training samples that count: patterns that differ from those.
double stray_patterns(const Model& model) {
  const auto& part = part_of<GatedPart>(model);
  double stray = 0.0;
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    const Gates::Output& of_output = part.gates.outputs[at(c)];
    std::set<Vector> kept;
    std::set<Vector> seen;
    for (Index h = 0; h < of_output.patterns.rows(); ++h) kept.insert(row_of(of_output.patterns, h));
    const Matrix& last = of_output.in_prediction();
    for (Index i = 0; i < last.rows(); ++i) {
      if (part.box(i, c) != 0.0) seen.insert(row_of(last, i));
    }
    for (const Vector& one : kept) stray += seen.contains(one) ? 0.0 : 1.0;
    for (const Vector& one : seen) stray += kept.contains(one) ? 0.0 : 1.0;
  }
  return stray;
}

void add_switches(const KernelBank& bank, const Targets& targets, const Model& model,
                  Certificate& certificate) {
  Switching found;
  for (Index c = 0; c < model.coefficients.cols(); ++c) examine_output(bank, targets, model, c, found);
  certificate.items.push_back(
      {"samples too far", found.too_far, "with more than m0 switches away from h0 (0 is right)", 0.0});
  certificate.items.push_back({"samples with too few kernels", found.too_few,
                               "for what the solution asks of their switches (0 is right)", 0.0});
  certificate.items.push_back({"stray patterns", stray_patterns(model),
                               "of switches that prediction chooses from and no sample has, or the other way",
                               0.0});
  certificate.items.push_back({"samples improvable", found.improvable,
                               "that could do with fewer kernels now; 0: the switches are settled"});
  certificate.items.push_back(
      {"change of tau", found.margin_error, "what one more update would change at most; 0: settled"});
  certificate.items.push_back({"least tau", found.least_margin, "below 0.05 is a sign of collapse"});
}

// Largest difference between the gates kept in the model and those that its functions give.
double gate_error(const KernelBank& bank, const Model& model) {
  const Gates& gates = part_of<GatedPart>(model).gates;
  const Matrix inputs = gate_inputs(gates, bank);
  double worst = 0.0;
  for (const auto& output : gates.outputs) {
    const Matrix values = gate_values(gates.kind, output.parameters, inputs);
    for (std::size_t k = 0; k < values.values().size(); ++k) {
      worst = worse(worst, std::abs(values.values()[k] - output.samples.values()[k]));
    }
  }
  return worst;
}

}  // namespace

Certificate certify_gated(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const MarginFinding margin = examine_margin(bank, targets, model);
  Certificate certificate;
  certificate.items = items_of(margin);
  const bool switches = part_of<GatedPart>(model).gates.kind == Gates::Kind::switches;
  if (switches) {
    add_switches(bank, targets, model, certificate);
  } else {
    // Gates are of size 1; inputs on small eigenvalues of the kernel magnify its rounding by up to 1e5.
    certificate.items.push_back({"error of the gates", gate_error(bank, model),
                                 "kept for the training samples against their functions",
                                 1e-6 * coarseness(bank)});
  }
  const std::string gates = switches ? "switches" : "gates";
  judge_gap(model, margin.gap,
            fmt::format("For these {} no {}coefficients", gates, switches ? "kernel weights and " : ""),
            certificate);
  // What is proved is about the gates as they are, so it is no proof that the model is the best one.
  certificate.proof = false;
  certificate.verdict += fmt::format(" Whether other {} would be better cannot be proved.", gates);
  return certificate;
}

}  // namespace kloom::certify_detail
