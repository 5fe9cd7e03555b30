// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/stream.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/threads.h"
#include "kloom/error.h"
#include "methods/stochastic/counted_sgd.h"
#include "methods/stream/state.h"
#include "methods/ufomkl/ufomkl.h"

namespace kloom {
namespace {

using methods::Segment;
using methods::StreamState;
using methods::Violation;

// Samples that are scored together. Blocks end at multiples of it, so that a stream that goes on from a
// checkpoint is divided like one that never stopped.
constexpr Index kBlock = 128;

std::vector<Index> numbers(Range range) {
  std::vector<Index> result(at(range.size()));
  std::iota(result.begin(), result.end(), range.begin);
  return result;
}

}  // namespace

class StreamLearner::Impl {
 public:
  Impl(StreamState state, const Context& context) : state_(std::move(state)), context_(context) {}

  std::vector<std::string> learn(const Dataset& raw);
  [[nodiscard]] const StreamState& state() const { return state_; }

 private:
  // Samples that came, with their codes; −1: no label.
  struct Block {
    std::vector<Index> places;  // in the store
    std::vector<int> codes;
    Index known = 0;  // classes that were known before the first of them
    std::vector<std::pair<Index, std::vector<double>>> violations;  // place, change of every class
    std::vector<Index> births;                                      // of each: samples learned with it
  };
  [[nodiscard]] Index part_length(const std::vector<std::string>& labels, Index begin) const;
  void learn_part(const Dataset& data, const std::vector<std::string>& labels, Range part);
  int predicted(std::span<const double> scores, Index known) const;
  void tell(Block& block, std::span<const double> g, Index i);
  Matrix segment_scores(const Block& block) const;
  void learn_counts(Block& block);
  void learn_mirror(Block& block);
  void project(std::span<const double> feature, Matrix& raw) const;
  void learn_features(Block& block, const Matrix& features);
  void learn_feature(std::span<const double> feature, const Matrix& raw, std::span<const double> change);
  void settle(const Block& block);
  void keep_budget();
  void update();
  [[nodiscard]] bool next_is_update() const { return (state_.samples + 1) % state_.options.dt_update == 0; }
  void book_norms();
  [[nodiscard]] Matrix norms();

  StreamState state_;
  Context context_;
  std::vector<std::string> answers_;
};

// Up to the end of a block, an update of the penalties, or a sample of a new class.
Index StreamLearner::Impl::part_length(const std::vector<std::string>& labels, Index begin) const {
  const bool dao = !state_.ufo();
  Index samples = state_.samples;
  Index lines = state_.lines;
  for (Index i = begin; i < std::ssize(labels); ++i) {
    const std::string& label = labels[at(i)];
    const bool fresh = !label.empty() && std::ranges::find(state_.classes, label) == state_.classes.end();
    const bool alone = dao && state_.options.literal && (samples + 1) % state_.options.dt_update == 0;
    if (i > begin && (fresh || alone)) return i - begin;
    ++lines;
    if (!label.empty()) ++samples;
    if (lines % kBlock == 0) return i + 1 - begin;
    if (dao && !label.empty() && samples % state_.options.dt_update == 0) return i + 1 - begin;
  }
  return std::ssize(labels) - begin;
}

int StreamLearner::Impl::predicted(std::span<const double> scores, Index known) const {
  if (known == 0) return -1;
  return static_cast<int>(std::max_element(scores.begin(), scores.begin() + known) - scores.begin());
}

// Predicts sample i of a block from its scores and, where the margin is violated, notes the change.
void StreamLearner::Impl::tell(Block& block, std::span<const double> g, Index i) {
  const int answer = predicted(g, i == 0 ? block.known : state_.outputs());
  answers_.push_back(answer < 0 ? "" : state_.classes[at(answer)]);
  const int code = block.codes[at(i)];
  ++state_.lines;
  if (code < 0) return;
  ++state_.samples;
  if (answer == code) ++state_.right;
  const Violation v = methods::find_class_violation(g, code);
  if (!v.happened) return;
  std::vector<double> change(at(state_.outputs()));
  change[static_cast<std::size_t>(v.truth)] = 1.0;
  change[static_cast<std::size_t>(v.near)] = -1.0;
  block.violations.emplace_back(block.places[at(i)], std::move(change));
  block.births.push_back(state_.samples);
}

// Σ over the segments' support vectors, with each segment's own kernels.
Matrix StreamLearner::Impl::segment_scores(const Block& block) const {
  const auto n = std::ssize(block.places);
  Matrix scores(n, state_.outputs());
  for (std::size_t s = 0; s < state_.segments.size(); ++s) {
    const Segment& segment = state_.segments[s];
    const Range range = state_.range_of(s);
    if (range.size() == 0) continue;
    Matrix part(n, segment.weights.cols());
    segment.kernel->add_scores(block.places, numbers(range), state_.counts_of(range, part.cols()).view(),
                               part.view());
    for (Index k = 0; k < part.cols(); ++k) {
      for (Index i = 0; i < n; ++i) scores(i, k) += segment.scales[at(k)] * part(i, k);
    }
  }
  return scores;
}

void StreamLearner::Impl::learn_counts(Block& block) {
  const auto n = std::ssize(block.places);
  const Segment& now = state_.segments.back();
  Matrix scores = segment_scores(block);
  Matrix entries(n * n, state_.outputs());
  now.kernel->add_entries(block.places, block.places, entries.view());
  Vector g(at(state_.outputs()));
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < state_.outputs(); ++k)
      g[at(k)] = state_.steps() > 0 ? scores(i, k) / static_cast<double>(state_.steps()) : 0.0;
    const std::size_t before = block.violations.size();
    tell(block, g, i);
    if (block.violations.size() == before) continue;
    for (Index k = 0; k < state_.outputs(); ++k) {
      const double step = block.violations.back().second[at(k)] * now.scales[at(k)];
      if (step == 0.0) continue;
      for (Index j = i + 1; j < n; ++j) scores(j, k) += step * entries(j + i * n, k);
    }
  }
}

void StreamLearner::Impl::learn_mirror(Block& block) {
  const auto n = std::ssize(block.places);
  const Index p = state_.store->kernels();
  const methods::UfoMirror mirror(state_.options.lambda, state_.options.alpha, p);
  const auto& families = state_.store->families();
  const std::vector<Index> support = numbers({0, state_.support()});
  Matrix raw = kernels::family_apply(families, {block.places, support, p},
                                     state_.counts_of({0, state_.support()}, state_.outputs()).view());
  Vector w(at(p));
  Vector g(at(state_.outputs()));
  for (Index i = 0; i < n; ++i) {
    if (state_.steps() > 0) mirror.weights(state_.squares.values(), static_cast<double>(state_.steps()), w);
    for (Index k = 0; k < state_.outputs(); ++k) {
      double sum = 0.0;
      for (Index f = 0; f < p; ++f) sum += w[at(f)] * raw(f * n + i, k);
      g[at(k)] = sum;
    }
    const std::size_t before = block.violations.size();
    tell(block, g, i);
    if (block.violations.size() == before) continue;
    const auto& change = block.violations.back().second;
    const std::span<const Index> later = std::span(block.places).subspan(at(i + 1));
    Vector entries(later.size() * at(p));
    if (!later.empty())
      kernels::family_entries(families, std::span(block.places).subspan(at(i), 1), later, entries.data());
    for (Index f = 0; f < p; ++f) {
      for (Index k = 0; k < state_.outputs(); ++k) {
        const double step = change[at(k)];
        if (step == 0.0) continue;
        state_.squares(0, f) += 2.0 * step * raw(f * n + i, k) + step * step * state_.store->self()[at(f)];
        for (std::size_t j = 0; j < later.size(); ++j)
          raw(f * n + i + 1 + static_cast<Index>(j), k) += step * entries[at(f) * later.size() + j];
      }
    }
  }
}

// raw_fm = θ_mfᵀφ_f(x) for the features of one sample.
void StreamLearner::Impl::project(std::span<const double> feature, Matrix& raw) const {
  const Index count = state_.map->count();
  for (Index k = 0; k < raw.cols(); ++k) {
    const double* theta = state_.theta[at(k)].data();
    for (Index f = 0; f < raw.rows(); ++f) {
      double sum = 0.0;
      for (Index r = f * count; r < (f + 1) * count; ++r) sum += theta[r] * feature[at(r)];
      raw(f, k) = sum;
    }
  }
}

// With finite features every kernel has its own sum θ_mf of the features of violating samples.
void StreamLearner::Impl::learn_features(Block& block, const Matrix& features) {
  const Index p = state_.store->kernels();
  const methods::UfoMirror mirror(state_.options.lambda, state_.options.alpha, p);
  Vector mirrored(at(p));
  Vector g(at(state_.outputs()));
  Matrix raw(p, state_.outputs());
  for (Index i = 0; i < std::ssize(block.places); ++i) {
    const std::span<const double> z = features.column(i);
    const auto t = static_cast<double>(state_.samples);
    if (state_.samples > 0) {
      if (state_.ufo()) mirror.weights(state_.squares.values(), t, mirrored);
      project(z, raw);
    }
    const Segment* now = state_.ufo() || state_.samples == 0 ? nullptr : &state_.segments.back();
    for (Index k = 0; k < state_.outputs(); ++k) {
      g[at(k)] = 0.0;
      for (Index f = 0; f < p && state_.samples > 0; ++f) {
        const double weight = now == nullptr ? mirrored[at(f)] : now->weights(f, k) * now->scales[at(k)] / t;
        g[at(k)] += raw(f, k) * weight;
      }
    }
    const std::size_t before = block.violations.size();
    tell(block, g, i);
    if (block.violations.size() > before) learn_feature(z, raw, block.violations.back().second);
  }
  if (!state_.ufo()) return;
  // From the sums themselves, so that rounding does not add up.
  const Matrix squares = state_.theta_squares();
  for (Index f = 0; f < p; ++f) {
    state_.squares(0, f) = 0.0;
    for (Index k = 0; k < state_.outputs(); ++k) state_.squares(0, f) += squares(k, f);
  }
}

void StreamLearner::Impl::learn_feature(std::span<const double> feature, const Matrix& raw,
                                        std::span<const double> change) {
  const Index count = state_.map->count();
  for (std::size_t k = 0; k < change.size(); ++k) {
    const double step = change[k];
    if (step == 0.0) continue;
    for (std::size_t r = 0; r < feature.size(); ++r) state_.theta[k][r] += step * feature[r];
    for (Index f = 0; f < raw.rows() && state_.ufo(); ++f) {
      double square = 0.0;
      for (Index r = f * count; r < (f + 1) * count; ++r) square += feature[at(r)] * feature[at(r)];
      state_.squares(0, f) += 2.0 * step * raw(f, static_cast<Index>(k)) + step * step * square;
    }
  }
}

// Violating samples become support vectors, the others are forgotten.
void StreamLearner::Impl::settle(const Block& block) {
  std::vector<Index> kept = numbers({0, state_.support()});
  for (const auto& [place, change] : block.violations) {
    kept.push_back(place);
    for (std::size_t k = 0; k < change.size(); ++k) state_.counts[k].push_back(change[k]);
  }
  state_.births.insert(state_.births.end(), block.births.begin(), block.births.end());
  state_.store->keep(kept);
  keep_budget();
}

// Drops the oldest support vectors, and with them the steps before the oldest that stays: what is left is the
// descent over the samples since then. Keeping the count of steps would shrink all scores, so that every sample
// would violate the margin and only the last samples would stay in the budget.
void StreamLearner::Impl::keep_budget() {
  const Index surplus = state_.support() - state_.options.budget;
  if (state_.options.budget == 0 || surplus <= 0) return;
  state_.store->keep(numbers({surplus, state_.support()}));
  for (Vector& of_class : state_.counts) of_class.erase(of_class.begin(), of_class.begin() + surplus);
  state_.births.erase(state_.births.begin(), state_.births.begin() + surplus);
  state_.origin = state_.births.front() - 1;
  if (!state_.ufo()) return;
  const Matrix forms = kernels::family_quadratic_forms(
      state_.store->families(), state_.counts_of({0, state_.support()}, state_.outputs()).view(),
      state_.store->kernels());
  for (Index f = 0; f < forms.rows(); ++f) {
    state_.squares(0, f) = 0.0;
    for (Index k = 0; k < forms.cols(); ++k) state_.squares(0, f) += std::max(0.0, forms(f, k));
  }
}

// literal: adds to t²‖w_mf‖² the inner products of the support vectors that came since the last call with all
// earlier ones and with each other.
void StreamLearner::Impl::book_norms() {
  const auto& families = state_.store->families();
  const Index p = state_.store->kernels();
  for (std::size_t l = 0; l < state_.segments.size(); ++l) {
    const Range range = state_.range_of(l);
    if (range.begin < state_.booked || range.size() == 0) continue;
    const Segment& segment = state_.segments[l];
    const std::vector<Index> rows = numbers(range);
    const Index outputs = segment.weights.cols();
    const Matrix c = state_.counts_of(range, outputs);
    for (std::size_t s = 0; s <= l; ++s) {
      const Range other = state_.range_of(s);
      if (other.size() == 0) continue;
      const Segment& before = state_.segments[s];
      const Index shared = std::min(outputs, before.weights.cols());
      const Matrix applied =
          kernels::family_apply(families, {rows, numbers(other), p}, state_.counts_of(other, shared).view());
      for (Index k = 0; k < shared; ++k) {
        const double scale = (s == l ? 1.0 : 2.0) * segment.scales[at(k)] * before.scales[at(k)];
        for (Index f = 0; f < p; ++f) {
          double form = 0.0;
          for (Index i = 0; i < range.size(); ++i) form += c(i, k) * applied(f * range.size() + i, k);
          state_.squares(k, f) += scale * segment.weights(f, k) * before.weights(f, k) * form;
        }
      }
    }
    state_.booked = range.end;
  }
}

Matrix StreamLearner::Impl::norms() {
  const auto t = static_cast<double>(state_.steps());
  Matrix result(state_.outputs(), state_.store->kernels());
  if (state_.options.literal) {
    book_norms();
    for (std::size_t i = 0; i < result.values().size(); ++i)
      result.values()[i] = std::sqrt(std::max(0.0, state_.squares.values()[i])) / t;
    return result;
  }
  const Segment& now = state_.segments.back();
  Matrix forms;
  if (!state_.map)
    forms = kernels::family_quadratic_forms(state_.store->families(),
                                            state_.counts_of({0, state_.support()}, state_.outputs()).view(),
                                            state_.store->kernels());
  const Matrix squares = state_.map ? state_.theta_squares() : Matrix();
  for (Index k = 0; k < result.rows(); ++k) {
    for (Index f = 0; f < result.cols(); ++f)
      result(k, f) = std::sqrt(std::max(0.0, state_.map ? squares(k, f) : forms(f, k))) * now.weights(f, k) *
                     now.scales[at(k)] / t;
  }
  return result;
}

// After a sample n with n mod dt_update = 0. The literal form has drawn its strengths before that sample.
void StreamLearner::Impl::update() {
  if (!state_.options.literal) {
    state_.augmentation.draw_strengths(state_.draws);
    state_.penalty_samples = static_cast<double>(state_.steps());
  }
  state_.augmentation.draw_auxiliaries(norms(), state_.draws);
  state_.begin_segment();
}

void StreamLearner::Impl::learn_part(const Dataset& data, const std::vector<std::string>& labels, Range part) {
  Block block;
  block.known = state_.outputs();
  const std::string& first = labels[at(part.begin)];
  if (!first.empty() && std::ranges::find(state_.classes, first) == state_.classes.end())
    state_.add_class(first);
  const bool dao = !state_.ufo();
  if (dao && state_.options.literal && !first.empty() && next_is_update()) {
    state_.augmentation.draw_strengths(state_.draws);
    state_.penalty_samples = static_cast<double>(state_.samples + 1);
    state_.begin_segment();
  }
  Vector sample(at(data.features.cols()));
  for (Index i = part.begin; i < part.end; ++i) {
    for (std::size_t d = 0; d < sample.size(); ++d) sample[d] = data.features(i, static_cast<Index>(d));
    block.places.push_back(state_.store->size());
    if (!state_.map) state_.store->append(sample);
    const std::string& label = labels[at(i)];
    block.codes.push_back(
        label.empty() ? -1
                      : static_cast<int>(std::ranges::find(state_.classes, label) - state_.classes.begin()));
  }
  const Index before = state_.samples;
  if (state_.outputs() == 0) {
    for (Index i = 0; i < part.size(); ++i) tell(block, {}, i);
  } else if (state_.map) {
    learn_features(block, features_of(*state_.map, state_.recipe.terms, data.features, part));
  } else if (dao) {
    learn_counts(block);
  } else {
    learn_mirror(block);
  }
  if (!state_.map) settle(block);
  if (dao && state_.samples > before && state_.samples % state_.options.dt_update == 0) update();
}

std::vector<std::string> StreamLearner::Impl::learn(const Dataset& raw) {
  const algebra::ThreadScope threads(context_);
  const Dataset data = state_.recipe.preprocessing.apply(raw);
  std::vector<std::string> labels = raw.labels;
  labels.resize(at(raw.samples));
  answers_.clear();
  for (Index begin = 0; begin < data.samples;) {
    const Index length = part_length(labels, begin);
    learn_part(data, labels, {begin, begin + length});
    begin += length;
  }
  return std::move(answers_);
}

StreamLearner::StreamLearner(Recipe recipe, const StreamOptions& options, const Context& context)
    : impl_(std::make_unique<Impl>(StreamState(std::move(recipe), options, context.seed), context)) {}

StreamLearner::StreamLearner(const Model& checkpoint, const Context& context)
    : impl_(std::make_unique<Impl>(StreamState(checkpoint), context)) {}

StreamLearner::~StreamLearner() = default;
StreamLearner::StreamLearner(StreamLearner&&) noexcept = default;
StreamLearner& StreamLearner::operator=(StreamLearner&&) noexcept = default;

std::vector<std::string> StreamLearner::learn(const Dataset& samples) {
  return impl_->learn(samples);
}
Index StreamLearner::samples() const {
  return impl_->state().samples;
}
Index StreamLearner::right() const {
  return impl_->state().right;
}
Index StreamLearner::support_vectors() const {
  return impl_->state().support();
}
Index StreamLearner::lines() const {
  return impl_->state().lines;
}
const std::vector<std::string>& StreamLearner::classes() const {
  return impl_->state().classes;
}
const StreamOptions& StreamLearner::options() const {
  return impl_->state().options;
}
const Recipe& StreamLearner::recipe() const {
  return impl_->state().recipe;
}
FeatureError StreamLearner::approximation_error() const {
  return impl_->state().map_error;
}
Model StreamLearner::model() const {
  return impl_->state().model();
}

}  // namespace kloom
