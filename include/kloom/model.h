// SPDX-License-Identifier: BSD-3-Clause
//
// What training leaves behind: an immutable value that can be saved, loaded and asked.
//
// Every method of kloom predicts from sums over kernels and training samples,
//
//     score_c(x) = Σ_p w_cp Σ_n A_nc k_p(x, x_n) + b_c,
//
// so a Model is kernel weights w, coefficients A and biases b, plus the part of its method (a posterior, kernels
// on classes, gates), plus the recipe that makes kernel rows of new samples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/matrix.h"
#include "kloom/recipe.h"
#include "kloom/targets.h"

namespace kloom {

// One type for the three shapes of kernel weights: shared (1 × P), per class (M × P), per sample (N × P).
struct KernelWeights {
  enum class Shape { shared, per_class, per_sample };
  Shape shape = Shape::shared;
  Matrix values;
  Matrix deviation;  // posterior standard deviation where the method has one, else empty
};

// One of several solutions whose scores add up: kernel weights (1 × P, or outputs × P) and coefficients (N × outputs).
struct WeightedTerm {
  Matrix weights;
  Matrix coefficients;
};

struct Model;
struct Needs;
struct Predictions;
struct PredictOptions;
class PartWriter;

// What a method adds to weights, coefficients and biases, and what it does with them. A model holds one part, its
// method's own; nobody else switches over methods. The parts of kloom's methods are in parts.h.
class ModelPart {
 public:
  ModelPart() = default;
  ModelPart(const ModelPart&) = default;
  ModelPart& operator=(const ModelPart&) = default;
  virtual ~ModelPart() = default;

  // Scores, and as far as asked and available probabilities, deviations, classes and contributions, of the rows of
  // `bank`. The bank has at least one row and the shape that the model needs.
  [[nodiscard]] virtual Predictions predict(const Model& model, const KernelBank& bank,
                                            const PredictOptions& options) const = 0;
  // Kernels and samples that prediction reads. The default is what has a weight and what has a coefficient.
  [[nodiscard]] virtual Needs needs(const Model& model) const;
  // The part of the model that keeps only these kernels and samples and predicts the same; null: this part itself.
  [[nodiscard]] virtual std::shared_ptr<const ModelPart> restricted(const Needs& needs) const;
  // Models that look at raw samples themselves, without a bank, override both.
  [[nodiscard]] virtual bool reads_samples() const { return false; }
  [[nodiscard]] virtual Predictions predict_samples(const Model& model, const Dataset& samples,
                                                    const PredictOptions& options,
                                                    const Context& context) const;
  // Writes all that `Learner::load` reads back.
  virtual void save(PartWriter& file) const = 0;
  // The first rule that this part breaks beside the rest of the model, as the end of a sentence; empty: none.
  [[nodiscard]] virtual std::string trouble(const Model& model) const;
  // `predict` gives probabilities of classes.
  [[nodiscard]] virtual bool has_probabilities() const { return false; }
  // Scores for so many classes; pairwise methods have more scores than classes.
  [[nodiscard]] virtual Index scores_for(Index classes) const { return classes; }
};

struct Model {
  std::string method;
  Task task = Task::binary;
  std::vector<std::string> classes;
  std::string target_name;
  std::string options_json;  // effective options of the method
  std::string report_json;   // the training report
  std::vector<std::string> kernel_names;
  KernelWeights weights;
  Matrix coefficients;                    // N × M
  Vector bias;                            // M
  std::shared_ptr<const ModelPart> part;  // of the method; copies of a model share it
  std::optional<Recipe> recipe;           // absent: the caller supplies banks
};

// The part as the type that the caller knows it to be; null if it is another one.
template <typename Part>
[[nodiscard]] const Part* find_part(const Model& model) {
  return dynamic_cast<const Part*>(model.part.get());
}
// The same; throws std::bad_cast.
template <typename Part>
[[nodiscard]] const Part& part_of(const Model& model) {
  return dynamic_cast<const Part&>(*model.part);
}
// A copy of the part that belongs to this model alone, to be changed.
template <typename Part>
[[nodiscard]] Part& edit_part(Model& model) {
  auto own = std::make_shared<Part>(part_of<Part>(model));
  Part& part = *own;
  model.part = std::move(own);
  return part;
}

// What prediction has to look at: kernels with a weight and training samples with a coefficient. A posterior
// needs all of both; centred and precomputed kernels need all samples.
struct Needs {
  std::vector<Index> kernels;
  std::vector<Index> samples;
};
[[nodiscard]] Needs needs(const Model& model);

struct PredictOptions {
  bool contributions = false;  // how much each kernel added to each score
  bool probabilities = true;
  bool contribution_deviations =
      false;  // and how sure that is, where the method knows; takes a pass per kernel
};

struct Predictions {
  Matrix scores;                      // s × M (M = 1 for binary)
  Matrix probabilities;               // s × classes; empty if the method has none
  Matrix deviation;                   // s × M: standard deviation of the score; empty if the method has none
  std::vector<int> codes;             // class of each sample (classification)
  std::vector<Matrix> contributions;  // per output: s × P, rows sum to score − bias
  std::vector<Matrix> contribution_deviations;  // per output: s × P; empty if not asked or the method has none
  Matrix views;  // s × views of the recipe: 1 where the sample has the view, else 0; empty: all have all
};

// `bank`: rows are the samples to predict, columns the model's training samples, kernels the model's.
[[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank, const PredictOptions& options,
                                  const Context& context);
// Through the model's own recipe, in blocks of rows that fit the memory budget.
[[nodiscard]] Predictions predict(const Model& model, const Dataset& samples, const PredictOptions& options,
                                  const Context& context);

// Bytes that the model's file will have.
[[nodiscard]] std::size_t model_file_bytes(const Model& model);
// Writes to a temporary name and renames, so the path holds either the old file or the whole new one.
void save_model(const Model& model, const std::string& path);
// Every field is checked; a truncated or altered file throws FileError with a sentence.
[[nodiscard]] Model load_model(const std::string& path);

// The same file as bytes in memory, for those who keep models somewhere else.
[[nodiscard]] std::string model_bytes(const Model& model);
[[nodiscard]] Model model_from_bytes(std::string bytes);

}  // namespace kloom
