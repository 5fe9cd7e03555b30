// SPDX-License-Identifier: BSD-3-Clause
//
// Strict JSON for model and bank files: what the JSON library lets pass silently (duplicate keys, deep nesting,
// numbers of the wrong kind, keys that nobody reads) is refused here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::data {

// Throws FileError naming `source` and `what` for anything but one JSON value without duplicate keys.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& source,
                                        const std::string& what);

// Throws FileError if the text is nested more deeply than files of kloom are; says nothing about other mistakes. For
// those who parse it in another way.
void require_flat_json(std::string_view text);

// Any bytes as a JSON value: a string if they are UTF-8, else {"hex": "…"}.
[[nodiscard]] nlohmann::json encode_text(const std::string& text);
[[nodiscard]] nlohmann::json encode_texts(const std::vector<std::string>& texts);
[[nodiscard]] bool is_utf8(const std::string& text);

// A JSON object whose every key must be read once: `finish` refuses the others.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string source, std::string what);

  [[nodiscard]] const nlohmann::json& at(std::string_view key);
  [[nodiscard]] const nlohmann::json* find(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] const nlohmann::json& array(std::string_view key);
  [[nodiscard]] bool flag(std::string_view key);
  [[nodiscard]] Index index(std::string_view key);  // 0 … 2^53
  [[nodiscard]] std::vector<Index> indices(std::string_view key);
  void finish() const;

  [[nodiscard]] const std::string& source() const { return source_; }
  [[noreturn]] void damaged(std::string_view key, const std::string& rule) const;

 private:
  const nlohmann::json& object_;
  std::string source_;
  std::string what_;
  std::vector<std::string> used_;
};

}  // namespace kloom::data
