// SPDX-License-Identifier: BSD-3-Clause
//
// Learning from a stream: samples come one after another, each is predicted first and then learned, and only
// the support vectors are kept.
//
//   mkl-dao   MKL-DA online (Algorithm 2 of Nguyen et al. 2016). Every `dt_update` samples the penalties, and with
//             them the kernel weights, are drawn anew.
//             Re-based (default): all support vectors then use the new kernel weights.
//             literal: every support vector keeps the kernel weights that held when it was added.
//   ufo-mkl   UFO-MKL online: one pass of its mirror descent.
//
// The two forms of mkl-dao are different learners; docs/methods/mkl-da.md says why.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/features.h"
#include "kloom/model.h"
#include "kloom/recipe.h"

namespace kloom {

struct StreamOptions {
  std::string method = "mkl-dao";  // or "ufo-mkl"
  bool literal = false;            // mkl-dao
  Index dt_update = 200;           // mkl-dao: samples between two draws of the penalties
  Index budget = 0;                // at most so many support vectors, the oldest are dropped; 0: no limit
  double kappa = 1.0, theta = 1.0, mu = 1.0, sigma = 1.0;  // mkl-dao: priors
  double lambda = 0.0, alpha = 0.0;                        // ufo-mkl; lambda 0: 1/(10 t) after t samples
  std::string approx = "none";            // "rff", "nystroem": finite features, no support vectors (features.h)
  Index features = 32;                    // of them, per kernel
  std::vector<std::string> classes = {};  // known beforehand, in this order; others may still come
};

class StreamLearner {
 public:
  // `recipe`: preprocessing and kernels, fitted on the first samples; its own samples are not used. Throws
  // InvalidArgument for options that break a rule and kernels that cannot be streamed.
  StreamLearner(Recipe recipe, const StreamOptions& options, const Context& context);
  // Goes on where a checkpoint ended. Throws FileError if the model holds no checkpoint.
  StreamLearner(const Model& checkpoint, const Context& context);
  ~StreamLearner();
  StreamLearner(StreamLearner&&) noexcept;
  StreamLearner& operator=(StreamLearner&&) noexcept;

  // Predicts and learns the samples in their order. A sample with an empty label is predicted only; a
  // label that was never seen becomes a class. Returns the predicted class of each sample, "" before
  // there was any class.
  std::vector<std::string> learn(const Dataset& samples);

  [[nodiscard]] Index samples() const;  // learned so far
  [[nodiscard]] Index right() const;    // of them predicted right before they were learned
  [[nodiscard]] Index support_vectors() const;
  [[nodiscard]] Index lines() const;  // samples read so far, with and without label
  [[nodiscard]] const std::vector<std::string>& classes() const;
  // What it was made with; after a checkpoint, what the checkpoint was made with.
  [[nodiscard]] const StreamOptions& options() const;
  [[nodiscard]] const Recipe& recipe() const;
  // How far the finite features are from the kernels, on the first samples; 0 without them.
  [[nodiscard]] FeatureError approximation_error() const;
  // A model for `predict` that is also a checkpoint: save it with save_model. Throws InvalidArgument while
  // there are fewer than two classes.
  [[nodiscard]] Model model() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Samples from text that comes in pieces of whole lines: CSV with a header as its first line, or svmlight.
class StreamReader {
 public:
  enum class Format { automatic, csv, svmlight };
  StreamReader(Format format, std::string target);

  // Is this line, the first of the input, the header of a table?
  [[nodiscard]] bool is_header(std::string_view first_line) const;
  // Throws InvalidArgument with line and value. The header is taken from the first piece.
  [[nodiscard]] Dataset read(std::string_view whole_lines, const Context& context);
  // Lines of the input that were left out; they count in messages.
  void pass_over(Index lines) { lines_ += lines; }
  [[nodiscard]] Index lines() const { return lines_; }

 private:
  Format format_;
  std::string target_;
  std::vector<std::string> names_;
  char delimiter_ = ',';
  Index lines_ = 0;
};

}  // namespace kloom
