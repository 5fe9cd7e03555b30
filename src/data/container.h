// SPDX-License-Identifier: BSD-3-Clause
//
// The container of model and bank files: the safetensors layout with checksums.
//
//   8 bytes    length of the header, little-endian
//   header     JSON: {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets"}, …}, padded
//              with spaces so that data starts at a multiple of 64
//   data       the tensors, row-major, little-endian, one after the other without holes
//
// The layout has no checksum, so kloom adds two things that other readers may ignore:
//   * the last tensor, `kloom.block_crc`: the CRC-32 of each block of 4 MiB of the data before it, so that a
//     mapped file is verified block by block, when a block is first used;
//   * the metadata entry `checksum`: the CRC-32 of length, header (with the digits of this entry as zeros) and
//     `kloom.block_crc`.
// Every byte of the file is under one of them.
//
// Names of samples and columns may be in any encoding, while JSON is UTF-8: everything that is text for people
// goes through encode_text (container_json.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/file_replacement.h"
#include "kloom/matrix.h"

namespace kloom::data {

// Kernels over samples: kernels/banks/bank_file.h writes and maps them, data/matrices.h reads them as matrices.
inline constexpr std::string_view bank_format = "kloom-bank";
inline constexpr std::string_view bank_version = "1";

enum class Dtype { f64, f32, i64, u8 };

[[nodiscard]] std::size_t size_of(Dtype dtype);
[[nodiscard]] std::string_view name_of(Dtype dtype);

struct Tensor {
  std::string name;
  Dtype dtype = Dtype::u8;
  std::vector<Index> shape;
  std::size_t begin = 0;  // bytes from the start of the data
  std::size_t end = 0;
};

// What a file will hold, before any data is there: metadata and the tensors in the order of their data.
class ContainerPlan {
 public:
  // `format`: "kloom-model", "kloom-bank"; `version`: of that format.
  ContainerPlan(std::string format, std::string version);

  // Both must be UTF-8.
  void set(const std::string& key, const std::string& value);
  void add(const std::string& name, Dtype dtype, std::vector<Index> shape);

  [[nodiscard]] std::size_t data_bytes() const { return data_bytes_; }  // without the block checksums
  [[nodiscard]] std::size_t file_bytes() const;
  // Length bytes and header, the checksum's digits as zeros.
  [[nodiscard]] std::string header() const;

 private:
  std::map<std::string, std::string> metadata_;
  std::vector<Tensor> tensors_;
  std::size_t data_bytes_ = 0;
};

// Writes by the rule of file_replacement.h: the path holds the old file or, after `finish`, the whole new one.
// Throws FileError (disk full, no permission) or InvalidArgument (no such folder, not a regular file).
class ContainerWriter {
 public:
  ContainerWriter(const ContainerPlan& plan, const std::string& path);
  // Into memory; ends with `finish_in_memory`.
  explicit ContainerWriter(const ContainerPlan& plan);

  // The next bytes of the planned tensors.
  void write(const void* data, std::size_t bytes);
  void write(std::span<const double> values) { write(values.data(), values.size_bytes()); }
  // Writes checksums, makes the file durable, gives it its name.
  void finish();
  // The whole file.
  [[nodiscard]] std::string finish_in_memory();

 private:
  // The digits of the checksum and their place, after everything else has been put.
  struct Seal {
    std::string digits;
    std::size_t place = 0;
  };
  Seal seal();
  void put(const void* data, std::size_t bytes);
  void flush();
  void close_block();

  std::optional<FileReplacement> file_;  // none: into memory
  std::string header_;
  std::string buffer_;
  std::size_t left_ = 0;      // planned bytes that are still to come
  std::size_t in_block_ = 0;  // bytes in the current block
  std::uint32_t crc_ = 0;     // of the current block
  std::vector<std::int64_t> block_crcs_;
};

// What a reader checks. `nothing` is for fuzzing: it leaves out the checksums, so that what lies behind them is
// reached; all other checks stay.
enum class Verify { everything, on_use, nothing };

// An open file: every statement of its header has been checked. Copies share the bytes.
class Container {
 public:
  // Reads the whole file and verifies every block. Throws InvalidArgument (no such file) or FileError.
  static Container read(const std::string& path, std::string_view format);
  // Maps the file; blocks are verified by `verify`. If another program shortens the file while it is mapped,
  // the next access to the lost part ends the process (SIGBUS): the price of mapping. kloom itself replaces
  // files by rename and never does that.
  static Container map(const std::string& path, std::string_view format);
  // From bytes that `owner` keeps alive; `source` is the name in messages.
  static Container parse(std::shared_ptr<const void> owner, std::span<const std::byte> file, std::string source,
                         std::string_view format, Verify verify);

  [[nodiscard]] const std::string& source() const;
  [[nodiscard]] const std::string& version() const;
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const;
  // Without the block checksums, in the order of their data.
  [[nodiscard]] const std::vector<Tensor>& tensors() const;
  [[nodiscard]] const Tensor* find(std::string_view name) const;
  [[nodiscard]] std::span<const std::byte> bytes(const Tensor& tensor) const;
  [[nodiscard]] std::shared_ptr<const void> owner() const;

  // Throws FileError if a block that overlaps these bytes of the data is damaged. Each block is looked at
  // once; safe to call from several threads.
  void verify(std::size_t begin, std::size_t end) const;

  // Throws FileError: "'path' is damaged: detail."
  [[noreturn]] void damaged(const std::string& detail) const;

 private:
  struct State;
  explicit Container(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// Copies tensors out of a container and remembers which were asked for, so that a file with content that this
// version does not know is refused instead of half understood.
class TensorReader {
 public:
  explicit TensorReader(const Container& container) : container_(container) {}

  [[nodiscard]] bool has(std::string_view name) const { return container_.find(name) != nullptr; }
  [[nodiscard]] Matrix matrix(const std::string& name);               // F64 [rows, cols]
  [[nodiscard]] Vector vector(const std::string& name);               // F64 [n]
  [[nodiscard]] std::vector<Index> indices(const std::string& name);  // I64 [n]
  [[nodiscard]] std::string text(const std::string& name);            // U8 [n]
  [[nodiscard]] const Tensor& tensor(const std::string& name, Dtype dtype, std::size_t rank);
  // Throws FileError if there are tensors that nobody asked for, except those whose names start with `prefix`
  // (empty: no exception).
  void finish(std::string_view prefix = {}) const;

  [[nodiscard]] const Container& container() const { return container_; }

 private:
  const Container& container_;
  std::vector<std::string> used_;
};

// A file put together from named sections. Matrices are borrowed and must outlive the list.
class SectionList {
 public:
  using Emit = std::function<void(ContainerWriter&)>;

  void add(std::string name, Dtype dtype, std::vector<Index> shape, Emit emit);
  void matrix(std::string name, const Matrix& matrix);  // row-major in the file
  void vector(std::string name, Vector values);
  void indices(std::string name, std::vector<Index> values);
  void text(std::string name, std::string bytes);

  // Adds the sections to `plan`; those of 8-byte types first, so that they stay aligned for other readers.
  void plan_into(ContainerPlan& plan);
  // Writes the data in the order of `plan_into`.
  void write_to(ContainerWriter& writer) const;

 private:
  struct Section {
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<Index> shape;
    Emit emit;
  };
  std::vector<Section> sections_;
};

}  // namespace kloom::data
