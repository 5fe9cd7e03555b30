// SPDX-License-Identifier: BSD-3-Clause
//
// What happened, as plain data: status, certificate, trace, timings, memory, options, environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kloom/matrix.h"

namespace kloom {

// How a numerical method ended. Everything but `numerical_trouble` leaves a usable model.
enum class Status { converged, iteration_limit, stopped, numerical_trouble };

[[nodiscard]] std::string_view to_string(Status status);

// The referee's finding, recomputed from model, bank and targets alone.
struct Certificate {
  // proved: a duality gap within `tolerance` shows that the model is optimal; checked: everything that can be checked
  // agrees, and optimality is not shown; refuted: something disagrees.
  enum class Finding { checked, proved, refuted };
  struct Item {
    std::string name;  // "lower bound", "stationarity", "duality gap", …
    double value = 0.0;
    std::string meaning;  // what the number says, in words
    // A larger value than this refutes the model; infinite: any value may be right.
    double limit = std::numeric_limits<double>::infinity();
    // What rounding may change of the value, where that is more than 1e-6 of its size.
    double rounding = 0.0;
  };
  bool proof = false;  // true if the items prove optimality (convex methods)
  std::vector<Item> items;
  std::string verdict;  // one sentence
  Finding finding = Finding::checked;
  // Largest relative duality gap that counts as a proof; NaN where no gap could prove anything.
  double tolerance = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> refutations;  // which number, where: a sentence each
};

[[nodiscard]] std::string_view to_string(Certificate::Finding finding);

// What the training samples were predicted as, by a few sums of every column with fixed signs: a model that predicts
// them otherwise has other sums. Per column; empty where the method has no such predictions.
struct TrainingSums {
  std::vector<Vector> scores;
  std::vector<Vector> probabilities;
  std::vector<Vector> variances;  // of the scores
};

struct TracePoint {
  Index iteration = 0;
  double objective = 0.0;
  double seconds = 0.0;
};

// Named numbers of an evaluation on labelled data: accuracy, log loss, …
struct Evaluation {
  Index samples = 0;
  std::vector<std::pair<std::string, double>> values;
  std::string name;                           // "training", "test", …
  std::vector<std::string> classes;           // classification: names of the rows and columns of
  std::vector<std::vector<Index>> confusion;  // counts, [true class][predicted class]
};

struct Report {
  // Numbers that belong to one method: the path over C, counts of patterns, …
  struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<Vector> rows;
  };
  // What every training sample uses of every kernel, where that depends on the sample.
  struct SampleMap {
    enum class Kind { switches, gating };
    Kind kind = Kind::switches;
    std::string output;  // class that the score speaks for; empty where there is one score
    std::vector<std::string> kernels;
    Vector weights;                    // of the kernels, of this output
    std::vector<std::string> classes;  // regression: empty
    std::vector<int> codes;            // class of each sample
    Matrix values;                     // samples × kernels: 1 on, 0 off; or the gate's value
  };
  std::string method;
  std::string bank;  // kind of the bank used
  std::string task;
  Index samples = 0;
  Index kernels = 0;
  Status status = Status::converged;
  std::string message;  // one sentence on how it ended
  Index iterations = 0;
  double objective = 0.0;  // bound, primal objective, …
  std::string objective_name;
  // Relative duality gap as the method itself computed it; NaN where it has none.
  double gap = std::numeric_limits<double>::quiet_NaN();
  std::vector<TracePoint> trace;
  std::map<std::string, std::string> options;           // effective, by name
  std::vector<std::pair<std::string, double>> seconds;  // by stage
  std::size_t memory_bytes = 0;                         // estimate made before the run
  int threads = 0;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> environment;  // versions, processor, BLAS core
  std::vector<std::string> warnings;
  std::vector<Table> tables;
  // Of every kernel by itself on held-out samples: share of wrong classes, or mean squared error in units of the target's
  // variance. NaN: the method did not look at this one; empty: at none.
  Vector errors_alone;
  std::vector<SampleMap> maps;
  Certificate certificate;
  TrainingSums training_sums;
  std::vector<Evaluation> evaluations;  // "training", "test", …; may be empty
};

// The maps as one CSV table: sample, class, output, then a column per kernel; rows by output, class and
// pattern. Switches are "on", "off", or "idle" (off, but the kernel has no weight anyway); gates are numbers.
[[nodiscard]] std::string sample_maps_csv(const Report& report);
// For people: a few lines, most important first.
[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_text(const Certificate& certificate);
[[nodiscard]] std::string to_text(const Evaluation& evaluation);
// For programs: one JSON object, always valid UTF-8. JSON has no NaN or infinity: such numbers are null, and
// "non_finite" lists where they stood.
[[nodiscard]] std::string to_json(const Report& report);
[[nodiscard]] std::string to_json(const Certificate& certificate);
[[nodiscard]] std::string to_json(const Evaluation& evaluation);

}  // namespace kloom
