// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/edit_distance.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr std::size_t kLetters = 256;
constexpr std::size_t kBits = 64;
constexpr Index kMostReferences = 1000;
// Pairs of letters: about ten minutes on one core.
constexpr double kMostWork = 1e13;

double letters_in(const std::vector<std::string>& texts) {
  double total = 0.0;
  for (const std::string& text : texts) total += static_cast<double>(text.size());
  return total;
}

std::vector<std::string> references_among(const std::vector<std::string>& training) {
  const Index n = std::ssize(training);
  const Index count = std::min(n, kMostReferences);
  std::vector<std::string> chosen;
  for (Index r = 0; r < count; ++r) chosen.push_back(training[static_cast<std::size_t>(r * n / count)]);
  return chosen;
}

// Vertical differences of sixty-four rows of the table, as they are moved on by one column.
struct Block {
  std::uint64_t& rises;
  std::uint64_t& falls;
};

// The step of Myers (1999): `same` has the rows whose letter is the column's; `above` is the difference between this
// column and the last one in the row above the block, returned is that in its row `last`.
int advance(const Block& block, std::uint64_t same, int above, std::uint64_t last) {
  const std::uint64_t rises = block.rises;
  const std::uint64_t vertical = same | block.falls;
  if (above < 0) same |= 1U;
  const std::uint64_t diagonal = (((same & rises) + rises) ^ rises) | same;
  std::uint64_t right =
      block.falls | ~(diagonal | rises);  // rows in which this column is larger than the last one
  std::uint64_t left = rises & diagonal;
  const int below = (right & last) != 0 ? 1 : (left & last) != 0 ? -1 : 0;
  right = (right << 1U) | (above > 0 ? 1U : 0U);
  left = (left << 1U) | (above < 0 ? 1U : 0U);
  block.rises = left | ~(vertical | right);
  block.falls = right & vertical;
  return below;
}

}  // namespace

EditPattern::EditPattern(std::string_view pattern)
    : length_(std::ssize(pattern)),
      blocks_((pattern.size() + kBits - 1) / kBits),
      places_(blocks_ * kLetters, 0) {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    places_[i / kBits * kLetters + static_cast<unsigned char>(pattern[i])] |= std::uint64_t{1} << (i % kBits);
}

Index EditPattern::distance(std::string_view text, Column& scratch) const {
  if (length_ == 0) return std::ssize(text);
  scratch.rises.assign(blocks_, ~std::uint64_t{0});  // from nothing to the first letters: one more each
  scratch.falls.assign(blocks_, 0);
  const std::uint64_t end = std::uint64_t{1} << (static_cast<std::size_t>(length_ - 1) % kBits);
  constexpr std::uint64_t top = std::uint64_t{1} << (kBits - 1);
  Index distance = length_;
  for (const char letter : text) {
    int difference = 1;
    for (std::size_t b = 0; b < blocks_; ++b)
      difference = advance({scratch.rises[b], scratch.falls[b]},
                           places_[b * kLetters + static_cast<unsigned char>(letter)], difference,
                           b + 1 == blocks_ ? end : top);
    distance += difference;
  }
  return distance;
}

Matrix edit_vectors(const std::vector<std::string>& texts, const std::vector<std::string>& training) {
  const std::vector<std::string> references = references_among(training);
  const double work = letters_in(texts) * letters_in(references);
  if (work > kMostWork)
    throw InvalidArgument(fmt::format(
        "an edit kernel would compare {:.2g} pairs of letters, more than {:.0g}; the texts are too long "
        "for it, use spectrum(k=4) or cut them",
        work, kMostWork));
  const Index n = std::ssize(texts);
  Matrix vectors(n, std::ssize(references));
  const double scale = 1.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(references.size(), 1)));
  std::size_t longest = 0;
  for (const std::string& reference : references) longest = std::max(longest, reference.size());
  // Memory is taken before the parallel regions: an exception must not leave them.
  EditPattern::Column room;
  room.rises.resize(longest / kBits + 1);
  room.falls.resize(longest / kBits + 1);
  const bool parallel = work > 1e6;
  std::vector<EditPattern::Column> scratch(parallel ? static_cast<std::size_t>(omp_get_max_threads()) : 1,
                                           room);
  for (Index r = 0; r < vectors.cols(); ++r) {
    const EditPattern pattern(references[static_cast<std::size_t>(r)]);
#pragma omp parallel for schedule(static) if (parallel)
    for (Index i = 0; i < n; ++i) {
      EditPattern::Column& own = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      vectors(i, r) = scale * static_cast<double>(pattern.distance(texts[static_cast<std::size_t>(i)], own));
    }
  }
  return vectors;
}

}  // namespace kloom::kernels
