// SPDX-License-Identifier: BSD-3-Clause
//
// A model file taken apart into its arrays and put together again with right checksums, as somebody would who knows the
// layout of docs/guide/file-formats.md. Written from that page, not from kloom's own reader and writer.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kloom::test {

struct ModelArray {
  std::string name;
  std::string dtype;
  nlohmann::ordered_json shape;
  std::string bytes;

  [[nodiscard]] std::size_t count() const { return bytes.size() / sizeof(double); }
  template <typename Number>
  [[nodiscard]] Number get(std::size_t k) const {
    Number value;
    std::memcpy(&value, bytes.data() + k * sizeof(Number), sizeof(Number));
    return value;
  }
  template <typename Number>
  void set(std::size_t k, Number value) {
    std::memcpy(bytes.data() + k * sizeof(Number), &value, sizeof(Number));
  }
};

struct ModelArrays {
  nlohmann::ordered_json metadata;
  std::vector<ModelArray> arrays;  // without the checksums

  explicit ModelArrays(const std::string& file) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof(length));
    const auto header = nlohmann::ordered_json::parse(file.substr(8, length));
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") metadata = entry;
      if (name == "__metadata__" || name == "kloom.block_crc") continue;
      const auto begin = entry.at("data_offsets")[0].get<std::size_t>();
      const auto end = entry.at("data_offsets")[1].get<std::size_t>();
      arrays.push_back({name, entry.at("dtype"), entry.at("shape"), file.substr(8 + length + begin, end - begin)});
    }
  }

  [[nodiscard]] std::string file() const {
    std::string data;
    nlohmann::ordered_json header;
    header["__metadata__"] = metadata;
    header["__metadata__"]["checksum"] = "crc32:00000000";
    const auto describe = [&](const ModelArray& one) {
      header[one.name] = {{"dtype", one.dtype},
                          {"shape", one.shape},
                          {"data_offsets", {data.size(), data.size() + one.bytes.size()}}};
      data += one.bytes;
    };
    for (const ModelArray& one : arrays) describe(one);
    constexpr std::size_t kBlock = std::size_t{4} << 20;
    std::string sums;
    for (std::size_t start = 0; start < data.size(); start += kBlock) {
      const auto sum = static_cast<std::int64_t>(crc(0, data.substr(start, kBlock)));
      sums.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
    }
    describe({"kloom.block_crc", "I64", {sums.size() / 8}, sums});
    std::string text = header.dump();
    text.append((64 - (8 + text.size()) % 64) % 64, ' ');
    const std::uint64_t length = text.size();
    std::string front(reinterpret_cast<const char*>(&length), sizeof(length));
    front += text;
    const std::string blank = "crc32:00000000";
    char checksum[16];
    std::snprintf(checksum, sizeof(checksum), "crc32:%08x", crc(crc(0, front), sums));
    front.replace(front.find(blank), blank.size(), checksum);
    return front + data;
  }

 private:
  static std::uint32_t crc(std::uint32_t start, const std::string& bytes) {
    return static_cast<std::uint32_t>(
        ::crc32(start, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  }
};

}  // namespace kloom::test
