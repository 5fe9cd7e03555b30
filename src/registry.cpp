// SPDX-License-Identifier: BSD-3-Clause
//
// One row per method.
#include <string>
#include <vector>

#include "base/spelling.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "learners/bemkl.h"
#include "learners/lmkl.h"
#include "learners/margin.h"
#include "learners/mcmkl.h"
#include "learners/mklda.h"
#include "learners/samkl.h"
#include "learners/ufomkl.h"

namespace kloom {

std::span<const Learner> all_learners() {
  static const std::vector<Learner> all = {
      learners::bemkl_learner(),
      learners::margin_learner(learners::MarginMethod::lp_mkl),
      learners::margin_learner(learners::MarginMethod::simplemkl),
      learners::mcmkl_learner(),
      learners::samkl_learner(),
      learners::lmkl_learner(),
      learners::margin_learner(learners::MarginMethod::uniform),
      learners::margin_learner(learners::MarginMethod::single),
      learners::mklda_learner(),
      learners::ufo_learner(),
  };
  return all;
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

BankRequest preferred_bank(const Learner& learner, Index n, Index p, std::size_t budget) {
  BankRequest request;
  request.families = learner.wants_families;
  const double bytes =
      static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(p) * sizeof(double);
  // Low-rank factors take n² · rank for a combination, entries n²; a quarter leaves room for everything else.
  if (learner.wants_entries && bytes <= 0.25 * static_cast<double>(budget)) request.kind = BankKind::dense;
  return request;
}

const Learner& find_learner(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const Learner& learner : all_learners()) {
    if (learner.name == name) return learner;
    names.push_back(learner.name);
    list += (list.empty() ? "" : ", ") + learner.name;
  }
  throw InvalidArgument("there is no method '" + std::string(name) + "'" + did_you_mean(name, names) +
                        "; the methods are " + list);
}

}  // namespace kloom
