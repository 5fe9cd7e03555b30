// SPDX-License-Identifier: BSD-3-Clause
//
// Validated labels. Learners see codes and numbers, people see the names that they wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom {

enum class Task { binary, multiclass, multilabel, regression, multi_regression };

[[nodiscard]] std::string_view to_string(Task task);

struct Targets {
  static constexpr int unlabelled = -1;

  Task task = Task::binary;
  // Binary and multiclass: sorted class names (numbers as numbers); codes index them. In a binary task
  // code 1 is the positive class. Multilabel: one name per label.
  std::vector<std::string> classes;
  std::vector<int> codes;       // per sample, or `unlabelled`
  Matrix values;                // N × 1 or N × T for regression; N × L of 0/1 for multilabel
  std::vector<double> weights;  // per sample; empty: all 1

  [[nodiscard]] Index samples() const {
    return task == Task::binary || task == Task::multiclass ? static_cast<Index>(codes.size()) : values.rows();
  }
  // +1 / -1 / 0 (unlabelled) per sample of a binary task.
  [[nodiscard]] Vector signs() const;
};

// Scores that a model of these targets has: one for two classes or one number, else one per
// class, label or number.
[[nodiscard]] Index outputs_of(const Targets& targets);

struct TargetsRequest {
  enum class Kind { automatic, classes, regression };
  // automatic: labels that are not all numbers are classes, and so are two different numbers. More than two are
  // regression if
  //   * some of them are no integers,
  //   * there are more than 20 different ones, and more than a fifth as many as labelled samples, or more than 5 and
  //     more than a third,
  //   * there are ten or more different ones, at most 15 samples of each on average and very unevenly, and they do not
  //     count from 0 or 1 without gaps, or
  //   * there are twelve or more different ones whose frequencies rise to a hill and fall again, as those of grades do;
  // otherwise they are classes.
  Kind kind = Kind::automatic;
  std::string positive;     // name of the positive class; empty: the last of two
  std::string target_name;  // several targets: their names, separated by commas
  bool allow_unlabelled = false;
  std::string source;        // for messages
  std::vector<Index> lines;  // for messages
};

// Several targets in one label (dataset.h): 0/1 everywhere is multilabel with the targets' names as classes,
// other numbers are several regressions.
//
// Throws InvalidArgument: one class only, empty labels where they are not allowed, unknown positive class,
// a number that cannot be read.
[[nodiscard]] Targets make_targets(const std::vector<std::string>& labels, const TargetsRequest& request);

}  // namespace kloom
