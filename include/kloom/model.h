// SPDX-License-Identifier: BSD-3-Clause
//
// What training leaves behind: an immutable value that can be saved, loaded and asked.
//
// Every method of kloom predicts from sums over kernels and training samples,
//
//     score_c(x) = Σ_p w_cp Σ_n A_nc k_p(x, x_n) + b_c,
//
// so a Model is kernel weights w, coefficients A and biases b, plus what only some methods have (a posterior,
// kernels on classes, gates), plus the recipe that makes kernel rows of new samples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/features.h"
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

// BEMKL's variational factors, as far as they determine the rest (docs/methods/bemkl.md).
struct BemklPosterior {
  enum class Likelihood { probit, multinomial, gaussian };
  // One joint fit of M outputs that share kernel weights.
  struct Group {
    Matrix lambda;                     // E[λ], N × M
    Vector omega;                      // E[ω], P
    Vector gamma;                      // E[γ], M
    Vector upsilon;                    // E[υ], M: precision of the kernels' outputs
    Vector epsilon;                    // E[ε], M: precision of f
    Matrix be_covariance;              // Σ_(b,e), (M+P) × (M+P), biases first
    std::vector<Matrix> a_covariance;  // Σ_a of each output, N × N; empty if left out (--no-variance)
    Matrix f_location;                 // μ of the last q(f) update, N × M; empty in regression
    Vector e_location, e_precision;    // non-negative weights: the normals that were cut off at 0; else empty
  };
  Likelihood likelihood = Likelihood::probit;
  double sigma_g = 1.0;
  double margin = 1.0;
  double alpha_lambda = 1.0, beta_lambda = 1.0;  // gamma priors: shape, scale
  double alpha_gamma = 1.0, beta_gamma = 1.0;
  double alpha_omega = 1.0, beta_omega = 1.0;
  double alpha_upsilon = 1.0, beta_upsilon = 1.0;
  double alpha_epsilon = 1.0, beta_epsilon = 1.0;
  double temperature = 1.0;   // probabilities are p^(1/temperature), deviations of numbers are times this
  bool literal = false;       // probabilities by the published formula
  Vector sample_weights;      // empty: all 1
  Vector target_centre;       // regression: target c was learned as (y − centre_c)/scale_c, and the model's
  Vector target_scale;        // coefficients and biases are those times scale_c (plus centre_c); else empty
  std::vector<Group> groups;  // one; one-versus-all: one per class
};

// What margin methods add: enough for the referee to recompute primal and dual, and for probabilities.
struct MarginPart {
  bool regression = false;
  double norm = 1.0;           // p of ‖θ‖_p ≤ 1; 0: the kernel weights were not learned
  double epsilon = 0.0;        // regression: half width of the tube, in units of target_scale
  double target_centre = 0.0;  // regression: the target was learned as (y − centre)/scale
  double target_scale = 1.0;
  Matrix box;    // N × outputs: upper bound C_i of each dual variable
  Matrix pairs;  // one-versus-one: outputs × 2, codes of the positive and the negative class
  Matrix platt;  // outputs × 2: P(positive) = 1/(1 + exp(A·score + B)); empty: no probabilities
};

// What multiclass MKL adds: enough for the referee to recompute primal and dual, and the kernels on classes.
struct McmklPart {
  enum class Loss { hinge, squared_hinge, logistic };
  Loss loss = Loss::hinge;
  bool bias = true;
  Vector box;            // N: price C_i of each sample
  Matrix dual;           // N × classes: the dual point that proves the objective
  Matrix class_kernels;  // kernels L_j on classes, M × M each, side by side; empty: the identity alone
  Matrix class_weights;  // weight of L_j with kernel p, J × P; its column sums are the shared kernel weights
};

// What methods add whose kernels depend on the sample: K_p(x, x') becomes g_p(x) K_p(x, x') g_p(x'), with gates
// g of its own for every output.
struct GatePart {
  enum class Kind { switches, softmax, sigmoid };
  struct Output {
    Matrix samples;     // N × P: gates of the training samples; switches: 0 or 1
    Matrix patterns;    // switches: the distinct rows of training samples that count, H × P
    Vector margins;     // switches: τ_i, the margin asked of sample i
    Matrix parameters;  // functions: P × (R + 1), for each kernel the slopes and the offset
  };
  Kind kind = Kind::switches;
  std::vector<Output> outputs;
  Vector start;          // switches: h⁰, P
  double changes = 0.0;  // switches: m₀
  // Functions see z(x) = projectionᵀ k(x) + offset, k(x) = Σ_p space_p [k_p(x, x_n)]_n.
  Vector space;       // P
  Matrix projection;  // N × R
  Vector offset;      // R
};

// What stochastic methods add: the problem whose minimum they look for, and where an average of several
// solutions predicts, those solutions.
struct StochasticPart {
  // One solution: kernel weights (1 × P, or outputs × P) and coefficients (N × outputs).
  struct Term {
    Matrix weights;
    Matrix coefficients;
  };
  // Where not empty, the score is the sum of these (plus bias); the model's own weights and coefficients are
  // then the mean weights and the sum of the coefficients, for people to look at.
  std::vector<Term> terms;
  Matrix penalties;     // MKL-DA: γ_mf of each term, stacked: (terms·classes) × P
  double lambda = 0.0;  // UFO-MKL
  double alpha = 0.0;
  double norm = 0.0;  // its p
};

// What a learner from a stream needs to go on (stream.h); the rest of the model predicts without it.
struct StreamPart {
  Vector numbers;         // options, counters, strengths and the state of the random draws
  Matrix counts;          // support vectors × classes
  Matrix births;          // support vectors × 1: samples learned when each came
  Matrix squares;         // squared norms that are kept up to date: MKL-DAO literal M × P, UFO-MKL 1 × P
  Matrix inverse_lambda;  // M × P
  Matrix segments;        // first support vector and number of classes of each segment
  Matrix weights;         // of each segment and class, stacked: P kernel weights and their scale
  Matrix theta;           // with finite features: sums of the features of violating samples, (P·R) × classes
};

// Finite features in the place of training samples: the scores are weightsᵀφ(x) plus bias.
struct FeaturePart {
  FeatureMap map;
  Matrix weights;  // (P·R) × outputs
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
  Matrix coefficients;  // N × M
  Vector bias;          // M
  std::optional<BemklPosterior> bemkl;
  std::optional<MarginPart> margin;
  std::optional<McmklPart> mcmkl;
  std::optional<GatePart> gate;
  std::optional<StochasticPart> stochastic;
  std::optional<StreamPart> stream;
  std::optional<FeaturePart> features;
  std::optional<Recipe> recipe;  // absent: the caller supplies banks
};

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
};

struct Predictions {
  Matrix scores;                      // s × M (M = 1 for binary)
  Matrix probabilities;               // s × classes; empty if the method has none
  Matrix deviation;                   // s × M: standard deviation of the score; empty if the method has none
  std::vector<int> codes;             // class of each sample (classification)
  std::vector<Matrix> contributions;  // per output: s × P, rows sum to score − bias
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
