// SPDX-License-Identifier: BSD-3-Clause
//
// How a computed bank is kept: which storage is cheapest, whether it fits, and making it.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "algebra/threads.h"
#include "base/memory.h"
#include "base/progress.h"
#include "kernels/banks/chosen_bank.h"
#include "kernels/banks/computed_bank.h"
#include "kernels/banks/concat_bank.h"
#include "kernels/banks/dense_bank.h"
#include "kernels/banks/low_rank_bank.h"
#include "kernels/banks/rbf_family_bank.h"
#include "kernels/functions/distance.h"
#include "kloom/bank.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom {

using kernels::BankPart;
using kernels::ComputedBank;
using kernels::materialise;

namespace {

constexpr std::pair<BankKind, std::string_view> kKindNames[] = {
    {BankKind::automatic, "auto"},    {BankKind::dense, "dense"},           {BankKind::dense32, "dense32"},
    {BankKind::low_rank, "low-rank"}, {BankKind::rbf_family, "rbf-family"}, {BankKind::computed, "computed"},
};

std::size_t dense_bytes(const KernelBank& bank, std::size_t entry) {
  return static_cast<std::size_t>(bank.rows()) * static_cast<std::size_t>(bank.cols()) *
         static_cast<std::size_t>(bank.kernels()) * entry;
}

// Beyond this rank a pass over the factor is no cheaper than one over the matrix, and finding it out costs.
Index rank_limit(const KernelBank& bank) {
  return std::min<Index>(128, bank.rows() / 3);
}

Index probes_of(const KernelBank& bank) {
  return std::min<Index>(16, bank.kernels());
}

// Low-rank kernels among at most sixteen, spread evenly over the bank.
void probe_ranks(const KernelBank& bank, double tolerance, BankPlan& plan) {
  const Index probes = probes_of(bank);
  if (!bank.symmetric() || probes == 0 || rank_limit(bank) < 1) return;
  const Matrix diagonal = bank.diagonal();
  Index low = 0;
  Index ranks = 0;
  for (Index k = 0; k < probes; ++k) {
    const Index p = probes == 1 ? 0 : k * (bank.kernels() - 1) / (probes - 1);
    const auto factor = kernels::low_rank_factor(bank, p, diagonal.column(p), tolerance, rank_limit(bank));
    if (!factor) continue;
    ++low;
    ranks += factor->cols();
  }
  const double n = static_cast<double>(bank.rows());
  const double share = static_cast<double>(low) / static_cast<double>(probes);
  plan.low_rank_kernels = low;
  plan.mean_rank = low > 0 ? static_cast<double>(ranks) / static_cast<double>(low) : n;
  const double entries = static_cast<double>(bank.kernels()) * n * (share * plan.mean_rank + (1.0 - share) * n);
  plan.bytes = static_cast<std::size_t>(entries * sizeof(double));
}

// The factors of all kernels side by side, as far as they were probed: a matrix of half as many columns as rows, or fewer.
bool thin_together(const KernelBank& bank, const BankPlan& plan) {
  const bool all = plan.low_rank_kernels == probes_of(bank);
  return all && 2.0 * plan.mean_rank * static_cast<double>(bank.kernels()) <= static_cast<double>(bank.rows());
}

// Terms that are exponentials of the same quantity, or nothing if some term is none.
struct Family {
  std::vector<Index> kernels;
  const KernelTerm* first = nullptr;
};

bool is_exponential(const KernelTerm& term) {
  return (term.function == KernelFunction::rbf || term.function == KernelFunction::expdist) &&
         term.normalisation != Normalisation::centre;
}

std::vector<Family> families_of(const KernelBank& bank) {
  const auto* computed = dynamic_cast<const ComputedBank*>(&bank);
  if (computed == nullptr) return {};
  std::map<std::pair<int, std::vector<Index>>, Family> groups;
  Index p = 0;
  for (const KernelTerm& term : computed->terms()) {
    if (!is_exponential(term)) return {};
    Family& family = groups[{static_cast<int>(term.function), term.features}];
    if (family.first == nullptr) family.first = &term;
    family.kernels.push_back(p++);
  }
  std::vector<Family> result;
  result.reserve(groups.size());
  for (auto& [key, family] : groups) result.push_back(std::move(family));
  return result;
}

Matrix samples_by_column(const Dataset& data, const std::vector<Index>& features) {
  Matrix result(static_cast<Index>(features.size()), data.samples);
  for (Index i = 0; i < data.samples; ++i) {
    for (std::size_t d = 0; d < features.size(); ++d)
      result(static_cast<Index>(d), i) = data.features(i, features[d]);
  }
  return result;
}

// The quantity that a family's kernels are exponentials of, cols × rows.
Matrix family_quantity(const ComputedBank& bank, const KernelTerm& term) {
  Matrix t(bank.cols(), bank.rows());
  if (term.function == KernelFunction::expdist) {
    const SharedMatrix& distance = bank.row_samples().distances[at(term.features.front())].values;
    for (Index i = 0; i < bank.rows(); ++i) {
      for (Index j = 0; j < bank.cols(); ++j) t(j, i) = distance(i, j) / term.distance_scale;
    }
    return t;
  }
  const Matrix rows = samples_by_column(bank.row_samples(), term.features);
  const Matrix cols = samples_by_column(bank.column_samples(), term.features);
  constexpr Index kBlock = 256;
#pragma omp parallel for schedule(dynamic)
  for (Index start = 0; start < bank.rows(); start += kBlock) {
    const Range part{start, std::min(bank.rows(), start + kBlock)};
    kernels::squared_distances(rows.columns(part), cols.view(), t.columns(part));
  }
  return t;
}

std::unique_ptr<KernelBank> make_rbf_family(const KernelBank& bank) {
  const std::vector<Family> families = families_of(bank);
  if (families.empty()) {
    throw InvalidArgument(
        "bank rbf-family holds rbf and expdist kernels without centring only; use --bank auto for this spec");
  }
  const auto& computed = dynamic_cast<const ComputedBank&>(bank);
  std::vector<BankPart> parts;
  for (const Family& family : families) {
    std::vector<double> gammas;
    std::vector<double> scales;
    std::vector<std::string> names;
    for (Index p : family.kernels) {
      gammas.push_back(computed.terms()[at(p)].parameter);
      scales.push_back(computed.terms()[at(p)].scale);
      names.push_back(bank.names()[at(p)]);
    }
    auto t = std::make_shared<const Matrix>(family_quantity(computed, *family.first));
    parts.push_back(
        {std::make_shared<kernels::RbfFamilyBank>(std::move(t), std::move(gammas), std::move(scales),
                                                  std::move(names), bank.symmetric()),
         family.kernels});
  }
  return std::make_unique<kernels::ConcatBank>(std::move(parts));
}

// Factors of all kernels at once; empty where the rank is too high. What a thread throws is thrown again here.
std::vector<std::optional<Matrix>> factorise(const KernelBank& bank, double tolerance) {
  const Matrix diagonal = bank.diagonal();
  std::vector<std::optional<Matrix>> factors(at(bank.kernels()));
  std::exception_ptr failure;
  std::mutex mutex;
#pragma omp parallel for schedule(dynamic, 1)
  for (Index p = 0; p < bank.kernels(); ++p) {
    try {
      factors[at(p)] = kernels::low_rank_factor(bank, p, diagonal.column(p), tolerance, rank_limit(bank));
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return factors;
}

// Low-rank kernels as factors, the others dense, in one bank.
std::unique_ptr<KernelBank> make_low_rank(std::shared_ptr<const KernelBank> computed, double tolerance,
                                          const Context& context) {
  const KernelBank& bank = *computed;
  if (!bank.symmetric())
    throw InvalidArgument("bank low-rank is for training kernels; rows and columns differ here");
  std::vector<std::optional<Matrix>> factors = factorise(bank, tolerance);
  std::vector<Matrix> thin;
  std::vector<std::string> names;
  BankPart low;
  BankPart dense;
  for (Index p = 0; p < bank.kernels(); ++p) {
    if (!factors[at(p)]) {
      dense.kernels.push_back(p);
      continue;
    }
    thin.push_back(std::move(*factors[at(p)]));
    names.push_back(bank.names()[at(p)]);
    low.kernels.push_back(p);
  }
  if (thin.empty()) return materialise(bank, {0, bank.kernels()}, false, context);
  if (dense.kernels.empty()) {
    // Its copies of the features, one for every view, are often as large as the factors.
    computed.reset();
    base::give_back_freed_memory();
  }
  auto thin_bank = std::make_unique<kernels::LowRankBank>(std::move(thin), std::move(names));
  if (dense.kernels.empty()) return thin_bank;
  low.bank = std::move(thin_bank);
  const kernels::ChosenBank others(bank, dense.kernels);
  dense.bank = materialise(others, {0, others.kernels()}, false, context);
  return std::make_unique<kernels::ConcatBank>(std::vector<BankPart>{std::move(low), std::move(dense)});
}

std::size_t family_bytes(const KernelBank& bank) {
  return families_of(bank).size() * static_cast<std::size_t>(bank.rows()) *
         static_cast<std::size_t>(bank.cols()) * sizeof(double);
}

// Bytes of the kind asked for; `automatic` becomes the cheapest kind that every learner is fast on.
void choose(const KernelBank& bank, const BankRequest& request, std::size_t budget, BankPlan& plan) {
  plan.dense_bytes = dense_bytes(bank, sizeof(double));
  plan.kind = request.kind;
  const std::size_t dense = kernels::materialised_bytes(bank, {0, bank.kernels()}, false);
  switch (request.kind) {
    case BankKind::dense:
      plan.bytes = dense;
      break;
    case BankKind::dense32:
      plan.bytes = dense_bytes(bank, sizeof(float));
      break;
    case BankKind::low_rank:
      probe_ranks(bank, request.rank_tolerance, plan);
      break;
    case BankKind::rbf_family:
      plan.bytes = family_bytes(bank);
      break;
    case BankKind::computed:
      plan.bytes = bank.bytes() - bank.shared_bytes();
      break;
    case BankKind::automatic:
      if (request.families && bank.combines_cheaply()) {
        plan.kind = BankKind::computed;
        plan.bytes = bank.bytes() - bank.shared_bytes();
        plan.why = "the kernels share a distance, so their sum costs no more than one of them";
        return;
      }
      probe_ranks(bank, request.rank_tolerance, plan);
      plan.kind = BankKind::low_rank;
      if (request.factors && !thin_together(bank, plan)) {
        plan.kind = BankKind::dense;
        plan.bytes = dense;
        plan.why = "together the kernels have no fewer columns than there are samples";
        return;
      }
      plan.why = fmt::format("{} of the kernels probed have low rank ({:.0f} on average)",
                             plan.low_rank_kernels, plan.mean_rank);
      if (plan.low_rank_kernels == 0 || plan.bytes > plan.dense_bytes / 2) {
        plan.kind = BankKind::dense;
        plan.bytes = dense;
        plan.why = "the kernels have full rank";
      }
      if (plan.bytes > budget && family_bytes(bank) > 0 && family_bytes(bank) <= budget) {
        plan.kind = BankKind::rbf_family;
        plan.bytes = family_bytes(bank);
        plan.why = "the kernels do not fit into memory one by one, but share a distance";
      }
      return;
  }
  plan.why = "asked for";
}

std::unique_ptr<KernelBank> stored_as(BankKind kind, std::shared_ptr<const KernelBank> computed,
                                      const BankRequest& request, const Context& context) {
  switch (kind) {
    case BankKind::low_rank:
      return make_low_rank(std::move(computed), request.rank_tolerance, context);
    case BankKind::rbf_family:
      return make_rbf_family(*computed);
    case BankKind::dense32:
      return materialise(*computed, {0, computed->kernels()}, true, context);
    case BankKind::computed: {
      std::vector<Index> all(at(computed->kernels()));
      std::iota(all.begin(), all.end(), Index{0});
      std::vector<BankPart> parts;
      parts.push_back({std::move(computed), std::move(all)});
      return std::make_unique<kernels::ConcatBank>(std::move(parts));
    }
    default:
      return materialise(*computed, {0, computed->kernels()}, false, context);
  }
}

}  // namespace

std::string_view to_string(BankKind kind) {
  for (const auto& [value, name] : kKindNames) {
    if (value == kind) return name;
  }
  throw InternalError("unknown kind of bank");
}

BankKind parse_bank_kind(std::string_view text) {
  std::string list;
  for (const auto& [value, name] : kKindNames) {
    if (name == text) return value;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  throw InvalidArgument(fmt::format("there is no bank '{}'; the banks are {}", text, list));
}

std::unique_ptr<KernelBank> store_bank(std::shared_ptr<const KernelBank> computed, const BankRequest& request,
                                       const Context& context, BankPlan* plan_out) {
  const algebra::ThreadScope threads(context);
  const std::size_t budget = memory_budget(context);
  BankPlan plan;
  choose(*computed, request, budget, plan);
  if (plan_out != nullptr) *plan_out = plan;
  base::require_memory(plan.bytes, context,
                       fmt::format("{} kernels of {} x {} samples as a {} bank", computed->kernels(),
                                   computed->rows(), computed->cols(), to_string(plan.kind)),
                       "use fewer kernels, --bank dense32 (half the memory, errors of 1e-6), or --bank "
                       "computed (no memory, slow)");
  Presence presence = computed->presence();
  std::unique_ptr<KernelBank> stored = stored_as(plan.kind, std::move(computed), request, context);
  stored->set_presence(std::move(presence));
  return stored;
}

}  // namespace kloom
