// SPDX-License-Identifier: BSD-3-Clause
//
// The threads of one computation: OpenMP's and BLAS's, set together because they are one pool.
#pragma once

#include "kloom/context.h"

namespace kloom::algebra {

// While it lives, parallel regions and BLAS calls of this thread use the context's number of threads;
// afterwards the caller's own settings hold again.
class ThreadScope {
 public:
  // `flops_per_step`: work between two synchronisations. Below a few million a second thread costs more than it
  // gives (and twenty times more where waiting threads spin), so one is used.
  explicit ThreadScope(const Context& context, double flops_per_step = 1e300);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

  [[nodiscard]] int threads() const { return threads_; }

 private:
  int threads_;
  int previous_openmp_;
  int previous_blas_;
};

// While it lives, and if it is wanted, BLAS calls of this thread use one thread: on small matrices, waking the others costs
// more than they give. Inside of a parallel region, where that holds anyway, it does nothing.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int previous_;
};

}  // namespace kloom::algebra
