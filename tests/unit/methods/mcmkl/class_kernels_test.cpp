// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels on classes from text: a tree against sums over its branches by hand, files with and without ids, refusals.
#include "methods/mcmkl/class_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kloom/error.h"

namespace kloom::methods {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kClasses = {"cat", "dog", "frog"};

Vector values_of(const std::string& text, std::size_t which = 0) {
  const std::vector<ClassKernel> kernels = class_kernels(text, kClasses, {});
  const auto values = kernels.at(which).values.values();
  return {values.begin(), values.end()};
}

std::string refusal(const std::string& text, const std::vector<std::string>& classes = kClasses) {
  try {
    (void)class_kernels(text, classes, {});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

class File {
 public:
  explicit File(const std::string& text)
      : path_(
            (std::filesystem::temp_directory_path() / ("kloom-classes-" + std::to_string(::getpid()) + ".csv"))
                .string()) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] std::string option() const { return "file:" + path_; }

 private:
  std::string path_;
};

TEST(ClassKernels, NamesAndSums) {
  EXPECT_EQ(values_of("identity"), (Vector{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(class_kernels("pairs", kClasses, {}).size(), 6U);
  EXPECT_EQ(values_of("identity+pairs", 1), (Vector{1, 1, 0, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(values_of("identity+1,0.5,0;0.5,1,0;0,0,1e+0+pairs", 1), (Vector{1, 0.5, 0, 0.5, 1, 0, 0, 0, 1}));
}

// cat and dog share the branch above them; the longest way has two branches.
TEST(ClassKernels, ATreeCountsTheBranchesInCommon) {
  EXPECT_EQ(values_of("tree:((cat,dog),frog)"), (Vector{1, 0.5, 0, 0.5, 1, 0, 0, 0, 0.5}));
  EXPECT_EQ(values_of("tree: ( (dog:1, cat:3)mammals:2 ,frog:4 )root; "),
            (Vector{1, 0.4, 0, 0.4, 0.6, 0, 0, 0, 0.8}));
  EXPECT_EQ(values_of("tree:(cat,dog,frog)"), values_of("identity"));
}

TEST(ClassKernels, FilesBringTheirOrderOrTakeThatOfTheClasses) {
  const Vector wanted = {1, 0.25, 0, 0.25, 2, 0.5, 0, 0.5, 3};
  EXPECT_EQ(values_of(File("1,0.25,0\n0.25,2,0.5\n0,0.5,3\n").option()), wanted);
  EXPECT_EQ(
      values_of(File("id,frog,cat,dog,bird\nfrog,3,0,0.5,9\ncat,0,1,0.25,9\ndog,0.5,0.25,2,9\nbird,9,9,9,99\n")
                    .option()),
      wanted);
  EXPECT_THAT(refusal(File("1,0\n0,1\n").option()), HasSubstr("there are 3 classes (cat, dog, frog)"));
  EXPECT_THAT(refusal(File("id,cat,dog\ncat,1,0\ndog,0,1\n").option()),
              HasSubstr("no row or column for class 'frog'"));
  EXPECT_THROW((void)class_kernels("file:/nowhere/classes.csv", kClasses, {}), Error);
}

TEST(ClassKernels, NumbersAreTheSameClassHoweverTheyAreWritten) {
  EXPECT_EQ(class_kernels("tree:(1.0,(2,30e-1))", {"1", "2", "3"}, {}).front().values(1, 2), 0.5);
}

TEST(ClassKernels, RefusesWhatIsNoKernelOnTheClasses) {
  EXPECT_THAT(refusal("tree:((cat,dog),bird)"), HasSubstr("'bird', which is no class"));
  EXPECT_THAT(refusal("tree:((cat,dgo),frog)"), HasSubstr("did you mean 'dog'"));
  EXPECT_THAT(refusal("tree:((cat,dog),cat)"), HasSubstr("twice"));
  EXPECT_THAT(refusal("tree:(cat,dog)"), HasSubstr("does not have the classes frog"));
  EXPECT_THAT(refusal("tree:((cat,dog),frog"), HasSubstr("not closed"));
  EXPECT_THAT(refusal("tree:((cat,dog),frog))"), HasSubstr("after its end"));
  EXPECT_THAT(refusal("tree:((cat:-1,dog),frog)"), HasSubstr("below 0"));
  EXPECT_THAT(refusal("tree:((cat:x,dog),frog)"), HasSubstr("no finite number"));
  EXPECT_THAT(refusal("tree:(cat:0,dog:0,frog:0)"), HasSubstr("length above 0"));
  EXPECT_THAT(refusal("tree:" + std::string(5000, '(')), HasSubstr("deeper than"));
  EXPECT_THAT(refusal("1,0;0,1"), HasSubstr("2 rows"));
  EXPECT_THAT(refusal("1,0,0;0,1;0,0,1"), HasSubstr("row 2 of the matrix has 2 numbers"));
  EXPECT_THAT(refusal("1,2,0;2,1,0;0,0,1"), HasSubstr("eigenvalue -1"));
  EXPECT_THAT(refusal("1,0.5,0;0,1,0;0,0,1"), HasSubstr("not symmetric"));
  EXPECT_THAT(refusal("0,0,0;0,0,0;0,0,0"), HasSubstr("is 0"));
  EXPECT_THAT(refusal("1,0,0;0,nan,0;0,0,1"), HasSubstr("no finite number"));
  EXPECT_THAT(refusal("likeness"), HasSubstr("identity, pairs, tree:NEWICK"));
}

}  // namespace
}  // namespace kloom::methods
