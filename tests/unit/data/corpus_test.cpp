// SPDX-License-Identifier: BSD-3-Clause
//
// Replays every fuzz input that is kept in tests/fuzz/corpus: each gives a result or an error of kloom.
#include "support/corpus.h"

#include <gtest/gtest.h>

#include "fuzz/csv_input.h"
#include "fuzz/mat_input.h"
#include "fuzz/npy_input.h"
#include "fuzz/stream_input.h"
#include "fuzz/svmlight_input.h"

namespace kloom {
namespace {

TEST(FuzzCorpus, Csv) {
  testing::replay_corpus("csv", fuzz::read_csv_input);
}

TEST(FuzzCorpus, Svmlight) {
  testing::replay_corpus("svmlight", fuzz::read_svmlight_input);
}

TEST(FuzzCorpus, Npy) {
  testing::replay_corpus("npy", fuzz::read_npy_input);
}

TEST(FuzzCorpus, Mat) {
  testing::replay_corpus("mat", fuzz::read_mat_input);
}

TEST(FuzzCorpus, Stream) {
  testing::replay_corpus("stream", fuzz::read_stream_input);
}

}  // namespace
}  // namespace kloom
