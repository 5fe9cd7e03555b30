// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "methods/margin/margin.h"

namespace kloom::methods {

WeightRule l1_rule(std::string_view algorithm) {
  return algorithm == "reduced-gradient" ? WeightRule::reduced_gradient
         : algorithm == "silp"           ? WeightRule::silp
         : algorithm == "level"          ? WeightRule::level
                                         : WeightRule::second_order;
}

namespace {

using O = MarginOptions;

const OptionTable<O>& common_options() {
  static const OptionTable<O> table = {
      {"C", &O::C, kNonNegative,
       "price of a margin violation: larger fits the training samples more closely; 0: chosen from C_grid"},
      {"C_grid", &O::C_grid, "values to choose C from by cross-validation, with warm starts"},
      {"folds", &O::folds, NumberRule{2.0}, "folds for choosing C and for probabilities"},
      {"epsilon", &O::epsilon, kNonNegative,
       "regression: errors below this are free, in standard deviations of the target", kForNumbers},
      {"tolerance", &O::tolerance, kPositive, "stop at this relative duality gap"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many updates of the kernel weights"},
      {"multiclass", &O::multiclass, one_of("one-versus-rest", "one-versus-one"),
       "how several classes become two", kForClasses},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size", kForClasses},
      {"probability", &O::probability, "fit class probabilities on held-out folds (Platt scaling)",
       kForClasses},
  };
  return table;
}

OptionTable<O> common_and(OptionTable<O> own) {
  own.insert(own.begin(), common_options().begin(), common_options().end());
  return own;
}

// Of rules for classes only.
OptionTable<O> common_of_classes_and(OptionTable<O> own) {
  OptionTable<O> table = common_and(std::move(own));
  std::erase_if(table, [](const OptionField<O>& field) { return field.suits == kForNumbers; });
  return table;
}

}  // namespace

const OptionTable<MarginOptions>& margin_option_table(MarginMethod method) {
  static const NumberRule norm_rule{1.0, false, std::numeric_limits<double>::infinity(), true};
  static const OptionField<O> mix{"mix", &O::mix, NumberRule{0.0, false, 1.0},
                                  "1 selects groups, 0 keeps all of them, between is the elastic net"};
  static const std::string together =
      "kernels that count together: none, views (or columns), all, or a name for each kernel";
  static const OptionTable<O> simple =
      common_and({{"algorithm", &O::algorithm, one_of("second-order", "reduced-gradient", "silp", "level"),
                   "reduced-gradient is SimpleMKL's own, silp and level are cutting planes; "
                   "all solve the same problem"},
                  {"groups", &O::simple_groups, together},
                  mix});
  static const OptionTable<O> best =
      common_and({{"candidates", &O::candidates, kNonNegative,
                   "kernels that are judged on held-out folds, those of least leave-one-out loss; 0: all"}});
  static const OptionTable<O> norm = common_and(
      {{"norm", &O::norm, norm_rule, "p: 1 selects few kernels, 2 spreads the weights, inf makes them equal"},
       {"groups", &O::lp_groups, together},
       mix});
  static const OptionTable<O> grouped =
      common_and({{"groups", &O::groups, together},
                  mix,
                  {"norm", &O::norm, norm_rule,
                   "p within a group: 1 selects kernels there, too, inf makes their weights equal"}});
  static const OptionTable<O> easy = common_of_classes_and(
      {{"lambda", &O::lambda, NumberRule{0.0, true, 1.0},
        "weights by the distance of the nearest samples of two classes (towards 0) or of their means (1)"}});
  static const OptionTable<O> gram = common_of_classes_and(
      {{"lambda", &O::lambda, NumberRule{0.0, true, 1.0},
        "share of the ridge: towards 0 the classes must be apart in the weighted sum of kernels"}});
  static const OptionTable<O> accuracy = common_of_classes_and(
      {{"threshold", &O::threshold, NumberRule{0.0, false, 1.0},
        "accuracy of a kernel alone that is worth nothing: weights grow with what is above it"},
       {"single_C", &O::single_C, kPositive, "C of the machines on single kernels"}});
  static const std::map<MarginMethod, const OptionTable<O>*> own = {
      {MarginMethod::single, &best},       {MarginMethod::simplemkl, &simple}, {MarginMethod::lp_mkl, &norm},
      {MarginMethod::group_mkl, &grouped}, {MarginMethod::easymkl, &easy},     {MarginMethod::gram, &gram},
      {MarginMethod::pwmk, &accuracy}};
  const auto found = own.find(method);
  return found == own.end() ? common_options() : *found->second;
}

}  // namespace kloom::methods
