// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of texts that differ in places, against their definitions letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "kernels/banks/computed_bank.h"
#include "kernels/functions/edit_distance.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "support/problems.h"

namespace kloom::kernels {
namespace {

using test::kernel_of;
using ::testing::HasSubstr;
using Counts = std::map<std::string, double>;
using Texts = std::vector<std::string>;

Texts random_texts(int count, std::size_t longest, unsigned seed, const std::string& letters = "abcd") {
  std::mt19937_64 random(seed);
  Texts texts;
  for (int i = 0; i < count; ++i) {
    std::string text;
    const std::size_t length = random() % (longest + 1);
    while (text.size() < length) text += letters[random() % letters.size()];
    texts.push_back(text);
  }
  return texts;
}

std::shared_ptr<Dataset> data_of(const Texts& texts) {
  auto data = std::make_shared<Dataset>();
  data->samples = std::ssize(texts);
  data->features = Matrix(data->samples, 0);
  data->texts.push_back({{"s", ""}, texts});
  return data;
}

struct Kernels {
  Matrix training;
  Matrix fresh;
};

Kernels kernels_of(const std::string& spec, const Texts& training, const Texts& fresh,
                   Normalisation normalisation = Normalisation::none) {
  const auto train = data_of(training);
  ResolveOptions options;
  options.normalisation = normalisation;
  const auto terms = resolve_kernels(parse_kernel_spec(spec), *train, options, {});
  return {kernel_of(ComputedBank(terms, train, train, true), 0),
          kernel_of(ComputedBank(terms, data_of(fresh), train, false), 0)};
}

void every_string(const std::string& letters, std::size_t k, const std::string& begun, Texts& all) {
  if (begun.size() == k) {
    all.push_back(begun);
    return;
  }
  for (const char letter : letters) every_string(letters, k, begun + letter, all);
}

// Every string over the letters of training or of the text itself, for every substring that is near enough.
Counts with_mismatches(const std::string& text, const std::string& letters, std::size_t k, int mismatches) {
  std::set<char> there(letters.begin(), letters.end());
  there.insert(text.begin(), text.end());
  Texts strings;
  every_string(std::string(there.begin(), there.end()), k, "", strings);
  Counts counts;
  for (std::size_t start = 0; start + k <= text.size(); ++start) {
    for (const std::string& string : strings) {
      int different = 0;
      bool reachable = true;  // a letter that training never saw is only ever itself
      for (std::size_t i = 0; i < k; ++i) {
        const bool same = string[i] == text[start + i];
        different += same ? 0 : 1;
        reachable = reachable && (same || letters.find(string[i]) != std::string::npos);
      }
      if (reachable && different <= mismatches) counts[string] += 1.0;
    }
  }
  return counts;
}

// Every subset of k places of every window, by the bits of a number.
Counts with_gaps(const std::string& text, std::size_t k, std::size_t gaps) {
  const std::size_t size = std::min(k + gaps, text.size());
  Counts counts;
  for (std::size_t start = 0; start + size <= text.size(); ++start) {
    std::set<std::string> strings;
    for (unsigned places = 0; places < (1U << size); ++places) {
      std::string string;
      for (std::size_t i = 0; i < size; ++i)
        if ((places >> i) % 2 == 1) string += text[start + i];
      if (string.size() == k) strings.insert(string);
    }
    for (const std::string& string : strings) counts[string] += 1.0;
  }
  return counts;
}

double inner(const Counts& a, const Counts& b) {
  double sum = 0.0;
  for (const auto& [string, count] : a)
    if (const auto other = b.find(string); other != b.end()) sum += count * other->second;
  return sum;
}

// The whole table, by its recursion.
Index edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<Index>> table(a.size() + 1, std::vector<Index>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<Index>(i + j);
        continue;
      }
      table[i][j] = std::min(
          {table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  return table[a.size()][b.size()];
}

// Whole numbers far below 2^53: sums are exact.
template <class CountsOf>
void expect_counts(const std::string& spec, const CountsOf& counts_of) {
  const Texts training = random_texts(14, 9, 1);
  const Texts fresh = random_texts(9, 9, 2, "abcdxy");  // with letters that training never saw
  const Kernels kernels = kernels_of(spec, training, fresh);
  const Kernels scaled = kernels_of(spec, training, fresh, Normalisation::unit_diagonal);
  for (Index j = 0; j < std::ssize(training); ++j) {
    const Counts column = counts_of(training[at(j)]);
    for (Index i = 0; i < std::ssize(training); ++i)
      ASSERT_EQ(kernels.training(i, j), inner(counts_of(training[at(i)]), column)) << spec;
    for (Index i = 0; i < std::ssize(fresh); ++i) {
      const Counts row = counts_of(fresh[at(i)]);
      ASSERT_EQ(kernels.fresh(i, j), inner(row, column)) << spec << ' ' << fresh[at(i)];
      const double selves = inner(row, row) * inner(column, column);
      ASSERT_NEAR(scaled.fresh(i, j), selves == 0.0 ? 0.0 : inner(row, column) / std::sqrt(selves), 1e-15);
    }
  }
}

TEST(TextKernels, MismatchesCountEveryStringThatIsNear) {
  for (const auto& [k, mismatches] : {std::pair{2, 1}, {3, 1}, {3, 2}, {4, 3}})
    expect_counts("spectrum(k=" + std::to_string(k) + ", mismatches=" + std::to_string(mismatches) + ")",
                  [k = k, mismatches = mismatches](const std::string& text) {
                    return with_mismatches(text, "abcd", static_cast<std::size_t>(k), mismatches);
                  });
}

TEST(TextKernels, GapsCountEveryStringOfAWindowOnce) {
  for (const auto& [k, gaps] : {std::pair{1, 1}, {2, 1}, {3, 2}, {2, 5}, {4, 1}})
    expect_counts("spectrum(k=" + std::to_string(k) + ", gaps=" + std::to_string(gaps) + ")",
                  [k = k, gaps = gaps](const std::string& text) {
                    return with_gaps(text, static_cast<std::size_t>(k), static_cast<std::size_t>(gaps));
                  });
}

// Each entry is a sum of at most 8 products of numbers below 100, of which logarithms make all but a few bits.
TEST(TextKernels, TfidfWeighsSubstringsByHowRareTheyAre) {
  const Texts training = random_texts(14, 9, 8, "ab");
  const Texts fresh = random_texts(9, 9, 9, "abx");
  const auto weighed = [&](const std::string& text) {
    Counts counts = with_gaps(text, 2, 0);
    if (text.size() < 2) counts.clear();
    for (auto& [string, count] : counts) {
      double texts = 0.0;
      for (const std::string& t : training) texts += t.find(string) == std::string::npos ? 0.0 : 1.0;
      count = (1.0 + std::log(count)) * (1.0 + std::log(15.0 / (1.0 + texts)));
    }
    return counts;
  };
  const Kernels kernels = kernels_of("spectrum(k=2, scale=tfidf)", training, fresh);
  double largest = 0.0;
  for (Index j = 0; j < std::ssize(training); ++j) {
    const Counts column = weighed(training[at(j)]);
    for (Index i = 0; i < std::ssize(training); ++i) {
      ASSERT_NEAR(kernels.training(i, j), inner(weighed(training[at(i)]), column), 1e-12);
      largest = std::max(largest, kernels.training(i, j));
    }
    for (Index i = 0; i < std::ssize(fresh); ++i)
      ASSERT_NEAR(kernels.fresh(i, j), inner(weighed(fresh[at(i)]), column), 1e-12) << fresh[at(i)];
  }
  EXPECT_GT(largest, 1.0);
  EXPECT_NE(kernels.training, kernels_of("spectrum(k=2)", training, fresh).training);
}

TEST(TextKernels, NoneOfEitherIsThePlainSpectrum) {
  const Texts texts = random_texts(12, 9, 3);
  const Matrix plain = kernels_of("spectrum(k=2)", texts, texts).fresh;
  EXPECT_EQ(kernels_of("spectrum(k=2, mismatches=0)", texts, texts).fresh, plain);
  EXPECT_EQ(kernels_of("spectrum(k=2, gaps=0)", texts, texts).fresh, plain);
}

// Texts that end inside, at the end of and behind a block of sixty-four letters, and bytes of every kind.
TEST(TextKernels, EditDistancesAreThoseOfTheWholeTable) {
  std::string bytes;
  for (int c = 0; c < 256; c += 17) bytes += static_cast<char>(c);
  Texts texts = random_texts(12, 200, 4, "ab");
  for (const Texts& more :
       {random_texts(8, 300, 5, bytes), Texts{"", "a", std::string(63, 'a'), std::string(64, 'b'),
                                              std::string(65, 'a'), std::string(128, 'b')}})
    texts.insert(texts.end(), more.begin(), more.end());
  EditPattern::Column scratch;
  for (const std::string& a : texts)
    for (const std::string& b : texts)
      ASSERT_EQ(EditPattern(a).distance(b, scratch), edits(a, b)) << a << '|' << b;
}

TEST(TextKernels, EditIsAGaussianOfDistancesToTheTrainingTexts) {
  const Texts training = random_texts(15, 9, 6);
  const Texts fresh = random_texts(6, 12, 7, "abcx");
  const Kernels kernels = kernels_of("edit(width=1.5)", training, fresh, Normalisation::unit_diagonal);
  const auto expected = [&](const std::string& a, const std::string& b) {
    double sum = 0.0;
    for (const std::string& t : training) sum += std::pow(static_cast<double>(edits(a, t) - edits(b, t)), 2);
    return std::exp(-sum / static_cast<double>(training.size()) / (2.0 * 1.5 * 1.5));
  };
  // Fifteen rounded squares of size up to 12², over 2·1.5²: errors of 15·144·2^-53/4.5 in the exponent at most.
  for (Index j = 0; j < 15; ++j) {
    for (Index i = 0; i < 15; ++i)
      ASSERT_NEAR(kernels.training(i, j), expected(training[at(i)], training[at(j)]), 1e-13);
    for (Index i = 0; i < 6; ++i)
      ASSERT_NEAR(kernels.fresh(i, j), expected(fresh[at(i)], training[at(j)]), 1e-13);
  }
}

double smallest_eigenvalue(const Eigen::MatrixXd& k) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(k, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
}

TEST(TextKernels, AllArePositiveSemidefinite) {
  const Texts texts = random_texts(60, 12, 8);
  for (const std::string spec : {"spectrum(k=3, mismatches=1)", "spectrum(k=2, gaps=2)", "edit(width=0.5)",
                                 "edit(width=3)", "edit(auto, count=1)"}) {
    const Matrix k = kernels_of(spec, texts, texts, Normalisation::unit_diagonal).training;
    const Eigen::Map<const Eigen::MatrixXd> values(k.data(), 60, 60);
    // Rounding of entries of size one: 60·2^-52 of the norm, which is at most 60.
    EXPECT_GT(smallest_eigenvalue(values), -60.0 * 60.0 * 0x1p-52) << spec;
  }
}

// Why `edit` is no exponential of the distance itself.
TEST(TextKernels, AnExponentialOfTheEditDistanceIsIndefinite) {
  Texts texts;
  for (std::size_t length = 1; length <= 3; ++length) every_string("ab", length, "", texts);
  const Index n = std::ssize(texts);
  Eigen::MatrixXd k(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      k(i, j) = std::exp(-static_cast<double>(edits(texts[at(i)], texts[at(j)])) / 4.0);
  EXPECT_LT(smallest_eigenvalue(k), -1e-3);
}

TEST(TextKernels, AutomaticWidthsAreQuantilesOfTheRootMeanSquares) {
  const Texts texts = random_texts(20, 9, 9);
  const auto train = data_of(texts);
  const auto terms = resolve_kernels(parse_kernel_spec("edit(auto, count=1)"), *train, {}, {});
  std::vector<double> distances;
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = i + 1; j < 20; ++j) {
      double sum = 0.0;
      for (const std::string& t : texts)
        sum += std::pow(static_cast<double>(edits(texts[i], t) - edits(texts[j], t)), 2);
      distances.push_back(std::sqrt(sum / 20.0));
    }
  std::sort(distances.begin(), distances.end());
  const double width = std::sqrt(0.5 / terms.at(0).parameter);
  EXPECT_NEAR(width, distances[distances.size() / 2], 1e-5 * width);  // names have six digits
  EXPECT_THAT(terms.at(0).name, HasSubstr("edit(width="));
}

std::string refusal(const std::string& spec, const Texts& texts) {
  try {
    (void)kernels_of(spec, texts, texts);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(TextKernels, RefuseWhatCouldNotBeCounted) {
  std::string alphabet;
  for (char c = 'a'; c <= 'z'; ++c) alphabet += c;
  EXPECT_THAT(
      refusal("spectrum(k=12, mismatches=6)", {alphabet, alphabet}),
      HasSubstr("spectrum(k=12, mismatches=6) would count more than 10000 strings for every substring"));
  EXPECT_THAT(refusal("spectrum(k=30, gaps=30)", {alphabet + alphabet + alphabet, alphabet}),
              HasSubstr("use a smaller k, or fewer mismatches or gaps"));
  EXPECT_THAT(refusal("edit(width=1)", Texts(2, std::string(3000000, 'a'))),
              HasSubstr("the texts are too long"));
}

}  // namespace
}  // namespace kloom::kernels
