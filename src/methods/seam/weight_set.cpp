// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/weight_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "kloom/error.h"

namespace kloom::methods {
namespace {

// What a kernel looks at, by its name; a name that does not say is a view by itself.
std::string view_of(const std::string& name) {
  const std::size_t place = name.find(" on ");
  return place == std::string::npos ? name : name.substr(place + 4);
}

// (Σ_{m in g} x_m^power)^(1/power) of every group, ∞ for the largest.
Vector group_norms(const WeightSet& set, const Vector& x, double power) {
  const double largest = std::max(*std::ranges::max_element(x), 1e-300);
  Vector norms(at(set.groups));
  for (std::size_t m = 0; m < x.size(); ++m) {
    double& norm = norms[at(set.group[m])];
    const double one = x[m] / largest;
    norm = std::isinf(power) ? std::max(norm, one) : norm + std::pow(one, power);
  }
  for (double& norm : norms) norm = largest * (std::isinf(power) ? norm : std::pow(norm, 1.0 / power));
  return norms;
}

// v Σ β + (1 − v) Σ β².
double size_of(const WeightSet& set, const Vector& beta) {
  double size = 0.0;
  for (const double one : beta) size += set.mix * one + (1.0 - set.mix) * one * one;
  return size;
}

// Stretched until the size is 1.
void fit_into(const WeightSet& set, Vector& beta) {
  const double linear = set.mix * std::accumulate(beta.begin(), beta.end(), 0.0);
  const double square = (1.0 - set.mix) * std::inner_product(beta.begin(), beta.end(), beta.begin(), 0.0);
  const double factor = 2.0 / (linear + std::sqrt(linear * linear + 4.0 * square));
  for (double& one : beta) one *= factor;
}

// β ≥ 0 with β² (v + 2(1 − v)β) = pull, by Newton's method from above, where it converges without overshooting.
double stretched(const WeightSet& set, double pull) {
  if (pull <= 0.0) return 0.0;
  const double cubic = 2.0 * (1.0 - set.mix);
  double beta = std::cbrt(pull / cubic);
  if (set.mix > 0.0) beta = std::min(beta, std::sqrt(pull / set.mix));
  for (int step = 0; step < 100; ++step) {
    const double excess = beta * beta * (set.mix + cubic * beta) - pull;
    const double next = beta - excess / (beta * (2.0 * set.mix + 3.0 * cubic * beta));
    if (!(next < beta)) break;
    beta = next;
  }
  return beta;
}

// The groups' weights with the least Σ_g lengths_g²/β_g.
Vector best_groups(const WeightSet& set, const Vector& lengths) {
  Vector beta = lengths;
  if (set.mix < 1.0) {
    const double largest = *std::ranges::max_element(lengths);
    const auto weights_at = [&](double price) {  // of the constraint
      for (std::size_t g = 0; g < beta.size(); ++g)
        beta[g] = stretched(set, (lengths[g] / largest) * (lengths[g] / largest) / price);
      return size_of(set, beta);
    };
    double low = 1.0;
    double high = 1.0;
    while (weights_at(low) < 1.0) low *= 0.25;
    while (weights_at(high) > 1.0) high *= 4.0;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = std::sqrt(low * high);
      (weights_at(middle) > 1.0 ? low : high) = middle;
    }
  }
  fit_into(set, beta);
  return beta;
}

}  // namespace

WeightSet weight_set(const std::vector<std::string>& names, const std::string& words, double norm, double mix) {
  std::vector<std::string> keys;
  if (words == "views") {
    for (const std::string& name : names) keys.push_back(view_of(name));
  } else if (words == "all") {
    keys.assign(names.size(), "all");
  } else if (words == "none") {
    for (std::size_t m = 0; m < names.size(); ++m) keys.push_back(fmt::format("{}", m));
  } else {
    std::istringstream given(words);
    for (std::string key; std::getline(given, key, ',');) keys.push_back(key);
    if (words.empty() || words.back() == ',') keys.emplace_back();
    if (keys.size() != names.size())
      throw InvalidArgument(fmt::format(
          "option groups names {} groups, and there are {} kernels; give one name or number for each kernel, "
          "separated by commas, 'views', 'none' or 'all'",
          keys.size(), names.size()));
  }
  WeightSet set{{}, 0, norm, mix};
  std::map<std::string, Index> known;
  for (const std::string& key : keys) {
    const auto [place, fresh] = known.emplace(key, set.groups);
    if (fresh) ++set.groups;
    set.group.push_back(place->second);
  }
  return set;
}

// For v < 1 the dual problem, min over η > 0 of η + Σ_g max(0, Q_g − ηv)²/(4η(1 − v)): every η gives a bound.
double support(const WeightSet& set, const Vector& q) {
  const double power = set.norm == 1.0        ? std::numeric_limits<double>::infinity()
                       : std::isinf(set.norm) ? 1.0
                                              : set.norm / (set.norm - 1.0);
  const Vector sums = group_norms(set, q, power);
  const double largest = *std::ranges::max_element(sums);
  if (set.mix == 1.0 || largest <= 0.0) return std::max(0.0, largest);
  const auto weight_at = [&](double sum, double eta) {
    return std::max(0.0, sum / eta - set.mix) / (2.0 * (1.0 - set.mix));
  };
  double low = largest / 8.0;
  double high = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = 0.5 * (low + high);
    Vector beta;
    for (const double sum : sums) beta.push_back(weight_at(sum, middle));
    (size_of(set, beta) > 1.0 ? low : high) = middle;
  }
  double value = high;
  for (const double sum : sums) {
    const double above = std::max(0.0, sum - high * set.mix);
    value += above * above / (4.0 * high * (1.0 - set.mix));
  }
  return value;
}

Vector best_weights(const WeightSet& set, const Vector& lengths, const Vector& otherwise) {
  if (*std::ranges::max_element(lengths) <= 0.0) return otherwise;
  const double power = std::isinf(set.norm) ? 2.0 : 2.0 * set.norm / (set.norm + 1.0);
  const Vector whole = group_norms(set, lengths, power);
  const Vector beta = best_groups(set, whole);
  Vector theta;
  for (std::size_t m = 0; m < lengths.size(); ++m) {
    const std::size_t g = at(set.group[m]);
    // θ_m = β_g (u_m/U_g)^(2/(p + 1)); U_g is the norm of the group's u with the power 2p/(p + 1).
    const double share = whole[g] > 0.0 ? lengths[m] / whole[g] : 0.0;
    theta.push_back(std::isinf(set.norm) ? beta[g] : beta[g] * std::pow(share, 2.0 / (set.norm + 1.0)));
  }
  return theta;
}

Vector further_weights(const WeightSet& set, const Vector& theta, const Vector& update, double stretch) {
  if (stretch == 1.0) return update;
  constexpr double kLeast = 1e-2;  // what falls further may have to come back
  Vector result;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double change = theta[m] > 0.0 ? update[m] / theta[m] : 0.0;
    result.push_back(theta[m] * std::max(std::min(change, kLeast), std::pow(change, stretch)));
  }
  if (!(*std::ranges::max_element(result) > 0.0)) return update;
  const Vector before = group_norms(set, result, set.norm);
  Vector beta = before;
  fit_into(set, beta);
  const auto largest = std::ranges::max_element(before) - before.begin();
  const double factor = beta[static_cast<std::size_t>(largest)] / before[static_cast<std::size_t>(largest)];
  for (double& one : result) one *= factor;
  return result;
}

Vector without_small_groups(const WeightSet& set, const Vector& theta, double share) {
  const Vector before = group_norms(set, theta, set.norm);
  const double least = share * *std::ranges::max_element(before);
  Vector beta = before;
  for (double& one : beta) one = one < least ? 0.0 : one;
  if (beta == before) return theta;
  fit_into(set, beta);
  Vector rest = theta;
  for (std::size_t m = 0; m < rest.size(); ++m) {
    const std::size_t g = at(set.group[m]);
    rest[m] *= before[g] > 0.0 ? beta[g] / before[g] : 0.0;
  }
  return rest;
}

void drop_small_groups(const WeightSet& set, const Vector& theta, const std::function<bool(Vector)>& accept) {
  Vector last = theta;
  for (const double share : {0.1, 0.03, 0.01, 3e-3, 1e-3}) {
    Vector rest = without_small_groups(set, theta, share);
    if (rest == theta) return;  // smaller shares take nothing either
    if (rest == last) continue;
    last = rest;
    if (accept(std::move(rest))) return;
  }
}

std::string weight_set_trouble(const Vector& groups, double norm, double mix, std::size_t kernels) {
  if (!groups.empty() && groups.size() != kernels) return "there is not one group for each kernel";
  const bool numbered = std::ranges::all_of(groups, [&](double g) {
    return g >= 0.0 && g < static_cast<double>(groups.size()) && g == std::floor(g);
  });
  if (!numbered) return "a group of kernels has an impossible number";
  if (!(norm >= 1.0) || !(mix >= 0.0 && mix <= 1.0)) return "the bound of weights in groups is none";
  return {};
}

Vector even_weights(const WeightSet& set) {
  Vector counts(at(set.groups));
  for (const Index g : set.group) counts[at(g)] += 1.0;
  Vector beta(at(set.groups), 1.0);
  fit_into(set, beta);
  Vector theta;
  for (const Index g : set.group)
    theta.push_back(beta[at(g)] * (std::isinf(set.norm) ? 1.0 : std::pow(counts[at(g)], -1.0 / set.norm)));
  return theta;
}

}  // namespace kloom::methods
