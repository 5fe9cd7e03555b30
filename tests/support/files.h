// SPDX-License-Identifier: BSD-3-Clause
//
// Files for tests: a folder that goes away, whole-file reads and writes, and damage at every byte.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "kloom/error.h"

namespace kloom::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kloom-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, std::string_view bytes) {
  // A file that is cut and written again is flushed to disk by some file systems; a new one is not.
  std::filesystem::remove(path);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct DamageCount {
  std::size_t tried = 0;
  std::size_t refused = 0;
};

// Truncates `bytes` at every length and changes every byte in three ways. `load(path)` must throw FileError
// with a sentence, or return; then `same()` must confirm that what was loaded equals the original.
template <typename Load, typename Same>
DamageCount damage_everywhere(const std::string& bytes, const std::string& path, Load load, Same same) {
  DamageCount count;
  const auto attempt = [&](const std::string& damaged, const std::string& what) {
    write_bytes(path, damaged);
    ++count.tried;
    try {
      const auto loaded = load(path);
      EXPECT_TRUE(same(loaded)) << what << " was accepted and changed the content";
    } catch (const FileError& error) {
      ++count.refused;
      const std::string_view message = error.what();
      EXPECT_TRUE(message.find(path) != std::string_view::npos && message.back() == '.') << message;
    }
  };
  for (std::size_t n = 0; n < bytes.size(); ++n)
    attempt(bytes.substr(0, n), "truncation at " + std::to_string(n));
  attempt(bytes + '\0', "one byte more");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int how : {0x01, 0x80, 0}) {
      std::string damaged = bytes;
      damaged[i] = how == 0 ? '\0' : static_cast<char>(damaged[i] ^ how);
      if (damaged == bytes) continue;
      attempt(damaged, "byte " + std::to_string(i) + " changed");
    }
  }
  return count;
}

}  // namespace kloom::testing
