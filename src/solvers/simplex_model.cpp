// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/simplex_model.h"

#include <algorithm>

#include "algebra/blas.h"
#include "solvers/svm.h"

namespace kloom::solvers {

// An SVM-like problem: one equation, bounds.
Vector simplex_model_minimum(const Matrix& hessian, const Vector& slope, const Vector& centre,
                             double tolerance) {
  const auto p = std::ssize(centre);
  SvmProblem model{Vector(at(p), 1.0), Vector(at(p)), Vector(at(p), 1.0), {}};
  Vector curved(at(p));  // Hc
  algebra::gemv(algebra::Op::none, 1.0, hessian.view(), centre, 0.0, curved);
  for (std::size_t m = 0; m < curved.size(); ++m) model.linear[m] = slope[m] - curved[m];
  SvmOptions options;
  options.tolerance = tolerance;
  options.iterations = 200 * p + 10000;
  options.shrinking = false;
  MatrixRows rows(hessian.view());
  return solve_svm(model, rows, options, centre).alpha;
}

Matrix projected_inverse_form(const Matrix& factor, Matrix right, Index equations) {
  const Index p = right.cols() - equations;
  algebra::lower_solve(factor.view(), right.view());  // L⁻¹ [U E]
  Matrix products(right.cols(), right.cols());
  algebra::syrk(algebra::Op::transpose, 1.0, right.view(), 0.0, products.view());
  Matrix among(equations, equations);
  Matrix reached(equations, p);
  for (Index e = 0; e < equations; ++e) {
    for (Index d = 0; d < equations; ++d) among(d, e) = products(p + d, p + e);
    for (Index m = 0; m < p; ++m) reached(e, m) = products(p + e, m);
  }
  Matrix form(p, p);
  if (algebra::cholesky(among.view()) != 0) return form;
  algebra::lower_solve(among.view(), reached.view());
  Matrix taken(p, p);
  algebra::syrk(algebra::Op::transpose, 1.0, reached.view(), 0.0, taken.view());
  for (Index m = 0; m < p; ++m) {
    for (Index l = 0; l < p; ++l) form(l, m) = products(l, m) - taken(l, m);
  }
  return form;
}

}  // namespace kloom::solvers
