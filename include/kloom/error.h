// SPDX-License-Identifier: BSD-3-Clause
//
// Three kinds of failure, three channels.
//
//  * The caller's mistake (an option, a value, the content of a data file) throws InvalidArgument; its
//    message names what, where (file, line, column) and the remedy.
//  * What the world refuses (no permission, full disk, damaged file, not enough memory) throws FileError
//    or ResourceError.
//  * How a numerical method ended is never thrown: it is `Report::status`.
//
// InternalError means a bug in kloom. The library never prints, exits or aborts.
#pragma once

#include <stdexcept>
#include <string>

namespace kloom {

// Messages quote what files hold, and files may hold anything: the text goes through printable() of words.h.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
};

// The caller asked for something that cannot be, or gave data that breaks a stated rule.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// A file could not be read or written, or is damaged.
class FileError : public Error {
 public:
  using Error::Error;
};

// The work does not fit into the memory budget.
class ResourceError : public Error {
 public:
  using Error::Error;
};

// Progress callback asked to abort: nothing usable was produced.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// A promise inside kloom was broken.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace kloom
