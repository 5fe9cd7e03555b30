// SPDX-License-Identifier: BSD-3-Clause
#include "models/part_sections.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace kloom::models {

using nlohmann::json;

void SectionWriter::flag(std::string_view key, bool value) {
  document_[std::string(key)] = value;
}

void SectionWriter::count(std::string_view key, Index value) {
  document_[std::string(key)] = value;
}

void SectionWriter::text(std::string_view key, const std::string& value) {
  document_[std::string(key)] = data::encode_text(value);
}

PartWriter& SectionWriter::section(std::string_view key) {
  json& inside = document_[std::string(key)];
  if (inside.is_null()) inside = json::object();
  return inner_.emplace_back(inside, sections_);
}

// A list of the document moves its items when it grows, so an item is written before the next one is asked for.
PartWriter& SectionWriter::item(std::string_view key) {
  json& list = document_[std::string(key)];
  if (list.is_null()) list = json::array();
  list.push_back(json::object());
  return inner_.emplace_back(list.back(), sections_);
}

void SectionWriter::vector(const std::string& name, Vector values) {
  sections_.vector(name, std::move(values));
}

void SectionWriter::matrix(const std::string& name, const Matrix& values) {
  sections_.matrix(name, values);
}

void SectionWriter::triangle(const std::string& name, const Matrix& symmetric) {
  const Index n = symmetric.rows();
  sections_.add(name, data::Dtype::f64, {n * (n + 1) / 2}, [&symmetric](data::ContainerWriter& writer) {
    Vector row;
    for (Index i = 0; i < symmetric.rows(); ++i) {
      row.clear();
      for (Index j = 0; j <= i; ++j) row.push_back(symmetric(i, j));
      writer.write(row);
    }
  });
}

void SectionWriter::bytes(const std::string& name, std::string values) {
  sections_.text(name, std::move(values));
}

PartReader& SectionReader::section(std::string_view key) {
  return inner_.emplace_back(fields_.at(key), tensors_, fmt::format("the section '{}'", key));
}

std::vector<PartReader*> SectionReader::items(std::string_view key) {
  std::vector<PartReader*> readers;
  for (const json& one : fields_.array(key))
    readers.push_back(&inner_.emplace_back(one, tensors_, fmt::format("an item of '{}'", key)));
  return readers;
}

Matrix SectionReader::triangle(const std::string& name, Index size) {
  const Vector packed = tensors_.vector(name);
  std::size_t expected = 0;
  if (__builtin_mul_overflow(at(size), at(size) + 1, &expected) || packed.size() != expected / 2)
    damaged(fmt::format("'{}' is not the triangle of an {} × {} matrix", name, size, size));
  Matrix out(size, size);
  std::size_t next = 0;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j <= i; ++j) out(i, j) = out(j, i) = packed[next++];
  return out;
}

void SectionReader::finish() const {
  for (const SectionReader& reader : inner_) reader.finish();
  fields_.finish();
}

}  // namespace kloom::models
