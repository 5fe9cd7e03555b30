// SPDX-License-Identifier: BSD-3-Clause
#include "data/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_set>

#include "kloom/error.h"

namespace kloom::data {
namespace {

constexpr std::uint32_t max32 = 0xFFFFFFFFU;
constexpr std::size_t end_size = 22;      // end of central directory, without its comment
constexpr std::size_t locator_size = 20;  // ZIP64 locator, just before it
constexpr std::size_t entry_size = 46;    // central directory entry, without its names
constexpr std::size_t local_size = 30;    // local header, without its names

struct Entry {
  std::string name;
  std::uint32_t flags = 0;
  std::uint32_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t unpacked = 0;
  std::uint64_t offset = 0;
};

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view archive, const std::string& source) : archive_(archive), source_(source) {}

  std::vector<ZipEntry> read(std::size_t limit) {
    const std::vector<Entry> entries = read_directory();
    check_sizes(entries, limit);
    std::vector<ZipEntry> result;
    std::unordered_set<std::string_view> names;
    for (const Entry& entry : entries) {
      if (!names.insert(entry.name).second) {
        damaged(fmt::format("two entries are called '{}'", entry.name));
      }
      if (!entry.name.ends_with('/')) {
        result.push_back({entry.name, unpack(entry)});
      }
    }
    return result;
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    throw FileError(fmt::format("{}: not a readable ZIP (NPZ) file: {}.", source_, what));
  }

  // `size` bytes at `offset`, or an error: the only way in which the archive is looked at.
  [[nodiscard]] std::string_view bytes(std::uint64_t offset, std::uint64_t size) const {
    if (offset > archive_.size() || size > archive_.size() - offset) {
      damaged("it ends too early");
    }
    return archive_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  [[nodiscard]] std::uint64_t number(std::uint64_t offset, unsigned width) const {
    const std::string_view raw = bytes(offset, width);
    std::uint64_t value = 0;
    for (unsigned i = width; i-- > 0;) {
      value = value << 8U | static_cast<unsigned char>(raw[i]);
    }
    return value;
  }

  [[nodiscard]] std::uint32_t number32(std::uint64_t offset, unsigned width) const {
    return static_cast<std::uint32_t>(number(offset, width));
  }

  [[nodiscard]] std::size_t find_end() const {
    constexpr std::size_t longest_comment = 0xFFFF;
    if (archive_.size() < end_size) {
      damaged("it is too short");
    }
    const std::size_t last = archive_.size() - end_size;
    const std::size_t first = last > longest_comment ? last - longest_comment : 0;
    for (std::size_t at = last + 1; at-- > first;) {
      // The comment must end where the file ends, or a signature inside other data could be taken for it.
      if (archive_.substr(at, 4) == "PK\x05\x06" && at + end_size + number(at + 20, 2) == archive_.size()) {
        return at;
      }
    }
    damaged("its directory is missing (truncated?)");
  }

  [[nodiscard]] Directory find_directory() const {
    const std::size_t end = find_end();
    if (number(end + 4, 2) != 0 && number(end + 4, 2) != 0xFFFF) {
      damaged("it is one part of several");
    }
    Directory directory{number(end + 10, 2), number(end + 16, 4), number(end + 12, 4)};
    const bool large = directory.entries == 0xFFFF || directory.offset == max32 || directory.size == max32;
    if (large && end >= locator_size && bytes(end - locator_size, 4) == "PK\x06\x07") {
      const std::uint64_t record = number(end - locator_size + 8, 8);
      if (bytes(record, 4) != "PK\x06\x06") {
        damaged("its ZIP64 directory is missing");
      }
      directory = {number(record + 32, 8), number(record + 48, 8), number(record + 40, 8)};
    }
    if (directory.entries > directory.size / entry_size) {
      damaged("its directory is too small");
    }
    static_cast<void>(bytes(directory.offset, directory.size));
    return directory;
  }

  [[nodiscard]] std::vector<Entry> read_directory() const {
    const Directory directory = find_directory();
    std::vector<Entry> entries;
    std::uint64_t at = directory.offset;
    for (std::uint64_t k = 0; k < directory.entries; ++k) {
      if (bytes(at, entry_size).substr(0, 4) != "PK\x01\x02") {
        damaged("its directory is damaged");
      }
      Entry entry;
      entry.flags = number32(at + 8, 2);
      entry.method = number32(at + 10, 2);
      entry.crc = number32(at + 16, 4);
      entry.packed = number(at + 20, 4);
      entry.unpacked = number(at + 24, 4);
      entry.offset = number(at + 42, 4);
      const std::uint64_t name = number(at + 28, 2);
      const std::uint64_t extra = number(at + 30, 2);
      const std::uint64_t comment = number(at + 32, 2);
      entry.name = bytes(at + entry_size, name);
      read_zip64(entry, at + entry_size + name, extra);
      entries.push_back(std::move(entry));
      at += entry_size + name + extra + comment;
      if (at > directory.offset + directory.size) {
        damaged("its directory is longer than it says");
      }
    }
    return entries;
  }

  // ZIP64 keeps in an extra field, in this order, the numbers that did not fit 32 bits.
  void read_zip64(Entry& entry, std::uint64_t at, std::uint64_t size) const {
    const std::uint64_t end = at + size;
    static_cast<void>(bytes(at, size));
    while (at + 4 <= end) {
      const std::uint64_t id = number(at, 2);
      const std::uint64_t next = at + 4 + number(at + 2, 2);
      if (next > end) {
        damaged("an extra field is too long");
      }
      if (id == 1) {
        std::uint64_t field = at + 4;
        for (std::uint64_t* value : {&entry.unpacked, &entry.packed, &entry.offset}) {
          if (*value == max32) {
            if (field + 8 > next) {
              damaged("a ZIP64 field is too short");
            }
            *value = number(field, 8);
            field += 8;
          }
        }
      }
      at = next;
    }
  }

  // Before anything is unpacked: DEFLATE cannot expand more than 1032 times, and all entries together must
  // fit. So neither a lying header nor entries that share their data can take more than `limit` bytes.
  void check_sizes(const std::vector<Entry>& entries, std::size_t limit) const {
    std::uint64_t total = 0;
    for (const Entry& entry : entries) {
      constexpr std::uint64_t most = 1032;
      static_cast<void>(bytes(0, entry.packed));
      if (entry.unpacked / most > entry.packed + 1) {
        damaged(fmt::format("entry '{}' claims an impossible size", entry.name));
      }
      total += entry.unpacked;
      if (entry.unpacked > limit || total > limit) {
        throw ResourceError(
            fmt::format("{}: its arrays take more than {} bytes, the memory allowed for reading. Use a "
                        "larger memory budget.",
                        source_, limit));
      }
    }
  }

  [[nodiscard]] std::string unpack(const Entry& entry) const {
    const std::uint64_t at = entry.offset;
    if (bytes(at, local_size).substr(0, 4) != "PK\x03\x04") {
      damaged(fmt::format("entry '{}' has no header", entry.name));
    }
    constexpr std::uint32_t encrypted = 1;
    if ((entry.flags & encrypted) != 0) {
      damaged(fmt::format("entry '{}' is encrypted", entry.name));
    }
    const std::uint64_t name = number(at + 26, 2);
    const std::uint64_t extra = number(at + 28, 2);
    if (bytes(at + local_size, name) != entry.name || number32(at + 8, 2) != entry.method) {
      damaged(fmt::format("entry '{}' has another header than the directory says", entry.name));
    }
    const std::string_view packed = bytes(at + local_size + name + extra, entry.packed);
    std::string content = unpack_bytes(entry, packed);
    // crc32_z takes a size_t, so entries of 4 GiB and more need no loop.
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    if (crc != entry.crc) {
      damaged(fmt::format("entry '{}' has a wrong checksum", entry.name));
    }
    return content;
  }

  [[nodiscard]] std::string unpack_bytes(const Entry& entry, std::string_view packed) const {
    constexpr std::uint32_t stored = 0;
    constexpr std::uint32_t deflated = 8;
    if (entry.method == stored) {
      if (entry.packed != entry.unpacked) {
        damaged(fmt::format("entry '{}' has two sizes", entry.name));
      }
      return std::string(packed);
    }
    if (entry.method != deflated) {
      damaged(fmt::format("entry '{}' is packed by method {}; only stored and deflated entries are read",
                          entry.name, entry.method));
    }
    return inflate_raw(entry, packed);
  }

  [[nodiscard]] std::string inflate_raw(const Entry& entry, std::string_view packed) const {
    std::string content(static_cast<std::size_t>(entry.unpacked), '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
      throw ResourceError(fmt::format("{}: not enough memory to unpack.", source_));
    }
    constexpr std::size_t step = std::numeric_limits<uInt>::max();
    std::size_t in = 0;
    std::size_t out = 0;
    int code = Z_OK;
    while (code == Z_OK) {
      const std::size_t give = std::min(step, packed.size() - in);
      const std::size_t room = std::min(step, content.size() - out);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
      stream.avail_in = static_cast<uInt>(give);
      stream.next_out = reinterpret_cast<Bytef*>(content.data() + out);
      stream.avail_out = static_cast<uInt>(room);
      code = inflate(&stream, Z_NO_FLUSH);
      in += give - stream.avail_in;
      out += room - stream.avail_out;
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END || out != content.size() || in != packed.size()) {
      damaged(fmt::format("entry '{}' does not unpack", entry.name));
    }
    return content;
  }

  std::string_view archive_;
  const std::string& source_;
};

}  // namespace

std::vector<ZipEntry> read_zip(std::string_view archive, const std::string& source, std::size_t limit) {
  return ZipReader(archive, source).read(limit);
}

}  // namespace kloom::data
