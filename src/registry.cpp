// SPDX-License-Identifier: BSD-3-Clause
//
// One row per method.
#include <string>
#include <vector>

#include "base/spelling.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "learners/bemkl.h"
#include "learners/margin.h"
#include "learners/mcmkl.h"
#include "learners/mklda.h"
#include "learners/ufomkl.h"

namespace kloom {

std::span<const Learner> all_learners() {
  static const std::vector<Learner> all = {
      learners::bemkl_learner(),
      learners::margin_learner(learners::MarginMethod::lp_mkl),
      learners::margin_learner(learners::MarginMethod::simplemkl),
      learners::mcmkl_learner(),
      learners::margin_learner(learners::MarginMethod::uniform),
      learners::margin_learner(learners::MarginMethod::single),
      learners::mklda_learner(),
      learners::ufo_learner(),
  };
  return all;
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
