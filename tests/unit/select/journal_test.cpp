// SPDX-License-Identifier: BSD-3-Clause
#include "select/journal.h"

#include <gtest/gtest.h>

#include "fuzz/journal_input.h"
#include "kloom/error.h"
#include "support/corpus.h"
#include "support/files.h"

namespace kloom::select {
namespace {

// What fuzzing kept, and journals that once wrote out of bounds.
TEST(Journal, ReplaysTheFuzzCorpus) {
  kloom::testing::replay_corpus("journal", fuzz::read_journal_input);
}

// The checksum of a line covers all lines before it: FNV-1a of length and text, from the offset basis on.
TEST(Journal, ChecksumsAreAChain) {
  const auto fnv = [](std::uint64_t value, const std::string& text) {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
    for (const char c : bytes + text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return value;
  };
  Hash chain;
  std::uint64_t expected = 14695981039346656037ULL;
  for (const std::string line : {"{}", "", "a longer line"}) {
    chain.add(line);
    expected = fnv(expected, line);
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(expected));
    EXPECT_EQ(chain.text(), digits);
  }
}

TEST(Journal, TheSecondUserIsRefusedUntilTheFirstIsGone) {
  const kloom::testing::TemporaryFolder folder;
  const std::string path = folder.file("work.jsonl");
  {
    const Journal first(path, "0123456789abcdef", {});
    EXPECT_THROW(Journal(path, "0123456789abcdef", {}), InvalidArgument);
  }
  EXPECT_NO_THROW(Journal(path, "0123456789abcdef", {}));
  EXPECT_THROW(Journal(path, "fedcba9876543210", {}), InvalidArgument);
}

TEST(Journal, AFileThatDoesNotFitIsRefused) {
  const kloom::testing::TemporaryFolder folder;
  const std::string path = folder.file("work.jsonl");
  { const Journal made(path, "0123456789abcdef", {}); }
  Context little;
  little.memory_budget = 10;
  EXPECT_THROW(Journal(path, "0123456789abcdef", little), ResourceError);
}

}  // namespace
}  // namespace kloom::select
