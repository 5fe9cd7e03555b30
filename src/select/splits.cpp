// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "base/memory.h"
#include "data/folds.h"
#include "kloom/error.h"

namespace kloom {
namespace {

constexpr Index kNever = -1;  // a sample that is not tested

// Class codes for spreading: the class, one for all in other tasks, `unlabelled` where nothing is known.
std::vector<int> strata(const Targets& targets) {
  if (targets.task == Task::binary || targets.task == Task::multiclass) return targets.codes;
  std::vector<int> codes(at(targets.samples()), Targets::unlabelled);
  for (Index i = 0; i < targets.values.rows(); ++i) {
    for (Index t = 0; t < targets.values.cols(); ++t) {
      if (!std::isnan(targets.values(i, t))) codes[at(i)] = 0;
    }
  }
  return codes;
}

template <typename T>
void shuffle(std::vector<T>& items, boost::random::mt19937_64& engine) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(engine)]);
}

struct Group {
  std::vector<Index> samples;
  std::map<int, double> counts;  // by class
};

std::vector<Group> groups_of(const std::vector<int>& codes, const std::vector<std::string>& names) {
  std::map<std::string, Group> by_name;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == Targets::unlabelled) continue;
    Group& group = by_name[names[i]];
    group.samples.push_back(static_cast<Index>(i));
    group.counts[codes[i]] += 1.0;
  }
  std::vector<Group> groups;
  groups.reserve(by_name.size());
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));
  return groups;
}

// Largest groups first, each into the part whose classes it fills most evenly: `capacity` is the share of every
// class that a part should get.
std::vector<Index> assign_groups(std::vector<Group> groups, const std::vector<double>& capacity,
                                 std::size_t samples, std::uint64_t seed) {
  boost::random::mt19937_64 engine(seed);
  shuffle(groups, engine);
  std::ranges::stable_sort(groups, std::ranges::greater{}, [](const Group& g) { return g.samples.size(); });
  std::map<int, double> totals;
  for (const Group& group : groups) {
    for (const auto& [code, count] : group.counts) totals[code] += count;
  }
  std::vector<std::map<int, double>> filled(capacity.size());
  std::vector<Index> part(samples, kNever);
  for (const Group& group : groups) {
    std::size_t best = 0;
    double best_price = 0.0;
    for (std::size_t f = 0; f < capacity.size(); ++f) {
      double price = 0.0;  // rise of the sum of squares of how full the part is, per class
      for (const auto& [code, count] : group.counts) {
        const double room = capacity[f] * totals[code];
        price += (2.0 * filled[f][code] + count) * count / (room * totals[code]);
      }
      if (f == 0 || price < best_price) best = f, best_price = price;
    }
    for (const auto& [code, count] : group.counts) filled[best][code] += count;
    for (const Index i : group.samples) part[at(i)] = static_cast<Index>(best);
  }
  return part;
}

std::vector<Index> fold_of_each(const std::vector<int>& codes, const SplitRequest& request,
                                std::uint64_t seed) {
  if (!request.groups.empty()) {
    const std::vector<double> even(at(request.folds), 1.0 / static_cast<double>(request.folds));
    return assign_groups(groups_of(codes, request.groups), even, codes.size(), seed);
  }
  std::vector<int> labelled;
  for (const int code : codes) {
    if (code != Targets::unlabelled) labelled.push_back(code);
  }
  const std::vector<Index> folds = data::stratified_folds(labelled, request.folds, seed);
  std::vector<Index> all;
  all.reserve(codes.size());
  std::size_t next = 0;
  for (const int code : codes) all.push_back(code == Targets::unlabelled ? kNever : folds[next++]);
  return all;
}

// 0 for the samples that are tested.
std::vector<Index> holdout_of_each(const std::vector<int>& codes, const SplitRequest& request,
                                   std::uint64_t seed) {
  const double share = request.test_share;
  if (!request.groups.empty())
    return assign_groups(groups_of(codes, request.groups), {share, 1.0 - share}, codes.size(), seed);
  boost::random::mt19937_64 engine(seed);
  std::map<int, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] != Targets::unlabelled) classes[codes[i]].push_back(i);
  }
  std::vector<Index> part(codes.size(), kNever);
  double owed = 0.0;  // carried from class to class, so that the whole has the share that was asked for
  for (auto& [code, members] : classes) {
    shuffle(members, engine);
    owed += share * static_cast<double>(members.size());
    const auto take = std::min(members.size(), static_cast<std::size_t>(std::llround(std::max(0.0, owed))));
    owed -= static_cast<double>(take);
    for (std::size_t k = 0; k < take; ++k) part[members[k]] = 0;
  }
  return part;
}

Split split_at(const std::vector<Index>& part, Index tested, Index repeat) {
  Split split{repeat, tested, {}, {}};
  for (std::size_t i = 0; i < part.size(); ++i)
    (part[i] == tested ? split.test : split.train).push_back(static_cast<Index>(i));
  return split;
}

std::vector<Split> given_splits(const std::vector<int>& codes, const SplitRequest& request) {
  if (request.given.size() != codes.size())
    throw InvalidArgument(fmt::format("{} given parts for {} samples", request.given.size(), codes.size()));
  std::map<std::string, Index> parts;
  for (const std::string& name : request.given) {
    if (name.empty() || name == "train") continue;
    parts.emplace(name, 0);
  }
  if (parts.empty())
    throw InvalidArgument("the given split names no part to test: use numbers of folds, or 'train' and 'test'");
  Index next = 0;
  for (auto& [name, number] : parts) number = next++;
  std::vector<Index> part;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto place = parts.find(request.given[i]);
    part.push_back(place == parts.end() || codes[i] == Targets::unlabelled ? kNever : place->second);
  }
  std::vector<Split> splits;
  for (const auto& [name, number] : parts) {
    splits.push_back(split_at(part, number, 0));
    if (splits.back().train.empty() || splits.back().test.empty()) {
      throw InvalidArgument(fmt::format("part '{}' of the given split leaves no labelled sample to {}", name,
                                        splits.back().train.empty() ? "learn from" : "test"));
    }
  }
  return splits;
}

void check(const std::vector<int>& codes, const SplitRequest& request) {
  const auto labelled = std::ranges::count_if(codes, [](int code) { return code != Targets::unlabelled; });
  if (request.repeats < 1)
    throw InvalidArgument(fmt::format("repeats must be at least 1, got {}", request.repeats));
  if (!request.groups.empty() && request.groups.size() != codes.size())
    throw InvalidArgument(fmt::format("{} groups for {} samples", request.groups.size(), codes.size()));
  const auto units =
      request.groups.empty() ? static_cast<Index>(labelled) : std::ssize(groups_of(codes, request.groups));
  const char* noun = request.groups.empty() ? "labelled samples" : "groups";
  if (request.kind == SplitRequest::Kind::folds && (request.folds < 2 || request.folds > units)) {
    throw InvalidArgument(
        fmt::format("folds must be from 2 to the number of {}, {}; got {}", noun, units, request.folds));
  }
  const double tested = request.test_share * static_cast<double>(labelled);
  if (request.kind == SplitRequest::Kind::holdout &&
      !(request.test_share > 0.0 && request.test_share < 1.0 && units >= 2 && tested >= 0.5 &&
        tested <= static_cast<double>(labelled) - 0.5)) {
    throw InvalidArgument(
        fmt::format("the share that is held out must lie between 0 and 1 "
                    "and leave something on both sides of {} {}; got {}",
                    units, noun, request.test_share));
  }
}

// Every split lists every sample once.
void require_room(std::size_t samples, const SplitRequest& request, const Context& context) {
  const double splits = static_cast<double>(request.repeats) *
                        (request.kind == SplitRequest::Kind::folds ? static_cast<double>(request.folds) : 1.0);
  const double each = static_cast<double>(samples * sizeof(Index) + sizeof(Split));
  constexpr double kMost = 1e18;  // what a size_t holds for sure
  base::require_memory(static_cast<std::size_t>(std::min(kMost, splits * each)), context,
                       fmt::format("a list of {:.0f} splits of {} samples", splits, samples),
                       "ask for fewer repeats (--repeats)");
}

}  // namespace

std::vector<Split> make_splits(const Targets& targets, const SplitRequest& request, std::uint64_t seed) {
  Context context;
  context.seed = seed;
  return make_splits(targets, request, context);
}

std::vector<Split> make_splits(const Targets& targets, const SplitRequest& request, const Context& context) {
  const std::uint64_t seed = context.seed;
  const std::vector<int> codes = strata(targets);
  if (request.kind == SplitRequest::Kind::given) return given_splits(codes, request);
  check(codes, request);
  require_room(codes.size(), request, context);
  const bool folds = request.kind == SplitRequest::Kind::folds;
  std::vector<Split> splits;
  for (Index repeat = 0; repeat < request.repeats; ++repeat) {
    // Seeds of repeats lie far apart, so that seed 2 is not the second repeat of seed 1.
    const std::uint64_t repeat_seed = seed + static_cast<std::uint64_t>(repeat) * 0x9E3779B97F4A7C15ULL;
    const std::vector<Index> part =
        folds ? fold_of_each(codes, request, repeat_seed) : holdout_of_each(codes, request, repeat_seed);
    for (Index fold = 0; fold < (folds ? request.folds : 1); ++fold) {
      splits.push_back(split_at(part, fold, repeat));
      if (splits.back().test.empty() || splits.back().train.empty())
        throw InvalidArgument("the groups are too large to be divided that way; ask for fewer folds");
    }
  }
  return splits;
}

}  // namespace kloom
