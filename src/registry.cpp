// SPDX-License-Identifier: BSD-3-Clause
//
// One row per method.
#include <string>
#include <vector>

#include "base/spelling.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "methods/bemkl/bemkl.h"
#include "methods/lmkl/lmkl.h"
#include "methods/margin/margin.h"
#include "methods/mcmkl/mcmkl.h"
#include "methods/mklda/mklda.h"
#include "methods/samkl/samkl.h"
#include "methods/ufomkl/ufomkl.h"

namespace kloom {

std::span<const Learner> all_learners() {
  static const std::vector<Learner> all = {
      methods::bemkl_learner(),
      methods::margin_learner(methods::MarginMethod::lp_mkl),
      methods::margin_learner(methods::MarginMethod::simplemkl),
      methods::mcmkl_learner(),
      methods::samkl_learner(),
      methods::lmkl_learner(),
      methods::margin_learner(methods::MarginMethod::uniform),
      methods::margin_learner(methods::MarginMethod::single),
      methods::mklda_learner(),
      methods::ufo_learner(),
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
