// SPDX-License-Identifier: BSD-3-Clause
//
// With a_nm ≤ 0 for m ≠ y_n, Σ_m a_nm = 0 and a_ny ≤ u_n/N (u_n the weight of the sample's loss), and θ_mf =
// Σ_n a_nm Φ_f(x_n), weak duality of the multiclass hinge loss says for every W
//
//     (1/N) Σ u_n loss_n(W) + R(W) ≥ Σ_n a_ny − R*(θ).
//
//   MKL-DA    R = ½ Σ γ_mf ‖w_mf‖²                                R* = ½ Σ_mf ‖θ_mf‖²/γ_mf
//   UFO-MKL   R = λ/2 ‖(‖w_f‖)‖_p² + α Σ_f ‖w_f‖, w_f over all classes   R* = 1/(2λ) ‖(max(0, ‖θ_f‖ − α))‖_q²
//
// The models' coefficients become multiples of such an a when every sample's row is reduced to its bound.
#include "certify/stochastic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "certify/gap.h"
#include "kernels/banks/gated_bank.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::certify_detail {
namespace {

struct Truth {
  const Targets& targets;
  Index classes;

  [[nodiscard]] double weight(Index n) const { return targets.weights.empty() ? 1.0 : targets.weights[at(n)]; }
  [[nodiscard]] int code(Index n) const { return targets.codes[at(n)]; }
};

// Two classes are kept as one output; its negative is the other class.
double per_class(const Matrix& values, Index n, int m) {
  return values.cols() == 1 ? (m == 1 ? values(n, 0) : -values(n, 0)) : values(n, m);
}

double mean_loss(const Truth& truth, const Matrix& scores) {
  double sum = 0.0;
  for (Index n = 0; n < scores.rows(); ++n) {
    // With one output the score is already the difference of the two classes.
    double margin = std::numeric_limits<double>::infinity();
    if (scores.cols() == 1) {
      margin = truth.code(n) == 1 ? scores(n, 0) : -scores(n, 0);
    } else {
      for (Index m = 0; m < scores.cols(); ++m)
        if (m != truth.code(n)) margin = std::min(margin, scores(n, truth.code(n)) - scores(n, m));
    }
    sum += truth.weight(n) * std::max(0.0, 1.0 - margin);
  }
  return sum / static_cast<double>(scores.rows());
}

// Rows cut down to the bound, rows of the wrong sign taken out; returns Σ_n a_ny.
double make_feasible(const Truth& truth, Matrix& a) {
  double total = 0.0;
  for (Index n = 0; n < a.rows(); ++n) {
    const double bound = truth.weight(n) / static_cast<double>(a.rows());
    double of_truth = per_class(a, n, truth.code(n));
    bool sound = of_truth >= 0.0;
    double sum = 0.0;
    for (int m = 0; m < static_cast<int>(truth.classes); ++m) {
      const double value = per_class(a, n, m);
      sum += value;
      if (m != truth.code(n)) sound = sound && value <= 0.0;
    }
    // The row should sum to 0 up to rounding; the remainder is added to the sample's own class.
    sound = sound && std::abs(sum) <= 1e-9 * std::abs(of_truth);
    const double factor = !sound ? 0.0 : of_truth > bound ? bound / of_truth : 1.0;
    for (Index k = 0; k < a.cols(); ++k) a(n, k) *= factor;
    of_truth *= factor;
    if (a.cols() > 1) a(n, truth.code(n)) -= factor * sum;
    total += of_truth;
  }
  return total;
}

// Every violation moves a sample's own class up and another one down by the same, so a row that is not ≥ 0 for its own
// class, ≤ 0 for the others and 0 in sum is no sum of violations. The part of all coefficients in rows that are none.
double lopsided(const Truth& truth, const Matrix& a) {
  double wrong = 0.0;
  double size = 0.0;
  for (Index n = 0; n < a.rows(); ++n) {
    double row = 0.0;
    double sum = 0.0;
    double outside = 0.0;
    for (int m = 0; m < static_cast<int>(truth.classes); ++m) {
      const double value = per_class(a, n, m);
      row += std::abs(value);
      sum += value;
      outside = worse(outside, m == truth.code(n) ? -value : value);
    }
    size += row;
    wrong = worse(wrong, worse(outside, std::abs(sum)));
  }
  return wrong / std::max(size, 1e-300);
}

Matrix scores_of(const KernelBank& bank, const Matrix& weights, const Matrix& coefficients,
                 std::size_t memory) {
  std::vector<Index> rows(at(bank.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<Index> used;
  for (Index n = 0; n < coefficients.rows(); ++n) {
    for (Index k = 0; k < coefficients.cols(); ++k) {
      if (coefficients(n, k) == 0.0) continue;
      used.push_back(n);
      break;
    }
  }
  Matrix by_sample(static_cast<Index>(used.size()), coefficients.cols());
  Matrix by_kernel(weights.cols(), coefficients.cols());
  for (Index k = 0; k < coefficients.cols(); ++k) {
    for (std::size_t j = 0; j < used.size(); ++j)
      by_sample(static_cast<Index>(j), k) = coefficients(used[j], k);
    for (Index f = 0; f < weights.cols(); ++f) by_kernel(f, k) = weights(weights.rows() == 1 ? 0 : k, f);
  }
  Matrix scores(bank.rows(), coefficients.cols());
  bank.combination(by_kernel.view(), memory)->add_scores(rows, used, by_sample.view(), scores.view());
  return scores;
}

struct Finding {
  double primal = 0.0;
  double dual = 0.0;
  double lopsided = 0.0;
  double weights = 0.0;  // kernel weights against what they follow from, relative to the largest
  [[nodiscard]] double gap() const { return (primal - dual) / std::max(std::abs(primal), 1e-300); }
};

// ½ Σ_mf ‖θ_mf‖²/γ_mf, which is also ½ Σ γ_mf ‖w_mf‖² of w = θ/γ.
double half_norm(const Matrix& forms, const Matrix& penalties, Index first, Index classes) {
  double sum = 0.0;
  for (Index m = 0; m < classes; ++m) {
    for (Index f = 0; f < forms.rows(); ++f)
      sum += std::max(0.0, forms(f, forms.cols() == 1 ? 0 : m)) / penalties(first + m, f);
  }
  return 0.5 * sum;
}

// Kernel weights are the inverse penalties of the class, or of both classes, with the sum 1.
double penalty_error(const Matrix& weights, const Matrix& penalties, Index first) {
  double worst = 0.0;
  for (Index k = 0; k < weights.rows(); ++k) {
    Vector inverse;
    for (Index f = 0; f < weights.cols(); ++f) {
      inverse.push_back(1.0 / penalties(first + k, f));
      if (weights.rows() == 1) inverse.back() += 1.0 / penalties(first + 1, f);
    }
    const double sum = std::accumulate(inverse.begin(), inverse.end(), 0.0);
    for (Index f = 0; f < weights.cols(); ++f)
      worst = worse(worst, std::abs(weights(k, f) - inverse[at(f)] / sum));
  }
  return worst;
}

// The model's weights and coefficients against the solutions from which they follow. People read them, and prediction
// takes the samples that it needs from them.
double shown_error(const Model& model, const StochasticPart& part) {
  const auto count = static_cast<double>(part.terms.size());
  double worst = 0.0;
  const Matrix& weights = model.weights.values;
  for (Index f = 0; f < weights.cols(); ++f) {
    for (Index k = 0; k < weights.rows(); ++k) {
      double mean = 0.0;
      for (const auto& term : part.terms) mean += term.weights(k, f) / count;
      worst = worse(worst, std::abs(mean - weights(k, f)));
    }
  }
  double size = 0.0;
  double apart = 0.0;
  for (std::size_t i = 0; i < model.coefficients.values().size(); ++i) {
    double sum = 0.0;
    for (const auto& term : part.terms) sum += term.coefficients.values()[i];
    size = worse(size, std::abs(sum));
    apart = worse(apart, std::abs(sum - model.coefficients.values()[i]));
  }
  return worse(worst, apart / std::max(size, 1e-300));
}

// Stochastic methods learn no bias.
double largest_bias(const Model& model) {
  double largest = 0.0;
  for (const double b : model.bias) largest = worse(largest, std::abs(b));
  return largest;
}

Finding examine_mklda(const KernelBank& bank, const Truth& truth, const StochasticPart& part, std::size_t index,
                      std::size_t memory) {
  const auto& term = part.terms[index];
  const Index first = static_cast<Index>(index) * truth.classes;
  // Coefficients are a·Σ_f 1/γ over the number of terms.
  Matrix a = term.coefficients;
  Matrix whole = term.coefficients;
  const auto terms = static_cast<double>(part.terms.size());
  for (Index k = 0; k < a.cols(); ++k) {
    double scale = 0.0;
    for (Index f = 0; f < bank.kernels(); ++f) {
      scale += 1.0 / part.penalties(first + k, f);
      if (a.cols() == 1) scale += 1.0 / part.penalties(first + 1, f);
    }
    for (double& value : a.column(k)) value *= terms / scale;
    for (double& value : whole.column(k)) value *= terms;
  }
  Finding finding;
  finding.lopsided = lopsided(truth, a);
  finding.weights = penalty_error(term.weights, part.penalties, first);
  finding.primal = mean_loss(truth, scores_of(bank, term.weights, whole, memory)) +
                   half_norm(bank.quadratic_forms(a.view()), part.penalties, first, truth.classes);
  finding.dual = make_feasible(truth, a);
  finding.dual -= half_norm(bank.quadratic_forms(a.view()), part.penalties, first, truth.classes);
  return finding;
}

constexpr double kRounding = 1e-9;  // of sums of N numbers, relative to the largest

Certificate certify_mklda(const KernelBank& bank, const Truth& truth, const Model& model, std::size_t memory) {
  const StochasticPart& part = part_of<StochasticPart>(model);
  Finding mean;
  double worst = 0.0;
  for (std::size_t i = 0; i < part.terms.size(); ++i) {
    const Finding one = examine_mklda(bank, truth, part, i, memory);
    mean.primal += one.primal / static_cast<double>(part.terms.size());
    mean.dual += one.dual / static_cast<double>(part.terms.size());
    mean.lopsided = worse(mean.lopsided, one.lopsided);
    mean.weights = worse(mean.weights, one.weights);
    worst = worse(worst, one.gap());
  }
  Certificate certificate;
  certificate.items = {
      {"primal objective", mean.primal, "loss plus penalty of each averaged solution, mean"},
      {"lower bound", mean.dual, "on the best objective under the same penalties, mean"},
      {"largest gap", worst, "relative, of a single solution under its own penalties"},
      {"stray coefficients", mean.lopsided, "that no violations add up to, relative to all", kRounding},
      {"error of the weights", mean.weights, "of each solution against its penalties (0 is right)", kRounding},
      {"error of the sums", shown_error(model, part),
       "the model's own weights and coefficients against the solutions'", kRounding},
      {"bias", largest_bias(model), "which the method does not learn", 0.0},
  };
  certificate.verdict =
      worst < 1.0
          ? fmt::format(
                "Each averaged solution is within {:.1f} % of the minimum of its own convex problem; "
                "nothing is proved about penalties and averaging.",
                100.0 * worst / (1.0 - worst))
          : "For some averaged solutions the lower bound is below 0 and says little: gradient descent at a "
            "high price of violations is far from its minimum, which need not hurt predictions.";
  return certificate;
}

double norm_of(const Vector& values, double power) {
  const double largest = *std::ranges::max_element(values);
  if (!(largest > 0.0)) return 0.0;
  double sum = 0.0;
  for (const double value : values) sum += std::pow(value / largest, power);
  return largest * std::pow(sum, 1.0 / power);
}

// ‖Σ_n a_n Φ_f‖ over all classes, of every kernel.
Vector group_norms(const KernelBank& bank, const Matrix& a, Index classes) {
  const Matrix forms = bank.quadratic_forms(a.view());
  Vector norms;
  for (Index f = 0; f < bank.kernels(); ++f) {
    double sum = 0.0;
    for (Index k = 0; k < forms.cols(); ++k) sum += std::max(0.0, forms(f, k));
    norms.push_back(std::sqrt(classes == 2 ? 2.0 * sum : sum));
  }
  return norms;
}

// The weights of dual averaging follow from the coefficients: ‖w_f‖ = ∂R*/∂‖θ_f‖ at θ_f = Σ a Φ_f, so the weight of kernel
// f is (v_f/(λ‖θ_f‖)) (v_f/‖v‖_q)^(q−2), v_f = max(0, ‖θ_f‖ − α).
double mirror_error(const Matrix& weights, const Vector& group, const StochasticPart& part) {
  const double q = part.norm / (part.norm - 1.0);
  Vector excess;
  for (const double norm : group) excess.push_back(std::max(0.0, norm - part.alpha));
  const double size = norm_of(excess, q);
  double worst = 0.0;
  double largest = 0.0;
  for (Index f = 0; f < weights.cols(); ++f) {
    const double v = excess[at(f)];
    const double right = v > 0.0 ? v / (part.lambda * group[at(f)]) * std::pow(v / size, q - 2.0) : 0.0;
    largest = worse(largest, right);
    for (Index k = 0; k < weights.rows(); ++k) worst = worse(worst, std::abs(weights(k, f) - right));
  }
  return worst / std::max(largest, 1e-300);
}

Certificate certify_ufo(const KernelBank& bank, const Truth& truth, const Model& model, std::size_t memory) {
  const StochasticPart& part = part_of<StochasticPart>(model);
  Matrix weights = model.weights.values;
  // With one output the score is the difference of two classes with opposite coefficients: 2·Σ a K.
  Matrix a = model.coefficients;
  for (double& value : a.values()) value *= a.cols() == 1 ? 0.5 : 1.0;
  const Vector norms = group_norms(bank, a, truth.classes);
  Vector group = norms;
  double sum = 0.0;
  for (std::size_t f = 0; f < group.size(); ++f) {
    group[f] *= weights(0, static_cast<Index>(f));
    sum += group[f];
  }
  Finding finding;
  const double size = norm_of(group, part.norm);
  finding.primal = mean_loss(truth, scores_of(bank, weights, model.coefficients, memory)) +
                   0.5 * part.lambda * size * size + part.alpha * sum;
  finding.lopsided = lopsided(truth, a);
  finding.weights = mirror_error(weights, norms, part);
  finding.dual = make_feasible(truth, a);
  Vector excess = group_norms(bank, a, truth.classes);
  for (double& value : excess) value = std::max(0.0, value - part.alpha);
  const double conjugate = norm_of(excess, part.norm / (part.norm - 1.0));
  finding.dual -= 0.5 * conjugate * conjugate / part.lambda;
  Certificate certificate;
  certificate.items = {
      {"primal objective", finding.primal, "loss plus penalty"},
      {"lower bound", finding.dual, "on the best objective"},
      {"duality gap", finding.gap(), "relative"},
      {"stray coefficients", finding.lopsided, "that no violations add up to, relative to all", kRounding},
      // The method keeps the norms up to date through all its steps, each with a rounding of its own.
      {"error of the weights", finding.weights, "against those that follow from the coefficients (0 is right)",
       1e-6 * coarseness(bank)},
      {"bias", largest_bias(model), "which the method does not learn", 0.0},
  };
  judge_gap(model, finding.gap(), "No weights", certificate);
  return certificate;
}

Certificate certify_on(const KernelBank& bank, const Targets& targets, const Model& model,
                       const Context& context) {
  const std::size_t memory = memory_budget(context) / 4;
  const Truth truth{targets, static_cast<Index>(model.classes.size())};
  const StochasticPart& part = part_of<StochasticPart>(model);
  if (!part.penalties.empty()) return certify_mklda(bank, truth, model, memory);
  if (part.lambda > 0.0 && part.norm > 1.0) return certify_ufo(bank, truth, model, memory);
  throw InvalidArgument("the model keeps nothing that could be checked: it comes from a stream");
}

// Where samples lack kernels, the problem is that of the features of every sample times √(P/its kernels), and the model's
// coefficients have these scales in them.
Certificate certify_balanced(const KernelBank& bank, const Targets& targets, Model model,
                             const Context& context) {
  const auto kernels = static_cast<double>(bank.kernels());
  Matrix gates = bank.presence().rows;
  StochasticPart part = part_of<StochasticPart>(model);
  for (Index i = 0; i < gates.rows(); ++i) {
    double own = 0.0;
    for (Index p = 0; p < gates.cols(); ++p) own += gates(i, p) > 0.0 ? 1.0 : 0.0;
    const double scale = own > 0.0 ? std::sqrt(kernels / own) : 1.0;
    for (Index p = 0; p < gates.cols(); ++p) gates(i, p) *= scale;
    for (Index c = 0; c < model.coefficients.cols(); ++c) {
      model.coefficients(i, c) /= scale;
      for (auto& term : part.terms) term.coefficients(i, c) /= scale;
    }
  }
  model.part = std::make_shared<StochasticPart>(std::move(part));
  return certify_on(kernels::GatedBank(bank, std::move(gates)), targets, model, context);
}

}  // namespace

Certificate certify_stochastic(const KernelBank& bank, const Targets& targets, const Model& model,
                               const Context& context) {
  return bank.presence().complete() ? certify_on(bank, targets, model, context)
                                    : certify_balanced(bank, targets, model, context);
}

}  // namespace kloom::certify_detail
