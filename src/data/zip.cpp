// SPDX-License-Identifier: BSD-3-Clause
#include "data/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

constexpr std::uint32_t max32 = 0xFFFFFFFFU;
constexpr std::uint64_t end_size = 22;    // end of central directory, without its comment
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

[[noreturn]] void damaged(const std::string& source, std::string_view what) {
  throw FileError(fmt::format("{}: not a readable ZIP (NPZ) file: {}.", source, what));
}

// The bytes of one entry from its beginning to its end, with their checksum.
class EntryBytes {
 public:
  // `begin`: where its packed bytes are.
  EntryBytes(const ZipBytes& archive, const Entry& entry, std::uint64_t begin, const std::string& source)
      : archive_(archive), entry_(entry), source_(source), position_(begin), end_(begin + entry.packed) {
    if (deflated() && inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
      throw ResourceError(fmt::format("{}: not enough memory to unpack.", source_));
    }
  }
  ~EntryBytes() {
    if (deflated()) inflateEnd(&stream_);
  }
  EntryBytes(const EntryBytes&) = delete;
  EntryBytes& operator=(const EntryBytes&) = delete;

  void next(char* out, std::size_t count) {
    if (count > entry_.unpacked - taken_)
      damaged(source_, fmt::format("entry '{}' ends too early", entry_.name));
    if (deflated()) {
      inflate_next(out, count);
    } else {
      archive_.read(position_, out, count);
      position_ += count;
    }
    taken_ += count;
    // crc32_z takes a size_t, so pieces of 4 GiB and more need no loop.
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out), count);
  }

  // Reads what is left, and checks that it is all and undamaged.
  void finish() {
    std::string piece(kPiece, '\0');
    while (taken_ < entry_.unpacked) {
      next(piece.data(), static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, entry_.unpacked - taken_)));
    }
    if (deflated()) require_end();
    if (crc_ != entry_.crc) damaged(source_, fmt::format("entry '{}' has a wrong checksum", entry_.name));
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16U;

  [[nodiscard]] bool deflated() const { return entry_.method == 8; }
  [[noreturn]] void does_not_unpack() const {
    damaged(source_, fmt::format("entry '{}' does not unpack", entry_.name));
  }

  // One step of zlib, whose counters have 32 bits.
  int inflate_step(char* out, std::size_t room) {
    if (stream_.avail_in == 0 && position_ < end_) {
      packed_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, end_ - position_)));
      archive_.read(position_, packed_.data(), packed_.size());
      position_ += packed_.size();
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_in = static_cast<uInt>(packed_.size());
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    return inflate(&stream_, Z_NO_FLUSH);
  }

  void inflate_next(char* out, std::size_t count) {
    constexpr std::size_t most = std::size_t{1} << 30U;
    for (std::size_t done = 0; done < count;) {
      const std::size_t room = std::min(most, count - done);
      const int code = inflate_step(out + done, room);
      done += room - stream_.avail_out;
      if (code != Z_OK && (code != Z_STREAM_END || done < count)) does_not_unpack();
      ended_ = code == Z_STREAM_END;
    }
  }

  // Where the output just fits, the mark of the stream's end may still be unread; no byte may come out before it.
  void require_end() {
    char none = 0;
    while (!ended_) {
      const int code = inflate_step(&none, 1);
      if ((code != Z_OK && code != Z_STREAM_END) || stream_.avail_out == 0) does_not_unpack();
      ended_ = code == Z_STREAM_END;
    }
    if (stream_.avail_in != 0 || position_ != end_) does_not_unpack();
  }

  const ZipBytes& archive_;
  const Entry& entry_;
  const std::string& source_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t taken_ = 0;
  unsigned long crc_ = 0;
  std::string packed_;
  z_stream stream_{};
  bool ended_ = false;
};

class ZipReader {
 public:
  ZipReader(const ZipBytes& archive, const std::string& source) : archive_(archive), source_(source) {}

  void read(const UnpackLimits& limits, const std::function<void(const ZipEntry&)>& visit) {
    const std::vector<Entry> entries = read_directory();
    check_sizes(entries, limits);
    std::unordered_set<std::string_view> names;
    for (const Entry& entry : entries) {
      if (!names.insert(entry.name).second) {
        damaged(fmt::format("two entries are called '{}'", entry.name));
      }
      if (!entry.name.ends_with('/')) unpack(entry, visit);
    }
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const { data::damaged(source_, what); }

  void require_inside(std::uint64_t offset, std::uint64_t size) const {
    if (offset > archive_.size || size > archive_.size - offset) damaged("it ends too early");
  }

  // `size` bytes at `offset`, or an error: the only way in which headers and directory are looked at.
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::uint64_t size) const {
    require_inside(offset, size);
    std::string result(static_cast<std::size_t>(size), '\0');
    archive_.read(offset, result.data(), result.size());
    return result;
  }

  [[nodiscard]] std::uint64_t number(std::uint64_t offset, unsigned width) const {
    const std::string raw = bytes(offset, width);
    std::uint64_t value = 0;
    for (unsigned i = width; i-- > 0;) {
      value = value << 8U | static_cast<unsigned char>(raw[i]);
    }
    return value;
  }

  [[nodiscard]] std::uint32_t number32(std::uint64_t offset, unsigned width) const {
    return static_cast<std::uint32_t>(number(offset, width));
  }

  [[nodiscard]] std::uint64_t find_end() const {
    constexpr std::uint64_t longest_comment = 0xFFFF;
    if (archive_.size < end_size) {
      damaged("it is too short");
    }
    const std::uint64_t first = archive_.size - std::min(archive_.size, end_size + longest_comment);
    const std::string tail = bytes(first, archive_.size - first);
    for (std::size_t k = tail.size() - end_size + 1; k-- > 0;) {
      // The comment must end where the file ends, or a signature inside other data could be taken for it.
      if (std::string_view(tail).substr(k, 4) == "PK\x05\x06" &&
          k + end_size + number(first + k + 20, 2) == tail.size()) {
        return first + k;
      }
    }
    damaged("its directory is missing (truncated?)");
  }

  [[nodiscard]] Directory find_directory() const {
    const std::uint64_t end = find_end();
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
    require_inside(directory.offset, directory.size);
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
    require_inside(at, size);
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
  void check_sizes(const std::vector<Entry>& entries, const UnpackLimits& limits) const {
    std::uint64_t total = 0;
    for (const Entry& entry : entries) {
      constexpr std::uint64_t most = 1032;
      require_inside(0, entry.packed);
      if (entry.unpacked / most > entry.packed + 1) {
        damaged(fmt::format("entry '{}' claims an impossible size", entry.name));
      }
      total += entry.unpacked;
      if (entry.unpacked > limits.bytes || total > limits.bytes) {
        throw ResourceError(
            fmt::format("{}: its arrays take more than {}, the memory that may be used. Use a larger memory "
                        "budget (--memory).",
                        source_, format_bytes(limits.bytes)));
      }
    }
    require_ratio(archive_.size, total, limits, source_);
  }

  void unpack(const Entry& entry, const std::function<void(const ZipEntry&)>& visit) const {
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
    check_method(entry);
    const std::uint64_t begin = at + local_size + name + extra;
    require_inside(begin, entry.packed);
    EntryBytes content(archive_, entry, begin, source_);
    const NextBytes next = [&](char* out, std::size_t count) { content.next(out, count); };
    try {
      visit({entry.name, static_cast<std::size_t>(entry.unpacked), next});
    } catch (const InvalidArgument&) {
      content.finish();  // damage, where there is some, explains why the content cannot be used
      throw;
    }
    content.finish();
  }

  void check_method(const Entry& entry) const {
    constexpr std::uint32_t stored = 0;
    constexpr std::uint32_t deflated = 8;
    if (entry.method == stored && entry.packed != entry.unpacked) {
      damaged(fmt::format("entry '{}' has two sizes", entry.name));
    }
    if (entry.method != stored && entry.method != deflated) {
      damaged(fmt::format("entry '{}' is packed by method {}; only stored and deflated entries are read",
                          entry.name, entry.method));
    }
  }

  const ZipBytes& archive_;
  const std::string& source_;
};

}  // namespace

ZipBytes zip_in_memory(std::string_view bytes) {
  return {bytes.size(), [bytes](std::uint64_t offset, char* out, std::size_t count) {
            bytes.copy(out, count, static_cast<std::size_t>(offset));
          }};
}

void read_zip(const ZipBytes& archive, const std::string& source, const UnpackLimits& limits,
              const std::function<void(const ZipEntry&)>& visit) {
  ZipReader(archive, source).read(limits, visit);
}

}  // namespace kloom::data
