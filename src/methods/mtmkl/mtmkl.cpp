// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mtmkl/mtmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/mtmkl/solver.h"
#include "methods/seam/prepared_targets.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "mtmkl";
// Kernels that could add less than this part of the noise, all together, have no variance of their own in the model.
constexpr double kHardlyMatters = 1e-2;
// Directions of a kernel of which the posterior knows less than this have nothing to take from the variance.
constexpr double kUnknown = 1e-9;

struct MtmklData {
  Index all = 0;
  std::vector<Index> samples;  // of all that count
  MtmklTask task;
  Vector centre;
  Vector scale;
};

MtmklData data_of(const Targets& targets) {
  MtmklData data;
  data.all = targets.samples();
  Vector weights;
  for (Index i = 0; i < targets.samples(); ++i) {
    const double weight = weight_of(targets, i);
    if (weight == 0.0) continue;
    data.samples.push_back(i);
    weights.push_back(weight);
    data.task.roots.push_back(std::sqrt(weight));
  }
  if (data.samples.size() < 2) throw InvalidArgument("mtmkl needs two samples with a weight above 0");
  data.task.y = Matrix(std::ssize(data.samples), targets.values.cols());
  Vector own(data.samples.size());
  for (Index q = 0; q < targets.values.cols(); ++q) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = targets.values(data.samples[i], q);
    const Standardised one = standardised(own, weights);
    data.centre.push_back(one.centre);
    data.scale.push_back(one.scale);
    for (std::size_t i = 0; i < own.size(); ++i)
      data.task.y(static_cast<Index>(i), q) = one.values[i] * data.task.roots[i];
  }
  return data;
}

bool matters(const MtmklPart& part, Index m) {
  const auto kernels = static_cast<double>(part.inclusion.cols());
  for (Index q = 0; q < part.inclusion.rows(); ++q) {
    if (part.mean_square(q, m) * kernels > kHardlyMatters * part.noise[at(q)]) return true;
  }
  return false;
}

// F with F Fᵀ = U^½ (K̂ + I/c)⁻¹ U^½ / d², for all samples; the eigenvectors are not needed any more after it.
Matrix factor_of(const KernelSpectrum& spectrum, double c, const MtmklData& data) {
  Index first = 0;
  while (first + 1 < std::ssize(spectrum.values) && c * spectrum.values[at(first)] < kUnknown) ++first;
  Matrix factor(data.all, std::ssize(spectrum.values) - first);
  for (Index k = 0; k < factor.cols(); ++k) {
    const double root = std::sqrt(c / (1.0 + c * spectrum.values[at(first + k)])) / spectrum.size;
    for (std::size_t i = 0; i < data.samples.size(); ++i)
      factor(data.samples[i], k) =
          root * data.task.roots[i] * spectrum.vectors(static_cast<Index>(i), first + k);
  }
  return factor;
}

Matrix functions_of(const MtmklPosterior& posterior, const std::vector<KernelSpectrum>& spectra,
                    const MtmklData& data) {
  Matrix functions(data.all, std::ssize(spectra));
  for (Index m = 0; m < functions.cols(); ++m) {
    for (std::size_t i = 0; i < data.samples.size(); ++i)
      functions(data.samples[i], m) =
          posterior.coefficients(static_cast<Index>(i), m) * data.task.roots[i] / spectra[at(m)].size;
  }
  return functions;
}

// The kernel weights of an output are shares of what the kernels add to its squares, as it is expected: E[s w²] E φᵀφ. Its
// coefficients are the sums of those that the kernels' functions have.
void fill_weights(const MtmklPart& part, const Vector& squares, Model& model) {
  const Index outputs = part.inclusion.rows();
  const Index kernels = part.inclusion.cols();
  model.weights.shape = outputs > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(outputs, kernels, 1.0 / static_cast<double>(kernels));
  model.coefficients = Matrix(part.functions.rows(), outputs);
  for (Index q = 0; q < outputs; ++q) {
    double sum = 0.0;
    for (Index m = 0; m < kernels; ++m) sum += part.mean_square(q, m) * squares[at(m)];
    for (Index m = 0; m < kernels; ++m) {
      if (sum > 0.0) model.weights.values(q, m) = part.mean_square(q, m) * squares[at(m)] / sum;
      algebra::axpy(part.scale[at(q)] * part.mean_weight(q, m), part.functions.column(m),
                    model.coefficients.column(q));
    }
  }
}

void fill_model(MtmklPosterior posterior, std::vector<KernelSpectrum> spectra, const MtmklData& data,
                const MtmklOptions& options, Model& model) {
  auto part = std::make_shared<MtmklPart>(std::move(posterior.part));
  part->functions = functions_of(posterior, spectra, data);
  part->factors.resize(spectra.size());
  part->variances = options.variance;
  part->least_noise = options.least_noise;
  part->scale = data.scale;
  for (std::size_t m = 0; m < spectra.size(); ++m) {
    const auto kernel = static_cast<Index>(m);
    part->sizes.push_back(spectra[m].size);
    if (options.variance && matters(*part, kernel))
      part->factors[m] = factor_of(spectra[m], function_precision(*part, kernel), data);
    spectra[m].vectors = {};
  }
  fill_weights(*part, posterior.squares, model);
  model.bias = data.centre;
  model.part = std::move(part);
}

void fill_report(const MtmklSolution& solution, Report& report) {
  constexpr Index kMostOutputs = 50;
  const MtmklPart& posterior = solution.posterior.part;
  const Matrix& inclusion = posterior.inclusion;
  report.objective_name = "lower bound";
  report.objective = solution.bound;
  report.iterations = solution.iterations;
  report.status = solution.status;
  report.trace = solution.trace;
  const auto used = std::ranges::count_if(inclusion.values(), [](double p) { return p > 0.5; });
  const std::string who = inclusion.rows() == 1
                              ? fmt::format("{} of {} kernels are", used, inclusion.cols())
                              : fmt::format("of {} kernels and {} outputs, {} of {} pairs are",
                                            inclusion.cols(), inclusion.rows(), used, inclusion.size());
  report.message = fmt::format(
      "{} used with a probability above one half; lower bound {:.6g}; before the data, a weight was used with "
      "probability {:.3g} and had the variance {:.3g}",
      who, solution.bound, posterior.share, posterior.spread);
  if (inclusion.rows() > kMostOutputs) return;
  Report::Table kernels{"probability that an output uses a kernel", {"kernel"}, {}};
  Report::Table outputs{"noise", {"output", "variance, in that of the output"}, {}};
  for (Index q = 0; q < inclusion.rows(); ++q) {
    kernels.columns.push_back(fmt::format("output {}", q + 1));
    outputs.rows.push_back({static_cast<double>(q + 1), posterior.noise[at(q)]});
  }
  for (Index m = 0; m < inclusion.cols(); ++m) {
    Vector row = {static_cast<double>(m + 1)};
    row.insert(row.end(), inclusion.column(m).begin(), inclusion.column(m).end());
    kernels.rows.push_back(std::move(row));
  }
  report.tables = {std::move(kernels), std::move(outputs)};
}

MtmklSettings settings_of(const MtmklOptions& options) {
  return {options.iterations, options.tolerance, options.least_noise, options.rescale};
}

FitResult learned(const KernelBank& bank, const Targets& targets, const MtmklOptions& options,
                  const Context& context) {
  FitResult result;
  const ProgressMeter clock(context, kName);
  const MtmklData data = data_of(targets);
  std::vector<KernelSpectrum> spectra = spectra_of(bank, data.samples, data.task.roots, context);
  MtmklSolution solution = solve_mtmkl(spectra, bank.names(), data.task, settings_of(options), context);
  fill_report(solution, result.report);
  fill_model(std::move(solution.posterior), std::move(spectra), data, options, result.model);
  result.report.seconds.emplace_back("training", clock.seconds());
  return result;
}

// Eigenvectors of every kernel, which become the factors of the variance one by one; a kernel and the space of its
// decomposition; functions and outputs.
std::size_t memory_of_fit(Index n, Index p, Index m) {
  return at((p + 8) * n * n + n * (4 * p + 5 * m) + 5 * p * m) * sizeof(double);
}

}  // namespace

const OptionTable<MtmklOptions>& mtmkl_option_table() {
  using O = MtmklOptions;
  static const OptionTable<O> table = {
      {"iterations", &O::iterations, kAtLeastOne,
       "at most this many passes over all factors, from every start"},
      {"tolerance", &O::tolerance, kNonNegative,
       "stop when a pass raises the lower bound by less, for every number that is learned from"},
      {"least_noise", &O::least_noise, kPositive,
       "noise of an output, at least, as a part of its variance: more where outputs fit all too well"},
      {"rescale", &O::rescale,
       "in every pass give functions and their weights the sizes that suit both: the same maxima in fewer passes"},
      {"variance", &O::variance,
       "keep what deviations of predictions need: up to a number per pair of samples for every kernel that is used"},
  };
  return table;
}

FitResult fit_mtmkl(const KernelBank& bank, const Targets& targets, const MtmklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(mtmkl_option_table(), options), context,
                      [&](FitResult& result) { result = learned(bank, targets, options, context); });
}

Learner mtmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary =
      "several numbers that share a random function per kernel, with weights that are switched off (spike and slab)";
  learner.doc_page = "docs/methods/mtmkl.md";
  learner.tasks = {Task::regression, Task::multi_regression};
  learner.options = describe_options(mtmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_mtmkl(bank, targets, parse_options(mtmkl_option_table(), values, kName), context);
  };
  learner.load = load_mtmkl;
  learner.working_memory = memory_of_fit;
  learner.operations = [](double n, double /*p*/) { return n * n; };
  learner.wants_entries = true;
  return learner;
}

}  // namespace kloom::methods
