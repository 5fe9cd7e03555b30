// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

#include "data/class_key.h"
#include "kloom/dataset.h"
#include "kloom/error.h"
#include "select/metrics.h"

namespace kloom {
namespace {

constexpr double kLeastProbability = 1e-15;

std::vector<Index> labelled_samples(const Targets& targets) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    if (targets.codes[i] != Targets::unlabelled) rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

int code_at(const std::vector<int>& codes, Index row) {
  return codes[static_cast<std::size_t>(row)];
}

void add_confusion(const Predictions& predictions, const Targets& targets, const std::vector<Index>& rows,
                   Evaluation& evaluation) {
  const std::size_t classes = targets.classes.size();
  evaluation.classes = targets.classes;
  evaluation.confusion.assign(classes, std::vector<Index>(classes, 0));
  for (const Index row : rows) {
    const auto truth = static_cast<std::size_t>(code_at(targets.codes, row));
    const auto guess = static_cast<std::size_t>(code_at(predictions.codes, row));
    if (truth >= classes || guess >= classes) {
      throw InvalidArgument(fmt::format("sample {} has class code {} or {}, but there are {} classes", row + 1,
                                        truth, guess, classes));
    }
    ++evaluation.confusion[truth][guess];
  }
}

void add_rates(const Targets& targets, Evaluation& evaluation) {
  const select::Confusion& confusion = evaluation.confusion;
  const select::ClassRates mean = select::mean_rates(confusion);
  // Two classes: of the positive one; several: mean over the classes.
  const bool binary = targets.task == Task::binary;
  const select::ClassRates rates = binary ? select::class_rates(confusion, 1) : mean;
  const double right = select::accuracy(confusion);
  auto& values = evaluation.values;
  values.emplace_back("accuracy", right);
  values.emplace_back("balanced accuracy", select::balanced_accuracy(confusion));
  values.emplace_back("F1 macro", mean.f1);
  // With one label per sample every error is one false positive and one false negative, so this is accuracy.
  values.emplace_back("F1 micro", right);
  values.emplace_back("precision", rates.precision);
  values.emplace_back("recall", rates.recall);
  values.emplace_back("specificity", rates.specificity);
  values.emplace_back("MCC", select::matthews_correlation(confusion));
}

bool all_finite(const Matrix& scores, const std::vector<Index>& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](Index row) {
    for (Index c = 0; c < scores.cols(); ++c) {
      if (!std::isfinite(scores(row, c))) return false;
    }
    return true;
  });
}

// One class against the rest by one column.
std::vector<select::RocPoint> curve_of(const Matrix& scores, Index column, const Targets& targets,
                                       const std::vector<Index>& rows, int positive) {
  Vector score;
  std::vector<int> is_positive;
  for (const Index row : rows) {
    score.push_back(scores(row, column));
    is_positive.push_back(code_at(targets.codes, row) == positive ? 1 : 0);
  }
  return select::roc_curve(score, is_positive);
}

void add_ranking(const Predictions& predictions, const Targets& targets, const std::vector<Index>& rows,
                 Evaluation& evaluation) {
  const auto classes = static_cast<Index>(targets.classes.size());
  if (targets.task == Task::binary) {
    if (predictions.scores.cols() == 0 || !all_finite(predictions.scores, rows)) return;
    const auto curve = curve_of(predictions.scores, 0, targets, rows, 1);
    if (curve.empty()) return;
    evaluation.values.emplace_back("AUC", select::area_under(curve));
    evaluation.values.emplace_back("EER", select::equal_error_rate(curve));
    return;
  }
  const bool chances = predictions.probabilities.cols() == classes;
  const Matrix& scores = chances ? predictions.probabilities : predictions.scores;
  if (scores.cols() != classes || !all_finite(scores, rows)) return;
  double area = 0.0;
  double equal_error = 0.0;
  for (Index c = 0; c < classes; ++c) {
    const auto curve = curve_of(scores, c, targets, rows, static_cast<int>(c));
    if (curve.empty())
      return;  // a class that does not occur has no curve, and a mean without it is another number
    area += select::area_under(curve) / static_cast<double>(classes);
    equal_error += select::equal_error_rate(curve) / static_cast<double>(classes);
  }
  evaluation.values.emplace_back("AUC", area);
  evaluation.values.emplace_back("EER", equal_error);
}

void add_probability_scores(const Matrix& probabilities, const Targets& targets, const std::vector<Index>& rows,
                            Evaluation& evaluation) {
  double loss = 0.0;
  double brier = 0.0;
  Vector confidence;
  std::vector<int> right;
  for (const Index row : rows) {
    const Index truth = code_at(targets.codes, row);
    loss -= std::log(std::max(probabilities(row, truth), kLeastProbability));
    Index likeliest = 0;
    for (Index c = 0; c < probabilities.cols(); ++c) {
      const double miss = probabilities(row, c) - (c == truth ? 1.0 : 0.0);
      brier += miss * miss;
      likeliest = probabilities(row, c) > probabilities(row, likeliest) ? c : likeliest;
    }
    confidence.push_back(probabilities(row, likeliest));
    right.push_back(likeliest == truth ? 1 : 0);
  }
  // With two classes both columns miss by the same amount; the usual score counts it once.
  if (targets.task == Task::binary) brier *= 0.5;
  const auto count = static_cast<double>(rows.size());
  evaluation.values.emplace_back("log loss", loss / count);
  evaluation.values.emplace_back("Brier score", brier / count);
  evaluation.values.emplace_back("ECE", select::calibration_error(select::reliability(confidence, right)));
}

Evaluation evaluate_classes(const Predictions& predictions, const Targets& targets) {
  if (predictions.codes.size() != targets.codes.size()) {
    throw InvalidArgument(
        fmt::format("{} predictions for {} labels", predictions.codes.size(), targets.codes.size()));
  }
  const std::vector<Index> rows = labelled_samples(targets);
  if (rows.empty()) throw InvalidArgument("no sample has a label to compare its prediction with");
  Evaluation evaluation;
  evaluation.samples = static_cast<Index>(rows.size());
  add_confusion(predictions, targets, rows, evaluation);
  add_rates(targets, evaluation);
  add_ranking(predictions, targets, rows, evaluation);
  if (predictions.probabilities.cols() == static_cast<Index>(targets.classes.size())) {
    add_probability_scores(predictions.probabilities, targets, rows, evaluation);
  }
  return evaluation;
}

struct Residuals {
  double squares = 0.0;
  double absolute = 0.0;
  Index count = 0;
  double r2 = std::numeric_limits<double>::quiet_NaN();
};

Residuals residuals_of(std::span<const double> predicted, std::span<const double> truth) {
  Residuals result;
  double sum = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (std::isnan(truth[i])) continue;
    const double miss = predicted[i] - truth[i];
    result.squares += miss * miss;
    result.absolute += std::abs(miss);
    sum += truth[i];
    ++result.count;
  }
  const double mean = sum / static_cast<double>(result.count);
  double spread = 0.0;
  for (const double value : truth) {
    if (!std::isnan(value)) spread += (value - mean) * (value - mean);
  }
  if (spread > 0.0) result.r2 = 1.0 - result.squares / spread;
  return result;
}

// How well the standard deviations describe the misses: density of the true values under normal distributions,
// and how often they lie in the interval that should hold 95 % of them.
void add_uncertainty(const Predictions& predictions, const Matrix& truth, Evaluation& evaluation) {
  constexpr double kNormal95 = 1.959963984540054;
  const Matrix& deviation = predictions.deviation;
  if (deviation.rows() != truth.rows() || deviation.cols() != truth.cols()) return;
  double loss = 0.0;
  double inside = 0.0;
  double count = 0.0;
  for (Index t = 0; t < truth.cols(); ++t) {
    for (Index i = 0; i < truth.rows(); ++i) {
      if (std::isnan(truth(i, t))) continue;
      const double miss = (truth(i, t) - predictions.scores(i, t)) / deviation(i, t);
      loss += 0.5 * miss * miss + std::log(deviation(i, t)) + 0.5 * std::log(2.0 * std::numbers::pi);
      inside += std::abs(miss) <= kNormal95 ? 1.0 : 0.0;
      count += 1.0;
    }
  }
  if (!std::isfinite(loss)) return;
  evaluation.values.emplace_back("NLL", loss / count);
  evaluation.values.emplace_back("interval coverage", inside / count);
}

Evaluation evaluate_values(const Predictions& predictions, const Targets& targets) {
  const Matrix& truth = targets.values;
  if (predictions.scores.rows() != truth.rows() || predictions.scores.cols() != truth.cols()) {
    throw InvalidArgument(fmt::format("predictions are {} x {}, the true values {} x {}",
                                      predictions.scores.rows(), predictions.scores.cols(), truth.rows(),
                                      truth.cols()));
  }
  Residuals total;
  double r2 = 0.0;
  Index varying = 0;
  Evaluation evaluation;
  for (Index t = 0; t < truth.cols(); ++t) {
    const Residuals one = residuals_of(predictions.scores.column(t), truth.column(t));
    total.squares += one.squares;
    total.absolute += one.absolute;
    total.count += one.count;
    evaluation.samples = std::max(evaluation.samples, one.count);
    if (std::isnan(one.r2)) continue;
    r2 += one.r2;
    ++varying;
  }
  if (total.count == 0) throw InvalidArgument("no sample has a value to compare its prediction with");
  const auto count = static_cast<double>(total.count);
  evaluation.values.emplace_back("RMSE", std::sqrt(total.squares / count));
  evaluation.values.emplace_back("MAE", total.absolute / count);
  if (varying > 0) evaluation.values.emplace_back("R²", r2 / static_cast<double>(varying));
  add_uncertainty(predictions, truth, evaluation);
  return evaluation;
}

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int code_of(const std::vector<std::string>& classes, const std::string& label) {
  const auto same = std::find(classes.begin(), classes.end(), label);
  if (same != classes.end()) return static_cast<int>(same - classes.begin());
  const data::ClassKey key = data::class_key(label);
  const auto equal = std::find_if(classes.begin(), classes.end(),
                                  [&](const std::string& name) { return data::class_key(name) == key; });
  return equal == classes.end() ? Targets::unlabelled : static_cast<int>(equal - classes.begin());
}

// Cells of a label with several targets go to several columns; missing ones stay NaN.
void set_values(const std::vector<std::string>& labels, Index columns, Targets& targets) {
  targets.values = Matrix(static_cast<Index>(labels.size()), columns, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::string_view rest = labels[i];
    for (Index t = 0; t < columns && !rest.empty(); ++t) {
      const std::size_t end = std::min(rest.find(Dataset::separator), rest.size());
      const std::string_view cell = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (cell.empty()) continue;
      const auto value = number(cell);
      if (!value)
        throw InvalidArgument(fmt::format("the target of sample {} is '{}', not a number", i + 1, cell));
      targets.values(static_cast<Index>(i), t) = *value;
    }
  }
}

// Every label of every sample counts once; a label is given where its score is positive.
Evaluation evaluate_labels(const Predictions& predictions, const Targets& targets) {
  const Matrix& truth = targets.values;
  if (predictions.scores.rows() != truth.rows() || predictions.scores.cols() != truth.cols()) {
    throw InvalidArgument(fmt::format("predictions are {} x {}, the true labels {} x {}",
                                      predictions.scores.rows(), predictions.scores.cols(), truth.rows(),
                                      truth.cols()));
  }
  Evaluation evaluation;
  double right = 0.0;
  double count = 0.0;
  double exact = 0.0;
  double loss = 0.0;
  for (Index i = 0; i < truth.rows(); ++i) {
    bool known = false;
    bool all = true;
    for (Index c = 0; c < truth.cols(); ++c) {
      if (std::isnan(truth(i, c))) continue;
      const bool is = truth(i, c) > 0.5;
      const bool same = (predictions.scores(i, c) > 0.0) == is;
      known = true;
      all = all && same;
      right += same ? 1.0 : 0.0;
      count += 1.0;
      if (predictions.probabilities.empty()) continue;
      const double p = predictions.probabilities(i, c);
      loss -= std::log(std::max(is ? p : 1.0 - p, kLeastProbability));
    }
    evaluation.samples += known ? 1 : 0;
    exact += known && all ? 1.0 : 0.0;
  }
  if (count == 0.0) throw InvalidArgument("no sample has a label to compare its prediction with");
  evaluation.values.emplace_back("label accuracy", right / count);
  evaluation.values.emplace_back("all labels right", exact / static_cast<double>(evaluation.samples));
  if (!predictions.probabilities.empty()) evaluation.values.emplace_back("log loss", loss / count);
  return evaluation;
}

}  // namespace

Evaluation evaluate(const Predictions& predictions, const Targets& targets) {
  switch (targets.task) {
    case Task::binary:
    case Task::multiclass:
      return evaluate_classes(predictions, targets);
    case Task::regression:
    case Task::multi_regression:
      return evaluate_values(predictions, targets);
    case Task::multilabel:
      return evaluate_labels(predictions, targets);
  }
  throw InternalError("a task without an evaluation");
}

Targets targets_for(const Model& model, const std::vector<std::string>& labels,
                    std::vector<std::string>* unknown) {
  Targets targets;
  targets.task = model.task;
  targets.classes = model.classes;
  if (model.task != Task::binary && model.task != Task::multiclass) {
    set_values(labels, std::max<Index>(1, model.coefficients.cols()), targets);
    return targets;
  }
  targets.codes.reserve(labels.size());
  for (const std::string& label : labels) {
    const int code = label.empty() ? Targets::unlabelled : code_of(model.classes, label);
    targets.codes.push_back(code);
    if (unknown == nullptr || label.empty() || code != Targets::unlabelled) continue;
    if (std::find(unknown->begin(), unknown->end(), label) == unknown->end()) unknown->push_back(label);
  }
  return targets;
}

}  // namespace kloom
