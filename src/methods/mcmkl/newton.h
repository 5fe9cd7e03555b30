// SPDX-License-Identifier: BSD-3-Clause
//
// A quadratic model of J(β) of solver.h, for kernels on samples with one kernel on classes.
//
// While the same variables of the m-SVM stay free, its α is a smooth function of β, and the Hessian of J is
// VᵀBV: V_k the scores of kernel k along the free directions, B the inverse of the joint kernel on those that
// keep every sum. A free direction raises one free variable of a sample and lowers another one.
#pragma once

#include <span>

#include "methods/mcmkl/solver.h"
#include "solvers/svm.h"

namespace kloom::methods {

// What is known at one β.
struct NewtonPoint {
  const McmklTask& task;
  solvers::KernelRows& combined;  // Σ_p β_p K_p
  const Matrix& alpha;            // of the m-SVM
  const SupportOutputs& outputs;
  const Matrix& q;
  std::span<const double> beta;
};

// The minimum over the simplex of the quadratic model of J around β; empty if there are too many free
// directions, or none.
[[nodiscard]] Vector newton_point(const NewtonPoint& point);

}  // namespace kloom::methods
