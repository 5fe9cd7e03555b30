// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/class_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "algebra/blas.h"
#include "data/class_key.h"
#include "data/matrices.h"
#include "kloom/error.h"
#include "kloom/words.h"

namespace kloom::methods {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw InvalidArgument("option class_kernels: " + why);
}

// "a+tree:(b,c)+file:x+y.csv": a '+' begins a new term after a whole one, and where one of the words follows. Numbers, names
// and paths may have others.
std::vector<std::string> terms_of(const std::string& text) {
  std::vector<std::string> terms;
  std::size_t begin = 0;
  for (std::size_t i = text.find('+'); i != std::string::npos; i = text.find('+', i + 1)) {
    const std::string term = text.substr(begin, i - begin);
    const std::string_view rest = std::string_view(text).substr(i + 1);
    const bool whole =
        term == "identity" || term == "pairs" || (term.starts_with("tree:") && term.ends_with(')'));
    const bool next = rest.starts_with("identity") || rest.starts_with("pairs") || rest.starts_with("tree:") ||
                      rest.starts_with("file:");
    if (!whole && !next) continue;
    terms.push_back(term);
    begin = i + 1;
  }
  terms.push_back(text.substr(begin));
  return terms;
}

// Which class has this name; names that are numbers are equal by value.
std::optional<std::size_t> class_named(const std::string& name, const std::vector<std::string>& classes) {
  const data::ClassKey key = data::class_key(name);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (data::class_key(classes[c]) == key) return c;
  }
  return std::nullopt;
}

double number_in(std::string_view cell, const std::string& where) {
  while (cell.starts_with(' ')) cell.remove_prefix(1);
  while (cell.ends_with(' ')) cell.remove_suffix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
    refuse(fmt::format("'{}' in {} is no finite number", cell, where));
  return value;
}

std::vector<ClassKernel> pair_kernels(const std::vector<std::string>& classes) {
  const auto m = std::ssize(classes);
  std::vector<ClassKernel> result;
  for (Index u = 0; u < m; ++u) {
    for (Index v = u + 1; v < m; ++v) {
      for (const double beside : {1.0, -1.0}) {
        Matrix pair(m, m);
        pair(u, u) = pair(v, v) = 1.0;
        pair(u, v) = pair(v, u) = beside;
        const std::string name =
            fmt::format("{} {} {}", classes[at(u)], beside > 0.0 ? "with" : "against", classes[at(v)]);
        result.push_back({name, std::move(pair)});
      }
    }
  }
  return result;
}

// A tree in Newick's notation: every branch adds its length to all pairs of classes below it.
class Tree {
 public:
  Tree(std::string_view text, const std::vector<std::string>& classes)
      : text_(text),
        classes_(classes),
        seen_(classes.size(), false),
        kernel_(std::ssize(classes), std::ssize(classes)) {}

  Matrix kernel() {
    (void)node();
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == ';') ++at_;
    skip_spaces();
    if (at_ < text_.size()) refuse(fmt::format("the tree has '{}' after its end", text_.substr(at_)));
    std::vector<std::string> missing;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (!seen_[c]) missing.push_back(classes_[c]);
    }
    if (!missing.empty())
      refuse(fmt::format("the tree does not have the classes {}", fmt::join(missing, ", ")));
    double longest = 0.0;
    for (Index u = 0; u < kernel_.rows(); ++u) longest = std::max(longest, kernel_(u, u));
    if (!(longest > 0.0)) refuse("the tree has no branch with a length above 0");
    for (double& value : kernel_.values()) value /= longest;
    return std::move(kernel_);
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  // A leaf or a list of nodes in parentheses, then perhaps its length. Returns the classes below.
  std::vector<Index> node() {
    constexpr int kDeepest = 1000;
    if (++depth_ > kDeepest) refuse(fmt::format("the tree is deeper than {} levels", kDeepest));
    skip_spaces();
    std::vector<Index> below;
    const bool inner = at_ < text_.size() && text_[at_] == '(';
    if (inner) {
      do {
        ++at_;
        const std::vector<Index> child = node();
        below.insert(below.end(), child.begin(), child.end());
        skip_spaces();
      } while (at_ < text_.size() && text_[at_] == ',');
      if (at_ == text_.size() || text_[at_] != ')') refuse("a parenthesis of the tree is not closed");
      ++at_;
    }
    const std::string name = word();
    if (!inner) below.push_back(leaf(name));  // names of inner nodes mean nothing
    double length = --depth_ == 0 ? 0.0 : 1.0;
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      length = number_in(word(), "the tree");
      if (length < 0.0) refuse(fmt::format("a branch of the tree has the length {}, below 0", length));
    }
    for (const Index u : below) {
      for (const Index v : below) kernel_(u, v) += length;
    }
    return below;
  }
  std::string word() {
    skip_spaces();
    const std::size_t end = std::min(text_.find_first_of("(),:;", at_), text_.size());
    std::string found(text_.substr(at_, end - at_));
    at_ = end;
    while (found.ends_with(' ')) found.pop_back();
    return found;
  }
  Index leaf(const std::string& name) {
    const auto c = class_named(name, classes_);
    if (!c)
      refuse(fmt::format("the tree has '{}', which is no class{}; the classes are {}", name,
                         did_you_mean(name, classes_), fmt::join(classes_, ", ")));
    if (seen_[*c]) refuse(fmt::format("the tree has the class '{}' twice", name));
    seen_[*c] = true;
    return static_cast<Index>(*c);
  }

  std::string_view text_;
  const std::vector<std::string>& classes_;
  std::vector<bool> seen_;
  Matrix kernel_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

Matrix matrix_in(std::string_view text, Index classes) {
  const std::vector<std::string_view> rows = parts_of(text, ';');
  if (std::ssize(rows) != classes)
    refuse(fmt::format("the matrix has {} rows; there are {} classes", rows.size(), classes));
  Matrix result(classes, classes);
  for (Index u = 0; u < classes; ++u) {
    const std::vector<std::string_view> cells = parts_of(rows[at(u)], ',');
    if (std::ssize(cells) != classes)
      refuse(fmt::format("row {} of the matrix has {} numbers; there are {} classes", u + 1, cells.size(),
                         classes));
    for (Index v = 0; v < classes; ++v)
      result(u, v) = number_in(cells[at(v)], fmt::format("row {} of the matrix", u + 1));
  }
  return result;
}

// Where each class is among the rows (or columns) of a file; without ids in the order of the classes.
std::vector<Index> places_of(const std::vector<std::string>& ids, Index size, const std::string& path,
                             const std::vector<std::string>& classes) {
  std::vector<Index> places;
  if (ids.empty() && size != std::ssize(classes))
    refuse(fmt::format("{} is {} x {}; there are {} classes ({}), or name its rows and columns", path, size,
                       size, classes.size(), fmt::join(classes, ", ")));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (ids.empty()) {
      places.push_back(static_cast<Index>(c));
      continue;
    }
    const auto place = class_named(classes[c], ids);
    if (!place) refuse(fmt::format("{} has no row or column for class '{}'", path, classes[c]));
    places.push_back(static_cast<Index>(*place));
  }
  return places;
}

std::vector<ClassKernel> kernels_in_file(const std::string& path, const std::vector<std::string>& classes,
                                         const Context& context) {
  const data::MatrixFile file = data::read_matrix_file(path, data::MatrixRows::training_samples, context);
  std::vector<ClassKernel> result;
  for (const PrecomputedMatrix& one : file.matrices) {
    const SharedMatrix& values = one.values;
    if (values.rows() != values.cols())
      refuse(fmt::format("{} is {} x {}; a kernel on classes is square", path, values.rows(), values.cols()));
    const std::vector<Index> rows = places_of(file.row_ids, values.rows(), path, classes);
    const std::vector<Index> columns =
        file.column_ids.empty() ? rows : places_of(file.column_ids, values.cols(), path, classes);
    Matrix ordered(std::ssize(classes), std::ssize(classes));
    for (Index v = 0; v < ordered.cols(); ++v) {
      for (Index u = 0; u < ordered.rows(); ++u) ordered(u, v) = values(rows[at(u)], columns[at(v)]);
    }
    result.push_back({one.name, std::move(ordered)});
  }
  return result;
}

// Rounding of numbers that were written with six digits is no asymmetry.
void require_kernel(ClassKernel& kernel) {
  constexpr double kRounding = 1e-6;
  Matrix& m = kernel.values;
  double largest = 0.0;
  for (const double value : m.values()) largest = std::max(largest, std::abs(value));
  for (Index v = 0; v < m.cols(); ++v) {
    for (Index u = 0; u < v; ++u) {
      if (std::abs(m(u, v) - m(v, u)) > kRounding * largest)
        refuse(fmt::format("{} is not symmetric: row {}, column {} has {}, the other way {}", kernel.name,
                           u + 1, v + 1, m(u, v), m(v, u)));
      m(u, v) = m(v, u) = 0.5 * (m(u, v) + m(v, u));
    }
  }
  const double least = algebra::symmetric_eigen(m.view(), false).values.front();
  if (!(largest > 0.0)) refuse(fmt::format("{} is 0 for all classes", kernel.name));
  if (least < -kRounding * largest * static_cast<double>(m.rows()))
    refuse(fmt::format("{} is no kernel: it has the eigenvalue {:.3g}, below 0", kernel.name, least));
}

std::vector<ClassKernel> kernels_of_term(const std::string& term, const std::vector<std::string>& classes,
                                         const Context& context) {
  const auto m = std::ssize(classes);
  const std::string rest = term.substr(std::min(term.find(':') + 1, term.size()));
  if (term == "pairs") return pair_kernels(classes);
  if (term.starts_with("tree:")) return {{"the tree", Tree(rest, classes).kernel()}};
  if (term.starts_with("file:")) return kernels_in_file(rest, classes, context);
  if (term.find(';') != std::string::npos) return {{"the matrix", matrix_in(term, m)}};
  if (term != "identity")
    refuse(fmt::format(
        "'{}' is not identity, pairs, tree:NEWICK, file:PATH or rows like 1,0.5;0.5,1, or several of them "
        "joined by '+'",
        term));
  Matrix identity(m, m);
  for (Index u = 0; u < m; ++u) identity(u, u) = 1.0;
  return {{"identity", std::move(identity)}};
}

}  // namespace

std::vector<ClassKernel> class_kernels(const std::string& text, const std::vector<std::string>& classes,
                                       const Context& context) {
  std::vector<ClassKernel> result;
  for (const std::string& term : terms_of(text)) {
    for (ClassKernel& kernel : kernels_of_term(term, classes, context)) {
      require_kernel(kernel);
      result.push_back(std::move(kernel));
    }
  }
  return result;
}

}  // namespace kloom::methods
