// SPDX-License-Identifier: BSD-3-Clause
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/container.h"
#include "data/container_layout.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

Index block_count(std::size_t data_bytes) {
  return static_cast<Index>((data_bytes + layout::block_bytes - 1) / layout::block_bytes);
}

std::size_t tensor_bytes(const Tensor& tensor) {
  std::size_t count = size_of(tensor.dtype);
  for (const Index n : tensor.shape) count *= static_cast<std::size_t>(n);
  return count;
}

ordered_json describe(const Tensor& tensor) {
  return {
      {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
}

}  // namespace

ContainerPlan::ContainerPlan(std::string format, std::string version) {
  metadata_["format"] = std::move(format);
  metadata_["format_version"] = std::move(version);
  metadata_["checksum"] = layout::checksum_text(0);
}

void ContainerPlan::set(const std::string& key, const std::string& value) {
  metadata_[key] = value;
}

void ContainerPlan::add(const std::string& name, Dtype dtype, std::vector<Index> shape) {
  Tensor tensor{name, dtype, std::move(shape), data_bytes_, 0};
  tensor.end = tensor.begin + tensor_bytes(tensor);
  data_bytes_ = tensor.end;
  tensors_.push_back(std::move(tensor));
}

std::string ContainerPlan::header() const {
  Tensor checksums{std::string(layout::crc_name), Dtype::i64, {block_count(data_bytes_)}, data_bytes_, 0};
  checksums.end = checksums.begin + tensor_bytes(checksums);
  ordered_json object;
  object["__metadata__"] = metadata_;
  for (const auto& tensor : tensors_) object[tensor.name] = describe(tensor);
  object[checksums.name] = describe(checksums);

  std::string text = object.dump();
  const std::size_t unpadded = layout::length_bytes + text.size();
  text.append((layout::alignment - unpadded % layout::alignment) % layout::alignment, ' ');
  return layout::encode_length(text.size()) + text;
}

std::size_t ContainerPlan::file_bytes() const {
  return header().size() + data_bytes_ +
         static_cast<std::size_t>(block_count(data_bytes_)) * size_of(Dtype::i64);
}

ContainerWriter::ContainerWriter(const ContainerPlan& plan, const std::string& path)
    : file_(std::in_place, path), header_(plan.header()), left_(plan.data_bytes()) {
  put(header_.data(), header_.size());
}

ContainerWriter::ContainerWriter(const ContainerPlan& plan) : header_(plan.header()), left_(plan.data_bytes()) {
  buffer_.reserve(plan.file_bytes());
  put(header_.data(), header_.size());
}

void ContainerWriter::flush() {
  file_->write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void ContainerWriter::put(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  if (!file_) {
    buffer_.append(next, bytes);
    return;
  }
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, buffer_bytes - buffer_.size());
    buffer_.append(next, part);
    next += part;
    bytes -= part;
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void ContainerWriter::close_block() {
  block_crcs_.push_back(static_cast<std::int64_t>(crc_));
  crc_ = 0;
  in_block_ = 0;
}

void ContainerWriter::write(const void* data, std::size_t bytes) {
  if (bytes > left_) throw InternalError("more data than planned for a container file");
  left_ -= bytes;
  const auto* next = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, layout::block_bytes - in_block_);
    crc_ = layout::crc32(crc_, {next, part});
    put(next, part);
    in_block_ += part;
    next += part;
    bytes -= part;
    if (in_block_ == layout::block_bytes) close_block();
  }
}

ContainerWriter::Seal ContainerWriter::seal() {
  if (left_ != 0) throw InternalError("less data than planned for a container file");
  if (in_block_ > 0) close_block();
  const std::size_t crc_bytes = block_crcs_.size() * sizeof(std::int64_t);
  put(block_crcs_.data(), crc_bytes);
  std::uint32_t checksum = layout::crc32(0, std::as_bytes(std::span(header_)));
  checksum = layout::crc32(checksum, std::as_bytes(std::span(block_crcs_)));
  const std::size_t place = layout::checksum_position(header_);
  if (place == std::string::npos) throw InternalError("a container header without its checksum entry");
  return {layout::checksum_text(checksum), place};
}

std::string ContainerWriter::finish_in_memory() {
  const Seal checksum = seal();
  buffer_.replace(checksum.place, checksum.digits.size(), checksum.digits);
  return std::move(buffer_);
}

void ContainerWriter::finish() {
  const auto [digits, place] = seal();
  flush();
  file_->overwrite(place, digits.data(), digits.size());
  file_->commit();
}

void SectionList::add(std::string name, Dtype dtype, std::vector<Index> shape, Emit emit) {
  sections_.push_back({std::move(name), dtype, std::move(shape), std::move(emit)});
}

void SectionList::matrix(std::string name, const Matrix& matrix) {
  add(std::move(name), Dtype::f64, {matrix.rows(), matrix.cols()}, [&matrix](ContainerWriter& writer) {
    Vector row(static_cast<std::size_t>(matrix.cols()));
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j < matrix.cols(); ++j) row[static_cast<std::size_t>(j)] = matrix(i, j);
      writer.write(row);
    }
  });
}

void SectionList::vector(std::string name, Vector values) {
  const auto n = static_cast<Index>(values.size());
  add(std::move(name), Dtype::f64, {n}, [v = std::move(values)](ContainerWriter& writer) { writer.write(v); });
}

void SectionList::indices(std::string name, std::vector<Index> values) {
  const auto n = static_cast<Index>(values.size());
  add(std::move(name), Dtype::i64, {n},
      [v = std::move(values)](ContainerWriter& writer) { writer.write(v.data(), v.size() * sizeof(Index)); });
}

void SectionList::text(std::string name, std::string bytes) {
  const auto n = static_cast<Index>(bytes.size());
  add(std::move(name), Dtype::u8, {n},
      [b = std::move(bytes)](ContainerWriter& writer) { writer.write(b.data(), b.size()); });
}

void SectionList::plan_into(ContainerPlan& plan) {
  std::stable_sort(sections_.begin(), sections_.end(),
                   [](const Section& a, const Section& b) { return size_of(a.dtype) > size_of(b.dtype); });
  for (const auto& section : sections_) plan.add(section.name, section.dtype, section.shape);
}

void SectionList::write_to(ContainerWriter& writer) const {
  for (const auto& section : sections_) section.emit(writer);
}

}  // namespace kloom::data
