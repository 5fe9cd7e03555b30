// SPDX-License-Identifier: BSD-3-Clause
//
// The buffers of OpenBLAS: 128 MiB of address space for each of its threads and for each thread that calls it. Where the
// system gives no more (`ulimit -v`), OpenBLAS asks again for ever, so each buffer is asked for here before it is needed.
#pragma once

namespace kloom::algebra {

// Threads that can work, up to `threads`: there are buffers for them, and for this thread and its helpers to call from.
// Throws ResourceError if there are none even for one.
[[nodiscard]] int hold_blas_buffers(int threads);

// The same for whoever calls BLAS outside of a ThreadScope, with the number of threads that BLAS has been told, or one where
// the address space is limited.
void hold_blas_buffers();

// How many threads BLAS uses for one call, and telling it: it gets no more than there are buffers for, and takes no more of them
// where the address space is limited.
[[nodiscard]] int blas_threads();
void set_blas_threads(int threads);

}  // namespace kloom::algebra
