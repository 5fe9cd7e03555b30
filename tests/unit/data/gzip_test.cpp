// SPDX-License-Identifier: BSD-3-Clause
#include "data/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

#include "data_support.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using testing_support::expect_error;
using testing_support::TempFolder;

constexpr std::size_t plenty = std::size_t{1} << 30U;

// Packed by zlib's own one-call interface.
std::string pack(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string noise(std::size_t size) {
  std::mt19937 random(5);
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>(random());
  }
  return text;
}

TEST(Gzip, UnpacksWhatZlibPacked) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(1000000, 'x'), noise(300000)}) {
    EXPECT_EQ(gunzip(pack(text), "t.gz", {plenty}), text);
  }
}

TEST(Gzip, SeveralMembersAndPadding) {
  EXPECT_EQ(gunzip(pack("ab") + pack("") + pack("cd"), "t.gz", {plenty}), "abcd");
  EXPECT_EQ(gunzip(pack("ab") + std::string(512, '\0'), "t.gz", {plenty}), "ab");
}

TEST(Gzip, EveryTruncationIsRefused) {
  const std::string packed = pack(noise(2000));
  for (std::size_t n = 0; n < packed.size(); ++n) {
    EXPECT_THROW(static_cast<void>(gunzip(packed.substr(0, n), "t.gz", {plenty})), FileError) << n;
  }
  expect_error<FileError>([&] { static_cast<void>(gunzip(packed.substr(0, 100), "t.gz", {plenty})); },
                          {"t.gz", "truncated"});
}

TEST(Gzip, EveryChangedByteAfterTheHeaderIsRefusedOrHarmless) {
  const std::string text = noise(1000);
  const std::string packed = pack(text);
  for (std::size_t n = 10; n < packed.size(); ++n) {
    std::string changed = packed;
    changed[n] = static_cast<char>(changed[n] ^ 0x5A);
    try {
      EXPECT_EQ(gunzip(changed, "t.gz", {plenty}), text) << n;
    } catch (const FileError&) {
    }
  }
}

TEST(Gzip, RefusesOtherBytesAndTooMuch) {
  expect_error<FileError>([] { static_cast<void>(gunzip("a,b\n", "t.gz", {plenty})); }, {"not gzip"});
  expect_error<FileError>([] { static_cast<void>(gunzip(pack("ab") + "junk", "t.gz", {plenty})); },
                          {"other bytes"});
  // Packed and unpacked bytes are held together.
  const std::string bomb = pack(std::string(5000000, '0'));
  const std::size_t just = 5000000 + bomb.size();
  expect_error<ResourceError>([&] { static_cast<void>(gunzip(bomb, "t.gz", {just - 1})); },
                              {"5.0 MB", "memory"});
  // What is unpacked may be held twice while its place grows.
  EXPECT_EQ(gunzip(bomb, "t.gz", {3 * just}).size(), 5000000U);
}

// Little may be packed as well as can be; much only as well as tables usually are, unless somebody says otherwise.
TEST(Gzip, RefusesWhatUnpacksOutOfAllProportion) {
  EXPECT_EQ(gunzip(pack(std::string(15000000, '0')), "t.gz", {plenty}).size(), 15000000U);
  const std::string bomb = pack(std::string(17000000, '0'));
  expect_error<ResourceError>([&] { static_cast<void>(gunzip(bomb, "t.gz", {plenty})); },
                              {"t.gz", "200 times", "--unpack-ratio"});
  EXPECT_EQ(gunzip(bomb, "t.gz", {plenty, 1100.0}).size(), 17000000U);
  // A last member that claims little does not hide the one before it.
  expect_error<ResourceError>([&] { static_cast<void>(gunzip(bomb + pack("x"), "t.gz", {plenty})); },
                              {"200 times"});
  EXPECT_EQ(gunzip(bomb + pack("x"), "t.gz", {plenty, 1100.0}).size(), 17000001U);
  expect_error<ResourceError>(
      [&] {
        static_cast<void>(gunzip(bomb + pack("x"), "t.gz", {20000000, 1100.0}));
      },
      {"memory"});
}

TEST(Gzip, FilesByName) {
  const TempFolder folder;
  EXPECT_EQ(read_unpacked(folder.write("a.csv", "x"), {plenty}), "x");
  EXPECT_EQ(read_unpacked(folder.write("a.csv.gz", pack("x,y")), {plenty}), "x,y");
  EXPECT_EQ(read_unpacked(folder.write("b.csv.GZ", pack("x,y")), {plenty}), "x,y");
  expect_error<InvalidArgument>(
      [&] { static_cast<void>(read_unpacked(folder.write("c.csv", pack("x")), {plenty})); }, {"c.csv", ".gz"});
  expect_error<InvalidArgument>([&] { static_cast<void>(read_file(folder.file("none.csv"), plenty)); },
                                {"none.csv", "no such file"});
  expect_error<InvalidArgument>([&] { static_cast<void>(read_file(folder.file("."), plenty)); }, {"folder"});
  const std::string large = folder.write("large", std::string(200000, 'x'));
  EXPECT_EQ(read_file(large, 200000).size(), 200000U);
  expect_error<ResourceError>([&] { static_cast<void>(read_file(large, 199999)); }, {"large"});
}

}  // namespace
}  // namespace kloom::data
