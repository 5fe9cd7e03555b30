// SPDX-License-Identifier: BSD-3-Clause
//
// The report in a model promises: an objective and a duality gap, as the method computed them; the items of a
// certificate, as the referee computed them; and sums of the predictions of the training samples,
//
//   F_k = n^-½ Σ_i s_ik v_i,   s_ik = ±1 by a fixed rule, k = 1 … 4,
//
// of every column v of scores, probabilities and variances. If predictions change by d_i, then F_k changes by about the
// root mean square of d: all four stay within a tenth of that for one change in ten thousand.
//
// The same numbers are those that agree to six digits of the column's root mean square, or to what the rounding of
// kernels explains: a score Σ_p w_p Σ_n A_n k_p(x, x_n) whose kernels have relative errors δ is wrong by at most
// δ Σ_p |w_p| d_p Σ_n |A_n|, d_p the largest k_p(x, x).
#include "certify/promise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "certify/gap.h"
#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom {
namespace {

constexpr int kSums = 4;

// One bit of the number's place, stirred.
double sign_of(std::uint64_t place, std::uint64_t sum) {
  std::uint64_t z = (place * kSums + sum + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return ((z ^ (z >> 31U)) & 1U) != 0 ? 1.0 : -1.0;
}

std::vector<Vector> sums_of(const Matrix& columns, bool squared) {
  std::vector<Vector> result;
  const double unit = 1.0 / std::sqrt(static_cast<double>(std::max<Index>(1, columns.rows())));
  for (Index c = 0; c < columns.cols(); ++c) {
    Vector sums(kSums);
    for (Index i = 0; i < columns.rows(); ++i) {
      const double value = columns(i, c) * (squared ? columns(i, c) : 1.0) * unit;
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += sign_of(at(i), k) * value;
    }
    result.push_back(std::move(sums));
  }
  return result;
}

}  // namespace

TrainingSums training_sums(const Predictions& predictions) {
  return {sums_of(predictions.scores, false), sums_of(predictions.probabilities, false),
          sums_of(predictions.deviation, true)};
}

namespace certify_detail {
namespace {

using Json = nlohmann::json;

constexpr double kSame = 1e-6;

double number_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json.at(key).is_number() ? json.at(key).get<double>()
                                                                            : std::nan("");
}

double root_mean_square(std::span<const double> values, bool squared) {
  double sum = 0.0;
  for (const double value : values) sum += std::pow(value, squared ? 4 : 2);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

// Of the kernels, now or at training.
struct Precision {
  bool single = false;
  bool low_rank = false;
};

// Σ_p |w_p| d_p Σ_n |A_n| of one output.
double absolute_size(const Matrix& weights, const Matrix& coefficients, const Vector& largest, Index c) {
  double by_kernel = 0.0;
  for (Index p = 0; p < weights.cols(); ++p)
    by_kernel += std::abs(weights(weights.rows() == 1 ? 0 : c, p)) * largest[at(p)];
  double by_sample = 0.0;
  for (const double a : coefficients.column(c)) by_sample += std::abs(a);
  return by_kernel * by_sample;
}

// Largest factor by which gates multiply a kernel.
double largest_gates(const Model& model) {
  const auto* gated = find_part<GatedPart>(model);
  double largest = 1.0;
  if (gated == nullptr) return largest;
  for (const auto& output : gated->gates.outputs) {
    for (const double gate : output.samples.values()) largest = std::max(largest, gate * gate);
  }
  return largest;
}

// Relative errors of kernels, as they show in the root mean square of scores. Distances, exponentials and sums of doubles
// are right to some hundred roundings. What a low-rank factor leaves out has at most 1e-12 of the trace, and so a norm
// of at most 1e-12 n d. Sums with random signs are within four of their standard deviations.
double kernel_error(const Precision& precision, Index samples) {
  if (precision.single) return 4.0 * std::ldexp(1.0, -24);
  return precision.low_rank ? 4e-12 * std::sqrt(static_cast<double>(samples)) : 4e-13;
}

// What the rounding of kernels may change of the scores of each output.
Vector score_rounding(const KernelBank& bank, const Model& model, const Precision& precision) {
  const Matrix diagonal = bank.diagonal();
  Vector largest;
  for (Index p = 0; p < diagonal.cols(); ++p) {
    largest.push_back(0.0);
    for (const double value : diagonal.column(p)) largest.back() = std::max(largest.back(), std::abs(value));
  }
  const WeightedTerm whole{model.weights.values, model.coefficients};
  std::span<const WeightedTerm> terms(&whole, 1);
  if (const auto* part = find_part<StochasticPart>(model); part != nullptr && !part->terms.empty())
    terms = part->terms;
  if (const auto* part = find_part<BlendPart>(model)) terms = part->terms;
  const double error = kernel_error(precision, bank.rows());
  Vector result;
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    double size = 0.0;
    for (const WeightedTerm& term : terms) size += absolute_size(term.weights, term.coefficients, largest, c);
    result.push_back(error * size * largest_gates(model));
  }
  return result;
}

// The variance of a Gaussian process is w − kᵀQk, of which rounding leaves n·eps·w²‖Q‖; ‖Q‖ is at most 1/σ², and ¼ where
// there are classes.
double variance_rounding(const Model& model) {
  const auto* part = find_part<GpPart>(model);
  if (part == nullptr) return 0.0;
  double prior = part->constant;
  for (std::size_t p = 0; p < part->self.size(); ++p)
    prior += model.weights.values(0, static_cast<Index>(p)) * part->self[p];
  const double precision = part->regression ? 1.0 / std::max(part->noise, 1e-300) : 0.25;
  return static_cast<double>(model.coefficients.rows()) * std::numeric_limits<double>::epsilon() * prior * prior *
         precision * part->scale * part->scale;
}

struct Column {
  const Json& promised;  // of all columns, or null
  const std::vector<Vector>& found;
  const Matrix& values;
  bool squared = false;
  Vector rounding;  // of each column
};

void compare_columns(const Column& given, const char* what, Certificate& certificate) {
  const std::size_t promised = given.promised.is_array() ? given.promised.size() : 0;
  if (promised != given.found.size()) {
    certificate.refutations.push_back(
        fmt::format("training promised {} columns of {} of the training samples, the model predicts {}", promised,
                    what, given.found.size()));
    return;
  }
  for (std::size_t c = 0; c < promised; ++c) {
    const double size = root_mean_square(given.values.column(static_cast<Index>(c)), given.squared);
    const double allowed = std::max(kSame * size, given.rounding[std::min(c, given.rounding.size() - 1)]);
    double apart = 0.0;
    for (std::size_t k = 0; k < given.found[c].size(); ++k) {
      const Json& sums = given.promised[c];
      const bool there = sums.is_array() && k < sums.size() && sums[k].is_number();
      apart = worse(apart, there ? std::abs(sums[k].get<double>() - given.found[c][k]) : std::nan(""));
    }
    if (apart <= allowed) continue;
    certificate.refutations.push_back(
        fmt::format("the {} of the training samples (column {}) are not those that training promised: sums of them "
                    "differ by {:.2g} where rounding explains {:.2g}",
                    what, c + 1, apart, allowed));
    return;
  }
}

void compare_predictions(const KernelBank& bank, const Model& model, const Json& sums, const Precision& precision,
                         const Context& context, Certificate& certificate) {
  const Predictions predictions = predict(model, bank, {}, context);
  const TrainingSums found = training_sums(predictions);
  const auto promised = [&](const char* key) { return sums.contains(key) ? sums.at(key) : Json(); };
  const Json scores = promised("scores");
  compare_columns({scores, found.scores, predictions.scores, false, score_rounding(bank, model, precision)}, "scores",
                  certificate);
  // How kernels of single precision move probabilities and variances depends on the method.
  if (precision.single) return;
  const Json chances = promised("probabilities");
  compare_columns({chances, found.probabilities, predictions.probabilities, false, {kSame}}, "probabilities",
                  certificate);
  const Json variances = promised("variances");
  compare_columns({variances, found.variances, predictions.deviation, true, {variance_rounding(model)}},
                  "variances", certificate);
}

// The number that the method itself reported under the item's name.
void compare_objective(const Json& report, Certificate& certificate) {
  if (!report.contains("objective_name") || !report.at("objective_name").is_string()) return;
  const auto name = report.at("objective_name").get<std::string>();
  const double promised = number_in(report, "objective");
  const double gap = number_in(report, "gap");
  for (const auto& item : certificate.items) {
    if (!name.starts_with(item.name) || !std::isfinite(promised)) continue;
    // A method may report the objective before its last, free step: both are between the bounds of its gap.
    const double slack = (std::isfinite(gap) ? std::max(0.0, gap) : 0.0) +
                         (std::isfinite(certificate.tolerance) ? certificate.tolerance : 0.0);
    const double allowed = std::max((kSame + slack) * std::max(1.0, std::abs(promised)), item.rounding);
    if (std::abs(item.value - promised) <= allowed) continue;
    certificate.refutations.push_back(
        fmt::format("the {} is {:.10g}, and training promised {:.10g}", item.name, item.value, promised));
  }
}

// The referee's own findings at training; those of earlier programs may have meant something else.
void compare_items(const Json& report, Certificate& certificate) {
  if (!report.contains("certificate") || !report.at("certificate").is_object()) return;
  const Json& then = report.at("certificate");
  if (!then.contains("finding") || !then.contains("items") || !then.at("items").is_array()) return;
  for (const Json& promised : then.at("items")) {
    const double value = number_in(promised, "value");
    for (const auto& item : certificate.items) {
      if (!std::isfinite(value) || !promised.contains("name") || promised.at("name") != item.name) continue;
      const double allowed = std::max(kSame * std::max(1.0, std::abs(value)), item.rounding);
      if (std::abs(item.value - value) <= allowed) continue;
      certificate.refutations.push_back(
          fmt::format("the {} is {:.6g}, and at training it was {:.6g}", item.name, item.value, value));
    }
  }
}

}  // namespace

void compare_with_promise(const KernelBank& bank, const Model& model, const Context& context,
                          Certificate& certificate) {
  if (model.report_json.empty()) return;
  const Json report = Json::parse(model.report_json, nullptr, false);
  if (!report.is_object()) {
    certificate.refutations.emplace_back("the report of the training in the model cannot be read");
    return;
  }
  const std::string stored = report.contains("bank") && report.at("bank").is_string() ? report.at("bank") : "";
  const std::string both = fmt::format("{} {}", stored, bank.kind());
  const Precision precision{single_precision(both), both.find("low-rank") != std::string::npos};
  if (!precision.single) {
    compare_objective(report, certificate);
    compare_items(report, certificate);
  }
  if (report.contains("training_sums") && report.at("training_sums").is_object())
    compare_predictions(bank, model, report.at("training_sums"), precision, context, certificate);
}

}  // namespace certify_detail
}  // namespace kloom
