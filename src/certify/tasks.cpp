// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of several tasks: each model by itself, and what the tasks have in common. Where they share kernel
// weights, the lower bounds of the tasks all count the factors q(ω) q(e), and that of all tasks counts them once:
//
//   L = Σ_t L_t − (T − 1) S,   S = E[log p(ω) p(e|ω)] − E[log q(ω) q(e)].
#include "kloom/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "certify/bemkl.h"
#include "certify/gap.h"
#include "kloom/certify.h"
#include "kloom/error.h"

namespace kloom {
namespace {

double value_of(const Certificate& certificate, std::string_view name) {
  const auto item = std::ranges::find(certificate.items, name, &Certificate::Item::name);
  return item == certificate.items.end() ? std::nan("") : item->value;
}

// How far the posteriors of the kernel weights of two tasks are from being the same one.
double difference_of_weights(const Model& a, const Model& b) {
  const auto& one = part_of<BemklPosterior>(a).groups.front();
  const auto& other = part_of<BemklPosterior>(b).groups.front();
  const Index kernels = a.weights.values.cols();
  const Index first = one.be_covariance.rows() - kernels;
  const Index second = other.be_covariance.rows() - kernels;
  double apart = 0.0;
  for (Index m = 0; m < kernels; ++m) {
    apart = certify_detail::worse(apart, std::abs(a.weights.values(0, m) - b.weights.values(0, m)));
    apart = certify_detail::worse(apart, std::abs(one.omega[at(m)] / other.omega[at(m)] - 1.0));
    for (Index l = 0; l < kernels; ++l) {
      apart = certify_detail::worse(apart, std::abs(one.be_covariance(first + l, first + m) -
                                                    other.be_covariance(second + l, second + m)));
    }
  }
  return apart;
}

// The lower bound that the report of the fit promises; NaN where there is none.
double promised_bound(const TaskModels& models) {
  const auto report = nlohmann::json::parse(models.report_json, nullptr, false);
  if (!report.is_object() || !report.contains("objective") || !report.at("objective").is_number())
    return std::nan("");
  return report.at("objective").get<double>();
}

void check_together(const TaskModels& models, Certificate& all) {
  const double bound = all.items.front().value;
  const double promised = promised_bound(models);
  if (std::isfinite(promised) && !(std::abs(bound - promised) <= 1e-6 * std::max(1.0, std::abs(promised)))) {
    all.refutations.push_back(fmt::format(
        "training promised the lower bound {:.6g} for all tasks, and it is {:.6g}", promised, bound));
  }
  if (all.items.size() > 2 && !(all.items[2].value <= all.items[2].limit))
    all.refutations.emplace_back("the tasks should share one posterior of the kernel weights and do not");
}

}  // namespace

Certificate certify_tasks(std::span<const TaskData> tasks, const TaskModels& models, const Context& context) {
  if (tasks.size() != models.models.size()) {
    throw InvalidArgument(
        fmt::format("the models are those of {} tasks, and {} were given", models.models.size(), tasks.size()));
  }
  Certificate all;
  double bound = 0.0;
  double residual = 0.0;
  double apart = 0.0;
  const Model& first = models.models.front();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].name != models.names[t]) {
      throw InvalidArgument(fmt::format("task {} of the models is '{}', and '{}' was given", t + 1,
                                        models.names[t], tasks[t].name));
    }
    const Certificate one = certify(*tasks[t].bank, tasks[t].targets, models.models[t], context);
    bound += value_of(one, "lower bound");
    residual = certify_detail::worse(residual, value_of(one, "stationarity"));
    for (const std::string& sentence : one.refutations)
      all.refutations.push_back(fmt::format("task '{}': {}", tasks[t].name, sentence));
    if (models.shared) apart = certify_detail::worse(apart, difference_of_weights(models.models[t], first));
  }
  if (models.shared)
    bound -= static_cast<double>(tasks.size() - 1) * certify_detail::bound_of_shared_weights(first);
  all.items = {{"lower bound", bound, "of the sum of log p(y) of all tasks, recomputed from the models"},
               {"stationarity", residual, "largest change that one more update would make to a sample weight"}};
  if (models.shared)
    all.items.push_back(
        {"difference of the weights", apart, "of the kernels, between tasks (0 is right)", 0.0});
  check_together(models, all);
  all.finding = all.refutations.empty() ? Certificate::Finding::checked : Certificate::Finding::refuted;
  all.verdict = all.refutations.empty()
                    ? fmt::format(
                          "The lower bound on all {} tasks is {:.6g}. A variational bound has several "
                          "maxima: this is not a proof of optimality.",
                          tasks.size(), bound)
                    : fmt::format("Something is wrong with these models: {}.", all.refutations.front());
  return all;
}

}  // namespace kloom
