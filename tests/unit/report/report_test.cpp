// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace kloom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Report sample_report() {
  Report report;
  report.method = "bemkl";
  report.bank = "low-rank";
  report.task = "binary";
  report.samples = 569;
  report.kernels = 403;
  report.status = Status::iteration_limit;
  report.message = "stopped at 200 iterations";
  report.iterations = 200;
  report.objective = -123.25;
  report.objective_name = "lower bound";
  report.trace = {{1, -200.0, 0.5}, {2, -150.0, 1.0}};
  report.options = {{"sigma_g", "0.5"}};
  report.seconds = {{"kernels", 0.5}, {"fit", 1.25}};
  report.memory_bytes = 1200000000;
  report.threads = 2;
  report.seed = 18446744073709551615u;
  report.environment = {{"processor", "x"}};
  report.warnings = {"be careful"};
  report.certificate.verdict = "the bound was recomputed";
  report.certificate.items = {{"lower bound", -123.25, "recomputed"}};
  report.evaluations = {{171, {{"accuracy", 0.97}}, "test", {"a", "b"}, {{100, 1}, {2, 68}}}};
  return report;
}

TEST(ReportJson, HoldsEveryFieldWithItsValue) {
  const Report report = sample_report();
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["method"], "bemkl");
  EXPECT_EQ(json["status"], "iteration limit");
  EXPECT_EQ(json["message"], report.message);
  EXPECT_EQ(json["bank"], "low-rank");
  EXPECT_EQ(json["samples"], 569);
  EXPECT_EQ(json["kernels"], 403);
  EXPECT_EQ(json["iterations"], 200);
  EXPECT_EQ(json["objective"], -123.25);
  EXPECT_EQ(json["objective_name"], "lower bound");
  EXPECT_EQ(json["trace"][1]["objective"], -150.0);
  EXPECT_EQ(json["options"]["sigma_g"], "0.5");
  EXPECT_EQ(json["seconds"]["fit"], 1.25);
  EXPECT_EQ(json["memory_bytes"], 1200000000);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), report.seed);
  EXPECT_EQ(json["environment"]["processor"], "x");
  EXPECT_EQ(json["warnings"][0], "be careful");
  EXPECT_EQ(json["certificate"]["finding"], "checked");
  EXPECT_EQ(json["certificate"]["proof"], false);
  EXPECT_EQ(json["certificate"]["items"][0]["value"], -123.25);
  EXPECT_EQ(json["evaluations"][0]["values"]["accuracy"], 0.97);
  EXPECT_EQ(json["evaluations"][0]["confusion"][1][0], 2);
  EXPECT_FALSE(json.contains("non_finite"));
}

TEST(ReportJson, NumbersThatJsonLacksAreNullAndListed) {
  Report report = sample_report();
  report.objective = std::numeric_limits<double>::quiet_NaN();
  report.trace[1].objective = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(to_json(report));
  EXPECT_TRUE(json["objective"].is_null());
  EXPECT_EQ(json["non_finite"], (Json{"objective", "trace[1].objective"}));
}

TEST(ReportJson, NamesInOtherEncodingsStillGiveUtf8) {
  Report report = sample_report();
  report.message = "caf\xE9 \xC3\xA9";  // Latin-1 and then UTF-8
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["message"], "caf\xEF\xBF\xBD \xC3\xA9");
}

TEST(ReportText, SaysWhatHappened) {
  const std::string text = to_text(sample_report());
  EXPECT_THAT(text, HasSubstr("bemkl: iteration limit after 200 iterations, lower bound -123.25"));
  EXPECT_THAT(text, HasSubstr("569 samples, 403 kernels (low-rank bank), binary"));
  EXPECT_THAT(text, HasSubstr("1.75 s (kernels 0.50 s, fit 1.25 s)"));
  EXPECT_THAT(text, HasSubstr("1.2 GB"));
  EXPECT_THAT(text, HasSubstr("sigma_g=0.5"));
  EXPECT_THAT(text, HasSubstr("be careful"));
  EXPECT_THAT(text, HasSubstr("certificate (checked, which is not a proof): the bound was recomputed"));
  EXPECT_THAT(text, HasSubstr("evaluation on test: 171 samples"));
  EXPECT_THAT(text, HasSubstr("    b        2   68"));
}

TEST(ReportText, ProofIsCalledProofAndAbsenceIsSaid) {
  Report report = sample_report();
  report.certificate.finding = Certificate::Finding::proved;
  EXPECT_THAT(to_text(report), HasSubstr("certificate (proved): "));
  report.certificate.finding = Certificate::Finding::refuted;
  report.certificate.refutations = {"the gap is no finite number", "the bias is 3"};
  EXPECT_THAT(to_text(report), HasSubstr("certificate (refuted): "));
  EXPECT_THAT(to_text(report), HasSubstr("also: the bias is 3"));
  EXPECT_THAT(to_text(Certificate()), HasSubstr("none"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("none")));
}

}  // namespace
}  // namespace kloom
