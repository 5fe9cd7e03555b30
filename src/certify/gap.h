// SPDX-License-Identifier: BSD-3-Clause
//
// When a duality gap is a proof, and what it proves.
#pragma once

#include <string>

#include "kloom/bank.h"
#include "kloom/model.h"
#include "kloom/report.h"

namespace kloom::certify_detail {

// The larger of two, or the one that is no number: std::max would drop it.
[[nodiscard]] double worse(double a, double b);

// Proof, verdict and tolerance of a certificate whose dual point is feasible: `nothing` ("No coefficients") has an
// objective further below the model's than `gap`. It is a proof if the gap is within the tolerance that training was
// asked for, and within 1 % in any case.
void judge_gap(const Model& model, double gap, const std::string& nothing, Certificate& certificate);

// Entries as they are computed, or rounded to single precision, which moves whatever is computed from them.
[[nodiscard]] bool single_precision(std::string_view bank_kind);
// By which limits are larger that depend on the bank's entries.
[[nodiscard]] double coarseness(const KernelBank& bank);

}  // namespace kloom::certify_detail
