// SPDX-License-Identifier: BSD-3-Clause
#include "data/mat_v73.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "kloom/error.h"

namespace kloom::data {
namespace {

constexpr std::size_t superblock_at = 512;
constexpr std::uint64_t max_chunks = 10'000'000;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// An HDF5 handle that is closed; a negative one becomes an exception at once.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
    if (id < 0) throw FileError(fmt::format("{} cannot be opened", what));
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it is the handle

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void require(bool good, const std::string& name, const char* what) {
  if (!good) throw FileError(fmt::format("array '{}' {}", name, what));
}

// The number type of each class of numbers.
const std::map<std::string, hid_t>& number_types() {
  static const std::map<std::string, hid_t> types = {
      {"double", H5T_IEEE_F64LE}, {"single", H5T_IEEE_F32LE}, {"int8", H5T_STD_I8LE},
      {"uint8", H5T_STD_U8LE},    {"int16", H5T_STD_I16LE},   {"uint16", H5T_STD_U16LE},
      {"int32", H5T_STD_I32LE},   {"uint32", H5T_STD_U32LE},  {"int64", H5T_STD_I64LE},
      {"uint64", H5T_STD_U64LE},  {"logical", H5T_STD_U8LE}};
  return types;
}

bool known_other_class(const std::string& name) {
  static constexpr std::array names = {"char",   "cell",  "struct", "function_handle", "canonical empty",
                                       "string", "object"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_attribute(hid_t dataset, const char* attribute, const std::string& name) {
  const htri_t there = H5Aexists(dataset, attribute);
  require(there >= 0, name, "has attributes that cannot be read");
  return there > 0;
}

std::string matlab_class(hid_t dataset, const std::string& name) {
  require(has_attribute(dataset, "MATLAB_class", name), name, "does not say its class");
  const Handle attribute(H5Aopen(dataset, "MATLAB_class", H5P_DEFAULT), H5Aclose, "an attribute");
  const Handle type(H5Aget_type(attribute), H5Tclose, "an attribute");
  const std::size_t size = H5Tget_size(type);
  require(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && size > 0 && size < 256, name,
          "does not say its class in text");
  std::array<char, 257> text{};
  const Handle space(H5Aget_space(attribute), H5Sclose, "an attribute");
  require(H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, type, text.data()) >= 0, name,
          "has a class that cannot be read");
  return text.data();
}

using Extents = std::vector<hsize_t>;

// The filters that numbers went through, as far as they matter here.
struct Filters {
  bool shuffle = false;
  bool deflate = false;
  bool checksum = false;
};

Filters filters_of(hid_t plist, std::size_t item_bytes, const std::string& name) {
  Filters out;
  const int count = H5Pget_nfilters(plist);
  require(count >= 0, name, "has filters that cannot be read");
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::array<unsigned, 8> values{};
    std::size_t value_count = values.size();
    const H5Z_filter_t filter = H5Pget_filter2(plist, static_cast<unsigned>(i), &flags, &value_count,
                                               values.data(), 0, nullptr, &config);
    if (filter == H5Z_FILTER_SHUFFLE) {
      require(!out.shuffle && !out.deflate && value_count >= 1 && values[0] == item_bytes, name,
              "has an impossible filter");
      out.shuffle = true;
    } else if (filter == H5Z_FILTER_DEFLATE) {
      require(!out.deflate && !out.checksum, name, "has an impossible filter");
      out.deflate = true;
    } else if (filter == H5Z_FILTER_FLETCHER32) {
      require(!out.checksum, name, "has an impossible filter");
      out.checksum = true;
    } else {
      require(false, name, "went through an unknown filter");
    }
  }
  return out;
}

// Every chunk of one array against the array's shape.
class ChunkAudit {
 public:
  ChunkAudit(hid_t dataset, hid_t plist, Extents shape, std::size_t item_bytes, std::string name)
      : dataset_(dataset),
        shape_(std::move(shape)),
        item_bytes_(item_bytes),
        name_(std::move(name)),
        filters_(filters_of(plist, item_bytes, name_)) {
    chunk_.resize(shape_.size());
    require(
        H5Pget_chunk(plist, static_cast<int>(chunk_.size()), chunk_.data()) == static_cast<int>(chunk_.size()),
        name_, "has chunks of another rank");
    nominal_ = item_bytes_;
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < chunk_.size(); ++d) {
      require(
          chunk_[d] > 0 && !__builtin_mul_overflow(nominal_, chunk_[d], &nominal_) && nominal_ < (1ULL << 32),
          name_, "has impossible chunks");
      chunks *= (shape_[d] + chunk_[d] - 1) / chunk_[d];
      require(chunks <= max_chunks, name_, "has too many chunks");
    }
  }

  void run() {
    Extents offset(shape_.size(), 0);
    std::uint64_t stored = 0;
    std::size_t d = 0;
    while (d < offset.size()) {
      stored += check(offset);
      for (d = 0; d < offset.size(); ++d) {  // the next place in the grid
        offset[d] += chunk_[d];
        if (offset[d] < shape_[d]) break;
        offset[d] = 0;
      }
    }
    // The sizes in HDF5's index. Where the record of the filters is lost, looking a chunk up answers its
    // unpacked size, and reading takes packed bytes for numbers.
    require(H5Dget_storage_size(dataset_) == stored, name_, "has parts of the wrong size");
  }

 private:
  // H5Dget_chunk_storage_size and H5Dread_chunk look a chunk up as reading does.
  // (H5Dget_chunk_info_by_coord walks through the index instead, and finds chunks that reading takes for
  // lost.) Returns its size in the file.
  std::uint64_t check(const Extents& offset) {
    hsize_t size = 0;
    require(H5Dget_chunk_storage_size(dataset_, offset.data(), &size) >= 0 && size > 0, name_,
            "has lost a part of its numbers");
    const std::uint64_t plain = nominal_ + (filters_.checksum ? 4 : 0);
    require(filters_.deflate ? size <= 2 * plain + 1024 : size == plain, name_, "has a part of the wrong size");
    packed_.resize(size);
    std::uint32_t mask = 0;
    require(H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &mask, packed_.data()) >= 0, name_,
            "cannot be read");
    require(mask == 0, name_, "has a part that skipped a filter");
    bool sticks_out = false;
    for (std::size_t d = 0; d < offset.size(); ++d)
      sticks_out = sticks_out || offset[d] + chunk_[d] > shape_[d];
    if (sticks_out && !filters_.checksum) check_outside(offset);
    return size;
  }

  void unpack() {
    if (!filters_.deflate) {
      plain_ = packed_;
      return;
    }
    plain_.resize(nominal_);
    uLongf got = plain_.size();
    require(::uncompress(plain_.data(), &got, packed_.data(), packed_.size()) == Z_OK && got == plain_.size(),
            name_, "has a part that cannot be unpacked");
  }

  // Shuffling only moves bytes inside a chunk: item i's byte b stands at b·items + i.
  bool is_zero(std::uint64_t item) const {
    const std::uint64_t items = nominal_ / item_bytes_;
    for (std::size_t b = 0; b < item_bytes_; ++b)
      if (plain_[filters_.shuffle ? b * items + item : item * item_bytes_ + b] != 0) return false;
    return true;
  }

  void check_outside(const Extents& offset) {
    unpack();
    const std::uint64_t items = nominal_ / item_bytes_;
    for (std::uint64_t item = 0; item < items; ++item) {
      std::uint64_t rest = item;
      bool inside = true;
      for (std::size_t d = shape_.size(); d-- > 0;) {
        inside = inside && offset[d] + rest % chunk_[d] < shape_[d];
        rest /= chunk_[d];
      }
      require(inside || is_zero(item), name_, "has numbers outside its shape");
    }
  }

  hid_t dataset_;
  Extents shape_;
  Extents chunk_;
  std::size_t item_bytes_;
  std::uint64_t nominal_ = 0;  // bytes of an unpacked chunk
  std::string name_;
  Filters filters_;
  std::vector<Bytef> packed_;
  std::vector<Bytef> plain_;
};

void check_storage(hid_t dataset, const Extents& shape, std::size_t item_bytes, const std::string& name) {
  const Handle plist(H5Dget_create_plist(dataset), H5Pclose, "an array");
  require(H5Pget_external_count(plist) == 0, name, "has its numbers in another file");
  const H5D_layout_t layout = H5Pget_layout(plist);
  if (layout == H5D_CHUNKED) {
    ChunkAudit(dataset, plist, shape, item_bytes, name).run();
    return;
  }
  require(layout == H5D_COMPACT || layout == H5D_CONTIGUOUS, name, "is stored in an unknown way");
  std::uint64_t bytes = item_bytes;
  for (const hsize_t n : shape)
    require(!__builtin_mul_overflow(bytes, n, &bytes), name, "has an impossible shape");
  require(H5Dget_storage_size(dataset) == bytes, name, "does not have as many numbers as its shape says");
}

Extents shape_of(hid_t dataset, const std::string& name) {
  const Handle space(H5Dget_space(dataset), H5Sclose, "an array");
  const int rank = H5Sget_simple_extent_ndims(space);
  require(rank >= 0 && rank <= H5S_MAX_RANK && H5Sis_simple(space) > 0, name, "has an impossible shape");
  Extents shape(static_cast<std::size_t>(rank));
  require(rank == 0 || H5Sget_simple_extent_dims(space, shape.data(), nullptr) == rank, name,
          "has an impossible shape");
  return shape;
}

// Appends the array `name` if read_mat returns it.
void audit_dataset(hid_t file, const std::string& name, std::vector<MatEntry>& out) {
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "an array");
  if (has_attribute(dataset, "MATLAB_object_decode", name) || has_attribute(dataset, "MATLAB_empty", name))
    return;
  const std::string array_class = matlab_class(dataset, name);
  const auto expected = number_types().find(array_class);
  if (expected == number_types().end()) {
    require(known_other_class(array_class), name, "has an unknown class");
    return;
  }
  const Handle type(H5Dget_type(dataset), H5Tclose, "an array");
  if (H5Tget_class(type) == H5T_COMPOUND) return;  // complex numbers
  require(H5Tequal(type, expected->second) > 0, name, "has numbers of another type than its class says");
  const Extents shape = shape_of(dataset, name);
  // MATLAB marks an empty array (above) and gives every other at least two dimensions.
  require(shape.size() >= 2 && std::find(shape.begin(), shape.end(), hsize_t{0}) == shape.end(), name,
          "has an impossible shape");
  check_storage(dataset, shape, H5Tget_size(type), name);
  if (shape.size() > 3) return;
  MatEntry entry{name, {}};
  for (const hsize_t n : shape) {
    require(n <= static_cast<hsize_t>(std::numeric_limits<std::int32_t>::max()), name,
            "has an impossible shape");
    entry.shape.insert(entry.shape.begin(), static_cast<Index>(n));  // HDF5 names the slowest dimension first
  }
  out.push_back(std::move(entry));
}

struct Links {
  std::vector<std::string> names;
  bool foreign = false;
};

herr_t collect(hid_t /*group*/, const char* name, const H5L_info_t* info, void* data) {
  auto* links = static_cast<Links*>(data);
  links->names.emplace_back(name);
  links->foreign = links->foreign || info->type != H5L_TYPE_HARD;
  return links->names.size() > 1'000'000 ? -1 : 0;
}

}  // namespace

void check_superblock(std::string_view start, std::uint64_t file_bytes, const std::string& source) {
  const auto bad = [&](const char* detail) {
    throw FileError(fmt::format("'{}' is damaged: {}.", source, detail));
  };
  if (start.size() < mat_v73_head_bytes) bad("it ends inside its header");
  const std::string_view block = start.substr(superblock_at);
  if (!block.starts_with(std::string_view("\x89HDF\r\n\x1a\n", 8))) bad("the HDF5 mark is missing");
  // Where sizes and addresses stand in the versions of the superblock.
  struct Layout {
    std::size_t sizes, base, end;
  };
  constexpr std::array<Layout, 4> layouts = {{{13, 24, 40}, {13, 28, 44}, {9, 12, 28}, {9, 12, 28}}};
  const auto version = static_cast<unsigned char>(block[8]);
  if (version >= layouts.size()) bad("the version of its HDF5 superblock is unknown");
  const Layout& layout = layouts[version];
  if (block[layout.sizes] != 8 || block[layout.sizes + 1] != 8)
    bad("its HDF5 superblock is not one of MATLAB's");
  if (little_endian(block.substr(layout.base)) != superblock_at)
    bad("its HDF5 part does not start where it should");
  if (little_endian(block.substr(layout.end)) != file_bytes) bad("it is shorter or longer than it says itself");
}

std::vector<MatEntry> audit_hdf5(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "the HDF5 file");
  Links links;
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &links) < 0)
    throw FileError("the list of arrays cannot be read");
  if (links.foreign) throw FileError("it has links to other places");
  std::vector<MatEntry> out;
  for (const auto& name : links.names) {
    H5O_info_t info;
    if (H5Oget_info_by_name(file, name.c_str(), &info, H5P_DEFAULT) < 0)
      throw FileError("the list of arrays cannot be read");
    if (info.type == H5O_TYPE_DATASET)
      audit_dataset(file, name, out);
    else if (info.type != H5O_TYPE_GROUP)
      throw FileError("it has objects of an unknown kind");
  }
  return out;
}

}  // namespace kloom::data
