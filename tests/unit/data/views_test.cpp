// SPDX-License-Identifier: BSD-3-Clause
//
// Views: files joined by id, groups of columns, prefixes; and kernel files beside them.
#include "data/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data_support.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::expect_refused;
using testing_support::TempFolder;

class Views : public ::testing::Test {
 protected:
  ViewRequest file(const std::string& name, std::string_view text, const std::string& ending = ".csv") {
    return {name, folder.write(name + ending, text), {}};
  }
  TempFolder folder;
};

TEST_F(Views, FilesAreJoinedByIdInTheOrderOfTheFirst) {
  DatasetRequest request;
  request.views = {file("rna", "id,g,h\na,1,10\nb,2,20\nc,3,30\n"),
                   file("dna", "id,label,g\nc,no,7\na,yes,8\nb,no,9\n")};
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(data.ids, ElementsAre("a", "b", "c"));
  EXPECT_EQ(data.feature_info, (std::vector<Feature>{{"g", "rna"}, {"h", "rna"}, {"g", "dna"}}));
  EXPECT_THAT(data.features.values(), ElementsAre(1, 2, 3, 10, 20, 30, 8, 9, 7));
  EXPECT_THAT(data.labels, ElementsAre("yes", "no", "no"));
  ASSERT_EQ(data.views.size(), 2U);
  EXPECT_EQ(data.views[0].name, "rna");
  EXPECT_THAT(data.views[0].features, ElementsAre(0, 1));
  EXPECT_THAT(data.views[1].features, ElementsAre(2));
  EXPECT_THAT(data.lines, IsEmpty());
}

TEST_F(Views, MainTableGoesFirst) {
  DatasetRequest request;
  request.path = folder.write("main.csv", "sample,y\nb,1\na,0\n");
  request.views = {{"", folder.write("rna.tsv", "sample\tg\na\t1\nb\t2\n"), {}}};
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(data.ids, ElementsAre("b", "a"));
  EXPECT_THAT(data.features.values(), ElementsAre(2, 1));
  EXPECT_EQ(data.views[0].name, "rna");
}

TEST_F(Views, JoinErrorsNameTheFirstIds) {
  DatasetRequest request;
  request.views = {file("u", "id,a,y\n1,1,0\n2,2,1\n3,3,0\n"), file("v", "id,b\n1,1\n4,2\n2,5\n5,6\n")};
  expect_refused(request, {"v.csv", "3", "--join inner"});
  request.inner_join = true;
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(data.ids, ElementsAre("1", "2"));
  EXPECT_THAT(data.features.values(), ElementsAre(1, 2, 1, 5));
  EXPECT_THAT(data.labels, ElementsAre("0", "1"));
  request.views[1] = file("v", "id,b\n1,1\n2,2\n1,3\n");
  expect_refused(request, {"v.csv", "'1' (again on line 4)", "unique"});
  request.views[1] = file("v", "id,b\n7,1\n8,2\n");
  expect_refused(request, {"no sample id in common"});
  request.inner_join = false;
  request.views[1] = file("v", "id,b\n1,1\n2,2\n3,3\n9,4\n");
  expect_refused(request, {"u.csv: 1 of the 4 samples in", "is not there: 9"});
  request.views[1] = file("v", "b\n1\n2\n3\n");
  expect_refused(request, {"v.csv", "no column of sample ids", "--id"});
}

TEST_F(Views, WithoutIdsRowsMustAgree) {
  DatasetRequest request;
  request.views = {file("u", "a,y\n1,0\n2,1\n"), file("v", "b\n3\n4\n")};
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(data.features.values(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(data.notes, Contains(HasSubstr("row by row")));
  request.views[1] = file("v", "b\n3\n4\n5\n");
  expect_refused(request, {"u.csv has 2", "v.csv has 3", "--id"});
}

TEST_F(Views, TargetInSeveralFilesMustAgree) {
  DatasetRequest request;
  request.views = {file("u", "id,a,y\n1,1,0\n2,2,1\n"), file("v", "id,b,y\n2,2,1\n1,3,0\n")};
  EXPECT_THAT(load_dataset(request, {}).labels, ElementsAre("0", "1"));
  request.views[1] = file("v", "id,b,y\n2,2,1\n1,3,1\n");
  expect_refused(request, {"v.csv", "sample '1'", "'1'", "'0'"});
}

TEST_F(Views, NamesMustDiffer) {
  DatasetRequest request;
  request.views = {file("u", "a,y\n1,0\n"), file("u", "b\n3\n")};
  expect_refused(request, {"Two views", "'u'"});
  request.views = {{"u", "", {}}};
  expect_refused(request, {"'u'", "either"});
  request.views = {{"u", "", {"a"}}};
  expect_refused(request, {"'u'", "no table"});
  request.views = {file("u", "id,a,y\nx,1,0\n"), file("v", "id\nx\n")};
  expect_refused(request, {"'v'", "no features"});
}

TEST_F(Views, ColumnGroupsByNameAndGlob) {
  DatasetRequest request;
  request.path = folder.write("t.csv", "age,L1.1,L1.2,L14.1,sex,a*,y\n1,2,3,4,m,6,0\n1,2,3,4,f,6,1\n");
  request.views = {
      {"clinical", "", {"sex", "age"}}, {"L1", "", {"L1.*"}}, {"all", "", {"*", "age"}}, {"star", "", {"a*"}}};
  const Dataset data = load_dataset(request, {});
  ASSERT_EQ(data.views.size(), 4U);
  EXPECT_THAT(data.views[0].features, ElementsAre(0));
  EXPECT_THAT(data.views[0].texts, ElementsAre(0));
  EXPECT_THAT(data.views[1].features, ElementsAre(1, 2));
  EXPECT_THAT(data.views[2].features, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(data.views[3].features, ElementsAre(4));
  request.views = {{"x", "", {"aeg"}}};
  expect_refused(request, {"t.csv", "'x'", "'aeg'", "Did you mean 'age'"});
  request.views = {{"x", "", {"y"}}};
  expect_refused(request, {"'y'"});
}

TEST_F(Views, ByPrefix) {
  DatasetRequest request;
  request.path = folder.write("t.csv", "u.1,v.1,u.2.x,w,label\n1,2,3,4,0\n1,2,3,4,1\n");
  request.views_by_prefix = true;
  const Dataset data = load_dataset(request, {});
  ASSERT_EQ(data.views.size(), 2U);
  EXPECT_EQ(data.views[0].name, "u");
  EXPECT_THAT(data.views[0].features, ElementsAre(0, 2));
  EXPECT_THAT(data.views[1].features, ElementsAre(1));
  EXPECT_EQ(data.feature_info[0].name, "u.1");
  EXPECT_THAT(data.notes, Contains(HasSubstr("w")));
  request.path = folder.write("t.csv", "a,label\n1,0\n");
  expect_refused(request, {"view.column"});
}

class KernelFiles : public Views {
 protected:
  DatasetRequest kernel(std::string_view text, const std::string& name = "k.csv") {
    DatasetRequest request;
    request.target_required = false;
    request.kernel_files = {folder.write(name, text)};
    return request;
  }
};

TEST_F(KernelFiles, PlainMatrix) {
  const Dataset data = load_dataset(kernel("1,0.5,0\n0.5,2,0\n"), {});
  EXPECT_EQ(data.samples, 2);
  ASSERT_EQ(data.kernels.size(), 1U);
  EXPECT_EQ(data.kernels[0].name, "k");
  EXPECT_EQ(data.kernels[0].values.cols(), 3);
  EXPECT_EQ(data.kernels[0].values(0, 1), 0.5);
  EXPECT_EQ(data.kernels[0].values(1, 1), 2.0);
}

TEST_F(KernelFiles, IdsInEveryForm) {
  for (const std::string text : {"id,s1,s2\ns1,1,2\ns2,3,4\n", "\"\",s1,s2\ns1,1,2\ns2,3,4\n",
                                 "s1,s2\n1,2\n3,4\n", "s1,1,2\ns2,3,4\n"}) {
    const Dataset data = load_dataset(kernel(text), {});
    EXPECT_THAT(data.ids, ElementsAre("s1", "s2")) << text;
    EXPECT_THAT(data.kernels[0].values.values(), ElementsAre(1, 3, 2, 4)) << text;
  }
  const Dataset numbers = load_dataset(kernel(",7,8\n7,1,2\n8,3,4\n"), {});
  EXPECT_THAT(numbers.ids, ElementsAre("7", "8"));
}

TEST_F(KernelFiles, RowsAndColumnsFollowTheIdsOfTheTable) {
  DatasetRequest request = kernel("id,a,b,c\na,11,12,13\nb,21,22,23\nc,31,32,33\n");
  request.path = folder.write("t.csv", "id,y\nc,0\na,1\n");
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(data.kernels[0].values.values(), ElementsAre(33, 13, 31, 11));
  request.path = folder.write("t.csv", "id,y\nc,0\nd,1\n");
  expect_refused(request, {"k.csv", "sample d", "t.csv"});
  // New samples against training samples: the columns stay.
  request.kernel_files = {folder.write("k.csv", "id,t1,t2\na,1,2\nb,3,4\n")};
  request.path = folder.write("t.csv", "id,y\nb,0\na,1\n");
  EXPECT_THAT(load_dataset(request, {}).kernels[0].values.values(), ElementsAre(3, 1, 4, 2));
}

TEST_F(KernelFiles, StacksDistancesAndNames) {
  DatasetRequest request;
  request.target_required = false;
  const std::string stack = std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/stack.npy";
  request.kernel_files = {stack};
  request.distance_files = {folder.write("d.csv", "0,1\n1,0\n")};
  const Dataset data = load_dataset(request, {});
  ASSERT_EQ(data.kernels.size(), 3U);
  EXPECT_EQ(data.kernels[2].name, "stack[3]");
  EXPECT_THAT(data.kernels[2].values.values(), ElementsAre(2, 8, 5, 11));
  ASSERT_EQ(data.distances.size(), 1U);
  EXPECT_EQ(data.distances[0].name, "d");
  request.kernel_files = {stack, stack};
  EXPECT_EQ(load_dataset(request, {}).kernels[3].name, "stack/stack[1]");
  request.kernel_files = {stack, stack, stack};
  expect_refused(request, {"given twice"});
}

TEST_F(KernelFiles, Errors) {
  expect_refused(kernel("1,x\n0.5,2\n0,y\n"), {"k.csv line 3", "cell 2", "'y'"});
  expect_refused(kernel("1,inf\n0.5,2\n"), {"line 1", "'inf'"});
  expect_refused(kernel("1,2\n,3\n"), {"line 2", "cell 1"});
  expect_refused(kernel("a,b\n"), {"no numbers"});
  expect_refused(kernel("1 1:2\n", "k.svm"), {"k.svm", "NPY"});
  DatasetRequest request = kernel("1,0\n0,1\n");
  request.path = folder.write("t.csv", "a,y\n1,0\n2,1\n3,0\n");
  expect_refused(request, {"k.csv", "2 rows", "3 samples"});
  request = kernel("id,a,a\na,1,2\nb,3,4\n");
  request.path = folder.write("t.csv", "id,y\na,0\nb,1\n");
  expect_refused(request, {"'a' occurs twice"});
  request = {};
  request.kernel_files = {folder.write("k.csv", "1,0\n0,1\n")};
  expect_refused(request, {"k.csv", "--target"});
}

TEST_F(KernelFiles, NonFiniteArrayEntries) {
  // [[1, nan], [2, 3]] as NPY version 1.
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  bytes += std::string("\x00\x00\x80\x3f\x00\x00\xc0\x7f\x00\x00\x00\x40\x00\x00\x40\x40", 16);
  expect_refused(kernel(bytes, "k.npy"), {"k.npy", "entry (1, 2)", "'k'", "nan"});
}

}  // namespace
}  // namespace kloom
