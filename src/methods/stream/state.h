// SPDX-License-Identifier: BSD-3-Clause
//
// What a learner from a stream knows between two samples, and how it is kept in a model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/functions/sample_store.h"
#include "kloom/bank.h"
#include "kloom/parts.h"
#include "kloom/stream.h"
#include "methods/stochastic/augmentation.h"
#include "solvers/draws.h"

namespace kloom::methods {

// Support vectors that came under the same kernel weights. One output per class, also for two classes, so that
// a third one can come.
struct Segment {
  Index first = 0;  // its first support vector; it ends where the next segment begins
  Matrix weights;   // P × classes, each column sums to 1
  Vector scales;    // per class
  std::unique_ptr<Combination> kernel;
};

struct StreamState {
  StreamState(Recipe recipe, const StreamOptions& options, std::uint64_t seed);
  explicit StreamState(const Model& checkpoint);

  [[nodiscard]] Index outputs() const { return static_cast<Index>(classes.size()); }
  [[nodiscard]] Index support() const { return counts.empty() ? 0 : static_cast<Index>(counts.front().size()); }
  // t of the gradient steps: samples that the support vectors stand for.
  [[nodiscard]] Index steps() const { return samples - origin; }
  [[nodiscard]] bool ufo() const { return options.method == "ufo-mkl"; }
  // The counts of support vectors [begin, end), classes [0, outputs).
  [[nodiscard]] Matrix counts_of(Range range, Index outputs) const;
  // A segment from now on, with the present penalties; the last one goes if it has no support vectors.
  void begin_segment();
  void add_class(const std::string& name);
  // ‖θ_mf‖², M × P.
  [[nodiscard]] Matrix theta_squares() const;
  [[nodiscard]] Range range_of(std::size_t segment) const;
  [[nodiscard]] Model model() const;

  StreamOptions options;
  Recipe recipe;                                // its basis has no samples
  std::unique_ptr<kernels::SampleStore> store;  // support vectors first
  std::vector<std::string> classes;
  std::vector<Vector> counts;  // per class, one per support vector
  std::vector<Index> births;   // `samples` when each support vector came
  std::vector<Segment> segments;
  Augmentation augmentation;
  solvers::Draws draws;
  double penalty_samples = 1.0;   // n of γ = (α + β²/λ)/n
  Matrix squares;                 // literal: t²‖w_mf‖², M × P; UFO-MKL: ‖θ_f‖², 1 × P
  std::optional<FeatureMap> map;  // finite features in the place of support vectors
  FeatureError map_error;
  std::vector<Vector> theta;  // with them: per class, the sum of the features of violating samples
  Index booked = 0;           // literal: support vectors already counted in `squares`
  Index samples = 0;
  Index origin = 0;  // samples before this one are forgotten: the budget has dropped their support vectors
  Index right = 0;
  Index lines = 0;

 private:
  void write_ufo(Model& model, Index scores) const;
  void write_binary(Model& model, StreamPart& part) const;
  void write_classes(Model& model, StreamPart& part) const;
  void fit_map(std::uint64_t seed);
  [[nodiscard]] FeatureScores feature_scores(Index scores) const;
  void restore_map(const StreamPart& part);
  [[nodiscard]] StreamPart state_part() const;
  void restore_numbers(const StreamPart& part);
  void check_checkpoint() const;
  void restore_support(const StreamPart& part, const Model& checkpoint);
  void restore_segments(const StreamPart& part);
};

}  // namespace kloom::methods
