// SPDX-License-Identifier: BSD-3-Clause
#include "methods/ufomkl/ufomkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "methods/seam/calibration.h"
#include "methods/stochastic/class_problem.h"
#include "methods/stochastic/part.h"
#include "solvers/draws.h"

namespace kloom::methods {
namespace {

constexpr Index kBlock = 64;

struct UfoState {
  Matrix counts;         // N × outputs
  Vector squared_norms;  // ‖θ_f‖²
  Index steps = 0;
  Index violations = 0;
  std::vector<Index> support;
};

// Mirror descent over given samples.
class Descent {
 public:
  Descent(const KernelBank& bank, const ClassLabels& labels, const UfoMirror& mirror)
      : bank_(bank), labels_(labels), mirror_(mirror), diagonal_(bank.diagonal()), seen_(at(bank.rows())) {
    state_.counts = Matrix(bank.rows(), labels.outputs());
    state_.squared_norms.assign(at(bank.kernels()), 0.0);
  }

  void pass(std::span<const Index> order) {
    const auto steps = static_cast<Index>(order.size());
    for (Index start = 0; start < steps; start += kBlock)
      block(order.subspan(at(start), at(std::min(kBlock, steps - start))));
    refresh_norms();
  }
  [[nodiscard]] const UfoState& state() const { return state_; }
  // Scores of samples with the present weights: rows × outputs.
  [[nodiscard]] Matrix scores(std::span<const Index> rows) const;
  [[nodiscard]] Vector weights() const {
    Vector out(at(bank_.kernels()));
    mirror_.weights(state_.squared_norms, static_cast<double>(std::max<Index>(1, state_.steps)), out);
    return out;
  }

 private:
  void block(std::span<const Index> rows);
  // With two classes the output is the difference, so a violation moves θ by (+Φ, −Φ): twice
  // the inner products.
  void update(std::span<const Index> rows, Index i, const Violation& v, Matrix& raw);
  void refresh_norms();
  [[nodiscard]] Matrix support_counts() const;
  [[nodiscard]] double both() const { return labels_.classes == 2 ? 2.0 : 1.0; }

  const KernelBank& bank_;
  const ClassLabels& labels_;
  const UfoMirror& mirror_;
  Matrix diagonal_;
  UfoState state_;
  std::vector<bool> seen_;
};

Matrix Descent::support_counts() const {
  Matrix counts(static_cast<Index>(state_.support.size()), labels_.outputs());
  for (Index k = 0; k < counts.cols(); ++k) {
    for (Index j = 0; j < counts.rows(); ++j) counts(j, k) = state_.counts(state_.support[at(j)], k);
  }
  return counts;
}

void Descent::block(std::span<const Index> rows) {
  const auto n = static_cast<Index>(rows.size());
  const Index p = bank_.kernels();
  const Index outputs = labels_.outputs();
  // raw(f·n + i, k): Σ_n c_nk k_f(x_n, x_i), brought up to date as violations happen.
  Matrix raw = bank_.apply_chosen(rows, state_.support, support_counts().view());
  Vector w(at(p));
  Vector g(at(outputs));
  for (Index i = 0; i < n; ++i) {
    // Weights as they were before this sample. Before the first one there are none, and all scores are 0.
    if (state_.steps > 0) mirror_.weights(state_.squared_norms, static_cast<double>(state_.steps), w);
    for (Index k = 0; k < outputs; ++k) {
      double sum = 0.0;
      for (Index f = 0; f < p; ++f) sum += w[at(f)] * raw(f * n + i, k);
      g[at(k)] = both() * sum;
    }
    ++state_.steps;
    const Violation v = find_violation(g, labels_.codes[at(rows[at(i)])], labels_.classes);
    if (v.happened) update(rows, i, v, raw);
  }
}

void Descent::update(std::span<const Index> rows, Index i, const Violation& v, Matrix& raw) {
  const auto n = static_cast<Index>(rows.size());
  const Index sample = rows[at(i)];
  const double weight = labels_.weight(sample);
  ++state_.violations;
  if (!seen_[at(sample)]) state_.support.push_back(sample);
  seen_[at(sample)] = true;
  for (Index f = 0; f < bank_.kernels(); ++f) {
    double& square = state_.squared_norms[at(f)];
    apply_violation(v, labels_.classes, weight, [&](Index k, double step) {
      square += both() * (2.0 * step * raw(f * n + i, k) + step * step * diagonal_(sample, f));
    });
  }
  const auto later = rows.subspan(at(i + 1));
  if (!later.empty()) {
    Vector entries(later.size() * at(bank_.kernels()));
    bank_.entries(rows.subspan(at(i), 1), later, entries.data());
    for (Index f = 0; f < bank_.kernels(); ++f) {
      const double* row = entries.data() + f * std::ssize(later);
      apply_violation(v, labels_.classes, weight, [&](Index k, double step) {
        double* scores = raw.column(k).data() + f * n + i + 1;
        for (Index j = 0; j < std::ssize(later); ++j) scores[j] += step * row[j];
      });
    }
  }
  apply_violation(v, labels_.classes, weight, [&](Index k, double step) { state_.counts(sample, k) += step; });
}

// Rounding of the increments does not add up over the epochs.
void Descent::refresh_norms() {
  const Matrix forms = bank_.quadratic_forms(state_.counts.view());
  for (Index f = 0; f < bank_.kernels(); ++f) {
    double sum = 0.0;
    for (Index k = 0; k < forms.cols(); ++k) sum += std::max(0.0, forms(f, k));
    state_.squared_norms[at(f)] = both() * sum;
  }
}

Matrix Descent::scores(std::span<const Index> rows) const {
  const Index outputs = labels_.outputs();
  const Vector w = weights();
  Matrix combined(bank_.kernels(), outputs);
  for (Index k = 0; k < outputs; ++k) std::ranges::copy(w, combined.column(k).begin());
  Matrix counts = support_counts();
  algebra::scale(both(), counts.values());
  Matrix result(static_cast<Index>(rows.size()), outputs);
  bank_.combination(combined.view(), 0)->add_scores(rows, state_.support, counts.view(), result.view());
  return result;
}

bool is_wrong(const Matrix& scores, Index row, int code) {
  if (scores.cols() == 1) return (scores(row, 0) > 0.0 ? 1 : 0) != code;
  Index best = 0;
  for (Index k = 1; k < scores.cols(); ++k) best = scores(row, k) > scores(row, best) ? k : best;
  return static_cast<int>(best) != code;
}

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const UfoOptions& options, const Context& context)
      : bank_(bank),
        options_(options),
        context_(context),
        targets_(targets),
        labels_(labels_of(targets)),
        meter_(context, "ufo-mkl") {}

  FitResult fit();

 private:
  void choose(Report& report);
  [[nodiscard]] double held_out_error(const UfoMirror& mirror) const;
  [[nodiscard]] double temperature(const UfoMirror& mirror);
  void fill(Model& model, const Descent& descent, const UfoMirror& mirror) const;
  const KernelBank& bank_;
  UfoOptions options_;  // with what was chosen
  const Context& context_;
  const Targets& targets_;
  ClassLabels labels_;
  ProgressMeter meter_;
};

bool descend(Descent& descent, std::vector<Index> samples, double epochs, std::uint64_t seed,
             const std::function<bool(Index)>& after) {
  solvers::Draws draws(seed);
  auto left = static_cast<Index>(std::llround(epochs * static_cast<double>(samples.size())));
  for (Index epoch = 1; left > 0; ++epoch) {
    draws.shuffle(samples);
    const Index steps = std::min<Index>(left, std::ssize(samples));
    descent.pass({samples.data(), at(steps)});
    left -= steps;
    if (after && after(epoch)) return true;
  }
  return false;
}

double Fitter::held_out_error(const UfoMirror& mirror) const {
  const std::vector<int> codes(labels_.codes.begin(), labels_.codes.end());
  const std::vector<Index> folds = data::stratified_folds(codes, options_.folds, context_.seed);
  double wrong = 0.0;
  for (Index fold = 0; fold < options_.folds; ++fold) {
    std::vector<Index> train;
    std::vector<Index> held_out;
    for (Index n = 0; n < bank_.rows(); ++n) (folds[at(n)] == fold ? held_out : train).push_back(n);
    if (train.empty() || held_out.empty()) continue;
    Descent descent(bank_, labels_, mirror);
    descend(descent, train, options_.epochs, context_.seed, {});
    const Matrix scores = descent.scores(held_out);
    for (std::size_t i = 0; i < held_out.size(); ++i)
      wrong += is_wrong(scores, static_cast<Index>(i), labels_.codes[at(held_out[i])]) ? 1.0 : 0.0;
  }
  return wrong / static_cast<double>(bank_.rows());
}

// The published grid search: every λ with every α, five folds each. Of equal ones the sparsest,
// then the smoothest.
void Fitter::choose(Report& report) {
  std::vector<double> lambdas = {options_.lambda > 0.0 ? options_.lambda
                                                       : kDefaultLambda / static_cast<double>(bank_.rows())};
  std::vector<double> alphas = {options_.alpha};
  if (!options_.lambda_grid.empty()) lambdas = parse_range(options_.lambda_grid, -1, 0.0);
  if (!options_.alpha_grid.empty()) alphas = parse_range(options_.alpha_grid, -1, 0.0);
  if (lambdas.size() * alphas.size() == 1) {
    options_.lambda = lambdas.front();
    options_.alpha = alphas.front();
    return;
  }
  std::ranges::sort(lambdas, std::greater<>());
  std::ranges::sort(alphas, std::greater<>());
  if (!(lambdas.back() > 0.0) || alphas.back() < 0.0)
    throw InvalidArgument(
        fmt::format("options lambda_grid and alpha_grid must hold numbers > 0 and >= 0; got {} and {}",
                    lambdas.back(), alphas.back()));
  Report::Table table{"cross-validation", {"lambda", "alpha", "error rate"}, {}};
  double lowest = 2.0;
  for (const double alpha : alphas) {
    for (const double lambda : lambdas) {
      const double error = held_out_error(UfoMirror(lambda, alpha, bank_.kernels(), options_.norm));
      table.rows.push_back({lambda, alpha, error});
      if (error < lowest) {
        lowest = error;
        options_.lambda = lambda;
        options_.alpha = alpha;
      }
      if (meter_.step(std::ssize(table.rows), std::ssize(lambdas) * std::ssize(alphas), error)) break;
    }
  }
  report.tables.push_back(std::move(table));
  report.seconds.emplace_back("cross-validation", meter_.seconds());
}

// The same strengths on fewer samples.
double Fitter::temperature(const UfoMirror& mirror) {
  const auto epochs = static_cast<Index>(std::ceil(options_.epochs));
  const auto scores = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
    ProgressMeter meter(context_, "ufo-mkl");
    Descent descent(bank_, labels_, mirror);
    descend(descent, train, options_.epochs, context_.seed,
            [&](Index epoch) { return meter.step(epoch, epochs, std::nan("")); });
    return descent.scores(held_out);
  };
  return held_out_temperature(targets_, scores, context_);
}

void Fitter::fill(Model& model, const Descent& descent, const UfoMirror& mirror) const {
  const UfoState& state = descent.state();
  shape_outputs(model, bank_, labels_.outputs());
  const Vector w = descent.weights();
  // θ_f = Σ c Φ_f, so weights times t and counts over t are a feasible dual point and its image.
  const auto t = static_cast<double>(state.steps);
  const double both = labels_.classes == 2 ? 2.0 : 1.0;
  for (Index f = 0; f < bank_.kernels(); ++f) {
    for (Index k = 0; k < labels_.outputs(); ++k) model.weights.values(k, f) = t * w[at(f)];
  }
  for (std::size_t i = 0; i < model.coefficients.values().size(); ++i)
    model.coefficients.values()[i] = both * state.counts.values()[i] / t;
  StochasticPart part;
  part.lambda = options_.lambda;
  part.alpha = options_.alpha;
  part.norm = mirror.dual_power() / (mirror.dual_power() - 1.0);
  model.part = std::make_shared<StochasticPart>(std::move(part));
}

FitResult Fitter::fit() {
  FitResult result;
  // Nearer to 1, powers of the dual norm leave the range of numbers.
  if (options_.norm != 0.0 && options_.norm < 1.001)
    throw InvalidArgument(
        fmt::format("option norm must be from 1.001 to 2, or 0 for the one by the number of kernels; "
                    "got {}",
                    options_.norm));
  choose(result.report);
  const UfoMirror mirror(options_.lambda, options_.alpha, bank_.kernels(), options_.norm);
  Descent descent(bank_, labels_, mirror);
  std::vector<Index> samples(at(bank_.rows()));
  std::iota(samples.begin(), samples.end(), Index{0});
  const auto epochs = static_cast<Index>(std::ceil(options_.epochs));
  const bool stopped = descend(descent, samples, options_.epochs, context_.seed, [&](Index epoch) {
    const double share =
        static_cast<double>(descent.state().violations) / static_cast<double>(descent.state().steps);
    result.report.trace.push_back({epoch, share, meter_.seconds()});
    return meter_.step(epoch, epochs, share);
  });
  fill(result.model, descent, mirror);
  const UfoState& state = descent.state();
  Report& report = result.report;
  report.status = stopped ? Status::stopped : Status::iteration_limit;
  report.iterations = std::ssize(report.trace);
  report.objective = report.trace.empty() ? 0.0 : report.trace.back().objective;
  report.objective_name = "steps that violated the margin";
  report.message = fmt::format("{} passes, {} support vectors, lambda {}, alpha {}", report.iterations,
                               state.support.size(), options_.lambda, options_.alpha);
  report.seconds.emplace_back("training", meter_.seconds());
  if (options_.probability && !stopped) {
    const double trained = meter_.seconds();
    edit_part<StochasticPart>(result.model).temperature = temperature(mirror);
    report.seconds.emplace_back("probabilities", meter_.seconds() - trained);
  }
  report.options = option_texts(ufo_option_table(), options_);
  return result;
}

std::size_t working_memory(Index n, Index p, Index outputs) {
  return static_cast<std::size_t>(n * (3 * outputs + p) + kBlock * n + 4 * kBlock * p * (outputs + 1)) *
         sizeof(double);
}

}  // namespace

UfoMirror::UfoMirror(double lambda, double alpha, Index kernels, double norm)
    : lambda_(lambda),
      alpha_(alpha),
      q_(norm > 0.0 ? norm / (norm - 1.0) : std::max(2.0, 2.0 * std::log(static_cast<double>(kernels)))) {}

void UfoMirror::weights(std::span<const double> squared_norms, double t, std::span<double> out) const {
  double largest = 0.0;
  for (std::size_t f = 0; f < out.size(); ++f) {
    // First v_f; below it becomes the weight.
    out[f] = std::max(0.0, std::sqrt(std::max(0.0, squared_norms[f])) - alpha_ * t);
    largest = std::max(largest, out[f]);
  }
  if (largest == 0.0) return;
  double sum = 0.0;
  for (const double v : out) sum += std::pow(v / largest, q_);
  const double size = largest * std::pow(sum, 1.0 / q_);
  const double strength = lambda_ > 0.0 ? lambda_ * t : kDefaultLambda;
  for (std::size_t f = 0; f < out.size(); ++f) {
    if (out[f] == 0.0) continue;
    out[f] = out[f] / (strength * std::sqrt(squared_norms[f])) * std::pow(out[f] / size, q_ - 2.0);
  }
}

const OptionTable<UfoOptions>& ufo_option_table() {
  using O = UfoOptions;
  static const OptionTable<O> table = {
      {"lambda", &O::lambda, kNonNegative,
       "strength of the squared group norm: larger is smoother; 0: 1/(10 N)"},
      {"alpha", &O::alpha, kNonNegative, "price of every kernel: larger uses fewer kernels"},
      {"norm", &O::norm, NumberRule{0.0, false, 2.0},
       "p of the squared group norm, 1 < p <= 2: nearer to 1 is sparser; 0: by the number of kernels, 2 ln F "
       "for its "
       "dual"},
      {"epochs", &O::epochs, kPositive, "passes over the samples"},
      {"lambda_grid", &O::lambda_grid, "choose lambda by cross-validation from these values"},
      {"alpha_grid", &O::alpha_grid, "choose alpha by cross-validation from these values"},
      {"folds", &O::folds, NumberRule{2.0}, "folds of the cross-validation"},
      {"probability", &O::probability, "fit class probabilities on held-out samples (a temperature)",
       kForClasses},
  };
  return table;
}

FitResult fit_ufo(const KernelBank& bank, const Targets& targets, const UfoOptions& options,
                  const Context& context) {
  return complete_fit(find_learner("ufo-mkl"), bank, targets, option_texts(ufo_option_table(), options),
                      context, [&](FitResult& result) {
                        result = balanced_fit(bank, [&](const KernelBank& own) {
                          return Fitter(own, targets, options, context).fit();
                        });
                      });
}

Learner ufo_learner() {
  Learner learner;
  learner.name = "ufo-mkl";
  learner.summary = "sparse kernel weights by stochastic mirror descent, with a lower bound as certificate";
  learner.doc_page = "docs/methods/ufo-mkl.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.absent_tasks = learner.tasks;
  learner.options = describe_options(ufo_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_ufo(bank, targets, parse_options(ufo_option_table(), values, "ufo-mkl"), context);
  };
  learner.working_memory = working_memory;
  learner.operations = [](double n, double /*p*/) { return 10.0 * n * n; };
  learner.wants_families = true;
  learner.load = load_stochastic;
  return learner;
}

}  // namespace kloom::methods
