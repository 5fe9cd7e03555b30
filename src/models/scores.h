// SPDX-License-Identifier: BSD-3-Clause
//
// Scores as sums over kernels and training samples: the pieces that the methods' predictions are made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kloom/model.h"

namespace kloom::models {

// Row of the kernel weights that output c uses.
[[nodiscard]] Vector weights_of(const Model& model, Index c);

// Kernel outputs Σ_n A_nc k_p(x, x_n) of output c as a rows × P matrix; `applied` is the bank's `apply` of A.
[[nodiscard]] Matrix outputs_of(const Matrix& applied, Index c, Index rows, Index kernels);

// What each kernel adds to the score: its outputs times its weight.
[[nodiscard]] Matrix contributions_of(const Matrix& outputs, const Vector& weights);

// Adds output c, given its kernel outputs, to scores and (if asked) contributions.
void add_output(const Model& model, const Matrix& outputs, Index c, const PredictOptions& options,
                Predictions& result);

// All outputs as Σ_p w_cp Σ_n A_nc k_p(x, x_n) + b_c.
[[nodiscard]] Predictions weighted_sums(const Model& model, const KernelBank& bank,
                                        const PredictOptions& options);

// A sum of several solutions, each a combination of kernels of its own, plus bias: read by combination, so that the
// number of kernels costs nothing where the bank knows how.
// Where samples lack kernels and `sizes` says how large the kernels are, a term's kernels are divided by √(s_i s_j)
// (present_scales), of which the training sample's part is in the coefficients.
[[nodiscard]] Predictions sum_of_terms(const Model& model, const KernelBank& bank,
                                       std::span<const WeightedTerm> terms, const PredictOptions& options,
                                       std::span<const double> sizes = {});
// 1/√s_i for each row of `presence` (samples × kernels), s_i the share of Σ_p w_p size_p that the sample has: with it the
// sum over the kernels that are there has the diagonal that the sum over all would have. 1 for a sample that has none.
[[nodiscard]] Vector present_scales(const Matrix& presence, std::span<const double> weights,
                                    std::span<const double> sizes);
// The terms from fewer kernels and samples.
[[nodiscard]] std::vector<WeightedTerm> restricted_terms(const std::vector<WeightedTerm>& terms,
                                                         const Needs& needs);
// The first rule that the terms break: shapes, finite numbers, weights ≥ 0, and that kernels and samples that a term uses
// are among those that the model seems to use.
[[nodiscard]] std::string terms_trouble(const std::vector<WeightedTerm>& terms, const Model& model);

// The sign of the one score, or the largest of several.
[[nodiscard]] std::vector<int> codes_of(const Matrix& scores);
[[nodiscard]] bool has_codes(Task task);
[[nodiscard]] bool has_numbers(Task task);

[[nodiscard]] std::vector<Index> all_of(Index n);
// Rows that are not all 0.
[[nodiscard]] std::vector<Index> used_rows(const Matrix& coefficients);
[[nodiscard]] Matrix selected(const Matrix& from, const std::vector<Index>& rows,
                              const std::vector<Index>& cols);
[[nodiscard]] Vector selected(const Vector& from, const std::vector<Index>& chosen);

// Predictions of some rows into their place among all.
void append(Predictions& all, const Predictions& part, Range rows, Index total);

[[nodiscard]] bool is_shape(const Matrix& m, Index rows, Index cols);
// Every number is finite, and the least of them at least, or above, this.
[[nodiscard]] bool all_finite(std::span<const double> values);
[[nodiscard]] bool all_at_least(std::span<const double> values, double least);
[[nodiscard]] bool all_above(std::span<const double> values, double least);
// Finite, with a diagonal that is not negative: what a covariance or its inverse must be at least.
[[nodiscard]] bool like_covariance(const Matrix& m);
// Empty where a method has nothing to say, else one number for each of n.
[[nodiscard]] bool empty_or(const Vector& v, Index n);

}  // namespace kloom::models
