// SPDX-License-Identifier: BSD-3-Clause
//
// Public data sets in the folder KLOOM_DATA (default: shared/data beside the checkout), looked up when the test
// runs. Its MANIFEST.tsv says independently how many samples, features and members of each class there are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "data/csv.h"
#include "data/gzip.h"
#include "kloom/dataset.h"
#include "kloom/targets.h"
#include "support/folders.h"

namespace kloom {
namespace {

std::string data_file(const std::string& name) {
  return (test::data_folder() / name).string();
}

// "2: -1(benign)=444; 1(malignant)=239" -> {"-1": 444, "1": 239}.
std::map<std::string, int> class_counts(const std::string& text) {
  std::map<std::string, int> counts;
  std::size_t at = text.find(':') + 1;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    const std::string item = text.substr(at, end - at);
    const std::size_t first = item.find_first_not_of(' ');
    counts[item.substr(first, item.find_first_of("(=") - first)] = std::stoi(item.substr(item.rfind('=') + 1));
    at = end + 1;
  }
  return counts;
}

void check_row(const data::TextTable& manifest, Index row) {
  const auto cell = [&](const char* name) { return std::string(manifest.cell(row, manifest.find(name))); };
  SCOPED_TRACE(cell("file"));
  DatasetRequest request;
  request.path = data_file(cell("file"));
  const Dataset data = load_dataset(request, {});
  EXPECT_EQ(data.samples, std::stoi(cell("rows")));
  const bool kernels = cell("features").find("kernels") != std::string::npos;
  EXPECT_EQ(kernels ? static_cast<Index>(data.kernels.size()) : data.features.cols(),
            std::stoi(cell("features")));
  for (const PrecomputedMatrix& kernel : data.kernels) {
    EXPECT_EQ(kernel.values.rows(), data.samples);
    EXPECT_EQ(kernel.values.cols(), data.samples);
  }
  std::map<std::string, int> counts;
  for (const std::string& label : data.labels) {
    ++counts[label];
  }
  EXPECT_EQ(counts, class_counts(cell("classes_with_counts")));
  const Targets targets = make_targets(data.labels, {});
  EXPECT_EQ(targets.task, counts.size() == 2 ? Task::binary : Task::multiclass);
  EXPECT_EQ(targets.classes.size(), counts.size());
  std::cout << cell("file") << ": " << data.samples << " samples\n";
}

TEST(SharedData, AgreesWithItsManifest) {
  const std::string path = data_file("MANIFEST.tsv");
  if (!std::filesystem::exists(path)) {
    ASSERT_EQ(std::getenv("KLOOM_DATA"), nullptr) << "KLOOM_DATA names a folder without MANIFEST.tsv";
    GTEST_SKIP() << "no data sets in " << test::data_folder() << "; name a folder in KLOOM_DATA";
  }
  const data::TextTable manifest =
      data::parse_csv(data::read_file(path, std::size_t{1} << 24U), {'\t', true, path});
  ASSERT_GT(manifest.rows(), 0);
  for (Index i = 0; i < manifest.rows(); ++i) {
    check_row(manifest, i);
  }
}

TEST(SharedData, ProteinFoldViewsByPrefix) {
  DatasetRequest request;
  request.path = data_file("proteinfold.train.csv.gz");
  if (!std::filesystem::exists(request.path)) {
    GTEST_SKIP() << "no " << request.path << "; name a folder in KLOOM_DATA";
  }
  request.views_by_prefix = true;
  const Dataset data = load_dataset(request, {});
  ASSERT_EQ(data.views.size(), 12U);
  EXPECT_EQ(data.views[0].name, "Composition");
  EXPECT_EQ(data.views[0].features.size(), 20U);
  EXPECT_EQ(data.views[11].name, "SWpam50");
  EXPECT_EQ(data.views[11].features.size(), 311U);
}

}  // namespace
}  // namespace kloom
