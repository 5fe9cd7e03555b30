// SPDX-License-Identifier: BSD-3-Clause
//
// kloom stream: samples from a pipe without end → predicted, then learned, one after the other.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "commands.h"
#include "dataset_options.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/kernels.h"
#include "kloom/machine.h"
#include "kloom/stream.h"
#include "model_text.h"
#include "outputs.h"
#include "session.h"
#include "stream_lines.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr const char* kStreamExamples =
    "  kloom stream --format csv --target label --budget 2000 -o state.kloom < day1.csv\n"
    "  tail -f samples.svm | kloom stream -o state.kloom\n"
    "  kloom stream --resume -o state.kloom < day2.csv\n"
    "  kloom predict state.kloom new.csv";

struct StreamCommandOptions {
  CommonOptions common;
  DatasetOptions dataset;
  StreamOptions stream;
  std::string kernels = "rbf(gamma=2^-15..2^15, count=300)";
  std::string format = "automatic";
  std::string output;
  Index warm_up = 1024;
  Index checkpoint_every = 10000;
  Index report_every = 10000;
  bool resume = false;
  bool skip_seen = false;
  std::string bad_lines = "stop";
  bool predictions = false;
  double quadrant_limit = 0.0;
  std::set<std::string> given;  // options of the method that the command line has
};

void add_stream_input_options(CLI::App& app, StreamCommandOptions& o) {
  const std::string input = "Input";
  app.add_option("--format", o.format, "What the lines are: automatic (default), csv (with a header), svmlight")
      ->group(input)
      ->check(CLI::IsMember({"automatic", "csv", "svmlight"}))
      ->type_name("KIND");
  app.add_option("--target", o.dataset.target,
                 "Target column of a CSV stream (default: label, target, class or y)")
      ->group(input)
      ->type_name("COLUMN");
  app.add_option("--warm-up", o.warm_up,
                 "Samples on which features are standardised and kernels fitted (default 1024)")
      ->group(input)
      ->check(CLI::Range(Index{1}, Index{1000000}));
  app.add_option("--bad-lines", o.bad_lines,
                 "A line that is no sample: stop (default) after saving what was learned, or skip it")
      ->group(input)
      ->check(CLI::IsMember({"stop", "skip"}))
      ->type_name("WHAT");
}

void add_stream_method_options(CLI::App& app, StreamCommandOptions& o) {
  const std::string method = "Method";
  app.add_option("--method", o.stream.method, "mkl-dao (default) or ufo-mkl")
      ->group(method)
      ->check(CLI::IsMember({"mkl-dao", "ufo-mkl"}))
      ->type_name("NAME");
  app.add_option("--kernels", o.kernels,
                 "rbf and laplacian families (default \"rbf(gamma=2^-15..2^15, count=300)\")")
      ->group(method)
      ->type_name("SPEC");
  app.add_flag("--literal", o.stream.literal,
               "mkl-dao as published: support vectors keep the weights of their time")
      ->group(method);
  app.add_option("--dt-update", o.stream.dt_update,
                 "mkl-dao: samples between draws of the penalties (default 200)")
      ->group(method);
  app.add_option("--budget", o.stream.budget, "Keep at most so many support vectors (default 0: all)")
      ->group(method);
  app.add_option("--approx", o.stream.approx,
                 "Finite features instead of support vectors: none (default), rff, nystroem; bounded memory")
      ->group(method)
      ->check(CLI::IsMember({"none", "rff", "nystroem"}))
      ->type_name("KIND");
  app.add_option("--features", o.stream.features, "With --approx: features per kernel (default 32)")
      ->group(method)
      ->check(CLI::Range(Index{1}, Index{100000}));
  app.add_option("--lambda", o.stream.lambda, "ufo-mkl: strength of the squared norm")->group(method);
  app.add_option("--alpha", o.stream.alpha, "ufo-mkl: price of a kernel")->group(method);
}

void add_stream_output_options(CLI::App& app, StreamCommandOptions& o) {
  const std::string output = "Output";
  app.add_option("-o,--output", o.output, "Checkpoint and model in one file, replaced as the stream goes on")
      ->group(output)
      ->type_name("FILE");
  app.add_option("--checkpoint-every", o.checkpoint_every, "Samples between checkpoints (default 10000)")
      ->group(output)
      ->check(CLI::PositiveNumber);
  app.add_option("--report-every", o.report_every, "Samples between reports (default 10000)")
      ->group(output)
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--quadrant-limit", o.quadrant_limit,
         "Also report the quadrant score, which joins accuracy and time: of times up to so many seconds")
      ->group(output)
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  app.add_flag("--resume", o.resume, "Go on from the checkpoint in the output file")->group(output);
  app.add_flag("--skip-seen", o.skip_seen,
               "With --resume: the input begins anew, pass over what was already learned")
      ->group(output);
  app.add_flag("--predictions", o.predictions, "Write the class predicted for each sample, one line each")
      ->group(output);
}

// What the checkpoint has is kept, so an option that says something else would be obeyed in vain.
void refuse_changes(const StreamCommandOptions& asked, const StreamLearner& learner, const std::string& path) {
  const auto require = [&](const char* option, bool same, const std::string& has) {
    if (!asked.given.contains(option) || same) return;
    throw InvalidArgument(
        fmt::format("{}: the checkpoint was made with {}, which {} cannot change; leave the option out, "
                    "or begin anew without --resume",
                    path, has, option));
  };
  const StreamOptions& learned = learner.options();
  const StreamOptions& now = asked.stream;
  require("--method", now.method == learned.method, "the method " + learned.method);
  const std::string kernels = to_string(learner.recipe().spec);
  require("--kernels", to_string(parse_kernel_spec(asked.kernels)) == kernels, "the kernels " + kernels);
  require("--literal", now.literal == learned.literal, "mkl-dao in its re-based form");
  require("--dt-update", now.dt_update == learned.dt_update, fmt::format("--dt-update {}", learned.dt_update));
  require("--budget", now.budget == learned.budget, fmt::format("--budget {}", learned.budget));
  require("--approx", now.approx == learned.approx, "--approx " + learned.approx);
  require("--features", now.features == learned.features, fmt::format("--features {}", learned.features));
  require("--lambda", now.lambda == learned.lambda, fmt::format("--lambda {}", learned.lambda));
  require("--alpha", now.alpha == learned.alpha, fmt::format("--alpha {}", learned.alpha));
  const PreprocessingOptions wanted = preprocessing_options(asked.dataset);
  const PreprocessingOptions& has = learner.recipe().preprocessing.options();
  const std::string other = "other rules for its columns";
  require("--impute", wanted.impute == has.impute && wanted.indicate == has.indicate, other);
  require("--categorical", wanted.decide == has.decide && wanted.onehot == has.onehot, other);
  require("--category", wanted.categories == has.categories, other);
  require("--keep", wanted.keep == has.keep, other);
  require("--no-standardise", wanted.standardise == has.standardise, other);
}

class Stream {
 public:
  Stream(const StreamCommandOptions& options, Session& session)
      : options_(options),
        session_(session),
        reader_(StreamReader(format(options.format), options.dataset.target), options.bad_lines == "skip",
                session),
        lines_(session.context()) {}

  int run() {
    begin();
    while (learner_ && !lines_.ended() && !interrupted()) {
      // Pieces end at the same samples whether the stream was resumed or not, and are soon done, for Ctrl-C.
      constexpr Index kPiece = 128;
      const Index wanted = kPiece - learner_->lines() % kPiece;
      const std::string text = reader_.began() ? lines_.take(wanted) : take_first(wanted);
      if (text.empty()) break;
      const Piece piece = reader_.read(text);
      if (piece.data) learn(*piece.data);
      if (!piece.trouble.empty()) throw InvalidArgument(piece.trouble + kept_sentence());
    }
    if (!learner_) stop_if_interrupted();
    if (!learner_) throw InvalidArgument("standard input holds no samples");
    if (!lines_.trouble().empty()) throw FileError(lines_.trouble() + kept_sentence());
    return finish();
  }

 private:
  static StreamReader::Format format(const std::string& name) {
    return name == "csv"        ? StreamReader::Format::csv
           : name == "svmlight" ? StreamReader::Format::svmlight
                                : StreamReader::Format::automatic;
  }

  void begin() {
    if (options_.resume) {
      learner_.emplace(load_model(options_.output), session_.context());
      refuse_changes(options_, *learner_, options_.output);
      saved_ = reported_ = learner_->samples();
      right_before_ = learner_->right();
      session_.console().note(fmt::format("going on after {} samples with {} support vectors",
                                          learner_->lines(), learner_->support_vectors()));
      if (options_.skip_seen) skip(learner_->lines());
      first_samples_ = learner_->samples();
      return;
    }
    const Piece piece = reader_.read(take_first((options_.warm_up + 1023) / 1024 * 1024));
    if (!piece.trouble.empty()) throw InvalidArgument(piece.trouble);
    if (!piece.data) return;
    const Dataset& data = *piece.data;
    RecipeOptions recipe;
    recipe.preprocessing = preprocessing_options(options_.dataset);
    recipe.preprocessing.absent_views = false;  // a stream has no kernels to leave out
    learner_.emplace(Recipe::fit(data, parse_kernel_spec(options_.kernels), recipe, session_.context()),
                     options_.stream, session_.context());
    known_features_ = static_cast<Index>(data.feature_info.size());
    if (options_.stream.approx != "none") {
      const FeatureError error = learner_->approximation_error();
      session_.console().note(fmt::format(
          "{}: {} features per kernel; kernels between the first samples are off by {:.2g} on average, "
          "{:.2g} at most (more --features: closer)",
          options_.stream.approx, options_.stream.features, error.mean, error.largest));
    }
    learn(data);
  }

  // So many samples from the beginning of the input, after the header where there is one.
  std::string take_first(Index samples) {
    std::string text = lines_.take(1);
    const Index taken = text.empty() || reader_.is_header(text) ? 0 : 1;
    if (samples > taken) text += lines_.take(samples - taken);
    return text;
  }

  // Passes over samples that were learned before; bad lines between them were not counted.
  void skip(Index samples) {
    Piece piece = reader_.read(take_first(samples));
    while (piece.data && piece.trouble.empty() && piece.data->samples < samples) {
      samples -= piece.data->samples;
      piece = reader_.read(lines_.take(samples));
    }
    if (!piece.trouble.empty()) throw InvalidArgument(piece.trouble);
  }

  // A sentence about what is kept, after saving it.
  std::string kept_sentence() {
    const std::string text = fmt::format(" {} samples were learned before", learner_->samples());
    if (options_.output.empty()) return text + "; with -o FILE they would have been kept.";
    try {
      checkpoint();
    } catch (const Error& error) {
      return text + fmt::format(", but could not be kept: {}", error.what());
    }
    return text + fmt::format(
                      " and are in {}: mend the line and go on with --resume --skip-seen, or pass over "
                      "such lines with --bad-lines skip.",
                      options_.output);
  }

  void learn(const Dataset& data) {
    if (known_features_ > 0 && static_cast<Index>(data.feature_info.size()) > known_features_) {
      session_.console().warn(fmt::format(
          "feature '{}' was not among the first {} samples; it and other new ones are ignored (--warm-up)",
          data.feature_info.back().name, options_.warm_up));
      known_features_ = 0;
    }
    const std::size_t classes = learner_->classes().size();
    const std::vector<std::string> answers = learner_->learn(data);
    if (classes > 0 && learner_->classes().size() > classes)
      session_.console().note(fmt::format("new class '{}'", learner_->classes().back()));
    if (options_.predictions && !session_.console().json()) {
      std::string text;
      for (const std::string& answer : answers) text += answer + "\n";
      write_stdout(text);
    }
    if (learner_->samples() - reported_ >= options_.report_every) report();
    if (!options_.output.empty() && learner_->samples() - saved_ >= options_.checkpoint_every) checkpoint();
  }

  void report() {
    const auto n = static_cast<double>(learner_->samples());
    const auto lately = static_cast<double>(learner_->samples() - reported_);
    session_.console().note(fmt::format(
        "{} samples: accuracy before learning {:.4f}, {:.4f} over the last {:.0f}; {} support "
        "vectors; {:.0f} samples/s{}",
        learner_->samples(), static_cast<double>(learner_->right()) / n,
        static_cast<double>(learner_->right() - right_before_) / lately, lately, learner_->support_vectors(),
        rate(), quadrant_text(static_cast<double>(learner_->right()) / n)));
    reported_ = learner_->samples();
    right_before_ = learner_->right();
  }

  [[nodiscard]] double rate() const {
    return static_cast<double>(learner_->samples() - first_samples_) / std::max(session_.seconds(), 1e-9);
  }

  // The score of all of it, where there is a time to compare with.
  [[nodiscard]] std::optional<double> quadrant(double accuracy) const {
    if (options_.quadrant_limit == 0.0 || learner_->samples() == 0) return std::nullopt;
    return quadrant_score(accuracy, session_.seconds(), options_.quadrant_limit);
  }
  [[nodiscard]] nlohmann::ordered_json quadrant_json(double accuracy) const {
    const std::optional<double> score = quadrant(accuracy);
    return score ? nlohmann::ordered_json(*score) : nlohmann::ordered_json();
  }
  [[nodiscard]] std::string quadrant_text(double accuracy) const {
    const std::optional<double> score = quadrant(accuracy);
    return score ? fmt::format("; quadrant score {:.2f} at a limit of {:g} s", *score, options_.quadrant_limit)
                 : "";
  }

  void checkpoint() {
    save_model(learner_->model(), options_.output);
    saved_ = learner_->samples();
  }

  int finish() {
    const bool stopped = interrupted();
    try {
      if (!options_.output.empty()) checkpoint();
    } catch (const InvalidArgument& error) {  // not two classes yet
      if (stopped) throw Interrupted(fmt::format("interrupted; nothing was written: {}", error.what()));
      throw;
    }
    const double accuracy = learner_->samples() > 0 ? static_cast<double>(learner_->right()) /
                                                          static_cast<double>(learner_->samples())
                                                    : 0.0;
    const nlohmann::ordered_json json = {{"command", "stream"},
                                         {"method", learner_->options().method},
                                         {"samples", learner_->samples()},
                                         {"right", learner_->right()},
                                         {"bad_lines", reader_.bad()},
                                         {"prequential_accuracy", accuracy},
                                         {"support_vectors", learner_->support_vectors()},
                                         {"approx", learner_->options().approx},
                                         {"approximation_error", learner_->approximation_error().mean},
                                         {"classes", learner_->classes()},
                                         {"seconds", session_.seconds()},
                                         {"quadrant_score", quadrant_json(accuracy)},
                                         {"samples_per_second", rate()},
                                         {"output", options_.output},
                                         {"interrupted", stopped}};
    session_.console().json_result(dump(json));
    const std::string text = fmt::format(
        "{} samples, {} classes: accuracy before learning {:.4f}; {} support vectors; "
        "{:.1f} s, {:.0f} samples/s{}{}\n",
        learner_->samples(), learner_->classes().size(), accuracy, learner_->support_vectors(),
        session_.seconds(), rate(), quadrant_text(accuracy),
        reader_.bad() > 0 ? fmt::format("; {} bad lines skipped", reader_.bad()) : "");
    if (options_.predictions) {
      session_.console().note(text.substr(0, text.size() - 1));
    } else {
      session_.console().result(text);
    }
    return stopped ? interrupted_code() : kDone;
  }

  const StreamCommandOptions& options_;
  Session& session_;
  SampleReader reader_;
  Lines lines_;
  std::optional<StreamLearner> learner_;
  Index saved_ = 0;
  Index reported_ = 0;
  Index right_before_ = 0;
  Index first_samples_ = 0;
  Index known_features_ = 0;
};

int run(const StreamCommandOptions& options) {
  Session session(options.common);
  if (options.resume && options.output.empty())
    throw InvalidArgument("--resume needs the checkpoint: name it with -o FILE");
  if (options.skip_seen && !options.resume) throw InvalidArgument("--skip-seen goes with --resume");
  require_outputs({{"-o", options.output, OutputKind::file}}, {"-"});
  return Stream(options, session).run();
}

}  // namespace

int run_stream(const Arguments& arguments) {
  StreamCommandOptions options;
  CommandLine line(
      "stream",
      "Learns from standard input, sample by sample, for as long as it lasts. Every sample is predicted "
      "before it is learned; the accuracy of those predictions is reported as it goes.",
      kStreamExamples);
  add_stream_input_options(line.app(), options);
  add_stream_method_options(line.app(), options);
  add_stream_output_options(line.app(), options);
  add_preprocessing_options(line.app(), options.dataset);
  add_common_options(line.app(), options.common);
  if (!line.parse(arguments)) return kDone;
  for (const CLI::Option* option : line.app().get_options())
    if (option->count() > 0 && !option->get_lnames().empty())
      options.given.insert("--" + option->get_lnames().front());
  return run(options);
}

}  // namespace kloom::cli
