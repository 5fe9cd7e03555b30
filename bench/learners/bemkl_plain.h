// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL for two classes as one would write it down from the paper: dense kernels, one product of matrix and
// vector per kernel and pass, LAPACK's dpotrf and dpotri for Σ(a), Σ(g) and Σ(b,e). What the benchmark measures
// the library against.
#pragma once

#include <vector>

#include "kloom/matrix.h"

namespace kloom::bench {

void set_plain_threads(int threads);

// Seconds of dpotrf and dpotri on a well-conditioned n × n matrix.
[[nodiscard]] double seconds_of_lapack_inverse(Index n);

class PlainBemkl {
 public:
  // Start as in the library's benchmark: a = 1, e = 1, b = 0, G and f = 1.8 y.
  PlainBemkl(std::vector<Matrix> kernels, Vector signs);
  void iterate();
  [[nodiscard]] const Vector& be() const { return be_; }

 private:
  void update_a();
  void update_g();
  void update_be();
  void update_f();

  std::vector<Matrix> kernels_;
  Vector signs_;
  Matrix gram_, a_covariance_, g_covariance_, be_covariance_, outputs_, g_;
  Vector lambda_, a_, omega_, be_, f_;
  double gamma_ = 1.0;
};

}  // namespace kloom::bench
