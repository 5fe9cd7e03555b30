// SPDX-License-Identifier: BSD-3-Clause
//
// The verbs of a bank, written once for every bank in terms of panels of entries. A bank overrides what it
// can answer faster; these are also the oracle that the faster answers are tested against.
#include "kloom/bank.h"

#include <algorithm>
#include <string>

#include "algebra/blas.h"
#include "kloom/error.h"

namespace kloom {

using algebra::Op;

namespace {

// Calls visit(kernels, rows, panel) over the whole bank in blocks of a few megabytes.
template <typename Visit>
void for_each_block(const KernelBank& bank, Index block_rows, Index block_kernels, Visit visit) {
  Vector panel(static_cast<std::size_t>(block_kernels * block_rows * bank.cols()));
  for (Index p = 0; p < bank.kernels(); p += block_kernels) {
    const Range kernels{p, std::min(bank.kernels(), p + block_kernels)};
    for (Index i = 0; i < bank.rows(); i += block_rows) {
      const Range rows{i, std::min(bank.rows(), i + block_rows)};
      bank.panels(kernels, rows, panel.data());
      visit(kernels, rows, panel.data());
    }
  }
}

void require_symmetric(const KernelBank& bank, const char* verb) {
  if (!bank.symmetric()) {
    throw InternalError(std::string(verb) + " needs a bank whose rows and columns are the same samples");
  }
}

// Whole combined matrices.
class WholeCombination final : public Combination {
 public:
  WholeCombination(const KernelBank& bank, ConstMatrixView w) {
    for (Index k = 0; k < w.cols; ++k) matrices_.push_back(bank.combine(w.column(k)));
  }
  void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const override {
    for (std::size_t k = 0; k < matrices_.size(); ++k) {
      double* to = out.column(static_cast<Index>(k)).data();
      for (const Index i : rows) {
        const auto row = matrices_[k].column(i);
        for (const Index j : cols) *to++ += row[static_cast<std::size_t>(j)];
      }
    }
  }
  void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                  MatrixView out) const override {
    for (std::size_t k = 0; k < matrices_.size(); ++k) {
      const auto weights = c.column(static_cast<Index>(k));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = matrices_[k].column(rows[i]);
        double sum = 0.0;
        for (std::size_t j = 0; j < cols.size(); ++j) {
          if (weights[j] != 0.0) sum += weights[j] * row[static_cast<std::size_t>(cols[j])];
        }
        out(static_cast<Index>(i), static_cast<Index>(k)) += sum;
      }
    }
  }

 private:
  std::vector<Matrix> matrices_;
};

// Rows of the combined matrices, computed when asked for; once for all columns of w that are the same.
class RowCombination final : public Combination {
 public:
  RowCombination(const KernelBank& bank, ConstMatrixView w) : bank_(bank) {
    for (Index k = 0; k < w.cols; ++k) {
      Vector weights(w.column(k).begin(), w.column(k).end());
      const auto same = std::ranges::find(sums_, weights, &Sum::weights);
      if (same == sums_.end()) {
        sums_.push_back({std::move(weights), {k}});
      } else {
        same->outputs.push_back(k);
      }
    }
  }
  void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const override {
    each_row(rows, [&](const Sum& sum, std::size_t i, std::span<const double> row) {
      for (const Index k : sum.outputs) {
        double* to = out.column(k).data() + i * cols.size();
        for (const Index j : cols) *to++ += row[static_cast<std::size_t>(j)];
      }
    });
  }
  void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                  MatrixView out) const override {
    each_row(rows, [&](const Sum& sum, std::size_t i, std::span<const double> row) {
      for (const Index k : sum.outputs) {
        const auto weights = c.column(k);
        double score = 0.0;
        for (std::size_t j = 0; j < cols.size(); ++j)
          score += weights[j] * row[static_cast<std::size_t>(cols[j])];
        out(static_cast<Index>(i), k) += score;
      }
    });
  }

 private:
  struct Sum {
    Vector weights;
    std::vector<Index> outputs;  // the columns of w that hold these weights
  };

  // Calls use(sum, i, row): the combined row of the sample rows[i].
  template <typename Use>
  void each_row(std::span<const Index> rows, const Use& use) const {
    constexpr std::size_t together = 64;
    Matrix combined(bank_.cols(), static_cast<Index>(std::min(together, rows.size())));
    for (std::size_t begin = 0; begin < rows.size(); begin += together) {
      const auto block = rows.subspan(begin, std::min(together, rows.size() - begin));
      for (const Sum& sum : sums_) {
        bank_.combine_rows(sum.weights, block, combined.columns({0, std::ssize(block)}));
        for (std::size_t i = 0; i < block.size(); ++i)
          use(sum, begin + i, combined.column(static_cast<Index>(i)));
      }
    }
  }

  const KernelBank& bank_;
  std::vector<Sum> sums_;
};

constexpr Index kBlockEntries = Index{1} << 20;  // 8 MB of doubles

// Kernels whose panels of sixteen rows fill one block.
Index block_kernels(const KernelBank& bank) {
  const Index rows = std::clamp<Index>(bank.rows(), 1, 16);
  return std::clamp<Index>(kBlockEntries / std::max<Index>(1, bank.cols() * rows), 1,
                           std::max<Index>(1, bank.kernels()));
}

}  // namespace

Index KernelBank::block_rows(Index kernels) const {
  return std::clamp<Index>(kBlockEntries / std::max<Index>(1, cols() * kernels),
                           std::min<Index>(16, std::max<Index>(1, rows())), std::max<Index>(1, rows()));
}

Matrix KernelBank::diagonal() const {
  require_symmetric(*this, "diagonal");
  Matrix result(rows(), kernels());
  Vector values(static_cast<std::size_t>(kernels()));
  for (Index i = 0; i < rows(); ++i) {
    entries({&i, 1}, {&i, 1}, values.data());
    for (Index p = 0; p < kernels(); ++p) result(i, p) = values[static_cast<std::size_t>(p)];
  }
  return result;
}

// Rows that are neighbours are computed together.
void KernelBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  const auto most = std::clamp<Index>(kBlockEntries / std::max<Index>(1, cols() * kernels()), 1, 16);
  Vector panel;
  for (std::size_t first = 0; first < rows.size();) {
    Range run{rows[first], rows[first] + 1};
    while (run.size() < most && first + static_cast<std::size_t>(run.size()) < rows.size() &&
           rows[first + static_cast<std::size_t>(run.size())] == run.end)
      ++run.end;
    panel.resize(static_cast<std::size_t>(run.size() * cols() * kernels()));
    panels({0, kernels()}, run, panel.data());
    for (Index i = 0; i < run.size(); ++i, ++first)
      algebra::gemv(Op::none, 1.0, {panel.data() + i * cols(), cols(), kernels(), run.size() * cols()}, w, 0.0,
                    out.column(static_cast<Index>(first)));
  }
}

Matrix KernelBank::combine(std::span<const double> w) const {
  Matrix result(cols(), rows());
  add_combination(w, result.view());
  return result;
}

void KernelBank::add_combination(std::span<const double> w, MatrixView out) const {
  const Index nk = block_kernels(*this);
  for_each_block(*this, block_rows(nk), nk, [&](Range kernels, Range block, const double* panel) {
    for (Index p = kernels.begin; p < kernels.end; ++p) {
      for (Index i = block.begin; i < block.end; ++i, panel += cols()) {
        algebra::axpy(w[static_cast<std::size_t>(p)], {panel, static_cast<std::size_t>(cols())}, out.column(i));
      }
    }
  });
}

std::unique_ptr<Combination> KernelBank::combination(ConstMatrixView w, std::size_t memory) const {
  const auto whole = static_cast<std::size_t>(rows()) * static_cast<std::size_t>(cols()) *
                     static_cast<std::size_t>(w.cols) * sizeof(double);
  if (whole <= memory) return std::make_unique<WholeCombination>(*this, w);
  return std::make_unique<RowCombination>(*this, w);
}

void KernelBank::entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const {
  Vector row(static_cast<std::size_t>(this->cols() * kernels()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    panels({0, kernels()}, {rows[i], rows[i] + 1}, row.data());
    for (Index p = 0; p < kernels(); ++p) {
      const double* from = row.data() + p * this->cols();
      double* to = out + (static_cast<std::size_t>(p) * rows.size() + i) * cols.size();
      for (const Index j : cols) *to++ = from[j];
    }
  }
}

Matrix KernelBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                ConstMatrixView c) const {
  const auto n = static_cast<Index>(rows.size());
  Matrix whole(this->cols(), c.cols);
  for (Index k = 0; k < c.cols; ++k) {
    for (std::size_t j = 0; j < cols.size(); ++j) whole(cols[j], k) += c(static_cast<Index>(j), k);
  }
  Matrix result(n * kernels(), c.cols);
  Vector row(static_cast<std::size_t>(this->cols() * kernels()));
  Matrix products(kernels(), c.cols);
  for (Index i = 0; i < n; ++i) {
    const Index at = rows[static_cast<std::size_t>(i)];
    panels({0, kernels()}, {at, at + 1}, row.data());
    algebra::gemm(Op::transpose, Op::none, 1.0, {row.data(), this->cols(), kernels(), this->cols()},
                  whole.view(), 0.0, products.view());
    for (Index k = 0; k < c.cols; ++k) {
      for (Index p = 0; p < kernels(); ++p) result(p * n + i, k) = products(p, k);
    }
  }
  return result;
}

Matrix KernelBank::apply(ConstMatrixView v) const {
  Matrix result(rows() * kernels(), v.cols);
  const Index nk = block_kernels(*this);
  for_each_block(*this, block_rows(nk), nk, [&](Range kernels, Range block, const double* panel) {
    for (Index p = kernels.begin; p < kernels.end; ++p) {
      const ConstMatrixView entries{panel, cols(), block.size(), cols()};
      const MatrixView out{result.data() + p * rows() + block.begin, block.size(), v.cols, result.rows()};
      algebra::gemm(Op::transpose, Op::none, 1.0, entries, v, 0.0, out);
      panel += block.size() * cols();
    }
  });
  return result;
}

Matrix KernelBank::apply_each(ConstMatrixView v) const {
  Matrix result(rows(), kernels());
  const Index nk = block_kernels(*this);
  for_each_block(*this, block_rows(nk), nk, [&](Range kernels, Range block, const double* panel) {
    for (Index p = kernels.begin; p < kernels.end; ++p) {
      const ConstMatrixView entries{panel, cols(), block.size(), cols()};
      const auto out = result.column(p).subspan(static_cast<std::size_t>(block.begin),
                                                static_cast<std::size_t>(block.size()));
      algebra::gemv(Op::transpose, 1.0, entries, v.column(p), 0.0, out);
      panel += block.size() * cols();
    }
  });
  return result;
}

Matrix KernelBank::apply_adjoint(ConstMatrixView g) const {
  Matrix result(cols(), g.cols);
  const Index nk = block_kernels(*this);
  for_each_block(*this, block_rows(nk), nk, [&](Range kernels, Range block, const double* panel) {
    for (Index p = kernels.begin; p < kernels.end; ++p) {
      const ConstMatrixView entries{panel, cols(), block.size(), cols()};
      const ConstMatrixView part{g.data + p * rows() + block.begin, block.size(), g.cols, g.stride};
      algebra::gemm(Op::none, Op::none, 1.0, entries, part, 1.0, result.view());
      panel += block.size() * cols();
    }
  });
  return result;
}

Matrix KernelBank::quadratic_forms(ConstMatrixView c) const {
  require_symmetric(*this, "quadratic_forms");
  Matrix result(kernels(), c.cols);
  const Matrix kc = apply(c);
  for (Index j = 0; j < c.cols; ++j) {
    const ConstMatrixView outputs{kc.column(j).data(), rows(), kernels(), rows()};
    for (Index p = 0; p < kernels(); ++p) result(p, j) = algebra::dot(outputs.column(p), c.column(j));
  }
  return result;
}

Matrix KernelBank::gram() const {
  Matrix result(cols(), cols());
  const Index nk = block_kernels(*this);
  for_each_block(*this, block_rows(nk), nk, [&](Range kernels, Range block, const double* panel) {
    const ConstMatrixView entries{panel, cols(), kernels.size() * block.size(), cols()};
    algebra::syrk_lower(Op::none, 1.0, entries, 1.0, result.view());
  });
  algebra::symmetrise_from_lower(result.view());
  return result;
}

}  // namespace kloom
