// SPDX-License-Identifier: BSD-3-Clause
//
// Constants and small steps that the container's writer and reader share, so that they cannot disagree.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kloom::data::layout {

static_assert(std::endian::native == std::endian::little, "tensors are little-endian and copied as they are");

inline constexpr std::size_t length_bytes = 8;
inline constexpr std::size_t alignment = 64;
inline constexpr std::size_t max_header_bytes = 100'000'000;  // the reference reader's limit
inline constexpr std::size_t block_bytes = std::size_t{4} << 20;
inline constexpr std::string_view crc_name = "kloom.block_crc";

[[nodiscard]] std::string encode_length(std::size_t header_bytes);
[[nodiscard]] std::uint64_t decode_length(std::span<const std::byte> file);

// CRC-32 of zlib, continued from `start`.
[[nodiscard]] std::uint32_t crc32(std::uint32_t start, std::span<const std::byte> bytes);
// "crc32:" and eight digits.
[[nodiscard]] std::string checksum_text(std::uint32_t value);
// Where checksum_text stands in length bytes and header; npos unless there is exactly one such place. Inside
// a JSON string the quotes of the pattern would be escaped, so text can never look like it.
[[nodiscard]] std::size_t checksum_position(std::string_view header);

}  // namespace kloom::data::layout
