// SPDX-License-Identifier: BSD-3-Clause
#include "data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "data/texts.h"
#include "data/zip.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void damaged(const std::string& source, std::string_view what) {
  throw FileError(fmt::format("{}: not a readable NPY file: {}.", source, what));
}

// The header is the text of a Python dictionary with exactly these three keys.
struct Header {
  std::string type;
  bool fortran = false;
  std::vector<Index> shape;
};

class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Header read() {
    Header header;
    std::array<bool, 3> seen{};
    take('{');
    while (!peek('}')) {
      read_key(header, seen);
      if (!peek('}')) {
        take(',');
      }
    }
    take('}');
    skip_blanks();
    if (position_ != text_.size() || seen != std::array<bool, 3>{true, true, true}) {
      fail();
    }
    return header;
  }

 private:
  [[noreturn]] void fail() const { damaged(source_, "its header is damaged"); }

  void read_key(Header& header, std::array<bool, 3>& seen) {
    const std::string_view key = read_text();
    take(':');
    std::size_t which = 0;
    if (key == "descr") {
      if (peek('[')) {
        throw InvalidArgument(
            fmt::format("{}: this is a structured array. Save plain numbers, one array per thing.", source_));
      }
      header.type = read_text();
    } else if (key == "fortran_order") {
      which = 1;
      header.fortran = read_bool();
    } else if (key == "shape") {
      which = 2;
      header.shape = read_shape();
    } else {
      fail();
    }
    if (seen[which]) {
      fail();
    }
    seen[which] = true;
  }

  void skip_blanks() { position_ = std::min(text_.find_first_not_of(" \t\n\r", position_), text_.size()); }

  bool peek(char c) {
    skip_blanks();
    return position_ < text_.size() && text_[position_] == c;
  }

  void take(char c) {
    if (!peek(c)) {
      fail();
    }
    ++position_;
  }

  std::string_view read_text() {
    const char quote = peek('\'') ? '\'' : '"';
    take(quote);
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) {
      fail();
    }
    const std::string_view result = text_.substr(position_, end - position_);
    position_ = end + 1;
    return result;
  }

  bool read_bool() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    fail();
  }

  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    take('(');
    while (!peek(')')) {
      Index extent = 0;
      const char* const begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) {
        fail();
      }
      position_ += static_cast<std::size_t>(end - begin);
      shape.push_back(extent);
      if (!peek(')')) {
        take(',');
      }
    }
    take(')');
    return shape;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t position_ = 0;
};

struct ElementType {
  char kind = 'f';        // f i u b U S
  std::size_t bytes = 8;  // of one element
  bool swap = false;      // not this machine's byte order
};

ElementType element_type(const std::string& text, const std::string& source) {
  const auto refuse = [&]() {
    throw InvalidArgument(
        fmt::format("{}: elements of type '{}' cannot be read. Save numbers (f4, f8, i1 to i8, u1 to u8, bool) "
                    "or texts (U, S).",
                    source, text));
  };
  if (text.size() < 2) {
    damaged(source, "its header names no type");
  }
  const bool ordered = text[0] == '<' || text[0] == '>' || text[0] == '|' || text[0] == '=';
  const std::string_view rest = std::string_view(text).substr(ordered ? 1 : 0);
  if (rest.starts_with('O')) {
    throw InvalidArgument(fmt::format(
        "{}: this array holds Python objects, which are never read. Save numbers or texts.", source));
  }
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), count);
  if (error != std::errc{} || end != rest.data() + rest.size()) {
    refuse();
  }
  ElementType type;
  type.kind = rest[0];
  type.swap = text[0] == (std::endian::native == std::endian::little ? '>' : '<');
  constexpr std::size_t longest_text = std::size_t{1} << 28U;
  const bool power = count == 1 || count == 2 || count == 4 || count == 8;
  const bool known = (type.kind == 'f' && (count == 4 || count == 8)) ||
                     ((type.kind == 'i' || type.kind == 'u') && power) || (type.kind == 'b' && count == 1) ||
                     ((type.kind == 'U' || type.kind == 'S') && count < longest_text);
  if (!known) {
    refuse();
  }
  type.bytes = type.kind == 'U' ? count * 4 : count;
  return type;
}

// Up to eight bytes as an unsigned number.
std::uint64_t load(const char* at, const ElementType& type) {
  std::uint64_t value = 0;
  const bool little = (std::endian::native == std::endian::little) != type.swap;
  for (std::size_t i = 0; i < type.bytes; ++i) {
    const std::size_t k = little ? type.bytes - 1 - i : i;
    value = value << 8U | static_cast<unsigned char>(at[k]);
  }
  return value;
}

double read_number(const char* at, const ElementType& type, const std::string& source) {
  const std::uint64_t bits = load(at, type);
  if (type.kind == 'f') {
    return type.bytes == 8 ? std::bit_cast<double>(bits)
                           : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  if (type.kind == 'b') {
    return bits != 0 ? 1.0 : 0.0;
  }
  constexpr std::uint64_t exact = std::uint64_t{1} << 53U;
  const unsigned spare = 64U - 8U * static_cast<unsigned>(type.bytes);
  const bool negative = type.kind == 'i' && (bits << spare >> 63U) != 0;
  // Two's complement, sign-extended; the magnitude is taken unsigned, so the smallest number
  // is no special case.
  const std::uint64_t extended = negative && spare != 0 ? bits | (~std::uint64_t{0} << (64U - spare)) : bits;
  const std::uint64_t magnitude = negative ? ~extended + 1 : extended;
  if (magnitude > exact) {
    throw InvalidArgument(
        fmt::format("{}: the integer {}{} has more digits than a double can hold. Save such numbers as texts.",
                    source, negative ? "-" : "", magnitude));
  }
  return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

void append_utf8(std::string& out, std::uint32_t c, const std::string& source) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    damaged(source, fmt::format("a text holds the impossible character U+{:X}", c));
  }
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

// Texts are padded with zeros to a common length.
std::string read_string(const char* at, const ElementType& type, const std::string& source) {
  std::string text;
  if (type.kind == 'S') {
    text.assign(at, type.bytes);
  } else {
    ElementType character{'u', 4, type.swap};
    for (std::size_t k = 0; k < type.bytes; k += 4) {
      append_utf8(text, static_cast<std::uint32_t>(load(at + k, character)), source);
    }
  }
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

// The number of elements, or nothing if it cannot be held. An extent of 0 makes it 0, but does not excuse the others: who
// goes through the columns of an array without rows would never come to an end.
std::optional<std::size_t> element_count(const std::vector<Index>& shape) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max()) / sizeof(double);
  std::size_t count = 1;
  for (const Index extent : shape) {
    const auto n = std::max<std::size_t>(1, static_cast<std::size_t>(extent));
    if (count > most / n) return std::nullopt;
    count *= n;
  }
  return std::ranges::count(shape, Index{0}) > 0 ? 0 : count;
}

// Where element k of the file (in its own order) belongs in column-major order.
class ColumnMajorPlaces {
 public:
  ColumnMajorPlaces(const std::vector<Index>& shape, bool fortran) : fortran_(fortran) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      extent_[d] = static_cast<std::size_t>(shape[d]);
    }
  }
  [[nodiscard]] std::size_t operator()(std::size_t k) const {
    if (fortran_) {
      return k;
    }
    const std::size_t third = k % extent_[2];
    const std::size_t second = k / extent_[2] % extent_[1];
    const std::size_t first = k / extent_[2] / extent_[1];
    return first + extent_[0] * (second + extent_[1] * third);
  }

 private:
  bool fortran_;
  std::array<std::size_t, 3> extent_{1, 1, 1};
};

// Cuts the header off `bytes`.
Header take_header(std::string_view& bytes, const std::string& source) {
  if (!bytes.starts_with(magic)) {
    damaged(source, "it does not begin with NumPy's mark");
  }
  constexpr std::size_t version_end = 8;
  const std::size_t major = bytes.size() > 6 ? static_cast<unsigned char>(bytes[6]) : 0;
  if (major < 1 || major > 3) {
    damaged(source, fmt::format("its version is {}; 1 to 3 are known", major));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < version_end + width) {
    damaged(source, "it is truncated");
  }
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;) {
    length = length << 8U | static_cast<unsigned char>(bytes[version_end + i]);
  }
  bytes.remove_prefix(version_end + width);
  if (length > bytes.size()) {
    damaged(source, "it is truncated");
  }
  Header header = HeaderReader(bytes.substr(0, length), source).read();
  bytes.remove_prefix(length);
  return header;
}

// An array without its elements yet; `bytes` of them follow.
Array empty_array(const Header& header, const ElementType& type, std::size_t bytes, const std::string& source,
                  std::size_t limit) {
  Array array;
  array.shape = header.shape;
  array.is_text = type.kind == 'U' || type.kind == 'S';
  if (array.shape.empty() || array.shape.size() > 3) {
    throw InvalidArgument(
        fmt::format("{}: an array of {} dimensions; 1 to 3 can be read.", source, array.shape.size()));
  }
  const std::optional<std::size_t> count = element_count(array.shape);
  const std::size_t width = std::max<std::size_t>(type.bytes, 1);
  if (!count || *count > bytes / width || *count * type.bytes != bytes) {
    damaged(source, fmt::format("its shape ({}) asks for more or fewer bytes than the {} that follow",
                                fmt::join(array.shape, ", "), bytes));
  }
  const std::size_t held = array.is_text ? sizeof(std::string) + type.bytes : sizeof(double);
  if (*count > limit / held) {
    throw ResourceError(
        fmt::format("{}: {} elements take more than {}, the memory that may be used. Use a larger memory "
                    "budget (--memory).",
                    source, *count, format_bytes(limit)));
  }
  if (array.is_text) {
    array.texts.resize(*count);
  } else {
    array.values.resize(*count);
  }
  return array;
}

// Those elements, in the order of the file, into their places.
void fill(Array& array, const Header& header, const ElementType& type, Range elements, const char* bytes,
          const std::string& source) {
  const ColumnMajorPlaces place(array.shape, header.fortran);
  for (Index element = elements.begin; element < elements.end; ++element, bytes += type.bytes) {
    const auto k = static_cast<std::size_t>(element);
    if (array.is_text) {
      array.texts[place(k)] = read_string(bytes, type, source);
    } else {
      array.values[place(k)] = read_number(bytes, type, source);
    }
  }
}

constexpr std::size_t kPiece = std::size_t{1} << 20U;

// An array of `size` bytes, piece by piece: nothing but the array is held.
Array read_array(const NextBytes& next, std::size_t size, const std::string& source, std::size_t limit) {
  std::string piece(std::min(size, kPiece), '\0');
  next(piece.data(), piece.size());
  std::size_t left = size - piece.size();
  std::string_view rest = piece;
  const Header header = take_header(rest, source);
  const ElementType type = element_type(header.type, source);
  Array array = empty_array(header, type, rest.size() + left, source, limit);
  piece.erase(0, piece.size() - rest.size());
  for (Index done = 0; done < array.size();) {
    // Texts of no length take no bytes.
    const Index whole = type.bytes == 0 ? array.size() : static_cast<Index>(piece.size() / type.bytes);
    fill(array, header, type, {done, done + whole}, piece.data(), source);
    done += whole;
    piece.erase(0, static_cast<std::size_t>(whole) * type.bytes);
    const std::size_t begun = piece.size();
    const std::size_t more = std::min(left, std::max(kPiece, type.bytes) - begun);
    piece.resize(begun + more);
    next(piece.data() + begun, more);
    left -= more;
  }
  return array;
}

// A file that is read from anywhere.
class RandomAccessFile {
 public:
  explicit RandomAccessFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  void read(std::uint64_t offset, char* out, std::size_t count) {
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(out, static_cast<std::streamsize>(count)))
      throw FileError(fmt::format("{}: cannot be read.", path_));
  }
  [[nodiscard]] bool starts_with(std::string_view mark) {
    std::string begin(mark.size(), '\0');
    read(0, begin.data(), begin.size());
    return begin == mark;
  }

 private:
  const std::string& path_;
  std::ifstream file_;
};

// Size of a file that is worth reading in pieces. Small files, pipes, and names of nothing at all are read whole, where
// the usual refusals are made.
std::optional<std::uint64_t> large_size(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size <= kPiece) return std::nullopt;
  return size;
}

std::vector<Array> arrays_of_zip(const ZipBytes& archive, const std::string& source,
                                 const UnpackLimits& limits) {
  std::vector<Array> arrays;
  std::size_t held = 0;
  constexpr std::string_view ending = ".npy";
  read_zip(archive, source, limits, [&](const ZipEntry& entry) {
    if (!entry.name.ends_with(ending)) return;
    const std::string name = entry.name.substr(0, entry.name.size() - ending.size());
    arrays.push_back(
        read_array(entry.next, entry.size, fmt::format("{} ({})", source, name), limits.bytes - held));
    arrays.back().name = name;
    held = std::min(limits.bytes, held + arrays.back().bytes());
  });
  if (arrays.empty()) {
    throw InvalidArgument(fmt::format("{}: there are no arrays (.npy) in the archive.", source));
  }
  return arrays;
}

}  // namespace

std::size_t Array::bytes() const {
  return values.size() * sizeof(double) + text_bytes(texts);
}

Array parse_npy(std::string_view bytes, const std::string& source, std::size_t limit) {
  std::string_view rest = bytes;
  const auto next = [&](char* out, std::size_t count) {
    rest.copy(out, count);
    rest.remove_prefix(count);
  };
  return read_array(next, bytes.size(), source, limit);
}

Array read_npy(const std::string& path, const UnpackLimits& limits) {
  const auto size = large_size(path);
  RandomAccessFile file(path);
  if (!size || !file.starts_with(magic)) return parse_npy(read_unpacked(path, limits), path, limits.bytes);
  std::uint64_t position = 0;
  const auto next = [&](char* out, std::size_t count) {
    file.read(position, out, count);
    position += count;
  };
  return read_array(next, static_cast<std::size_t>(*size), path, limits.bytes);
}

std::vector<Array> parse_npz(std::string_view bytes, const std::string& source, const UnpackLimits& limits) {
  return arrays_of_zip(zip_in_memory(bytes), source, limits);
}

std::vector<Array> read_npz(const std::string& path, const UnpackLimits& limits) {
  const auto size = large_size(path);
  RandomAccessFile file(path);
  if (!size || !file.starts_with("PK")) return parse_npz(read_unpacked(path, limits), path, limits);
  const auto read = [&](std::uint64_t offset, char* out, std::size_t count) { file.read(offset, out, count); };
  return arrays_of_zip({*size, read}, path, limits);
}

}  // namespace kloom::data
