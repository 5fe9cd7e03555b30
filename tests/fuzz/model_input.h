// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for model files: a container (container_input.h), or 'D' and the JSON document of a model
// whose numbers are given here.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/container_input.h"
#include "kloom/error.h"
#include "kloom/model.h"
#include "models/model_file.h"

namespace kloom::fuzz {

// Three samples, two kernels, two features, one score.
inline std::string model_with_document(std::string_view document) {
  data::ContainerPlan plan{std::string(models::model_format), std::string(models::model_version)};
  std::string bytes;
  const auto append = [&](const void* values, std::size_t size) {
    bytes.append(static_cast<const char*>(values), size);
  };
  const auto reals = [&](const char* name, std::vector<Index> shape) {
    plan.add(name, data::Dtype::f64, std::move(shape));
    const Vector values((plan.data_bytes() - bytes.size()) / sizeof(double), 1.0);
    append(values.data(), values.size() * sizeof(double));
  };
  const auto indices = [&](const char* name, const std::vector<Index>& values) {
    plan.add(name, data::Dtype::i64, {static_cast<Index>(values.size())});
    append(values.data(), values.size() * sizeof(Index));
  };
  reals("weights", {1, 2});
  reals("coefficients", {3, 1});
  reals("bias", {1});
  reals("bemkl", {9});
  reals("bemkl.lambda", {3});
  reals("bemkl.omega", {2});
  reals("bemkl.f_location", {3});
  reals("bemkl.be_covariance", {3, 3});
  reals("bemkl.a_covariance", {6});
  reals("recipe.columns", {6});
  reals("recipe.terms", {8});
  indices("recipe.terms.feature_counts", {2, 1});
  indices("recipe.terms.features", {0, 1, 0});
  indices("recipe.terms.mean_counts", {0, 3});
  reals("recipe.terms.means", {3});
  reals("recipe.basis", {3, 2});
  plan.add("document", data::Dtype::u8, {static_cast<Index>(document.size())});
  bytes.append(document);
  bytes.append(
      (bytes.size() + data::layout::block_bytes - 1) / data::layout::block_bytes * sizeof(std::int64_t), '\0');
  return plan.header() + bytes;
}

// Returns true if the input is a model. Throws nothing but what a damaged file may throw (FileError is caught).
inline bool read_model_input(std::string_view input) {
  const bool document = input.starts_with('D');
  try {
    const data::Container file = open_container(
        document ? model_with_document(input.substr(1)) : as_container(input), models::model_format);
    const Model model = models::read_model(file);
    // What was accepted can be saved again.
    if (!models::model_trouble(model).empty()) __builtin_trap();
    (void)model_file_bytes(model);
    return true;
  } catch (const FileError&) {
    return false;
  }
}

}  // namespace kloom::fuzz
