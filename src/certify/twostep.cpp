// SPDX-License-Identifier: BSD-3-Clause
//
// EasyMKL [AiolliDonini2015, eq. 8 to 11], for every output, with Q = (1 − λ) Y (Σ_m K_m) Y + λ diag(1/s), s the weights
// of the samples: γ is a distribution over the positives and one over the negatives, and for every such γ' (convexity)
//
//   γ'ᵀQγ' ≥ γᵀQγ − 2 (γᵀg − min over positives of g − min over negatives of g),   g = Qγ,
//
// so the last term proves how good γ is; θ_m must be γᵀY K_m Yγ over the sum of those.
//
// GRAM [Lauriola2017], with Q = (1 − λ) Y K_θ Y + λ diag(1/s) and α a distribution over the samples: γ bounds ρ² as above,
// α bounds R² by αᵀd − αᵀQα ≤ R² ≤ max_i (d_i − 2 (Qα)_i) + αᵀQα, d = (1 − λ) diag(K_θ) + λ: the model's ratio R²/ρ² is not above
// the quotient of these bounds. Because R² is a maximum and ρ² a minimum of functions that are linear in θ, no weights have a
// ratio below the least one of a single kernel with any α and γ, for which the model has others.
//
// Alignment [Cortes2012, section 3.1 and proposition 9], with inner products weighted by s_i s_j, K̃ the centred kernel
// and L = Σ_c y_c y_cᵀ of the centred labels: θ_m must be ⟨K̃_m, L⟩/‖K̃_m‖ over the sum of those (align), or
// v = θ ⟨K̃_θ, L⟩/‖K̃_θ‖² must satisfy r = Mv − a ≥ 0 and r_m v_m = 0, where (Mv)_m = ⟨K̃_m, K̃_v⟩ (alignf). Centred
// kernels are made one at a time. FHeuristic [QiuLane2009] is align without centring, for every output by itself.
//
// PWMK [Tanabe2008]: θ_m must be the accuracy that the model says kernel m has, less the threshold, over the sum of those.
#include "certify/twostep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "algebra/blas.h"
#include "certify/gap.h"
#include "certify/margin.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {
namespace {

// Alignments are ratios of sums of N² products, which round by much less; easymkl's γ is found to 1e-8.
constexpr double kRule = 1e-6;

Vector weights_of_samples(const TwoStepPart& part, Index n) {
  return part.sample_weights.empty() ? Vector(at(n), 1.0) : part.sample_weights;
}

Vector row_of(const Model& model, Index output) {
  const Index row = model.weights.shape == KernelWeights::Shape::per_class ? output : 0;
  Vector theta;
  for (Index m = 0; m < model.weights.values.cols(); ++m) theta.push_back(model.weights.values(row, m));
  return theta;
}

// How far θ is from values/Σ values; equal weights where all values are 0 or less.
double distance(const Vector& theta, Vector values) {
  double sum = 0.0;
  for (double& value : values) sum += value = std::max(value, 0.0);
  double worst = 0.0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double right = sum > 0.0 ? values[m] / sum : 1.0 / static_cast<double>(theta.size());
    worst = worse(worst, std::abs(theta[m] - right));
  }
  return worst;
}

struct EasyFinding {
  double gap = 0.0;         // relative, of γ
  double infeasible = 0.0;  // of γ
  double weights = 0.0;
  double square = 0.0;  // γᵀQγ
};

constexpr double kFar = std::numeric_limits<double>::infinity();

// 1 for the positives of the output, −1 for the negatives, 0 for samples that it does not see.
Vector sides_of(const Targets& targets, const TwoStepPart& part, Index output) {
  const bool pairs = !part.pairs.empty();
  const int positive = pairs ? static_cast<int>(part.pairs(output, 0))
                             : (targets.task == Task::binary ? 1 : static_cast<int>(output));
  const Vector weights = weights_of_samples(part, std::ssize(targets.codes));
  Vector sides;
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    const bool other = !pairs || targets.codes[i] == static_cast<int>(part.pairs(output, 1));
    const double side = targets.codes[i] == positive ? 1.0 : other ? -1.0 : 0.0;
    sides.push_back(weights[i] > 0.0 ? side : 0.0);
  }
  return sides;
}

// Of γ with g = Qγ.
EasyFinding examine_gamma(const Vector& sides, std::span<const double> gamma, const Vector& g) {
  double sums[2] = {0.0, 0.0};
  double least[2] = {kFar, kFar};
  EasyFinding finding;
  double value = 0.0;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    finding.infeasible = worse(finding.infeasible, sides[i] == 0.0 ? std::abs(gamma[i]) : -gamma[i]);
    if (sides[i] == 0.0) continue;
    const int side = sides[i] > 0.0 ? 1 : 0;
    sums[side] += gamma[i];
    least[side] = std::min(least[side], g[i]);
    value += gamma[i] * g[i];
  }
  finding.infeasible = worse(finding.infeasible, worse(std::abs(sums[0] - 1.0), std::abs(sums[1] - 1.0)));
  finding.gap = 2.0 * (value - least[0] - least[1]) / value;
  finding.square = value;
  return finding;
}

EasyFinding examine_easymkl(const KernelBank& bank, const Targets& targets, const Model& model, Index output) {
  const auto& part = part_of<TwoStepPart>(model);
  if (part.gamma.empty()) return {kFar, kFar, kFar, 0.0};
  const Vector sides = sides_of(targets, part, output);
  const Vector weights = weights_of_samples(part, bank.rows());
  const auto gamma = part.gamma.column(output);
  Matrix signed_gamma(bank.rows(), 1);
  for (Index i = 0; i < bank.rows(); ++i) signed_gamma(i, 0) = sides[at(i)] * gamma[at(i)];
  const Matrix applied = bank.apply(signed_gamma.view());
  Vector forms;
  Vector g(sides.size());
  for (Index m = 0; m < bank.kernels(); ++m) {
    const auto outputs = applied.column(0).subspan(at(m * bank.rows()), at(bank.rows()));
    forms.push_back(algebra::dot(outputs, signed_gamma.column(0)));
    algebra::axpy(1.0 - part.lambda, outputs, g);
  }
  for (std::size_t i = 0; i < g.size(); ++i)
    g[i] = sides[i] == 0.0 ? 0.0 : sides[i] * g[i] + part.lambda * gamma[i] / weights[i];
  EasyFinding finding = examine_gamma(sides, gamma, g);
  finding.weights = distance(row_of(model, output), forms);
  return finding;
}

// Of one output.
struct Distributions {
  std::span<const double> gamma;
  std::span<const double> ball;
};

struct GramFinding {
  double gap = 0.0;         // relative, of the ratio
  double infeasible = 0.0;  // of γ and α
};

// Values of α in the problem of the ball: αᵀd − αᵀQα, and what no other α exceeds.
struct BallBounds {
  double low = 0.0;
  double high = 0.0;
};

BallBounds examine_ball(const Vector& sides, std::span<const double> alpha, const Vector& squares,
                        const Vector& applied, double& infeasible) {
  double sum = 0.0;
  double form = 0.0;
  double linear = 0.0;
  double largest = -kFar;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    infeasible = worse(infeasible, sides[i] == 0.0 ? std::abs(alpha[i]) : -alpha[i]);
    if (sides[i] == 0.0) continue;
    sum += alpha[i];
    form += alpha[i] * applied[i];
    linear += alpha[i] * squares[i];
    largest = std::max(largest, squares[i] - 2.0 * applied[i]);
  }
  infeasible = worse(infeasible, std::abs(sum - 1.0));
  return {linear - form, largest + form};
}

// γ (signed) and α of one output with their products.
struct RatioParts {
  Matrix both;     // N × 2
  Matrix applied;  // N × 2: Q without Y, times the columns
  Vector squares;  // d
  Vector radius;   // of every kernel: r_m with what the ridge adds
  Vector margin;   // g_m with what the ridge adds
};

RatioParts ratio_parts(const KernelBank& bank, const TwoStepPart& part, const Vector& theta,
                       const Vector& sides, const Distributions& given) {
  const Vector weights = weights_of_samples(part, bank.rows());
  const double share = 1.0 - part.lambda;
  RatioParts parts{Matrix(bank.rows(), 2), Matrix(bank.rows(), 2), Vector(sides.size(), part.lambda), {}, {}};
  double ridges[2] = {0.0, 0.0};
  for (Index i = 0; i < bank.rows(); ++i) {
    parts.both(i, 0) = sides[at(i)] * given.gamma[at(i)];
    parts.both(i, 1) = given.ball[at(i)];
    for (Index c = 0; c < 2 && sides[at(i)] != 0.0; ++c) {
      parts.applied(i, c) = part.lambda / weights[at(i)] * parts.both(i, c);
      ridges[c] += parts.applied(i, c) * parts.both(i, c);
    }
  }
  const Matrix diagonal = bank.diagonal();
  const Matrix applied = bank.apply(parts.both.view());
  for (Index m = 0; m < bank.kernels(); ++m) {
    const auto of_gamma = applied.column(0).subspan(at(m * bank.rows()), at(bank.rows()));
    const auto of_ball = applied.column(1).subspan(at(m * bank.rows()), at(bank.rows()));
    const auto alpha = parts.both.column(1);
    algebra::axpy(share * theta[at(m)], of_gamma, parts.applied.column(0));
    algebra::axpy(share * theta[at(m)], of_ball, parts.applied.column(1));
    algebra::axpy(share * theta[at(m)], diagonal.column(m), parts.squares);
    parts.margin.push_back(share * algebra::dot(of_gamma, parts.both.column(0)) + ridges[0]);
    parts.radius.push_back(share * (algebra::dot(alpha, diagonal.column(m)) - algebra::dot(alpha, of_ball)) +
                           part.lambda - ridges[1]);
  }
  return parts;
}

// What γ and α are for the sum of kernels that they were multiplied with.
struct RatioFinding {
  EasyFinding points;
  BallBounds ball;
};

RatioFinding examine_ratio(const Vector& sides, const RatioParts& parts, const Distributions& given,
                           double& infeasible) {
  Vector g(sides.size());
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = sides[i] * parts.applied.values()[i];
  const Vector of_ball(parts.applied.column(1).begin(), parts.applied.column(1).end());
  RatioFinding found{examine_gamma(sides, given.gamma, g), {}};
  infeasible = worse(infeasible, found.points.infeasible);
  found.ball = examine_ball(sides, given.ball, parts.squares, of_ball, infeasible);
  return found;
}

GramFinding examine_gram(const KernelBank& bank, const Targets& targets, const Model& model, Index output) {
  const auto& part = part_of<TwoStepPart>(model);
  if (part.gamma.empty() || part.ball.empty()) return {kFar, kFar};
  const Vector sides = sides_of(targets, part, output);
  const Vector theta = row_of(model, output);
  const Distributions own{part.gamma.column(output), part.ball.column(output)};
  const Distributions bounding{part.bound_gamma.column(output), part.bound_ball.column(output)};
  GramFinding finding;
  const RatioFinding at_weights =
      examine_ratio(sides, ratio_parts(bank, part, theta, sides, own), own, finding.infeasible);
  const RatioParts parts = ratio_parts(bank, part, theta, sides, bounding);
  (void)examine_ratio(sides, parts, bounding, finding.infeasible);  // are they distributions?
  double bound = kFar;
  for (std::size_t m = 0; m < parts.radius.size(); ++m)
    bound = std::min(bound, parts.radius[m] / parts.margin[m]);
  const double least_margin = at_weights.points.square * (1.0 - at_weights.points.gap);
  finding.gap = least_margin > 0.0 ? 1.0 - bound * least_margin / at_weights.ball.high : 1.0;
  return finding;
}

// The labels' centred columns, times the weights: ⟨K̃, L⟩ = Σ_c z_cᵀ K z_c.
Matrix label_columns(const Targets& targets, const Vector& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool numbers = targets.task == Task::regression;
  const Index columns = targets.task == Task::multiclass ? std::ssize(targets.classes) : 1;
  Matrix z(std::ssize(weights), columns);
  for (Index c = 0; c < columns; ++c) {
    double mean = 0.0;
    for (Index i = 0; i < z.rows(); ++i) {
      z(i, c) = numbers ? targets.values(i, 0) : (targets.codes[at(i)] == (columns == 1 ? 1 : c) ? 1.0 : 0.0);
      mean += weights[at(i)] * z(i, c) / total;
    }
    for (Index i = 0; i < z.rows(); ++i) z(i, c) = weights[at(i)] * (z(i, c) - mean);
  }
  return z;
}

// √(s_i s_j) K̃(i, j) of the combination of kernels.
Matrix centred(const KernelBank& bank, const Vector& theta, const Vector& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Matrix kernel = bank.combine(theta);
  Vector means(weights.size());
  algebra::gemv(algebra::Op::none, 1.0 / total, kernel.view(), weights, 0.0, means);
  const double mean = algebra::dot(means, weights) / total;
  for (Index j = 0; j < kernel.cols(); ++j) {
    for (Index i = 0; i < kernel.rows(); ++i) {
      kernel(i, j) =
          std::sqrt(weights[at(i)] * weights[at(j)]) * (kernel(i, j) - means[at(i)] - means[at(j)] + mean);
    }
  }
  return kernel;
}

// Of every kernel.
struct Alignments {
  Vector products;  // ⟨K̃_m, L⟩
  Vector norms;     // ‖K̃_m‖; 0 where the kernel is constant up to rounding
  Vector others;    // ⟨K̃_m, K̃_θ⟩
};

Alignments alignments_of(const KernelBank& bank, const Targets& targets, const Vector& weights,
                         const Vector& theta) {
  const Matrix z = label_columns(targets, weights);
  const Matrix forms = bank.quadratic_forms(z.view());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const Matrix mixture = centred(bank, theta, weights);
  const Matrix diagonal = bank.diagonal();
  Alignments found;
  for (Index m = 0; m < bank.kernels(); ++m) {
    Vector one(at(bank.kernels()));
    one[at(m)] = 1.0;
    const Matrix kernel = centred(bank, one, weights);
    const double norm = std::sqrt(algebra::dot(kernel.values(), kernel.values()));
    double largest = 0.0;
    for (const double value : diagonal.column(m)) largest = std::max(largest, std::abs(value));
    found.norms.push_back(norm > 1e-13 * total * largest ? norm : 0.0);
    found.others.push_back(algebra::dot(kernel.values(), mixture.values()));
    double product = 0.0;
    for (Index c = 0; c < forms.cols(); ++c) product += forms(m, c);
    found.products.push_back(product);
  }
  return found;
}

// ⟨K_m, yyᵀ⟩/‖K_m‖ of every kernel, nothing centred, over the samples that the output sees.
Vector plain_alignments(const KernelBank& bank, const Targets& targets, const Model& model, Index output) {
  const auto& part = part_of<TwoStepPart>(model);
  const bool numbers = targets.task == Task::regression;
  const Vector sides = numbers ? Vector(at(bank.rows()), 1.0) : sides_of(targets, part, output);
  Vector weights = weights_of_samples(part, bank.rows());
  Vector z;
  for (Index i = 0; i < bank.rows(); ++i) {
    weights[at(i)] *= std::abs(sides[at(i)]);
    z.push_back(weights[at(i)] * (numbers ? targets.values(i, 0) - part.target_centre : sides[at(i)]));
  }
  const Matrix forms = bank.quadratic_forms({z.data(), bank.rows(), 1, bank.rows()});
  Vector found;
  for (Index m = 0; m < bank.kernels(); ++m) {
    Vector one(at(bank.kernels()));
    one[at(m)] = 1.0;
    const Matrix kernel = bank.combine(one);
    double square = 0.0;
    for (Index j = 0; j < bank.rows(); ++j) {
      for (Index i = 0; i < bank.rows(); ++i)
        square += weights[at(i)] * weights[at(j)] * kernel(i, j) * kernel(i, j);
    }
    found.push_back(square > 0.0 ? forms(m, 0) / std::sqrt(square) : 0.0);
  }
  return found;
}

// Violation of the optimality of v, in units of the largest alignment.
double alignf_violation(const Alignments& found, const Vector& theta) {
  double with_labels = 0.0;
  double square = 0.0;
  double largest = 0.0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    with_labels += theta[m] * found.products[m];
    square += theta[m] * found.others[m];
    if (found.norms[m] > 0.0) largest = worse(largest, found.products[m] / found.norms[m]);
  }
  // No kernel has anything to do with the labels: the rule has no answer, and equal weights are as good as any.
  if (!(largest > 0.0)) return distance(theta, Vector(theta.size()));
  const double scale = with_labels / square;
  double worst = 0.0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (found.norms[m] == 0.0) {
      worst = worse(worst, theta[m]);
      continue;
    }
    const double residual = (scale * found.others[m] - found.products[m]) / (found.norms[m] * largest);
    worst = worse(worst, theta[m] > 0.0 ? std::abs(residual) : -residual);
  }
  return worst;
}

// The machine on the weights, then the rule.
Certificate judged(const KernelBank& bank, const Targets& targets, const Model& model,
                   const std::vector<Certificate::Item>& rule) {
  const MarginFinding total = examine_margin(bank, targets, model);
  Certificate certificate;
  certificate.items = items_of(total);
  for (Certificate::Item item : rule) {
    item.limit *= coarseness(bank);
    item.rounding = item.limit;
    certificate.items.push_back(std::move(item));
  }
  judge_gap(model, total.gap, "With these kernel weights no coefficients", certificate);
  certificate.verdict +=
      " The weights are those of the rule, found before the coefficients, and others may be better.";
  return certificate;
}

}  // namespace

Certificate certify_easymkl(const KernelBank& bank, const Targets& targets, const Model& model,
                            const Context& /*context*/) {
  EasyFinding total;
  for (Index output = 0; output < model.coefficients.cols(); ++output) {
    const EasyFinding one = examine_easymkl(bank, targets, model, output);
    total.gap = worse(total.gap, one.gap);
    total.infeasible = worse(total.infeasible, one.infeasible);
    total.weights = worse(total.weights, one.weights);
  }
  return judged(
      bank, targets, model,
      {{"gap of gamma", total.gap, "relative, of the problem whose solution gives the weights", kRule},
       {"infeasibility of gamma", total.infeasible, "distance from a distribution on either side", kRule},
       {"distance from the rule", total.weights, "of the kernel weights from those of gamma", kRule}});
}

Certificate certify_gram(const KernelBank& bank, const Targets& targets, const Model& model,
                         const Context& /*context*/) {
  GramFinding total;
  for (Index output = 0; output < model.coefficients.cols(); ++output) {
    const GramFinding one = examine_gram(bank, targets, model, output);
    total.gap = worse(total.gap, one.gap);
    total.infeasible = worse(total.infeasible, one.infeasible);
  }
  // The gap that training found, or less.
  const double promised = part_of<TwoStepPart>(model).ratio_gap + kRule;
  Certificate certificate =
      judged(bank, targets, model,
             {{"infeasibility of the distributions", total.infeasible,
               "of gamma and of the ball's centre, from distributions", kRule},
              {"gap of the ratio", total.gap,
               "relative, of squared radius over squared distance of the classes", promised}});
  certificate.proof = certificate.proof && total.gap <= certificate.tolerance;
  certificate.verdict += fmt::format(
      " No kernel weights can have a ratio of radius and margin more than {:.1e} (relative) below these.",
      std::max(0.0, total.gap));
  return certificate;
}

Certificate certify_fheuristic(const KernelBank& bank, const Targets& targets, const Model& model,
                               const Context& /*context*/) {
  double worst = 0.0;
  for (Index output = 0; output < model.coefficients.cols(); ++output)
    worst = worse(worst, distance(row_of(model, output), plain_alignments(bank, targets, model, output)));
  return judged(bank, targets, model,
                {{"distance from the rule", worst, "of the kernel weights from the alignments", kRule}});
}

Certificate certify_pwmk(const KernelBank& bank, const Targets& targets, const Model& model,
                         const Context& /*context*/) {
  const auto& part = part_of<TwoStepPart>(model);
  double worst = part.accuracies.empty() ? kFar : 0.0;
  for (Index output = 0; output < part.accuracies.cols(); ++output) {
    Vector above;
    for (const double accuracy : part.accuracies.column(output)) {
      worst = worse(worst, accuracy - 1.0);
      above.push_back(accuracy - part.threshold);
    }
    worst = worse(worst, distance(row_of(model, output), above));
  }
  return judged(bank, targets, model,
                {{"distance from the rule", worst, "of the kernel weights from the accuracies", kRule}});
}

Certificate certify_align(const KernelBank& bank, const Targets& targets, const Model& model,
                          const Context& /*context*/) {
  const Vector weights = weights_of_samples(part_of<TwoStepPart>(model), bank.rows());
  const Vector theta = row_of(model, 0);
  const Alignments found = alignments_of(bank, targets, weights, theta);
  Vector values;
  for (std::size_t m = 0; m < theta.size(); ++m)
    values.push_back(found.norms[m] > 0.0 ? found.products[m] / found.norms[m] : 0.0);
  return judged(bank, targets, model,
                {{"distance from the rule", distance(theta, values),
                  "of the kernel weights from the alignments", kRule}});
}

Certificate certify_alignf(const KernelBank& bank, const Targets& targets, const Model& model,
                           const Context& /*context*/) {
  const Vector weights = weights_of_samples(part_of<TwoStepPart>(model), bank.rows());
  const Vector theta = row_of(model, 0);
  const double violation = alignf_violation(alignments_of(bank, targets, weights, theta), theta);
  return judged(bank, targets, model,
                {{"KKT residual of the weights", violation,
                  "of the most aligned sum of kernels, in units of the largest alignment", kRule}});
}

}  // namespace kloom::certify_detail
