// SPDX-License-Identifier: BSD-3-Clause
//
// KLOOM_CLONES before a function: its loops are compiled for several instruction sets and the loader takes the
// widest that the processor has. Sanitizers and clang 14 do without.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define KLOOM_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define KLOOM_CLONES
#endif
