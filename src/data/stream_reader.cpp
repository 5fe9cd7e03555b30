// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "data/csv.h"
#include "data/names.h"
#include "data/sources.h"
#include "data/svmlight.h"
#include "kloom/error.h"
#include "kloom/machine.h"
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

bool StreamReader::is_header(std::string_view first) const {
  return format_ == Format::csv || (format_ == Format::automatic && !looks_like_svmlight(first));
}

Dataset StreamReader::read(std::string_view text, const Context& context) {
  if (format_ == Format::automatic) format_ = is_header(first_line(text)) ? Format::csv : Format::svmlight;
  const std::string source =
      lines_ == 0 ? "standard input" : fmt::format("standard input after line {}", lines_);
  const Index count = std::ranges::count(text, '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
  if (format_ == Format::svmlight) {
    Dataset data =
        data::svmlight_to_dataset(data::parse_svmlight(text, source, memory_budget(context)), "", context);
    lines_ += count;
    return data;
  }
  data::Source table;
  table.path = source;
  data::CsvOptions options;
  options.source = source;
  options.limit = memory_budget(context);
  options.header = names_.empty();
  options.delimiter = names_.empty() ? data::guess_delimiter(text, 0) : delimiter_;
  table.table = data::parse_csv(std::string(text), options);
  if (names_.empty()) {
    names_ = table.table->names;
    delimiter_ = options.delimiter;
    if (target_.empty()) {
      std::vector<std::string> usual;
      std::ranges::copy_if(names_, std::back_inserter(usual),
                           [](const std::string& name) { return data::is_target_name(name); });
      if (usual.size() > 1)
        throw InvalidArgument(fmt::format("{}: several columns could be the target: {}. Name it (--target).",
                                          source, data::list_some(usual)));
      if (!usual.empty()) target_ = usual.front();
    }
    if (std::ranges::find(names_, target_) == names_.end()) {
      throw InvalidArgument(fmt::format("{}: there is no target column{}. Columns: {}. Name it (--target).",
                                        source, target_.empty() ? "" : " '" + target_ + "'",
                                        data::list_some(names_, 20)));
    }
  } else if (table.table->columns != static_cast<Index>(names_.size())) {
    throw InvalidArgument(fmt::format("{}: rows of {} cells, but the header has {}.", source,
                                      table.table->columns, names_.size()));
  }
  table.table->names = names_;
  DatasetRequest request;
  request.target = target_;
  lines_ += count;
  return data::table_to_dataset(table, request, target_, context);
}

}  // namespace kloom
