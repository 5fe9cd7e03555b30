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
#include <string_view>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"
#include "kloom/shared_matrix.h"

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
  // Of prepared samples: those that have nothing in this view (Preprocessing::apply says which). Empty: none.
  std::vector<bool> absent = {};
};

struct TextColumn {
  Feature feature;
  std::vector<std::string> values;  // one per sample
};

// A precomputed kernel (or distance): rows are this data set's samples, columns the training samples.
// Both are N × N where the data set is itself the training set. Copies, and banks that need no other numbers, share them.
struct PrecomputedMatrix {
  std::string name;
  SharedMatrix values;
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
  std::size_t reading_bytes = 0;    // the most memory that reading the files took at once; 0: no file was read
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
  bool no_views = false;                  // do not look for such headers unasked
  std::vector<std::string> kernel_files;  // one matrix or one stack (n × n × m) each
  std::vector<std::string> distance_files;
  std::string target;               // empty: a single column called label, target, class or y; several
                                    // columns of numbers or of 0/1 labels: separated by commas
  bool target_required = true;      // false in predict
  std::string id;                   // id column; empty: "id" or "sample" if there is one
  std::string weight;               // sample weight column; empty: none
  bool inner_join = false;          // keep only ids present in every view
  bool outer_join = false;          // keep ids present in some view; what the others lack is missing
  std::vector<std::string> ignore;  // columns that are not features
  std::vector<std::string> text;    // columns to keep as text even if they look numeric
};

// Reads CSV, TSV, svmlight, NPY/NPZ and MAT, by file name (".gz" is unpacked).
// Throws InvalidArgument (content) or FileError (cannot be read), naming file, line, column and value.
[[nodiscard]] Dataset load_dataset(const DatasetRequest& request, const Context& context);

// A column that a program has in memory, such as one of a DataFrame: numbers with NaN where there is no value, or texts as
// a file would have them.
struct TableColumn {
  std::string name;
  Vector numbers;
  std::vector<std::string> texts;  // where not empty, `numbers` is
};
// The data set that a file of these columns would give: texts that are all numbers or gaps become numbers, a column called
// `id` or `sample` the ids (unless the request is one of prediction), and views are found by the beginnings of names. The
// request's `text`, `views` of columns, `no_views` and `target_required` are looked at. Throws InvalidArgument where two
// columns have the same name.
[[nodiscard]] Dataset dataset_from_columns(std::vector<TableColumn> columns, Index rows,
                                           const DatasetRequest& request);

// Bytes of memory that the samples take; matrices that are given are counted apart.
[[nodiscard]] std::size_t sample_bytes(const Dataset& data);
[[nodiscard]] std::size_t matrix_bytes(const Dataset& data);

// The samples `rows` of `data`, in that order (precomputed matrices keep all their columns).
[[nodiscard]] Dataset select_samples(const Dataset& data, const std::vector<Index>& rows);
// The same, with the columns `columns` of precomputed matrices alone.
[[nodiscard]] Dataset select_samples(const Dataset& data, const std::vector<Index>& rows,
                                     const std::vector<Index>& columns);

// What a column of the data is taken for. Decided on training data only.
enum class ColumnKind {
  number,      // numbers, also 0/1 and numbers with few distinct values
  category,    // text with few distinct values
  sentences,   // text of several words that recur from row to row
  sequence,    // long text without blanks: DNA, SMILES and their like
  date,        // text that is a day or a time
  identifier,  // counts the rows, or is called an id and differs from row to row
  name,        // text with nearly one value per row that is none of the above
  constant,    // the same value in every training sample
  empty        // no value in any training sample
};
[[nodiscard]] std::string_view to_string(ColumnKind kind);

// What was decided about one column, for people: one line of a table.
struct ColumnDecision {
  Feature feature;
  ColumnKind kind = ColumnKind::number;
  bool used = true;
  Index missing = 0;      // training samples without a value
  std::string treatment;  // "number", "one-hot, 3 values", "dropped", ...
  std::string reason;     // why; may be empty for an ordinary number
  friend bool operator==(const ColumnDecision&, const ColumnDecision&) = default;
};
// The same in a few lines, grouped by what was decided.
[[nodiscard]] std::vector<std::string> summarise(const std::vector<ColumnDecision>& decisions);

// How a kernel sees a column.
enum class Transform {
  standardised,  // as preprocessing leaves it: mean 0 and deviation 1 unless that was turned off
  raw,           // as in the file, missing values filled in
  ranks,         // normal scores of the ranks among the training values
  tfidf,         // raw times ln((1 + n)/(1 + samples in which it is not 0)) + 1
  codes,         // of a category: its number in training, 0 where missing, -1 where training never saw it
  relevance      // standardised, times how much the target depends on the column, which some samples taught
};

// How raw columns become the features that kernels see; fitted on training data, kept in the model.
//
// Standardisation subtracts the training mean and divides by the sample standard deviation. A feature
// that is constant in training becomes 0 and gets no kernel of its own. What text columns are is decided
// from their training values (docs/guide/columns.md has the rules): categories are coded one-hot (one 0/1
// feature per category seen in training), sentences and sequences are kept for kernels of texts, dates, ids
// and names are dropped.
struct PreprocessingOptions {
  bool standardise = true;
  Impute impute = Impute::median;
  bool indicate = true;      // a 0/1 feature that marks where values were missing in training
  bool decide = true;        // decide what text columns are; false: `onehot` says it for all of them
  bool absent_views = true;  // a sample without a value in a whole view lacks the view: nothing is filled in
  bool drop_ids = true;      // drop columns of numbers that count rows or are called an id
  bool onehot = false;       // without `decide`: code every text column, or refuse it
  std::vector<std::string> keep_text;   // text columns that string kernels use
  std::vector<std::string> keep;        // columns that must not be dropped
  std::vector<std::string> categories;  // text columns that are categories whatever they look like
};

// How a column of text writes its numbers: 1,234.5 or 1.234,5, 12 kg, $7. Without a mark of thousands, a single comma is a
// decimal one.
struct NumberFormat {
  char thousands = 0;  // ',' or '.'; 0: none
  std::string unit;    // before or after every number
  friend bool operator==(const NumberFormat&, const NumberFormat&) = default;
};

// Columns of one view as they come from files. A sample without a value in any of them lacks the view.
struct ViewBlock {
  std::string view;
  std::vector<Feature> columns;
  friend bool operator==(const ViewBlock&, const ViewBlock&) = default;
};

class Preprocessing {
 public:
  struct Column {
    Feature feature;       // name after coding: "colour" or "colour=red" or "age is missing"
    std::string category;  // for a one-hot column: the category, else empty
    bool onehot = false;
    double centre = 0.0;     // tfidf: the factor
    double scale = 1.0;      // 0 marks a feature that is constant in training
    double fill = 0.0;       // what replaces a missing value, where `impute` is on
    bool indicator = false;  // 1 where the column that it is named after has no value
    Transform transform = Transform::standardised;
    Vector knots = {};                         // ranks: training value, its score, next value, ...
    std::vector<std::string> categories = {};  // codes: the categories in the order of their numbers
    NumberFormat format = {};                  // of numbers in a text column
    friend bool operator==(const Column&, const Column&) = default;

    // The column of the file that it comes from.
    [[nodiscard]] Feature source() const;
    // Whether that column holds text.
    [[nodiscard]] bool from_text() const { return onehot || transform == Transform::codes; }
  };

  Preprocessing() = default;
  // Throws InvalidArgument naming column, line and value for what the options say must be refused, and where
  // no usable column is left. `decisions` gets one line per column of `train`.
  static Preprocessing fit(const Dataset& train, const PreprocessingOptions& options,
                           std::vector<ColumnDecision>* decisions = nullptr);
  static Preprocessing from_parts(PreprocessingOptions options, std::vector<Column> columns,
                                  std::vector<Feature> text_columns, std::vector<View> views,
                                  std::vector<ViewBlock> blocks = {});

  // Matches columns by exact name, whatever their order; unknown columns are ignored, a missing one is an
  // error, unless all columns of a view are missing: then its samples lack the view. Returns standardised features,
  // in the order of training, and the training views, with the samples that lack them.
  [[nodiscard]] Dataset apply(const Dataset& data) const;
  // What is new in `data`, a sentence each: categories that training never saw, values that are missing.
  [[nodiscard]] std::vector<std::string> surprises(const Dataset& data) const;

  // Adds the columns `chosen` once more, seen through `transform`, fitted on the raw training data. Returns
  // the place of each; a column that looks the same either way is not added again.
  std::vector<Index> add_transformed(const Dataset& train, Transform transform,
                                     const std::vector<Index>& chosen);
  // Adds the columns `chosen` once more as Transform::relevance: standardised, times these factors.
  std::vector<Index> add_scaled(const std::vector<Index>& chosen, const Vector& factors);
  // Drops all columns and text columns but these (ascending); views lose what is dropped.
  void keep(const std::vector<Index>& columns, const std::vector<Index>& texts);

  [[nodiscard]] const PreprocessingOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Feature>& text_columns() const { return text_columns_; }
  [[nodiscard]] const std::vector<View>& views() const { return views_; }
  // Views that samples may lack: those of several columns, or of a file of their own.
  [[nodiscard]] const std::vector<ViewBlock>& blocks() const { return blocks_; }
  [[nodiscard]] bool constant(Index feature) const {
    return columns_[static_cast<std::size_t>(feature)].scale == 0.0;
  }

 private:
  PreprocessingOptions options_;
  std::vector<Column> columns_;
  std::vector<Feature> text_columns_;
  std::vector<View> views_;  // feature indices refer to columns_
  std::vector<ViewBlock> blocks_;
};

// The line of a column of numbers about which there is nothing to say but what the model keeps anyway.
[[nodiscard]] ColumnDecision plain_decision(const Preprocessing::Column& column);

}  // namespace kloom
