// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/spectrum.h"

#include <algorithm>
#include <cmath>

namespace kloom::kernels {

KmerCounts::KmerCounts(const std::vector<std::string>& texts, Index k, KmerNumbers& numbers) : KmerCounts() {
  for (const std::string& text : texts) {
    std::vector<Index> found;
    const std::string_view view(text);
    const auto length = static_cast<std::size_t>(k);
    for (std::size_t i = 0; i + length <= view.size(); ++i)
      found.push_back(
          numbers.emplace(view.substr(i, length), static_cast<Index>(numbers.size())).first->second);
    add(std::move(found));
  }
}

void KmerCounts::add(std::vector<Index> found) {
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size();) {
    std::size_t j = i;
    while (j < found.size() && found[j] == found[i]) ++j;
    entries_.push_back({found[i], static_cast<double>(j - i)});
    i = j;
  }
  starts_.push_back(static_cast<Index>(entries_.size()));
}

void KmerCounts::dampen() {
  for (Entry& e : entries_) e.count = 1.0 + std::log(e.count);
}

void KmerCounts::weigh(const std::vector<double>& factors) {
  for (Entry& e : entries_) e.count *= factors[static_cast<std::size_t>(e.kmer)];
}

std::vector<Index> KmerCounts::frequencies(Index numbers) const {
  std::vector<Index> result(static_cast<std::size_t>(numbers), 0);
  for (const Entry& e : entries_) ++result[static_cast<std::size_t>(e.kmer)];
  return result;
}

void KmerCounts::scatter(Index text, double weight, double* dense) const {
  for (const Entry* e = begin(text); e != end(text); ++e) dense[e->kmer] += weight * e->count;
}

void KmerCounts::clear(Index text, double* dense) const {
  for (const Entry* e = begin(text); e != end(text); ++e) dense[e->kmer] = 0.0;
}

double KmerCounts::gather(Index text, const double* dense) const {
  double sum = 0.0;
  for (const Entry* e = begin(text); e != end(text); ++e) sum += e->count * dense[e->kmer];
  return sum;
}

double KmerCounts::squared_norm(Index text) const {
  double sum = 0.0;
  for (const Entry* e = begin(text); e != end(text); ++e) sum += e->count * e->count;
  return sum;
}

}  // namespace kloom::kernels
