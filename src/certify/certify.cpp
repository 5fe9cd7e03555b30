// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/certify.h"

#include <fmt/format.h>

#include "algebra/threads.h"
#include "certify/bemkl.h"
#include "certify/gated.h"
#include "certify/margin.h"
#include "certify/mcmkl.h"
#include "certify/stochastic.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom {

Certificate certify(const KernelBank& bank, const Targets& targets, const Model& model,
                    const Context& context) {
  const Index n = model.coefficients.rows();
  if (!bank.symmetric() || bank.rows() != n || targets.samples() != n) {
    throw InvalidArgument(
        fmt::format("the model was trained on {} samples; its certificate needs the same samples again, but {} "
                    "kernel rows and {} labels "
                    "were given",
                    n, bank.rows(), targets.samples()));
  }
  if (bank.kernels() != static_cast<Index>(model.kernel_names.size())) {
    throw InvalidArgument(
        fmt::format("the model has {} kernels, the data give {}", model.kernel_names.size(), bank.kernels()));
  }
  if (targets.classes != model.classes) {
    throw InvalidArgument("the classes of the data are not those that the model was trained on");
  }
  const algebra::ThreadScope threads(context);
  if (model.gate) return certify_detail::certify_gated(bank, targets, model);
  if (model.margin) return certify_detail::certify_margin(bank, targets, model);
  if (model.mcmkl) return certify_detail::certify_mcmkl(bank, targets, model);
  if (model.stochastic)
    return certify_detail::certify_stochastic(bank, targets, model, memory_budget(context) / 4);
  if (model.bemkl) return certify_detail::certify_bemkl(bank, targets, model);
  throw InternalError("no referee knows method " + model.method);
}

}  // namespace kloom
