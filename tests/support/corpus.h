// SPDX-License-Identifier: BSD-3-Clause
//
// Replays what fuzzing has kept in tests/fuzz/corpus/<format>.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/files.h"

namespace kloom::testing {

// `read` returns true if the input was accepted and throws nothing.
inline void replay_corpus(const std::string& format, const std::function<bool(std::string_view)>& read) {
  const std::filesystem::path folder = std::filesystem::path(KLOOM_SOURCE_DIR) / "tests/fuzz/corpus" / format;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  int accepted = 0;
  for (const auto& path : paths) {
    SCOPED_TRACE(path);
    EXPECT_NO_THROW(accepted += read(read_bytes(path)) ? 1 : 0);
  }
  // Both sides of the reader must be in the corpus, or the replay proves little.
  EXPECT_GT(accepted, 0) << folder;
  EXPECT_LT(accepted, static_cast<int>(paths.size())) << folder;
}

}  // namespace kloom::testing
