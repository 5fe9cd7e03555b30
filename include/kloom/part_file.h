// SPDX-License-Identifier: BSD-3-Clause
//
// How a part goes into a model file and comes back: words and counts in sections of the file's document,
// numbers in named arrays. A reader must ask for everything that the file holds; what nobody asked for makes
// the file one that this kloom does not understand, and it is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom {

class PartWriter {
 public:
  virtual ~PartWriter() = default;
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // Words and counts of this section.
  virtual void flag(std::string_view key, bool value) = 0;
  virtual void count(std::string_view key, Index value) = 0;
  virtual void text(std::string_view key, const std::string& value) = 0;
  // A section inside this one, and one more item of a list of sections: an item is written before the
  // next one is asked for.
  virtual PartWriter& section(std::string_view key) = 0;
  virtual PartWriter& item(std::string_view key) = 0;

  // Arrays; their names are of the whole file. Matrices are borrowed: they must live until the file is written.
  virtual void vector(const std::string& name, Vector values) = 0;
  virtual void matrix(const std::string& name, const Matrix& values) = 0;
  virtual void triangle(const std::string& name, const Matrix& symmetric) = 0;
  virtual void bytes(const std::string& name, std::string values) = 0;

 protected:
  PartWriter() = default;
};

// Every function throws FileError with a sentence where the file does not hold what is asked for.
class PartReader {
 public:
  virtual ~PartReader() = default;
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;

  [[nodiscard]] virtual bool flag(std::string_view key) = 0;
  [[nodiscard]] virtual Index count(std::string_view key) = 0;
  [[nodiscard]] virtual std::string text(std::string_view key) = 0;
  [[nodiscard]] virtual bool has_section(std::string_view key) = 0;
  [[nodiscard]] virtual PartReader& section(std::string_view key) = 0;
  [[nodiscard]] virtual std::vector<PartReader*> items(std::string_view key) = 0;

  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  [[nodiscard]] virtual Vector vector(const std::string& name) = 0;
  [[nodiscard]] virtual Matrix matrix(const std::string& name) = 0;
  [[nodiscard]] virtual Matrix triangle(const std::string& name, Index size) = 0;
  [[nodiscard]] virtual std::string bytes(const std::string& name) = 0;

  // Throws FileError: "'path' is damaged: " and `what`.
  [[noreturn]] virtual void damaged(const std::string& what) const = 0;

 protected:
  PartReader() = default;
};

}  // namespace kloom
