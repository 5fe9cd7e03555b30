// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kloom/error.h"

namespace kloom::base {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMega = 1000 * 1000;

// A made-up /proc and /sys/fs/cgroup.
class MemoryFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kloom-memory-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("proc/meminfo", "MemTotal:       4000000 kB\nMemFree:  1 kB\nMemAvailable:    1000000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] MemorySources sources() const { return {root_ / "proc", root_ / "cgroup"}; }

  fs::path root_;
};

TEST_F(MemoryFiles, WithoutCgroupsMeminfoDecides) {
  EXPECT_EQ(total_memory(sources()), 4000000u * 1024);
  EXPECT_EQ(free_memory(sources()), 1000000u * 1024);
}

TEST_F(MemoryFiles, CgroupVersion2CountsEveryLevelAndForgivesPageCache) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("cgroup/user/job/memory.max", "max\n");
  write("cgroup/user/memory.max", "600000000\n");
  write("cgroup/user/memory.current", "300000000\n");
  write("cgroup/user/memory.stat", "anon 5\ninactive_file 100000000\n");
  EXPECT_EQ(total_memory(sources()), 600 * kMega);
  EXPECT_EQ(free_memory(sources()), 400 * kMega);
}

TEST_F(MemoryFiles, CgroupVersion1InAContainerWhosePathIsNotVisible) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n");
  write("cgroup/memory/memory.limit_in_bytes", "500000000\n");
  write("cgroup/memory/memory.usage_in_bytes", "450000000\n");
  write("cgroup/memory/memory.stat", "total_inactive_file 150000000\n");
  EXPECT_EQ(total_memory(sources()), 500 * kMega);
  EXPECT_EQ(free_memory(sources()), 200 * kMega);
}

TEST_F(MemoryFiles, UsageAboveTheLimitLeavesNothing) {
  write("proc/self/cgroup", "0::/\n");
  write("cgroup/memory.max", "1000\n");
  write("cgroup/memory.current", "2000\n");
  EXPECT_EQ(free_memory(sources()), 0u);
}

TEST(Memory, ThisMachineHasSomeAndTheDefaultBudgetIsFourFifths) {
  EXPECT_GT(total_memory(), 100 * kMega);
  EXPECT_GE(total_memory(), free_memory());
  const double ratio = static_cast<double>(memory_budget(Context())) / static_cast<double>(free_memory());
  // Other programs allocate between the two readings; a fifth is far from either bound.
  EXPECT_GT(ratio, 0.7);
  EXPECT_LT(ratio, 0.9);
}

TEST(Memory, TheContextsBudgetWins) {
  Context context;
  context.memory_budget = 12345;
  EXPECT_EQ(memory_budget(context), 12345u);
}

TEST(Memory, FormatBytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(9949), "9.9 kB");
  EXPECT_EQ(format_bytes(9960), "10 kB");
  EXPECT_EQ(format_bytes(999499), "999 kB");
  EXPECT_EQ(format_bytes(999600), "1.0 MB");
  EXPECT_EQ(format_bytes(1200 * kMega), "1.2 GB");
}

TEST(Memory, RequireMemorySaysWhatIsNeededAndWhatHelps) {
  Context context;
  context.memory_budget = 500 * kMega;
  EXPECT_NO_THROW(require_memory(500 * kMega, context, "the bank", "use fewer kernels"));
  try {
    require_memory(1200 * kMega, context, "the bank of 12 kernels", "use fewer kernels");
    FAIL() << "no exception";
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the bank of 12 kernels"), HasSubstr("1.2 GB"),
                                    HasSubstr("500 MB"), HasSubstr("use fewer kernels")));
  }
}

}  // namespace
}  // namespace kloom::base
