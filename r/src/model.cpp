// SPDX-License-Identifier: BSD-3-Clause
//
// The registry, models in memory and in files, predictions; and what glue.h declares.
#include "kloom/model.h"

#include <cstring>

#include "glue.h"
#include "kloom/evaluate.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "kloom/words.h"

namespace rkloom {

std::string to_text(SEXP character) {
  const SEXP one = TYPEOF(character) == CHARSXP ? character : Rcpp::as<Rcpp::CharacterVector>(character)[0];
  return one == NA_STRING ? std::string() : std::string(Rf_translateCharUTF8(one));
}

std::vector<std::string> to_texts(SEXP characters) {
  std::vector<std::string> texts;
  if (Rf_isNull(characters)) return texts;
  for (R_xlen_t i = 0; i < Rf_xlength(characters); ++i) texts.push_back(to_text(STRING_ELT(characters, i)));
  return texts;
}

Rcpp::CharacterVector to_r(const std::vector<std::string>& texts) {
  Rcpp::CharacterVector result(static_cast<R_xlen_t>(texts.size()));
  for (R_xlen_t i = 0; i < result.size(); ++i) {
    const std::string& one = texts[static_cast<std::size_t>(i)];
    SET_STRING_ELT(result, i, Rf_mkCharLenCE(one.data(), static_cast<int>(one.size()), CE_UTF8));
  }
  return result;
}

Rcpp::NumericMatrix to_r(const kloom::Matrix& matrix) {
  return {static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()), matrix.data()};
}

Rcpp::RawVector to_raw(const std::string& bytes) {
  Rcpp::RawVector result(static_cast<R_xlen_t>(bytes.size()));
  std::memcpy(result.begin(), bytes.data(), bytes.size());
  return result;
}

SEXP failure(const char* kind, const char* sentence) {
  Rcpp::List result = Rcpp::List::create(Rcpp::Named("kind") = kind, Rcpp::Named("message") = to_r({sentence}));
  result.attr("class") = "kloom_failure";
  return result;
}

Watch::Watch(const Rcpp::List& settings) : tell_(Rcpp::as<Rcpp::Function>(settings["tell"])) {
  base_.threads = Rcpp::as<int>(settings["threads"]);
  base_.seed = static_cast<std::uint64_t>(Rcpp::as<double>(settings["seed"]));
  base_.memory_budget = static_cast<std::size_t>(Rcpp::as<double>(settings["memory"]));
}

kloom::Context Watch::make_context() {
  kloom::Context context = base_;
  context.progress = [this](const kloom::Progress&) {
    return stop_ ? kloom::Signal::abort : kloom::Signal::go_on;
  };
  context.log = [this](kloom::LogLevel level, std::string_view sentence) {
    const std::scoped_lock lock(mutex_);
    said_.emplace_back(level, sentence);
  };
  return context;
}

void Watch::look() {
  tell();
  const auto check = [](void*) { R_CheckUserInterrupt(); };
  if (R_ToplevelExec(check, nullptr) == FALSE) stop_ = true;
}

void Watch::tell() {
  std::deque<std::pair<kloom::LogLevel, std::string>> said;
  {
    const std::scoped_lock lock(mutex_);
    said.swap(said_);
  }
  for (const auto& [level, sentence] : said) {
    const char* name = level == kloom::LogLevel::warning ? "warning"
                       : level == kloom::LogLevel::info  ? "info"
                                                         : "debug";
    tell_(name, to_r({sentence}));
  }
}

namespace {

using ModelPointer = Rcpp::XPtr<kloom::Model>;

Rcpp::List describe(const kloom::OptionInfo& option) {
  static constexpr const char* kKinds[] = {"real", "integer", "flag", "choice", "text"};
  static constexpr const char* kSuits[] = {"all", "classes", "numbers"};
  return Rcpp::List::create(
      Rcpp::Named("name") = to_r({option.name}), Rcpp::Named("kind") = kKinds[static_cast<int>(option.kind)],
      Rcpp::Named("default") = to_r({option.default_value}), Rcpp::Named("rule") = to_r({option.rule}),
      Rcpp::Named("doc") = to_r({option.doc}), Rcpp::Named("choices") = to_r(option.choices),
      Rcpp::Named("low") = option.low, Rcpp::Named("high") = option.high,
      Rcpp::Named("low_open") = option.low_open, Rcpp::Named("infinite") = option.infinite,
      Rcpp::Named("suits") = kSuits[static_cast<int>(option.suits)]);
}

Rcpp::List describe(const kloom::Learner& learner) {
  Rcpp::List options;
  for (const kloom::OptionInfo& option : learner.options) options.push_back(describe(option), option.name);
  std::vector<std::string> tasks;
  for (const kloom::Task task : learner.tasks) tasks.emplace_back(kloom::to_string(task));
  return Rcpp::List::create(
      Rcpp::Named("name") = to_r({learner.name}), Rcpp::Named("summary") = to_r({learner.summary}),
      Rcpp::Named("tasks") = to_r(tasks), Rcpp::Named("semi_supervised") = learner.semi_supervised,
      Rcpp::Named("page") = to_r({learner.doc_page}), Rcpp::Named("options") = options);
}

// What was decided about every column of the training table.
Rcpp::DataFrame decisions_of(const kloom::Recipe& recipe) {
  std::vector<std::string> names, views, kinds, treatments, reasons;
  std::vector<bool> used;
  std::vector<double> missing;
  for (const kloom::ColumnDecision& d : recipe.decisions) {
    names.push_back(d.feature.name);
    views.push_back(d.feature.view);
    kinds.emplace_back(kloom::to_string(d.kind));
    treatments.push_back(d.treatment);
    reasons.push_back(d.reason);
    used.push_back(d.used);
    missing.push_back(static_cast<double>(d.missing));
  }
  return Rcpp::DataFrame::create(
      Rcpp::Named("name") = to_r(names), Rcpp::Named("view") = to_r(views), Rcpp::Named("kind") = to_r(kinds),
      Rcpp::Named("used") = used, Rcpp::Named("missing") = missing, Rcpp::Named("treatment") = to_r(treatments),
      Rcpp::Named("reason") = to_r(reasons), Rcpp::Named("stringsAsFactors") = false);
}

// The columns that prediction reads, and whether as text.
Rcpp::DataFrame inputs_of(const kloom::Preprocessing& preprocessing) {
  std::vector<std::string> names, views;
  std::vector<bool> texts;
  const auto add = [&](const kloom::Feature& feature, bool text) {
    names.push_back(feature.name);
    views.push_back(feature.view);
    texts.push_back(text);
  };
  for (const auto& column : preprocessing.columns()) add(column.source(), column.from_text());
  for (const auto& feature : preprocessing.text_columns()) add(feature, true);
  return Rcpp::DataFrame::create(Rcpp::Named("name") = to_r(names), Rcpp::Named("view") = to_r(views),
                                 Rcpp::Named("text") = texts, Rcpp::Named("stringsAsFactors") = false);
}

Rcpp::List recipe_of(const kloom::Model& model) {
  const kloom::Recipe recipe = model.recipe.value_or(kloom::Recipe{});
  std::vector<std::string> matrices;
  for (const auto& kernel : recipe.basis.kernels) matrices.push_back(kernel.name);
  return Rcpp::List::create(
      Rcpp::Named("spec") = to_r({kloom::to_string(recipe.spec)}), Rcpp::Named("reasons") = to_r(recipe.advice),
      Rcpp::Named("columns") = decisions_of(recipe), Rcpp::Named("inputs") = inputs_of(recipe.preprocessing),
      Rcpp::Named("matrices") = to_r(matrices));
}

const char* shape_text(kloom::KernelWeights::Shape shape) {
  static constexpr const char* kShapes[] = {"shared", "per class", "per sample"};
  return kShapes[static_cast<int>(shape)];
}

Rcpp::List describe(const kloom::Model& model) {
  return Rcpp::List::create(
      Rcpp::Named("method") = to_r({model.method}),
      Rcpp::Named("task") = to_r({std::string(kloom::to_string(model.task))}),
      Rcpp::Named("classes") = to_r(model.classes), Rcpp::Named("target") = to_r({model.target_name}),
      Rcpp::Named("report") = to_r({model.report_json}), Rcpp::Named("kernels") = to_r(model.kernel_names),
      Rcpp::Named("weights") = to_r(model.weights.values),
      Rcpp::Named("deviation") = to_r(model.weights.deviation),
      Rcpp::Named("shape") = shape_text(model.weights.shape),
      Rcpp::Named("samples") = static_cast<double>(model.coefficients.rows()),
      Rcpp::Named("outputs") = static_cast<int>(model.bias.size()),
      Rcpp::Named("probabilities") = !model.classes.empty() && model.part->has_probabilities(),
      Rcpp::Named("recipe") = recipe_of(model));
}

// Counts, rows are true classes.
Rcpp::IntegerMatrix confusion_of(const kloom::Evaluation& evaluation) {
  const auto classes = static_cast<int>(evaluation.confusion.size());
  Rcpp::IntegerMatrix counts(classes, classes);
  for (int truth = 0; truth < classes; ++truth) {
    for (int guess = 0; guess < classes; ++guess)
      counts(truth, guess) = static_cast<int>(evaluation.confusion[kloom::at(truth)][kloom::at(guess)]);
  }
  return counts;
}

struct Answer {
  kloom::Predictions predictions;
  std::vector<std::string> surprises;
};

Answer predicted(const kloom::Model& model, const kloom::Dataset& data, bool contributions,
                 const kloom::Context& context) {
  Answer result;
  if (model.recipe) result.surprises = model.recipe->preprocessing.surprises(data);
  kloom::PredictOptions options;
  options.contributions = contributions;
  result.predictions = kloom::predict(model, data, options, context);
  return result;
}

}  // namespace
}  // namespace rkloom

using namespace rkloom;  // NOLINT(google-build-using-namespace): the functions that R calls have no namespace

extern "C" SEXP rkloom_methods() {
  return answer([]() -> SEXP {
    Rcpp::List result;
    for (const kloom::Learner& learner : kloom::all_learners())
      result.push_back(describe(learner), learner.name);
    return result;
  });
}

// The method of that name, or a failure that names the nearest.
extern "C" SEXP rkloom_method(SEXP name) {
  return answer([&]() -> SEXP { return describe(kloom::find_learner(to_text(name))); });
}

extern "C" SEXP rkloom_did_you_mean(SEXP name, SEXP known) {
  return answer([&]() -> SEXP { return to_r({kloom::did_you_mean(to_text(name), to_texts(known))}); });
}

extern "C" SEXP rkloom_number_texts(SEXP numbers) {
  return answer([&]() -> SEXP {
    std::vector<std::string> texts;
    for (const double number : Rcpp::NumericVector(numbers)) texts.push_back(kloom::number_text(number));
    return to_r(texts);
  });
}

extern "C" SEXP rkloom_version() {
  return answer([]() -> SEXP { return to_r({kloom::version()}); });
}

// When the package is loaded: from here on forked children are known to be that, and the BLAS inside kloom suits the
// processor unless the user chose otherwise.
extern "C" SEXP rkloom_begin(SEXP cure) {
  return answer([&]() -> SEXP {
    static_cast<void>(kloom::machine_info(false));
    if (Rcpp::as<bool>(cure)) kloom::cure_blas_core();
    return R_NilValue;
  });
}

extern "C" SEXP rkloom_model(SEXP bytes) {
  return answer([&]() -> SEXP {
    const Rcpp::RawVector raw(bytes);
    return ModelPointer(new kloom::Model(kloom::model_from_bytes(std::string(raw.begin(), raw.end()))), true);
  });
}

extern "C" SEXP rkloom_is_null(SEXP pointer) {
  return Rf_ScalarLogical(R_ExternalPtrAddr(pointer) == nullptr ? TRUE : FALSE);
}

extern "C" SEXP rkloom_describe(SEXP model) {
  return answer([&]() -> SEXP { return describe(*ModelPointer(model)); });
}

// The bytes of the model in a file, in the present version of the format.
extern "C" SEXP rkloom_load(SEXP path) {
  return answer([&]() -> SEXP { return to_raw(kloom::model_bytes(kloom::load_model(to_text(path)))); });
}

extern "C" SEXP rkloom_save(SEXP model, SEXP path) {
  return answer([&]() -> SEXP {
    kloom::save_model(*ModelPointer(model), to_text(path));
    return R_NilValue;
  });
}

extern "C" SEXP rkloom_predict(SEXP model, SEXP samples, SEXP contributions, SEXP settings) {
  return answer([&]() -> SEXP {
    const kloom::Model& known = *ModelPointer(model);
    const kloom::Dataset data = dataset_of(samples);
    const bool parts = Rcpp::as<bool>(contributions);
    Watch watch(settings);
    const Answer found =
        watch.run([&](const kloom::Context& context) { return predicted(known, data, parts, context); });
    Rcpp::List contributed;
    for (const kloom::Matrix& part : found.predictions.contributions) contributed.push_back(to_r(part));
    return Rcpp::List::create(Rcpp::Named("scores") = to_r(found.predictions.scores),
                              Rcpp::Named("probabilities") = to_r(found.predictions.probabilities),
                              Rcpp::Named("deviation") = to_r(found.predictions.deviation),
                              Rcpp::Named("codes") = Rcpp::wrap(found.predictions.codes),
                              Rcpp::Named("contributions") = contributed,
                              Rcpp::Named("surprises") = to_r(found.surprises));
  });
}

// How good predictions are of samples whose labels are known, and labels that the model does not know.
extern "C" SEXP rkloom_evaluate(SEXP model, SEXP samples, SEXP labels, SEXP settings) {
  return answer([&]() -> SEXP {
    const kloom::Model& known = *ModelPointer(model);
    const kloom::Dataset data = dataset_of(samples);
    std::vector<std::string> unknown;
    const kloom::Targets targets = kloom::targets_for(known, labels_of(labels), &unknown);
    Watch watch(settings);
    const kloom::Evaluation found = watch.run([&](const kloom::Context& context) {
      return kloom::evaluate(predicted(known, data, false, context).predictions, targets);
    });
    std::vector<std::string> names;
    std::vector<double> values;
    for (const auto& [name, value] : found.values) {
      names.push_back(name);
      values.push_back(value);
    }
    return Rcpp::List::create(Rcpp::Named("names") = to_r(names), Rcpp::Named("values") = values,
                              Rcpp::Named("classes") = to_r(found.classes),
                              Rcpp::Named("confusion") = confusion_of(found),
                              Rcpp::Named("unknown") = to_r(unknown));
  });
}

extern "C" SEXP rkloom_train(SEXP, SEXP, SEXP, SEXP);
extern "C" SEXP rkloom_tune(SEXP, SEXP, SEXP, SEXP, SEXP);

// R keeps functions of any number of arguments under one type.
template <typename Function>
static DL_FUNC entry(Function* function) {
  return reinterpret_cast<DL_FUNC>(reinterpret_cast<void*>(function));
}

extern "C" void R_init_rkloom(DllInfo* library) {
  static const R_CallMethodDef kEntries[] = {{"methods", entry(rkloom_methods), 0},
                                             {"method", entry(rkloom_method), 1},
                                             {"did_you_mean", entry(rkloom_did_you_mean), 2},
                                             {"number_texts", entry(rkloom_number_texts), 1},
                                             {"version", entry(rkloom_version), 0},
                                             {"begin", entry(rkloom_begin), 1},
                                             {"model", entry(rkloom_model), 1},
                                             {"is_null", entry(rkloom_is_null), 1},
                                             {"describe", entry(rkloom_describe), 1},
                                             {"load", entry(rkloom_load), 1},
                                             {"save", entry(rkloom_save), 2},
                                             {"predict", entry(rkloom_predict), 4},
                                             {"evaluate", entry(rkloom_evaluate), 4},
                                             {"train", entry(rkloom_train), 4},
                                             {"tune", entry(rkloom_tune), 5},
                                             {nullptr, nullptr, 0}};
  R_registerRoutines(library, nullptr, kEntries, nullptr, nullptr);
  R_useDynamicSymbols(library, FALSE);
}
