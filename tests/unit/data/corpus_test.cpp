// SPDX-License-Identifier: BSD-3-Clause
//
// Replays every fuzz input that is kept in tests/fuzz/corpus: each gives a result or an error of kloom.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/gzip.h"
#include "fuzz/csv_input.h"
#include "fuzz/mat_input.h"
#include "fuzz/npy_input.h"
#include "fuzz/stream_input.h"
#include "fuzz/svmlight_input.h"

namespace kloom {
namespace {

void replay(const std::string& format, const std::function<bool(std::string_view)>& read) {
  const std::filesystem::path folder = std::filesystem::path(KLOOM_SOURCE_DIR) / "tests/fuzz/corpus" / format;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  ASSERT_FALSE(paths.empty()) << folder;
  int accepted = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    EXPECT_NO_THROW(accepted += read(data::read_file(path, std::size_t{1} << 24U)) ? 1 : 0);
  }
  // Both sides of the readers must be in the corpus, or the replay proves little.
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, static_cast<int>(paths.size()));
}

TEST(FuzzCorpus, Csv) {
  replay("csv", fuzz::read_csv_input);
}

TEST(FuzzCorpus, Svmlight) {
  replay("svmlight", fuzz::read_svmlight_input);
}

TEST(FuzzCorpus, Npy) {
  replay("npy", fuzz::read_npy_input);
}

TEST(FuzzCorpus, Mat) {
  replay("mat", fuzz::read_mat_input);
}

TEST(FuzzCorpus, Stream) {
  replay("stream", fuzz::read_stream_input);
}

}  // namespace
}  // namespace kloom
