// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "kloom/error.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/kernel_machine/part.h"
#include "models/scores.h"
#include "solvers/linear_classifier.h"

namespace kloom {

Predictions BlendPart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  if (!bank.presence().complete() && sizes.empty())
    throw InvalidArgument(
        "the model was made by a version of kloom that did "
        "not know samples without some views; train it again");
  Predictions result = models::sum_of_terms(model, bank, terms, options, sizes);
  if (!models::has_codes(model.task)) {
    if (options.probabilities) result.deviation = Matrix(bank.rows(), 1, deviation);
    return result;
  }
  result.codes = models::codes_of(result.scores);
  if (options.probabilities) result.probabilities = solvers::softmax_probabilities(result.scores);
  return result;
}

std::shared_ptr<const ModelPart> BlendPart::restricted(const Needs& needs) const {
  auto small = std::make_shared<BlendPart>(*this);
  small->terms = models::restricted_terms(terms, needs);
  if (!sizes.empty()) small->sizes = models::selected(sizes, needs.kernels);
  return small;
}

void BlendPart::save(PartWriter& file) const {
  file.vector("blend", {deviation, centre, scale});
  if (!sizes.empty()) file.vector("blend.sizes", sizes);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    file.matrix(fmt::format("blend.weights.{}", i), terms[i].weights);
    file.matrix(fmt::format("blend.coefficients.{}", i), terms[i].coefficients);
    const Solution& one = solutions[i];
    file.vector(fmt::format("blend.solution.{}", i),
                {static_cast<double>(static_cast<int>(one.kind)), one.ridge, one.factor, one.share});
    file.vector(fmt::format("blend.bias.{}", i), one.bias);
  }
  PartWriter& section = file.section("blend");
  section.count("terms", std::ssize(terms));
  section.flag("classes", classes);
}

std::string BlendPart::trouble(const Model& model) const {
  if (terms.empty()) return "the blend has no solution";
  if (classes != models::has_codes(model.task)) return "the blend is for another task";
  if (solutions.size() != terms.size()) return "the blend does not describe every solution";
  for (const Solution& one : solutions) {
    if (std::ssize(one.bias) != model.coefficients.cols())
      return "the biases of a solution have the wrong length";
    const Vector positive = {one.ridge, one.factor};
    if (!models::all_above(positive, 0.0) || !models::all_at_least({&one.share, 1}, 0.0))
      return "a solution of the blend has a strength, factor or share that is no number above 0";
    if (!models::all_finite(one.bias)) return "a bias of a solution is no finite number";
  }
  if (!models::empty_or(sizes, std::ssize(model.kernel_names)))
    return "the sizes of the kernels are not one for each";
  if (!models::all_at_least(sizes, 0.0)) return "the size of a kernel is no number >= 0";
  if (!models::all_above({&scale, 1}, 0.0)) return "the scale of the target is not positive";
  if (!models::all_finite({&centre, 1})) return "the centre of the target is no finite number";
  if (!models::all_at_least({&deviation, 1}, 0.0)) return "the deviation of the blend is no number >= 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return models::terms_trouble(terms, model);
}

namespace methods {

std::shared_ptr<const ModelPart> load_blend(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<BlendPart>();
  const Vector numbers = file.vector("blend");
  if (numbers.size() != 3) file.damaged("'blend' does not have three numbers");
  part->deviation = numbers[0];
  part->centre = numbers[1];
  part->scale = numbers[2];
  if (file.has("blend.sizes")) part->sizes = file.vector("blend.sizes");
  PartReader& section = file.section("blend");
  part->classes = section.flag("classes");
  const Index terms = section.count("terms");
  for (Index i = 0; i < terms; ++i) {
    part->terms.push_back({file.matrix(fmt::format("blend.weights.{}", i)),
                           file.matrix(fmt::format("blend.coefficients.{}", i))});
    const Vector one = file.vector(fmt::format("blend.solution.{}", i));
    if (one.size() != 4) file.damaged("a solution of the blend does not have four numbers");
    if (one[0] != 0.0 && one[0] != 1.0 && one[0] != 2.0)
      file.damaged("a solution of the blend is of an unknown kind");
    part->solutions.push_back({static_cast<MachineKind>(static_cast<int>(one[0])), one[1], one[2], one[3],
                               file.vector(fmt::format("blend.bias.{}", i))});
  }
  return part;
}

}  // namespace methods
}  // namespace kloom
