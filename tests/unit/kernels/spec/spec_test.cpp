// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/kernel_spec_input.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "support/files.h"

namespace kloom {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::string& text) {
  try {
    (void)parse_kernel_spec(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<double> values_of(const std::string& text) {
  return parse_kernel_spec(text).families.at(0).values;
}

TEST(KernelSpec, ReadsTheExampleOfTheGuide) {
  const KernelSpec spec =
      parse_kernel_spec("rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each");
  ASSERT_EQ(spec.families.size(), 2U);
  const KernelFamily& rbf = spec.families[0];
  EXPECT_EQ(rbf.function, KernelFunction::rbf);
  EXPECT_EQ(rbf.parameter, "width");
  EXPECT_THAT(rbf.values, ElementsAre(0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(rbf.scopes, ElementsAre(Scope{ScopeKind::all, {}}, Scope{ScopeKind::each, {}}));
  EXPECT_FALSE(rbf.has_normalisation);
  EXPECT_THAT(spec.families[1].values, ElementsAre(1, 2, 3));
}

TEST(KernelSpec, ReadsRangesAsTheyAreWritten) {
  EXPECT_THAT(values_of("rbf(gamma=10^-1..10^2)"), ElementsAre(0.1, 1.0, 10.0, 100.0));
  EXPECT_THAT(values_of("rbf(gamma=1e-1..1e2)"), ElementsAre(0.1, 1.0, 10.0, 100.0));
  EXPECT_THAT(values_of("rbf(gamma=5e-1..5e1)"), ElementsAre(0.5, 5.0, 50.0));
  EXPECT_THAT(values_of("rbf(width=0.5,1,2)"), ElementsAre(0.5, 1.0, 2.0));
  EXPECT_THAT(values_of("rbf(width=0.5|1|2)"), ElementsAre(0.5, 1.0, 2.0));
  EXPECT_THAT(values_of("rbf(width=0.5, 1 ,2, normalise=centre)"), ElementsAre(0.5, 1.0, 2.0));
  EXPECT_THAT(values_of("rbf(width=1..3, 0.5)"), ElementsAre(1.0, 2.0, 3.0, 0.5));
  EXPECT_THAT(values_of("rbf(width=0.1..0.5, step=0.1)"), ElementsAre(0.1, 0.2, 0.3, 0.4, 0.5));
  EXPECT_THAT(values_of("rbf(width=1..10, step=4)"), ElementsAre(1.0, 5.0, 9.0));
  EXPECT_THAT(values_of("rbf(width=2^0..2^2, step=0.5)"),
              ElementsAre(1.0, DoubleEq(std::sqrt(2.0)), 2.0, DoubleEq(2.0 * std::sqrt(2.0)), 4.0));
  EXPECT_THAT(values_of("rbf(width=1..100, count=3)"), ElementsAre(1.0, DoubleEq(10.0), 100.0));
  EXPECT_THAT(values_of("rbf(count=3, width=1..100)"), ElementsAre(1.0, DoubleEq(10.0), 100.0));
  EXPECT_THAT(values_of("rbf(width=1,2,1,2)"), ElementsAre(1.0, 2.0));
  const auto many = values_of("expdist(gamma=2^-5..2^5, count=200)");
  ASSERT_EQ(many.size(), 200U);
  EXPECT_EQ(many.front(), 0.03125);
  EXPECT_EQ(many.back(), 32.0);
  for (std::size_t i = 1; i < many.size(); ++i)  // log-spaced: one ratio, here 2^(10/199), to rounding
    EXPECT_NEAR(many[i] / many[i - 1], std::exp2(10.0 / 199.0), 1e-14);
}

TEST(KernelSpec, ReadsFoldsOfTrees) {
  const KernelSpec spec = parse_kernel_spec("trees(leaves=4,8, folds=5) on all");
  EXPECT_EQ(spec.families[0].folds, 5);
  EXPECT_EQ(to_string(spec), "trees(leaves=4,8, folds=5) on all");
  EXPECT_EQ(parse_kernel_spec("trees(folds=5, leaves=4,8) on all"), spec);
  EXPECT_THAT(message_of("rbf(auto, folds=5)"), HasSubstr("rbf has no parameter 'folds'"));
  EXPECT_THAT(message_of("trees(leaves=4, folds=1)"), HasSubstr("folds must be a whole number from 2 to 20"));
  EXPECT_THAT(message_of("trees(leaves=4, folds=2.5)"), HasSubstr("folds must be a whole number from 2 to 20"));
  EXPECT_THAT(message_of("trees(leaves=4, folds=2, folds=3)"), HasSubstr("folds is given twice"));
}

TEST(KernelSpec, ReadsScopes) {
  const auto scopes = [](const std::string& text) {
    return parse_kernel_spec("linear" + text).families[0].scopes;
  };
  EXPECT_THAT(scopes(""), ElementsAre(Scope{}));
  EXPECT_THAT(scopes(" on views, view rna, age"),
              ElementsAre(Scope{ScopeKind::views, {}}, Scope{ScopeKind::view, {"rna"}},
                          Scope{ScopeKind::columns, {"age"}}));
  EXPECT_THAT(scopes(" on age + grade,\"all\", \"mean \"\"radius\"\", 1\""),
              ElementsAre(Scope{ScopeKind::columns, {"age", "grade"}}, Scope{ScopeKind::columns, {"all"}},
                          Scope{ScopeKind::columns, {"mean \"radius\", 1"}}));
  EXPECT_THAT(scopes(" on view \"a b\", L1.12, größe"),
              ElementsAre(Scope{ScopeKind::view, {"a b"}}, Scope{ScopeKind::columns, {"L1.12"}},
                          Scope{ScopeKind::columns, {"größe"}}));
}

TEST(KernelSpec, DefaultsWhereNoValueIsGiven) {
  EXPECT_EQ(to_string(parse_kernel_spec("rbf; laplacian ; chi2")), "rbf(auto); laplacian(auto); chi2(auto)");
  EXPECT_EQ(to_string(parse_kernel_spec("expdist")), "expdist(gamma=1)");
  EXPECT_EQ(to_string(parse_kernel_spec("gaussian(auto,count=7);polynomial(degree=2);")),
            "rbf(auto, count=7); poly(degree=2)");
}

TEST(KernelSpec, CanonicalTextReadsBack) {
  const std::vector<std::string> texts = {"rbf",
                                          "rbf(auto)",
                                          "rbf(auto, count=7) on all",
                                          "rbf(width=2^-3..2^6) on all, each",
                                          "linear",
                                          "rbf(gamma=1e-300)",
                                          "rbf(width=0.1,0.30000000000000004,1e100)",
                                          "rbf(gamma=1e-1..1e4, normalise=none)",
                                          "poly(degree=1..3, normalize=center) on views",
                                          "cosine(normalise=unit-trace) on view x",
                                          "intersection on a + b, \"on\", \"view\", \"views\", \"each\"",
                                          "chi2(gamma=2^-3..2^3)",
                                          "laplacian(auto) on each",
                                          "spectrum(k=3) on sequence",
                                          "spectrum(k=3..5, mismatches=2) on sequence",
                                          "spectrum(gaps=1, k=2) on a, b",
                                          "spectrum(k=2..4, scale=tfidf) on a",
                                          "edit(width=1,2)",
                                          "edit(auto, count=3) on sequence",
                                          "precomputed",
                                          "precomputed(normalise=unit-variance)",
                                          "expdist(gamma=2^-5..2^5, count=200)",
                                          "linear on \"a;b\", \"(\", \"\"\"\"",
                                          "rbf(width=3^-2..3^2)",
                                          "rbf(width=0.05..0.35, count=13) ; linear on all;"};
  for (const auto& text : texts) {
    const KernelSpec spec = parse_kernel_spec(text);
    const std::string canonical = to_string(spec);
    EXPECT_EQ(parse_kernel_spec(canonical), spec) << text << " → " << canonical;
    EXPECT_EQ(to_string(parse_kernel_spec(canonical)), canonical);
  }
}

struct Malformed {
  std::string text;
  int position;
  std::string part;  // of the message
};

const std::vector<Malformed> kMalformed = {
    {"", 1, "found the end, expected the name of a kernel"},
    {"   ", 4, "found the end"},
    {";", 1, "found ';'"},
    {"rbf;;linear", 5, "found ';'"},
    {"rfb(width=1)", 1, "unknown kernel 'rfb'; known are rbf, poly"},
    {"rbf(width=1) on all; foo", 22, "unknown kernel 'foo'"},
    {"Rbf", 1, "unknown kernel 'Rbf'"},
    {"1", 1, "found '1', expected the name of a kernel"},
    {"rbf(", 5, "found the end, expected a parameter of rbf: width=, gamma=, auto"},
    {"rbf()", 5, "found ')', expected a parameter"},
    {"rbf(width)", 10, "found ')', expected '=' after width"},
    {"rbf(width=)", 11, "found ')', expected a number"},
    {"rbf(width=1", 12, "found the end, expected ',' and another parameter, or ')'"},
    {"rbf(width=1,)", 13, "found ')', expected a parameter"},
    {"rbf(width=1 2)", 13, "found '2', expected ','"},
    {"rbf(width=.5)", 11, "found '.', expected a number"},
    {"rbf(width=1..)", 14, "found ')', expected a number"},
    {"rbf(width=1...3)", 14, "found '.', expected a number"},
    {"rbf(width=..3)", 11, "found '.'"},
    {"rbf(width=3..1)", 11, "runs backwards, from 3 to 1"},
    {"rbf(width=0.5..2)", 11, "needs count="},
    {"rbf(width=1..1e4)", 11, "needs count="},
    {"rbf(width=1e0..10^3)", 11, "needs count="},
    {"rbf(width=2^0..3^2)", 11, "needs count="},
    {"rbf(width=0.5..2, count=1)", 11, "at least 2"},
    {"rbf(width=0.5..2, count=0)", 25, "whole number from 1"},
    {"rbf(width=0.5..2, count=2.5)", 25, "whole number from 1"},
    {"rbf(width=0.5..2, count=-3)", 25, "whole number from 1"},
    {"rbf(width=0.5..2, count=1e9)", 25, "whole number from 1 to 100000"},
    {"rbf(width=0.5..2, count=3, step=1)", 28, "not both"},
    {"rbf(width=0.5..2, count=3, count=4)", 28, "count is given twice"},
    {"rbf(width=0.5..2, step=0)", 24, "step must be positive"},
    {"rbf(width=0.5..2, step=-1)", 24, "step must be positive"},
    {"rbf(width=0.5..2, step=1, step=1)", 27, "step is given twice"},
    {"rbf(width=0.5, count=3)", 16, "need a range"},
    {"rbf(width=0..2, count=3)", 11, "needs positive ends"},
    {"rbf(width=1..2000000)", 11, "2000000 values, more than the 100000"},
    {"rbf(width=0.5..2, step=1e-12)", 11, "more than the 100000"},
    {"rbf(width=-1)", 11, "width must be positive, not -1"},
    {"rbf(width=0..2)", 11, "width must be positive, not 0"},
    {"rbf(width=1, gamma=0)", 14, "give width or gamma, not both"},
    {"rbf(gamma=0)", 11, "gamma must be positive"},
    {"rbf(width=1, width=2)", 14, "width is given twice"},
    {"rbf(auto, width=2)", 5, "give auto or width=, not both"},
    {"rbf(auto, auto)", 11, "auto is given twice"},
    {"rbf(auto, step=2)", 11, "auto takes count=, not step="},
    {"rbf(width=1e400)", 11, "beyond what a double can hold"},
    {"rbf(width=10^400)", 11, "beyond what a double can hold"},
    {"rbf(width=1e-200)", 11, "too extreme"},
    {"rbf(width=1e200)", 11, "too extreme"},
    {"rbf(width=2^)", 13, "expected an exponent"},
    {"rbf(width=0^2)", 11, "base of a power must be positive"},
    {"rbf(width=1e)", 13, "digits of an exponent"},
    {"rbf(width=nan)", 11, "found 'n', expected a number"},
    {"rbf(width=inf)", 11, "found 'i', expected a number"},
    {"rbf(width=0x10)", 12, "found 'x'"},
    {"rbf(sigma=1)", 5, "rbf has no parameter 'sigma'; it accepts width=, gamma=, auto"},
    {"linear(width=1)", 8, "linear has no parameter 'width'; it accepts scale=, normalise="},
    {"linear(count=3)", 8, "linear has no values to space"},
    {"linear(auto)", 8, "linear has no automatic values"},
    {"poly", 1, "poly needs degree=, for example poly(degree=1..3)"},
    {"spectrum on s", 1, "spectrum needs k="},
    {"spectrum(k=3, mismatches=-1)", 26, "mismatches must be a whole number from 0 to 1000"},
    {"spectrum(k=3, mismatches=0.5)", 26, "mismatches must be a whole number from 0 to 1000"},
    {"spectrum(k=3, gaps=1001)", 20, "gaps must be a whole number from 0 to 1000"},
    {"spectrum(k=3, gaps=1, gaps=1)", 23, "gaps is given twice"},
    {"spectrum(k=3, gaps=1, mismatches=1)", 1, "give mismatches= or gaps=, not both"},
    {"spectrum(k=2..4, mismatches=2)", 1, "mismatches must be less than k, but 2 is not less than 2"},
    {"spectrum(k=2, scale=ranks)", 1, "spectrum takes scale=tfidf alone"},
    {"spectrum(k=2, gaps=1, scale=tfidf)", 1, "without mismatches= and gaps="},
    {"words(gaps=1)", 7, "words has no parameter 'gaps'"},
    {"edit(gamma=1)", 6, "edit has no parameter 'gamma'"},
    {"edit(width=0)", 12, "must be positive"},
    {"poly(degree=1.5)", 13, "degree must be a whole number from 1 to 100, not 1.5"},
    {"poly(degree=0..2)", 13, "degree must be a whole number"},
    {"poly(degree=101)", 13, "degree must be a whole number"},
    {"poly(degree=1..2, auto)", 19, "poly has no automatic values"},
    {"rbf(auto, normalise=)", 21, "expected a normalisation"},
    {"rbf(auto, normalise=unit)", 21, "unknown normalisation 'unit'"},
    {"rbf(auto, normalise=none, normalise=none)", 27, "normalise is given twice"},
    {"rbf on", 7, "found the end, expected a scope"},
    {"rbf on ,", 8, "found ',', expected a scope"},
    {"rbf on all,", 12, "found the end, expected a scope"},
    {"rbf on view", 12, "found the end, expected the name of a view"},
    {"rbf on a +", 11, "expected the name of a column"},
    {"rbf on \"age", 8, "not closed"},
    {"rbf on \"\"", 8, "must not be empty"},
    {"rbf on all each", 12, "found 'e', expected ',' and another scope"},
    {"rbf all", 5, "found 'a', expected 'on'"},
    {"rbf(auto) (", 11, "found '(', expected 'on'"},
    {"rbf(auto) on größe x", 20, "found 'x', expected ','"},
    {"rbf(auto, count=60000) on a, b", 1, "more than 100000 kernels"},
    {"linear\x01", 7, "found byte 0x01"},
};

TEST(KernelSpec, SaysWhereAndWhatIsWrong) {
  for (const auto& c : kMalformed) {
    const std::string message = message_of(c.text);
    EXPECT_THAT(message, HasSubstr("kernel spec, at position " + std::to_string(c.position) + ": ")) << c.text;
    EXPECT_THAT(message, HasSubstr(c.part)) << c.text;
  }
  EXPECT_GE(kMalformed.size(), 60U);
}

TEST(KernelSpec, PutsTheCaretUnderThePlace) {
  EXPECT_EQ(message_of("rbf(width=) on all"),
            "kernel spec, at position 11: found ')', expected a number such as 2, 0.5, 1e-3 or 2^-3\n"
            "  rbf(width=) on all\n"
            "            ^");
  // A character of several bytes takes one column, and a long text is cut around the place.
  EXPECT_THAT(message_of("rbf on größe x"), HasSubstr("\n  rbf on größe x\n               ^"));
  const std::string longer = message_of("linear on " + std::string(200, 'a') + " b " + std::string(200, 'c'));
  const auto caret = longer.rfind("\n  ");
  EXPECT_THAT(longer, HasSubstr("at position 212"));
  EXPECT_THAT(longer, HasSubstr("\n  …" + std::string(39, 'a') + " b " + std::string(38, 'c') + "…\n"));
  EXPECT_EQ(longer.substr(caret), "\n  " + std::string(41, ' ') + "^");
}

TEST(KernelSpec, NamesOfNormalisations) {
  for (const auto n : {Normalisation::none, Normalisation::unit_diagonal, Normalisation::unit_trace,
                       Normalisation::unit_variance, Normalisation::centre})
    EXPECT_EQ(parse_normalisation(to_string(n)), n);
  EXPECT_THROW((void)parse_normalisation("unit"), InvalidArgument);
}

TEST(ParseRange, ServesGridsToo) {
  EXPECT_THAT(parse_range("1..3", -1, 0.0), ElementsAre(1, 2, 3));
  EXPECT_THAT(parse_range(" 1e-1..1e4 ", -1, 0.0), ElementsAre(0.1, 1, 10, 100, 1000, 10000));
  EXPECT_THAT(parse_range("-2..2", -1, 0.0), ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_THAT(parse_range("-1..1", -1, 0.5), ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(parse_range("0.1,1,10", -1, 0.0), ElementsAre(0.1, 1, 10));
  EXPECT_THAT(parse_range("1..16", 5, 0.0), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THROW((void)parse_range("0.1..1", -1, 0.0), InvalidArgument);
  EXPECT_THROW((void)parse_range("1..", -1, 0.0), InvalidArgument);
  EXPECT_THROW((void)parse_range("1;2", -1, 0.0), InvalidArgument);
  EXPECT_THROW((void)parse_range("", -1, 0.0), InvalidArgument);
}

// What fuzzing found worth keeping.
TEST(KernelSpec, ReplaysTheFuzzCorpus) {
  const std::filesystem::path folder =
      std::filesystem::path(KLOOM_SOURCE_DIR) / "tests/fuzz/corpus/kernel_spec";
  int inputs = 0;
  int specs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++inputs;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(specs +=
                    fuzz::read_kernel_spec_input(kloom::testing::read_bytes(entry.path().string())) ? 1 : 0);
  }
  EXPECT_GE(inputs, 50);
  EXPECT_GE(specs, 5);
  std::cout << inputs << " inputs, " << specs << " of them specs\n";
}

}  // namespace
}  // namespace kloom
