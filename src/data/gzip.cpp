// SPDX-License-Identifier: BSD-3-Clause
#include "data/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "data/number.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 16U;
constexpr std::size_t harmless = 16'000'000;  // unpacked bytes that no ratio forbids
constexpr std::string_view gzip_magic = "\x1f\x8b";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void too_large(const std::string& source, std::size_t limit) {
  throw ResourceError(fmt::format(
      "{}: reading it takes more than {}, the memory that may be used. Use a larger memory budget (--memory).",
      source, format_bytes(limit)));
}

// How large a full buffer may become: twice as large, as far as the limit allows while the old one is held beside it.
std::size_t larger_size(std::size_t used, std::size_t limit, const std::string& source) {
  const std::size_t wanted = std::max(used + chunk, used * 2);
  const std::size_t possible = limit > used ? limit - used : 0;
  const std::size_t size = std::min(wanted, std::max(possible, chunk));
  if (size <= used) too_large(source, limit);
  return size;
}

// One inflate stream with its end assured.
class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) {
      throw ResourceError("Not enough memory to unpack gzip data.");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

// Feeds zlib's 32-bit counters from a buffer of any size.
void refill(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in == 0 && !rest.empty()) {
    const std::size_t n = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
    // zlib's interface is not const-correct; it does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(n);
    rest.remove_prefix(n);
  }
}

// After a member: true if another one follows; padding with zero bytes is allowed, anything else is damage.
bool another_member(const z_stream& stream, std::string_view rest, const std::string& source) {
  const std::string_view here(reinterpret_cast<const char*>(stream.next_in), stream.avail_in);
  if (here.find_first_not_of('\0') == std::string_view::npos &&
      rest.find_first_not_of('\0') == std::string_view::npos) {
    return false;
  }
  if (!here.empty() && here[0] != gzip_magic[0]) {
    throw FileError(fmt::format("{}: other bytes follow the gzip data. The file is damaged.", source));
  }
  return true;
}

// gzip data end in the number of bytes that their last member unpacks to, modulo 2^32. Where there is one member, memory
// is taken once; a number that is false costs no more than the limits allow.
std::size_t first_size(std::string_view packed, std::size_t limit, double ratio) {
  std::size_t told = 0;
  for (std::size_t i = 1; i <= 4 && packed.size() > 18; ++i)
    told = told << 8U | static_cast<unsigned char>(packed[packed.size() - i]);
  const double allowed = std::max(ratio * static_cast<double>(packed.size()), static_cast<double>(harmless));
  return told < limit && static_cast<double>(told) <= allowed ? told + 1 : chunk;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InvalidArgument(fmt::format("{}: no such file.", path));
  }
  if (std::filesystem::is_directory(status)) {
    throw InvalidArgument(fmt::format("{}: this is a folder, not a file.", path));
  }
  errno = 0;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    throw FileError(fmt::format("{}: cannot be opened: {}.", path, reason(errno)));
  }
  // The size is a hint only: pipes have none, and a file may grow meanwhile. One byte more finds the end.
  const std::uintmax_t told =
      std::filesystem::is_regular_file(status) ? std::filesystem::file_size(path, error) : 0;
  if (!error && told > limit) too_large(path, limit);
  const std::size_t first = error || told == 0 ? chunk : static_cast<std::size_t>(told) + 1;
  std::string bytes;
  std::size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(used == 0 ? first : larger_size(used, limit, path));
    const std::size_t n = std::fread(bytes.data() + used, 1, bytes.size() - used, file.get());
    used += n;
    if (used > limit) {
      too_large(path, limit);
    }
    if (n == 0) {
      break;
    }
  }
  if (std::ferror(file.get()) != 0) {
    throw FileError(fmt::format("{}: cannot be read: {}.", path, reason(errno)));
  }
  bytes.resize(used);
  return bytes;
}

bool has_gz_name(std::string_view path) {
  return path.size() > 3 && equal_ignoring_case(path.substr(path.size() - 3), ".gz");
}

UnpackLimits unpack_limits(const Context& context) {
  return {memory_budget(context), context.unpack_ratio};
}

void require_ratio(std::uint64_t packed, std::uint64_t unpacked, const UnpackLimits& limits,
                   const std::string& source) {
  if (unpacked <= harmless || static_cast<double>(unpacked) <= limits.ratio * static_cast<double>(packed)) return;
  throw ResourceError(fmt::format(
      "{}: {} unpack to {} or more, over {} times as much. Files that are made to fill the memory look like that; if "
      "this one is right, allow more (--unpack-ratio).",
      source, format_bytes(packed), format_bytes(unpacked), limits.ratio));
}

std::string gunzip(std::string_view packed, const std::string& source, const UnpackLimits& limits) {
  if (!packed.starts_with(gzip_magic)) {
    throw FileError(fmt::format("{}: the name ends in .gz but this is not gzip data.", source));
  }
  const std::size_t limit = limits.bytes > packed.size() ? limits.bytes - packed.size() : 0;
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::string out;
  std::size_t used = 0;
  std::string_view rest = packed;
  while (true) {
    refill(stream, rest);
    if (used == out.size()) {
      require_ratio(packed.size(), used, limits, source);
      out.resize(used == 0 ? first_size(packed, limit, limits.ratio) : larger_size(used, limit, source));
    }
    const std::size_t room = std::min<std::size_t>(out.size() - used, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (code == Z_STREAM_END) {
      if (!another_member(stream, rest, source)) {
        break;
      }
      inflateReset(&stream);
    } else if (code == Z_BUF_ERROR ||
               (code == Z_OK && stream.avail_in == 0 && rest.empty() && stream.avail_out != 0)) {
      throw FileError(fmt::format("{}: the gzip data ends too early. The file is truncated.", source));
    } else if (code != Z_OK) {
      throw FileError(
          fmt::format("{}: the gzip data is damaged ({}).", source, stream.msg ? stream.msg : "no header"));
    }
  }
  if (used > limit) {
    too_large(source, limits.bytes);
  }
  require_ratio(packed.size(), used, limits, source);
  out.resize(used);
  return out;
}

std::string read_unpacked(const std::string& path, const UnpackLimits& limits) {
  std::string bytes = read_file(path, limits.bytes);
  if (has_gz_name(path)) {
    return gunzip(bytes, path, limits);
  }
  if (bytes.starts_with(gzip_magic)) {
    throw InvalidArgument(fmt::format("{}: this is gzip data. Give the file a name that ends in .gz.", path));
  }
  return bytes;
}

}  // namespace kloom::data
