// SPDX-License-Identifier: BSD-3-Clause
//
// The parts that kloom's methods add to their models: plain data, for those who look into a model, for the referee
// and for the methods themselves, which implement what the parts do (src/methods/NAME).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kloom/features.h"
#include "kloom/model.h"

namespace kloom {

struct GammaPrior {
  double shape = 1.0;
  double scale = 1.0;
};

// What BEMKL assumes before it sees any data [Gonen2012, section 3].
struct BemklPrior {
  double sigma_g = 1.0;  // classification: deviation of the intermediate outputs
  double margin = 1.0;   // ν
  GammaPrior lambda, gamma, omega;
  GammaPrior upsilon, epsilon;  // regression
  bool non_negative = false;    // kernel weights e ≥ 0: half-normal prior
};
enum class BemklLikelihood { probit, multinomial, gaussian };

// BEMKL's variational factors, as far as they determine the rest (docs/methods/bemkl.md).
struct BemklPosterior : ModelPart {
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
    // Mean square of the outputs of each kernel over the training samples that have it, P × M: the variance of the outputs of
    // new samples that lack it. Empty: not known (models of earlier versions).
    Matrix output_squares;
  };
  BemklLikelihood likelihood = BemklLikelihood::probit;
  BemklPrior prior;
  double temperature = 1.0;   // probabilities are p^(1/temperature), deviations of numbers are times this
  bool literal = false;       // probabilities by the published formula
  Vector sample_weights;      // empty: all 1
  Vector target_centre;       // regression: target c was learned as (y − centre_c)/scale_c, and the model's
  Vector target_scale;        // coefficients and biases are those times scale_c (plus centre_c); else empty
  std::vector<Group> groups;  // one; one-versus-all: one per class

  [[nodiscard]] bool has_probabilities() const override { return likelihood != BemklLikelihood::gaussian; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] Needs needs(const Model& model) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What margin methods add: enough for the referee to recompute primal and dual, and for probabilities.
struct MarginPart : ModelPart {
  bool regression = false;
  double norm = 1.0;  // p of ‖θ‖_p ≤ 1; 0: the kernel weights were not learned
  // Weights in groups: the group of each kernel, 0 …; empty: there are none. The weights are then bounded by
  // v Σ_g β_g + (1 − v) Σ_g β_g² = 1 with v = mix and β_g = ‖θ_g‖_p, p = group_norm, and norm is 0.
  Vector groups;
  double group_norm = 2.0;
  double mix = 1.0;
  double epsilon = 0.0;        // regression: half width of the tube, in units of target_scale
  double target_centre = 0.0;  // regression: the target was learned as (y − centre)/scale
  double target_scale = 1.0;
  double deviation =
      0.0;       // regression: of new numbers about their predictions, from held-out samples; 0: not known
  Matrix box;    // N × outputs: upper bound C_i of each dual variable
  Matrix pairs;  // one-versus-one: outputs × 2, codes of the positive and the negative class
  Matrix platt;  // outputs × 2: P(positive) = 1/(1 + exp(A·score + B)); empty: no probabilities
  // P × outputs: what each kernel has in the norm of w, as numbers that add up to 1. A sample that lacks kernels has the
  // rest of it. Empty: not known (models of earlier versions).
  Matrix norm_shares;
  Matrix margins;  // N × outputs: τ, the norm of w in the space of the sample's own kernels; empty: all 1

  [[nodiscard]] bool has_probabilities() const override { return !platt.empty(); }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  [[nodiscard]] Index scores_for(Index classes) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What margin methods add whose kernel weights a rule found before the machine was trained.
struct TwoStepPart : MarginPart {
  double lambda = 0.0;  // EasyMKL: share of ‖γ‖²; GRAM: share of the ridge; 0: another rule
  // EasyMKL, GRAM: N × outputs, distributions over the positives and over the negatives, whose means are the nearest
  // points of the classes.
  Matrix gamma;
  // GRAM: N × outputs, distributions whose means are the centres of the smallest balls, and the like of both that prove a
  // lower bound on the ratio of radius and margin; by the gap it may be lower with other weights, relative.
  Matrix ball;
  Matrix bound_gamma;
  Matrix bound_ball;
  double ratio_gap = 0.0;
  double threshold = 0.0;  // PWMK: accuracy that is worth nothing
  Matrix accuracies;       // PWMK: P × outputs, of every kernel alone
  Vector sample_weights;   // empty: all 1

  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What multiclass MKL adds: enough for the referee to recompute primal and dual, and the kernels on classes.
struct McmklPart : ModelPart {
  enum class Loss { hinge, squared_hinge, logistic };
  Loss loss = Loss::hinge;
  bool bias = true;
  Vector box;            // N: price C_i of each sample
  Matrix dual;           // N × classes: the dual point that proves the objective
  Matrix class_kernels;  // kernels L_j on classes, M × M each, side by side; empty: the identity alone
  Matrix class_weights;  // weight of L_j with kernel p, J × P; its column sums are the shared kernel weights
  double temperature = 0.0;  // T of the probabilities softmax(score/T); 0: none

  [[nodiscard]] bool has_probabilities() const override { return temperature > 0.0; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// Gates: K_p(x, x') becomes g_p(x) K_p(x, x') g_p(x'), with gates g of its own for every output.
struct Gates {
  enum class Kind { switches, softmax, sigmoid };
  struct Output {
    Matrix samples;     // N × P: gates of the training samples; switches: 0 or 1
    Matrix patterns;    // switches: the distinct rows of training samples that count, H × P
    Vector margins;     // switches: τ_i, the margin asked of sample i
    Matrix parameters;  // functions: P × (R + 1), for each kernel the slopes and the offset
    // Switches after one more update than the solution was solved for, as Algorithm 1 of [Liu2014] ends; empty: none. The
    // patterns are then theirs.
    Matrix last = {};
    // What prediction takes for the gates of the training samples.
    [[nodiscard]] const Matrix& in_prediction() const { return last.empty() ? samples : last; }
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

// What margin methods add whose kernels depend on the sample.
struct GatedPart : MarginPart {
  Gates gates;

  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] Needs needs(const Model& model) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What stochastic methods add: the problem whose minimum they look for, and where an average of several
// solutions predicts, those solutions.
struct StochasticPart : ModelPart {
  using Term = WeightedTerm;
  // Where not empty, the score is the sum of these (plus bias); the model's own weights and coefficients are
  // then the mean weights and the sum of the coefficients, for people to look at.
  std::vector<Term> terms;
  Matrix penalties;     // MKL-DA: γ_mf of each term, stacked: (terms·classes) × P
  double lambda = 0.0;  // UFO-MKL
  double alpha = 0.0;
  double norm = 0.0;         // its p
  double temperature = 0.0;  // T of the probabilities softmax(score/T); 0: none

  [[nodiscard]] bool has_probabilities() const override { return temperature > 0.0; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// Finite features in the place of training samples: the scores are weightsᵀφ(x) plus bias.
struct FeatureScores {
  FeatureMap map;
  Matrix weights;  // (P·R) × outputs
};

// A model learned from a stream, and what the learner needs to go on (stream.h).
struct StreamPart : StochasticPart {
  Vector numbers;          // options, counters, strengths and the state of the random draws
  Matrix counts;           // support vectors × classes
  Matrix births;           // support vectors × 1: samples learned when each came
  Matrix squares;          // squared norms that are kept up to date: MKL-DAO literal M × P, UFO-MKL 1 × P
  Matrix inverse_lambda;   // M × P
  Matrix segments;         // first support vector and number of classes of each segment
  Matrix segment_weights;  // of each segment and class, stacked: P kernel weights and their scale
  Matrix theta;            // with finite features: sums of the features of violating samples, (P·R) × classes
  std::optional<FeatureScores> features;  // the scores come from these

  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  [[nodiscard]] bool reads_samples() const override { return features.has_value(); }
  [[nodiscard]] Predictions predict_samples(const Model& model, const Dataset& samples,
                                            const PredictOptions& options,
                                            const Context& context) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What a kernel machine makes small: half the squared error of numbers or of the classes' codes, the log loss of classes, or
// half the squared hinge of every class against the others.
enum class MachineKind { ridge, logistic, margin };

// What kernel machines on weighted sums of kernels add (auto): scores are a sum of solutions, each on kernel
// weights of its own; classes have probabilities softmax(scores), or the sigmoid of a single score.
struct BlendPart : ModelPart {
  // One solution as it stands before it is blended: its scores are multiplied by `factor` and then by `share`.
  struct Solution {
    MachineKind kind = MachineKind::ridge;
    double ridge = 0.0;  // λ, for kernels divided by their mean diagonal
    double factor = 1.0;
    double share = 1.0;
    Vector bias;  // of every output, before factor and share
  };
  std::vector<WeightedTerm> terms;  // factors and shares included; the model's bias is the sum of all biases
  std::vector<Solution> solutions;  // one per term
  double centre = 0.0;              // regression: the target was learned as (y − centre)/scale
  double scale = 1.0;
  double deviation = 0.0;  // regression: 90 % of the errors on held-out samples are within 1.645 of these
  bool classes = true;     // else regression
  // Mean diagonal of each kernel over the samples that have it: the share s of a term's kernels that a sample has is
  // weighed by them, and kernels are divided by √(s_i s_j). Empty: not known (models of earlier versions).
  Vector sizes;

  [[nodiscard]] bool has_probabilities() const override { return classes; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What VBpMKL adds: the factors of its posterior that determine the others (docs/methods/vbpmkl.md), samples × classes.
// Two classes have two of each, though the model has the one score that is their difference.
struct VbpmklPart : ModelPart {
  double tau = 0.0;      // shape and
  double upsilon = 0.0;  // rate of the prior of every precision
  bool literal = false;  // kernel weights by importance sampling: no stationary point of the bound
  Matrix precision;      // E[1/ζ]
  Matrix location;       // means of the normals that q(y) cuts off
  Matrix means;          // of the coefficients
  // V of every score (of two classes the sum of both), samples × samples; empty: left out (--no-variance).
  std::vector<Matrix> covariance;

  [[nodiscard]] bool has_probabilities() const override { return true; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] Needs needs(const Model& model) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What Gaussian processes add (gp-mkl): the rest of their covariance Σ_p w_p K_p + w_0 11ᵀ, the noise of numbers, and
// what the variance of a prediction needs.
struct GpPart : ModelPart {
  bool regression = false;
  double constant = 0.0;  // w_0
  double noise = 0.0;     // σ², regression
  double penalty = 0.0;   // rate of the exponential prior of every w_p times the mean diagonal of K_p
  // Regression: the target was learned as (y − centre)/scale; coefficients and bias are in its units.
  double centre = 0.0;
  double scale = 1.0;
  double temperature = 1.0;             // probabilities are p^(1/temperature), normalised
  std::vector<Index> evidence_samples;  // on which the weights have the greatest evidence, ascending
  std::vector<Index> variance_samples;  // on which variances are conditioned, ascending
  // Per output, among the variance samples: (K + σ² I)⁻¹, or (K + W⁻¹)⁻¹ of Laplace's W.
  std::vector<Matrix> precision;
  Vector self;  // k_p(x, x): the mean diagonal of each kernel

  [[nodiscard]] bool has_probabilities() const override { return !regression; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] Needs needs(const Model& model) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What multiple-kernel ridge regression adds: every target has kernel weights and a strength of its own.
struct RidgePart : ModelPart {
  Matrix points;          // kernel weights that were tried, one to a row
  Vector grid;            // strengths that were tried
  Vector strengths;       // of every target
  Vector losses;          // of every target: weighted mean of squared leave-one-out errors
  Vector sample_weights;  // empty: all 1
  // Where samples lack kernels: mean diagonal of each kernel over those that have it, for shares as in BlendPart.
  Vector sizes;
  bool refined = false;  // weights and strengths went on from the best ones that were tried
  // Weights in groups, as in MarginPart: the group of each kernel; empty: they are on the simplex, and not learned so.
  Vector groups;
  double group_norm = 2.0;
  double mix = 1.0;

  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What spike-and-slab regression adds (mtmkl): a random function for each kernel, which the outputs share, and weights that
// are 0 or not. In units of the outputs' deviations; output q is bias_q + scale_q Σ_m s_qm w_qm φ_m (docs/methods/mtmkl.md).
struct MtmklPart : ModelPart {
  Matrix inclusion;     // P(s = 1), outputs × kernels
  Matrix location;      // of w where s = 1: mean
  Matrix variance;      // and variance
  Matrix functions;     // E φ_m(x) = Σ_n functions_nm k_m(x, x_n), samples × kernels
  Vector sizes;         // d: φ_m has the covariance k_m/d_m before any data
  Vector noise;         // variance of each output's noise
  Vector scale;         // of each output
  double spread = 1.0;  // variance of w before any data
  double share = 0.5;   // P(s = 1) before any data
  double least_noise = 1e-6;
  bool variances = true;
  // The variance of φ_m(x) is 1 − ‖F_mᵀ k_m(x)‖²; empty where it is taken to be 1: of kernels that hardly matter, and of all
  // without `variances`.
  std::vector<Matrix> factors;

  // E[s w] and E[s w²].
  [[nodiscard]] double mean_weight(Index output, Index kernel) const;
  [[nodiscard]] double mean_square(Index output, Index kernel) const;
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] Needs needs(const Model& model) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What weighted scores of support vector machines on single kernels add (lp-beta).
struct LpBetaPart : ModelPart {
  bool shared = true;  // LP-β; else LP-B, weights for every class
  double nu = 0.0;     // ν of the linear programme
  Vector prices;       // C of the machines on each kernel
  // Machines, where a kernel has weight: coefficients of kernel p for output c are column p + P·c, biases P × outputs.
  Matrix machines;
  Matrix biases;
  // What the weights were found from, laid out as `machines`: scores of machines that have not seen the sample.
  Matrix held_out;
  Matrix dual;               // distribution over samples and rivals that proves the weights, N × outputs
  bool balanced = false;     // the machines' classes have the same total weight
  Vector sample_weights;     // empty: all 1
  double temperature = 0.0;  // T of the probabilities softmax(score/T); 0: none

  [[nodiscard]] bool has_probabilities() const override { return temperature > 0.0; }
  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  [[nodiscard]] std::shared_ptr<const ModelPart> restricted(const Needs& needs) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

// What machines on a product of kernels add (gmkl): the kernel is Π_p k_p^γ_p, γ the model's kernel weights, which all
// outputs share; MarginPart's norm is 0, and there are no shares of it.
struct ProductPart : MarginPart {
  double lambda = 1.0;   // strength of the regulariser of γ:
  bool squared = false;  // λ Σ γ_p, or ½ λ Σ γ_p²

  [[nodiscard]] Predictions predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const override;
  void save(PartWriter& file) const override;
  [[nodiscard]] std::string trouble(const Model& model) const override;
};

}  // namespace kloom
