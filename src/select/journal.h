// SPDX-License-Identifier: BSD-3-Clause
//
// A file that grows by a line for every piece of work that is finished, so that an interrupted run can go on.
//
// A line is JSON, a tab, and a checksum of this line and all lines before it: what was changed, left out or put in
// elsewhere is noticed. The first line names the request by a fingerprint; a line that was cut off by a crash is removed
// and done again. While a run uses the file it is locked, so that two runs cannot mix their lines.
//
// Whoever can write the file can also compute checksums, so nothing in it is believed that can be checked
// (outcome_check.h); but what was predicted is taken from it as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/validate.h"

namespace kloom::select {

// FNV-1a, 64 bits: enough to tell requests apart and to notice damage; no protection against a forged file.
class Hash {
 public:
  void add(const void* data, std::size_t bytes);
  void add(const std::string& text);
  void add(std::span<const double> values);
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

struct JournalEntry {
  std::size_t line = 0;  // counted from 1
  Outcome outcome;
};

// What a journal holds besides its first line.
struct JournalContent {
  std::string plan;  // JSON text; empty: none was written
  std::vector<JournalEntry> entries;
  Hash chain;             // after the last line
  std::size_t whole = 0;  // bytes of whole lines; what follows them was cut off
};

// Throws InvalidArgument if the text is no journal, one of another program version or of another request; FileError if
// a line is damaged. `source` is for messages.
[[nodiscard]] JournalContent parse_journal(std::string_view text, const std::string& source,
                                           const std::string& fingerprint);

class Journal {
 public:
  // Without a path nothing is kept. Throws what parse_journal throws; InvalidArgument if another run uses the file;
  // FileError if it cannot be read or written, ResourceError if it does not fit the context's memory.
  Journal(const std::string& path, const std::string& fingerprint, const Context& context);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& plan() const { return content_.plan; }
  [[nodiscard]] const std::vector<JournalEntry>& entries() const { return content_.entries; }
  void write_plan(const std::string& json);
  void write(const Outcome& outcome);

 private:
  void open_locked();
  void shorten(std::size_t bytes);
  void append(const std::string& json);

  std::string path_;
  int file_ = -1;
  JournalContent content_;
};

// A name for everything that decides the outcomes: data, targets, kernels, and `settings` in words.
[[nodiscard]] std::string fingerprint_of(const Dataset& data, const Targets& targets,
                                         const std::string& settings);

}  // namespace kloom::select
