// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/substrings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr double kMostPerWindow = 10000.0;
constexpr double kMostStrings = 1e8;  // of all texts: up to 1.6 GB of counts

}  // namespace

SubstringNumbers::SubstringNumbers(const SubstringRule& rule, const std::vector<std::string>& training)
    : rule_(rule) {
  std::set<char> letters;
  for (const std::string& text : training) letters.insert(text.begin(), text.end());
  letters_.assign(letters.begin(), letters.end());
}

KmerCounts SubstringNumbers::counts(const std::vector<std::string>& texts) {
  check_work(texts);
  KmerCounts counts;
  for (const std::string& text : texts) {
    std::vector<Index> found;
    const auto size = static_cast<std::size_t>(window(text));
    for (std::size_t start = 0; start + size <= text.size() && std::ssize(text) >= rule_.k; ++start) {
      const std::vector<Index>& strings = strings_of(text.substr(start, size));
      found.insert(found.end(), strings.begin(), strings.end());
    }
    counts.add(std::move(found));
  }
  return counts;
}

Index SubstringNumbers::window(std::string_view text) const {
  return rule_.gaps > 0 ? std::min<Index>(rule_.k + rule_.gaps, std::ssize(text)) : rule_.k;
}

// Gaps: (k+gaps choose k). Mismatches: over j ≤ mismatches, (k choose j) times the other letters to the power of j.
double SubstringNumbers::strings_per_window() const {
  double total = 1.0;
  double part = 1.0;
  if (rule_.gaps > 0) {
    for (Index j = 1; j <= rule_.k && part <= kMostPerWindow; ++j)
      part *= static_cast<double>(rule_.gaps + j) / static_cast<double>(j);
    return part;
  }
  for (Index j = 1; j <= rule_.mismatches && total <= kMostPerWindow; ++j) {
    part *=
        static_cast<double>(rule_.k - j + 1) / static_cast<double>(j) * static_cast<double>(letters_.size());
    total += part;
  }
  return total;
}

void SubstringNumbers::check_work(const std::vector<std::string>& texts) const {
  const double each = strings_per_window();
  double windows = 0.0;
  for (const std::string& text : texts)
    windows += static_cast<double>(std::max<Index>(std::ssize(text) - window(text) + 1, 0));
  if (each <= kMostPerWindow && windows * each <= kMostStrings) return;
  throw InvalidArgument(fmt::format(
      "spectrum(k={}, {}={}) would count {} strings for every substring and {:.2g} in all, more than {:.0f} or {:.0g}; "
      "use a smaller k, or fewer mismatches or gaps",
      rule_.k, rule_.gaps > 0 ? "gaps" : "mismatches", rule_.gaps > 0 ? rule_.gaps : rule_.mismatches,
      each > kMostPerWindow ? fmt::format("more than {:.0f}", kMostPerWindow)
                            : fmt::format("up to {:.0f}", each),
      windows * each, kMostPerWindow, kMostStrings));
}

const std::vector<Index>& SubstringNumbers::strings_of(const std::string& window) {
  const auto [place, fresh] = windows_.try_emplace(window);
  std::vector<Index>& found = place->second;
  if (!fresh) return found;
  if (rule_.gaps > 0) {
    std::string kept;
    leave_out(window, 0, kept, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  } else {
    std::string word = window;
    vary(word, 0, rule_.mismatches, found);
  }
  return found;
}

// Every string that differs from the word in at most `left` places from `from` on, once.
void SubstringNumbers::vary(std::string& word, std::size_t from, Index left, std::vector<Index>& found) {
  found.push_back(number(word));
  if (left == 0) return;
  for (std::size_t place = from; place < word.size(); ++place) {
    const char own = word[place];
    for (const char letter : letters_) {
      if (letter == own) continue;
      word[place] = letter;
      vary(word, place + 1, left - 1, found);
    }
    word[place] = own;
  }
}

// Every choice of k letters of the window, in their order, that begins with those that are kept.
void SubstringNumbers::leave_out(std::string_view window, std::size_t from, std::string& kept,
                                 std::vector<Index>& found) {
  const auto missing = static_cast<std::size_t>(rule_.k) - kept.size();
  if (missing == 0) {
    found.push_back(number(kept));
    return;
  }
  for (std::size_t place = from; place + missing <= window.size(); ++place) {
    kept.push_back(window[place]);
    leave_out(window, place + 1, kept, found);
    kept.pop_back();
  }
}

Index SubstringNumbers::number(const std::string& string) {
  return numbers_.emplace(string, std::ssize(numbers_)).first->second;
}

}  // namespace kloom::kernels
