// SPDX-License-Identifier: BSD-3-Clause
//
// From a sentence about kernels to concrete kernel functions fitted on training data.
//
//   rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on views; spectrum(k=3) on sequence
//
// `parse_kernel_spec` turns the text into families, `resolve_kernels` turns the families into one
// KernelTerm per kernel, with every automatic width and every normalisation constant settled on the
// training samples. Terms are plain data and are what a model file keeps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/matrix.h"
#include "kloom/targets.h"

namespace kloom {

enum class KernelFunction {
  rbf,           // exp(-gamma * |x-z|^2); width s means gamma = 1/(2 s^2)
  polynomial,    // (x.z + 1)^degree
  linear,        // x.z
  cosine,        // x.z / (|x||z|); 0 against a zero vector, 1 of a zero vector with itself
  laplacian,     // exp(-gamma * |x-z|_1)
  chi2,          // exp(-gamma * sum (x-z)^2/(x+z)), features must not be negative
  intersection,  // sum min(x, z), features must not be negative
  spectrum,      // inner product of k-mer counts of two texts, exact or with mismatches or gaps
  precomputed,   // given matrix
  expdist,       // exp(-gamma * d / s), d a given distance, s its mean over training pairs
  overlap,       // share of the categorical columns in which x and z agree
  words,         // cosine of the tf-idf vectors of the words of two texts
  trees,         // share of the boosted trees, grown on labelled samples, in which x and z reach the same leaf
  edit           // exp(-gamma * mean of (d(x,t) - d(z,t))^2 over training texts t), d the edit distance
};

// How a kernel is rescaled. All constants are fitted on the training kernel.
//
//   unit_diagonal  k(x,z)/sqrt(k(x,x) k(z,z)); a zero vector has k(x,x) := 1, so its row is 0 and its diagonal 1
//   unit_trace     divided by the trace of the training kernel, so that the trace is 1
//   unit_variance  divided by trace/N - mean of all entries, the mean squared distance from the mean
//   centre         centred in feature space by training means
enum class Normalisation { none, unit_diagonal, unit_trace, unit_variance, centre };

enum class ScopeKind { automatic, all, each, views, view, columns };

struct Scope {
  ScopeKind kind = ScopeKind::automatic;  // automatic: each view if there are views, else all features
  std::vector<std::string> names;         // view name, or column names
  friend bool operator==(const Scope&, const Scope&) = default;
};

struct KernelFamily {
  KernelFunction function = KernelFunction::rbf;
  std::string parameter;       // "width", "gamma", "degree", "k", "leaves" or empty
  std::vector<double> values;  // all the values of that parameter; with `automatic`: multiples of the median
  bool automatic = false;      // rbf(auto), rbf(auto, count=5): quantiles of the training distances;
                               // rbf(auto=0.5,1,2): that many times their median
  Index automatic_count = 0;   // 0: the default number
  bool has_normalisation = false;  // else the spec-wide default applies
  Normalisation normalisation = Normalisation::none;
  Transform transform = Transform::standardised;  // scale=raw and so on: how the kernels see their columns
  // Trees: 0, or so many folds of the labelled samples. Trees then grow on all of these, and for whoever holds out a fold
  // there is a kernel for each, of trees that grew without it.
  Index folds = 0;
  // Spectrum: places in which a substring may differ, or letters that are left out of a window; one of them at most.
  Index mismatches = 0;
  Index gaps = 0;
  std::vector<Scope> scopes;
  friend bool operator==(const KernelFamily&, const KernelFamily&) = default;
};

struct KernelSpec {
  std::vector<KernelFamily> families;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

// Throws InvalidArgument with the position in the text, what was found, and what would be accepted.
[[nodiscard]] KernelSpec parse_kernel_spec(std::string_view text);
// Canonical text; parse_kernel_spec(to_string(s)) == s.
[[nodiscard]] std::string to_string(const KernelSpec& spec);
// "a..b" ranges as in the kernel spec: 1..3, 2^-3..2^6, 1e-1..1e4, or a list a,b,c; count < 0: not given.
[[nodiscard]] std::vector<double> parse_range(std::string_view text, Index count, double step);
[[nodiscard]] std::string_view to_string(KernelFunction function);
// The kernel looks at a text column.
[[nodiscard]] bool uses_texts(KernelFunction function);
[[nodiscard]] std::string_view to_string(Normalisation normalisation);
[[nodiscard]] Normalisation parse_normalisation(std::string_view text);
// "standardised", "raw", "ranks", "tfidf", "codes", "relevance".
[[nodiscard]] std::string_view to_string(Transform transform);

// Questions "is this feature at most that?", nodes in one list. The first is the root; children come after their parent.
struct DecisionTree {
  std::vector<Index> features;  // of the kernel's features, the one that a node asks about; -1: a leaf
  Vector thresholds;            // at most this: on to the first child, else to the one behind it
  std::vector<Index> children;  // the first child; 0 of a leaf
  friend bool operator==(const DecisionTree&, const DecisionTree&) = default;
};

// One concrete kernel with its fitted constants.
struct KernelTerm {
  std::string name;  // "rbf(width=2) on age"
  KernelFunction function = KernelFunction::rbf;
  double parameter = 0.0;               // gamma, degree, k or leaves
  std::vector<Index> features;          // feature columns, or the one text / matrix index
  std::string group;                    // view or feature that it looks at, for reports
  std::vector<std::string> views = {};  // a sample that lacks one of these lacks this kernel
  Normalisation normalisation = Normalisation::none;
  double distance_scale = 1.0;      // expdist: s
  double scale = 1.0;               // multiplies the kernel (unit_trace, unit_variance)
  Vector centre_means;              // centre: mean of each training column
  double centre_mean = 0.0;         // centre: mean of those
  std::vector<DecisionTree> trees;  // of a kernel of trees
  Index mismatches = 0;             // spectrum: as in the family
  Index gaps = 0;
  bool tfidf = false;  // spectrum: a count c becomes (1 + ln c) times the inverse document frequency
  friend bool operator==(const KernelTerm&, const KernelTerm&) = default;
};

struct ResolveOptions {
  Normalisation normalisation = Normalisation::unit_diagonal;  // where a family says nothing
  bool clip_spectrum = false;  // make an indefinite precomputed kernel PSD by dropping its negative part
  std::vector<bool> constant;  // per feature: constant in training, so `each` skips it; may be empty
  Index columns = -1;          // scopes mean the first so many features; -1: all of them
  // The features behind those are the same ones seen in another way: (how, which) to where.
  std::map<std::pair<Transform, Index>, Index> transformed;
  const Targets* targets = nullptr;  // of the training samples, for kernels of trees
};

// `train` is preprocessed training data. Throws InvalidArgument for unknown views or columns, negative
// features under chi2 and intersection, a precomputed kernel that is not square, symmetric, finite or
// (unless clipped) positive semidefinite; the message names kernel, entry and remedy.
[[nodiscard]] std::vector<KernelTerm> resolve_kernels(const KernelSpec& spec, Dataset& train,
                                                      const ResolveOptions& options, const Context& context);

// Kernels that suit the data when the user named none, and why, a sentence per family of columns.
struct KernelAdvice {
  KernelSpec spec;
  std::vector<std::string> reasons;
};
// `raw` is training data, `preprocessing` and `decisions` are fitted on it. Throws InvalidArgument where there
// is nothing that varies. Kernels that are learned from targets are advised only where these are given, and trees only
// for methods that spare teachers (Learner::spares_teachers).
[[nodiscard]] KernelAdvice advise_kernels(const Dataset& raw, const Preprocessing& preprocessing,
                                          const std::vector<ColumnDecision>& decisions,
                                          const Targets* targets = nullptr, bool spares_teachers = false);
// The same for raw data that no decision was made about yet.
[[nodiscard]] KernelSpec default_kernel_spec(const Dataset& train, const Targets* targets = nullptr,
                                             bool spares_teachers = false);

}  // namespace kloom
