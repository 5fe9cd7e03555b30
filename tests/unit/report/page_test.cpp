// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kloom/error.h"
#include "report/kernel_label.h"
#include "report/svg.h"

namespace kloom {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

// A trained model of two kernels, as `kloom train --report` would describe it.
Json training() {
  FitResult fit;
  fit.model.method = "made-up";
  fit.model.task = Task::binary;
  fit.model.classes = {"</script><b>", "b & c"};
  fit.model.kernel_names = {"rbf(width=1) on all", "linear"};
  fit.model.weights.values = Matrix(1, 2, 0.5);
  fit.report.trace = {{1, 3.0, 0.1}, {2, 2.0, 0.2}, {3, 1.5, 0.3}};
  fit.report.objective_name = "objective";
  Dataset data;
  data.source = "made-up.csv";
  data.samples = 2;
  Targets targets;
  targets.classes = fit.model.classes;
  targets.codes = {0, 1};
  RunFacts facts;
  facts.kind = "train";
  facts.command = "kloom train 'a b.csv'";
  return Json::parse(to_json(fit, data, targets, facts));
}

TEST(Page, CarriesItsDataAndLetsNoNameBecomeMarkup) {
  const Json report = training();
  const std::string page = report_page(report.dump());
  EXPECT_THAT(page, HasSubstr("figure-weights"));
  EXPECT_THAT(page, HasSubstr("figure-convergence"));
  EXPECT_THAT(page, HasSubstr("kloom train &#39;a b.csv&#39;"));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  const std::string mark = "id='report-data'>";
  const std::size_t start = page.find(mark) + mark.size();
  EXPECT_EQ(Json::parse(page.substr(start, page.find("</script>", start) - start)), report);
}

TEST(Page, DrawsWhatALearnerSaysOfEachSample) {
  Json report = training();
  EXPECT_THAT(report_page(report.dump()), Not(HasSubstr("figure-switches")));
  // As src/report/report_json.cpp writes them.
  Json map = {{"output", ""},          {"kernels", {"first", "second"}}, {"weights", {0.5, 0.0}},
              {"classes", {"a", "b"}}, {"sample_classes", {0, 1, 0}},    {"order", {0, 2, 1}}};
  map["samples"] = {"10", "0-", "11"};
  report["model"]["report"]["switches"] = Json::array({map});
  map["samples"] = {{0.25, 0.75}, {0.5, 0.5}, {1.0, 0.0}};
  report["model"]["report"]["gating"] = Json::array({map});
  const std::string page = report_page(report.dump());
  EXPECT_THAT(page, HasSubstr("figure-switches"));
  EXPECT_THAT(page, HasSubstr("figure-gating"));
}

TEST(Page, LeavesOutKernelsThatSayNothing) {
  Json report = training();
  EXPECT_THAT(report_page(report.dump()), HasSubstr("All 2 weights"));
  report["model"]["kernels"][1]["weight"] = 0.0;
  // As src/report/view_json.cpp writes them: the loudest kernel first.
  Json map = {{"output", ""},
              {"all_kernels", 4},
              {"kernels", {"loud", "soft", "silent"}},
              {"classes", {"a", "b"}},
              {"sample_classes", {0, 1}},
              {"order", {0, 1}},
              {"samples", {{1.0, 0.2, 1e-4}, {-0.5, 0.1, 0.0}}}};
  report["viewed"] = {
      {"source", "samples"}, {"contributions", Json::array({map})}, {"list", Json::array()}, {"count", 2}};
  const std::string page = report_page(report.dump());
  EXPECT_THAT(page, HasSubstr("The 1 of 2 weights that are not 0"));
  EXPECT_THAT(page, HasSubstr("The 2 of 4 kernels that add most"));
  EXPECT_THAT(page, HasSubstr("<li>soft</li>"));
  EXPECT_THAT(page, Not(HasSubstr("<li>silent</li>")));
}

TEST(Page, RefusesWhatIsNoReport) {
  for (const char* text : {"", "{}", "[1]", "{\"kloom_report\": 2}", "{\"kloom_report\": 1}", "<html>"})
    EXPECT_THROW((void)report_page(text), InvalidArgument) << text;
}

TEST(Svg, NumbersTicksAndShortNames) {
  using namespace report;  // NOLINT(google-build-using-namespace): a test of that namespace
  EXPECT_EQ(capitalised("converged"), "Converged");
  EXPECT_EQ(capitalised("über"), "über");
  EXPECT_EQ(capitalised(""), "");
  EXPECT_EQ(short_number(0.0), "0");
  EXPECT_EQ(short_number(0.973), "0.973");
  EXPECT_EQ(short_number(1.5), "1.5");
  EXPECT_EQ(short_number(350.2), "350");
  EXPECT_EQ(short_number(1e-7), "1e-07");
  EXPECT_EQ(short_number(-0.0001), "-0.0001");
  EXPECT_EQ(ticks(0.0, 1.0, 5), (std::vector<double>{0.0, 0.2, 0.4, 2 * 0.30000000000000004, 0.8, 1.0}));
  EXPECT_EQ(ticks(3.0, 3.0, 5), (std::vector<double>{3.0})) << "nothing to divide";
  EXPECT_EQ(shortened("αβγδ", 4), "αβγδ");
  EXPECT_EQ(shortened("αβγδε", 4), "αβγ…");
  EXPECT_EQ(shortened_inside("rbf(width=0.847134) on view alpha", 11), "rbf(w…alpha");
  EXPECT_EQ(kernel_label("rbf(width=0.847134) on view alpha", 33), "rbf(width=0.847134) on view alpha");
  EXPECT_EQ(kernel_label("rbf(width=0.847134) on view alpha", 32), "rbf(width=0.847) on view alpha");
  EXPECT_EQ(kernel_label("rbf(width=0.847134) on view alpha", 21), "rbf(0.847) on alpha");
  EXPECT_EQ(kernel_label("rbf(width=0.847134) on view alpha", 11), "rbf(0…alpha");
  EXPECT_EQ(kernel_label("rbf(width=1.63335, scale=ranks) on x2.50001", 29), "rbf(1.63, ranks) on x2.50001");
  EXPECT_EQ(kernel_label("trees(leaves=8)", 10), "trees(8)") << "nothing behind the parameters";
  EXPECT_EQ(kernel_label("a long name of a matrix", 9), "a lo…trix");
  EXPECT_EQ(escaped("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
}

}  // namespace
}  // namespace kloom
