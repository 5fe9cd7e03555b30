// SPDX-License-Identifier: BSD-3-Clause
#include "data/mat_v5.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "kloom/error.h"

namespace kloom::data {
namespace {

constexpr std::size_t header_bytes = 128;
constexpr std::size_t tag_bytes = 8;
constexpr int kMostNested = 32;  // cells in cells

// Types of elements ("mi…" in the format's description).
enum Type : std::uint32_t {
  int8 = 1,
  uint8 = 2,
  int16 = 3,
  uint16 = 4,
  int32 = 5,
  uint32 = 6,
  single = 7,
  real64 = 9,
  int64 = 12,
  uint64 = 13,
  matrix = 14,
  compressed = 15,
  utf8 = 16,
  utf16 = 17,
  utf32 = 18
};

// Classes of arrays ("mx…").
enum Class : std::uint32_t {
  cell_class = 1,
  struct_class = 2,
  object_class = 3,
  char_class = 4,
  sparse_class = 5,
  double_class = 6,
  single_class = 7,
  int8_class = 8,
  uint64_class = 15,
  function_class = 16,
  opaque_class = 17
};

std::size_t type_bytes(std::uint32_t type) {
  switch (type) {
    case int8:
    case uint8:
    case utf8:
      return 1;
    case int16:
    case uint16:
    case utf16:
      return 2;
    case int32:
    case uint32:
    case single:
    case utf32:
      return 4;
    case real64:
    case int64:
    case uint64:
      return 8;
    default:
      return 0;
  }
}

// How entries of a class may be stored: whole numbers are packed into small integer types, which is how MATLAB
// saves space; other mixtures are never written and would change the values.
bool storage_fits(std::uint32_t array_class, std::uint32_t type) {
  const bool integer = (type >= int8 && type <= uint32) || type == int64 || type == uint64;
  if (array_class == double_class) return type == real64 || (integer && type_bytes(type) <= 4);
  if (array_class == single_class) return type == single || (integer && type_bytes(type) <= 4);
  const std::size_t class_bytes = std::size_t{1} << ((array_class - int8_class) / 2);  // int8, uint8, int16, …
  return integer && type_bytes(type) <= class_bytes;
}

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

struct ArrayHead {
  std::uint32_t array_class = 0;
  bool complex = false;
  std::vector<Index> shape;
  std::uint64_t count = 1;
  std::string name;
};

class Walker {
 public:
  Walker(const std::string& source, bool swapped, std::size_t limit)
      : source_(source), swapped_(swapped), limit_(limit) {}

  std::vector<MatEntry> file(std::string_view rest) const {
    std::vector<MatEntry> out;
    while (!rest.empty()) {
      if (rest.size() < tag_bytes) bad("it ends inside the tag of an element");
      const std::uint32_t type = number(rest);
      const std::uint32_t size = number(rest.substr(4));
      rest.remove_prefix(tag_bytes);
      if (size > rest.size()) bad("it ends inside an element");
      const std::string_view body = rest.substr(0, size);
      rest.remove_prefix(size);
      std::optional<MatEntry> entry;
      if (type == matrix) {
        entry = array(body, 0);
      } else if (type == compressed) {
        const std::string unpacked = unpack(body);
        entry = array(std::string_view(unpacked).substr(tag_bytes), 0);
      } else {
        bad(fmt::format("it has an element of the unknown type {}", type));
      }
      if (entry) out.push_back(std::move(*entry));
    }
    return out;
  }

 private:
  [[noreturn]] void bad(const std::string& detail) const {
    throw FileError(fmt::format("'{}' is damaged: {}.", source_, detail));
  }

  std::uint32_t number(std::string_view bytes) const {
    std::uint32_t value = 0;
    if (bytes.size() < sizeof value) bad("it ends inside a number");
    std::memcpy(&value, bytes.data(), sizeof value);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  // Takes the next part of an array from `rest`: a tag of 8 bytes and data padded to a multiple of 8, or up to
  // four bytes of data inside the tag.
  Element take(std::string_view& rest) const {
    if (rest.size() < tag_bytes) bad("an array ends too early");
    const std::uint32_t first = number(rest);
    Element out;
    if (first >> 16 != 0) {
      const std::size_t size = first >> 16;
      if (size > 4) bad("a small element has more than four bytes");
      out.type = first & 0xffffU;
      out.data = rest.substr(4, size);
      rest.remove_prefix(tag_bytes);
      return out;
    }
    const std::uint32_t size = number(rest.substr(4));
    rest.remove_prefix(tag_bytes);
    if (size > rest.size()) bad("a part of an array is longer than the array");
    out.type = first;
    out.data = rest.substr(0, size);
    const std::size_t padded = first == matrix ? size : (std::size_t{size} + 7) / 8 * 8;
    if (padded > rest.size()) bad("a part of an array is longer than the array");
    rest.remove_prefix(padded);
    return out;
  }

  std::string_view take(std::string_view& rest, std::uint32_t type, const char* what) const {
    const Element element = take(rest);
    if (element.type != type) bad(fmt::format("{} of an array has the wrong type", what));
    return element.data;
  }

  // Unpacks one element: tag and body, as long as the tag says, with the right checksum and nothing after it.
  std::string unpack(std::string_view packed) const {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw ResourceError("Not enough memory to unpack a MAT file.");
    struct End {
      z_stream& s;
      ~End() { inflateEnd(&s); }
    } const end{stream};
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());

    std::string out(tag_bytes, '\0');
    const auto run = [&](std::size_t from) {
      stream.next_out = reinterpret_cast<Bytef*>(out.data()) + from;
      stream.avail_out =
          static_cast<uInt>(std::min<std::size_t>(out.size() - from, std::numeric_limits<uInt>::max()));
      return inflate(&stream, Z_SYNC_FLUSH);
    };
    if (run(0) != Z_OK || stream.avail_out != 0) bad("a compressed element cannot be unpacked");
    if (number(out) != matrix) bad("a compressed element is not an array");
    const std::size_t size = number(std::string_view(out).substr(4));
    // Deflate shrinks at most 1032 to 1: a larger claim is false, and is found out before memory is taken.
    if (size / 1100 > packed.size()) bad("a compressed element claims more data than it can hold");
    if (size > limit_)
      throw ResourceError(
          fmt::format("'{}' has an array of {} bytes, more than the memory budget.", source_, size));
    out.resize(tag_bytes + size + 1);  // one more, to see that nothing follows
    int status = Z_OK;
    do {
      status = run(stream.total_out);
    } while (status == Z_OK && stream.total_out < out.size() && stream.avail_in > 0);
    // matio writes text with a tag that counts itself; the checksum has covered both.
    const std::size_t body = stream.total_out - tag_bytes;
    if (status != Z_STREAM_END || stream.avail_in != 0 || (body != size && body + tag_bytes != size))
      bad("a compressed element is cut off or does not match its checksum");
    out.resize(tag_bytes + body);
    return out;
  }

  ArrayHead head(std::string_view& rest) const {
    const std::string_view flags = take(rest, uint32, "the flags");
    if (flags.size() != 8) bad("the flags of an array have the wrong size");
    const std::uint32_t word = number(flags);
    ArrayHead out;
    out.array_class = word & 0xffU;
    out.complex = (word & 0x800U) != 0;
    if (out.array_class == opaque_class) {
      out.name = take(rest, int8, "the name");
      return out;
    }
    const std::string_view dims = take(rest, int32, "the shape");
    if (dims.size() % 4 != 0 || dims.size() < 8 || dims.size() > 128) bad("an array has an impossible shape");
    for (std::size_t i = 0; i < dims.size(); i += 4) {
      const std::uint32_t n = number(dims.substr(i));
      if (n > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()) ||
          __builtin_mul_overflow(out.count, std::uint64_t{n}, &out.count))
        bad("an array has an impossible shape");
      out.shape.push_back(static_cast<Index>(n));
    }
    const Element name = take(rest);
    if (name.type != int8 && name.type != utf8) bad("the name of an array has the wrong type");
    out.name = std::string(name.data);
    return out;
  }

  void numbers(std::string_view& rest, const ArrayHead& array_head) const {
    for (int part = 0; part < (array_head.complex ? 2 : 1); ++part) {
      const Element values = take(rest);
      if (!storage_fits(array_head.array_class, values.type))
        bad("the numbers of an array have the wrong type");
      const std::size_t bytes = type_bytes(values.type);
      if (values.data.size() % bytes != 0 || values.data.size() / bytes != array_head.count)
        bad("an array does not have as many numbers as its shape says");
    }
  }

  // Any number of complete arrays up to the end.
  std::uint64_t arrays(std::string_view& rest, int depth) const {
    std::uint64_t count = 0;
    for (; !rest.empty(); ++count) {
      const std::string_view body = take(rest, matrix, "a member");
      if (!body.empty()) (void)array(body, depth + 1);
    }
    return count;
  }

  void structure(std::string_view& rest, const ArrayHead& array_head, int depth) const {
    if (array_head.array_class == object_class) (void)take(rest, int8, "the class name");
    const std::string_view length = take(rest, int32, "the length of field names");
    if (length.size() != 4) bad("the length of field names has the wrong size");
    const std::uint32_t each = number(length);
    const std::string_view names = take(rest, int8, "the field names");
    if (each == 0 ? !names.empty() : names.size() % each != 0) bad("field names have the wrong size");
    const std::uint64_t fields = each == 0 ? 0 : names.size() / each;
    std::uint64_t members = 0;
    if (__builtin_mul_overflow(fields, array_head.count, &members) || arrays(rest, depth) != members)
      bad("a structure does not have as many members as its shape says");
  }

  void sparse(std::string_view& rest, const ArrayHead& array_head) const {
    (void)take(rest, int32, "the row indices");
    (void)take(rest, int32, "the column starts");
    for (int part = 0; part < (array_head.complex ? 2 : 1); ++part)
      if (type_bytes(take(rest).type) == 0) bad("the numbers of a sparse array have the wrong type");
  }

  // One array; its entry if read_mat returns it.
  std::optional<MatEntry> array(std::string_view rest, int depth) const {
    if (depth > kMostNested) bad("arrays are nested too deeply");
    const ArrayHead h = head(rest);
    const bool number_class = h.array_class >= double_class && h.array_class <= uint64_class;
    if (number_class) {
      numbers(rest, h);
    } else if (h.array_class == cell_class) {
      if (arrays(rest, depth) != h.count) bad("a cell array does not have as many members as its shape says");
    } else if (h.array_class == struct_class || h.array_class == object_class) {
      structure(rest, h, depth);
    } else if (h.array_class == char_class) {
      const std::uint32_t type = take(rest).type;
      if (type_bytes(type) == 0 || type_bytes(type) == 8 || type == single) bad("text has the wrong type");
    } else if (h.array_class == sparse_class) {
      sparse(rest, h);
    } else if (h.array_class == function_class || h.array_class == opaque_class) {
      while (!rest.empty()) (void)take(rest);
    } else {
      bad(fmt::format("an array has the unknown class {}", h.array_class));
    }
    if (!rest.empty()) bad("an array has bytes left over");
    if (depth > 0 || !number_class || h.complex || h.count == 0 || h.shape.size() > 3 || h.name.empty())
      return std::nullopt;
    return MatEntry{h.name, h.shape};
  }

  const std::string& source_;
  bool swapped_;
  std::size_t limit_;
};

}  // namespace

MatVersion mat_version(std::string_view start, const std::string& source) {
  if (start.empty()) throw FileError(fmt::format("'{}' is empty.", source));
  if (start.size() >= header_bytes && start.substr(0, 4).find('\0') == std::string_view::npos) {
    const std::string_view mark = start.substr(124, 4);
    if (mark == std::string_view("\x00\x01IM", 4) || mark == std::string_view("\x01\x00MI", 4))
      return MatVersion::v5;
    if (mark == std::string_view("\x00\x02IM", 4)) return MatVersion::v73;
  }
  throw FileError(fmt::format(
      "'{}' is not a MAT file of version 5 or 7.3, or its beginning is damaged; older ones can be saved "
      "anew with save -v7.",
      source));
}

std::vector<MatEntry> check_mat_v5(std::string_view file, const std::string& source, std::size_t limit) {
  const bool big_endian = file.substr(126, 2) == "MI";
  const Walker walker(source, big_endian != (std::endian::native == std::endian::big), limit);
  return walker.file(file.substr(header_bytes));
}

}  // namespace kloom::data
