// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multinomial_probit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/normal.h"
#include "solvers/truncated_normal.h"

namespace kloom::solvers {
namespace {

constexpr std::size_t kNodes = 32;

// Nodes x_k and log(w_k) + x_k²/2 of ∫ h(x) dx ≈ Σ_k exp(log weight_k) h(x_k), from the zeros of the Hermite
// polynomial He_n by Newton's method with deflation.
struct Rule {
  std::array<double, kNodes> node;
  std::array<double, kNodes> log_weight;
};

// He_n(x)/√n! and He_{n−1}(x)/√(n−1)!, by the recurrence of the normalised polynomials.
std::array<double, 2> hermite(double x) {
  double last = 0.0;
  double now = 1.0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const auto n = static_cast<double>(k);
    const double next = (x * now - std::sqrt(n) * last) / std::sqrt(n + 1.0);
    last = now;
    now = next;
  }
  return {now, last};
}

Rule make_rule() {
  Rule rule{};
  const auto n = static_cast<double>(kNodes);
  for (std::size_t k = 0; k < kNodes; ++k) {
    double x = 2.0 * std::sqrt(n);  // above the largest zero; deflated Newton goes down to the next
    for (int step = 0; step < 200; ++step) {
      const auto [value, before] = hermite(x);
      double slope = std::sqrt(n) * before / value;  // (log He_n)'
      for (std::size_t j = 0; j < k; ++j) slope -= 1.0 / (x - rule.node[j]);
      const double change = 1.0 / slope;
      x -= change;
      if (std::abs(change) < 1e-15 * std::max(1.0, std::abs(x))) break;
    }
    // Once more without deflation.
    for (int step = 0; step < 3; ++step) {
      const auto [value, before] = hermite(x);
      x -= value / (std::sqrt(n) * before);
    }
    rule.node[k] = x;
    // w = 1/(n p_{n−1}²) for the weight function φ; h itself has to be divided by φ.
    rule.log_weight[k] = -std::log(n) - 2.0 * std::log(std::abs(hermite(x)[1])) + 0.5 * x * x +
                         0.5 * std::log(2.0 * std::numbers::pi);
  }
  return rule;
}

const Rule& rule() {
  static const Rule made = make_rule();
  return made;
}

// One factor Φ(slope·u + offset) for each competitor.
struct Factor {
  double slope;
  double offset;
};

struct Peak {
  double place;
  double width;
};

// Mode of −½u² + Σ log Φ(s u + d) and (−second derivative)^−½ there. Newton on a concave function whose
// curvature lies between 1 and 1 + Σs²; halved steps keep it from jumping over a bend.
Peak find_peak(std::span<const Factor> factors) {
  const auto value = [&](double u) {
    double sum = -0.5 * u * u;
    for (const Factor& f : factors) sum += log_normal_cdf(f.slope * u + f.offset);
    return sum;
  };
  double u = 0.0;
  double curvature = 1.0;
  double now = value(u);
  for (int step = 0; step < 100; ++step) {
    double gradient = -u;
    curvature = 1.0;
    for (const Factor& f : factors) {
      const double z = f.slope * u + f.offset;
      const double r = normal_hazard(z);
      gradient += f.slope * r;
      curvature += f.slope * f.slope * r * truncated_excess(z);
    }
    double change = gradient / curvature;
    if (std::abs(change) < 1e-9) break;
    double next = value(u + change);
    for (int halving = 0; next < now && halving < 40; ++halving) next = value(u + (change *= 0.5));
    u += change;
    now = next;
  }
  return {u, 1.0 / std::sqrt(curvature)};
}

// Nodes and log weights (with the integrand) of ∫ φ(u) Π Φ(s u + d) du.
double integrate(std::span<const Factor> factors, std::array<double, kNodes>& nodes,
                 std::array<double, kNodes>& weights) {
  const Peak peak = find_peak(factors);
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double u = peak.place + peak.width * rule().node[k];
    double log_value =
        rule().log_weight[k] + std::log(peak.width) - 0.5 * u * u - 0.5 * std::log(2.0 * std::numbers::pi);
    for (const Factor& f : factors) log_value += log_normal_cdf(f.slope * u + f.offset);
    nodes[k] = u;
    weights[k] = log_value;
    largest = std::max(largest, log_value);
  }
  double sum = 0.0;
  for (double& w : weights) sum += w = std::exp(w - largest);
  for (double& w : weights) w /= sum;
  return largest + std::log(sum);
}

}  // namespace

double multinomial_probit(std::span<const double> location, Index label, std::span<double> mean) {
  const auto y = static_cast<std::size_t>(label);
  const double of_label = location[y];
  std::vector<Factor> factors;
  for (std::size_t c = 0; c < location.size(); ++c) {
    if (c != y) factors.push_back({1.0, of_label - location[c]});
  }
  std::array<double, kNodes> nodes{};
  std::array<double, kNodes> weights{};
  const double log_mass = integrate(factors, nodes, weights);
  double gained = 0.0;
  for (std::size_t c = 0; c < location.size(); ++c) {
    if (c == y) continue;
    double loss = 0.0;
    for (std::size_t k = 0; k < kNodes; ++k)
      loss += weights[k] * normal_hazard(nodes[k] + of_label - location[c]);
    mean[c] = location[c] - loss;
    gained += loss;
  }
  mean[y] = of_label + gained;
  return log_mass;
}

void largest_probabilities(std::span<const double> location, std::span<const double> deviation,
                           std::span<double> probability) {
  std::array<double, kNodes> nodes{};
  std::array<double, kNodes> weights{};
  double sum = 0.0;
  for (std::size_t c = 0; c < location.size(); ++c) {
    std::vector<Factor> factors;
    for (std::size_t j = 0; j < location.size(); ++j) {
      if (j != c) factors.push_back({deviation[c] / deviation[j], (location[c] - location[j]) / deviation[j]});
    }
    sum += probability[c] = std::exp(integrate(factors, nodes, weights));
  }
  for (double& p : probability) p /= sum;
}

}  // namespace kloom::solvers
