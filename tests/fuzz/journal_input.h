// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for journals of finished work: lines of JSON behind the first one, which is made here, and so are the
// checksums, which would stop every change at the door. An input that begins with 'R' is a whole file as it is, one that
// begins with 'P' the plan of a comparison. Whatever is accepted must survive being reported: the report looks at every
// prediction by index.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "kloom/compare.h"
#include "kloom/error.h"
#include "kloom/page.h"
#include "select/journal.h"
#include "select/outcome_check.h"
#include "select/plan.h"

namespace kloom::fuzz {

// Six samples of two classes in two splits, and two candidates.
struct JournalProblem {
  Dataset data;
  Targets targets;
  ValidationRequest request;

  JournalProblem() {
    data.samples = 6;
    data.features = Matrix(6, 1);
    data.feature_info.push_back({"x", ""});
    targets.task = Task::binary;
    targets.classes = {"a", "b"};
    targets.codes = {0, 1, 0, 1, 0, 1};
    request.candidates = {{"uniform", {}, {{"C", {"1", "10"}}}}, {"bemkl", {}, {}}};
    request.splits = {{0, 0, {2, 3, 4, 5}, {0, 1}}, {0, 1, {0, 1, 4, 5}, {2, 3}}};
    request.metric = "accuracy";
  }
};

inline std::string with_checksums(std::string_view lines, const std::string& fingerprint) {
  std::string text;
  select::Hash chain;
  const auto add = [&](const std::string& json) {
    chain.add(json);
    text += json + "\t" + chain.text() + "\n";
  };
  add(R"({"kloom_journal":2,"fingerprint":")" + fingerprint + "\"}");
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    add(std::string(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

inline bool read_plan_input(std::string_view text) {
  ComparisonRequest request;
  request.splits.repeats = 3;
  const select::Plan plan = select::plan_from_json(std::string(text), request, Task::binary, "input");
  if (plan.methods.empty() || plan.repeats < 1 || plan.repeats > 3)
    throw std::logic_error("an impossible plan was accepted");
  return true;
}

// True if there was an outcome, and all of them were sound.
inline bool read_journal_input(std::string_view input) {
  static const JournalProblem problem;
  try {
    if (input.starts_with('P')) return read_plan_input(input.substr(1));
    const std::string text =
        input.starts_with('R') ? std::string(input.substr(1)) : with_checksums(input, "0123456789abcdef");
    Validation validation;
    for (const select::JournalEntry& entry : select::parse_journal(text, "input", "0123456789abcdef").entries) {
      if (!select::outcome_trouble(entry.outcome, problem.request, problem.targets).empty()) return false;
      validation.outcomes.push_back(entry.outcome);
    }
    if (validation.outcomes.empty()) return false;
    const Comparison comparison = summarise(problem.request, std::move(validation));
    return !to_json(comparison, problem.data, problem.targets, {}).empty();
  } catch (const Error&) {  // refusing is fine
    return false;
  }
}

}  // namespace kloom::fuzz
