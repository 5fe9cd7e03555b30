// SPDX-License-Identifier: BSD-3-Clause
//
// The two P × P covariances of BEMKL: Σ(e) of the kernel weights, and Σ(g_c) of a sample's intermediate
// outputs, which is the same for all samples. The updates of q(G) and q(b,e) [Gonen2012, section 4, eq. 4] make
// each from the other:
//
//   Σ(g_c) = (E[υ_c] I + E[ε_c] (Σ(e) + μ(e)μ(e)ᵀ))⁻¹
//   Σ(e)   = (diag E[ω] + AᵀA + n Σ_c E[ε_c] Σ(g_c))⁻¹
//
// The first is B_c − κwwᵀ with the core B_c = (E[υ_c] I + E[ε_c] Σ(e))⁻¹, w = B_cμ(e) and κ = E[ε_c]/(1 + E[ε_c] wᵀμ(e)).
// n is the number of samples. A has one row √E[ε_c] g_ic for every sample and output, from which the biases are
// eliminated. Beside these two steps the learner asks for diagonals, determinants and products only, so that
// every problem can have the form of the two matrices that is cheapest for it:
//
//   direct        an inverse and a Cholesky factor, P × P
//   thin          classification with P ≥ 4NM; both are a diagonal plus few rows, and nothing costs P³
//   non-negative  e ≥ 0: Σ(e) is diagonal, Σ(g) is a diagonal minus a rank-one matrix
//
// Objects of this class do not change: an update returns the next one, and copies of the factors share them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::methods {

class Covariances {
 public:
  using Next = std::shared_ptr<const Covariances>;
  virtual ~Covariances() = default;

  // What the update of q(e) is made of. Free weights have the precision Σ(e)⁻¹ above. Non-negative weights are
  // updated one after the other for given biases: no biases are eliminated from their rows.
  struct WeightSystem {
    const Vector& omega;           // E[ω], P
    const Matrix& rows;            // A
    const Vector& epsilon;         // E[ε], M
    double samples;                // n
    std::span<const double> mean;  // μ(e) before the update
  };

  // The pair with Σ(g) made from Σ(e); null if a matrix is not positive definite or not finite.
  [[nodiscard]] Next with_outputs(std::span<const double> mean, const Vector& upsilon,
                                  const Vector& epsilon) const;
  // The pair with Σ(e) made from Σ(g); null as above. The first row of `asked` comes in as the right-hand side
  // of the normal equations and goes out as μ(e); free weights also multiply the other rows by Σ(e).
  [[nodiscard]] virtual Next with_weights(const WeightSystem& system, Matrix& asked) const = 0;

  // Σ(e): its diagonal, itself, and the entropy of q(e). For e ≥ 0 the entropy counts the log 2 of every
  // half-normal prior, and q(e_m) is N(location, 1/precision) cut off at 0; for free weights both are empty.
  [[nodiscard]] const Vector& weight_variances() const { return weight_variances_; }
  [[nodiscard]] double weight_entropy() const { return weight_entropy_; }
  [[nodiscard]] virtual Matrix weights() const = 0;
  [[nodiscard]] const Vector& weight_location() const { return weight_location_; }
  [[nodiscard]] const Vector& weight_precision() const { return weight_precision_; }

  // Σ(g_c): its trace, its log determinant, itself, and out = rows · Σ(g_c).
  [[nodiscard]] double output_trace(Index c) const { return of_output(outputs_, c).trace; }
  [[nodiscard]] double output_log_det(Index c) const { return of_output(outputs_, c).log_det; }
  [[nodiscard]] Matrix outputs(Index c) const;
  void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const;

  // tr(Σ(e) E[Σ_i g_ic g_icᵀ]) = tr(Σ(e)(GᵀG + n Σ(g_c))), G the N × P means of output c.
  [[nodiscard]] virtual double trace_of_product(Index c, ConstMatrixView g, double samples) const;

 protected:
  // Both matrices are identities. In classification all outputs have the same Σ(g): one entry for all.
  Covariances(Index kernels, std::size_t outputs);
  Covariances(const Covariances&) = default;
  Covariances& operator=(const Covariances&) = default;

  template <typename Value>
  [[nodiscard]] static const Value& of_output(const std::vector<Value>& values, Index c) {
    return values[values.size() == 1 ? 0 : at(c)];
  }
  // What is kept of Σ(g_c) = B_c − κwwᵀ. make_core fills trace and log determinant with those of the core B_c;
  // with_outputs then adds the rank-one term and makes them those of Σ(g_c).
  struct Output {
    double trace, log_det, kappa;
    Vector w;
  };
  [[nodiscard]] const Output& output(Index c) const { return of_output(outputs_, c); }
  [[nodiscard]] virtual std::shared_ptr<Covariances> copy() const = 0;
  // Makes the core B_c from Σ(e) and tells its trace and log determinant; false if it is not positive definite or
  // not finite.
  [[nodiscard]] virtual bool make_core(std::size_t c, double upsilon, double epsilon, Output& of) = 0;
  [[nodiscard]] virtual Matrix core(Index c) const = 0;
  // out = rows · B_c.
  virtual void times_core(Index c, ConstMatrixView rows, MatrixView out) const = 0;

  // diag E[ω] + AᵀA + n Σ_c E[ε_c] Σ(g_c) whole.
  [[nodiscard]] Matrix precision_of_weights(const WeightSystem& system) const;
  // Sets the entropy of a normal q(e) from log det Σ(e).
  void set_weight_entropy(double log_det);

  Vector weight_variances_, weight_location_, weight_precision_;
  double weight_entropy_ = 0.0;

 private:
  std::vector<Output> outputs_;
};

[[nodiscard]] Matrix diagonal_matrix(const Vector& diagonal);

// With more kernels than this rule asks for, the thin form is faster than P × P inverses.
[[nodiscard]] inline bool thin_pays(Index samples, Index outputs, Index kernels) {
  return kernels >= 4 * samples * outputs;
}

// The one place where the form is chosen. Both covariances start as identities.
[[nodiscard]] std::shared_ptr<const Covariances> make_covariances(Index samples, Index kernels, Index outputs,
                                                                  bool regression, bool non_negative);

[[nodiscard]] std::shared_ptr<const Covariances> make_direct_covariances(Index kernels, std::size_t outputs);
[[nodiscard]] std::shared_ptr<const Covariances> make_thin_covariances(Index kernels);
[[nodiscard]] std::shared_ptr<const Covariances> make_non_negative_covariances(Index kernels, Index outputs);

}  // namespace kloom::methods
