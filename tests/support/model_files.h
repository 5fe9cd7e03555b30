// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold for the file of every model, whatever its method.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kloom/bank.h"
#include "kloom/error.h"
#include "kloom/model.h"
#include "support/files.h"

namespace kloom::testing {

// Why `model` cannot be saved; "accepted" if it can. A refused model must leave no file behind.
inline std::string refusal_of(const Model& model) {
  const TemporaryFolder folder;
  try {
    save_model(model, folder.file("m.kloom"));
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(folder.entries(), 0U);
    return error.what();
  }
  return "accepted";
}

// Written and read, a model says the same to the last bit.
inline void expect_same_when_loaded(const Model& model, const KernelBank& bank) {
  const Model loaded = model_from_bytes(model_bytes(model));
  PredictOptions options;
  options.contributions = true;
  const Predictions before = predict(model, bank, options, {});
  const Predictions after = predict(loaded, bank, options, {});
  EXPECT_EQ(before.scores, after.scores);
  EXPECT_EQ(before.probabilities, after.probabilities);
  EXPECT_EQ(before.contributions, after.contributions);
  EXPECT_EQ(model_bytes(loaded), model_bytes(model));
}

// Every byte of a model file is under a checksum. `same(a, b)`: the models are equal in every field.
template <typename Same>
void expect_damage_is_refused(const Model& model, Same same) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.kloom");
  save_model(model, path);
  const auto count = damage_everywhere(read_bytes(path), path, load_model,
                                       [&](const Model& loaded) { return same(loaded, model); });
  EXPECT_GT(count.tried, 0U);
  EXPECT_EQ(count.refused, count.tried);
}

}  // namespace kloom::testing
