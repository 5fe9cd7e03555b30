// SPDX-License-Identifier: BSD-3-Clause
#include "data/mat.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "data/gzip.h"
#include "data/mat_child.h"
#include "data/mat_v5.h"
#include "data/mat_v73.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

std::string read_start(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InvalidArgument(fmt::format("No such file: '{}'.", path));
  if (!std::filesystem::is_regular_file(status))
    throw InvalidArgument(fmt::format("'{}' is not a regular file.", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(fmt::format("Cannot read '{}': {}.", path, std::system_category().message(errno)));
  std::string start(mat_v73_head_bytes, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  return start;
}

// "row 3, column 2", counted from 1 as MATLAB does.
std::string place(const MatArray& array, std::size_t at) {
  std::string out;
  for (const Index n : array.shape) {
    const auto extent = static_cast<std::size_t>(n);
    out += fmt::format("{}{}", out.empty() ? "" : ", ", at % extent + 1);
    at /= extent;
  }
  return out;
}

void require_finite(const MatArray& array, const std::string& path, bool allow_missing) {
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const double v = array.values[i];
    if (std::isfinite(v) || (allow_missing && std::isnan(v))) continue;
    throw FileError(fmt::format("'{}' has the value {} in {}({}); only finite numbers can be used.", path, v,
                                array.name, place(array, i)));
  }
}

}  // namespace

MatFile read_mat(const std::string& path, const Context& context, const MatOptions& options) {
  const std::string start = read_start(path);
  const MatVersion version = mat_version(start, path);
  const std::size_t budget = memory_budget(context);
  std::error_code error;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, error);
  if (error) throw FileError(fmt::format("Cannot read '{}': {}.", path, error.message()));

  ChildWork work;
  if (version == MatVersion::v5) {
    const std::vector<MatEntry> entries = check_mat_v5(read_file(path, budget), path, budget);
    work = [&path, entries](const ArraySink& sink) { read_with_matio(path, entries, sink); };
  } else {
    check_superblock(start, file_bytes, path);
    work = [&path](const ArraySink& sink) { read_with_matio(path, audit_hdf5(path), sink); };
  }
  ChildLimits limits;
  limits.seconds = options.seconds + 1e-7 * static_cast<double>(file_bytes);
  limits.bytes = budget;
  MatFile out{run_in_child(work, path, limits)};
  if (out.arrays.empty())
    throw FileError(fmt::format("'{}' holds no real numeric array of up to three dimensions.", path));
  for (const auto& array : out.arrays) require_finite(array, path, options.allow_missing);
  return out;
}

MatFile read_mat(const std::string& path, const Context& context) {
  return read_mat(path, context, MatOptions());
}

}  // namespace kloom::data
