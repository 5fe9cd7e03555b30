// SPDX-License-Identifier: BSD-3-Clause
//
// Samples that come and go, with kernels between any of them: what learning from a stream needs in the place of
// a bank. Kernels are exponentials of distances over features, so that their number costs nothing.
#pragma once

#include <span>
#include <vector>

#include "kernels/functions/distance.h"
#include "kernels/functions/exponential_family.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

class SampleStore {
 public:
  // Throws InvalidArgument naming the kernel that is no Gaussian or Laplacian of features, or is centred.
  SampleStore(const std::vector<KernelTerm>& terms, Index features);
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  [[nodiscard]] Index size() const { return samples_.samples(); }
  [[nodiscard]] Index kernels() const { return kernels_; }
  void append(std::span<const double> sample);
  // Keeps these samples, in this order, and forgets the others.
  void keep(std::span<const Index> chosen);
  [[nodiscard]] double value(Index sample, Index feature) const {
    return samples_.sample(sample)[feature * PackedSamples::block];
  }
  // Their sample numbers are the places in this store, which must outlive them.
  [[nodiscard]] const std::vector<ExponentialFamily>& families() const { return families_; }
  // K_f(x, x), one per kernel.
  [[nodiscard]] const Vector& self() const { return self_; }

 private:
  struct Part {
    std::vector<Index> features;
    PackedSamples samples;
  };

  Index kernels_;
  PackedSamples samples_;    // all features
  std::vector<Part> parts_;  // the features of each family
  std::vector<ExponentialFamily> families_;
  Vector self_;
};

}  // namespace kloom::kernels
