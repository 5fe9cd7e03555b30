// SPDX-License-Identifier: BSD-3-Clause
//
// The files in tests/fuzz/corpus/npy whose values are compared here were written by NumPy 1.24.
#include "data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/gzip.h"
#include "data/zip.h"
#include "data_support.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using ::testing::ElementsAre;
using testing_support::expect_error;

constexpr std::size_t plenty = std::size_t{1} << 30U;

std::string corpus(const std::string& name) {
  return read_file(std::string(KLOOM_SOURCE_DIR) + "/tests/fuzz/corpus/npy/" + name, plenty);
}

Array numpy_array(const std::string& name) {
  return parse_npy(corpus(name), name, plenty);
}

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  return text;
}

// A version 1 file by hand, its header not padded.
std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header + data;
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

TEST(Npy, NumpyFilesOfEveryKind) {
  const Array c = numpy_array("f8_c.npy");
  EXPECT_THAT(c.shape, ElementsAre(2, 3));
  EXPECT_THAT(c.values, ElementsAre(0, 0.75, 0.25, 1, 0.5, 1.25));
  EXPECT_EQ(numpy_array("f8_fortran.npy").values, c.values);
  EXPECT_EQ(numpy_array("f4_big.npy").values, c.values);
  EXPECT_THAT(numpy_array("i2.npy").values, ElementsAre(1, 300, -2, -32768));
  EXPECT_THAT(numpy_array("u8.npy").values, ElementsAre(0, 9007199254740992.0));
  EXPECT_THAT(numpy_array("bool.npy").values, ElementsAre(1, 0));
  EXPECT_THAT(numpy_array("unicode.npy").texts, ElementsAre("a", "é", "日本", "😀x"));
  EXPECT_THAT(numpy_array("bytes.npy").texts, ElementsAre("ab", "c"));
  const Array stack = numpy_array("stack.npy");
  EXPECT_THAT(stack.shape, ElementsAre(2, 2, 3));
  // numpy.arange(12).reshape(2, 2, 3).ravel(order="F")
  EXPECT_THAT(stack.values, ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
  EXPECT_EQ(numpy_array("zero.npy").size(), 0);
}

TEST(Npy, EveryIntegerType) {
  EXPECT_THAT(parse_npy(npy_of("|i1", "(2,)", "\x7F\x80"), "t", plenty).values, ElementsAre(127, -128));
  EXPECT_THAT(parse_npy(npy_of("|u1", "(2,)", "\x7F\x80"), "t", plenty).values, ElementsAre(127, 128));
  EXPECT_THAT(parse_npy(npy_of(">i2", "(1,)", "\xFF\xFE"), "t", plenty).values, ElementsAre(-2));
  EXPECT_THAT(parse_npy(npy_of("<u2", "(1,)", "\xFE\xFF"), "t", plenty).values, ElementsAre(65534));
  EXPECT_THAT(parse_npy(npy_of("<i4", "(1,)", little(0xFFFFFFFF, 4)), "t", plenty).values, ElementsAre(-1));
  EXPECT_THAT(parse_npy(npy_of("<u4", "(1,)", little(0xFFFFFFFF, 4)), "t", plenty).values,
              ElementsAre(4294967295.0));
  EXPECT_THAT(parse_npy(npy_of("<i8", "(1,)", little(~std::uint64_t{4}, 8)), "t", plenty).values,
              ElementsAre(-5));
  const std::string largest = little(std::uint64_t{1} << 53U, 8);
  EXPECT_THAT(parse_npy(npy_of("<u8", "(1,)", largest), "t", plenty).values, ElementsAre(9007199254740992.0));
}

TEST(Npy, HeaderSpelling) {
  const std::string data = little(std::bit_cast<std::uint64_t>(1.5), 8);
  EXPECT_THAT(
      parse_npy(npy("{\"shape\":(1,),\"fortran_order\":True,\"descr\":\"<f8\"}", data), "t", plenty).values,
      ElementsAre(1.5));
}

TEST(Npy, RefusesDamage) {
  const std::string good = corpus("f8_c.npy");
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(static_cast<void>(parse_npy(good.substr(0, n), "t", plenty)), FileError) << n;
  }
  EXPECT_THROW(static_cast<void>(parse_npy(good + "x", "t", plenty)), FileError);
  const std::string eight(8, '\0');
  const auto damaged = [&](const std::string& bytes, std::initializer_list<std::string_view> words) {
    expect_error<FileError>([&] { static_cast<void>(parse_npy(bytes, "t.npy", plenty)); }, words);
  };
  damaged("", {"t.npy", "mark"});
  damaged("PK", {"mark"});
  damaged(std::string("\x93NUMPY\x04\x00\x00\x00", 10), {"version is 4"});
  damaged(npy("{'descr': '<f8', 'fortran_order': False}", eight), {"header"});
  damaged(npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", eight), {"header"});
  damaged(npy("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", eight), {"header"});
  damaged(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", eight), {"header"});
  damaged(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", eight), {"header"});
  damaged(npy("{'descr': '<f8", eight), {"header"});
  damaged(npy_of("<f8", "(2,)", eight), {"shape (2)", "8"});
  damaged(npy_of("<f8", "(99999999999, 99999999999, 9)", eight), {"shape"});
  damaged(npy_of("<U1", "(1,)", little(0xD800, 4)), {"U+D800"});
  damaged(npy_of("<U1", "(1,)", little(0x110000, 4)), {"U+110000"});
}

TEST(Npy, RefusesTypesAndShapesWithoutUse) {
  const auto refused = [](const std::string& bytes, std::initializer_list<std::string_view> words) {
    expect_error<InvalidArgument>([&] { static_cast<void>(parse_npy(bytes, "t.npy", plenty)); }, words);
  };
  refused(corpus("object.npy"), {"Python objects"});
  refused(corpus("structured.npy"), {"structured"});
  refused(corpus("four.npy"), {"4 dimensions"});
  refused(corpus("scalar.npy"), {"0 dimensions"});
  refused(corpus("u8_too_large.npy"), {"18446744073709551615", "digits"});
  refused(corpus("i8_smallest.npy"), {"-9223372036854775808"});
  refused(npy_of("<f2", "(1,)", "ab"), {"'<f2'", "f4"});
  refused(npy_of("<c16", "(1,)", std::string(16, '\0')), {"'<c16'"});
  refused(npy_of("<M8[ns]", "(1,)", std::string(8, '\0')), {"'<M8[ns]'"});
}

TEST(Npy, RefusesMoreThanTheLimit) {
  expect_error<ResourceError>([] { static_cast<void>(parse_npy(corpus("f8_c.npy"), "t", 47)); },
                              {"6 elements"});
  EXPECT_EQ(parse_npy(corpus("f8_c.npy"), "t", 48).size(), 6);
}

TEST(Npz, NumpyArchives) {
  const std::vector<Array> stored = parse_npz(corpus("stored.npz"), "t.npz", {plenty});
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].name, "X");
  EXPECT_EQ(stored[0].values, numpy_array("f8_c.npy").values);
  EXPECT_EQ(stored[1].name, "y");
  EXPECT_THAT(stored[1].values, ElementsAre(1, 2));
  const std::vector<Array> deflated = parse_npz(corpus("deflated.npz"), "t.npz", {plenty});
  ASSERT_EQ(deflated.size(), 3U);
  EXPECT_THAT(deflated[0].shape, ElementsAre(20, 30));
  EXPECT_EQ(deflated[1].texts[19], "b");
  EXPECT_EQ(deflated[2].values[19], 19.0);
}

TEST(Npz, EveryTruncationIsRefused) {
  for (const std::string name : {"stored.npz", "deflated.npz"}) {
    const std::string good = corpus(name);
    for (std::size_t n = 0; n < good.size(); ++n) {
      EXPECT_THROW(static_cast<void>(parse_npz(good.substr(0, n), "t", {plenty})), FileError) << name << " " << n;
    }
  }
}

// Times, attributes and versions are bytes that cannot matter; all others are covered by a check or a CRC.
TEST(Npz, EveryChangedByteIsRefusedOrHarmless) {
  for (const std::string name : {"stored.npz", "deflated.npz"}) {
    const std::string good = corpus(name);
    const std::vector<Array> expected = parse_npz(good, "t", {plenty});
    for (std::size_t n = 0; n < good.size(); ++n) {
      std::string changed = good;
      changed[n] = static_cast<char>(changed[n] ^ 0x11);
      try {
        const std::vector<Array> found = parse_npz(changed, "t", {plenty});
        ASSERT_EQ(found.size(), expected.size()) << name << " " << n;
        for (std::size_t k = 0; k < found.size(); ++k) {
          EXPECT_EQ(found[k].values, expected[k].values) << name << " " << n;
          EXPECT_EQ(found[k].texts, expected[k].texts) << name << " " << n;
        }
      } catch (const Error&) {
      }
    }
  }
}

// A ZIP of one entry by hand, to lie in its fields.
struct Entry {
  std::string name = "X.npy";
  std::string content;
  std::uint32_t method = 0;
  std::uint32_t flags = 0;
  std::uint64_t claimed = 0;
  std::string crc_of = {};  // what the checksum is of, where that is not the content
};

// As in a ZIP: DEFLATE without a header.
std::string deflate_raw(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zip_of(const Entry& entry) {
  const std::string& summed = entry.crc_of.empty() ? entry.content : entry.crc_of;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  const std::string sizes = little(crc, 4) + little(entry.content.size(), 4) + little(entry.claimed, 4);
  const std::string local = "PK\x03\x04" + little(20, 2) + little(entry.flags, 2) + little(entry.method, 2) +
                            little(0, 4) + sizes + little(entry.name.size(), 2) + little(0, 2) + entry.name +
                            entry.content;
  const std::string central = "PK\x01\x02" + little(20, 2) + little(20, 2) + little(entry.flags, 2) +
                              little(entry.method, 2) + little(0, 4) + sizes + little(entry.name.size(), 2) +
                              little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                              little(0, 4) + entry.name;
  return local + central + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
         little(central.size(), 4) + little(local.size(), 4) + little(0, 2);
}

// Names and contents of all entries.
std::map<std::string, std::string> unzipped(const std::string& bytes, std::size_t limit) {
  std::map<std::string, std::string> entries;
  read_zip(zip_in_memory(bytes), "t.npz", {limit}, [&](const ZipEntry& entry) {
    std::string& content = entries[entry.name];
    content.resize(entry.size);
    entry.next(content.data(), entry.size);
  });
  return entries;
}

TEST(Zip, HandMadeArchive) {
  const std::map<std::string, std::string> expected{{"a.txt", "hello"}};
  EXPECT_EQ(unzipped(zip_of({"a.txt", "hello", 0, 0, 5}), plenty), expected);
}

TEST(Zip, RefusesLiesBeforeMemoryIsTaken) {
  const auto damaged = [](const std::string& bytes, std::initializer_list<std::string_view> words) {
    expect_error<FileError>([&] { static_cast<void>(unzipped(bytes, plenty)); }, words);
  };
  damaged(zip_of({"X.npy", "hello", 0, 0, 6}), {"X.npy", "two sizes"});
  damaged(zip_of({"X.npy", "hello", 8, 0, 0xFFFFFF00}), {"impossible size"});
  damaged(zip_of({"X.npy", "hello", 8, 0, 100}), {"does not unpack"});
  damaged(zip_of({"X.npy", "hello", 12, 0, 5}), {"method 12"});
  damaged(zip_of({"X.npy", "hello", 0, 1, 5}), {"encrypted"});
  damaged(corpus("bzip2.npz"), {"method 12"});
  damaged(corpus("damaged.npz"), {"readable"});
  damaged("", {"too short"});
  damaged(std::string(100, 'x'), {"directory"});
  expect_error<ResourceError>([] { static_cast<void>(unzipped(corpus("ratio.npz"), 1600000)); },
                              {"1.6 MB", "memory"});
  EXPECT_EQ(unzipped(corpus("ratio.npz"), plenty).size(), 2U);
}

// Whoever goes through the columns of such an array does not come to an end.
TEST(Npy, AnEmptyArrayMayNotBeHugeInAnotherDirection) {
  for (const char* shape : {"(0, 9223372036854775807)", "(9223372036854775807, 0)", "(4294967296, 0, 4294967296)"}) {
    const std::string header = std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + ", }\n";
    expect_error<FileError>([&] { static_cast<void>(parse_npy(npy(header, ""), "t.npy", plenty)); }, {"shape"});
  }
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7), }\n";
  EXPECT_EQ(parse_npy(npy(header, ""), "t.npy", plenty).size(), 0);
}

// Files that are read piece by piece, against the same bytes in memory.
TEST(Npy, LargeFilesAreReadInPieces) {
  const testing_support::TempFolder folder;
  std::string data;
  for (std::uint32_t k = 0; k < 400 * 300 * 3; ++k) {
    data += little(std::bit_cast<std::uint32_t>(static_cast<float>(k % 65521) * 0.25F), 4);
  }
  for (const char* order : {"False", "True"}) {
    const std::string bytes =
        npy(std::string("{'descr': '<f4', 'fortran_order': ") + order + ", 'shape': (400, 300, 3), }\n", data);
    ASSERT_GT(bytes.size(), std::size_t{1} << 20U);
    const Array whole = parse_npy(bytes, "t", plenty);
    const Array pieces = read_npy(folder.write("t.npy", bytes), {plenty});
    EXPECT_EQ(pieces.shape, whole.shape);
    EXPECT_EQ(pieces.values, whole.values);
    const std::string cut = folder.write("cut.npy", bytes.substr(0, bytes.size() - 3));
    expect_error<FileError>([&] { static_cast<void>(read_npy(cut, {plenty})); }, {"cut.npy", "1439997"});
    const std::string path = folder.write("t.npy", bytes);
    expect_error<ResourceError>([&] { static_cast<void>(read_npy(path, {2000000})); }, {"t.npy", "2.0 MB"});
  }
}

// One entry that is stored and one that is deflated, both longer than a piece.
TEST(Npz, LargeFilesAreReadInPieces) {
  const testing_support::TempFolder folder;
  std::string data;
  for (std::uint64_t k = 0; k < 200000; ++k) {
    data += little(std::bit_cast<std::uint64_t>(static_cast<double>(k * k % 65521) * 0.25), 8);
  }
  const std::string bytes = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (400, 500), }\n", data);
  const Array whole = parse_npy(bytes, "t", plenty);
  for (const bool deflated : {false, true}) {
    const std::string packed = deflated ? deflate_raw(bytes) : bytes;
    Entry entry{"X.npy", packed, deflated ? 8U : 0U, 0, bytes.size()};
    entry.crc_of = bytes;
    std::string archive = zip_of(entry);
    const std::string path = folder.write("t.npz", archive);
    const std::vector<Array> arrays = read_npz(path, {plenty});
    ASSERT_EQ(arrays.size(), 1U);
    EXPECT_EQ(arrays[0].name, "X");
    EXPECT_EQ(arrays[0].shape, whole.shape);
    EXPECT_EQ(arrays[0].values, whole.values);
    archive[archive.size() / 2] = static_cast<char>(archive[archive.size() / 2] ^ 1);
    const std::string changed = folder.write("changed.npz", archive);
    expect_error<FileError>([&] { static_cast<void>(read_npz(changed, {plenty})); }, {"changed.npz", "'X.npy'"});
  }
}

// What damage makes of an array's type is not the reason for which it is refused.
TEST(Npz, DamageIsNamedBeforeTheContentThatItMade) {
  const std::string good = npy_of("<f8", "(1,)", std::string(8, 'x'));
  std::string archive = zip_of({"X.npy", good, 0, 0, good.size()});
  archive[archive.find("<f8") + 2] = '7';
  expect_error<FileError>([&] { static_cast<void>(parse_npz(archive, "t.npz", {plenty})); }, {"wrong checksum"});
}

TEST(Npz, WithoutArrays) {
  expect_error<InvalidArgument>(
      [] {
        static_cast<void>(parse_npz(zip_of({"a.txt", "hello", 0, 0, 5}), "t.npz", {plenty}));
      },
      {"no arrays"});
}

}  // namespace
}  // namespace kloom::data
