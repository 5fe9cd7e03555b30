// SPDX-License-Identifier: BSD-3-Clause
//
// Folders with reference numbers and benchmark data, looked up when a test runs, never when it is built.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace kloom::test {

inline std::filesystem::path source_folder() {
  return KLOOM_SOURCE_DIR;
}

// KLOOM_GOLDEN, else ../shared/golden beside the checkout, else the copy of the made-up cases in the tests.
inline std::filesystem::path golden_folder() {
  if (const char* named = std::getenv("KLOOM_GOLDEN")) return named;
  const auto beside = source_folder() / ".." / "shared" / "golden";
  return std::filesystem::is_directory(beside) ? beside : source_folder() / "tests" / "data" / "golden";
}

// KLOOM_DATA, else ../shared/data beside the checkout; may not exist.
inline std::filesystem::path data_folder() {
  if (const char* named = std::getenv("KLOOM_DATA")) return named;
  return source_folder() / ".." / "shared" / "data";
}

// Files of `folder` whose names begin with `prefix` and end in .json. Throws if there are none.
inline std::vector<std::filesystem::path> golden_files(const std::string& prefix) {
  std::vector<std::filesystem::path> files;
  const auto folder = golden_folder();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".json")) files.push_back(entry.path());
  }
  if (files.empty()) throw std::runtime_error("no " + prefix + "*.json in " + folder.string());
  return files;
}

// False where no folder was named and the copy in the tests has no such file (it holds made-up cases only): a
// test may then be skipped. A folder that was named must hold what it was named for.
inline bool golden_expected(const std::string& prefix) {
  if (std::getenv("KLOOM_GOLDEN") != nullptr) return true;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().filename().string().starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace kloom::test
