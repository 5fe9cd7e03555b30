// SPDX-License-Identifier: BSD-3-Clause
#include "algebra/threads.h"

#include <fmt/format.h>
#include <omp.h>

#include "algebra/blas_buffers.h"
#include "base/threads.h"
#include "kloom/error.h"

namespace kloom::algebra {

namespace {
// About half a millisecond of work: less is lost in waking the second thread, and far more on a busy machine.
constexpr double kWorthTwoThreads = 2e7;

// What was asked for, or less where nothing was asked for and the address space is limited.
int affordable_threads(const Context& context, double flops_per_step) {
  const int wanted = flops_per_step < kWorthTwoThreads ? 1 : base::resolve_threads(context);
  const int fitting = hold_blas_buffers(wanted);
  if (fitting < wanted && context.threads != 0) {
    throw ResourceError(
        fmt::format("a limit on the address space (ulimit -v) leaves buffers for {} of {} threads; use {} "
                    "(--threads {}), or raise it",
                    fitting, wanted, fitting, fitting));
  }
  return fitting;
}
}  // namespace

ThreadScope::ThreadScope(const Context& context, double flops_per_step)
    : threads_(affordable_threads(context, flops_per_step)),
      previous_openmp_(omp_get_max_threads()),
      previous_blas_(blas_threads()) {
  // BLAS first: the OpenMP build of OpenBLAS sets OpenMP's number as a side effect.
  set_blas_threads(threads_);
  omp_set_num_threads(threads_);
}

ThreadScope::~ThreadScope() {
  set_blas_threads(previous_blas_);
  omp_set_num_threads(previous_openmp_);
}

OneThread::OneThread(bool wanted) : previous_(wanted && omp_in_parallel() == 0 ? omp_get_max_threads() : 1) {
  if (previous_ > 1) set_blas_threads(1);
}

OneThread::~OneThread() {
  if (previous_ > 1) set_blas_threads(previous_);
}

}  // namespace kloom::algebra
