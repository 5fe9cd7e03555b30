// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/margin_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kloom::solvers {
namespace {

// Stands for infinity in the logistic slope: exp(−750) is 0 in double precision, and so is the
// loss at that margin.
constexpr double kSteepest = 750.0;

}  // namespace

double loss_at(MarginLoss loss, double margin) {
  if (loss == MarginLoss::logistic) return std::max(0.0, -margin) + std::log1p(std::exp(-std::abs(margin)));
  const double violation = std::max(0.0, 1.0 - margin);
  return loss == MarginLoss::squared_hinge ? violation * violation : violation;
}

double largest_coefficient(MarginLoss loss, double price) {
  if (!(price > 0.0)) return 0.0;
  switch (loss) {
    case MarginLoss::squared_hinge:
      return std::numeric_limits<double>::infinity();
    case MarginLoss::logistic:
      // As near to C as C − a can still be computed with some precision.
      return price * (1.0 - 8.0 * std::numeric_limits<double>::epsilon());
    case MarginLoss::hinge:
      break;
  }
  return price;
}

double worth(MarginLoss loss, double price, double a) {
  if (loss == MarginLoss::hinge || !(price > 0.0)) return a;
  if (loss == MarginLoss::squared_hinge) return a - a * a / (4.0 * price);
  const auto part = [&](double share) { return share > 0.0 ? -price * share * std::log(share) : 0.0; };
  return part(a / price) + part((price - a) / price);
}

double worth_slope(MarginLoss loss, double price, double a) {
  if (loss == MarginLoss::hinge || !(price > 0.0)) return 1.0;
  if (loss == MarginLoss::squared_hinge) return 1.0 - a / (2.0 * price);
  if (!(a > 0.0)) return kSteepest;
  if (!(a < price)) return -kSteepest;
  return std::clamp(std::log((price - a) / a), -kSteepest, kSteepest);
}

double worth_curvature(MarginLoss loss, double price, double a) {
  if (loss == MarginLoss::hinge || !(price > 0.0)) return 0.0;
  if (loss == MarginLoss::squared_hinge) return 0.5 / price;
  constexpr double kLargest = 1e300;
  const double spread = a * ((price - a) / price);
  return spread > 1.0 / kLargest ? 1.0 / spread : kLargest;
}

}  // namespace kloom::solvers
