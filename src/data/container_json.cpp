// SPDX-License-Identifier: BSD-3-Clause
#include "data/container_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "kloom/error.h"

namespace kloom::data {
namespace {

using nlohmann::json;

constexpr int max_depth = 16;  // our own files need six
constexpr Index max_index = Index{1} << 53;

// Refuses duplicate keys and deep nesting while the library parses; it would keep the last of two equal keys.
class DuplicateGuard {
 public:
  bool operator()(int depth, json::parse_event_t event, const json& value) {
    if (depth > max_depth) throw FileError("it is nested too deeply");
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(value.get<std::string>()).second)
      throw FileError(fmt::format("it has the key {} twice", value.dump()));
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Returns false if `value` is not what encode_text makes.
bool decode_text(const json& value, std::string& out) {
  if (value.is_string()) {
    out = value.get<std::string>();
    return true;
  }
  if (!value.is_object() || value.size() != 1 || !value.contains("hex") || !value["hex"].is_string())
    return false;
  const auto digits = value["hex"].get<std::string>();
  if (digits.size() % 2 != 0) return false;
  out.clear();
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]);
    const int low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

bool decode_index(const json& value, Index& out) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(max_index))
    return false;
  out = value.get<Index>();
  return true;
}

}  // namespace

json parse_json(std::string_view text, const std::string& source, const std::string& what) {
  try {
    return json::parse(text.begin(), text.end(), DuplicateGuard{});
  } catch (const FileError& error) {
    throw FileError(fmt::format("'{}' is damaged: {}: {}.", source, what, error.what()));
  } catch (const json::exception&) {
    throw FileError(fmt::format("'{}' is damaged: {} is not valid JSON.", source, what));
  }
}

void require_flat_json(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > max_depth) throw FileError("this JSON is nested too deeply");
  }
}

bool is_utf8(const std::string& text) {
  try {
    const std::string dumped = json(text).dump();
    return !dumped.empty();
  } catch (const json::type_error&) {
    return false;
  }
}

json encode_text(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return json{{"hex", digits}};
}

json encode_texts(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const auto& text : texts) list.push_back(encode_text(text));
  return list;
}

Fields::Fields(const json& object, std::string source, std::string what)
    : object_(object), source_(std::move(source)), what_(std::move(what)) {
  if (!object_.is_object())
    throw FileError(fmt::format("'{}' is damaged: {} is not an object.", source_, what_));
}

void Fields::damaged(std::string_view key, const std::string& rule) const {
  throw FileError(fmt::format("'{}' is damaged: '{}' of {} {}.", source_, key, what_, rule));
}

const json* Fields::find(std::string_view key) {
  const auto it = object_.find(key);
  if (it == object_.end()) return nullptr;
  used_.emplace_back(key);
  return &*it;
}

const json& Fields::at(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) damaged(key, "is missing");
  return *value;
}

std::string Fields::text(std::string_view key) {
  std::string out;
  if (!decode_text(at(key), out)) damaged(key, "is not text");
  return out;
}

const json& Fields::array(std::string_view key) {
  const json& value = at(key);
  if (!value.is_array()) damaged(key, "is not a list");
  return value;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  const json& list = array(key);
  std::vector<std::string> out(list.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!decode_text(list[i], out[i])) damaged(key, fmt::format("has an entry {} that is not text", i + 1));
  return out;
}

bool Fields::flag(std::string_view key) {
  const json& value = at(key);
  if (!value.is_boolean()) damaged(key, "is neither true nor false");
  return value.get<bool>();
}

Index Fields::index(std::string_view key) {
  Index out = 0;
  if (!decode_index(at(key), out)) damaged(key, "is not a whole number of at least 0");
  return out;
}

std::vector<Index> Fields::indices(std::string_view key) {
  const json& list = array(key);
  std::vector<Index> out(list.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!decode_index(list[i], out[i])) damaged(key, fmt::format("has an entry {} that is no index", i + 1));
  return out;
}

void Fields::finish() const {
  for (const auto& [key, value] : object_.items())
    if (std::find(used_.begin(), used_.end(), key) == used_.end())
      throw FileError(
          fmt::format("'{}' holds {} in {}, which this version of kloom does not know; use a newer version.",
                      source_, json(key).dump(), what_));
}

}  // namespace kloom::data
