// SPDX-License-Identifier: BSD-3-Clause
//
// The figures of the report, each drawn from a part of its JSON. A figure whose data are not there
// is an empty string.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kloom::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string metric_figure(const Json& report);     // every split, mean and deviation by method
[[nodiscard]] std::string time_figure(const Json& report);       // training time against the metric
[[nodiscard]] std::string confusion_figure(const Json& report);  // of the first method
// Two classes: a curve per method; several: a curve per class, of the first method.
[[nodiscard]] std::string roc_figure(const Json& report);
[[nodiscard]] std::string reliability_figure(const Json& report);  // of the first method that has probabilities
[[nodiscard]] std::string residual_figure(const Json& report);     // regression
[[nodiscard]] std::string coverage_figure(const Json& report);     // regression with deviations
[[nodiscard]] std::string absence_figure(const Json& report);   // sets of views, and how many samples have each
[[nodiscard]] std::string by_views_figure(const Json& report);  // the metric by number of views
[[nodiscard]] std::string weights_figure(const Json& report);   // kernels by weight
[[nodiscard]] std::string alone_figure(
    const Json& report);  // held-out result of every kernel by itself, and its weight
[[nodiscard]] std::string groups_figure(const Json& report);  // weight by view or feature, and by function
[[nodiscard]] std::string convergence_figure(const Json& report);
[[nodiscard]] std::string embedding_figure(const Json& report);      // places of the classes
[[nodiscard]] std::string switches_figure(const Json& report);       // samples × kernels
[[nodiscard]] std::string gating_figure(const Json& report);         // weight of each kernel, sample by sample
[[nodiscard]] std::string contributions_figure(const Json& report);  // of each kernel to each sample's score
[[nodiscard]] std::string path_figure(const Json& report);           // error along the values that were tried

}  // namespace kloom::report
