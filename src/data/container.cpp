// SPDX-License-Identifier: BSD-3-Clause
#include "data/container.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "data/container_json.h"
#include "data/container_layout.h"
#include "kloom/error.h"

namespace kloom::data {

using nlohmann::json;

namespace layout {

std::string encode_length(std::size_t header_bytes) {
  std::string out(length_bytes, '\0');
  for (std::size_t i = 0; i < length_bytes; ++i) out[i] = static_cast<char>((header_bytes >> (8 * i)) & 0xffU);
  return out;
}

std::uint64_t decode_length(std::span<const std::byte> file) {
  std::uint64_t value = 0;
  for (std::size_t i = length_bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(file[i]);
  return value;
}

std::uint32_t crc32(std::uint32_t start, std::span<const std::byte> bytes) {
  if (bytes.empty()) return start;  // zlib answers a null pointer with the initial value
  return static_cast<std::uint32_t>(
      ::crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string checksum_text(std::uint32_t value) {
  return fmt::format("crc32:{:08x}", value);
}

std::size_t checksum_position(std::string_view header) {
  constexpr std::string_view pattern = "\"checksum\":\"crc32:";
  const std::size_t at = header.find(pattern);
  const std::size_t begin = at + std::string_view("\"checksum\":\"").size();
  if (at == std::string_view::npos || header.find(pattern, at + 1) != std::string_view::npos ||
      begin + checksum_text(0).size() > header.size())
    return std::string_view::npos;
  return begin;
}

}  // namespace layout

std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i64:
      return 8;
    case Dtype::f32:
      return 4;
    case Dtype::u8:
      break;
  }
  return 1;
}

std::string_view name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "F64";
    case Dtype::i64:
      return "I64";
    case Dtype::f32:
      return "F32";
    case Dtype::u8:
      break;
  }
  return "U8";
}

struct Container::State {
  std::shared_ptr<const void> owner;
  std::string source;
  std::string version;
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;
  std::map<std::string, std::size_t, std::less<>> by_name;
  std::span<const std::byte> data;            // without the block checksums
  std::vector<std::int64_t> block_crcs;       // empty: blocks are not verified
  std::unique_ptr<std::atomic<bool>[]> good;  // per block
};

namespace {

[[noreturn]] void throw_damaged(const std::string& source, const std::string& detail) {
  throw FileError(fmt::format("'{}' is damaged: {}.", source, detail));
}

// Reads the header's statements about tensors; every one is checked before it is used.
class HeaderParser {
 public:
  HeaderParser(const std::string& source, std::size_t data_bytes) : source_(source), data_bytes_(data_bytes) {}

  std::map<std::string, std::string> metadata(const json& header) const {
    std::map<std::string, std::string> out;
    const auto it = header.find("__metadata__");
    if (it == header.end()) return out;
    if (!it->is_object()) throw_damaged(source_, "its metadata is not an object");
    for (const auto& [key, value] : it->items()) {
      if (!value.is_string()) throw_damaged(source_, fmt::format("metadata {} is not text", json(key).dump()));
      out[key] = value.get<std::string>();
    }
    return out;
  }

  // In the order of their data; together they cover it without overlap or hole.
  std::vector<Tensor> tensors(const json& header) const {
    std::vector<Tensor> out;
    for (const auto& [name, value] : header.items())
      if (name != "__metadata__") out.push_back(tensor(name, value));
    std::sort(out.begin(), out.end(), [](const Tensor& a, const Tensor& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::size_t covered = 0;
    for (const auto& t : out) {
      if (t.begin != covered)
        throw_damaged(source_,
                      fmt::format("tensor {} does not start where the one before ends", json(t.name).dump()));
      covered = t.end;
    }
    if (covered != data_bytes_)
      throw_damaged(source_,
                    fmt::format("its header speaks of {} bytes of data and it has {}", covered, data_bytes_));
    return out;
  }

 private:
  [[noreturn]] void bad(const std::string& name, const char* rule) const {
    throw_damaged(source_, fmt::format("tensor {} {}", json(name).dump(), rule));
  }

  std::optional<std::size_t> whole(const json& value) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (std::uint64_t{1} << 62))
      return std::nullopt;
    return value.get<std::size_t>();
  }

  Dtype dtype(const std::string& name, const json& value) const {
    for (const Dtype d : {Dtype::f64, Dtype::f32, Dtype::i64, Dtype::u8})
      if (value.is_string() && value.get_ref<const std::string&>() == name_of(d)) return d;
    bad(name, "has a type that kloom does not know");
  }

  Tensor tensor(const std::string& name, const json& value) const {
    Fields fields(value, source_, fmt::format("tensor {}", json(name).dump()));
    Tensor out;
    out.name = name;
    out.dtype = dtype(name, fields.at("dtype"));
    std::size_t bytes = size_of(out.dtype);
    const json& shape = fields.array("shape");
    if (shape.size() > 8) bad(name, "has more than 8 dimensions");
    for (const auto& entry : shape) {
      const auto n = whole(entry);
      if (!n || __builtin_mul_overflow(bytes, *n, &bytes)) bad(name, "has an impossible shape");
      out.shape.push_back(static_cast<Index>(*n));
    }
    const json& offsets = fields.array("data_offsets");
    if (offsets.size() != 2) bad(name, "has no pair of offsets");
    const auto begin = whole(offsets[0]);
    const auto end = whole(offsets[1]);
    if (!begin || !end || *begin > *end || *end > data_bytes_) bad(name, "lies outside the file");
    if (*end - *begin != bytes) bad(name, "has a shape that does not fit its size");
    out.begin = *begin;
    out.end = *end;
    fields.finish();
    return out;
  }

  const std::string& source_;
  std::size_t data_bytes_;
};

// Length bytes and header of a file of `file_bytes` bytes whose first bytes are `start`.
std::size_t checked_header_bytes(std::span<const std::byte> start, std::size_t file_bytes,
                                 const std::string& source, std::string_view format) {
  const auto refuse = [&]() {
    throw FileError(fmt::format("'{}' is not a {} file, or its beginning is damaged.", source, format));
  };
  if (file_bytes == 0) throw FileError(fmt::format("'{}' is empty.", source));
  if (start.size() <= layout::length_bytes) refuse();
  const std::uint64_t length = layout::decode_length(start);
  if (length < 2 || length > layout::max_header_bytes || start[layout::length_bytes] != std::byte{'{'} ||
      (layout::length_bytes + length) % layout::alignment != 0)
    refuse();
  if (length > file_bytes - layout::length_bytes) throw_damaged(source, "it ends inside its header");
  return layout::length_bytes + length;
}

void check_checksum(std::string header, std::span<const std::byte> crc_tensor, const std::string& source) {
  const std::size_t at = layout::checksum_position(header);
  if (at == std::string::npos) throw_damaged(source, "it has no checksum");
  const std::string blank = layout::checksum_text(0);
  const std::string stored = header.substr(at, blank.size());
  header.replace(at, blank.size(), blank);
  std::uint32_t checksum = layout::crc32(0, std::as_bytes(std::span(header)));
  checksum = layout::crc32(checksum, crc_tensor);
  if (layout::checksum_text(checksum) != stored)
    throw_damaged(source,
                  "its header does not match its checksum; restore the file from a copy or make it again");
}

// The header of any file starts within this many bytes; reading it first keeps a huge file of another kind
// from being read whole.
class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not block
    if (fd_ < 0) {
      const int error = errno;
      if (error == ENOENT || error == ENOTDIR) throw InvalidArgument(fmt::format("No such file: '{}'.", path));
      fail(error);
    }
    struct stat info {};
    if (::fstat(fd_, &info) != 0) {
      const int error = errno;
      ::close(fd_);
      fail(error);
    }
    if (!S_ISREG(info.st_mode)) {
      ::close(fd_);
      throw InvalidArgument(fmt::format("'{}' is not a regular file.", path));
    }
    bytes_ = static_cast<std::size_t>(info.st_size);
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[noreturn]] void fail(int error) const {
    throw FileError(fmt::format("Cannot read '{}': {}.", path_, std::system_category().message(error)));
  }

  void read(std::byte* out, std::size_t bytes, std::size_t offset) const {
    while (bytes > 0) {
      const ssize_t got = ::pread(fd_, out, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(errno);
      if (got == 0) throw FileError(fmt::format("'{}' became shorter while it was read.", path_));
      out += got;
      offset += static_cast<std::size_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
  }

  // Refuses what cannot be a container before anything large is read.
  void check_start(std::string_view format) const {
    std::array<std::byte, layout::length_bytes + 1> start{};
    const std::size_t got = std::min(bytes_, start.size());
    read(start.data(), got, 0);
    (void)checked_header_bytes(std::span(start).first(got), bytes_, path_, format);
  }

 private:
  std::string path_;
  int fd_ = -1;
  std::size_t bytes_ = 0;
};

}  // namespace

Container Container::parse(std::shared_ptr<const void> owner, std::span<const std::byte> file,
                           std::string source, std::string_view format, Verify verify) {
  auto state = std::make_shared<State>();
  state->owner = std::move(owner);
  state->source = std::move(source);
  const std::string& name = state->source;

  const std::size_t header_bytes = checked_header_bytes(file, file.size(), name, format);
  const std::string header(reinterpret_cast<const char*>(file.data()), header_bytes);
  const std::span<const std::byte> data = file.subspan(header_bytes);
  const json object = parse_json(std::string_view(header).substr(layout::length_bytes), name, "its header");
  if (!object.is_object()) throw_damaged(name, "its header is not an object");
  const HeaderParser parser(name, data.size());
  state->metadata = parser.metadata(object);
  state->tensors = parser.tensors(object);

  const auto expect = [&](const char* key) {
    const auto it = state->metadata.find(key);
    if (it == state->metadata.end())
      throw FileError(fmt::format("'{}' is not a {} file: it does not say '{}'.", name, format, key));
    return it->second;
  };
  if (state->tensors.empty() || state->tensors.back().name != layout::crc_name)
    throw FileError(fmt::format("'{}' is not a {} file: it has no block checksums.", name, format));
  const Tensor crc_tensor = state->tensors.back();
  state->tensors.pop_back();
  state->data = data.first(crc_tensor.begin);
  const std::span<const std::byte> crc_bytes = data.subspan(crc_tensor.begin);
  const std::size_t blocks = (state->data.size() + layout::block_bytes - 1) / layout::block_bytes;
  if (crc_tensor.dtype != Dtype::i64 || crc_bytes.size() != blocks * sizeof(std::int64_t))
    throw_damaged(name, "it has the wrong number of block checksums");
  if (verify != Verify::nothing) {
    check_checksum(header, crc_bytes, name);
    state->block_crcs.resize(blocks);
    if (blocks > 0) std::memcpy(state->block_crcs.data(), crc_bytes.data(), crc_bytes.size());
    state->good = std::make_unique<std::atomic<bool>[]>(blocks);
  }
  const std::string kind = expect("format");
  if (kind != format)
    throw FileError(fmt::format("'{}' is a {} file, not a {} file.", name, json(kind).dump(), format));
  state->version = expect("format_version");
  for (std::size_t i = 0; i < state->tensors.size(); ++i) state->by_name[state->tensors[i].name] = i;

  Container out(std::move(state));
  if (verify == Verify::everything) out.verify(0, out.state_->data.size());
  return out;
}

Container Container::read(const std::string& path, std::string_view format) {
  const File file(path);
  file.check_start(format);
  std::shared_ptr<std::byte[]> memory;
  try {
    memory = std::make_shared_for_overwrite<std::byte[]>(file.bytes());
  } catch (const std::bad_alloc&) {
    throw ResourceError(
        fmt::format("'{}' needs {} bytes of memory to be read, which are not there.", path, file.bytes()));
  }
  file.read(memory.get(), file.bytes(), 0);
  const std::span<const std::byte> bytes(memory.get(), file.bytes());
  return parse(std::move(memory), bytes, path, format, Verify::everything);
}

Container Container::map(const std::string& path, std::string_view format) {
  const File file(path);
  file.check_start(format);
  const std::size_t bytes = file.bytes();
  void* start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (start == MAP_FAILED) file.fail(errno);
  std::shared_ptr<const void> owner(start, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
  return parse(std::move(owner), {static_cast<const std::byte*>(start), bytes}, path, format, Verify::on_use);
}

const std::string& Container::source() const {
  return state_->source;
}
const std::string& Container::version() const {
  return state_->version;
}
const std::map<std::string, std::string>& Container::metadata() const {
  return state_->metadata;
}
const std::vector<Tensor>& Container::tensors() const {
  return state_->tensors;
}
std::shared_ptr<const void> Container::owner() const {
  return state_->owner;
}

const Tensor* Container::find(std::string_view name) const {
  const auto it = state_->by_name.find(name);
  return it == state_->by_name.end() ? nullptr : &state_->tensors[it->second];
}

std::span<const std::byte> Container::bytes(const Tensor& tensor) const {
  return state_->data.subspan(tensor.begin, tensor.end - tensor.begin);
}

void Container::verify(std::size_t begin, std::size_t end) const {
  if (state_->block_crcs.empty() || begin >= end) return;
  const std::size_t last = std::min((end - 1) / layout::block_bytes, state_->block_crcs.size() - 1);
  for (std::size_t block = begin / layout::block_bytes; block <= last; ++block) {
    if (state_->good[block].load(std::memory_order_relaxed)) continue;
    const std::size_t first = block * layout::block_bytes;
    const auto bytes = state_->data.subspan(first, std::min(layout::block_bytes, state_->data.size() - first));
    if (static_cast<std::int64_t>(layout::crc32(0, bytes)) != state_->block_crcs[block])
      damaged(fmt::format(
          "block {} of its data does not match its checksum; restore the file from a copy or make it again",
          block + 1));
    state_->good[block].store(true, std::memory_order_relaxed);
  }
}

void Container::damaged(const std::string& detail) const {
  throw_damaged(state_->source, detail);
}

const Tensor& TensorReader::tensor(const std::string& name, Dtype dtype, std::size_t rank) {
  const Tensor* found = container_.find(name);
  if (found == nullptr) container_.damaged(fmt::format("tensor '{}' is missing", name));
  if (found->dtype != dtype || found->shape.size() != rank)
    container_.damaged(fmt::format("tensor '{}' is not {} of rank {}", name, name_of(dtype), rank));
  used_.push_back(name);
  return *found;
}

Matrix TensorReader::matrix(const std::string& name) {
  const Tensor& t = tensor(name, Dtype::f64, 2);
  container_.verify(t.begin, t.end);
  Matrix out(t.shape[0], t.shape[1]);
  const std::byte* next = container_.bytes(t).data();
  for (Index i = 0; i < out.rows() && out.cols() > 0; ++i)
    for (Index j = 0; j < out.cols(); ++j, next += sizeof(double))
      std::memcpy(&out(i, j), next, sizeof(double));
  return out;
}

Vector TensorReader::vector(const std::string& name) {
  const Tensor& t = tensor(name, Dtype::f64, 1);
  container_.verify(t.begin, t.end);
  Vector out(static_cast<std::size_t>(t.shape[0]));
  if (!out.empty()) std::memcpy(out.data(), container_.bytes(t).data(), out.size() * sizeof(double));
  return out;
}

std::vector<Index> TensorReader::indices(const std::string& name) {
  static_assert(sizeof(Index) == sizeof(std::int64_t));
  const Tensor& t = tensor(name, Dtype::i64, 1);
  container_.verify(t.begin, t.end);
  std::vector<Index> out(static_cast<std::size_t>(t.shape[0]));
  if (!out.empty()) std::memcpy(out.data(), container_.bytes(t).data(), out.size() * sizeof(Index));
  return out;
}

std::string TensorReader::text(const std::string& name) {
  const Tensor& t = tensor(name, Dtype::u8, 1);
  container_.verify(t.begin, t.end);
  const auto bytes = container_.bytes(t);
  return bytes.empty() ? std::string() : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void TensorReader::finish(std::string_view prefix) const {
  for (const auto& t : container_.tensors()) {
    if (std::find(used_.begin(), used_.end(), t.name) != used_.end()) continue;
    if (!prefix.empty() && t.name.starts_with(prefix)) continue;
    throw FileError(
        fmt::format("'{}' holds {}, which this version of kloom does not know; use a newer version.",
                    container_.source(), json(t.name).dump()));
  }
}

}  // namespace kloom::data
