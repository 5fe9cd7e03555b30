// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/progress.h"
#include "kernels/functions/functions.h"
#include "kernels/spec/sample_check.h"
#include "kernels/spec/spec.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr std::size_t kNamesShown = 10;

// "a, b, c, … (40 in all)"
std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  const std::size_t shown = std::min(names.size(), kNamesShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<Index>(shown), ", "));
  if (shown < names.size()) text += fmt::format(", … ({} in all)", names.size());
  return text;
}

template <class Items, class NameOf>
std::vector<std::string> names(const Items& items, NameOf name_of) {
  std::vector<std::string> result;
  result.reserve(items.size());
  for (const auto& item : items) result.push_back(name_of(item));
  return result;
}

std::vector<std::string> view_names(const Dataset& data) {
  return names(data.views, [](const View& v) { return v.name; });
}
std::vector<std::string> text_names(const Dataset& data) {
  return names(data.texts, [](const TextColumn& t) { return t.feature.name; });
}

Index columns_of(const ScopeRequest& request, const Dataset& data) {
  return request.columns < 0 ? data.features.cols() : request.columns;
}

std::vector<Index> features_where(const Dataset& data, Index columns, const auto& matches) {
  std::vector<Index> result;
  for (Index f = 0; f < columns; ++f)
    if (matches(data.feature_info[static_cast<std::size_t>(f)])) result.push_back(f);
  return result;
}

[[noreturn]] void fail_unknown_column(const Dataset& data, const std::string& name) {
  const auto views = view_names(data);
  if (std::find(views.begin(), views.end(), name) != views.end())
    throw InvalidArgument(
        fmt::format("kernel spec: '{}' is a view, not a column; write 'view {}'", name, quoted_name(name)));
  const auto texts = text_names(data);
  if (std::find(texts.begin(), texts.end(), name) != texts.end())
    throw InvalidArgument(
        fmt::format("kernel spec: column '{}' holds text; use words or spectrum(k=3) on {}, or code it with "
                    "--categorical onehot",
                    name, quoted_name(name)));
  throw InvalidArgument(fmt::format("kernel spec: there is no column '{}'; the columns are {}", name,
                                    listed(names(data.feature_info, [](const Feature& f) { return f.name; }))));
}

// A column by its header, by view.header, or all the one-hot columns of a coded text column.
std::vector<Index> find_column(const Dataset& data, Index columns, const std::string& name) {
  auto found = features_where(data, columns, [&](const Feature& f) { return f.name == name; });
  if (found.size() > 1) {
    std::vector<std::string> choices;
    choices.reserve(found.size());
    for (const Index f : found) choices.push_back(feature_label(data, f));
    throw InvalidArgument(
        fmt::format("kernel spec: column '{}' is in several views; write one of {}", name, listed(choices)));
  }
  if (found.empty())
    found = features_where(data, columns, [&](const Feature& f) { return f.view + "." + f.name == name; });
  if (found.empty())
    found = features_where(data, columns, [&](const Feature& f) { return f.name.starts_with(name + "="); });
  if (found.empty()) fail_unknown_column(data, name);
  return found;
}

Target view_target(const View& view) {
  if (view.features.empty()) throw InvalidArgument(fmt::format("view '{}' has no numeric features", view.name));
  return {view.features, "view " + quoted_name(view.name), view.name, view.name};
}

Target named_view(const Dataset& data, const std::string& name) {
  for (const View& view : data.views)
    if (view.name == name) return view_target(view);
  throw InvalidArgument(
      fmt::format("kernel spec: there is no view '{}'; the views are {}", name, listed(view_names(data))));
}

bool is_constant(const ScopeRequest& request, Index feature) {
  const auto f = static_cast<std::size_t>(feature);
  return request.constant != nullptr && f < request.constant->size() && (*request.constant)[f];
}

std::vector<Target> each_feature(const ScopeRequest& request, const Dataset& data) {
  std::vector<Target> result;
  for (Index f = 0; f < columns_of(request, data); ++f) {
    if (is_constant(request, f)) continue;
    const std::string label = feature_label(data, f);
    result.push_back({{f}, quoted_name(label), label});
  }
  if (result.empty())
    throw InvalidArgument("kernel spec: 'each' finds no feature that varies over the training samples");
  return result;
}

std::vector<Target> named_columns(const Scope& scope, const ScopeRequest& request, const Dataset& data,
                                  const Context& context) {
  Target target;
  for (const std::string& name : scope.names)
    for (const Index f : find_column(data, columns_of(request, data), name))
      if (std::find(target.inputs.begin(), target.inputs.end(), f) == target.inputs.end())
        target.inputs.push_back(f);
  target.label = to_string(scope);
  target.group = fmt::format("{}", fmt::join(scope.names, " + "));
  const bool varies = std::any_of(target.inputs.begin(), target.inputs.end(),
                                  [&](Index f) { return !is_constant(request, f); });
  if (varies) return {target};
  log(context, LogLevel::warning,
      fmt::format("'{}' is constant over the training samples and gets no kernel", target.group));
  return {};
}

std::vector<Target> feature_targets(const Scope& scope, const ScopeRequest& request, const Dataset& data,
                                    const Context& context) {
  if (data.features.cols() == 0)
    throw InvalidArgument(fmt::format("kernel spec: {} needs numeric features, but the data have none",
                                      kloom::to_string(request.function)));
  ScopeKind kind = scope.kind;
  if (kind == ScopeKind::automatic) kind = data.views.empty() ? ScopeKind::all : ScopeKind::views;
  switch (kind) {
    case ScopeKind::each:
      return each_feature(request, data);
    case ScopeKind::views: {
      if (data.views.empty())
        throw InvalidArgument("kernel spec: 'on views', but no views were declared (--view)");
      std::vector<Target> result;
      for (const View& view : data.views)
        if (!view.features.empty() || view.texts.empty()) result.push_back(view_target(view));
      return result;
    }
    case ScopeKind::view:
      return {named_view(data, scope.names.front())};
    case ScopeKind::columns:
      return named_columns(scope, request, data, context);
    default: {
      Target all{std::vector<Index>(static_cast<std::size_t>(columns_of(request, data))), "all", "all"};
      std::iota(all.inputs.begin(), all.inputs.end(), Index{0});
      return {all};
    }
  }
}

// Inputs that have only a name: text columns and given matrices.
struct NamedInputs {
  std::vector<std::string> names;
  std::string one;   // "text column"
  std::string hint;  // what brings such inputs about
};

NamedInputs inputs_of(KernelFunction function, const Dataset& data) {
  const auto matrix_name = [](const PrecomputedMatrix& m) { return m.name; };
  if (uses_texts(function))
    return {text_names(data), "text column", "columns of digits are kept as text with --text"};
  if (function == KernelFunction::precomputed)
    return {names(data.kernels, matrix_name), "kernel file", "--kernel-file"};
  return {names(data.distances, matrix_name), "distance file", "--distance-file"};
}

std::vector<Target> named_targets(const Scope& scope, const ScopeRequest& request, const Dataset& data) {
  const NamedInputs inputs = inputs_of(request.function, data);
  const std::string function(kloom::to_string(request.function));
  if (inputs.names.empty())
    throw InvalidArgument(fmt::format("kernel spec: {} needs a {}, but the data have none ({})", function,
                                      inputs.one, inputs.hint));
  if (scope.kind == ScopeKind::views || scope.kind == ScopeKind::view)
    throw InvalidArgument(fmt::format("kernel spec: {} looks at a {}, not at views; the choices are {}",
                                      function, inputs.one, listed(inputs.names)));
  std::vector<std::string> wanted = scope.names;
  if (scope.kind != ScopeKind::columns) {
    // Two texts rarely mean the same, so several of them have to be asked for.
    if (uses_texts(request.function) && scope.kind != ScopeKind::each && inputs.names.size() > 1)
      throw InvalidArgument(
          fmt::format("kernel spec: there are several text columns ({}); write {} on NAME, or on each",
                      listed(inputs.names), function));
    wanted = inputs.names;
  } else if (wanted.size() > 1) {
    throw InvalidArgument(fmt::format("kernel spec: {} looks at one {} at a time; separate '{}' by commas",
                                      function, inputs.one, fmt::join(wanted, " + ")));
  }
  std::vector<Target> result;
  for (const std::string& name : wanted) {
    const auto place = std::find(inputs.names.begin(), inputs.names.end(), name);
    if (place == inputs.names.end())
      throw InvalidArgument(fmt::format("kernel spec: there is no {} '{}'; the choices are {} ({})", inputs.one,
                                        name, listed(inputs.names), inputs.hint));
    result.push_back({{place - inputs.names.begin()}, quoted_name(name), name});
  }
  return result;
}

}  // namespace

std::vector<Target> targets_of(const Scope& scope, const ScopeRequest& request, const Dataset& train,
                               const Context& context) {
  return uses_features(request.function) ? feature_targets(scope, request, train, context)
                                         : named_targets(scope, request, train);
}

}  // namespace kloom::kernels
