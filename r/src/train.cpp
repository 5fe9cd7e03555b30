// SPDX-License-Identifier: BSD-3-Clause
//
// From what R has in memory to a model: data, targets, training, cross-validation.
#include "kloom/train.h"

#include <algorithm>
#include <cmath>

#include "glue.h"
#include "kloom/compare.h"
#include "kloom/evaluate.h"
#include "kloom/splits.h"
#include "kloom/validate.h"
#include "kloom/words.h"

namespace rkloom {
namespace {

using kloom::Index;

// Numbers of `values`, which R keeps for as long as the call lasts.
kloom::SharedMatrix borrowed(const double* values, Index rows, Index cols) {
  return {std::shared_ptr<const double>(values, [](const double*) {}), rows, cols};
}

// A list of matrices, or an array rows × columns × kernels.
void add_kernels(kloom::Dataset& data, SEXP kernels, const std::vector<std::string>& names) {
  if (Rf_isNull(kernels)) return;
  const bool list = TYPEOF(kernels) == VECSXP;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const Rcpp::NumericVector values(list ? VECTOR_ELT(kernels, static_cast<R_xlen_t>(p)) : kernels);
    const Rcpp::IntegerVector shape = values.attr("dim");
    const Index rows = shape[0];
    const Index cols = shape[1];
    const double* first = values.begin() + (list ? 0 : static_cast<Index>(p) * rows * cols);
    data.samples = rows;
    data.kernels.push_back({names[p], borrowed(first, rows, cols)});
  }
}

// Columns of a table of a view are called view, separator, name until they are in the data set.
void split_name(kloom::Feature& feature) {
  const std::size_t end = feature.name.find(kloom::Dataset::separator);
  if (end == std::string::npos) return;
  feature.view = feature.name.substr(0, end);
  feature.name.erase(0, end + 1);
}

// A number as the cell of a file that holds it.
std::string label_text(double value) {
  if (std::isnan(value)) return "";
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact)
    return std::to_string(static_cast<long long>(value));
  return kloom::number_text(value);
}

kloom::Targets targets_of(const Rcpp::List& asked, kloom::Dataset& data) {
  kloom::TargetsRequest request;
  const std::string task = to_text(asked["task"]);
  if (task == "classes") request.kind = kloom::TargetsRequest::Kind::classes;
  if (task == "regression") request.kind = kloom::TargetsRequest::Kind::regression;
  request.positive = to_text(asked["positive"]);
  request.target_name = to_text(asked["name"]);
  request.allow_unlabelled = Rcpp::as<bool>(asked["unlabelled"]);
  request.source = data.source;
  data.target_name = request.target_name;
  data.labels = labels_of(asked["labels"]);
  kloom::Targets targets = kloom::make_targets(data.labels, request);
  targets.weights = Rcpp::as<std::vector<double>>(asked["weights"]);
  return targets;
}

kloom::OptionValues options_of(SEXP named) {
  kloom::OptionValues options;
  if (Rf_xlength(named) == 0) return options;
  const std::vector<std::string> values = to_texts(named);
  const std::vector<std::string> names = to_texts(Rf_getAttrib(named, R_NamesSymbol));
  for (std::size_t i = 0; i < values.size(); ++i) options[names[i]] = values[i];
  return options;
}

kloom::TrainRequest request_of(const Rcpp::List& asked) {
  kloom::TrainRequest request;
  request.method = to_text(asked["method"]);
  request.options = options_of(asked["options"]);
  const std::string spec = to_text(asked["kernels"]);
  if (!spec.empty()) request.kernels = kloom::parse_kernel_spec(spec);
  kloom::PreprocessingOptions& preparation = request.recipe.preprocessing;
  preparation.standardise = Rcpp::as<bool>(asked["standardise"]);
  preparation.keep = to_texts(asked["keep"]);
  preparation.keep_text = to_texts(asked["text"]);
  preparation.categories = to_texts(asked["categories"]);
  request.recipe.normalisation = kloom::parse_normalisation(to_text(asked["normalise"]));
  request.recipe.clip_spectrum = Rcpp::as<bool>(asked["clip_spectrum"]);
  request.bank = kloom::parse_bank_kind(to_text(asked["bank"]));
  request.evaluate = true;
  return request;
}

std::string trained(const kloom::Dataset& data, const kloom::Targets& targets,
                    const kloom::TrainRequest& request, const kloom::Context& context) {
  const kloom::FitResult fit = kloom::train(data, targets, request, context);
  if (fit.report.status == kloom::Status::numerical_trouble)
    throw kloom::Error(fit.model.method + " ran into numerical trouble: " + fit.report.message);
  return kloom::model_bytes(fit.model);
}

kloom::ValidationRequest validation_of(const kloom::TrainRequest& training, const kloom::Targets& targets,
                                       const Rcpp::List& plan, double seed) {
  kloom::ValidationRequest request;
  request.spec = training.kernels.value_or(kloom::KernelSpec{});
  request.recipe = training.recipe;
  request.bank = training.bank;
  request.metric = to_text(plan["metric"]);
  if (request.metric.empty()) request.metric = kloom::default_metric(targets.task);
  const std::string& method = kloom::choose_learner(training.method, targets).name;
  for (const auto& point : Rcpp::List(plan["grid"])) {
    kloom::Candidate candidate{method, training.options, {}};
    for (const auto& [name, value] : options_of(point)) candidate.options[name] = value;
    request.candidates.push_back(std::move(candidate));
  }
  kloom::SplitRequest splits;
  splits.folds = Rcpp::as<int>(plan["folds"]);
  splits.repeats = Rcpp::as<int>(plan["repeats"]);
  splits.groups = to_texts(plan["groups"]);
  request.splits = kloom::make_splits(targets, splits, static_cast<std::uint64_t>(seed));
  return request;
}

Index place_of(const kloom::Candidate& wanted, const std::vector<kloom::Candidate>& candidates) {
  const auto same = [&](const kloom::Candidate& one) { return one.options == wanted.options; };
  return std::ranges::find_if(candidates, same) - candidates.begin();
}

// One row per point of the grid, best first: its place, and the metrics' means and deviations.
Rcpp::List table_of(const kloom::Comparison& comparison) {
  Rcpp::List rows;
  for (const kloom::MethodSummary& method : comparison.methods) {
    std::vector<std::string> names;
    std::vector<double> means;
    std::vector<double> deviations;
    for (const kloom::MetricSummary& metric : method.metrics) {
      names.push_back(metric.name);
      means.push_back(metric.mean);
      deviations.push_back(metric.deviation);
    }
    rows.push_back(Rcpp::List::create(
        Rcpp::Named("point") = place_of(method.candidate, comparison.request.candidates) + 1.0,
        Rcpp::Named("metrics") = to_r(names), Rcpp::Named("means") = means,
        Rcpp::Named("deviations") = deviations, Rcpp::Named("rank") = method.rank,
        Rcpp::Named("t_p") = method.t_p,
        Rcpp::Named("seconds") = method.kernel_seconds + method.train_seconds));
  }
  return rows;
}

// What was predicted for held-out samples by one point of the grid, a list per part.
Rcpp::List held_out(const kloom::Comparison& comparison, Index candidate) {
  Rcpp::List parts;
  for (const kloom::Outcome& outcome : comparison.validation.outcomes) {
    if (outcome.candidate != candidate || !outcome.failure.empty()) continue;
    const kloom::Split& split = comparison.request.splits[kloom::at(outcome.split)];
    Rcpp::IntegerVector samples(split.test.begin(), split.test.end());
    parts.push_back(Rcpp::List::create(Rcpp::Named("samples") = samples + 1,
                                       Rcpp::Named("repeat") = static_cast<int>(split.repeat + 1),
                                       Rcpp::Named("fold") = static_cast<int>(split.fold + 1),
                                       Rcpp::Named("scores") = to_r(outcome.predictions.scores),
                                       Rcpp::Named("probabilities") = to_r(outcome.predictions.probabilities),
                                       Rcpp::Named("deviation") = to_r(outcome.predictions.deviation)));
  }
  return parts;
}

Rcpp::List failures_of(const kloom::Comparison& comparison) {
  Rcpp::List reasons;
  for (const auto& [method, why] : comparison.left_out) reasons.push_back(to_r({why}));
  return reasons;
}

struct Tuned {
  kloom::Comparison comparison;
  std::string model;
};

Tuned tuned(const kloom::Dataset& data, const kloom::Targets& targets, kloom::TrainRequest training,
            const kloom::ValidationRequest& request, const kloom::Context& context) {
  Tuned result;
  result.comparison = kloom::summarise(request, kloom::cross_validate(data, targets, request, context));
  const kloom::Comparison& comparison = result.comparison;
  if (comparison.validation.interrupted) throw kloom::Interrupted("interrupted");
  if (comparison.methods.empty())
    throw kloom::InvalidArgument(comparison.left_out.empty() ? "no part has a result"
                                                             : comparison.left_out.front().second);
  training.options = comparison.methods.front().candidate.options;
  result.model = trained(data, targets, training, context);
  return result;
}

}  // namespace

std::vector<std::string> labels_of(SEXP y) {
  if (TYPEOF(y) == STRSXP) return to_texts(y);
  const Rcpp::NumericMatrix numbers(y);
  std::vector<std::string> labels;
  for (int i = 0; i < numbers.nrow(); ++i) {
    std::string label = label_text(numbers(i, 0));
    for (int t = 1; t < numbers.ncol(); ++t) label += kloom::Dataset::separator + label_text(numbers(i, t));
    labels.push_back(std::move(label));
  }
  return labels;
}

kloom::Dataset dataset_of(const Rcpp::List& samples) {
  const Rcpp::List columns = samples["columns"];
  const std::vector<std::string> names = to_texts(samples["names"]);
  std::vector<kloom::TableColumn> table;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const SEXP values = columns[static_cast<R_xlen_t>(j)];
    kloom::TableColumn column{names[j], {}, {}};
    if (TYPEOF(values) == STRSXP) {
      column.texts = to_texts(values);
    } else {
      column.numbers = Rcpp::as<std::vector<double>>(values);
    }
    table.push_back(std::move(column));
  }
  kloom::DatasetRequest request;
  const Rcpp::List views = samples["views"];
  for (R_xlen_t v = 0; v < views.size(); ++v) {
    const Rcpp::CharacterVector view_names = views.names();
    request.views.push_back({to_text(view_names[v]), "", to_texts(views[v])});
  }
  request.no_views = !Rcpp::as<bool>(samples["find_views"]);
  request.text = to_texts(samples["text"]);
  request.target_required = Rcpp::as<bool>(samples["training"]);
  kloom::Dataset data = kloom::dataset_from_columns(std::move(table), Rcpp::as<int>(samples["rows"]), request);
  data.source = to_text(samples["source"]);
  for (kloom::Feature& feature : data.feature_info) split_name(feature);
  for (kloom::TextColumn& column : data.texts) split_name(column.feature);
  add_kernels(data, samples["kernels"], to_texts(samples["kernel_names"]));
  return data;
}

}  // namespace rkloom

using namespace rkloom;  // NOLINT(google-build-using-namespace): the functions that R calls have no namespace

// The bytes of the model file.
extern "C" SEXP rkloom_train(SEXP samples, SEXP asked, SEXP request, SEXP settings) {
  return answer([&]() -> SEXP {
    kloom::Dataset data = dataset_of(samples);
    const kloom::Targets targets = targets_of(asked, data);
    const kloom::TrainRequest training = request_of(request);
    Watch watch(settings);
    return to_raw(
        watch.run([&](const kloom::Context& context) { return trained(data, targets, training, context); }));
  });
}

// The table of a grid, what was predicted for held-out samples by its best point, and a model of that on all samples.
extern "C" SEXP rkloom_tune(SEXP samples, SEXP asked, SEXP request, SEXP plan, SEXP settings) {
  return answer([&]() -> SEXP {
    kloom::Dataset data = dataset_of(samples);
    const kloom::Targets targets = targets_of(asked, data);
    const kloom::TrainRequest training = request_of(request);
    const Rcpp::List context_settings(settings);
    const kloom::ValidationRequest validation =
        validation_of(training, targets, plan, Rcpp::as<double>(context_settings["seed"]));
    Watch watch(settings);
    const Tuned result = watch.run(
        [&](const kloom::Context& context) { return tuned(data, targets, training, validation, context); });
    const kloom::Comparison& comparison = result.comparison;
    const Index best = place_of(comparison.methods.front().candidate, comparison.request.candidates);
    return Rcpp::List::create(
        Rcpp::Named("metric") = to_r({comparison.request.metric}),
        Rcpp::Named("larger_is_better") = kloom::larger_is_better(comparison.request.metric),
        Rcpp::Named("table") = table_of(comparison), Rcpp::Named("held_out") = held_out(comparison, best),
        Rcpp::Named("left_out") = failures_of(comparison), Rcpp::Named("model") = to_raw(result.model));
  });
}
