// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/machine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "base/threads.h"

extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
// Internal to OpenBLAS, hence weak: a build without run-time dispatch lacks them, and then there is
// nothing to cure with.
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace kloom {
namespace {

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";
constexpr const char* kWaitVariable = "OMP_WAIT_POLICY";

enum class Width { older, avx2, avx512 };

Width widest_instructions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // What OpenBLAS's SkylakeX and Haswell kernels are compiled for; the operating system's consent is
  // part of the answer.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return Width::avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Width::avx2;
#endif
  return Width::older;
}

std::string_view width_name(Width width) {
  switch (width) {
    case Width::avx512:
      return "avx512";
    case Width::avx2:
      return "avx2";
    case Width::older:
      break;
  }
  return "older";
}

bool core_suits(std::string_view core, Width width) {
  constexpr std::array<std::string_view, 3> kWide{"SkylakeX", "Cooperlake", "SapphireRapids"};
  constexpr std::array<std::string_view, 3> kMiddle{"Haswell", "Zen", "Excavator"};
  const bool wide = std::find(kWide.begin(), kWide.end(), core) != kWide.end();
  const bool middle = std::find(kMiddle.begin(), kMiddle.end(), core) != kMiddle.end();
  switch (width) {
    case Width::avx512:
      return wide;
    case Width::avx2:
      return middle;
    case Width::older:
      break;
  }
  return true;  // nothing faster could be chosen
}

const char* best_core(Width width) {
  return width == Width::avx512 ? "SkylakeX" : "Haswell";
}

std::string current_core() {
  const char* name = openblas_get_corename();
  return name == nullptr ? "" : name;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto start = line.find_first_not_of(" \t", line.find(':') + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "unknown";
}

double seconds_of(const auto& work) {
  const Stopwatch clock;
  work();
  return clock.seconds();
}

double measure_dgemm(int threads) {
  constexpr Index kSize = 1200;
  constexpr int kTrials = 4;  // the first one also starts the threads
  Context context;
  context.threads = threads;
  const algebra::ThreadScope scope(context);
  const Matrix a(kSize, kSize, 0.5);
  const Matrix b(kSize, kSize, 0.25);
  Matrix c(kSize, kSize);
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    best =
        std::min(best, seconds_of([&] {
                   algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, a.view(), b.view(), 0.0, c.view());
                 }));
  }
  const auto n = static_cast<double>(kSize);
  return 2.0 * n * n * n / best * 1e-9;
}

// Reading is what the kernel bank's verbs do: sum an array that no cache holds.
double measure_bandwidth(int threads) {
  constexpr std::ptrdiff_t kCount = std::ptrdiff_t{32} << 20;  // 256 MB
  constexpr int kTrials = 4;
  Context context;
  context.threads = threads;
  const algebra::ThreadScope scope(context);
  const Vector data(static_cast<std::size_t>(kCount), 1.0);
  const double* values = data.data();
  double best = std::numeric_limits<double>::infinity();
  volatile double sink = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    best = std::min(best, seconds_of([&] {
                      double sum = 0.0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
                      for (std::ptrdiff_t i = 0; i < kCount; ++i) sum += values[i];
                      sink = sum;
                    }));
  }
  return static_cast<double>(kCount) * sizeof(double) / best * 1e-9;
}

}  // namespace

MachineInfo machine_info(bool measure) {
  MachineInfo info;
  const Width width = widest_instructions();
  info.processor = processor_name();
  info.instruction_set = width_name(width);
  info.cores = base::available_cores();
  info.threads = base::resolve_threads(Context());
  info.memory_bytes = base::total_memory();
  info.memory_free_bytes = base::free_memory();
  const char* config = openblas_get_config();
  info.blas = config == nullptr ? "" : config;
  info.blas_core = current_core();
  info.blas_core_suits = core_suits(info.blas_core, width);
  if (measure) {
    info.dgemm_gflops_1 = measure_dgemm(1);
    info.dgemm_gflops = info.threads > 1 ? measure_dgemm(info.threads) : info.dgemm_gflops_1;
    info.bandwidth_gbs = measure_bandwidth(info.threads);
  }
  return info;
}

std::vector<std::pair<std::string, std::string>> machine_cure(const char* (*get)(const char*)) {
  std::vector<std::pair<std::string, std::string>> cure;
  const Width width = widest_instructions();
  if (!core_suits(current_core(), width) && get(kCoreVariable) == nullptr) {
    cure.emplace_back(kCoreVariable, best_core(width));
  }
  if (get(kWaitVariable) == nullptr) cure.emplace_back(kWaitVariable, "passive");
  return cure;
}

bool cure_blas_core() {
  const Width width = widest_instructions();
  if (core_suits(current_core(), width)) return true;
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return false;
  // OpenBLAS takes the name from the environment only; the caller's value comes back right after.
  const char* before = std::getenv(kCoreVariable);
  const std::string kept = before == nullptr ? "" : before;
  if (setenv(kCoreVariable, best_core(width), 1) != 0) return false;
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  if (before == nullptr) {
    unsetenv(kCoreVariable);
  } else {
    setenv(kCoreVariable, kept.c_str(), 1);
  }
  return core_suits(current_core(), width);
}

std::string version() {
  return KLOOM_VERSION;
}

}  // namespace kloom
