// SPDX-License-Identifier: BSD-3-Clause
//
// The kernel bank: P kernels over rows × columns, read-only. It is the narrow waist of kloom: kernels
// of any origin below, learners of any kind above, and between them only the verbs of this class.
//
// Rows are samples to be described, columns the training samples they are compared with. In training
// both are the same N samples, the bank is symmetric and K_p = K_pᵀ. In prediction rows are new samples.
//
// Variants differ in what they store, never in what they answer:
//   computed    nothing: kernel functions evaluated on the data when asked
//   dense       every entry, float64 or float32, in memory or mapped from a file
//   low-rank    K_p ≈ L_p L_pᵀ by pivoted Cholesky (symmetric banks)
//   rbf-family  many Gaussian widths of one distance: any combination is one function of that distance
//   concat      several banks side by side
//
// Layout of everything that has a kernel axis: kernel p's block follows kernel p-1's, and inside a
// block a row of the kernel is contiguous. So `apply` returns a rows × P matrix per right-hand side.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom {

// Fixed combinations of the kernels of one bank, K̄_k = Σ_p w_pk K_p for k = 0 … outputs − 1: made once, then
// asked for entries between samples of the caller's choice. It must not outlive its bank.
class Combination {
 public:
  virtual ~Combination() = default;
  Combination(const Combination&) = delete;
  Combination& operator=(const Combination&) = delete;

  // out(j + i·cols.size(), k) += K̄_k(rows[i], cols[j]).
  virtual void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const = 0;
  // out(i, k) += Σ_j c(j, k) K̄_k(rows[i], cols[j]). Zeros of c cost next to nothing.
  virtual void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                          MatrixView out) const = 0;

 protected:
  Combination() = default;
};

// Which kernels each sample has: 1, or 0 where the view that a kernel looks at is absent. A kernel is 0 between two samples
// of which one lacks it: sums over kernels are sums over those that both have. Empty: every sample has all of them.
struct Presence {
  Matrix rows;  // rows × kernels
  Matrix cols;  // columns × kernels
  [[nodiscard]] bool complete() const { return rows.empty() && cols.empty(); }
};

struct BankRequest;
struct BankPlan;

class KernelBank {
 public:
  virtual ~KernelBank() = default;
  KernelBank(const KernelBank&) = delete;
  KernelBank& operator=(const KernelBank&) = delete;

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index kernels() const { return static_cast<Index>(names_.size()); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Rows and columns are the same samples, so every kernel is a symmetric matrix.
  [[nodiscard]] bool symmetric() const { return symmetric_; }

  [[nodiscard]] const Presence& presence() const { return presence_; }

  [[nodiscard]] virtual std::string_view kind() const = 0;
  // Memory that the bank holds (for a mapped bank: the size of the file's part).
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  // The part of it that is in the samples which the bank was made from: held once by both.
  [[nodiscard]] virtual std::size_t shared_bytes() const { return 0; }

  // Entries: out[((p-p0)*nrows + (i-i0))*cols + j] = K_p(i, j) for p in kernels and i in rows.
  virtual void panels(Range kernels, Range rows, double* out) const = 0;

  // K_p(i, i), N × P. Symmetric banks only.
  [[nodiscard]] virtual Matrix diagonal() const;

  // Σ_p w_p K_p for the given rows; out is cols × rows.size(), column j the combined row rows[j].
  virtual void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const;
  // Σ_p w_p K_p whole: cols × rows, column i the combined row i.
  [[nodiscard]] Matrix combine(std::span<const double> w) const;
  // The same, added to `out`, for those who keep the memory.
  virtual void add_combination(std::span<const double> w, MatrixView out) const;
  // Σ_p w_pk K_p for every column k of w (P × outputs), for those who read some entries at a time. It may hold
  // up to `memory` bytes; with less than whole matrices need, entries are computed when asked for.
  [[nodiscard]] virtual std::unique_ptr<Combination> combination(ConstMatrixView w, std::size_t memory) const;
  // Combinations of many kernels cost no more than one kernel (RBF families).
  [[nodiscard]] virtual bool combines_cheaply() const { return false; }
  // A combined row costs no more than its share of the whole, so whoever needs some rows asks for those.
  [[nodiscard]] virtual bool combines_by_rows() const { return true; }

  // K_p(rows[i], cols[j]) of every kernel: out[(p·rows.size() + i)·cols.size() + j].
  virtual void entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const;
  // Σ_j c(j, k) K_p(rows[i], cols[j]) of every kernel: (rows.size()·P) × outputs, laid out as by `apply`.
  [[nodiscard]] virtual Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                            ConstMatrixView c) const;

  // K_p v for every kernel p and every column v of V (cols × k). Result (rows·P) × k: column j, read as a
  // rows × P matrix, is [K_1 v_j, …, K_P v_j].
  [[nodiscard]] virtual Matrix apply(ConstMatrixView v) const;
  // K_p v_p with its own vector for each kernel: V is cols × P, result rows × P. Kernels with v_p = 0 are free.
  [[nodiscard]] virtual Matrix apply_each(ConstMatrixView v) const;
  // Σ_p K_pᵀ g_p for every column of G, laid out as `apply` returns it: (rows·P) × k. Result cols × k.
  [[nodiscard]] virtual Matrix apply_adjoint(ConstMatrixView g) const;

  // cᵀ K_p c for every kernel and every column c of C (N × k): P × k. Symmetric banks only.
  [[nodiscard]] virtual Matrix quadratic_forms(ConstMatrixView c) const;
  // Σ_p K_pᵀ K_p, cols × cols (for a symmetric bank Σ_p K_p K_pᵀ).
  [[nodiscard]] virtual Matrix gram() const;

 protected:
  KernelBank(Index rows, Index cols, bool symmetric, std::vector<std::string> names)
      : rows_(rows), cols_(cols), symmetric_(symmetric), names_(std::move(names)) {}

  // Entries of absent kernels must be 0 already.
  void set_presence(Presence presence) { presence_ = std::move(presence); }
  friend std::unique_ptr<KernelBank> store_bank(std::shared_ptr<const KernelBank> computed,
                                                const BankRequest& request, const Context& context,
                                                BankPlan* plan);

  // Rows whose panel over `kernels` kernels stays within a few megabytes: the block size of the default verbs.
  [[nodiscard]] Index block_rows(Index kernels) const;

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  bool symmetric_ = false;
  std::vector<std::string> names_;
  Presence presence_;
};

enum class BankKind { automatic, dense, dense32, low_rank, rbf_family, computed };

[[nodiscard]] std::string_view to_string(BankKind kind);
// Throws InvalidArgument listing the kinds.
[[nodiscard]] BankKind parse_bank_kind(std::string_view text);

// Kernels given as matrices. All must have the same shape; `symmetric` promises that rows and columns are
// the same samples (checked to 1e-8 of the largest entry; what rounding took from symmetry is given back, as for files).
[[nodiscard]] std::unique_ptr<KernelBank> make_dense_bank(const std::vector<Matrix>& kernels,
                                                          std::vector<std::string> names, bool symmetric);

// Kernels in memory that somebody else owns (NumPy, a mapped file): float64, laid out as `panels` writes them.
struct BorrowedKernels {
  const double* values = nullptr;
  Index rows = 0;
  Index cols = 0;
  std::shared_ptr<const void>
      owner;  // keeps the memory alive; nothing is copied but kernels that are not quite symmetric
};
// The same promises and checks as above.
[[nodiscard]] std::unique_ptr<KernelBank> make_dense_bank(BorrowedKernels kernels,
                                                          std::vector<std::string> names, bool symmetric);

struct BankRequest {
  BankKind kind = BankKind::automatic;
  double rank_tolerance = 1e-12;  // low-rank: stop when the remaining trace is this part of the trace
  bool families = false;  // automatic: kernels that share a distance stay functions of it, nothing is stored
  // automatic: thin factors, where all kernels have them and together they have at most half as many columns as rows; else
  // entries.
  bool factors = false;
};

// The bytes that making and using each kind would take, before anything is made.
struct BankPlan {
  BankKind kind = BankKind::dense;
  std::size_t bytes = 0;  // estimate for the chosen kind, without what the samples share with it
  std::size_t dense_bytes = 0;
  Index low_rank_kernels = 0;  // of the kernels looked at, how many have low numerical rank
  double mean_rank = 0.0;
  std::string why;  // one sentence
};

// Stores a computed bank in the way asked for, or in the cheapest way that fits the memory budget.
// Throws ResourceError with one sentence (needed, available, what would help) if nothing fits.
[[nodiscard]] std::unique_ptr<KernelBank> store_bank(std::shared_ptr<const KernelBank> computed,
                                                     const BankRequest& request, const Context& context,
                                                     BankPlan* plan = nullptr);

// Bank files: the container of model.h, mapped into memory on load; block checksums are verified when a
// block is first touched.
void save_bank(const KernelBank& bank, const std::string& path, const Context& context);
[[nodiscard]] std::unique_ptr<KernelBank> load_bank(const std::string& path);

}  // namespace kloom
