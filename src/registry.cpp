// SPDX-License-Identifier: BSD-3-Clause
//
// One row per method.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "certify/bemkl.h"
#include "certify/blend.h"
#include "certify/gated.h"
#include "certify/gmkl.h"
#include "certify/gpmkl.h"
#include "certify/lpbeta.h"
#include "certify/margin.h"
#include "certify/mcmkl.h"
#include "certify/mkr.h"
#include "certify/mtmkl.h"
#include "certify/stochastic.h"
#include "certify/twostep.h"
#include "certify/vbpmkl.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "kloom/words.h"
#include "methods/auto/auto.h"
#include "methods/bemkl/bemkl.h"
#include "methods/gmkl/gmkl.h"
#include "methods/gpmkl/gpmkl.h"
#include "methods/lmkl/lmkl.h"
#include "methods/lpbeta/lpbeta.h"
#include "methods/margin/margin.h"
#include "methods/mcmkl/mcmkl.h"
#include "methods/mklda/mklda.h"
#include "methods/mkr/mkr.h"
#include "methods/mtmkl/mtmkl.h"
#include "methods/samkl/samkl.h"
#include "methods/ufomkl/ufomkl.h"
#include "methods/vbpmkl/vbpmkl.h"

namespace kloom {

namespace {

using Referee = decltype(Learner::certify);

// The one place where a method meets its referee: neither knows the other.
Learner judged_by(Learner learner, Referee referee) {
  learner.certify = std::move(referee);
  return learner;
}

std::vector<Learner> reserved(std::size_t capacity, std::vector<Learner> entries) {
  entries.reserve(capacity);
  return entries;
}

std::vector<Learner>& registry() {
  using certify_detail::certify_align;
  using certify_detail::certify_alignf;
  using certify_detail::certify_bemkl;
  using certify_detail::certify_blend;
  using certify_detail::certify_easymkl;
  using certify_detail::certify_fheuristic;
  using certify_detail::certify_gated;
  using certify_detail::certify_gpmkl;
  using certify_detail::certify_gram;
  using certify_detail::certify_margin;
  using certify_detail::certify_mcmkl;
  using certify_detail::certify_mkr;
  using certify_detail::certify_pwmk;
  using certify_detail::certify_stochastic;
  using methods::margin_learner;
  using methods::MarginMethod;
  // Entries are referred to for as long as the process lives, so the vector must never move them.
  constexpr std::size_t kMost = 256;
  static std::vector<Learner> all =
      reserved(kMost, {
                          judged_by(methods::auto_learner(), certify_blend),
                          judged_by(methods::bemkl_learner(), certify_bemkl),
                          judged_by(methods::gpmkl_learner(), certify_gpmkl),
                          judged_by(margin_learner(MarginMethod::lp_mkl), certify_margin),
                          judged_by(margin_learner(MarginMethod::simplemkl), certify_margin),
                          judged_by(margin_learner(MarginMethod::group_mkl), certify_margin),
                          judged_by(margin_learner(MarginMethod::easymkl), certify_easymkl),
                          judged_by(margin_learner(MarginMethod::gram), certify_gram),
                          judged_by(margin_learner(MarginMethod::align), certify_align),
                          judged_by(margin_learner(MarginMethod::alignf), certify_alignf),
                          judged_by(margin_learner(MarginMethod::fheuristic), certify_fheuristic),
                          judged_by(margin_learner(MarginMethod::pwmk), certify_pwmk),
                          judged_by(methods::gmkl_learner(), certify_detail::certify_gmkl),
                          judged_by(methods::lp_beta_learner(), certify_detail::certify_lp_beta),
                          judged_by(methods::mkr_learner(), certify_mkr),
                          judged_by(methods::mtmkl_learner(), certify_detail::certify_mtmkl),
                          judged_by(methods::mcmkl_learner(), certify_mcmkl),
                          judged_by(methods::samkl_learner(), certify_gated),
                          judged_by(methods::lmkl_learner(), certify_gated),
                          judged_by(margin_learner(MarginMethod::uniform), certify_margin),
                          judged_by(margin_learner(MarginMethod::single), certify_margin),
                          judged_by(methods::mklda_learner(), certify_stochastic),
                          judged_by(methods::ufo_learner(), certify_stochastic),
                          judged_by(methods::vbpmkl_learner(), certify_detail::certify_vbpmkl),
                      });
  return all;
}

}  // namespace

std::span<const Learner> all_learners() {
  return registry();
}

MemoryShare share_memory(const Learner& learner, Index n, Index p, Index m, const Context& context) {
  const std::size_t budget = memory_budget(context);
  MemoryShare share;
  share.working = learner.working_memory(n, p, m);
  if (share.working >= budget && learner.least_memory) {
    share.slower = true;
    share.working = learner.least_memory(n, p, m);
  }
  if (share.working >= budget) {
    throw ResourceError(learner.name + " on " + std::to_string(n) + " samples and " + std::to_string(p) +
                        " kernels needs " + format_bytes(share.working) + " of working memory, and " +
                        format_bytes(budget) + " may be used; use fewer samples or kernels, or raise --memory");
  }
  share.bank = budget - share.working;
  return share;
}

BankRequest preferred_bank(const Learner& learner, Index n, Index p, std::size_t budget, Index features) {
  constexpr Index many = 100;  // features from which reading an entry is much quicker than computing it
  BankRequest request;
  request.families = learner.wants_families;
  const double bytes =
      static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(p) * sizeof(double);
  const bool affordable = bytes <= 0.25 * static_cast<double>(budget);  // leaves room for everything else
  // Low-rank factors take n² · rank for a combination, entries n².
  request.factors = learner.wants_factors && affordable;
  if (learner.wants_entries && affordable && !request.factors) request.kind = BankKind::dense;
  if (learner.stores_up_to > 0 && n > learner.stores_up_to && !(affordable && features >= many))
    request.kind = BankKind::computed;
  return request;
}

const Learner& find_learner(std::string_view name) {
  const auto place = std::ranges::find(all_learners(), name, &Learner::name);
  if (place != all_learners().end()) return *place;
  std::vector<std::string> names;
  std::string list;
  for (const Learner& learner : all_learners()) {
    names.push_back(learner.name);
    list += (list.empty() ? "" : ", ") + learner.name;
  }
  throw InvalidArgument("there is no method '" + std::string(name) + "'" + did_you_mean(name, names) +
                        "; the methods are " + list);
}

const Learner* learner_of_model(std::string_view method) {
  for (const Learner& learner : all_learners()) {
    if (learner.name == method || std::ranges::find(learner.also, method) != learner.also.end())
      return &learner;
  }
  return nullptr;
}

void register_learner(Learner learner) {
  if (learner_of_model(learner.name) != nullptr)
    throw InvalidArgument("there is a method '" + learner.name + "' already; give the new one another name");
  if (registry().size() == registry().capacity()) throw InvalidArgument("too many methods were registered");
  registry().push_back(std::move(learner));
}

}  // namespace kloom
