// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "base/progress.h"
#include "kernels/banks/computed_bank.h"
#include "kernels/spec/presence.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

// Below this part of the mean diagonal, a variance is rounding error.
constexpr double kNoVariance = 1e-12;
// A training diagonal counts as constant if its entries agree to this part.
constexpr double kConstantDiagonal = 1e-8;
constexpr Index kPanelEntries = Index{1} << 20;

KernelTerm plain(const KernelTerm& term) {
  KernelTerm result = term;
  result.normalisation = Normalisation::none;
  result.scale = 1.0;
  result.centre_means.clear();
  result.centre_mean = 0.0;
  return result;
}

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void require_positive_trace(const KernelTerm& term, double trace) {
  if (!(trace > 0.0) || !std::isfinite(1.0 / trace))
    throw InvalidArgument(
        fmt::format("kernel '{}' has trace {} on the training samples and cannot be normalised to "
                    "{}; leave it out or use normalise=none",
                    term.name, trace, to_string(term.normalisation)));
}

// Mean of every row, kernel by kernel: N × kernels.
Matrix row_means(const ComputedBank& bank, const Context& context) {
  Matrix means(bank.rows(), bank.kernels());
  ProgressMeter meter(context, "normalisation");
  // A few kernels at a time: neighbours often share their distances.
  constexpr Index together = 16;
  const Index entries = std::max<Index>(1, bank.cols() * std::min(together, bank.kernels()));
  const Index block = std::max<Index>(1, kPanelEntries / entries);
  Vector panel(static_cast<std::size_t>(block * entries));
  const auto n = static_cast<std::size_t>(bank.cols());
  for (Index p = 0; p < bank.kernels(); p += together) {
    const Range kernels{p, std::min(bank.kernels(), p + together)};
    for (Index i = 0; i < bank.rows(); i += block) {
      const Range rows{i, std::min(bank.rows(), i + block)};
      bank.panels(kernels, rows, panel.data());
      for (Index k = 0; k < kernels.size(); ++k)
        for (Index r = 0; r < rows.size(); ++r)
          means(i + r, p + k) =
              sum({panel.data() + (k * rows.size() + r) * bank.cols(), n}) / static_cast<double>(n);
    }
    meter.step(kernels.end, bank.kernels(), std::nan(""));
  }
  return means;
}

// k(x,x) of new samples is not in a given matrix, so only a constant training diagonal says what it is.
double constant_diagonal_scale(const KernelTerm& term, std::span<const double> diagonal) {
  const auto [low, high] = std::minmax_element(diagonal.begin(), diagonal.end());
  if (!(*low > 0.0) || *high - *low > kConstantDiagonal * *high)
    throw InvalidArgument(
        fmt::format("kernel '{}' cannot have a unit diagonal: its diagonal varies from {} to {}, and "
                    "the similarity of a new sample with itself is not in a given matrix; normalise "
                    "the matrix before, or use unit-trace, unit-variance, centre or none",
                    term.name, *low, *high));
  return 1.0 / *high;
}

void fit_term(KernelTerm& term, std::span<const double> diagonal, std::span<const double> means) {
  const auto n = static_cast<double>(diagonal.size());
  const double trace = sum(diagonal);
  const double mean = means.empty() ? 0.0 : sum(means) / n;
  switch (term.normalisation) {
    case Normalisation::unit_trace:
      require_positive_trace(term, trace);
      term.scale = 1.0 / trace;
      break;
    case Normalisation::unit_variance: {
      require_positive_trace(term, trace);
      const double variance = trace / n - mean;
      if (!(variance > kNoVariance * trace / n))
        throw InvalidArgument(
            fmt::format("kernel '{}' is constant on the training samples, so its variance cannot be "
                        "made 1; leave it out or use another normalisation",
                        term.name));
      term.scale = 1.0 / variance;
      break;
    }
    case Normalisation::centre:
      term.centre_means.assign(means.begin(), means.end());
      term.centre_mean = mean;
      break;
    case Normalisation::unit_diagonal:
      term.scale = constant_diagonal_scale(term, diagonal);
      break;
    case Normalisation::none:
      break;
  }
}

bool needs_fit(const KernelTerm& term) {
  return term.normalisation == Normalisation::unit_trace ||
         term.normalisation == Normalisation::unit_variance || term.normalisation == Normalisation::centre ||
         (term.normalisation == Normalisation::unit_diagonal && term.function == KernelFunction::precomputed);
}
bool needs_means(const KernelTerm& term) {
  return term.normalisation == Normalisation::unit_variance || term.normalisation == Normalisation::centre;
}

// All of these terms on all of these samples.
void fit_together(std::vector<KernelTerm>& terms, const std::vector<std::size_t>& chosen,
                  const std::shared_ptr<const Dataset>& train, const Context& context) {
  std::vector<KernelTerm> with_means;
  std::vector<KernelTerm> without;
  for (const std::size_t p : chosen) (needs_means(terms[p]) ? with_means : without).push_back(plain(terms[p]));
  const ComputedBank full(with_means, train, train, true);
  const ComputedBank light(without, train, train, true);
  const Matrix means = row_means(full, context);
  const Matrix full_diagonal = full.diagonal();
  const Matrix light_diagonal = light.diagonal();
  Index next_full = 0;
  Index next_light = 0;
  for (const std::size_t p : chosen) {
    if (needs_means(terms[p])) {
      fit_term(terms[p], full_diagonal.column(next_full), means.column(next_full));
      ++next_full;
    } else {
      fit_term(terms[p], light_diagonal.column(next_light++), {});
    }
  }
}

// Means over training samples are of all of them, also in prediction.
void refuse_centring(const KernelTerm& term) {
  if (term.normalisation != Normalisation::centre) return;
  throw InvalidArgument(
      fmt::format("kernel '{}' cannot be centred, because some samples lack the view '{}'; use another "
                  "normalisation, or fill the gaps in (--impute median)",
                  term.name, term.views.front()));
}

}  // namespace

void fit_normalisation(std::vector<KernelTerm>& terms, const std::shared_ptr<const Dataset>& train,
                       const Context& context) {
  // Kernels of views that some samples lack are fitted on the others.
  std::map<std::vector<Index>, std::vector<std::size_t>> groups;
  std::vector<std::size_t> everywhere;
  for (std::size_t p = 0; p < terms.size(); ++p) {
    if (!needs_fit(terms[p])) continue;
    const auto present = samples_with_views(*train, terms[p].views);
    if (present) refuse_centring(terms[p]);
    (present ? groups[*present] : everywhere).push_back(p);
  }
  if (!everywhere.empty()) fit_together(terms, everywhere, train, context);
  for (const auto& [present, chosen] : groups)
    fit_together(terms, chosen, std::make_shared<const Dataset>(select_samples(*train, present)), context);
}

}  // namespace kloom::kernels
