// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/sizes.h"

#include <algorithm>
#include <cmath>

#include "kernels/spec/teachers.h"
#include "methods/auto/auto.h"

namespace kloom::methods {

Index usual_folds(Index samples) {
  constexpr Index kFolds = 5;
  constexpr Index kFoldsOfFew = 10;
  return samples <= kFewSamples ? kFoldsOfFew : kFolds;
}

Index usual_landmarks(Index samples) {
  return samples <= kAllUpTo ? samples : kSome;
}

Index features_of_classes(Index samples, Index outputs) {
  constexpr Index kAffordable = 6'000'000;
  constexpr Index kLeast = 700;
  return std::clamp(kAffordable / (samples * outputs), kLeast, kSome);
}

Index screened_samples(Index asked, Index kernels) {
  constexpr double kEntries = 3e7;
  const auto affordable = static_cast<Index>(std::sqrt(kEntries / static_cast<double>(kernels)));
  return std::min(asked, std::max<Index>(affordable, 40));
}

// The most of three: the kernels of the screening; cross products and eigenvectors of one candidate (kernel_features); its
// features twice, and once more eigenvectors (ridge_machine). With kernels of trees also the features without each fold: of
// classes all at once.
std::size_t working_bytes(Index n, Index p, Index outputs, bool trees) {
  const Index m = usual_landmarks(n);
  const Index screened = std::min(n, screened_samples(AutoOptions().screen_on, p));
  const Index folds = n < kernels::kOneFoldJudges ? usual_folds(n) : 1;
  const Index without =
      trees ? std::max(folds * n * std::min(m, features_of_classes(n, outputs)), 2 * n * m) : 0;
  const Index most = std::max({p * screened * screened, n * m + 4 * m * m, 2 * n * m + 3 * m * m + without});
  return at(most + 40 * n * outputs) * sizeof(double);
}

}  // namespace kloom::methods
