// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/presence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/banks/computed_bank.h"
#include "kernels/banks/gated_bank.h"
#include "kernels/functions/functions.h"
#include "kernels/spec/sample_check.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

const View* view_called(const Dataset& prepared, const std::string& name) {
  const auto place = std::ranges::find(prepared.views, name, &View::name);
  return place == prepared.views.end() ? nullptr : &*place;
}

void refuse_without_kernels(const std::vector<KernelTerm>& terms, const Dataset& prepared, Index sample,
                            bool training) {
  std::set<std::string> needed;
  for (const KernelTerm& term : terms) needed.insert(term.views.begin(), term.views.end());
  std::vector<std::string> there;
  for (const View& view : prepared.views) {
    if (view.absent.empty() || !view.absent[at(sample)]) there.push_back(view.name);
  }
  if (there.empty())
    throw InvalidArgument(fmt::format("{} has no view at all: each of {} is empty there; leave the sample out",
                                      describe_sample(prepared, sample), fmt::join(needed, ", ")));
  if (!training) return;
  throw InvalidArgument(fmt::format(
      "{} has none of the kernels: they look at {}, and it has {} only; use kernels on single views "
      "(--kernels \"... on views\"), or fill the gaps in (--impute median)",
      describe_sample(prepared, sample), fmt::join(needed, ", "), fmt::join(there, ", ")));
}

}  // namespace

std::vector<std::string> views_of(const Target& target, KernelFunction function, const Dataset& prepared) {
  if (!target.view.empty()) return {target.view};
  const bool texts = uses_texts(function);
  std::vector<std::string> views;
  if (!texts && !uses_features(function)) return views;
  for (const View& view : prepared.views) {
    const std::set<Index> own(texts ? view.texts.begin() : view.features.begin(),
                              texts ? view.texts.end() : view.features.end());
    if (std::ranges::any_of(target.inputs, [&](Index input) { return own.contains(input); }))
      views.push_back(view.name);
  }
  return views;
}

std::optional<std::vector<Index>> samples_with_views(const Dataset& prepared,
                                                     const std::vector<std::string>& views) {
  std::vector<bool> absent;
  for (const std::string& name : views) {
    const View* view = view_called(prepared, name);
    if (view == nullptr || view->absent.empty()) continue;
    absent.resize(view->absent.size());
    for (std::size_t i = 0; i < absent.size(); ++i) absent[i] = absent[i] || view->absent[i];
  }
  if (std::ranges::find(absent, true) == absent.end()) return std::nullopt;
  std::vector<Index> present;
  for (std::size_t i = 0; i < absent.size(); ++i)
    if (!absent[i]) present.push_back(static_cast<Index>(i));
  return present;
}

Matrix presence_of(const std::vector<KernelTerm>& terms, const Dataset& prepared, bool training) {
  const auto none = [](const View& view) { return view.absent.empty(); };
  if (std::ranges::all_of(prepared.views, none)) return {};
  Matrix presence(prepared.samples, std::ssize(terms), 1.0);
  bool complete = true;
  for (Index p = 0; p < presence.cols(); ++p) {
    const auto present = samples_with_views(prepared, terms[at(p)].views);
    if (!present) continue;
    complete = false;
    std::ranges::fill(presence.column(p), 0.0);
    for (const Index i : *present) presence(i, p) = 1.0;
  }
  if (complete) return {};
  for (Index i = 0; i < presence.rows(); ++i) {
    double count = 0.0;
    for (Index p = 0; p < presence.cols(); ++p) count += presence(i, p);
    if (count == 0.0) refuse_without_kernels(terms, prepared, i, training);
  }
  return presence;
}

std::shared_ptr<const KernelBank> present_bank(const std::vector<KernelTerm>& terms,
                                               std::shared_ptr<const Dataset> rows,
                                               std::shared_ptr<const Dataset> columns, bool symmetric) {
  Presence presence{presence_of(terms, *rows, symmetric), {}};
  presence.cols = symmetric ? presence.rows : presence_of(terms, *columns, false);
  auto bank = std::make_shared<ComputedBank>(terms, std::move(rows), std::move(columns), symmetric);
  if (presence.complete()) return bank;
  for (Matrix* side : {&presence.rows, &presence.cols}) {
    if (side->empty())
      *side = Matrix(side == &presence.rows ? bank->rows() : bank->cols(), bank->kernels(), 1.0);
  }
  return std::make_shared<GatedBank>(std::move(bank), std::move(presence));
}

}  // namespace kloom::kernels
