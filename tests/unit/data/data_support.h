// SPDX-License-Identifier: BSD-3-Clause
//
// For tests of readers: files in a folder of their own, and errors by type and words.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kloom/error.h"

namespace kloom::testing_support {

class TempFolder {
 public:
  TempFolder() : path_(::testing::TempDir() + "kloom_data_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  // Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view content) const {
    std::string path = path_ + "/" + name;
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `call` must throw exactly an E whose message holds every one of `words`.
template <typename E, typename Call>
void expect_error(Call&& call, std::initializer_list<std::string_view> words) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E)) << error.what();
    for (const std::string_view word : words) {
      EXPECT_THAT(std::string(error.what()), ::testing::HasSubstr(std::string(word)));
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
  }
}

}  // namespace kloom::testing_support
