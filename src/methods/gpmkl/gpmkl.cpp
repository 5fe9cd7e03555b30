// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gpmkl/gpmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/gpmkl/ascent.h"
#include "methods/gpmkl/likelihood.h"
#include "methods/gpmkl/predictive.h"
#include "methods/kernel_machine/evidence.h"
#include "methods/seam/calibration.h"
#include "models/scores.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "gp-mkl";
// Entries of all kernels among the samples of the evidence, at most: a gigabyte.
constexpr double kMostEntries = 134'217'728.0;

// Samples on which the evidence of n samples is computed: an evaluation costs n³ for each output.
Index evidence_size(Index n, Index kernels, Index outputs, Index most) {
  const double by_time = static_cast<double>(most) / std::cbrt(static_cast<double>(outputs));
  const double by_memory = std::sqrt(kMostEntries / static_cast<double>(kernels));
  return std::min(n, std::max<Index>(50, static_cast<Index>(std::min(by_time, by_memory))));
}

Matrix selected(const Matrix& m, const std::vector<Index>& chosen) {
  return std::ssize(chosen) == m.rows() ? m : models::selected(m, chosen, chosen);
}

GpTask part_of_task(const GpTask& task, const std::vector<Index>& chosen) {
  GpTask part{task.classes, Matrix(std::ssize(chosen), task.targets.cols()), {}};
  for (Index i = 0; i < part.targets.rows(); ++i) {
    for (Index c = 0; c < part.targets.cols(); ++c) part.targets(i, c) = task.targets(chosen[at(i)], c);
    part.weights.push_back(task.weights[at(chosen[at(i)])]);
  }
  return part;
}

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const GpmklOptions& options, const Context& context)
      : bank_(bank), targets_(targets), options_(options), context_(context), meter_(context, kName) {}

  FitResult fit();

 private:
  void set_task();
  void set_numbers();
  void set_strata();
  // At most so many of the samples that count, as places among these: classes, or ranges of numbers, in their shares.
  [[nodiscard]] std::vector<Index> spread(Index most) const;
  [[nodiscard]] std::vector<Index> of_bank(std::vector<Index> places) const;
  void maximise();
  // Has the caller asked to stop? Once asked, always.
  bool stopped();
  // The process with the weights that were found: on all samples, or where the caller is waiting, on those of the evidence.
  void condition(Model& model);
  Matrix machine();
  // From now on the other samples are as if absent: the evidence has done most of the work on these.
  void keep_evidence_samples();
  void condition_numbers(const Matrix& kernel, Matrix& a);
  void condition_classes(const Matrix& kernel, Matrix& a);
  [[nodiscard]] double temperature_of(const Matrix& scores, const Matrix& deviation,
                                      const std::vector<Index>& among) const;
  void tell(Report& report) const;
  void warn_of_diagonals(Report& report) const;

  const KernelBank& bank_;
  const Targets& targets_;
  const GpmklOptions& options_;
  const Context& context_;
  ProgressMeter meter_;
  std::vector<Index> samples_;  // with a weight above 0: the others are as if absent
  std::vector<int> strata_;     // of these samples
  GpTask task_;                 // of these samples
  std::vector<Index> chosen_;   // places among them on which the evidence is computed
  AscentResult found_;
  GpPart part_;
  Index steps_ = 0;  // uphill, and the objective there
  double objective_ = std::numeric_limits<double>::quiet_NaN();
  bool stopped_ = false;
};

bool Fitter::stopped() {
  stopped_ = stopped_ || meter_.step(steps_, options_.iterations, objective_);
  return stopped_;
}

void Fitter::set_numbers() {
  double weight = 0.0;
  for (const double u : task_.weights) weight += u;
  const auto n = std::ssize(samples_);
  const auto y = [&](Index i) { return targets_.values(samples_[at(i)], 0); };
  for (Index i = 0; i < n; ++i) part_.centre += task_.weights[at(i)] * y(i) / weight;
  double square = 0.0;
  for (Index i = 0; i < n; ++i)
    square += task_.weights[at(i)] * (y(i) - part_.centre) * (y(i) - part_.centre) / weight;
  part_.scale = square > 0.0 ? std::sqrt(square) : 1.0;
  task_.targets = Matrix(n, 1);
  for (Index i = 0; i < n; ++i) task_.targets(i, 0) = (y(i) - part_.centre) / part_.scale;
}

// Classes, or tenths of the numbers.
void Fitter::set_strata() {
  if (task_.classes) {
    for (const Index i : samples_) strata_.push_back(targets_.codes[at(i)]);
    return;
  }
  std::vector<Index> order(samples_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) { return task_.targets(i, 0); });
  strata_.resize(order.size());
  for (Index r = 0; r < std::ssize(order); ++r)
    strata_[at(order[at(r)])] = static_cast<int>(10 * r / std::ssize(order));
}

void Fitter::set_task() {
  for (Index i = 0; i < bank_.rows(); ++i) {
    const double u = targets_.weights.empty() ? 1.0 : targets_.weights[at(i)];
    if (!(u > 0.0)) continue;
    samples_.push_back(i);
    task_.weights.push_back(u);
  }
  if (samples_.size() < 2) throw InvalidArgument("gp-mkl needs two samples with a weight above 0");
  task_.classes = targets_.task != Task::regression;
  part_.regression = !task_.classes;
  if (task_.classes) {
    task_.targets = Matrix(std::ssize(samples_), outputs_of(targets_));
    for (Index c = 0; c < task_.targets.cols(); ++c) {
      const Index positive = task_.targets.cols() == 1 ? 1 : c;
      for (Index i = 0; i < task_.targets.rows(); ++i)
        task_.targets(i, c) = targets_.codes[at(samples_[at(i)])] == positive ? 1.0 : -1.0;
    }
  } else {
    set_numbers();
  }
  set_strata();
}

std::vector<Index> Fitter::spread(Index most) const {
  return data::spread_samples(strata_, most, context_.seed);
}

std::vector<Index> Fitter::of_bank(std::vector<Index> places) const {
  for (Index& i : places) i = samples_[at(i)];
  return places;
}

// From the weights of greatest evidence of a Gaussian likelihood on numbers or codes, whose updates are simple and robust.
void Fitter::maximise() {
  chosen_ = spread(
      evidence_size(std::ssize(samples_), bank_.kernels(), task_.targets.cols(), options_.evidence_samples));
  part_.evidence_samples = of_bank(chosen_);
  const SampledKernels kernels(bank_, part_.evidence_samples);
  GpTask task = part_of_task(task_, chosen_);
  task.stopped = [this] { return stopped(); };
  EvidenceRequest request;
  request.stopped = task.stopped;
  request.kernels.resize(at(bank_.kernels()));
  std::iota(request.kernels.begin(), request.kernels.end(), Index{0});
  request.iterations = 20;
  request.tolerance = 1e-4;
  const EvidenceSolution first = maximise_evidence(kernels, task.targets, request);
  GpWeights start{first.weights, first.constant, first.noise};
  if (!first.sound) start = {Vector(at(bank_.kernels()), 1.0 / static_cast<double>(bank_.kernels())), 0.1, 0.5};
  AscentSettings settings;
  settings.iterations = options_.iterations;
  settings.tolerance = options_.tolerance;
  settings.penalty = options_.penalty;
  settings.progress = [&](Index done, double objective) {
    steps_ = done;
    objective_ = objective;
    return stopped();
  };
  found_ = ascend(kernels, task, start, settings);
  if (stopped_ && found_.at.weights.empty()) throw Interrupted("gp-mkl was stopped before it had any weights");
  if (found_.at.weights.empty())
    throw InvalidArgument(
        "the kernels are not positive semidefinite, so they have no Gaussian process; use --clip-spectrum");
}

void Fitter::condition_numbers(const Matrix& kernel, Matrix& a) {
  const auto covariance = [&](const Matrix& k, const std::vector<Index>& places) {
    Matrix c = k;
    for (Index i = 0; i < c.rows(); ++i) c(i, i) += part_.noise / task_.weights[at(places[at(i)])];
    return c;
  };
  const std::vector<Index> among = spread(options_.variance_samples);
  part_.variance_samples = of_bank(among);
  part_.precision.push_back(covariance(selected(kernel, among), among));
  std::vector<Index> all(samples_.size());
  std::iota(all.begin(), all.end(), Index{0});
  Matrix factor = covariance(kernel, all);
  if (task_.stopped && task_.stopped()) return;
  double log_det = 0.0;
  const bool sound =
      algebra::cholesky(factor.view()) == 0 && algebra::invert_positive(part_.precision.back().view(), log_det);
  if (!sound) found_.status = Status::numerical_trouble;
  a = task_.targets;
  algebra::cholesky_solve(factor.view(), a.view());
}

void Fitter::condition_classes(const Matrix& kernel, Matrix& a) {
  const std::vector<Index> among = spread(options_.variance_samples);
  part_.variance_samples = of_bank(among);
  const Matrix variance_kernel = among.size() == samples_.size() ? Matrix() : selected(kernel, among);
  Matrix scores(std::ssize(among), a.cols());
  Matrix deviation(std::ssize(among), a.cols());
  for (Index c = 0; c < a.cols(); ++c) {
    const LaplaceMode mode = laplace_mode(kernel, task_, c, {a.column(c).begin(), a.column(c).end()});
    if (task_.stopped && task_.stopped()) return;
    std::ranges::copy(mode.a, a.column(c).begin());
    const Vector root = models::selected(mode.root, among);
    double log_det = 0.0;
    part_.precision.push_back(
        laplace_precision(variance_kernel.empty() ? kernel : variance_kernel, root, log_det));
    if (!mode.sound || part_.precision.back().empty()) {
      found_.status = Status::numerical_trouble;
      part_.precision.back() = Matrix(std::ssize(among), std::ssize(among));
    }
    const LeftOut left = left_out_scores(part_.precision.back(), models::selected(mode.f, among),
                                         models::selected(mode.a, among), root);
    std::ranges::copy(left.mean, scores.column(c).begin());
    std::ranges::transform(left.variance, deviation.column(c).begin(), [](double v) { return std::sqrt(v); });
  }
  if (options_.calibrate) part_.temperature = temperature_of(scores, deviation, among);
}

// Laplace's approximation puts scores nearer to 0 than they are where classes are well separated [KussRasmussen2005], so its
// probabilities are too cautious; one number sets that right, by predictions that have not seen the label.
double Fitter::temperature_of(const Matrix& scores, const Matrix& deviation,
                              const std::vector<Index>& among) const {
  Predictions told;
  told.probabilities = gp_probabilities(scores, deviation, 1.0);
  HeldOut held_out;
  for (Index i = 0; i < scores.rows(); ++i) held_out.add(targets_, samples_[at(among[at(i)])], told, i);
  return held_out.temperature();
}

void Fitter::keep_evidence_samples() {
  found_.status = Status::stopped;
  task_ = part_of_task(task_, chosen_);
  samples_ = of_bank(chosen_);
  std::vector<int> strata;
  for (const Index i : chosen_) strata.push_back(strata_[at(i)]);
  strata_ = std::move(strata);
  std::iota(chosen_.begin(), chosen_.end(), Index{0});
}

// The coefficients; variances go into the part.
Matrix Fitter::machine() {
  part_.precision.clear();
  Matrix kernel = selected(bank_.combine(found_.at.weights), samples_);
  for (double& value : kernel.values()) value += part_.constant;
  Matrix a(std::ssize(samples_), task_.targets.cols());
  if (task_.classes && chosen_.size() == samples_.size()) a = found_.modes;
  if (task_.classes) {
    condition_classes(kernel, a);
  } else {
    condition_numbers(kernel, a);
  }
  return a;
}

void Fitter::condition(Model& model) {
  part_.constant = found_.at.constant;
  part_.noise = found_.at.noise;
  part_.penalty = options_.penalty;
  Matrix a;
  if (!stopped_) {
    task_.stopped = [this] { return stopped(); };
    a = machine();
  }
  if (stopped_) {
    keep_evidence_samples();
    a = machine();
  }
  for (Matrix& precision : part_.precision) algebra::symmetrise_from_lower(precision.view());
  model.weights.values = Matrix(1, bank_.kernels());
  std::ranges::copy(found_.at.weights, model.weights.values.values().begin());
  model.coefficients = Matrix(bank_.rows(), a.cols());
  for (Index c = 0; c < a.cols(); ++c) {
    double sum = 0.0;
    for (Index i = 0; i < a.rows(); ++i) {
      model.coefficients(samples_[at(i)], c) = part_.scale * a(i, c);
      sum += a(i, c);
    }
    model.bias.push_back(part_.centre + part_.scale * part_.constant * sum);
  }
  const Matrix diagonal = bank_.diagonal();
  for (Index p = 0; p < bank_.kernels(); ++p) {
    double sum = 0.0;
    for (const Index i : samples_) sum += diagonal(i, p);
    part_.self.push_back(sum / static_cast<double>(samples_.size()));
  }
}

// k(x, x) of a new sample is not among its kernel values with training samples.
void Fitter::warn_of_diagonals(Report& report) const {
  const Matrix diagonal = bank_.diagonal();
  Index varying = 0;
  for (Index p = 0; p < bank_.kernels(); ++p) {
    const auto [low, high] = std::ranges::minmax(diagonal.column(p));
    if (found_.at.weights[at(p)] > 0.0 && high - low > 1e-8 * std::abs(high)) ++varying;
  }
  if (varying == 0) return;
  report.warnings.push_back(
      fmt::format("the diagonal of {} of the kernels in use varies: variances of new samples take its mean; "
                  "kernels with a unit diagonal have exact ones",
                  varying));
}

void Fitter::tell(Report& report) const {
  report.objective_name = task_.classes ? "log evidence (Laplace)" : "log evidence";
  report.objective = found_.evidence;
  report.iterations = found_.iterations;
  report.status = found_.status;
  for (std::size_t t = 0; t < found_.trace.size(); ++t)
    report.trace.push_back({static_cast<Index>(t), found_.trace[t], 0.0});
  const auto used = std::ranges::count_if(found_.at.weights, [](double w) { return w > 0.0; });
  report.message = fmt::format(
      "{} of {} kernels have a weight; evidence of {} samples, {:.4g} per sample; largest slope left {:.1e}",
      used, bank_.kernels(), chosen_.size(), found_.evidence / static_cast<double>(chosen_.size()),
      found_.stationarity);
  if (!task_.classes)
    report.message += fmt::format("; noise {:.4g} of the target's deviation", std::sqrt(found_.at.noise));
  report.tables.push_back({"the rest of the covariance",
                           {"constant", "noise variance", "temperature"},
                           {{found_.at.constant, found_.at.noise, part_.temperature}}});
  if (std::ssize(samples_) < bank_.rows() && stopped_)
    report.message +=
        fmt::format("; stopped: the machine is that of the {} samples of the evidence", samples_.size());
  warn_of_diagonals(report);
}

FitResult Fitter::fit() {
  FitResult result;
  set_task();
  maximise();
  const double chosen = meter_.seconds();
  result.report.seconds.emplace_back("evidence", chosen);
  condition(result.model);
  tell(result.report);
  result.model.part = std::make_shared<GpPart>(std::move(part_));
  result.report.seconds.emplace_back("machine", meter_.seconds() - chosen);
  return result;
}

// The kernels among the samples of the evidence with their sum, its inverse and slopes; then the sum of kernels of all
// samples with its factor, and what variances need.
std::size_t working_memory(Index n, Index p, Index outputs) {
  const GpmklOptions defaults;
  const Index e = evidence_size(n, p, outputs, defaults.evidence_samples);
  const Index v = std::min(n, defaults.variance_samples);
  return at(std::max((p + 7) * e * e, 3 * n * n + (outputs + 2) * v * v) + 8 * n * outputs + n * p) *
         sizeof(double);
}

}  // namespace

const OptionTable<GpmklOptions>& gpmkl_option_table() {
  using O = GpmklOptions;
  static const OptionTable<O> table = {
      {"evidence_samples", &O::evidence_samples, NumberRule{50.0},
       "samples on which the evidence is computed, at most: each step costs their number cubed"},
      {"variance_samples", &O::variance_samples, NumberRule{2.0},
       "samples on which variances of predictions are conditioned, at most: fewer make smaller models and "
       "larger variances"},
      {"penalty", &O::penalty, kNonNegative,
       "rate of an exponential prior of every kernel's weight: larger leaves fewer and smaller ones"},
      {"calibrate", &O::calibrate,
       "probabilities to the power that suits leave-one-out "
       "predictions best; else as Laplace's approximation has them",
       OptionInfo::Suits::classes},
      {"iterations", &O::iterations, kAtLeastOne, "steps uphill, at most"},
      {"tolerance", &O::tolerance, kPositive, "stop when no slope of the evidence is larger, per sample"},
  };
  return table;
}

FitResult fit_gpmkl(const KernelBank& bank, const Targets& targets, const GpmklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(gpmkl_option_table(), options), context,
                      [&](FitResult& result) { result = Fitter(bank, targets, options, context).fit(); });
}

Learner gpmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "kernel weights of greatest evidence: a Gaussian process on a weighted sum of kernels";
  learner.doc_page = "docs/methods/gp-mkl.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::regression};
  learner.options = describe_options(gpmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_gpmkl(bank, targets, parse_options(gpmkl_option_table(), values, kName), context);
  };
  learner.load = load_gpmkl;
  // Products of matrices gain by threads, those with vectors between them do not.
  learner.operations = [](double n, double /*p*/) { return 0.01 * n * n * n; };
  learner.working_memory = working_memory;
  learner.wants_entries = true;
  learner.stores_up_to = GpmklOptions{}.evidence_samples;
  return learner;
}

}  // namespace kloom::methods
