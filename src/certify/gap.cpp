// SPDX-License-Identifier: BSD-3-Clause
#include "certify/gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/number.h"

namespace kloom::certify_detail {
namespace {

// Nobody would call a larger gap than this a proof, whatever the method was asked for.
constexpr double kLargestProof = 1e-2;
// Primal and dual are sums of rounded numbers; a dual that is above the primal by more than this is no bound.
constexpr double kRounding = 1e-9;

// The option "tolerance" of the model's method; a method without one is held to the largest.
double asked_tolerance(const Model& model) {
  const auto options = nlohmann::json::parse(model.options_json, nullptr, false);
  if (!options.is_object() || !options.contains("tolerance") || !options.at("tolerance").is_string())
    return kLargestProof;
  const data::CellValue asked = data::read_cell(options.at("tolerance").get<std::string>());
  return asked.kind == data::CellKind::number && asked.value > 0.0 ? std::min(asked.value, kLargestProof)
                                                                   : kLargestProof;
}

}  // namespace

double worse(double a, double b) {
  return b <= a ? a : b > a ? b : std::nan("");
}

void judge_gap(const Model& model, double gap, const std::string& nothing, Certificate& certificate) {
  certificate.tolerance = asked_tolerance(model);
  certificate.proof = gap <= certificate.tolerance && gap >= -kRounding;
  if (certificate.proof || (gap > 0.0 && gap < 1.0)) {
    certificate.verdict = fmt::format("{} can have an objective more than {:.1e} (relative) below this model's.",
                                      nothing, std::max(0.0, gap));
  } else if (gap >= 1.0) {
    certificate.verdict = "The lower bound on the best objective is not above 0, so it says little.";
  } else {
    certificate.verdict =
        "The lower bound is above the objective, so it is none: are the kernels positive semidefinite?";
  }
  if (!certificate.proof && gap > 0.0)
    certificate.verdict +=
        fmt::format(" Optimality is not proved: that takes a gap of at most {:.1e}.", certificate.tolerance);
}

bool single_precision(std::string_view bank_kind) {
  return bank_kind.find("dense32") != std::string_view::npos;
}

double coarseness(const KernelBank& bank) {
  return single_precision(bank.kind()) ? 1e4 : 1.0;
}

}  // namespace kloom::certify_detail
