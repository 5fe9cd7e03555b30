// SPDX-License-Identifier: BSD-3-Clause
//
// The two covariances of BEMKL that grow with the kernels: Σ(b,e) of the M biases and P kernel weights, biases first,
// and Σ(g_c) of a sample's intermediate outputs, which is the same for all samples. The updates of q(G) and q(b,e)
// [Gonen2012, section 4, eq. 4] make each from the other:
//
//   Σ(g_c)  = (E[υ_c] I + E[ε_c] E[eeᵀ])⁻¹                E[eeᵀ] = Σ(e) + μ(e)μ(e)ᵀ
//   Σ(b,e)  = (diag E[γ,ω] + Σ_c E[ε_c] E[H_cᵀH_c])⁻¹     H_c = [0 … 1 … 0, G_c]: ones for bias c, then the outputs
//
// with E[H_cᵀH_c] = H_cᵀH_c + nΣ(g_c) for n samples. Beside these two steps the learner asks for diagonals, determinants
// and products only, so that every problem can have the form of the two matrices that is cheapest for it:
//
//   direct        both as they stand
//   thin          classification with P ≥ 4NM; both are a diagonal plus few rows, and nothing costs P³
//   non-negative  e ≥ 0: Σ(b,e) is diagonal, Σ(g) is a diagonal minus a rank-one matrix
//
// Objects of this class do not change: an update returns the next one, and copies of the factors share them.
#pragma once

#include <memory>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::methods {

class Covariances {
 public:
  using Next = std::shared_ptr<const Covariances>;
  virtual ~Covariances() = default;

  // What the update of q(b,e) is made of.
  struct WeightSystem {
    const Vector& precision;         // E[γ], E[ω]
    std::vector<ConstMatrixView> g;  // G_c, N × P each
    const Vector& ones;              // in H_c: roots of the samples' weights
    const Vector& epsilon;           // E[ε], M
    double samples;                  // n
    const Vector& mean;              // μ(b,e) before the update
  };

  // The pair with Σ(g) made from E[eeᵀ]; null if a matrix is not positive definite or not finite.
  [[nodiscard]] virtual Next with_outputs(const Vector& mean, const Vector& upsilon,
                                          const Vector& epsilon) const = 0;
  // The pair with Σ(b,e) made from Σ(g); null as above. `right` comes in as the right-hand side of the normal equations
  // and goes out as μ(b,e).
  [[nodiscard]] virtual Next with_weights(const WeightSystem& system, Vector& right) const = 0;

  // Σ(b,e) that others have made, with its log determinant and spread (below).
  struct GivenWeights {
    Matrix covariance;
    double log_det = 0.0;
    double spread = 0.0;
  };
  // The pair with this Σ(b,e) and the same Σ(g). The direct form alone has it.
  [[nodiscard]] virtual Next with_given_weights(GivenWeights given) const;

  // Σ(b,e): its diagonal, its first M rows, the entropy of q(b,e) and Σ_c E[ε_c] tr(Σ(b,e) E[H_cᵀH_c]) at its update, and
  // itself. For e ≥ 0 the entropy counts the log 2 of every half-normal prior, and q(e_m) is N(location, 1/precision) cut
  // off at 0; for free weights both are empty.
  [[nodiscard]] const Vector& weight_variances() const { return weight_variances_; }
  [[nodiscard]] const Matrix& bias_rows() const { return bias_rows_; }
  [[nodiscard]] double weight_entropy() const { return weight_entropy_; }
  [[nodiscard]] double spread() const { return spread_; }
  [[nodiscard]] virtual Matrix weights() const = 0;
  [[nodiscard]] const Vector& weight_location() const { return weight_location_; }
  [[nodiscard]] const Vector& weight_precision() const { return weight_precision_; }

  // Σ(g_c): its trace, its log determinant, itself, and out = rows · Σ(g_c).
  [[nodiscard]] double output_trace(Index c) const { return of_output(output_traces_, c); }
  [[nodiscard]] double output_log_det(Index c) const { return of_output(output_log_dets_, c); }
  [[nodiscard]] virtual Matrix outputs(Index c) const = 0;
  virtual void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const = 0;

  // Σ_c E[ε_c] E[H_cᵀH_c] with Σ(g) as it is now.
  [[nodiscard]] Matrix second_moments(const WeightSystem& system) const;

 protected:
  // Both matrices are identities. In classification all outputs have the same Σ(g): `outputs` is 1.
  Covariances(Index biases, Index kernels, Index outputs);
  Covariances(const Covariances&) = default;
  Covariances& operator=(const Covariances&) = default;

  [[nodiscard]] Index biases() const { return bias_rows_.rows(); }
  template <typename Value>
  [[nodiscard]] static const Value& of_output(const std::vector<Value>& values, Index c) {
    return values[values.size() == 1 ? 0 : at(c)];
  }
  // Notes the diagonal, entropy and spread of a normal q(b,e); `spread` where Σ(b,e) is the inverse of the system's matrix.
  void describe_weights(Vector variances, double log_det, double spread);
  [[nodiscard]] static double spread_of(const WeightSystem& system, const Vector& variances);

  Vector weight_variances_, weight_location_, weight_precision_;
  Matrix bias_rows_;
  double weight_entropy_ = 0.0, spread_ = 0.0;
  Vector output_traces_, output_log_dets_;
};

[[nodiscard]] Matrix diagonal_matrix(const Vector& diagonal);

// With more kernels than this rule asks for, the thin form is faster than P × P inverses.
[[nodiscard]] inline bool thin_pays(Index samples, Index outputs, Index kernels) {
  return kernels >= 4 * samples * outputs;
}

// The one place where the form is chosen. Both covariances start as identities.
[[nodiscard]] std::shared_ptr<const Covariances> make_covariances(Index samples, Index kernels, Index outputs,
                                                                  bool regression, bool non_negative);

[[nodiscard]] std::shared_ptr<const Covariances> make_direct_covariances(Index biases, Index kernels,
                                                                         Index outputs);
[[nodiscard]] std::shared_ptr<const Covariances> make_thin_covariances(Index biases, Index kernels);
[[nodiscard]] std::shared_ptr<const Covariances> make_non_negative_covariances(Index biases, Index kernels);

}  // namespace kloom::methods
