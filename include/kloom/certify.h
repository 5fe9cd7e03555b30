// SPDX-License-Identifier: BSD-3-Clause
//
// The referee. It recomputes what can be checked about a model from the model, a symmetric bank over the
// training samples and their targets, and shares no code with learners or solvers. Where the model keeps the report of
// its training, it also compares what it finds with what training promised there.
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/model.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom {

[[nodiscard]] Certificate certify(const KernelBank& bank, const Targets& targets, const Model& model,
                                  const Context& context);

// By which a model's predictions of its training samples are known again.
[[nodiscard]] TrainingSums training_sums(const Predictions& predictions);

// A certificate is about the training samples: other data would silently certify something else. Throws
// InvalidArgument naming the sample and feature in which raw samples differ from those of the model's recipe.
void require_training_samples(const Model& model, const Dataset& raw);

}  // namespace kloom
