// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/computed_bank.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kloom/error.h"
#include "kloom/kernels.h"
#include "support/problems.h"

namespace kloom::kernels {
namespace {

using test::kernel_of;
using ::testing::HasSubstr;

// Every kernel below is a sum of at most a few dozen rounded terms of size one: far below this.
constexpr double kNear = 1e-12;

Dataset random_data(Index n, Index d, unsigned seed, double low = 0.0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, 1.0);
  Dataset data;
  data.samples = n;
  data.features = Matrix(n, d);
  for (double& v : data.features.values()) v = uniform(random);
  for (Index f = 0; f < d; ++f) data.feature_info.push_back({fmt::format("f{}", f), ""});
  TextColumn text{{"s", ""}, {}};
  for (Index i = 0; i < n; ++i) {
    std::string s;
    for (Index k = 0; k < 5 + i % 9; ++k) s += "ACGT"[random() % 4];
    text.values.push_back(i == 3 ? "A" : s);  // one is too short to have a k-mer
  }
  data.texts.push_back(text);
  return data;
}

struct Setting {
  std::shared_ptr<Dataset> train;
  std::shared_ptr<Dataset> test;
  std::vector<KernelTerm> terms;

  [[nodiscard]] ComputedBank training_bank() const { return {terms, train, train, true}; }
  [[nodiscard]] ComputedBank test_bank() const { return {terms, test, train, false}; }
};

Setting setting(const std::string& spec, Normalisation normalisation, double low = 0.0) {
  Setting s;
  s.train = std::make_shared<Dataset>(random_data(37, 6, 1, low));
  s.test = std::make_shared<Dataset>(random_data(11, 6, 2, low));
  ResolveOptions options;
  options.normalisation = normalisation;
  s.terms = resolve_kernels(parse_kernel_spec(spec), *s.train, options, {});
  return s;
}

double kmer_product(const std::string& a, const std::string& b, std::size_t k) {
  double sum = 0.0;
  for (std::size_t i = 0; i + k <= a.size(); ++i)
    for (std::size_t j = 0; j + k <= b.size(); ++j) sum += a.substr(i, k) == b.substr(j, k) ? 1.0 : 0.0;
  return sum;
}

// The definitions of kernels.h, transcribed.
double naive(const KernelTerm& term, const Dataset& a, Index i, const Dataset& b, Index j) {
  double dot = 0.0;
  double na = 0.0;
  double nb = 0.0;
  double d2 = 0.0;
  double d1 = 0.0;
  double chi = 0.0;
  double least = 0.0;
  if (term.function == KernelFunction::spectrum)
    return kmer_product(a.texts[0].values[static_cast<std::size_t>(i)],
                        b.texts[0].values[static_cast<std::size_t>(j)],
                        static_cast<std::size_t>(term.parameter));
  for (const Index f : term.features) {
    const double x = a.features(i, f);
    const double z = b.features(j, f);
    dot += x * z;
    na += x * x;
    nb += z * z;
    d2 += (x - z) * (x - z);
    d1 += std::abs(x - z);
    chi += x + z > 0 ? (x - z) * (x - z) / (x + z) : 0.0;
    least += std::min(x, z);
  }
  switch (term.function) {
    case KernelFunction::rbf:
      return std::exp(-term.parameter * d2);
    case KernelFunction::polynomial:
      return std::pow(dot + 1.0, term.parameter);
    case KernelFunction::linear:
      return dot;
    case KernelFunction::cosine:
      return dot / std::sqrt(na * nb);
    case KernelFunction::laplacian:
      return std::exp(-term.parameter * d1);
    case KernelFunction::chi2:
      return std::exp(-term.parameter * chi);
    default:
      return least;
  }
}

const char* const kEverything =
    "rbf(width=0.25..4, count=5) on all, each, f1 + f3; rbf(gamma=0.5,3) on all; poly(degree=1..3) on "
    "all, f2; linear; cosine; cosine on f0 + f5; laplacian(gamma=0.3,2) on all, f1; chi2(gamma=0.7) on "
    "all; intersection; spectrum(k=1..3)";

TEST(ComputedBank, AgreesWithNaiveLoopsInTrainingAndPrediction) {
  const Setting s = setting(kEverything, Normalisation::none);
  const ComputedBank square = s.training_bank();
  const ComputedBank cross = s.test_bank();
  EXPECT_EQ(square.kind(), "computed");
  EXPECT_EQ(square.kernels(), static_cast<Index>(s.terms.size()));
  EXPECT_GE(square.bytes(), 37U * 6U * 8U);
  for (Index p = 0; p < square.kernels(); ++p) {
    const KernelTerm& term = s.terms[static_cast<std::size_t>(p)];
    EXPECT_EQ(square.names()[static_cast<std::size_t>(p)], term.name);
    const Matrix k = kernel_of(square, p);
    const Matrix t = kernel_of(cross, p);
    for (Index j = 0; j < 37; ++j) {
      for (Index i = 0; i < 37; ++i) {
        const double expected = naive(term, *s.train, i, *s.train, j);
        ASSERT_NEAR(k(i, j), expected, kNear * std::max(1.0, std::abs(expected))) << term.name;
      }
      for (Index i = 0; i < 11; ++i) {
        const double expected = naive(term, *s.test, i, *s.train, j);
        ASSERT_NEAR(t(i, j), expected, kNear * std::max(1.0, std::abs(expected))) << term.name;
      }
    }
  }
}

TEST(ComputedBank, UnitDiagonalDividesByTheRootsOfSelfSimilarities) {
  const Setting s = setting(kEverything, Normalisation::unit_diagonal);
  const ComputedBank square = s.training_bank();
  const ComputedBank cross = s.test_bank();
  for (Index p = 0; p < square.kernels(); ++p) {
    const KernelTerm& term = s.terms[static_cast<std::size_t>(p)];
    const Matrix k = kernel_of(square, p);
    const Matrix t = kernel_of(cross, p);
    const auto expected = [&](const Dataset& a, Index i, Index j) {
      if (term.function == KernelFunction::cosine) return naive(term, a, i, *s.train, j);
      const double self = naive(term, a, i, a, i) * naive(term, *s.train, j, *s.train, j);
      return self == 0.0 ? 0.0 : naive(term, a, i, *s.train, j) / std::sqrt(self);
    };
    for (Index j = 0; j < 37; ++j) {
      for (Index i = 0; i < 37; ++i)
        ASSERT_NEAR(k(i, j), i == j ? 1.0 : expected(*s.train, i, j), kNear) << term.name;
      for (Index i = 0; i < 11; ++i) ASSERT_NEAR(t(i, j), expected(*s.test, i, j), kNear) << term.name;
      EXPECT_EQ(k(j, j), 1.0) << term.name;
    }
  }
}

TEST(ComputedBank, IsSymmetricToTheBitHoweverTheRowsAreDivided) {
  for (const Normalisation n : {Normalisation::none, Normalisation::unit_diagonal, Normalisation::unit_trace,
                                Normalisation::unit_variance, Normalisation::centre}) {
    const Setting s = setting(kEverything, n);
    const ComputedBank bank = s.training_bank();
    const Index count = bank.kernels();
    Vector whole(static_cast<std::size_t>(count * 37 * 37));
    bank.panels({0, count}, {0, 37}, whole.data());
    const auto at = [&](Index p, Index i, Index j) {
      return whole[static_cast<std::size_t>((p * 37 + i) * 37 + j)];
    };
    const Matrix diagonal = bank.diagonal();
    for (Index p = 0; p < count; ++p)
      for (Index i = 0; i < 37; ++i) {
        ASSERT_EQ(diagonal(i, p), at(p, i, i)) << s.terms[static_cast<std::size_t>(p)].name;
        for (Index j = 0; j < i; ++j)
          ASSERT_EQ(at(p, i, j), at(p, j, i)) << s.terms[static_cast<std::size_t>(p)].name;
      }
    for (const Range rows : {Range{0, 1}, Range{5, 12}, Range{36, 37}}) {
      const Range kernels{3, count - 1};
      Vector part(static_cast<std::size_t>(kernels.size() * rows.size() * 37));
      bank.panels(kernels, rows, part.data());
      for (Index p = kernels.begin; p < kernels.end; ++p)
        for (Index i = rows.begin; i < rows.end; ++i)
          for (Index j = 0; j < 37; ++j)
            ASSERT_EQ(part[static_cast<std::size_t>(((p - 3) * rows.size() + i - rows.begin) * 37 + j)],
                      at(p, i, j));
    }
  }
}

// Wider than a segment of columns, enough work for threads.
// Rows that lie apart, in blocks and alone, with few and with all kernels in use: the weighted sum of the kernels' own
// rows. The sum of eight terms of size one differs from it by rounding.
TEST(ComputedBank, CombinedRowsAreSumsOfTheKernelsRows) {
  for (const auto normalisation : {Normalisation::none, Normalisation::centre}) {
    const Setting s =
        setting("rbf(width=2^-1..2^1) on all, f1; linear; poly(degree=2); spectrum(k=2)", normalisation);
    for (const bool training : {true, false}) {
      const ComputedBank bank = training ? s.training_bank() : s.test_bank();
      Vector panel(at(bank.kernels() * bank.rows() * bank.cols()));
      bank.panels({0, bank.kernels()}, {0, bank.rows()}, panel.data());
      for (const Index step : {1, 2}) {
        for (const Index every : {1, 3}) {  // kernels with a weight
          Vector w(at(bank.kernels()));
          for (Index p = 0; p < bank.kernels(); p += every) w[at(p)] = 0.5 + 0.1 * static_cast<double>(p);
          std::vector<Index> rows;
          for (Index i = 0; i < bank.rows(); i += step) rows.push_back(i);
          Matrix out(bank.cols(), std::ssize(rows), 7.0);
          bank.combine_rows(w, rows, out.view());
          for (std::size_t k = 0; k < rows.size(); ++k) {
            Matrix alone(bank.cols(), 1);
            bank.combine_rows(w, {&rows[k], 1}, alone.view());
            for (Index j = 0; j < bank.cols(); ++j) {
              double sum = 0.0;
              for (Index p = 0; p < bank.kernels(); ++p)
                sum += w[at(p)] * panel[at((p * bank.rows() + rows[k]) * bank.cols() + j)];
              ASSERT_NEAR(out(j, static_cast<Index>(k)), sum, kNear);
              ASSERT_NEAR(alone(j, 0), sum, kNear);
            }
          }
        }
      }
    }
  }
}

TEST(ComputedBank, LargeBanksAgreeWithNaiveLoops) {
  auto train = std::make_shared<Dataset>(random_data(1100, 3, 4));
  auto test = std::make_shared<Dataset>(random_data(50, 3, 5));
  const auto terms =
      resolve_kernels(parse_kernel_spec("rbf(gamma=0.5,8) on all; poly(degree=2) on all; rbf(gamma=2) "
                                        "on f1; spectrum(k=2)"),
                      *train, {}, {});
  const ComputedBank square(terms, train, train, true);
  const ComputedBank cross(terms, test, train, false);
  Vector panel(static_cast<std::size_t>(5 * 1100 * 1100));
  square.panels({0, 5}, {0, 1100}, panel.data());
  Vector rows(static_cast<std::size_t>(5 * 50 * 1100));
  cross.panels({0, 5}, {0, 50}, rows.data());
  const auto normalised = [&](const KernelTerm& term, const Dataset& a, Index i, Index j) {
    const double self = naive(term, a, i, a, i) * naive(term, *train, j, *train, j);
    return self == 0.0 ? 0.0 : naive(term, a, i, *train, j) / std::sqrt(self);
  };
  for (Index p = 0; p < 5; ++p) {
    const KernelTerm& term = terms[static_cast<std::size_t>(p)];
    for (Index j = 0; j < 1100; j += 7) {
      for (Index i = 0; i < 1100; i += 13)
        ASSERT_NEAR(panel[static_cast<std::size_t>((p * 1100 + i) * 1100 + j)],
                    i == j ? 1.0 : normalised(term, *train, i, j), kNear);
      for (Index i = 0; i < 50; ++i)
        ASSERT_NEAR(rows[static_cast<std::size_t>((p * 50 + i) * 1100 + j)], normalised(term, *test, i, j),
                    kNear);
    }
    for (Index i = 0; i < 1100; ++i)
      for (Index j = 0; j < i; ++j)
        ASSERT_EQ(panel[static_cast<std::size_t>((p * 1100 + i) * 1100 + j)],
                  panel[static_cast<std::size_t>((p * 1100 + j) * 1100 + i)]);
  }
}

// (x.z + 1)^2 is an inner product of these features.
Matrix quadratic_features(const Dataset& data) {
  const Index d = data.features.cols();
  Matrix phi(data.samples, 1 + d + d * d);
  for (Index i = 0; i < data.samples; ++i) {
    phi(i, 0) = 1.0;
    for (Index a = 0; a < d; ++a) {
      phi(i, 1 + a) = std::sqrt(2.0) * data.features(i, a);
      for (Index b = 0; b < d; ++b) phi(i, 1 + d + a * d + b) = data.features(i, a) * data.features(i, b);
    }
  }
  return phi;
}

double inner(const Matrix& a, Index i, const Matrix& b, Index j) {
  double sum = 0.0;
  for (Index f = 0; f < a.cols(); ++f) sum += a(i, f) * b(j, f);
  return sum;
}

TEST(ComputedBank, CentringEqualsCentringExplicitFeatures) {
  const Setting s = setting("poly(degree=2) on all", Normalisation::centre, -1.0);
  Matrix train = quadratic_features(*s.train);
  Matrix test = quadratic_features(*s.test);
  for (Index f = 0; f < train.cols(); ++f) {
    double mean = 0.0;
    for (const double v : train.column(f)) mean += v / 37.0;
    for (double& v : train.column(f)) v -= mean;
    for (double& v : test.column(f)) v -= mean;  // new samples: the training mean
  }
  const Matrix k = kernel_of(s.training_bank(), 0);
  const Matrix t = kernel_of(s.test_bank(), 0);
  for (Index j = 0; j < 37; ++j) {
    for (Index i = 0; i < 37; ++i) EXPECT_NEAR(k(i, j), inner(train, i, train, j), 1e-12);
    for (Index i = 0; i < 11; ++i) EXPECT_NEAR(t(i, j), inner(test, i, train, j), 1e-12);
  }
}

TEST(ComputedBank, TraceAndVarianceAreThoseOfExplicitFeatures) {
  const Setting trace = setting("poly(degree=2) on all", Normalisation::unit_trace, -1.0);
  const Setting variance = setting("poly(degree=2) on all", Normalisation::unit_variance, -1.0);
  const Matrix phi = quadratic_features(*trace.train);
  const Matrix psi = quadratic_features(*trace.test);
  double total = 0.0;
  for (Index i = 0; i < 37; ++i) total += inner(phi, i, phi, i);
  double spread = 0.0;  // mean squared distance from the mean, in feature space
  for (Index f = 0; f < phi.cols(); ++f) {
    double mean = 0.0;
    for (const double v : phi.column(f)) mean += v / 37.0;
    for (const double v : phi.column(f)) spread += (v - mean) * (v - mean) / 37.0;
  }
  const Matrix a = kernel_of(trace.training_bank(), 0);
  const Matrix b = kernel_of(variance.training_bank(), 0);
  const Matrix at = kernel_of(trace.test_bank(), 0);
  const Matrix bt = kernel_of(variance.test_bank(), 0);
  double sum = 0.0;
  for (Index j = 0; j < 37; ++j) {
    sum += a(j, j);
    for (Index i = 0; i < 37; ++i) {
      EXPECT_NEAR(a(i, j), inner(phi, i, phi, j) / total, 1e-13);
      EXPECT_NEAR(b(i, j), inner(phi, i, phi, j) / spread, 1e-11);
    }
    for (Index i = 0; i < 11; ++i) {
      EXPECT_NEAR(at(i, j), inner(psi, i, phi, j) / total, 1e-13);
      EXPECT_NEAR(bt(i, j), inner(psi, i, phi, j) / spread, 1e-11);
    }
  }
  EXPECT_NEAR(sum, 1.0, 1e-13);
}

TEST(ComputedBank, ZeroVectorsHaveRowZeroAndDiagonalOne) {
  auto data = std::make_shared<Dataset>(random_data(9, 3, 8));
  for (Index f = 0; f < 3; ++f) data->features(2, f) = data->features(5, f) = 0.0;
  const auto terms =
      resolve_kernels(parse_kernel_spec("linear; cosine; intersection; spectrum(k=2)"), *data, {}, {});
  const ComputedBank bank(terms, data, data, true);
  for (Index p = 0; p < 4; ++p) {
    const Index zero = p == 3 ? 3 : 2;  // text 3 is shorter than k
    const Matrix k = kernel_of(bank, p);
    for (Index j = 0; j < 9; ++j)
      EXPECT_EQ(k(zero, j), j == zero ? 1.0 : 0.0) << terms[static_cast<std::size_t>(p)].name;
  }
  const Matrix cross = kernel_of(ComputedBank(terms, std::make_shared<Dataset>(*data), data, false), 0);
  for (Index j = 0; j < 9; ++j) EXPECT_EQ(cross(2, j), 0.0);
}

TEST(ComputedBank, HighDegreesDoNotOverflowUnderAUnitDiagonal) {
  auto data = std::make_shared<Dataset>(random_data(6, 3, 8));
  for (double& v : data->features.values()) v *= 1e10;
  const auto terms = resolve_kernels(parse_kernel_spec("poly(degree=60)"), *data, {}, {});
  const Matrix k = kernel_of(ComputedBank(terms, data, data, true), 0);
  for (Index j = 0; j < 6; ++j)
    for (Index i = 0; i < 6; ++i) {
      double na = 0.0;
      double nb = 0.0;
      double dot = 0.0;
      for (Index f = 0; f < 3; ++f) {
        na += data->features(i, f) * data->features(i, f);
        nb += data->features(j, f) * data->features(j, f);
        dot += data->features(i, f) * data->features(j, f);
      }
      EXPECT_NEAR(k(i, j), std::pow(dot / std::sqrt(na * nb), 60), 1e-12);  // the 1 vanishes beside 1e20
    }
  EXPECT_THROW((void)resolve_kernels(parse_kernel_spec("poly(degree=60, normalise=none)"), *data, {}, {}),
               InvalidArgument);
}

TEST(ComputedBank, RefusesUnusableSamples) {
  Setting s = setting("rbf(width=1); chi2(gamma=1) on f1", Normalisation::none);
  s.test->features(4, 1) = -0.5;
  s.test->ids = std::vector<std::string>(11, "x");
  s.test->ids[4] = "p17";
  try {
    (void)s.test_bank();
    FAIL() << "a negative feature under chi2 was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("'f1' of sample 'p17' is -0.5"));
  }
  s.test->features(4, 1) = std::nan("");
  EXPECT_THROW((void)s.test_bank(), InvalidArgument);
  s.test->features = Matrix(11, 1);
  EXPECT_THROW((void)s.test_bank(), InvalidArgument);
}

}  // namespace
}  // namespace kloom::kernels
