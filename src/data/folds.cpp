// SPDX-License-Identifier: BSD-3-Clause
#include "data/folds.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <map>
#include <utility>

namespace kloom::data {
namespace {

// The samples of each class, shuffled.
std::map<int, std::vector<std::size_t>> shuffled_classes(const std::vector<int>& codes, std::uint64_t seed) {
  boost::random::mt19937_64 engine(seed);
  std::map<int, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < codes.size(); ++i) classes[codes[i]].push_back(i);
  for (auto& [code, members] : classes) {
    for (std::size_t i = members.size(); i > 1; --i) {
      std::swap(members[i - 1],
                members[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(engine)]);
    }
  }
  return classes;
}

}  // namespace

std::vector<Index> stratified_folds(const std::vector<int>& codes, Index folds, std::uint64_t seed) {
  std::vector<Index> fold(codes.size());
  Index next = 0;  // goes on over the classes, so that small classes do not all land in the first folds
  for (const auto& [code, members] : shuffled_classes(codes, seed)) {
    for (const std::size_t i : members) fold[i] = next++ % folds;
  }
  return fold;
}

std::vector<Index> spread_samples(const std::vector<int>& codes, Index most, std::uint64_t seed) {
  // The k-th of a class of n has the place (k + 1/2)/n: the first places hold every class in its share.
  std::vector<std::pair<double, Index>> places;
  for (const auto& [code, members] : shuffled_classes(codes, seed)) {
    for (std::size_t k = 0; k < members.size(); ++k) {
      const double place = (static_cast<double>(k) + 0.5) / static_cast<double>(members.size());
      places.emplace_back(place, static_cast<Index>(members[k]));
    }
  }
  std::ranges::sort(places);
  if (std::ssize(places) > most) places.resize(static_cast<std::size_t>(most));
  std::vector<Index> chosen;
  chosen.reserve(places.size());
  for (const auto& [place, sample] : places) chosen.push_back(sample);
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<Index> spread_samples(const std::vector<Index>& among, const std::vector<int>& codes, Index most,
                                  std::uint64_t seed) {
  std::vector<Index> chosen = spread_samples(codes, most, seed);
  for (Index& i : chosen) i = among[static_cast<std::size_t>(i)];
  return chosen;
}

}  // namespace kloom::data
