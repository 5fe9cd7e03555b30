// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/predictive.h"

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "base/normal.h"
#include "kloom/error.h"
#include "models/scores.h"
#include "solvers/multinomial_probit.h"

namespace kloom::methods {

using algebra::Op;

namespace {

// Where the posterior of one output is: its group, and its place in it.
struct Place {
  const BemklPosterior::Group& group;
  Index in_group;
};

Place place_of(const Model& model, Index output) {
  const auto& groups = part_of<BemklPosterior>(model).groups;
  if (model.weights.shape != KernelWeights::Shape::per_class) return {groups.front(), output};
  return {groups[at(output)], 0};
}

// [1 ḡᵀ] Σ_(b,e) [1; ḡ] for every row, for the bias of this output.
void add_weight_variance(const Matrix& outputs, double scale, const Place& place, Vector& variance) {
  const Index p = outputs.cols();
  const auto biases = static_cast<Index>(place.group.gamma.size());
  Matrix covariance(p + 1, p + 1);
  const auto from = [&](Index k) { return k == 0 ? place.in_group : biases + k - 1; };
  for (Index j = 0; j <= p; ++j) {
    for (Index i = 0; i <= p; ++i) covariance(i, j) = place.group.be_covariance(from(i), from(j));
  }
  Matrix extended(outputs.rows(), p + 1, 1.0);  // [1 ḡ]
  for (Index m = 0; m < p; ++m) {
    for (Index i = 0; i < outputs.rows(); ++i) extended(i, m + 1) = outputs(i, m) / scale;
  }
  Matrix spread(outputs.rows(), p + 1);
  algebra::gemm(Op::none, Op::none, 1.0, extended.view(), covariance.view(), 0.0, spread.view());
  for (Index m = 0; m <= p; ++m) {
    for (Index i = 0; i < outputs.rows(); ++i) variance[at(i)] += extended(i, m) * spread(i, m);
  }
}

// k_eᵀ Σ_a k_e for every row.
void add_sample_weight_variance(const Matrix& a_covariance, const Vector& weights, const KernelBank& bank,
                                Vector& variance) {
  constexpr Index kBlock = 512;  // rows at a time, because their spread is as large as they are
  const Matrix combined = bank.combine(weights);  // N × rows
  for (Index begin = 0; begin < combined.cols(); begin += kBlock) {
    const Range rows{begin, std::min(combined.cols(), begin + kBlock)};
    Matrix spread(combined.rows(), rows.size());
    algebra::gemm(Op::none, Op::none, 1.0, a_covariance.view(), combined.columns(rows), 0.0, spread.view());
    for (Index i = rows.begin; i < rows.end; ++i)
      variance[at(i)] += algebra::dot(combined.column(i), spread.column(i - begin));
  }
}

// The variance of g_m where a row lacks kernel m.
double absent_variance(const Place& place, Index m) {
  if (place.group.output_squares.empty())
    throw InvalidArgument(
        "the model is of a version of kloom that did not note what outputs of its kernels are like; it predicts "
        "samples that have all views: train it again");
  return place.group.output_squares(m, place.in_group);
}

// That in place of 1/υ.
void add_absent_variance(const Place& place, const Vector& weights, const Matrix& presence, Vector& variance) {
  const auto biases = static_cast<Index>(place.group.gamma.size());
  for (Index m = 0; m < presence.cols(); ++m) {
    const double moment = weights[at(m)] * weights[at(m)] + place.group.be_covariance(biases + m, biases + m);
    const double more = absent_variance(place, m) - 1.0 / place.group.upsilon[at(place.in_group)];
    for (Index i = 0; i < presence.rows(); ++i) {
      if (!(presence(i, m) > 0.0)) variance[at(i)] += moment * more;
    }
  }
}

// Chances to the power 1/temperature, with the sum 1.
void soften(Vector& chances, double temperature) {
  double sum = 0.0;
  for (double& chance : chances)
    sum += chance = temperature == 1.0 ? chance : std::pow(chance, 1.0 / temperature);
  for (double& chance : chances) chance /= sum;
}

// What one unit of the fit's own scores and deviations is in those of the predictions.
double width_of(const BemklPosterior& posterior, double scale) {
  return posterior.likelihood == BemklLikelihood::gaussian ? scale * posterior.temperature : scale;
}

double scale_of(const BemklPosterior& posterior, Index output) {
  return posterior.target_scale.empty() ? 1.0 : posterior.target_scale[at(output)];
}

}  // namespace

Vector bemkl_variance(const Model& model, const KernelBank& bank, const Matrix& outputs, Index output) {
  const BemklPosterior& posterior = part_of<BemklPosterior>(model);
  const Place place = place_of(model, output);
  const auto c = at(place.in_group);
  const double scale = scale_of(posterior, output);
  Vector variance(at(outputs.rows()), 1.0 / place.group.epsilon[c]);
  add_weight_variance(outputs, scale, place, variance);
  if (!posterior.literal) {
    const Vector weights = models::weights_of(model, output);
    double second_moment = algebra::dot(weights, weights);  // ‖μ_e‖² + tr Σ_e
    const auto biases = static_cast<Index>(place.group.gamma.size());
    for (Index m = 0; m < outputs.cols(); ++m)
      second_moment += place.group.be_covariance(biases + m, biases + m);
    for (double& v : variance) v += second_moment / place.group.upsilon[c];
    add_absent_variance(place, weights, bank.presence().rows, variance);
    if (!place.group.a_covariance.empty())
      add_sample_weight_variance(place.group.a_covariance[c], weights, bank, variance);
  }
  const double width = width_of(posterior, scale);
  for (double& v : variance) v *= width * width;
  return variance;
}

Matrix bemkl_contribution_deviation(const Model& model, const KernelBank& bank, const Matrix& outputs,
                                    Index output) {
  const BemklPosterior& posterior = part_of<BemklPosterior>(model);
  const Place place = place_of(model, output);
  const auto c = at(place.in_group);
  const double scale = scale_of(posterior, output);
  const double width = width_of(posterior, scale);
  const Vector weights = models::weights_of(model, output);
  const auto biases = static_cast<Index>(place.group.gamma.size());
  Matrix result(outputs.rows(), outputs.cols());
  for (Index m = 0; m < outputs.cols(); ++m) {
    Vector variance(at(outputs.rows()), 1.0 / place.group.upsilon[c]);  // of g_m
    if (!place.group.a_covariance.empty()) {
      Vector alone(weights.size());
      alone[at(m)] = 1.0;
      add_sample_weight_variance(place.group.a_covariance[c], alone, bank, variance);
    }
    const Matrix& presence = bank.presence().rows;
    for (Index i = 0; i < presence.rows(); ++i) {
      if (!(presence(i, m) > 0.0)) variance[at(i)] = absent_variance(place, m);
    }
    const double e = weights[at(m)];
    const double e_variance = place.group.be_covariance(biases + m, biases + m);
    for (Index i = 0; i < outputs.rows(); ++i) {
      const double g = outputs(i, m) / scale;
      result(i, m) = width * std::sqrt(e * e * variance[at(i)] + e_variance * (g * g + variance[at(i)]));
    }
  }
  return result;
}

double bemkl_probability(double mean, double variance, const BemklPosterior& posterior) {
  const double scale = posterior.literal ? variance : std::sqrt(variance);
  const double positive = log_normal_cdf((mean - posterior.prior.margin) / scale);
  const double negative = log_normal_cdf((-mean - posterior.prior.margin) / scale);
  return 1.0 / (1.0 + std::exp(negative - positive));
}

Matrix bemkl_probabilities(const Model& model, const Matrix& scores, const Matrix& deviation) {
  const BemklPosterior& posterior = part_of<BemklPosterior>(model);
  const Index rows = scores.rows();
  const Index outputs = scores.cols();
  const auto probability = [&](Index i, Index c, double sign) {
    return bemkl_probability(sign * scores(i, c), deviation(i, c) * deviation(i, c), posterior);
  };
  Matrix result(rows, model.task == Task::binary ? 2 : outputs);
  Vector chances(2);
  for (Index i = 0; i < rows; ++i) {
    if (model.task == Task::binary || model.task == Task::multilabel) {
      for (Index c = 0; c < outputs; ++c) {
        chances = {probability(i, c, 1.0), probability(i, c, -1.0)};
        soften(chances, posterior.temperature);
        if (model.task == Task::binary) result(i, 0) = chances[1];
        result(i, model.task == Task::binary ? 1 : c) = chances[0];
      }
      continue;
    }
    Vector location(at(outputs));
    Vector spread(location.size());
    chances.resize(location.size());
    for (std::size_t c = 0; c < location.size(); ++c) {
      location[c] = scores(i, static_cast<Index>(c));
      spread[c] = deviation(i, static_cast<Index>(c));
      chances[c] = probability(i, static_cast<Index>(c), 1.0);
    }
    if (posterior.likelihood == BemklLikelihood::multinomial)
      solvers::largest_probabilities(location, spread, chances);
    soften(chances, posterior.temperature);
    for (std::size_t c = 0; c < location.size(); ++c) result(i, static_cast<Index>(c)) = chances[c];
  }
  return result;
}

}  // namespace kloom::methods
