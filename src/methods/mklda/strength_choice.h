// SPDX-License-Identifier: BSD-3-Clause
//
// How strongly MKL-DA should fit: the price C of a violation, chosen on held-out samples. Several prices share
// the prediction, each by how far its error is from the best one in units of its uncertainty, because the best
// price alone is chosen by luck on small data.
#pragma once

#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/report.h"
#include "methods/stochastic/counted_sgd.h"

namespace kloom::methods {

struct Strength {
  double price = 1.0;      // C
  double error = 0.0;      // held-out error rate
  double smoothed = 0.0;   // over neighbouring prices
  double deviation = 0.0;  // standard error of the difference to the best price
  double weight = 0.0;
  Index sweeps = 0;  // of the final sweeps
};

struct StrengthRequest {
  std::vector<double> prices;
  double epochs = 3.0;
  Index samples = 5000;  // at most
  Index sweeps = 12;     // to distribute
  std::size_t memory = 0;
};

// In ascending order of price. Every price is judged by one sweep with equal kernel weights on each of three of
// five folds, with the same orders for all prices.
[[nodiscard]] std::vector<Strength> choose_strengths(const KernelBank& bank, const ClassLabels& labels,
                                                     const StrengthRequest& request, const Context& context);

[[nodiscard]] Report::Table strength_table(const std::vector<Strength>& strengths);

}  // namespace kloom::methods
