// SPDX-License-Identifier: BSD-3-Clause
//
// How many samples, folds, landmarks and features auto works with, and the memory that they take.
#pragma once

#include <cstddef>

#include "kloom/matrix.h"

namespace kloom::methods {

constexpr Index kAllUpTo = 1500;    // samples that may all be landmarks
constexpr Index kSome = 1500;       // landmarks where there are more
constexpr Index kFewSamples = 500;  // up to so many, more folds are held out: what is missing then is missed

[[nodiscard]] Index usual_folds(Index samples);
[[nodiscard]] Index usual_landmarks(Index samples);
// Passes over the features cost as many operations as there are features, samples and outputs: as many features as that
// allows, but some hundred at least. Texts need many.
[[nodiscard]] Index features_of_classes(Index samples, Index outputs);
// Kernels of the samples of the screening are held all at once: many kernels are compared on fewer samples.
[[nodiscard]] Index screened_samples(Index asked, Index kernels);

// Bytes beside the bank. `trees`: there are kernels of trees.
[[nodiscard]] std::size_t working_bytes(Index samples, Index kernels, Index outputs, bool trees);

}  // namespace kloom::methods
