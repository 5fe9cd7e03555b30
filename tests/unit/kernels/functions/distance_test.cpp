// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/functions/functions.h"

namespace kloom::kernels {
namespace {

constexpr double kEps = 2.3e-16;

const std::vector<PairSum> kSums = {PairSum::dot, PairSum::squared, PairSum::absolute, PairSum::chi_square,
                                    PairSum::minimum};

// N × D samples; positive, so that chi-square is defined.
Matrix random_samples(Index n, Index d, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Matrix x(n, d);
  for (double& v : x.values()) v = uniform(random) < 0.1 ? 0.0 : uniform(random);
  return x;
}

std::vector<Index> all_features(const Matrix& x) {
  std::vector<Index> features;
  for (Index f = 0; f < x.cols(); ++f) features.push_back(f);
  return features;
}

long double naive(PairSum sum, const Matrix& x, Index i, const Matrix& z, Index j) {
  long double total = 0.0L;
  for (Index d = 0; d < x.cols(); ++d) {
    const long double a = x(i, d);
    const long double b = z(j, d);
    switch (sum) {
      case PairSum::dot:
        total += a * b;
        break;
      case PairSum::squared:
        total += (a - b) * (a - b);
        break;
      case PairSum::absolute:
        total += std::abs(a - b);
        break;
      case PairSum::chi_square:
        total += a + b > 0.0L ? (a - b) * (a - b) / (a + b) : 0.0L;
        break;
      case PairSum::minimum:
        total += std::min(a, b);
        break;
      case PairSum::agreement:
        total += a == b ? 1.0L : 0.0L;
        break;
    }
  }
  return total;
}

TEST(PairSums, AgreeWithLongDoubleLoopsOnEveryInstructionSet) {
  for (const InstructionSet instructions : instruction_sets()) {
    for (const Index d : {1, 2, 7, 40}) {
      for (const Index n : {1, 5, 16, 35}) {
        const Matrix x = random_samples(11, d, 1);
        const Matrix z = random_samples(n, d, 2);
        const PackedSamples rows(x.view(), all_features(x));
        const PackedSamples cols(z.view(), all_features(z));
        Vector out(static_cast<std::size_t>(9 * cols.padded()));
        for (const PairSum sum : kSums) {
          pair_sums_with(instructions, sum, {&rows, {2, 11}, &cols, {0, n}, out.data(), cols.padded()});
          for (Index i = 2; i < 11; ++i)
            for (Index j = 0; j < n; ++j) {
              const auto expected = static_cast<double>(naive(sum, x, i, z, j));
              // d rounded terms of one sign, d rounded additions, a quotient.
              EXPECT_NEAR(out[static_cast<std::size_t>((i - 2) * cols.padded() + j)], expected,
                          static_cast<double>(2 * d + 4) * kEps * std::abs(expected));
            }
        }
      }
    }
  }
}

TEST(PairSums, AreSymmetricToTheBitAndIndependentOfTheBlock) {
  const Matrix x = random_samples(67, 13, 3);
  const PackedSamples packed(x.view(), all_features(x));
  for (const InstructionSet instructions : instruction_sets()) {
    for (const PairSum sum : kSums) {
      Vector whole(static_cast<std::size_t>(67 * packed.padded()));
      pair_sums_with(instructions, sum, {&packed, {0, 67}, &packed, {0, 67}, whole.data(), packed.padded()});
      const auto at = [&](Index i, Index j) {
        return whole[static_cast<std::size_t>(i * packed.padded() + j)];
      };
      for (Index i = 0; i < 67; ++i)
        for (Index j = 0; j < i; ++j) ASSERT_EQ(at(i, j), at(j, i));
      for (Index i = 0; i < 67; ++i) {  // one row and one block of columns at a time
        Vector part(16);
        for (Index b = 0; b < 67; b += 16) {
          pair_sums_with(instructions, sum, {&packed, {i, i + 1}, &packed, {b, b + 16}, part.data(), 16});
          for (Index j = b; j < std::min<Index>(67, b + 16); ++j)
            ASSERT_EQ(part[static_cast<std::size_t>(j - b)], at(i, j));
        }
      }
    }
  }
  const Vector self = self_sums(PairSum::dot, packed);
  Vector row(static_cast<std::size_t>(packed.padded()));
  for (Index i = 0; i < 67; ++i) {
    pair_sums(PairSum::dot, {&packed, {i, i + 1}, &packed, {0, 67}, row.data(), packed.padded()});
    EXPECT_EQ(row[static_cast<std::size_t>(i)], self[static_cast<std::size_t>(i)]);
  }
}

// 22 features of 20 samples, one per column; sample 7 repeats sample 3, sample 8 is as near to it as can be.
Matrix hostile_samples(double offset, double scale) {
  const Matrix x = random_samples(20, 22, 5);
  Matrix samples(22, 20);
  for (Index i = 0; i < 20; ++i)
    for (Index d = 0; d < 22; ++d) samples(d, i) = offset + scale * x(i, d);
  for (Index d = 0; d < 22; ++d) samples(d, 7) = samples(d, 8) = samples(d, 3);
  samples(4, 8) *= 1.0 + 4.0 * kEps;
  return samples;
}

void expect_distances(const Matrix& samples, const Matrix& out) {
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 20; ++j) {
      long double expected = 0.0L;
      for (Index d = 0; d < 22; ++d) {
        const long double t = static_cast<long double>(samples(d, i)) - static_cast<long double>(samples(d, j));
        expected += t * t;
      }
      // Differences are rounded once, squares and 22 sums too: relative to the distance itself.
      EXPECT_NEAR(out(j, i), static_cast<double>(expected), 30 * kEps * static_cast<double>(expected));
    }
}

TEST(SquaredDistances, SurviveOffsetsDuplicatesAndScales) {
  for (const double offset : {0.0, 1e4, -1e8})
    for (const double scale : {1.0, 1e12, 1e-12}) {
      const Matrix samples = hostile_samples(offset, scale);
      Matrix out(20, 20);
      squared_distances(samples.view(), samples.view(), out.view());
      expect_distances(samples, out);
      EXPECT_EQ(out(3, 7), 0.0);
      EXPECT_EQ(out(5, 5), 0.0);
      EXPECT_GT(out(3, 8), 0.0);
    }
}

// More features than are summed in one stretch.
TEST(SquaredDistances, OfManyFeatures) {
  const Matrix x = random_samples(1000, 19, 6);  // 19 samples of 1000 features
  Matrix out(19, 19);
  squared_distances(x.view(), x.view(), out.view());
  for (Index i = 0; i < 19; ++i)
    for (Index j = 0; j < 19; ++j) {
      long double expected = 0.0L;
      for (Index d = 0; d < 1000; ++d) {
        const long double t = static_cast<long double>(x(d, i)) - static_cast<long double>(x(d, j));
        expected += t * t;
      }
      EXPECT_NEAR(out(j, i), static_cast<double>(expected), 1004 * kEps * static_cast<double>(expected));
    }
}

TEST(SquaredDistances, HaveOneColumnPerRowSample) {
  Matrix rows(2, 3);
  Matrix cols(2, 2);
  for (Index i = 0; i < 3; ++i) rows(0, i) = static_cast<double>(i);
  cols(1, 1) = 5.0;
  Matrix out(2, 3);
  squared_distances(rows.view(), cols.view(), out.view());
  EXPECT_EQ(out(0, 2), 4.0);
  EXPECT_EQ(out(1, 2), 29.0);
}

TEST(ExpNegative, IsWithinAFewUlpEverywhere) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> exponent(-18.0, 2.77);
  Vector x(10007);
  for (double& v : x) v = std::pow(10.0, exponent(random));
  x[0] = 0.0;
  x[1] = 600.0;
  x[2] = 600.0000001;
  x[3] = 1e300;
  x[4] = std::numeric_limits<double>::infinity();
  Vector out(x.size());
  for (const InstructionSet instructions : instruction_sets()) {
    exp_negative_with(instructions, 1.0, x.data(), out.data(), static_cast<Index>(x.size()));
    EXPECT_EQ(out[0], 1.0);
    EXPECT_EQ(out[2], 0.0);
    EXPECT_EQ(out[3], 0.0);
    EXPECT_EQ(out[4], 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > 600.0) continue;
      const auto expected = static_cast<double>(std::exp(-static_cast<long double>(x[i])));
      ASSERT_NEAR(out[i], expected, 4 * kEps * expected) << x[i];
    }
    // No value depends on its place.
    for (const Index n : {1, 3, 16, 17}) {
      Vector part(static_cast<std::size_t>(n));
      exp_negative_with(instructions, 1.0, x.data() + 5, part.data(), n);
      for (Index i = 0; i < n; ++i)
        EXPECT_EQ(part[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(i + 5)]);
    }
  }
}

TEST(WholePower, AgreesWithPow) {
  const Vector x = {-2.0, -0.3, 0.0, 0.7, 1.0, 3.5};
  Vector out(x.size());
  for (const int degree : {1, 2, 3, 7, 20}) {
    whole_power(x.data(), degree, out.data(), 6);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(out[i], std::pow(x[i], degree), 2 * degree * kEps * std::abs(std::pow(x[i], degree)));
  }
}

}  // namespace
}  // namespace kloom::kernels
