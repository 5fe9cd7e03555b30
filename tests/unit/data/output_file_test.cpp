// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "kloom/error.h"
#include "support/files.h"

namespace kloom {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

std::string refusal(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  try {
    require_outputs(outputs, inputs);
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(OutputFile, NoTwoOutputsAreOneFile) {
  const TemporaryFolder folder;
  const Output model{"-o", folder.file("m"), OutputKind::file};
  EXPECT_EQ(refusal({model, {"--report", folder.file("r"), OutputKind::text}}, {}), "accepted");
  EXPECT_EQ(refusal({model, {"--report", "", OutputKind::text}, {"--map", "", OutputKind::text}}, {""}),
            "accepted");
  EXPECT_THAT(refusal({model, {"--report", folder.file("./m"), OutputKind::text}}, {}), HasSubstr("same file"));
  write_bytes(folder.file("m"), "x");
  std::filesystem::create_hard_link(folder.file("m"), folder.file("hard"));
  std::filesystem::create_symlink("m", folder.file("soft"));
  for (const char* name : {"hard", "soft"}) {
    EXPECT_THAT(refusal({model, {"--report", folder.file(name), OutputKind::text}}, {}),
                HasSubstr("same file"));
    EXPECT_THAT(refusal({model}, {folder.file(name)}), HasSubstr("input"));
  }
  EXPECT_EQ(refusal({{"-o", "/dev/null", OutputKind::text}, {"--report", "/dev/null", OutputKind::text}},
                    {"/dev/null"}),
            "accepted")
      << "it is there for that";
}

TEST(OutputFile, KindsDecideWhatMayBeWritten) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal({{"-o", folder.file("pipe"), OutputKind::text}}, {}), "accepted");
  for (const OutputKind kind : {OutputKind::file, OutputKind::journal}) {
    EXPECT_THAT(refusal({{"-o", folder.file("pipe"), kind}}, {}), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal({{"-o", "/dev/null", kind}}, {}), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal({{"-o", "/dev/stdout", kind}}, {}), HasSubstr("open file"));
  }
  EXPECT_THAT(refusal({{"-o", folder.file(""), OutputKind::text}}, {}), HasSubstr("folder"));
  EXPECT_THAT(refusal({{"-o", folder.file("absent/a"), OutputKind::text}}, {}), HasSubstr("no folder"));
  EXPECT_EQ(folder.entries(), 1U) << "looking leaves nothing behind";
}

TEST(OutputFile, TextReplacesFilesAndGoesThroughPipes) {
  const TemporaryFolder folder;
  write_text(folder.file("a"), "one", {});
  write_text(folder.file("a"), "two", {});
  EXPECT_EQ(read_bytes(folder.file("a")), "two");
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const std::string longer(300000, 'x');  // more than a pipe holds
  std::thread writer([&] { write_text(folder.file("pipe"), longer, {}); });
  EXPECT_EQ(read_bytes(folder.file("pipe")), longer);
  writer.join();
}

TEST(OutputFile, WaitingForAReaderCanBeEnded) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const Signal answer : {Signal::stop, Signal::abort}) {
    Context context;
    int asked = 0;
    context.progress = [&](const Progress&) { return ++asked > 2 ? answer : Signal::go_on; };
    EXPECT_THROW(write_text(folder.file("pipe"), "text", context), Interrupted);
    EXPECT_EQ(asked, 3);
  }
}

}  // namespace
}  // namespace kloom
