// SPDX-License-Identifier: BSD-3-Clause
//
// Samples as they come from files or from a program, before any kernel.
//
// A Dataset holds N samples described by any mixture of
//   * numeric features (an N × D matrix) grouped into named views,
//   * text columns (sequences for string kernels, categories for one-hot coding),
//   * precomputed kernel or distance matrices against a fixed set of training samples,
// and, where the file had them, sample ids and the target column as it was written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom {

struct Feature {
  std::string name;  // the column's header
  std::string view;  // the file-view it was read from; empty for a single table
  friend bool operator==(const Feature&, const Feature&) = default;
};

// A named group of features; groups may overlap.
struct View {
  std::string name;
  std::vector<Index> features;    // columns of Dataset::features
  std::vector<Index> texts = {};  // columns of Dataset::texts
};

struct TextColumn {
  Feature feature;
  std::vector<std::string> values;  // one per sample
};

// A precomputed kernel (or distance): rows are this data set's samples, columns the training samples.
// Both are N × N where the data set is itself the training set.
struct PrecomputedMatrix {
  std::string name;
  Matrix values;
};

struct Dataset {
  static constexpr char separator = '\x1f';  // ASCII "unit separator"; no cell of a table holds it

  std::string source;  // file names, for messages
  Index samples = 0;
  std::vector<std::string> ids;       // empty, or one per sample
  std::vector<Index> lines;           // line of each sample in its file, for messages; may be empty
  std::vector<Feature> feature_info;  // one per column of `features`
  Matrix features;                    // N × D; a missing value is NaN until Preprocessing deals with it
  bool absent_is_zero = false;        // svmlight: a feature that the file never mentions is 0, not missing
  std::vector<View> views;            // empty: no views were declared
  std::vector<TextColumn> texts;
  std::vector<PrecomputedMatrix> kernels;
  std::vector<PrecomputedMatrix> distances;
  std::string target_name;          // empty if no target column was found; several: separated by commas
  std::vector<std::string> labels;  // as written; "" where the cell was empty (unlabelled); several targets:
                                    // one cell each, separated by Dataset::separator
  std::vector<double> weights;      // sample weights; empty: all 1
  std::vector<std::string> notes;   // what was decided on reading ("took column 'y' as the target")
};

// A view on the command line: `name=path` or `name=column,column,L1.*`.
struct ViewRequest {
  std::string name;
  std::string path;                  // a file of its own, or
  std::vector<std::string> columns;  // column names or globs of the main file
};

enum class Impute { refuse, mean, median };  // what to do with missing numeric values

// Everything that decides how files become a Dataset.
struct DatasetRequest {
  std::string path;  // main table; may be empty if views or kernels are given
  std::vector<ViewRequest> views;
  bool views_by_prefix = false;           // headers of the form view.column
  std::vector<std::string> kernel_files;  // one matrix or one stack (n × n × m) each
  std::vector<std::string> distance_files;
  std::string target;               // empty: a single column called label, target, class or y; several
                                    // columns of numbers or of 0/1 labels: separated by commas
  bool target_required = true;      // false in predict
  std::string id;                   // id column; empty: "id" or "sample" if there is one
  std::string weight;               // sample weight column; empty: none
  bool inner_join = false;          // keep only ids present in every view
  std::vector<std::string> ignore;  // columns that are not features
  std::vector<std::string> text;    // columns to keep as text even if they look numeric
};

// Reads CSV, TSV, svmlight, NPY/NPZ and MAT, by file name (".gz" is unpacked).
// Throws InvalidArgument (content) or FileError (cannot be read), naming file, line, column and value.
[[nodiscard]] Dataset load_dataset(const DatasetRequest& request, const Context& context);

// The samples `rows` of `data`, in that order (precomputed matrices keep all their columns).
[[nodiscard]] Dataset select_samples(const Dataset& data, const std::vector<Index>& rows);

// How raw columns become the features that kernels see; fitted on training data, kept in the model.
//
// Standardisation subtracts the training mean and divides by the sample standard deviation. A feature
// that is constant in training becomes 0 and gets no kernel of its own. Text columns are either coded
// one-hot (one 0/1 feature per category seen in training) or kept for string kernels.
struct PreprocessingOptions {
  bool standardise = true;
  Impute impute = Impute::refuse;
  bool onehot = false;
  std::vector<std::string> keep_text;  // text columns that string kernels use
};

class Preprocessing {
 public:
  struct Column {
    Feature feature;       // name after coding: "colour" or "colour=red"
    std::string category;  // for a one-hot column: the category, else empty
    bool onehot = false;
    double centre = 0.0;
    double scale = 1.0;  // 0 marks a feature that is constant in training
    double fill = 0.0;   // what replaces a missing value, where `impute` is on
    friend bool operator==(const Column&, const Column&) = default;
  };

  Preprocessing() = default;
  // Throws InvalidArgument naming column, line and value for text columns without onehot and for
  // missing values without impute.
  static Preprocessing fit(const Dataset& train, const PreprocessingOptions& options);
  static Preprocessing from_parts(PreprocessingOptions options, std::vector<Column> columns,
                                  std::vector<Feature> text_columns, std::vector<View> views);

  // Matches columns by exact name, whatever their order; unknown columns are ignored, a missing one is an
  // error. Returns standardised features, in the order of training, and the training views.
  [[nodiscard]] Dataset apply(const Dataset& data) const;

  [[nodiscard]] const PreprocessingOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Feature>& text_columns() const { return text_columns_; }
  [[nodiscard]] const std::vector<View>& views() const { return views_; }
  [[nodiscard]] bool constant(Index feature) const {
    return columns_[static_cast<std::size_t>(feature)].scale == 0.0;
  }

 private:
  PreprocessingOptions options_;
  std::vector<Column> columns_;
  std::vector<Feature> text_columns_;
  std::vector<View> views_;  // feature indices refer to columns_
};

}  // namespace kloom
