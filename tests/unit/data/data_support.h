// SPDX-License-Identifier: BSD-3-Clause
//
// For tests of readers: files in a folder of their own, and errors by type and words.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "kloom/dataset.h"
#include "kloom/error.h"
#include "support/files.h"

namespace kloom::testing_support {

class TempFolder : public testing::TemporaryFolder {
 public:
  // Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view content) const {
    testing::write_bytes(file(name), content);
    return file(name);
  }
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

inline void expect_refused(const DatasetRequest& request, std::initializer_list<std::string_view> words) {
  expect_error<InvalidArgument>([&] { static_cast<void>(load_dataset(request, {})); }, words);
}

}  // namespace kloom::testing_support
