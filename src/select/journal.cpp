// SPDX-License-Identifier: BSD-3-Clause
#include "select/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "data/container_json.h"
#include "data/gzip.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "select/outcome_json.h"

namespace kloom::select {
namespace {

constexpr int kVersion = 2;
constexpr std::size_t kSumDigits = 16;

[[noreturn]] void no_journal(const std::string& source) {
  throw InvalidArgument(fmt::format("{}: not a journal of finished work; name another file", source));
}

[[noreturn]] void damaged_line(const std::string& source, std::size_t line, const std::string& why) {
  throw FileError(fmt::format(
      "{}, line {}: damaged: {}. Remove the file to do all work again, or this line and those below it to keep "
      "what is above.",
      source, line, why));
}

// The JSON of a line, which has to have the checksum that the chain then has.
std::string_view checked_line(std::string_view line, Hash& chain, const std::string& source,
                              std::size_t number) {
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos || line.size() - tab - 1 != kSumDigits)
    damaged_line(source, number, "it has no checksum");
  const std::string_view json = line.substr(0, tab);
  chain.add(std::string(json));
  if (line.substr(tab + 1) != chain.text()) damaged_line(source, number, "it does not match its checksum");
  return json;
}

// Whether this is a journal at all is seen before its checksum: other files shall be called what they are.
void check_first_line(std::string_view line, const std::string& source, const std::string& fingerprint) {
  nlohmann::json json;
  try {
    json = data::parse_json(line.substr(0, line.rfind('\t')), source, "the first line");
  } catch (const FileError&) {
    no_journal(source);
  }
  if (!json.is_object() || !json.contains("kloom_journal")) no_journal(source);
  if (json["kloom_journal"] != kVersion) {
    throw InvalidArgument(fmt::format(
        "{}: written by another version of kloom, whose results cannot be checked here; remove it or name "
        "another file, and its work is done again",
        source));
  }
  if (!json.contains("fingerprint") || json["fingerprint"] != fingerprint) {
    throw InvalidArgument(
        fmt::format("{}: holds the results of another run (other data, kernels or options); remove it or "
                    "name another file",
                    source));
  }
}

void read_line(std::string_view text, const std::string& source, JournalContent& content, std::size_t number) {
  const std::string what = fmt::format("line {}", number);
  const nlohmann::json json = data::parse_json(text, source, what);
  if (!json.is_object() || !json.contains("plan")) {
    content.entries.push_back({number, outcome_from_json(json, source, what)});
    return;
  }
  if (!content.plan.empty()) damaged_line(source, number, "there is a second plan");
  data::Fields fields(json, source, what);
  content.plan = fields.text("plan");
  fields.finish();
}

std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void Hash::add(const void* data, std::size_t bytes) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ byte[i]) * 0x100000001b3ULL;
}

void Hash::add(const std::string& text) {
  const std::size_t size = text.size();
  add(&size, sizeof(size));
  add(text.data(), size);
}

void Hash::add(std::span<const double> values) {
  add(values.data(), values.size_bytes());
}

std::string Hash::text() const {
  return fmt::format("{:016x}", value_);
}

JournalContent parse_journal(std::string_view text, const std::string& source, const std::string& fingerprint) {
  JournalContent content;
  content.whole = text.rfind('\n') + 1;
  if (content.whole == 0) no_journal(source);
  std::string_view rest = text.substr(0, content.whole);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (number == 1) check_first_line(line, source, fingerprint);
    const std::string_view json = checked_line(line, content.chain, source, number);
    if (number > 1) read_line(json, source, content, number);
  }
  return content;
}

Journal::Journal(const std::string& path, const std::string& fingerprint, const Context& context)
    : path_(path) {
  if (path_.empty()) return;
  open_locked();
  try {
    const std::string text = data::read_file(path_, memory_budget(context));
    const std::string first = text_of({{"kloom_journal", kVersion}, {"fingerprint", fingerprint}});
    // A full disk or a crash may have cut it in its first line: nothing is lost then.
    if (text.find('\n') == std::string::npos && (first.starts_with(text) || text.starts_with(first + "\t"))) {
      shorten(0);
      append(first);
      return;
    }
    content_ = parse_journal(text, path_, fingerprint);
    // Removes a line that a crash cut short, so that the next entry starts on a new line.
    if (content_.whole < text.size()) shorten(content_.whole);
  } catch (...) {
    close(file_);
    throw;
  }
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

// The lock goes with the open file, so a run that crashes leaves none behind. A run that ends may remove its journal just
// after it was opened here: then the lock is on a file without a name, and it is opened anew.
void Journal::open_locked() {
  while (true) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw FileError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
    struct stat opened {};
    struct stat named {};
    const bool regular = fstat(file_, &opened) == 0 && S_ISREG(opened.st_mode);
    // File systems without locks answer otherwise; there nothing can be done.
    const bool taken = regular && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool there =
        stat(path_.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
    if (regular && !taken && there) return;
    close(file_);
    file_ = -1;
    if (!regular) no_journal(path_);
    if (taken) {
      throw InvalidArgument(fmt::format(
          "{}: another run of kloom is using it; wait until that has ended, or name another file", path_));
    }
  }
}

void Journal::write_plan(const std::string& json) {
  content_.plan = json;
  append(text_of({{"plan", json}}));
}

void Journal::write(const Outcome& outcome) {
  append(text_of(outcome_json(outcome)));
}

void Journal::shorten(std::size_t bytes) {
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    throw FileError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void Journal::append(const std::string& json) {
  if (path_.empty()) return;
  content_.chain.add(json);
  const std::string line = json + "\t" + content_.chain.text() + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string fingerprint_of(const Dataset& data, const Targets& targets, const std::string& settings) {
  Hash hash;
  hash.add(version());
  hash.add(settings);
  hash.add(data.features.values());
  for (const Feature& feature : data.feature_info) hash.add(feature.view + "\t" + feature.name);
  for (const View& view : data.views) {
    hash.add(view.name);
    hash.add(view.features.data(), view.features.size() * sizeof(Index));
  }
  for (const TextColumn& column : data.texts) {
    for (const std::string& value : column.values) hash.add(value);
  }
  for (const auto* matrices : {&data.kernels, &data.distances}) {
    for (const PrecomputedMatrix& matrix : *matrices) hash.add(matrix.values.values());
  }
  for (const std::string& name : targets.classes) hash.add(name);
  hash.add(targets.codes.data(), targets.codes.size() * sizeof(int));
  hash.add(targets.values.values());
  hash.add(std::span<const double>(targets.weights));
  return hash.text();
}

}  // namespace kloom::select
