// SPDX-License-Identifier: BSD-3-Clause
//
// Preprocessing and what was decided about columns, as parts of a model file. What plain columns of numbers do not
// need is not written: such files are the same as before there were other columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/container.h"
#include "data/container_json.h"
#include "kloom/recipe.h"

namespace kloom::kernels {

[[nodiscard]] nlohmann::json encode_features(const std::vector<Feature>& features);
[[nodiscard]] std::vector<Feature> decode_features(const nlohmann::json& list, const std::string& source);
[[nodiscard]] nlohmann::json encode_views(const std::vector<View>& views);
[[nodiscard]] std::vector<View> decode_views(const nlohmann::json& list, const std::string& source,
                                             Index samples = 0);

[[nodiscard]] nlohmann::json save_preprocessing(const Preprocessing& preprocessing,
                                                data::SectionList& sections);
[[nodiscard]] Preprocessing load_preprocessing(const nlohmann::json& document, data::TensorReader& tensors);

// The decisions that the preprocessing does not tell by itself, with their places; the list may be empty.
[[nodiscard]] nlohmann::json save_decisions(const Recipe& recipe);
// `list` may be null: then every column is plain.
[[nodiscard]] std::vector<ColumnDecision> load_decisions(const nlohmann::json* list,
                                                         const Preprocessing& preprocessing,
                                                         const std::string& source);

// One list of lists as lengths and entries, back to back.
template <typename T>
struct Packed {
  std::vector<Index> lengths;
  std::vector<T> entries;
  void add(const std::vector<T>& list) {
    lengths.push_back(static_cast<Index>(list.size()));
    entries.insert(entries.end(), list.begin(), list.end());
  }
};

template <typename T>
std::vector<std::vector<T>> unpack(const std::vector<Index>& lengths, const std::vector<T>& entries,
                                   std::size_t lists, const data::Container& file, const char* what) {
  if (lengths.size() != lists) file.damaged("'" + std::string(what) + "' does not have one length per kernel");
  std::vector<std::vector<T>> out;
  std::span<const T> rest(entries);
  for (const Index n : lengths) {
    if (n < 0 || static_cast<std::size_t>(n) > rest.size())
      file.damaged("'" + std::string(what) + "' has an impossible length");
    const auto part = rest.first(static_cast<std::size_t>(n));
    out.emplace_back(part.begin(), part.end());
    rest = rest.subspan(static_cast<std::size_t>(n));
  }
  if (!rest.empty()) file.damaged("'" + std::string(what) + "' has entries left over");
  return out;
}

}  // namespace kloom::kernels
