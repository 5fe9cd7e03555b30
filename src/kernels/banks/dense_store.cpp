// SPDX-License-Identifier: BSD-3-Clause
//
// Where the entries of dense banks come from: evaluated, shared with matrices that are given, or lent by a program.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

#include "base/progress.h"
#include "data/symmetry.h"
#include "kernels/banks/chosen_bank.h"
#include "kernels/banks/computed_bank.h"
#include "kernels/banks/dense_bank.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

// Fills `out` row block by row block, so that the temporary is a few megabytes and the caller can stop.
template <typename Real>
void fill(const KernelBank& source, Real* out, ProgressMeter& meter) {
  const Index rows = source.rows();
  const Index cols = source.cols();
  const Index kernels = source.kernels();
  const Index block = std::clamp<Index>((Index{1} << 20) / std::max<Index>(1, cols * kernels), 1, rows);
  Vector buffer(static_cast<std::size_t>(block * cols * kernels));
  for (Index i = 0; i < rows; i += block) {
    const Range part{i, std::min(rows, i + block)};
    source.panels({0, kernels}, part, buffer.data());
    const double* from = buffer.data();
    for (Index p = 0; p < kernels; ++p) {
      Real* to = out + (p * rows + i) * cols;
      for (Index k = 0; k < part.size() * cols; ++k) to[k] = static_cast<Real>(from[k]);
      from += part.size() * cols;
    }
    // Half a bank is of no use: a wish to stop ends the run here.
    if (meter.step(part.end, rows, std::numeric_limits<double>::quiet_NaN())) {
      throw Interrupted("stopped while kernels were being computed");
    }
  }
}

template <typename Real>
std::shared_ptr<Real[]> evaluated(const KernelBank& source, const Context& context) {
  const auto size = static_cast<std::size_t>(source.kernels() * source.rows() * source.cols());
  // Not value-initialised: the pages are touched once, by the fill.
  std::shared_ptr<Real[]> memory(new Real[size]);
  ProgressMeter meter(context, "kernels");
  fill(source, memory.get(), meter);
  return memory;
}

// Given kernels where they are, and memory for the others.
struct SharedKernels {
  std::vector<GivenKernel> given;
  std::vector<Index> others;
  std::shared_ptr<double[]> memory;
};

DenseStore shared_store(const KernelBank& source, Range kernels, const Context& context) {
  const auto held = std::make_shared<SharedKernels>();
  DenseStore store;
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    held->given.push_back(given_kernel(source, p));
    if (held->given.back().entries.empty()) held->others.push_back(p);
  }
  const Index size = source.rows() * source.cols();
  if (!held->others.empty()) held->memory = evaluated<double>(ChosenBank(source, held->others), context);
  store.bytes = at(kernels.size() * size) * sizeof(double);
  store.shared_bytes = at((kernels.size() - std::ssize(held->others)) * size) * sizeof(double);
  store.f64 = held->memory.get();
  if (std::ssize(held->others) < kernels.size()) {
    const double* next = held->memory.get();
    for (const GivenKernel& kernel : held->given) {
      const bool shared = !kernel.entries.empty();
      store.apart.push_back(shared ? DenseStore::Kernel{kernel.entries.data(), kernel.scale}
                                   : DenseStore::Kernel{std::exchange(next, next + size), 1.0});
    }
    store.f64 = store.apart.front().entries;
  }
  store.owner = held;
  return store;
}

DenseStore rounded_store(const KernelBank& source, Range kernels, const Context& context) {
  std::vector<Index> chosen(at(kernels.size()));
  std::iota(chosen.begin(), chosen.end(), kernels.begin);
  const auto memory = evaluated<float>(ChosenBank(source, chosen), context);
  DenseStore store;
  store.f32 = memory.get();
  store.owner = memory;
  store.bytes = at(kernels.size() * source.rows() * source.cols()) * sizeof(float);
  return store;
}

}  // namespace

GivenKernel given_kernel(const KernelBank& bank, Index p) {
  if (const auto* computed = dynamic_cast<const ComputedBank*>(&bank)) return computed->given(p);
  if (const auto* chosen = dynamic_cast<const ChosenBank*>(&bank))
    return given_kernel(chosen->bank(), chosen->kernel(p));
  return {};
}

std::size_t materialised_bytes(const KernelBank& source, Range kernels, bool float32) {
  const std::size_t size = at(source.rows() * source.cols()) * (float32 ? sizeof(float) : sizeof(double));
  std::size_t total = 0;
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    if (float32 || given_kernel(source, p).entries.empty()) total += size;
  }
  return total;
}

std::unique_ptr<DenseBank> materialise(const KernelBank& source, Range kernels, bool float32,
                                       const Context& context) {
  std::vector<std::string> names(source.names().begin() + kernels.begin, source.names().begin() + kernels.end);
  DenseStore store = float32 ? rounded_store(source, kernels, context) : shared_store(source, kernels, context);
  return std::make_unique<DenseBank>(std::move(store), source.rows(), source.cols(), source.symmetric(),
                                     std::move(names));
}

}  // namespace kloom::kernels

namespace kloom {
namespace {

void require_finite(const double* k, Index rows, Index cols, const std::string& name) {
  for (Index i = 0; i < rows * cols; ++i) {
    if (std::isfinite(k[i])) continue;
    throw InvalidArgument("kernel '" + name + "' has an entry that is not finite (row " +
                          std::to_string(i / cols + 1) + ", column " + std::to_string(i % cols + 1) + ")");
  }
}

// Kernels that somebody lends, and copies of those that had to change.
struct LentKernels {
  std::shared_ptr<const void> owner;
  std::deque<Matrix> changed;
};

// A kernel of training samples as its own mirror image: where it is, or the mean of both in a copy.
const double* symmetric_entries(const double* k, Index samples, const std::string& name, LentKernels& held) {
  const ConstMatrixView entries{k, samples, samples, samples};
  const data::Asymmetry found = data::asymmetry(entries);
  if (found.exact()) return k;
  if (!found.rounding()) {
    throw InvalidArgument("kernel '" + name + "' is not symmetric at row " + std::to_string(found.row + 1) +
                          ", column " + std::to_string(found.column + 1));
  }
  Matrix& copy = held.changed.emplace_back(samples, samples, Vector(k, k + samples * samples));
  data::average_mirror_images(copy.view());
  return copy.data();
}

}  // namespace

std::unique_ptr<KernelBank> make_dense_bank(BorrowedKernels given, std::vector<std::string> names,
                                            bool symmetric) {
  if (names.empty()) throw InvalidArgument("a kernel bank needs at least one kernel; none was given");
  if (symmetric && given.rows != given.cols) {
    throw InvalidArgument("kernel '" + names.front() + "' is " + std::to_string(given.rows) + " x " +
                          std::to_string(given.cols) + "; kernels between the same samples are square");
  }
  const Index size = given.rows * given.cols;
  const auto held = std::make_shared<LentKernels>();
  kernels::DenseStore store;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const double* entries = given.values + static_cast<Index>(p) * size;
    require_finite(entries, given.rows, given.cols, names[p]);
    if (symmetric) entries = symmetric_entries(entries, given.rows, names[p], *held);
    store.apart.push_back({entries, 1.0});
  }
  held->owner = std::move(given.owner);
  store.f64 = store.apart.front().entries;
  store.bytes = static_cast<std::size_t>(size) * (names.size() + held->changed.size()) * sizeof(double);
  store.owner = held;
  return std::make_unique<kernels::DenseBank>(std::move(store), given.rows, given.cols, symmetric,
                                              std::move(names));
}

std::unique_ptr<KernelBank> make_dense_bank(const std::vector<Matrix>& kernels, std::vector<std::string> names,
                                            bool symmetric) {
  if (names.size() != kernels.size()) {
    throw InvalidArgument("a kernel bank needs one name per kernel: " + std::to_string(kernels.size()) +
                          " kernels and " + std::to_string(names.size()) + " names were given");
  }
  if (kernels.empty()) throw InvalidArgument("a kernel bank needs at least one kernel; none was given");
  const Index rows = kernels.front().rows();
  const Index cols = kernels.front().cols();
  auto memory = std::make_shared<Vector>();
  memory->reserve(static_cast<std::size_t>(rows * cols) * kernels.size());
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const Matrix& k = kernels[p];
    if (k.rows() != rows || k.cols() != cols || (symmetric && rows != cols)) {
      throw InvalidArgument("kernel '" + names[p] + "' is " + std::to_string(k.rows()) + " x " +
                            std::to_string(k.cols()) + "; all kernels of a bank must be " +
                            std::to_string(rows) + " x " + std::to_string(symmetric ? rows : cols));
    }
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) memory->push_back(k(i, j));
    }
  }
  const double* values = memory->data();
  return make_dense_bank(BorrowedKernels{values, rows, cols, std::move(memory)}, std::move(names), symmetric);
}

}  // namespace kloom
