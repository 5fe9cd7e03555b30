// SPDX-License-Identifier: BSD-3-Clause
//
// The two sides of part_file.h over the container and its JSON document.
#pragma once

#include <list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/container.h"
#include "data/container_json.h"
#include "kloom/part_file.h"

namespace kloom::models {

class SectionWriter : public PartWriter {
 public:
  // `document` and `sections` must outlive the writer and everything that it hands out.
  SectionWriter(nlohmann::json& document, data::SectionList& sections)
      : document_(document), sections_(sections) {}

  void flag(std::string_view key, bool value) override;
  void count(std::string_view key, Index value) override;
  void text(std::string_view key, const std::string& value) override;
  PartWriter& section(std::string_view key) override;
  PartWriter& item(std::string_view key) override;
  void vector(const std::string& name, Vector values) override;
  void matrix(const std::string& name, const Matrix& values) override;
  void triangle(const std::string& name, const Matrix& symmetric) override;
  void bytes(const std::string& name, std::string values) override;

 private:
  nlohmann::json& document_;
  data::SectionList& sections_;
  std::list<SectionWriter> inner_;
};

class SectionReader : public PartReader {
 public:
  // `what` is the section's name in messages.
  SectionReader(const nlohmann::json& document, data::TensorReader& tensors, const std::string& what)
      : fields_(document, tensors.container().source(), what), tensors_(tensors) {}

  [[nodiscard]] bool flag(std::string_view key) override { return fields_.flag(key); }
  [[nodiscard]] Index count(std::string_view key) override { return fields_.index(key); }
  [[nodiscard]] std::string text(std::string_view key) override { return fields_.text(key); }
  [[nodiscard]] bool has_section(std::string_view key) override { return fields_.find(key) != nullptr; }
  [[nodiscard]] PartReader& section(std::string_view key) override;
  [[nodiscard]] std::vector<PartReader*> items(std::string_view key) override;
  [[nodiscard]] bool has(const std::string& name) const override { return tensors_.has(name); }
  [[nodiscard]] Vector vector(const std::string& name) override { return tensors_.vector(name); }
  [[nodiscard]] Matrix matrix(const std::string& name) override { return tensors_.matrix(name); }
  [[nodiscard]] Matrix triangle(const std::string& name, Index size) override;
  [[nodiscard]] std::string bytes(const std::string& name) override { return tensors_.text(name); }
  [[noreturn]] void damaged(const std::string& what) const override { tensors_.container().damaged(what); }

  [[nodiscard]] data::Fields& fields() { return fields_; }
  // Throws FileError for keys that nobody asked for, here and in every section inside.
  void finish() const;

 private:
  data::Fields fields_;
  data::TensorReader& tensors_;
  std::list<SectionReader> inner_;
};

}  // namespace kloom::models
