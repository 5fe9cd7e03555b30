// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stream/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "kloom/error.h"
#include "methods/ufomkl/ufomkl.h"

namespace kloom::methods {
namespace {

void check(const StreamOptions& o) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw InvalidArgument(fmt::format("options of a stream: {}", rule));
  };
  require(o.method == "mkl-dao" || o.method == "ufo-mkl", "the method must be mkl-dao or ufo-mkl");
  require(o.dt_update >= 1, "dt_update must be at least 1");
  require(o.budget == 0 || o.budget >= 2, "the budget must be at least 2, or 0 for none");
  require(o.kappa > 0.0 && o.theta > 0.0 && o.sigma > 0.0, "kappa, theta and sigma must be > 0");
  require(o.lambda >= 0.0 && o.alpha >= 0.0, "lambda and alpha must be >= 0");
  require(!o.literal || o.method == "mkl-dao", "only mkl-dao has a literal form");
  require(o.approx == "none" || o.approx == "rff" || o.approx == "nystroem",
          "approx must be none, rff or nystroem");
  require(o.features >= 1, "there must be at least one feature per kernel");
  require(o.approx == "none" || (!o.literal && o.budget == 0),
          "with finite features there are no support vectors; leave literal and budget out");
  require(!o.literal || o.budget == 0, "the literal form keeps every support vector; leave the budget out");
}

Dataset without_samples(const Dataset& basis) {
  Dataset empty;
  empty.source = basis.source;
  empty.feature_info = basis.feature_info;
  empty.views = basis.views;
  empty.absent_is_zero = basis.absent_is_zero;
  empty.features = Matrix(0, basis.features.cols());
  return empty;
}

Priors priors_of(const StreamOptions& o) {
  return {o.kappa, o.theta, o.mu, o.sigma};
}

// A word as two numbers that a file keeps exactly.
void put(Vector& numbers, std::uint64_t word) {
  numbers.push_back(static_cast<double>(word >> 32));
  numbers.push_back(static_cast<double>(word & 0xffffffffU));
}

// The scalars of a state, in the order of the file.
template <typename State>
auto scalars(State& s) {
  return std::array{&s.options.kappa,
                    &s.options.theta,
                    &s.options.mu,
                    &s.options.sigma,
                    &s.options.lambda,
                    &s.options.alpha,
                    &s.augmentation.alpha,
                    &s.augmentation.beta,
                    &s.augmentation.priors.kappa,
                    &s.augmentation.priors.theta,
                    &s.augmentation.priors.mu,
                    &s.augmentation.priors.sigma,
                    &s.penalty_samples};
}
template <typename State>
auto counters(State& s) {
  return std::array{
      &s.options.dt_update, &s.options.budget, &s.booked, &s.samples, &s.origin, &s.right, &s.lines};
}

bool all_finite(const Matrix& matrix) {
  return std::ranges::all_of(matrix.values(), [](double v) { return std::isfinite(v); });
}

// A whole number from `least` to `most`, kept in a file as a double.
bool is_count(double value, Index least, Index most) {
  return value >= static_cast<double>(least) && value <= static_cast<double>(most) &&
         value == std::floor(value);
}

void require(bool holds) {
  if (!holds) throw FileError("the checkpoint does not fit together; it is damaged");
}

}  // namespace

StreamState::StreamState(Recipe given, const StreamOptions& asked, std::uint64_t seed)
    : options(asked),
      recipe(std::move(given)),
      augmentation(priors_of(asked), 0, static_cast<Index>(recipe.terms.size()), asked.literal),
      draws(seed) {
  check(options);
  store = std::make_unique<kernels::SampleStore>(recipe.terms, recipe.basis.features.cols());
  if (options.approx != "none") fit_map(seed);
  recipe.basis = without_samples(recipe.basis);
  if (ufo()) {
    squares = Matrix(1, store->kernels());
  } else {
    // The published algorithm begins without strengths; they are drawn once before the first sample.
    augmentation.draw_strengths(draws);
    penalty_samples = static_cast<double>(options.dt_update);
  }
  for (const std::string& name : options.classes) add_class(name);
}

void StreamState::fit_map(std::uint64_t seed) {
  const auto kind = options.approx == "rff" ? FeatureMap::Kind::rff : FeatureMap::Kind::nystroem;
  map = fit_feature_map(kind, recipe.terms, recipe.basis.features, options.features, seed);
  // Enough pairs to see the error, few enough to cost nothing.
  constexpr Index kPairsOf = 100;
  const Index n = std::min(kPairsOf, recipe.basis.features.rows());
  Matrix some(n, recipe.basis.features.cols());
  for (Index d = 0; d < some.cols(); ++d)
    std::copy_n(recipe.basis.features.column(d).begin(), n, some.column(d).begin());
  map_error = feature_error(*map, recipe.terms, some);
}

Matrix StreamState::theta_squares() const {
  Matrix result(outputs(), store->kernels());
  for (Index k = 0; k < outputs(); ++k) {
    for (Index f = 0; f < store->kernels(); ++f) {
      const auto sums = std::span(theta[at(k)]).subspan(at(f * map->count()), at(map->count()));
      for (const double value : sums) result(k, f) += value * value;
    }
  }
  return result;
}

Range StreamState::range_of(std::size_t segment) const {
  return {segments[segment].first, segment + 1 < segments.size() ? segments[segment + 1].first : support()};
}

Matrix StreamState::counts_of(Range range, Index wanted) const {
  Matrix result(range.size(), wanted);
  for (Index k = 0; k < wanted; ++k) {
    for (Index j = range.begin; j < range.end; ++j) result(j - range.begin, k) = counts[at(k)][at(j)];
  }
  return result;
}

void StreamState::begin_segment() {
  if (!options.literal) {
    segments.clear();
  } else if (!segments.empty() && segments.back().first == support()) {
    segments.pop_back();
  }
  Segment next;
  next.first = options.literal ? support() : 0;
  const Matrix penalties = augmentation.penalties(penalty_samples);
  next.weights = Matrix(store->kernels(), outputs());
  for (Index k = 0; k < outputs(); ++k) {
    double sum = 0.0;
    for (Index f = 0; f < store->kernels(); ++f) sum += 1.0 / penalties(k, f);
    for (Index f = 0; f < store->kernels(); ++f) next.weights(f, k) = 1.0 / penalties(k, f) / sum;
    next.scales.push_back(sum);
  }
  next.kernel = kernels::family_combination(store->families(), next.weights.view());
  segments.push_back(std::move(next));
}

void StreamState::add_class(const std::string& name) {
  classes.push_back(name);
  // Two classes have opposite counts; a later class begins with none.
  counts.emplace_back(at(support()), 0.0);
  if (map) theta.emplace_back(at(store->kernels() * map->count()), 0.0);
  const auto grow = [&](const Matrix& old, double value) {
    Matrix larger(outputs(), store->kernels(), value);
    for (Index f = 0; f < old.cols(); ++f) std::ranges::copy(old.column(f), larger.column(f).begin());
    return larger;
  };
  augmentation.inverse_lambda = grow(augmentation.inverse_lambda, 1.0);
  if (ufo()) return;
  if (options.literal) squares = grow(squares, 0.0);
  begin_segment();
}

// Two classes are one score, the difference; its kernel weights are the sum of both classes'.
void StreamState::write_binary(Model& model, StreamPart& part) const {
  model.task = Task::binary;
  model.weights.shape = KernelWeights::Shape::shared;
  model.weights.values = Matrix(1, store->kernels());
  const auto t = static_cast<double>(std::max<Index>(1, steps()));
  for (std::size_t s = 0; s < segments.size(); ++s) {
    StochasticPart::Term term{Matrix(1, store->kernels()), Matrix(model.coefficients.rows(), 1)};
    const Segment& segment = segments[s];
    double sum = 0.0;
    for (Index f = 0; f < store->kernels(); ++f) {
      for (Index k = 0; k < segment.weights.cols(); ++k)
        term.weights(0, f) += segment.weights(f, k) * segment.scales[at(k)];
      sum += term.weights(0, f);
    }
    for (double& w : term.weights.values()) w /= sum;
    const Range range = range_of(s);
    for (Index j = range.begin; j < range.end; ++j) {
      // A segment from the time of one class has no support vectors.
      term.coefficients(j, 0) = counts[1][at(j)] * sum / t;
      model.coefficients(j, 0) = term.coefficients(j, 0);
    }
    if (range.size() == 0 && s + 1 < segments.size()) continue;
    model.weights.values = term.weights;
    if (options.literal) part.terms.push_back(std::move(term));
  }
}

void StreamState::write_classes(Model& model, StreamPart& part) const {
  model.task = Task::multiclass;
  model.weights.shape = KernelWeights::Shape::per_class;
  model.weights.values = Matrix(outputs(), store->kernels());
  const auto t = static_cast<double>(std::max<Index>(1, steps()));
  for (std::size_t s = 0; s < segments.size(); ++s) {
    StochasticPart::Term term{Matrix(outputs(), store->kernels()),
                              Matrix(model.coefficients.rows(), outputs())};
    const Segment& segment = segments[s];
    const Range range = range_of(s);
    for (Index k = 0; k < segment.weights.cols(); ++k) {
      for (Index f = 0; f < store->kernels(); ++f) term.weights(k, f) = segment.weights(f, k);
      for (Index j = range.begin; j < range.end; ++j) {
        term.coefficients(j, k) = counts[at(k)][at(j)] * segment.scales[at(k)] / t;
        model.coefficients(j, k) = term.coefficients(j, k);
      }
    }
    if (range.size() == 0 && s + 1 < segments.size()) continue;
    model.weights.values = term.weights;
    if (options.literal) part.terms.push_back(std::move(term));
  }
}

// UFO-MKL's weights come from the sums of squares by its mirror map.
void StreamState::write_ufo(Model& model, Index scores) const {
  const UfoMirror mirror(options.lambda, options.alpha, store->kernels());
  Vector w(at(store->kernels()));
  const auto t = static_cast<double>(std::max<Index>(1, steps()));
  mirror.weights(squares.values(), t, w);
  model.task = scores == 1 ? Task::binary : Task::multiclass;
  model.weights.shape = scores == 1 ? KernelWeights::Shape::shared : KernelWeights::Shape::per_class;
  model.weights.values = Matrix(scores, store->kernels());
  for (Index k = 0; k < scores; ++k) {
    for (Index f = 0; f < store->kernels(); ++f) model.weights.values(k, f) = t * w[at(f)];
    for (Index j = 0; j < support(); ++j)
      model.coefficients(j, k) = (scores == 1 ? 2.0 * counts[1][at(j)] : counts[at(k)][at(j)]) / t;
  }
}

Model StreamState::model() const {
  if (classes.size() < 2)
    throw InvalidArgument(
        fmt::format("the stream had {} so far; a model needs two classes",
                    classes.empty() ? "no labelled sample" : "only class '" + classes[0] + "'"));
  Model model;
  model.method = options.method;
  model.classes = classes;
  model.options_json =
      nlohmann::json(
          {{"literal", options.literal}, {"dt_update", options.dt_update}, {"budget", options.budget}})
          .dump();
  for (const KernelTerm& term : recipe.terms) model.kernel_names.push_back(term.name);
  // Where nothing has been learned yet, one sample without a coefficient keeps every shape valid.
  const Index n = std::max<Index>(1, support());
  const Index scores = classes.size() == 2 ? 1 : outputs();
  model.coefficients = Matrix(n, scores);
  model.bias.assign(at(scores), 0.0);
  model.recipe = recipe;
  Dataset& basis = model.recipe->basis;
  basis.samples = n;
  basis.features = Matrix(n, basis.features.cols());
  for (Index d = 0; d < basis.features.cols(); ++d) {
    for (Index j = 0; j < support(); ++j) basis.features(j, d) = store->value(j, d);
  }
  StreamPart part = state_part();
  if (ufo()) {
    write_ufo(model, scores);
  } else if (scores == 1) {
    write_binary(model, part);
  } else {
    write_classes(model, part);
  }
  if (map) part.features = feature_scores(scores);
  model.part = std::make_shared<StreamPart>(std::move(part));
  return model;
}

// What multiplies the features: θ by each kernel's weight over t.
FeatureScores StreamState::feature_scores(Index scores) const {
  const Index count = map->count();
  const Index p = store->kernels();
  const auto t = static_cast<double>(std::max<Index>(1, steps()));
  Vector mirrored(at(p));
  if (ufo()) UfoMirror(options.lambda, options.alpha, p).weights(squares.values(), t, mirrored);
  const auto weight = [&](Index f, Index k) {
    return ufo() ? mirrored[at(f)] : segments.back().weights(f, k) * segments.back().scales[at(k)] / t;
  };
  FeatureScores part{*map, Matrix(p * count, scores)};
  for (Index row = 0; row < part.weights.rows(); ++row) {
    const auto of_class = [&](Index k) { return weight(row / count, k) * theta[at(k)][at(row)]; };
    if (scores == 1) part.weights(row, 0) = of_class(1) - of_class(0);
    for (Index k = 0; k < scores && scores > 1; ++k) part.weights(row, k) = of_class(k);
  }
  return part;
}

StreamPart StreamState::state_part() const {
  StreamPart part;
  part.numbers = {ufo() ? 1.0 : 0.0, options.literal ? 1.0 : 0.0};
  for (const double* number : scalars(*this)) part.numbers.push_back(*number);
  for (const Index* number : counters(*this)) part.numbers.push_back(static_cast<double>(*number));
  for (const std::uint64_t word : draws.state()) put(part.numbers, word);
  part.counts = counts_of({0, support()}, outputs());
  part.births = Matrix(support(), 1);
  for (Index j = 0; j < support(); ++j) part.births(j, 0) = static_cast<double>(births[at(j)]);
  part.squares = squares;
  part.inverse_lambda = augmentation.inverse_lambda;
  if (map) {
    part.theta = Matrix(store->kernels() * map->count(), outputs());
    for (Index k = 0; k < outputs(); ++k) std::ranges::copy(theta[at(k)], part.theta.column(k).begin());
  }
  part.segments = Matrix(std::ssize(segments), 2);
  Index rows = 0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    part.segments(static_cast<Index>(s), 0) = static_cast<double>(segments[s].first);
    part.segments(static_cast<Index>(s), 1) = static_cast<double>(segments[s].weights.cols());
    rows += segments[s].weights.cols();
  }
  part.segment_weights = Matrix(rows, store->kernels() + 1);
  Index row = 0;
  for (const Segment& segment : segments) {
    for (Index k = 0; k < segment.weights.cols(); ++k, ++row) {
      for (Index f = 0; f < store->kernels(); ++f) part.segment_weights(row, f) = segment.weights(f, k);
      part.segment_weights(row, store->kernels()) = segment.scales[at(k)];
    }
  }
  return part;
}

StreamState::StreamState(const Model& checkpoint)
    : augmentation({}, 0, static_cast<Index>(checkpoint.kernel_names.size()), false), draws(0) {
  const auto* part = find_part<StreamPart>(checkpoint);
  if (part == nullptr || !checkpoint.recipe)
    throw InvalidArgument("the model is no checkpoint of a stream; 'kloom stream' writes those");
  recipe = *checkpoint.recipe;
  classes = checkpoint.classes;
  restore_numbers(*part);
  restore_support(*part, checkpoint);
  restore_segments(*part);
  restore_map(*part);
}

void StreamState::restore_map(const StreamPart& part) {
  if (!part.features) return;
  map = part.features->map;
  options.approx = map->kind == FeatureMap::Kind::rff ? "rff" : "nystroem";
  options.features = map->count();
  const Matrix& sums = part.theta;
  require(sums.rows() == store->kernels() * map->count() && sums.cols() == outputs());
  for (Index k = 0; k < outputs(); ++k) theta.emplace_back(sums.column(k).begin(), sums.column(k).end());
}

void StreamState::restore_numbers(const StreamPart& part) {
  const auto kernels = static_cast<Index>(recipe.terms.size());
  const auto numbers = scalars(*this);
  const auto integers = counters(*this);
  require(part.numbers.size() == 2 + numbers.size() + integers.size() + 8);
  for (const double number : part.numbers) require(std::isfinite(number));
  options.method = part.numbers[0] != 0.0 ? "ufo-mkl" : "mkl-dao";
  options.literal = part.numbers[1] != 0.0;
  augmentation = Augmentation({}, outputs(), kernels, options.literal);
  std::size_t next = 2;
  for (double* number : scalars(*this)) *number = part.numbers[next++];
  for (Index* number : counters(*this)) {
    constexpr Index kMost = 9'000'000'000'000'000;  // below 2^53, so that every count is exact
    require(is_count(part.numbers[next], 0, kMost));
    *number = static_cast<Index>(part.numbers[next++]);
  }
  check_checkpoint();
  augmentation.set_original(priors_of(options));
  solvers::Draws::State words{};
  for (std::uint64_t& word : words) {
    require(part.numbers[next] >= 0.0 && part.numbers[next] < 0x1p32 && part.numbers[next + 1] >= 0.0 &&
            part.numbers[next + 1] < 0x1p32);
    word = static_cast<std::uint64_t>(part.numbers[next]) << 32 |
           static_cast<std::uint64_t>(part.numbers[next + 1]);
    next += 2;
  }
  draws = solvers::Draws(words);
}

// The rules of the options, and that the counters can be those of one stream.
void StreamState::check_checkpoint() const {
  try {
    check(options);
  } catch (const InvalidArgument&) {
    require(false);
  }
  require(samples <= lines && right <= samples && origin <= samples && penalty_samples > 0.0);
}

void StreamState::restore_support(const StreamPart& part, const Model& checkpoint) {
  const auto kernels = static_cast<Index>(recipe.terms.size());
  const Index n = part.counts.rows();
  require((n == 0 || part.counts.cols() == outputs()) && n <= checkpoint.coefficients.rows());
  require(n <= recipe.basis.features.rows() && all_finite(part.counts) && all_finite(part.squares));
  require(all_finite(part.inverse_lambda) && all_finite(part.segment_weights) && all_finite(part.theta));
  store = std::make_unique<kernels::SampleStore>(recipe.terms, recipe.basis.features.cols());
  Vector sample(at(recipe.basis.features.cols()));
  for (Index j = 0; j < n; ++j) {
    for (std::size_t d = 0; d < sample.size(); ++d) sample[d] = recipe.basis.features(j, static_cast<Index>(d));
    store->append(sample);
  }
  recipe.basis = without_samples(recipe.basis);
  for (Index k = 0; k < outputs(); ++k) {
    counts.emplace_back(at(n), 0.0);
    for (Index j = 0; j < n; ++j) counts.back()[at(j)] = part.counts(j, k);
  }
  require(part.births.rows() == n && (n == 0 || part.births.cols() == 1));
  for (Index j = 0; j < n; ++j) {
    require(is_count(part.births(j, 0), births.empty() ? 1 : births.back(), samples));
    births.push_back(static_cast<Index>(part.births(j, 0)));
  }
  squares = part.squares;
  if (ufo() || options.literal) require(squares.cols() == kernels && squares.rows() == (ufo() ? 1 : outputs()));
  require(part.inverse_lambda.rows() == outputs() && part.inverse_lambda.cols() == kernels && booked <= n);
  augmentation.inverse_lambda = part.inverse_lambda;
}

void StreamState::restore_segments(const StreamPart& part) {
  const Index kernels = store->kernels();
  const Index n = support();
  Index row = 0;
  Index before = 0;
  for (Index s = 0; s < part.segments.rows(); ++s) {
    Segment segment;
    require(part.segments.cols() == 2 && is_count(part.segments(s, 0), before, n) &&
            is_count(part.segments(s, 1), 0, outputs()));
    segment.first = before = static_cast<Index>(part.segments(s, 0));
    const auto outputs_then = static_cast<Index>(part.segments(s, 1));
    require(part.segment_weights.cols() == kernels + 1 && row + outputs_then <= part.segment_weights.rows());
    segment.weights = Matrix(kernels, outputs_then);
    for (Index k = 0; k < outputs_then; ++k, ++row) {
      for (Index f = 0; f < kernels; ++f) segment.weights(f, k) = part.segment_weights(row, f);
      segment.scales.push_back(part.segment_weights(row, kernels));
    }
    segment.kernel = kernels::family_combination(store->families(), segment.weights.view());
    segments.push_back(std::move(segment));
  }
  require(ufo() || (!segments.empty() && segments.back().weights.cols() == outputs()));
}

}  // namespace kloom::methods
