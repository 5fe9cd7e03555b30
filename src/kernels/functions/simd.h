// SPDX-License-Identifier: BSD-3-Clause
//
// Inner loops are compiled for several instruction sets and chosen when the program runs. They are written
// on the compiler's vector types and are the same source for all of them.
#pragma once

#include <cstring>
#include <vector>

namespace kloom::kernels {

enum class InstructionSet { baseline, avx2, avx512 };

// The widest that this processor has; asked once.
[[nodiscard]] InstructionSet instruction_set();
// All that it has, so that each can be tested.
[[nodiscard]] std::vector<InstructionSet> instruction_sets();

template <int Bytes>
struct Lanes {
  // NOLINTNEXTLINE(modernize-use-using): the attribute needs typedef
  typedef double Real __attribute__((vector_size(Bytes)));
  // NOLINTNEXTLINE(modernize-use-using)
  typedef long Whole __attribute__((vector_size(Bytes)));
  static constexpr int count = Bytes / static_cast<int>(sizeof(double));
};

#define KLOOM_INLINE [[gnu::always_inline]] inline
// Short loops over registers: left as loops they would keep the registers in memory.
#if defined(__clang__)
#define KLOOM_UNROLL _Pragma("unroll")
#else
#define KLOOM_UNROLL _Pragma("GCC unroll 16")
#endif

template <class Vector>
KLOOM_INLINE void load(const double* from, Vector& to) {
  std::memcpy(&to, from, sizeof(Vector));
}
template <class Vector>
KLOOM_INLINE void store(const Vector& from, double* to) {
  std::memcpy(to, &from, sizeof(Vector));
}

}  // namespace kloom::kernels

#if defined(__x86_64__)
#define KLOOM_TARGET_AVX2 [[gnu::target("avx2,fma")]]
#define KLOOM_TARGET_AVX512 [[gnu::target("avx512f,avx2,fma")]]
#else
#define KLOOM_TARGET_AVX2
#define KLOOM_TARGET_AVX512
#endif
