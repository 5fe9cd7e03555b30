// SPDX-License-Identifier: BSD-3-Clause
//
// Weighted scores of machines on single kernels in a model: predictions, and their place in the model file.
#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "kloom/error.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/lpbeta/lpbeta.h"
#include "methods/seam/calibration.h"
#include "models/scores.h"

namespace kloom {
namespace {

// Columns of the machines of these kernels, for all outputs.
std::vector<Index> machine_columns(const std::vector<Index>& chosen, Index kernels, Index outputs) {
  std::vector<Index> columns;
  for (Index c = 0; c < outputs; ++c) {
    for (const Index p : chosen) columns.push_back(p + kernels * c);
  }
  return columns;
}

}  // namespace

Predictions LpBetaPart::predict(const Model& model, const KernelBank& bank,
                                const PredictOptions& options) const {
  const Index kernels = bank.kernels();
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    const Vector weights = models::weights_of(model, c);
    Matrix own(machines.rows(), kernels);
    for (Index p = 0; p < kernels; ++p) {
      std::ranges::copy(machines.column(p + kernels * c), own.column(p).begin());
      algebra::scale(weights[at(p)], own.column(p));
    }
    Matrix added = bank.apply_each(own.view());
    std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
    for (Index p = 0; p < kernels; ++p) algebra::axpy(1.0, added.column(p), result.scores.column(c));
    if (options.contributions) result.contributions.push_back(std::move(added));
  }
  result.codes = models::codes_of(result.scores);
  if (options.probabilities && temperature > 0.0)
    result.probabilities = methods::tempered_probabilities(result.scores, temperature);
  return result;
}

std::shared_ptr<const ModelPart> LpBetaPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<LpBetaPart>(*this);
  const Index kernels = biases.rows();
  small->machines =
      models::selected(machines, needs.samples, machine_columns(needs.kernels, kernels, biases.cols()));
  small->biases = models::selected(biases, needs.kernels, models::all_of(biases.cols()));
  small->prices = models::selected(prices, needs.kernels);
  small->held_out = {};
  small->dual = {};
  small->sample_weights = {};
  return small;
}

void LpBetaPart::save(PartWriter& file) const {
  file.vector("lp_beta.nu", {nu});
  file.vector("lp_beta.prices", prices);
  file.matrix("lp_beta.machines", machines);
  file.matrix("lp_beta.biases", biases);
  file.matrix("lp_beta.held_out", held_out);
  file.matrix("lp_beta.dual", dual);
  if (!sample_weights.empty()) file.vector("lp_beta.sample_weights", sample_weights);
  if (temperature > 0.0) file.vector("lp_beta.temperature", {temperature});
  PartWriter& section = file.section("lp_beta");
  section.flag("shared", shared);
  section.flag("balanced", balanced);
}

std::string LpBetaPart::trouble(const Model& model) const {
  if (!models::has_codes(model.task)) return "LP-beta needs classes";
  const Index samples = model.coefficients.rows();
  const Index outputs = model.coefficients.cols();
  const auto kernels = std::ssize(model.kernel_names);
  if (shared != (model.weights.shape == KernelWeights::Shape::shared) && outputs > 1)
    return "the kernel weights are not shared as the method says";
  if (!(nu > 0.0 && nu <= 1.0)) return "nu is not between 0 and 1";
  if (std::ssize(prices) != kernels) return "there is not one price for each kernel";
  for (const Matrix* one : {&machines, &held_out}) {
    if (!models::is_shape(*one, samples, kernels * outputs))
      return "there is not one machine for each kernel and output";
    if (!models::all_finite(one->values())) return "a number of a machine is not finite";
  }
  if (!models::is_shape(biases, kernels, outputs)) return "the biases of the machines have the wrong shape";
  if (!models::is_shape(dual, samples, outputs)) return "the dual point has the wrong shape";
  if (!models::empty_or(sample_weights, samples)) return "the sample weights are not one for each sample";
  if (!models::all_finite(biases.values())) return "a bias of a machine is not finite";
  if (!models::all_above(prices, 0.0)) return "a price is no number above 0";
  if (!models::all_at_least(dual.values(), 0.0)) return "a share of the dual point is no number >= 0";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_lp_beta(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<LpBetaPart>();
  const Vector nu = file.vector("lp_beta.nu");
  if (nu.size() != 1) file.damaged("'lp_beta.nu' is not one number");
  part->nu = nu.front();
  part->prices = file.vector("lp_beta.prices");
  part->machines = file.matrix("lp_beta.machines");
  part->biases = file.matrix("lp_beta.biases");
  part->held_out = file.matrix("lp_beta.held_out");
  part->dual = file.matrix("lp_beta.dual");
  if (file.has("lp_beta.sample_weights")) part->sample_weights = file.vector("lp_beta.sample_weights");
  if (file.has("lp_beta.temperature")) part->temperature = load_temperature(file, "lp_beta.temperature");
  PartReader& section = file.section("lp_beta");
  part->shared = section.flag("shared");
  part->balanced = section.flag("balanced");
  return part;
}

}  // namespace methods
}  // namespace kloom
