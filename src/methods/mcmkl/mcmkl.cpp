// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/mcmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/memory.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/mcmkl/class_kernels.h"
#include "methods/seam/calibration.h"
#include "methods/seam/grid.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "mcmkl";

void check_class_kernels(const Targets& targets, const McmklOptions& options) {
  if (targets.classes.size() >= 3 || options.class_kernels == "identity") return;
  throw InvalidArgument(
      "option class_kernels needs three classes or more: with two, every kernel on classes is a multiple "
      "of the identity");
}

// At the price 1.
McmklTask task_of(const Targets& targets, const McmklOptions& options, const Context& context) {
  McmklTask task;
  task.labels = targets.codes;
  task.classes = static_cast<Index>(targets.classes.size());
  task.box = targets.weights.empty() ? Vector(targets.codes.size(), 1.0) : targets.weights;
  for (ClassKernel& kernel : class_kernels(options.class_kernels, targets.classes, context))
    task.class_kernels.push_back(std::move(kernel.values));
  task.loss = options.loss == "squared-hinge" ? solvers::MarginLoss::squared_hinge
              : options.loss == "logistic"    ? solvers::MarginLoss::logistic
                                              : solvers::MarginLoss::hinge;
  task.bias = options.bias;
  return task;
}

McmklTask at_price(McmklTask task, double price) {
  algebra::scale(price, task.box);
  return task;
}

McmklSettings settings_of(const McmklOptions& options) {
  McmklSettings settings;
  settings.algorithm = options.algorithm == "silp"           ? McmklAlgorithm::silp
                       : options.algorithm == "silp-compact" ? McmklAlgorithm::silp_compact
                       : options.algorithm == "qcqp"         ? McmklAlgorithm::qcqp
                                                             : McmklAlgorithm::level;
  settings.tolerance = options.tolerance;
  settings.iterations = options.iterations;
  return settings;
}

// F = Σ_k β_k K_p α L_j of these samples, with the biases. Samples in blocks: the whole combined kernel may not fit
// into memory.
Matrix scores_of(const KernelBank& bank, const McmklTask& task, const McmklSolution& solution,
                 std::span<const Index> samples) {
  constexpr Index kRows = 512;
  const auto n = std::ssize(samples);
  Matrix scores(n, task.classes);
  for (Index u = 0; u < task.classes; ++u) std::ranges::fill(scores.column(u), solution.bias[at(u)]);
  for (std::size_t j = 0; j < task.class_kernels.size(); ++j) {
    Vector weights;
    for (Index p = 0; p < bank.kernels(); ++p) weights.push_back(solution.beta(static_cast<Index>(j), p));
    if (std::ranges::all_of(weights, [](double w) { return w == 0.0; })) continue;
    Matrix mixed(bank.rows(), task.classes);
    algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, solution.alpha.view(),
                  task.class_kernels[j].view(), 0.0, mixed.view());
    const Index step = bank.combines_by_rows() ? kRows : n;
    for (Index start = 0; start < n; start += step) {
      const Index count = std::min(step, n - start);
      Matrix rows(bank.cols(), count);
      bank.combine_rows(weights, samples.subspan(at(start), at(count)), rows.view());
      const MatrixView block{scores.data() + start, count, task.classes, scores.rows()};
      algebra::gemm(algebra::Op::transpose, algebra::Op::none, 1.0, rows.view(), mixed.view(), 1.0, block);
    }
  }
  return scores;
}

// Share of held-out samples, by weight, that get a wrong class. Samples of a fold get price 0 and are
// scored by the rest.
double held_out_error(const KernelBank& bank, const McmklTask& task, const McmklOptions& options,
                      const Context& context) {
  const std::vector<Index> folds = data::stratified_folds(task.labels, options.folds, context.seed);
  double wrong = 0.0;
  double total = 0.0;
  for (Index fold = 0; fold < options.folds; ++fold) {
    McmklTask rest = task;
    for (std::size_t i = 0; i < folds.size(); ++i) rest.box[i] = folds[i] == fold ? 0.0 : task.box[i];
    std::vector<Index> held_out;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] == fold) held_out.push_back(static_cast<Index>(i));
    }
    const McmklSolution solution = solve_mcmkl(bank, rest, settings_of(options), context);
    const Matrix scores = scores_of(bank, task, solution, held_out);
    for (Index row = 0; row < scores.rows(); ++row) {
      const Index i = held_out[at(row)];
      Index best = 0;
      for (Index u = 1; u < task.classes; ++u) best = scores(row, u) > scores(row, best) ? u : best;
      total += task.box[at(i)];
      wrong += best == task.labels[at(i)] ? 0.0 : task.box[at(i)];
    }
  }
  return total > 0.0 ? wrong / total : 0.0;
}

// The price with the lowest held-out error; of equal ones the smallest, the simplest model.
double choose_price(const KernelBank& bank, const McmklTask& task, const McmklOptions& options,
                    const Context& context, Report& report) {
  if (options.C_grid.empty()) return options.C;
  const Vector prices = positive_grid("C_grid", options.C_grid, {});
  Report::Table table{"cross-validation of C", {"C", "error rate"}, {}};
  double best = prices.front();
  double lowest = std::numeric_limits<double>::infinity();
  for (double price : prices) {
    const double error = held_out_error(bank, at_price(task, price), options, context);
    table.rows.push_back({price, error});
    if (error < lowest) {
      lowest = error;
      best = price;
    }
  }
  report.tables.push_back(std::move(table));
  return best;
}

// The temperature of least log loss on held-out samples. For every fold kernel weights and machine are learned anew.
double temperature_of(const KernelBank& bank, const Targets& targets, const McmklTask& task,
                      const McmklOptions& options, const Context& context) {
  const auto scores = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
    McmklTask rest = task;
    std::ranges::fill(rest.box, 0.0);
    for (const Index i : train) rest.box[at(i)] = task.box[at(i)];
    const McmklSolution solution = solve_mcmkl(bank, rest, settings_of(options), context);
    Matrix all = scores_of(bank, task, solution, held_out);
    if (task.classes > 2) return all;
    Matrix one(all.rows(), 1);
    for (Index i = 0; i < all.rows(); ++i) one(i, 0) = all(i, 1) - all(i, 0);
    return one;
  };
  return held_out_temperature(targets, scores, context);
}

void fill_classes(McmklPart& part, const McmklTask& task, const Matrix& beta) {
  if (task.class_kernels.size() == 1 && is_identity(task.class_kernels.front())) return;
  const Index m = task.classes;
  part.class_kernels = Matrix(m, m * static_cast<Index>(task.class_kernels.size()));
  for (std::size_t j = 0; j < task.class_kernels.size(); ++j) {
    std::ranges::copy(task.class_kernels[j].values(),
                      part.class_kernels.column(static_cast<Index>(j) * m).begin());
  }
  part.class_weights = beta;
}

void fill_model(Model& model, const KernelBank& bank, const Targets& targets, const McmklTask& task,
                const McmklSolution& solution) {
  model.weights.values = Matrix(1, bank.kernels());
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index j = 0; j < solution.beta.rows(); ++j) model.weights.values(0, p) += solution.beta(j, p);
  }
  if (targets.task == Task::binary) {
    // One score: that of class 1 less that of class 0.
    model.coefficients = Matrix(bank.rows(), 1);
    for (Index i = 0; i < bank.rows(); ++i) {
      model.coefficients(i, 0) = solution.alpha(i, 1) - solution.alpha(i, 0);
    }
    model.bias = {solution.bias[1] - solution.bias[0]};
  } else {
    model.coefficients = solution.alpha;
    model.bias = solution.bias;
  }
  McmklPart part;
  part.loss = static_cast<McmklPart::Loss>(task.loss);  // the same names in the same order
  part.bias = task.bias;
  part.box = task.box;
  part.dual = solution.dual_alpha;
  fill_classes(part, task, solution.beta);
  model.part = std::make_shared<McmklPart>(std::move(part));
}

// K_Y = Σ_k β_k L_k.
Matrix class_similarity(const McmklTask& task, const Matrix& beta) {
  Matrix similarity(task.classes, task.classes);
  for (Index p = 0; p < beta.cols(); ++p) {
    for (Index j = 0; j < beta.rows(); ++j) {
      algebra::axpy(beta(j, p), task.class_kernels[at(j)].values(), similarity.values());
    }
  }
  return similarity;
}

// Places of the classes in the plane whose distances are nearest to those that K_Y implies: leading
// eigenvectors of the centred matrix. Signs are those that make the largest coordinate positive.
Matrix class_embedding(const Matrix& similarity) {
  const Index m = similarity.rows();
  Matrix centred = similarity;
  Vector means(at(m));
  double mean = 0.0;
  for (Index u = 0; u < m; ++u) {
    for (Index v = 0; v < m; ++v) means[at(u)] += similarity(u, v) / static_cast<double>(m);
    mean += means[at(u)] / static_cast<double>(m);
  }
  for (Index v = 0; v < m; ++v) {
    for (Index u = 0; u < m; ++u) centred(u, v) += mean - means[at(u)] - means[at(v)];
  }
  const algebra::Eigen eigen = algebra::symmetric_eigen(centred.view(), true);
  Matrix places(m, 2);
  for (Index axis = 0; axis < std::min<Index>(2, m); ++axis) {
    const Index from = m - 1 - axis;
    double largest = 0.0;
    for (double value : eigen.vectors.column(from))
      largest = std::abs(value) > std::abs(largest) ? value : largest;
    const double size = std::copysign(std::sqrt(std::max(0.0, eigen.values[at(from)])), largest);
    for (Index u = 0; u < m; ++u) places(u, axis) = size * eigen.vectors(u, from);
  }
  return places;
}

void add_class_tables(Report& report, const Targets& targets, const McmklTask& task, const Matrix& beta) {
  if (task.class_kernels.size() == 1) return;
  const Matrix similarity = class_similarity(task, beta);
  const Matrix places = class_embedding(similarity);
  Report::Table table{"class similarity (rows and columns in the order of the classes)", targets.classes, {}};
  Report::Table embedding{"places of the classes (in their order)", {"class", "x", "y"}, {}};
  for (Index u = 0; u < task.classes; ++u) {
    Vector row;
    for (Index v = 0; v < task.classes; ++v) row.push_back(similarity(u, v));
    table.rows.push_back(std::move(row));
    embedding.rows.push_back({static_cast<double>(u + 1), places(u, 0), places(u, 1)});
  }
  report.tables.push_back(std::move(table));
  report.tables.push_back(std::move(embedding));
}

void fill_report(Report& report, const McmklSolution& solution, const McmklOptions& options) {
  report.objective_name = "primal objective";
  report.objective = solution.primal;
  report.iterations = solution.iterations;
  report.status = solution.status;
  report.trace = solution.trace;
  report.gap = solution.gap();
  if (solution.status == Status::converged) {
    report.message =
        fmt::format("relative duality gap {:.1e}, asked for {:.1e}", solution.gap(), options.tolerance);
  } else {
    report.message = fmt::format(
        "relative duality gap {:.1e} is above the {:.1e} asked for: more --iterations, a larger --tolerance, "
        "or normalised kernels would help",
        solution.gap(), options.tolerance);
  }
}

}  // namespace

const OptionTable<McmklOptions>& mcmkl_option_table() {
  using O = McmklOptions;
  static const OptionTable<O> table = {
      {"C", &O::C, kPositive, "price of a margin violation: larger fits the training samples more closely"},
      {"C_grid", &O::C_grid, "choose C by cross-validation from these values, e.g. 3^-3..3^3"},
      {"folds", &O::folds, NumberRule{2.0}, "folds for choosing C"},
      {"algorithm", &O::algorithm, one_of("level", "silp", "silp-compact", "qcqp"),
       "all solve the same problem; level is fastest, silp the paper's, qcqp for small problems"},
      {"class_kernels", &O::class_kernels,
       "kernels on classes: identity; pairs: also learn how similar the classes are, from kernels on every "
       "pair of them; "
       "tree:((a,b),c), a tree of the classes; file:PATH, matrices in a file; rows like 1,0.5;0.5,1; or "
       "several of them "
       "joined by +, whose products with the kernels get a weight each"},
      {"loss", &O::loss, one_of("hinge", "squared-hinge", "logistic"),
       "squared-hinge: C times the square of a violation; logistic: C times log(1 + exp(-margin))"},
      {"bias", &O::bias, "learn an offset for every class"},
      {"probability", &O::probability, "fit class probabilities on held-out samples (a temperature)",
       kForClasses},
      {"tolerance", &O::tolerance, kPositive, "stop at this relative duality gap"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many updates of the kernel weights"},
  };
  return table;
}

namespace {

void learn(const KernelBank& bank, const Targets& targets, const McmklOptions& options, const Context& context,
           FitResult& result) {
  check_class_kernels(targets, options);
  const auto classes = std::ssize(targets.classes);
  const McmklTask whole = task_of(targets, options, context);
  const auto kinds = std::ssize(whole.class_kernels);
  base::require_memory(mcmkl_memory(bank.rows(), bank.kernels(), classes, kinds, false), context,
                       fmt::format("method {} on {} samples", kName, bank.rows()),
                       kinds > 1 ? "use a single kernel on classes, or fewer samples" : "use fewer samples");
  ProgressMeter clock(context, kName);
  Report& report = result.report;
  const double price = choose_price(bank, whole, options, context, report);
  const McmklTask task = at_price(whole, price);
  const McmklSolution solution = solve_mcmkl(bank, task, settings_of(options), context);
  fill_model(result.model, bank, targets, task, solution);
  report.seconds.emplace_back("training", clock.seconds());
  // Whoever stopped the fit does not want three more.
  if (options.probability && solution.status != Status::stopped) {
    const double fitted = clock.seconds();
    edit_part<McmklPart>(result.model).temperature = temperature_of(bank, targets, task, options, context);
    report.seconds.emplace_back("probabilities", clock.seconds() - fitted);
  }
  fill_report(report, solution, options);
  add_class_tables(report, targets, task, solution.beta);
  report.options["C"] = number_text(price);
}

}  // namespace

FitResult fit_mcmkl(const KernelBank& bank, const Targets& targets, const McmklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(mcmkl_option_table(), options), context,
                      [&](FitResult& result) { learn(bank, targets, options, context, result); });
}

Learner mcmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "multiclass l1-norm MKL: all classes share few kernels; can learn how similar classes are";
  learner.doc_page = "docs/methods/mcmkl.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.load = load_mcmkl;
  learner.options = describe_options(mcmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_mcmkl(bank, targets, parse_options(mcmkl_option_table(), values, kName), context);
  };
  learner.working_memory = [](Index n, Index p, Index m) {
    return mcmkl_memory(n, p, std::max<Index>(2, m), 1, true);
  };
  learner.least_memory = [](Index n, Index p, Index m) {
    return mcmkl_memory(n, p, std::max<Index>(2, m), 1, false);
  };
  return learner;
}

}  // namespace kloom::methods
