// SPDX-License-Identifier: BSD-3-Clause
//
// Machines on one weighted sum of kernels: logistic regression for classes, ridge regression for numbers and, as a second
// link, for the codes of classes. All of them work on finite features of the kernel,
//
//   K ≈ Φ Φᵀ,   Φ = K(·, L) V Λ^(−1/2),   K(L, L) = V Λ Vᵀ,
//
// with all samples as landmarks L where there are few (then Φ is exact up to eigenvalues that do not count), and with some
// of them where there are many [WilliamsSeeger2001]. One decomposition serves every strength and every fold.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kloom/bank.h"
#include "kloom/matrix.h"
#include "kloom/parts.h"

namespace kloom::methods {

// What is learned: labels of classes, or numbers (standardised).
struct MachineTask {
  Index classes = 0;         // 0: numbers
  std::vector<int> labels;   // classes
  Vector numbers;            // regression
  Vector weights;            // of the samples; empty: all 1
  Vector judged;             // weights of the samples in held-out losses; empty: as `weights`
  std::vector<Index> folds;  // fold of every sample

  [[nodiscard]] Index samples() const { return classes > 0 ? std::ssize(labels) : std::ssize(numbers); }
  [[nodiscard]] Index outputs() const { return classes > 2 ? classes : 1; }
  [[nodiscard]] Index fold_count() const;
  [[nodiscard]] std::vector<Index> judged_folds() const;  // those with a sample whose loss counts
  [[nodiscard]] const Vector& judging() const { return judged.empty() ? weights : judged; }
  // Weights of the samples with one fold left out; −1: none.
  [[nodiscard]] Vector weights_without(Index fold) const;
};

// What ridge regression learns: numbers, ±1 for two classes, or one-hot codes about their mean for several.
[[nodiscard]] Matrix codes_of(const MachineTask& task);

// Features of a weighted sum of kernels.
struct KernelFeatures {
  Matrix phi;        // samples × r
  Matrix back;       // landmarks × r: coefficients on the landmarks are back · w
  double scale = 1;  // the kernel was divided by its mean diagonal
};
// `scales`: where not empty, K(i, j) is multiplied by those of i and j (models/scores.h, present_scales).
[[nodiscard]] KernelFeatures kernel_features(const KernelBank& bank, std::span<const double> weights,
                                             std::span<const Index> landmarks, Index most,
                                             std::span<const double> scales = {});

// One machine at its best strength, which is the strongest whose held-out losses do not differ from the least by more than
// chance (a standard error): what it says of samples that it has not seen, and what it is on all of them.
struct Machine {
  MachineKind kind = MachineKind::ridge;
  double ridge = 0.0;
  double factor =
      1.0;  // scores are multiplied by it: the temperature of machines that are no logistic regression
  double loss = 0.0;  // mean held-out log loss (classes) or squared error (numbers)
  Matrix held_out;    // scores of every sample by the machine that did not see it, factor included
  Matrix w;           // on all samples: r × outputs, before the factor
  Vector bias;
  Index passes = 0;  // over the features, for all strengths and folds
};

// Whether a search has taken enough passes; asked after every strength.
using Enough = std::function<bool(Index passes)>;

// Where kernels learned from targets, what is held out must not have taught them: for a fold, the features Φ of kernels
// that its samples did not teach, good until the next call. Empty: those of all samples serve every fold.
using FoldFeatures = std::function<const Matrix&(Index fold)>;

// Classes by the log loss or the squared hinge: the strength of least held-out log loss, with warm starts from strong to
// weak. Folds without a sample whose loss counts are not fitted. When there were enough passes, the best strength so far is
// taken.
[[nodiscard]] Machine class_machine(MachineKind kind, const KernelFeatures& features, const MachineTask& task,
                                    const Enough& enough = {}, const FoldFeatures& without = {});
// Ridge regression of numbers, or of the codes of classes, whose scores are multiplied by the temperature that gives the
// least held-out log loss. Held-out scores are leave-one-out, in closed form. The features (samples × r) are given away
// where memory counts: they are freed as soon as they were read.
[[nodiscard]] Machine ridge_machine(Matrix phi, const MachineTask& task);
// The same with scores of the task's folds in the place of leave-one-out ones.
[[nodiscard]] Machine ridge_machine_by_folds(const KernelFeatures& features, const MachineTask& task,
                                             const FoldFeatures& without);

// The same at a given strength, on all samples: nothing is held out, `held_out` and `loss` stay empty.
[[nodiscard]] Machine class_machine_at(MachineKind kind, const KernelFeatures& features,
                                       const MachineTask& task, double ridge);
[[nodiscard]] Machine ridge_machine_at(const KernelFeatures& features, const MachineTask& task, double ridge);

// How good one kernel matrix is, by the leave-one-out loss of ridge regression at its best strength: the log loss of
// classes, or the squared error over the variance of numbers.
[[nodiscard]] double screening_loss(const Matrix& kernel, const MachineTask& task);

// Mean held-out loss of scores: log loss or squared error.
[[nodiscard]] double held_out_loss(const Matrix& scores, const MachineTask& task);

}  // namespace kloom::methods
