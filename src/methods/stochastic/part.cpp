// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stochastic/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "methods/seam/calibration.h"
#include "models/scores.h"

namespace kloom {
namespace {

using algebra::Op;
using models::is_shape;

// The matrices of a stream's state by name.
template <typename Part>
auto stream_matrices(Part& part) {
  return std::array<std::pair<const char*, decltype(&part.counts)>, 7>{
      {{"stream.counts", &part.counts},
       {"stream.births", &part.births},
       {"stream.squares", &part.squares},
       {"stream.inverse_lambda", &part.inverse_lambda},
       {"stream.segments", &part.segments},
       {"stream.weights", &part.segment_weights},
       {"stream.theta", &part.theta}}};
}

// Scores and contributions of some samples from their finite features.
Predictions features_scores(const Model& model, const FeatureScores& part, const Matrix& features,
                            const PredictOptions& options) {
  const Index outputs = part.weights.cols();
  const Index count = part.map.count();
  const auto kernels = std::ssize(model.kernel_names);
  Predictions result;
  result.scores = Matrix(features.cols(), outputs);
  for (Index k = 0; k < outputs; ++k) std::ranges::fill(result.scores.column(k), model.bias[at(k)]);
  algebra::gemm(Op::transpose, Op::none, 1.0, features.view(), part.weights.view(), 1.0, result.scores.view());
  for (Index k = 0; k < outputs && options.contributions; ++k) {
    Matrix contributions(features.cols(), kernels);
    for (Index p = 0; p < kernels; ++p) {
      const ConstMatrixView z{features.data() + p * count, count, features.cols(), features.rows()};
      const auto weights = part.weights.column(k).subspan(at(p * count), at(count));
      algebra::gemv(Op::transpose, 1.0, z, weights, 0.0, contributions.column(p));
    }
    result.contributions.push_back(std::move(contributions));
  }
  result.codes = models::codes_of(result.scores);
  return result;
}

// Samples that lack kernels: what they have is scaled to the kernels with weight, as in training to all of them.
void scale_present(const Model& model, const KernelBank& bank, Predictions& result) {
  if (bank.presence().complete()) return;
  Vector in_use(at(bank.kernels()));
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (const double weight : model.weights.values.column(p))
      in_use[at(p)] = weight != 0.0 ? 1.0 : in_use[at(p)];
  }
  const Vector scales = models::present_scales(bank.presence().rows, in_use, in_use);
  const auto scale_rows = [&](Matrix& matrix) {
    for (Index k = 0; k < matrix.size(); ++k) matrix.data()[k] *= scales[at(k % matrix.rows())];
  };
  scale_rows(result.scores);
  for (Matrix& contributions : result.contributions) scale_rows(contributions);
}

void save_features(const FeatureScores& part, PartWriter& file) {
  file.matrix("features.basis", part.map.basis);
  file.matrix("features.weights", part.weights);
  if (part.map.kind == FeatureMap::Kind::rff) {
    file.vector("features.phases", part.map.phases);
  } else {
    file.matrix("features.whitening", part.map.whitening);
  }
  file.section("features").flag("nystroem", part.map.kind == FeatureMap::Kind::nystroem);
}

FeatureScores load_features(PartReader& file) {
  FeatureScores part;
  part.map.kind =
      file.section("features").flag("nystroem") ? FeatureMap::Kind::nystroem : FeatureMap::Kind::rff;
  part.map.basis = file.matrix("features.basis");
  part.weights = file.matrix("features.weights");
  if (part.map.kind == FeatureMap::Kind::rff) {
    part.map.phases = file.vector("features.phases");
  } else {
    part.map.whitening = file.matrix("features.whitening");
  }
  return part;
}

std::string features_trouble(const FeatureScores& part, const Model& model) {
  const Index count = part.map.count();
  const auto kernels = std::ssize(model.kernel_names);
  if (!model.recipe) return "it has features but no recipe that makes them";
  if (count < 1 || part.map.basis.cols() != model.recipe->basis.features.cols())
    return "the basis of its features has the wrong shape";
  if (!is_shape(part.weights, kernels * count, model.coefficients.cols()))
    return "the weights of its features have the wrong shape";
  const bool rff = part.map.kind == FeatureMap::Kind::rff;
  if (rff && std::ssize(part.map.phases) != count) return "there is not one phase for each feature";
  if (!rff && !is_shape(part.map.whitening, kernels * count, count)) return "its whitening has the wrong shape";
  if (!models::all_finite(part.map.basis.values()) || !models::all_finite(part.weights.values()) ||
      !models::all_finite(part.map.phases) || !models::all_finite(part.map.whitening.values()))
    return "its features have a number that is not finite";
  return {};
}

}  // namespace

Predictions StochasticPart::predict(const Model& model, const KernelBank& bank,
                                    const PredictOptions& options) const {
  const Term whole{model.weights.values, model.coefficients};
  Predictions result = models::sum_of_terms(
      model, bank, terms.empty() ? std::span(&whole, 1) : std::span<const Term>(terms), options);
  scale_present(model, bank, result);
  if (!model.classes.empty()) result.codes = models::codes_of(result.scores);
  if (options.probabilities && temperature > 0.0)
    result.probabilities = methods::tempered_probabilities(result.scores, temperature);
  return result;
}

std::shared_ptr<const ModelPart> StochasticPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<StochasticPart>();
  small->lambda = lambda;
  small->alpha = alpha;
  small->norm = norm;
  small->temperature = temperature;
  small->terms = models::restricted_terms(terms, needs);
  return small;
}

void StochasticPart::save(PartWriter& file) const {
  file.vector("stochastic", {lambda, alpha, norm});
  if (!penalties.empty()) file.matrix("stochastic.penalties", penalties);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    file.matrix(fmt::format("stochastic.weights.{}", i), terms[i].weights);
    file.matrix(fmt::format("stochastic.coefficients.{}", i), terms[i].coefficients);
  }
  if (temperature != 0.0) file.vector("stochastic.temperature", {temperature});
  file.section("stochastic").count("terms", std::ssize(terms));
}

std::string StochasticPart::trouble(const Model& model) const {
  const auto kernels = std::ssize(model.kernel_names);
  const Index outputs = model.coefficients.cols();
  std::string found = models::terms_trouble(terms, model);
  if (!found.empty()) return found;
  if (!(temperature >= 0.0 && std::isfinite(temperature)))
    return "the temperature of the probabilities is no number >= 0";
  const Index classes = outputs == 1 ? 2 : outputs;
  if (!penalties.empty() && !is_shape(penalties, std::ssize(terms) * classes, kernels))
    return "the penalties have the wrong shape";
  if (!models::all_above(penalties.values(), 0.0)) return "a penalty is no number above 0";
  for (const double strength : {lambda, alpha, norm}) {
    if (!(strength >= 0.0 && std::isfinite(strength))) return "a strength of the method is no number >= 0";
  }
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return {};
}

Predictions StreamPart::predict(const Model& model, const KernelBank& bank,
                                const PredictOptions& options) const {
  return StochasticPart::predict(model, bank, options);
}

std::shared_ptr<const ModelPart> StreamPart::restricted(const Needs& needs) const {
  return StochasticPart::restricted(needs);
}

void StreamPart::save(PartWriter& file) const {
  StochasticPart::save(file);
  file.vector("stream", numbers);
  for (const auto& [name, matrix] : stream_matrices(*this))
    if (!matrix->empty()) file.matrix(name, *matrix);
  (void)file.section("stream");
  if (features) save_features(*features, file);
}

std::string StreamPart::trouble(const Model& model) const {
  std::string found = StochasticPart::trouble(model);
  if (found.empty() && features) found = features_trouble(*features, model);
  if (!found.empty()) return found;
  bool finite = models::all_finite(numbers);
  for (const auto& [name, matrix] : stream_matrices(*this))
    finite = finite && models::all_finite(matrix->values());
  return finite ? "" : "the state of the stream has a number that is not finite";
}

Predictions StreamPart::predict_samples(const Model& model, const Dataset& samples,
                                        const PredictOptions& options, const Context& context) const {
  constexpr Index kRows = 256;
  const algebra::ThreadScope threads(context);
  const Dataset data = model.recipe->preprocessing.apply(samples);
  Predictions result;
  ProgressMeter meter(context, "predict");
  for (Index start = 0; start < data.samples; start += kRows) {
    const Range rows{start, std::min(data.samples, start + kRows)};
    const Matrix made = features_of(features->map, model.recipe->terms, data.features, rows);
    models::append(result, features_scores(model, *features, made, options), rows, data.samples);
    if (meter.step(rows.end, data.samples, std::numeric_limits<double>::quiet_NaN()))
      throw Interrupted("stopped while samples were being predicted");
  }
  return result;
}

namespace methods {

void load_stochastic_part(PartReader& file, StochasticPart& part) {
  const Vector values = file.vector("stochastic");
  if (values.size() != 3) file.damaged("'stochastic' does not have three numbers");
  part.lambda = values[0];
  part.alpha = values[1];
  part.norm = values[2];
  if (file.has("stochastic.penalties")) part.penalties = file.matrix("stochastic.penalties");
  if (file.has("stochastic.temperature")) part.temperature = load_temperature(file, "stochastic.temperature");
  const Index terms = file.section("stochastic").count("terms");
  for (Index i = 0; i < terms; ++i) {
    part.terms.push_back({file.matrix(fmt::format("stochastic.weights.{}", i)),
                          file.matrix(fmt::format("stochastic.coefficients.{}", i))});
  }
}

std::shared_ptr<const ModelPart> load_stochastic(PartReader& file, const Model& /*model*/) {
  if (!file.has_section("stream")) {
    auto plain = std::make_shared<StochasticPart>();
    load_stochastic_part(file, *plain);
    return plain;
  }
  auto part = std::make_shared<StreamPart>();
  load_stochastic_part(file, *part);
  (void)file.section("stream");
  part->numbers = file.vector("stream");
  for (const auto& [name, matrix] : stream_matrices(*part))
    if (file.has(name)) *matrix = file.matrix(name);
  if (file.has_section("features")) part->features = load_features(file);
  return part;
}

}  // namespace methods
}  // namespace kloom
