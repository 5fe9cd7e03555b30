// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "data/csv.h"
#include "data/names.h"
#include "data/sources.h"
#include "data/svmlight.h"
#include "kloom/error.h"
#include "kloom/stream.h"

namespace kloom {
namespace {

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

// svmlight lines hold index:value pairs; a header of a table has no colon after a number.
bool looks_like_svmlight(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && line[colon - 1] >= '0' && line[colon - 1] <= '9';
}

}  // namespace

StreamReader::StreamReader(Format format, std::string target) : format_(format), target_(std::move(target)) {}

Dataset StreamReader::read(std::string_view text, const Context& context) {
  if (format_ == Format::automatic)
    format_ = looks_like_svmlight(first_line(text)) ? Format::svmlight : Format::csv;
  const std::string source = lines_ == 0 ? "standard input" : fmt::format("standard input after line {}", lines_);
  const Index count = std::ranges::count(text, '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
  if (format_ == Format::svmlight) {
    Dataset data = data::svmlight_to_dataset(data::parse_svmlight(text, source), "", context);
    lines_ += count;
    return data;
  }
  data::Source table;
  table.path = source;
  data::CsvOptions options;
  options.source = source;
  options.header = names_.empty();
  options.delimiter = names_.empty() ? data::guess_delimiter(text, 0) : delimiter_;
  table.table = data::parse_csv(text, options);
  if (names_.empty()) {
    names_ = table.table->names;
    delimiter_ = options.delimiter;
    if (target_.empty()) {
      const auto usual = std::ranges::find_if(names_, [](const std::string& n) { return data::is_target_name(n); });
      if (usual != names_.end()) target_ = *usual;
    }
    if (std::ranges::find(names_, target_) == names_.end()) {
      throw InvalidArgument(fmt::format("{}: there is no target column{}. Columns: {}. Name it (--target).", source,
                                        target_.empty() ? "" : " '" + target_ + "'", data::list_some(names_, 20)));
    }
  } else if (table.table->columns != static_cast<Index>(names_.size())) {
    throw InvalidArgument(fmt::format("{}: rows of {} cells, but the header has {}.", source, table.table->columns,
                                      names_.size()));
  }
  table.table->names = names_;
  DatasetRequest request;
  request.target = target_;
  lines_ += count;
  return data::table_to_dataset(table, request, target_, context);
}

}  // namespace kloom
