// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/certify.h"

#include <fmt/format.h>

#include <cmath>

#include "algebra/threads.h"
#include "certify/promise.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/recipe.h"
#include "models/model_file.h"

namespace kloom {
namespace {

std::string place(const Dataset& data, Index row) {
  const auto i = static_cast<std::size_t>(row);
  return i < data.lines.size() ? fmt::format("line {}", data.lines[i]) : fmt::format("sample {}", row + 1);
}

// Refutes a certificate with items that are not finite or above their limits.
void apply_limits(Certificate& certificate) {
  for (const auto& item : certificate.items) {
    if (!std::isfinite(item.value)) {
      certificate.refutations.push_back(fmt::format("the {} is no finite number", item.name));
    } else if (item.value > item.limit) {
      certificate.refutations.push_back(fmt::format("the {} is {:.6g} ({}), and at most {:.2g} is right",
                                                    item.name, item.value, item.meaning, item.limit));
    }
  }
}

void conclude(Certificate& certificate) {
  if (!certificate.refutations.empty()) {
    certificate.proof = false;
    certificate.verdict =
        fmt::format("Something is wrong with this model: {}.", certificate.refutations.front());
  }
  certificate.finding = !certificate.refutations.empty() ? Certificate::Finding::refuted
                        : certificate.proof              ? Certificate::Finding::proved
                                                         : Certificate::Finding::checked;
}

}  // namespace

void require_training_samples(const Model& model, const Dataset& raw) {
  const Dataset& basis = model.recipe->basis;
  if (raw.samples != basis.samples) {
    throw InvalidArgument(
        fmt::format("{} has {} samples, the model was trained on {}; check needs the training data", raw.source,
                    raw.samples, basis.samples));
  }
  const Dataset data = model.recipe->preprocessing.apply(raw);
  // Compared after standardisation, so features are of size 1. The same file gives the same bits; the same
  // numbers written differently may differ in their last ones.
  constexpr double kSame = 1e-9;
  for (Index j = 0; j < basis.features.cols(); ++j) {
    for (Index i = 0; i < basis.samples; ++i) {
      const double difference = std::abs(data.features(i, j) - basis.features(i, j));
      if (difference <= kSame * std::max(1.0, std::abs(basis.features(i, j)))) continue;
      throw InvalidArgument(
          fmt::format("{}, {}: feature '{}' differs from the data that the model was trained on; check "
                      "needs the training data",
                      raw.source, place(raw, i), basis.feature_info[static_cast<std::size_t>(j)].name));
    }
  }
}

Certificate certify(const KernelBank& bank, const Targets& targets, const Model& model,
                    const Context& context) {
  const Index n = model.coefficients.rows();
  if (!bank.symmetric() || bank.rows() != n || targets.samples() != n) {
    throw InvalidArgument(
        fmt::format("the model was trained on {} samples; its certificate needs the same samples again, but {} "
                    "kernel rows and {} labels were given",
                    n, bank.rows(), targets.samples()));
  }
  if (bank.kernels() != static_cast<Index>(model.kernel_names.size())) {
    throw InvalidArgument(
        fmt::format("the model has {} kernels, the data give {}", model.kernel_names.size(), bank.kernels()));
  }
  if (targets.classes != model.classes) {
    throw InvalidArgument("the classes of the data are not those that the model was trained on");
  }
  const Learner* learner = learner_of_model(model.method);
  if (learner == nullptr || !learner->certify) throw InternalError("no referee knows method " + model.method);
  Certificate certificate;
  const std::string trouble = models::model_trouble(model);
  if (trouble.empty()) {
    const algebra::ThreadScope threads(context);
    certificate = learner->certify(bank, targets, model, context);
    apply_limits(certificate);
    certify_detail::compare_with_promise(bank, model, context, certificate);
  } else {
    certificate.refutations.push_back(trouble);
  }
  conclude(certificate);
  return certificate;
}

}  // namespace kloom
