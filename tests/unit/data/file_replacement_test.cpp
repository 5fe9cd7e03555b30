// SPDX-License-Identifier: BSD-3-Clause
#include "data/file_replacement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "kloom/error.h"
#include "support/files.h"

namespace kloom::data {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

void replace(const std::string& path, const std::string& text) {
  FileReplacement file(path);
  file.write(text.data(), text.size());
  file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(FileReplacement, IsThereAfterTheCommitAndNotBefore) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_bytes(path, "old");
  {
    FileReplacement file(path);
    file.write("new!", 4);
    file.overwrite(3, "?", 1);
    EXPECT_EQ(read_bytes(path), "old");
    EXPECT_EQ(folder.entries(), 2U);
    file.commit();
    EXPECT_EQ(read_bytes(path), "new?");
  }
  {
    FileReplacement abandoned(path);
    abandoned.write("half", 4);
  }
  EXPECT_EQ(read_bytes(path), "new?");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(FileReplacement, IsNeverMoreOpenThanTheFileItReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_bytes(path, "old");
  for (const mode_t mode : {0600U, 0640U, 0666U, 0751U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    FileReplacement file(path);
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("")))
      EXPECT_EQ(mode_of(entry.path().string()), mode) << entry.path();
    file.commit();
    EXPECT_EQ(mode_of(path), mode);
  }
  // Bits that give the file more than its reader has are not handed on to new content.
  ASSERT_EQ(::chmod(path.c_str(), 04755), 0);
  replace(path, "x");
  EXPECT_EQ(mode_of(path), 0755U);
}

TEST(FileReplacement, FollowsLinksAndRefusesThoseThatLeadNowhere) {
  const TemporaryFolder folder;
  write_bytes(folder.file("real"), "old");
  std::filesystem::create_symlink("real", folder.file("one"));
  std::filesystem::create_symlink("one", folder.file("two"));
  replace(folder.file("two"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("two")));
  EXPECT_EQ(read_bytes(folder.file("real")), "new");
  std::filesystem::create_symlink("nowhere", folder.file("dangling"));
  std::filesystem::create_symlink("loop", folder.file("loop"));
  for (const char* name : {"dangling", "loop"}) {
    try {
      const FileReplacement file(folder.file(name));
      ADD_FAILURE() << name << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("leads nowhere"));
    }
  }
  EXPECT_EQ(folder.entries(), 5U);
}

TEST(FileReplacement, RemovesWhatKilledWritersLeft) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  const pid_t child = ::fork();
  if (child == 0) {
    FileReplacement file(path);
    file.write("half", 4);
    ::_exit(0);  // as a kill does: no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(folder.entries(), 1U) << "the test needs the leftover of the child";
  const FileReplacement alive(path);
  EXPECT_EQ(folder.entries(), 1U) << "of the two, the one of the living";
  replace(path, "new");
  EXPECT_EQ(folder.entries(), 2U) << "the file and what the living writer holds";
  EXPECT_EQ(read_bytes(path), "new");
}

TEST(FileReplacement, ManyWritersAtOnceDoNotDisturbEachOther) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  const auto text = [](int k) { return std::string(20000, static_cast<char>('a' + k)); };
  replace(path, text(0));
  std::vector<std::thread> writers;
  for (int k = 0; k < 4; ++k) {
    writers.emplace_back([&, k] {
      for (int round = 0; round < 50; ++round) replace(path, text(k));
    });
  }
  for (int look = 0; look < 300; ++look) {
    const std::string seen = read_bytes(path);
    ASSERT_EQ(seen.size(), 20000U);
    ASSERT_EQ(seen.find_first_not_of(seen.front()), std::string::npos) << "parts of two files";
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(folder.entries(), 1U);
}

}  // namespace
}  // namespace kloom::data
