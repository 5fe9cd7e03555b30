// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "data/gzip.h"
#include "data_support.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::expect_error;
using testing_support::expect_refused;
using testing_support::TempFolder;

class LoadDataset : public ::testing::Test {
 protected:
  // A request for one table of this content.
  DatasetRequest table(std::string_view text, const std::string& name = "t.csv") {
    DatasetRequest request;
    request.path = folder.write(name, text);
    return request;
  }
  TempFolder folder;
};

std::vector<std::string> names(const Dataset& data) {
  std::vector<std::string> result;
  for (const Feature& feature : data.feature_info) {
    result.push_back(feature.name);
  }
  return result;
}

TEST_F(LoadDataset, FindsTargetAndIdByTheirUsualNames) {
  const Dataset data = load_dataset(table("id,a,Label,b\ns1,1,yes,2\ns2,3,NA,4\n"), {});
  EXPECT_EQ(data.samples, 2);
  EXPECT_THAT(names(data), ElementsAre("a", "b"));
  EXPECT_THAT(data.features.values(), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(data.target_name, "Label");
  EXPECT_THAT(data.labels, ElementsAre("yes", ""));
  EXPECT_THAT(data.ids, ElementsAre("s1", "s2"));
  EXPECT_THAT(data.lines, ElementsAre(2, 3));
  EXPECT_THAT(data.notes, Contains(HasSubstr("'Label' as the target")));
  EXPECT_THAT(data.notes, Contains(HasSubstr("'id' as sample ids")));
}

TEST_F(LoadDataset, NamedTargetLeavesUsualNamesAsFeatures) {
  DatasetRequest request = table("y,x,kind\n1,2,a\n3,4,b\n");
  request.target = "kind";
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(names(data), ElementsAre("y", "x"));
  EXPECT_THAT(data.labels, ElementsAre("a", "b"));
}

TEST_F(LoadDataset, TargetErrors) {
  expect_refused(table("a,b\n1,2\n"), {"t.csv", "label, target, class or y", "--target", "a, b"});
  expect_refused(table("class,y\n1,2\n"), {"several", "class, y", "--target"});
  DatasetRequest request = table("a,lable\n1,2\n");
  request.target = "label";
  expect_refused(request, {"'label'", "a, lable", "Did you mean 'lable'"});
  request.target_required = false;
  EXPECT_THAT(load_dataset(request, {}).labels, IsEmpty());
  expect_refused(table("id,y\ns,2\n"), {"nothing to learn from"});
}

TEST_F(LoadDataset, InPredictionAnAmbiguousTargetIsNoError) {
  DatasetRequest request = table("class,y\n1,2\n");
  request.target_required = false;
  EXPECT_THAT(names(load_dataset(request, {})), ElementsAre("class", "y"));
}

TEST_F(LoadDataset, MissingInfiniteAndTextCells) {
  const Dataset data = load_dataset(table("a,b,c,y\n1,x,?,0\nNA,2,null,1\n"), {});
  EXPECT_THAT(names(data), ElementsAre("a", "c"));
  EXPECT_TRUE(std::isnan(data.features(1, 0)));
  ASSERT_EQ(data.texts.size(), 1U);
  EXPECT_EQ(data.texts[0].feature.name, "b");
  EXPECT_THAT(data.texts[0].values, ElementsAre("x", "2"));
  expect_refused(table("a,y\n1,0\n\n-inf,1\n"), {"t.csv line 4", "'a'", "'-inf'"});
  expect_refused(table("a,y\n1e999,1\n"), {"line 2", "'1e999'"});
  // In a column of words it is a word.
  EXPECT_EQ(load_dataset(table("a,y\ninf,0\nx,1\n"), {}).texts.size(), 1U);
}

TEST_F(LoadDataset, TextIgnoreAndWeightColumns) {
  DatasetRequest request = table("a,zip,note,n1,w,y\n1,00501,x,5,2,0\n2,10001,z,6,0.5,1\n");
  request.text = {"zip"};
  request.ignore = {"note", "n?"};
  request.weight = "w";
  const Dataset data = load_dataset(request, {});
  EXPECT_THAT(names(data), ElementsAre("a"));
  ASSERT_EQ(data.texts.size(), 1U);
  EXPECT_THAT(data.texts[0].values, ElementsAre("00501", "10001"));
  EXPECT_THAT(data.weights, ElementsAre(2, 0.5));
  request.ignore = {"nope"};
  expect_refused(request, {"'nope'", "ignore", "a, zip"});
  request.ignore = {};
  request.weight = "W";
  expect_refused(request, {"'W'", "weights", "Did you mean 'w'"});
  request = table("a,w,y\n1,2,0\n1,-1,1\n");
  request.weight = "w";
  expect_refused(request, {"line 3", "'-1'", "weight"});
}

TEST_F(LoadDataset, UnnamedFirstColumnIsIds) {
  const Dataset data = load_dataset(table(",a,y\nr1,1,0\nr2,2,1\n"), {});
  EXPECT_THAT(data.ids, ElementsAre("r1", "r2"));
  EXPECT_THAT(names(data), ElementsAre("a"));
  DatasetRequest request = table("key,a,y\n,1,0\n");
  request.id = "key";
  expect_refused(request, {"line 2", "id is empty"});
  request.id = "kee";
  expect_refused(request, {"'kee'", "sample id", "Did you mean 'key'"});
}

TEST_F(LoadDataset, FormatsByName) {
  EXPECT_THAT(names(load_dataset(table("a\ty\n1\t2\n3\t4\n", "t.TSV"), {})), ElementsAre("a"));
  EXPECT_THAT(names(load_dataset(table("a y\n1 2\n3 4\n", "t.txt"), {})), ElementsAre("a"));
  const Dataset semicolon = load_dataset(table("a;y\n1;2\n3;4\n"), {});
  EXPECT_THAT(names(semicolon), ElementsAre("a"));
  EXPECT_THAT(semicolon.notes, Contains(HasSubstr("semicolons")));
  expect_refused(table("a,y\n1,2\n", "t.xls"), {"t.xls", ".csv", ".npz"});
  DatasetRequest request;
  request.path = folder.file("none.csv");
  expect_refused(request, {"none.csv", "no such file"});
  expect_refused({}, {"No data was given"});
  expect_error<FileError>([&] { static_cast<void>(load_dataset(table("a,y\n", "t.csv.gz"), {})); }, {"gzip"});
}

TEST_F(LoadDataset, Svmlight) {
  const Dataset data = load_dataset(table("1 1:5 3:6\n-1 2:7\n", "t.svm"), {});
  EXPECT_THAT(names(data), ElementsAre("1", "2", "3"));
  EXPECT_THAT(data.features.values(), ElementsAre(5, 0, 0, 7, 6, 0));
  EXPECT_THAT(data.labels, ElementsAre("1", "-1"));
  EXPECT_EQ(data.target_name, "label");
  EXPECT_TRUE(data.absent_is_zero);
  const Dataset zero = load_dataset(table("1 0:5\n-1 1:7\n", "t.libsvm"), {});
  EXPECT_THAT(names(zero), ElementsAre("0", "1"));
  EXPECT_THAT(zero.notes, Contains(HasSubstr("begin at 0")));
  DatasetRequest request = table("1:5\n2:7\n", "t.svmlight");
  expect_refused(request, {"t.svmlight", "--target"});
  request.target_required = false;
  request.ignore = {"2"};
  EXPECT_THAT(names(load_dataset(request, {})), ElementsAre("1"));
}

TEST_F(LoadDataset, SvmlightTestFileWithoutTheLastFeatures) {
  const Dataset train = load_dataset(table("1 1:5 3:6\n-1 2:7\n", "train.svm"), {});
  const Dataset test = load_dataset(table("1 1:4\n", "test.svm"), {});
  PreprocessingOptions raw;
  raw.standardise = false;
  EXPECT_THAT(Preprocessing::fit(train, raw).apply(test).features.values(), ElementsAre(4, 0, 0));
}

TEST_F(LoadDataset, RefusesATableBeyondTheBudget) {
  std::string text = "a,b,word,y\n";
  for (int i = 0; i < 1000; ++i) text += "1,2,a word that is longer than a short one,0\n";
  const DatasetRequest request = table(text);
  // The most that was held at once: the table, and the data set beside it.
  const std::size_t needed = load_dataset(request, {}).reading_bytes;
  ASSERT_GT(needed, text.size());
  Context context;
  // Words are looked at as numbers first, 8 bytes each.
  context.memory_budget = needed + 8000 + 100;
  EXPECT_EQ(load_dataset(request, context).samples, 1000);
  for (const std::size_t less : {needed - 100, needed / 2, text.size() / 2, std::size_t{1}}) {
    context.memory_budget = less;
    expect_error<ResourceError>([&] { static_cast<void>(load_dataset(request, context)); },
                                {"t.csv", "--memory"});
  }
}

TEST_F(LoadDataset, NumpyArchive) {
  DatasetRequest request;
  request.path = std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/stored.npz";
  const Dataset data = load_dataset(request, {});
  EXPECT_EQ(data.samples, 2);
  EXPECT_THAT(names(data), ElementsAre("1", "2", "3"));
  EXPECT_DOUBLE_EQ(data.features(1, 0), 0.75);
  EXPECT_THAT(data.labels, ElementsAre("1", "2"));
  EXPECT_EQ(data.target_name, "y");
  request.path = std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/deflated.npz";
  EXPECT_EQ(load_dataset(request, {}).ids[3], "3");
  request.path = std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/f8_c.npy";
  expect_refused(request, {"f8_c.npy", "--target"});
  request.target_required = false;
  EXPECT_EQ(load_dataset(request, {}).features.cols(), 3);
  request.path = std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/ratio.npz";
  EXPECT_EQ(load_dataset(request, {}).features.rows(), 200000);
}

TEST_F(LoadDataset, SelectSamples) {
  Dataset data = load_dataset(table("id,a,b,w,y\ns1,1,x,1,0\ns2,2,z,2,1\ns3,3,x,3,0\n"), {});
  data.weights = {1, 2, 3};
  Matrix given(3, 3);
  given(2, 1) = 5.0;
  data.kernels = {{"K", given}};
  const Dataset chosen = select_samples(data, {2, 0, 2});
  EXPECT_EQ(chosen.samples, 3);
  EXPECT_THAT(chosen.ids, ElementsAre("s3", "s1", "s3"));
  EXPECT_THAT(chosen.lines, ElementsAre(4, 2, 4));
  EXPECT_THAT(chosen.features.column(0), ElementsAre(3, 1, 3));
  EXPECT_THAT(chosen.texts[0].values, ElementsAre("x", "x", "x"));
  EXPECT_THAT(chosen.labels, ElementsAre("0", "0", "0"));
  EXPECT_THAT(chosen.weights, ElementsAre(3, 1, 3));
  EXPECT_EQ(chosen.kernels[0].values.cols(), 3);
  EXPECT_EQ(chosen.kernels[0].values(0, 1), 5.0);
  const Dataset cut = select_samples(data, {2, 0}, {1});
  EXPECT_THAT(cut.features.column(0), ElementsAre(3, 1));
  EXPECT_EQ(cut.kernels[0].values.rows(), 2);
  EXPECT_EQ(cut.kernels[0].values.cols(), 1);
  EXPECT_EQ(cut.kernels[0].values(0, 0), 5.0);
  EXPECT_THROW(static_cast<void>(select_samples(data, {3})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(select_samples(data, {-1})), InvalidArgument);
}

// Columns in memory make the same data set as a file that holds them.
TEST_F(LoadDataset, ColumnsInMemory) {
  const double gap = std::nan("");
  const std::vector<TableColumn> columns = {{"id", {}, {"p", "q", "r"}},
                                            {"a", {1.0, gap, 3.0}, {}},
                                            {"word", {}, {"red", "", "blue"}},
                                            {"digits", {}, {"1", "-", "2.5"}}};
  const Dataset found = dataset_from_columns(columns, 3, {});
  DatasetRequest file = table("id,a,word,digits,y\np,1,red,1,u\nq,,,-,v\nr,3,blue,2.5,u\n");
  const Dataset wanted = load_dataset(file, {});
  EXPECT_EQ(found.ids, wanted.ids);
  EXPECT_EQ(found.feature_info, wanted.feature_info);
  ASSERT_EQ(found.features.cols(), 2);
  for (Index j = 0; j < 2; ++j) {
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(std::isnan(found.features(i, j)), std::isnan(wanted.features(i, j)));
      if (!std::isnan(wanted.features(i, j))) {
        EXPECT_EQ(found.features(i, j), wanted.features(i, j));
      }
    }
  }
  ASSERT_EQ(found.texts.size(), 1U);
  EXPECT_EQ(found.texts[0].values, wanted.texts[0].values);

  DatasetRequest prediction;
  prediction.target_required = false;
  prediction.text = {"a"};
  const Dataset fresh = dataset_from_columns(columns, 3, prediction);
  EXPECT_THAT(fresh.ids, IsEmpty());
  ASSERT_EQ(fresh.texts.size(), 3U);
  EXPECT_THAT(fresh.texts[1].values, ElementsAre("1", "", "3"));
  expect_error<InvalidArgument>(
      [&] {
        (void)dataset_from_columns({{"a", {1.0}, {}}, {"a", {2.0}, {}}}, 1, {});
      },
      {"two columns", "'a'"});
}

// The text and the numbers are there at once; cells of 17 digits are longer than the numbers that they become.
TEST(Dataset, TellsWhatReadingTook) {
  const TempFolder folder;
  std::string text = "a,b,y\n";
  for (int i = 0; i < 5000; ++i) text += "0.12345678901234567,1.2345678901234567,1\n";
  DatasetRequest request;
  request.path = folder.write("t.csv", text);
  const Dataset data = load_dataset(request, {});
  EXPECT_GE(data.reading_bytes, text.size() + sample_bytes(data));
  // Besides, for each cell 4 bytes, and for each row where it begins and its line.
  EXPECT_LE(data.reading_bytes, text.size() + sample_bytes(data) + 5000U * (3U * 4U + 2U * 8U) + 64U);
}

}  // namespace
}  // namespace kloom
