// SPDX-License-Identifier: BSD-3-Clause
//
// Every bank gives the same answers to every verb, and these are what the entries say.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "kernels/banks/concat_bank.h"
#include "kernels/banks/dense_bank.h"
#include "kernels/banks/gated_bank.h"
#include "kernels/banks/low_rank_bank.h"
#include "kernels/banks/rbf_family_bank.h"
#include "kernels/banks/weighted_gram.h"
#include "kloom/bank.h"
#include "kloom/error.h"
#include "kloom/recipe.h"
#include "support/problems.h"

namespace kloom {
namespace {

using test::dataset_of;
using test::normal_matrix;

struct Made {
  std::string name;
  std::unique_ptr<KernelBank> bank;
  double tolerance;  // absolute error of an entry (kernel entries are at most 1)
};

Recipe recipe_of(const Matrix& x, const std::string& spec) {
  return Recipe::fit(dataset_of(x), parse_kernel_spec(spec), {}, {});
}

std::unique_ptr<KernelBank> stored(const std::shared_ptr<const KernelBank>& bank, BankKind kind) {
  BankRequest request;
  request.kind = kind;
  return store_bank(bank, request, {});
}

// Rounding of entries and of sums over at most 300 of them.
constexpr double kRounding = 1e-12;
// Trace left out by the factor: 1e-12 of N, all of which may sit on one diagonal entry.
constexpr double kLowRank = 1e-12 * 300;
constexpr double kFloat32 = 6e-8;
constexpr double kTable = 1e-9;  // rbf_family_bank.h derives 7.3e-10

std::vector<Made> all_banks(const std::shared_ptr<const KernelBank>& computed) {
  std::vector<Made> banks;
  banks.push_back({"dense", stored(computed, BankKind::dense), kRounding});
  banks.push_back({"dense32", stored(computed, BankKind::dense32), kFloat32});
  banks.push_back({"computed", stored(computed, BankKind::computed), kRounding});
  banks.push_back({"auto", stored(computed, BankKind::automatic), kLowRank});
  if (computed->symmetric()) banks.push_back({"low-rank", stored(computed, BankKind::low_rank), kLowRank});
  return banks;
}

// Verbs by loops over the entries of `reference`.
struct Naive {
  Index rows, cols, kernels;
  Vector entries;
  explicit Naive(const KernelBank& bank)
      : rows(bank.rows()),
        cols(bank.cols()),
        kernels(bank.kernels()),
        entries(static_cast<std::size_t>(rows * cols * kernels)) {
    bank.panels({0, kernels}, {0, rows}, entries.data());
  }
  [[nodiscard]] double k(Index p, Index i, Index j) const {
    return entries[static_cast<std::size_t>((p * rows + i) * cols + j)];
  }
};

void check_combine(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Matrix w = normal_matrix(bank.kernels(), 1, 1);
  double size = 0.0;
  for (double value : w.values()) size += std::abs(value);
  const Matrix whole = bank.combine(w.values());
  const std::vector<Index> some = {bank.rows() - 1, 0};
  Matrix part(bank.cols(), 2);
  bank.combine_rows(w.values(), some, part.view());
  for (Index i = 0; i < bank.rows(); ++i) {
    for (Index j = 0; j < bank.cols(); ++j) {
      double sum = 0.0;
      for (Index p = 0; p < bank.kernels(); ++p) sum += w(p, 0) * naive.k(p, i, j);
      ASSERT_NEAR(whole(j, i), sum, tolerance * size);
      if (i == bank.rows() - 1) {
        ASSERT_NEAR(part(j, 0), sum, tolerance * size);
      }
      if (i == 0) {
        ASSERT_NEAR(part(j, 1), sum, tolerance * size);
      }
    }
  }
}

void check_apply(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Matrix v = normal_matrix(bank.cols(), 2, 2);
  const Matrix each = normal_matrix(bank.cols(), bank.kernels(), 3);
  const double bound = tolerance * 4.0 * static_cast<double>(bank.cols());  // Σ|v| is below 4 N
  const Matrix applied = bank.apply(v.view());
  const Matrix single = bank.apply(v.columns({0, 1}));
  const Matrix own = bank.apply_each(each.view());
  Matrix few = v;  // two of three entries are zero, as in the coefficients of a support vector machine
  for (Index j = 0; j < few.rows(); ++j) few(j, 0) = j % 3 == 1 ? v(j, 0) : 0.0;
  const Matrix sparse = bank.apply(few.columns({0, 1}));
  ASSERT_EQ(applied.rows(), bank.rows() * bank.kernels());
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index i = 0; i < bank.rows(); ++i) {
      double sums[4] = {0.0, 0.0, 0.0, 0.0};
      for (Index j = 0; j < bank.cols(); ++j) {
        sums[3] += naive.k(p, i, j) * few(j, 0);
        sums[0] += naive.k(p, i, j) * v(j, 0);
        sums[1] += naive.k(p, i, j) * v(j, 1);
        sums[2] += naive.k(p, i, j) * each(j, p);
      }
      ASSERT_NEAR(applied(p * bank.rows() + i, 0), sums[0], bound);
      ASSERT_NEAR(applied(p * bank.rows() + i, 1), sums[1], bound);
      ASSERT_NEAR(single(p * bank.rows() + i, 0), sums[0], bound);
      ASSERT_NEAR(own(i, p), sums[2], bound);
      ASSERT_NEAR(sparse(p * bank.rows() + i, 0), sums[3], bound);
    }
  }
}

void check_adjoint(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Matrix g = normal_matrix(bank.rows() * bank.kernels(), 2, 4);
  const Matrix sum = bank.apply_adjoint(g.view());
  const Matrix single = bank.apply_adjoint(g.columns({0, 1}));
  const double bound = tolerance * 4.0 * static_cast<double>(bank.rows() * bank.kernels());
  for (Index c = 0; c < 2; ++c) {
    for (Index j = 0; j < bank.cols(); ++j) {
      double expected = 0.0;
      for (Index p = 0; p < bank.kernels(); ++p) {
        for (Index i = 0; i < bank.rows(); ++i) expected += naive.k(p, i, j) * g(p * bank.rows() + i, c);
      }
      ASSERT_NEAR(sum(j, c), expected, bound);
      if (c == 0) {
        ASSERT_NEAR(single(j, 0), expected, bound);
      }
    }
  }
}

void check_gram(const KernelBank& bank, const Naive& naive, double tolerance, const Vector& weights) {
  const Matrix gram = kernels::weighted_gram(bank, weights);
  const double bound = 2.0 * tolerance * static_cast<double>(bank.rows() * bank.kernels());
  for (Index i = 0; i < bank.cols(); ++i) {
    for (Index j = 0; j < bank.cols(); ++j) {
      double expected = 0.0;
      for (Index p = 0; p < bank.kernels(); ++p) {
        for (Index l = 0; l < bank.rows(); ++l) {
          const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(l)];
          expected += weight * naive.k(p, l, i) * naive.k(p, l, j);
        }
      }
      ASSERT_NEAR(gram(i, j), expected, bound);
    }
  }
}

void check_symmetric_verbs(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Matrix c = normal_matrix(bank.rows(), 2, 5);
  const Matrix forms = bank.quadratic_forms(c.view());
  const Matrix diagonal = bank.diagonal();
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index k = 0; k < 2; ++k) {
      double expected = 0.0;
      double size = 0.0;
      for (Index i = 0; i < bank.rows(); ++i) {
        size += std::abs(c(i, k));
        for (Index j = 0; j < bank.cols(); ++j) expected += c(i, k) * c(j, k) * naive.k(p, i, j);
      }
      ASSERT_NEAR(forms(p, k), expected, tolerance * size * size);
    }
    for (Index i = 0; i < bank.rows(); ++i) ASSERT_NEAR(diagonal(i, p), naive.k(p, i, i), tolerance);
  }
}

void check_entries(const KernelBank& bank, const Naive& naive, double tolerance) {
  Vector panel(static_cast<std::size_t>(2 * 3 * bank.cols()));
  const Index p = bank.kernels() - 2;
  const Index i = bank.rows() - 3;
  bank.panels({p, p + 2}, {i, i + 3}, panel.data());
  std::size_t at = 0;
  for (Index q = p; q < p + 2; ++q) {
    for (Index r = i; r < i + 3; ++r) {
      for (Index j = 0; j < bank.cols(); ++j) ASSERT_NEAR(panel[at++], naive.k(q, r, j), tolerance);
    }
  }
}

// The verbs on chosen samples: rows and columns in any order, some of them twice.
struct Chosen {
  std::vector<Index> rows;
  std::vector<Index> cols;
  Matrix w, c;

  explicit Chosen(const KernelBank& bank)
      : w(normal_matrix(bank.kernels(), 2, 6)), c(normal_matrix(2 * bank.cols() / 3 + 2, 2, 7)) {
    for (Index i = bank.rows() - 1; i >= 0; i -= 2) rows.push_back(i);
    rows.push_back(rows.front());
    for (Index j = 0; j < c.rows(); ++j) cols.push_back(7 * j % bank.cols());
    for (Index j = 0; j < c.rows(); j += 3) c(j, 1) = 0.0;
  }
};

void check_combination(const KernelBank& bank, const Naive& naive, const Chosen& chosen, std::size_t memory,
                       double tolerance) {
  const auto combination = bank.combination(chosen.w.view(), memory);
  const auto n = static_cast<Index>(chosen.rows.size());
  const auto m = static_cast<Index>(chosen.cols.size());
  Matrix entries(m * n, 2, 1.0);  // what is there already stays
  Matrix scores(n, 2, -1.0);
  combination->add_entries(chosen.rows, chosen.cols, entries.view());
  combination->add_scores(chosen.rows, chosen.cols, chosen.c.view(), scores.view());
  const double size = 4.0 * static_cast<double>(bank.kernels());
  for (Index k = 0; k < 2; ++k) {
    for (Index i = 0; i < n; ++i) {
      double score = -1.0;
      for (Index j = 0; j < m; ++j) {
        double sum = 0.0;
        for (Index p = 0; p < bank.kernels(); ++p)
          sum += chosen.w(p, k) *
                 naive.k(p, chosen.rows[static_cast<std::size_t>(i)], chosen.cols[static_cast<std::size_t>(j)]);
        ASSERT_NEAR(entries(j + i * m, k), 1.0 + sum, tolerance * size);
        score += chosen.c(j, k) * sum;
      }
      ASSERT_NEAR(scores(i, k), score, tolerance * size * 4.0 * static_cast<double>(m));
    }
  }
}

void check_chosen(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Chosen chosen(bank);
  tolerance = std::max(tolerance, kTable);  // computed banks answer exponentials from tables
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30})
    check_combination(bank, naive, chosen, memory, tolerance);
  const std::size_t n = chosen.rows.size();
  const std::size_t m = chosen.cols.size();
  Vector entries(n * m * static_cast<std::size_t>(bank.kernels()));
  bank.entries(chosen.rows, chosen.cols, entries.data());
  const Matrix applied = bank.apply_chosen(chosen.rows, chosen.cols, chosen.c.view());
  std::size_t at = 0;
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (std::size_t i = 0; i < n; ++i) {
      double sums[2] = {0.0, 0.0};
      for (std::size_t j = 0; j < m; ++j) {
        const double value = naive.k(p, chosen.rows[i], chosen.cols[j]);
        ASSERT_NEAR(entries[at++], value, tolerance);
        for (Index k = 0; k < 2; ++k) sums[k] += chosen.c(static_cast<Index>(j), k) * value;
      }
      for (Index k = 0; k < 2; ++k)
        ASSERT_NEAR(applied(p * static_cast<Index>(n) + static_cast<Index>(i), k), sums[k],
                    tolerance * 4.0 * static_cast<double>(m));
    }
  }
}

// Few and many columns, and few and many of the samples: banks go different ways.
void check_products(const KernelBank& bank, const Naive& naive, double tolerance) {
  const Chosen chosen(bank);
  tolerance = std::max(tolerance, kTable);
  for (const Index width : {1, 3, 5, 11}) {
    const Matrix whole = normal_matrix(bank.cols(), width, 8);
    const Matrix applied = bank.apply(whole.view());
    for (const std::size_t count : {std::size_t{2}, chosen.cols.size()}) {
      const std::span<const Index> cols{chosen.cols.data(), count};
      const Matrix c = normal_matrix(static_cast<Index>(count), width, 9);
      const Matrix part = bank.apply_chosen(chosen.rows, cols, c.view());
      const auto n = static_cast<Index>(chosen.rows.size());
      for (Index p = 0; p < bank.kernels(); ++p) {
        for (Index i = 0; i < n; ++i) {
          const Index row = chosen.rows[static_cast<std::size_t>(i)];
          for (Index k = 0; k < width; ++k) {
            double all = 0.0;
            double some = 0.0;
            for (Index j = 0; j < bank.cols(); ++j) all += naive.k(p, row, j) * whole(j, k);
            for (Index j = 0; j < static_cast<Index>(count); ++j)
              some += naive.k(p, row, cols[static_cast<std::size_t>(j)]) * c(j, k);
            ASSERT_NEAR(applied(p * bank.rows() + row, k), all,
                        tolerance * 4.0 * static_cast<double>(bank.cols()));
            ASSERT_NEAR(part(p * n + i, k), some, tolerance * 4.0 * static_cast<double>(count));
          }
        }
      }
    }
  }
}

// Rows and columns that are the same samples, in order, odd and even in number: half of a
// symmetric kernel will do.
void check_square_products(const KernelBank& bank, const Naive& naive, double tolerance) {
  tolerance = std::max(tolerance, kTable);
  for (const Index step : {3, 2, 1}) {
    std::vector<Index> rows;
    for (Index i = step - 1; i < bank.rows(); i += step) rows.push_back(i);
    const auto n = static_cast<Index>(rows.size());
    for (const Index width : {1, 2, 5, 11}) {
      const Matrix c = normal_matrix(n, width, 10);
      const Matrix part = bank.apply_chosen(rows, rows, c.view());
      for (Index p = 0; p < bank.kernels(); ++p) {
        for (Index i = 0; i < n; ++i) {
          for (Index k = 0; k < width; ++k) {
            double sum = 0.0;
            for (Index j = 0; j < n; ++j)
              sum += naive.k(p, rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]) * c(j, k);
            ASSERT_NEAR(part(p * n + i, k), sum, tolerance * 4.0 * static_cast<double>(n));
          }
        }
      }
    }
  }
}

void check_all(const KernelBank& bank, const Naive& naive, double tolerance) {
  check_chosen(bank, naive, tolerance);
  check_products(bank, naive, tolerance);
  check_entries(bank, naive, tolerance);
  check_combine(bank, naive, tolerance);
  check_apply(bank, naive, tolerance);
  check_adjoint(bank, naive, tolerance);
  check_gram(bank, naive, tolerance, {});
  if (!bank.symmetric()) return;
  Vector weights(static_cast<std::size_t>(bank.rows()), 1.0);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 3) / 2.0;  // 0, ½, 1
  check_gram(bank, naive, tolerance, weights);
  check_symmetric_verbs(bank, naive, tolerance);
  check_square_products(bank, naive, tolerance);
}

// One-feature kernels, N = 210: the ranks are 2 to about 20, so truncation is exercised.
TEST(Banks, EveryVerbOfEveryBankOnTrainingKernels) {
  const Matrix x = normal_matrix(210, 3, 7);
  const Recipe recipe = recipe_of(x, "rbf(width=0.5,2,8) on all, each; poly(degree=1..3) on all, each");
  const auto computed = recipe.training_bank();
  const Naive naive(*computed);
  for (const Made& made : all_banks(computed)) {
    SCOPED_TRACE(made.name + ", kind " + std::string(made.bank->kind()));
    EXPECT_EQ(made.bank->names(), computed->names());
    check_all(*made.bank, naive, made.tolerance);
  }
  EXPECT_EQ(stored(computed, BankKind::automatic)->kind().substr(0, 8), "low-rank");
}

// Gates of 0, 1 and between, on dense and on low-rank kernels.
TEST(Banks, GatesMultiplyRowsAndColumns) {
  const Matrix x = normal_matrix(50, 3, 14);
  const auto computed = recipe_of(x, "rbf(width=0.5,2) on all, each; poly(degree=2) on all").training_bank();
  Matrix gates = normal_matrix(50, computed->kernels(), 15);
  for (double& gate : gates.values()) gate = std::min(1.0, std::max(0.0, 0.5 + gate));
  Naive naive(*computed);
  for (Index p = 0; p < naive.kernels; ++p) {
    for (Index i = 0; i < 50; ++i) {
      for (Index j = 0; j < 50; ++j)
        naive.entries[static_cast<std::size_t>((p * 50 + i) * 50 + j)] *= gates(i, p) * gates(j, p);
    }
  }
  for (const BankKind kind : {BankKind::dense, BankKind::low_rank, BankKind::computed}) {
    const auto base = stored(computed, kind);
    check_all(kernels::GatedBank(*base, gates), naive, kLowRank);
  }
  EXPECT_THROW(kernels::GatedBank(*computed, Matrix(50, 2)), InternalError);
}

TEST(Banks, EveryVerbOfEveryBankOnNewSamples) {
  const Matrix x = normal_matrix(40, 3, 8);
  const Recipe recipe = recipe_of(x, "rbf(width=0.5,2) on all, each; poly(degree=2) on all");
  const auto computed = recipe.bank_for(dataset_of(normal_matrix(11, 3, 9)));
  const Naive naive(*computed);
  for (const Made& made : all_banks(computed)) {
    SCOPED_TRACE(made.name);
    check_all(*made.bank, naive, made.tolerance);
  }
}

TEST(Banks, RbfFamilyGivesTheSameAnswersFromOneTable) {
  const Matrix x = normal_matrix(60, 4, 10);
  const Recipe recipe = recipe_of(x, "rbf(gamma=2^-15..2^15) on all, each");
  const auto computed = recipe.training_bank();
  const Naive naive(*computed);
  const auto family = stored(computed, BankKind::rbf_family);
  check_all(*family, naive, kTable);
  EXPECT_EQ(family->bytes(), 5U * 60U * 60U * sizeof(double));
}

// Kernels that share a distance are answered from it without any matrix; several views, several distances.
TEST(Banks, ComputedFamiliesGiveTheSameAnswersFromTables) {
  const Matrix x = normal_matrix(70, 4, 12);
  const Recipe recipe = recipe_of(x, "rbf(gamma=2^-15..2^15) on all, each; laplacian(gamma=0.1,1) on all");
  const auto computed = recipe.training_bank();
  EXPECT_TRUE(computed->combines_cheaply());
  check_all(*computed, Naive(*computed), kTable);
  BankRequest request;
  request.families = true;
  const auto kept = store_bank(computed, request, {});
  EXPECT_EQ(kept->kind(), "computed");
  EXPECT_TRUE(kept->combines_cheaply());
  const auto fresh = recipe.bank_for(dataset_of(normal_matrix(9, 4, 13)));
  check_chosen(*fresh, Naive(*fresh), kTable);
}

// Whole banks at adversarial distances, from the samples on: duplicates, 1e±6 apart (d² = 1e±12),
// far from the origin.
TEST(Banks, FamiliesKeepTheirErrorAtAdversarialDistances) {
  Matrix x(12, 2);
  const double places[] = {0.0, 0.0, 1e-6, 2e-6, 1.0, 1.0 + 1e-6, 1e3, 1e3, 1e6, -1e6, 1e6 + 1.0, 3.0};
  for (Index i = 0; i < 12; ++i) x(i, 0) = x(i, 1) = places[i];
  RecipeOptions options;
  options.preprocessing.standardise = false;
  const Recipe recipe =
      Recipe::fit(dataset_of(x), parse_kernel_spec("rbf(gamma=2^-15..2^15, count=300)"), options, {});
  const auto bank = recipe.training_bank();
  const Naive naive(*bank);
  const Index kernels = bank->kernels();
  const Matrix w(kernels, 1, 1.0 / static_cast<double>(kernels));
  std::vector<Index> all;
  for (Index i = 0; i < 12; ++i) all.push_back(i);
  Matrix entries(144, 1);
  bank->combination(w.view(), 0)->add_entries(all, all, entries.view());
  // Counts of one sign: a quadratic form of mixed signs can be 0, where no relative error is defined.
  const Matrix c(12, 1, 1.0);
  const Matrix forms = bank->quadratic_forms(c.view());
  Vector sums(static_cast<std::size_t>(kernels));
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      const double d = 2.0 * (places[i] - places[j]) * (places[i] - places[j]);
      double mean = 0.0;
      for (Index p = 0; p < kernels; ++p) {
        const double value = std::exp(-recipe.terms[static_cast<std::size_t>(p)].parameter * d);
        mean += value / static_cast<double>(kernels);
        sums[static_cast<std::size_t>(p)] += value;
      }
      EXPECT_NEAR(entries(j + 12 * i, 0), mean, 1e-7);
    }
  }
  for (Index p = 0; p < kernels; ++p) {
    const double expected = sums[static_cast<std::size_t>(p)];
    EXPECT_NEAR(forms(p, 0), expected, 1e-6 * expected);
  }
}

// Distances 0, duplicates, 1e±12; single widths, so that no other kernel hides an error.
TEST(Banks, ExponentialTableKeepsItsErrorAtEveryDistance) {
  std::vector<double> gammas;
  for (int e = -15; e <= 15; ++e) gammas.push_back(std::exp2(e));
  const kernels::ExponentialTable table(gammas);
  for (std::size_t f = 0; f < gammas.size(); ++f) {
    Vector w(gammas.size());
    w[f] = 1.0;
    const Vector coefficients = table.combined(w);
    double worst = std::abs(table.evaluate(coefficients, 0.0) - 1.0);
    for (double t = 1e-12; t < 1e13; t *= 1.0037) {
      worst = std::max(worst, std::abs(table.evaluate(coefficients, t) - std::exp(-gammas[f] * t)));
    }
    EXPECT_LE(worst, kTable) << "gamma " << gammas[f];
  }
}

TEST(Banks, HistogramIsTheTransposeOfTheTable) {
  const std::vector<double> gammas = {0.01, 1.0, 30.0};
  const kernels::ExponentialTable table(gammas);
  Vector moments(static_cast<std::size_t>(4 * table.segments()));
  test::Normal normal(3);
  Vector expected(3);
  for (int k = 0; k < 500; ++k) {
    const double t = std::exp(6.0 * normal());
    const double weight = normal();
    table.add_pair(t, weight, moments.data());
    for (std::size_t f = 0; f < 3; ++f) {
      Vector w(3);
      w[f] = 1.0;
      expected[f] += weight * table.evaluate(table.combined(w), t);
    }
  }
  const Vector sums = table.sums(moments.data());
  for (std::size_t f = 0; f < 3; ++f)
    EXPECT_NEAR(sums[f], expected[f], 1e-11);  // 500 terms of size 1, rounding
}

TEST(Banks, PivotedCholeskyStopsAtTheRankAndAtTheLimit) {
  const Matrix thin = normal_matrix(50, 4, 11);
  Matrix k(50, 50);
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 50; ++j) {
      for (Index d = 0; d < 4; ++d) k(i, j) += thin(i, d) * thin(j, d);
    }
  }
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < i; ++j) k(i, j) = k(j, i);
  }
  const auto bank = make_dense_bank({k}, {"thin"}, true);
  const Matrix diagonal = bank->diagonal();
  const auto factor = kernels::low_rank_factor(*bank, 0, diagonal.column(0), 1e-12, 50);
  ASSERT_TRUE(factor.has_value());
  EXPECT_EQ(factor->cols(), 4);
  EXPECT_FALSE(kernels::low_rank_factor(*bank, 0, diagonal.column(0), 1e-12, 3).has_value());
  const auto zero = make_dense_bank({Matrix(5, 5)}, {"zero"}, true);
  const auto empty = kernels::low_rank_factor(*zero, 0, zero->diagonal().column(0), 1e-12, 3);
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->cols(), 0);
}

TEST(Banks, KindsHaveNames) {
  EXPECT_THROW((void)parse_bank_kind("thick"), InvalidArgument);
  for (BankKind kind : {BankKind::automatic, BankKind::dense, BankKind::dense32, BankKind::low_rank,
                        BankKind::rbf_family, BankKind::computed}) {
    EXPECT_EQ(parse_bank_kind(to_string(kind)), kind);
  }
}

TEST(Banks, WhatDoesNotFitIsRefusedWithASentence) {
  const Recipe recipe = recipe_of(normal_matrix(100, 3, 12), "rbf(width=0.01,0.02) on all");
  Context context;
  context.memory_budget = 50000;
  try {
    (void)store_bank(recipe.training_bank(), {}, context);
    // An RBF family of two widths shares one distance: 80 kB, still above the budget.
    ADD_FAILURE() << "160 kB were stored in 50 kB";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("--bank"), std::string::npos) << error.what();
  }
  context.memory_budget = 100000;  // one distance matrix fits, two kernels do not
  BankPlan plan;
  EXPECT_EQ(store_bank(recipe.training_bank(), {}, context, &plan)->kind(), "rbf-family");
  EXPECT_EQ(plan.kind, BankKind::rbf_family);
}

// Given kernels as they are, times a number, centred, and beside computed ones.
Dataset with_given_kernels() {
  Dataset data = dataset_of(normal_matrix(60, 3, 21));
  const Matrix x = normal_matrix(60, 4, 22);
  for (const double width : {1.0, 2.0, 3.0})
    data.kernels.push_back({"k" + std::to_string(data.kernels.size()), test::rbf_kernel(x, x, width)});
  return data;
}

TEST(Banks, EveryVerbOfSharedKernels) {
  const Dataset data = with_given_kernels();
  const auto computed = Recipe::fit(data,
                                    parse_kernel_spec("precomputed; rbf(width=2,3); "
                                                      "precomputed(normalise=unit-variance) on k0, k2; "
                                                      "precomputed(normalise=centre) on k1; linear"),
                                    {}, {})
                            .training_bank();
  const Naive naive(*computed);
  for (const Made& made : all_banks(computed)) {
    SCOPED_TRACE(made.name);
    check_all(*made.bank, naive, 5.0 * made.tolerance);  // of unit variance: entries up to 2, or 5 in width 3
  }
  const auto dense = stored(computed, BankKind::dense);
  EXPECT_EQ(dense->shared_bytes(), 5U * 60U * 60U * sizeof(double));
  // A budget for what is not there already.
  Context context;
  context.memory_budget = dense->bytes() - dense->shared_bytes();
  BankRequest request;
  request.kind = BankKind::dense;
  EXPECT_EQ(store_bank(computed, request, context)->kind(), "dense");
  --context.memory_budget;
  EXPECT_THROW((void)store_bank(computed, request, context), ResourceError);
}

}  // namespace
}  // namespace kloom
