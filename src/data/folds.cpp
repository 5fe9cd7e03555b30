// SPDX-License-Identifier: BSD-3-Clause
#include "data/folds.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <map>
#include <utility>

namespace kloom::data {

std::vector<Index> stratified_folds(const std::vector<int>& codes, Index folds, std::uint64_t seed) {
  boost::random::mt19937_64 engine(seed);
  std::map<int, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < codes.size(); ++i) classes[codes[i]].push_back(i);
  std::vector<Index> fold(codes.size());
  Index next = 0;  // goes on over the classes, so that small classes do not all land in the first folds
  for (auto& [code, members] : classes) {
    for (std::size_t i = members.size(); i > 1; --i) {
      std::swap(members[i - 1],
                members[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(engine)]);
    }
    for (std::size_t i : members) fold[i] = next++ % folds;
  }
  return fold;
}

}  // namespace kloom::data
