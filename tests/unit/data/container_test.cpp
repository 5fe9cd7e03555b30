// SPDX-License-Identifier: BSD-3-Clause
#include "data/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/container_json.h"
#include "kloom/error.h"
#include "support/files.h"

namespace kloom::data {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

constexpr std::string_view format = "kloom-test";

std::string length_of(std::size_t n) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>((n >> (8 * i)) & 255U);
  return out;
}

// A file as any other tool would write it: header text (padded to 64) and data.
std::string raw_file(std::string header, const std::string& data) {
  header.append((64 - (8 + header.size()) % 64) % 64, ' ');
  return length_of(header.size()) + header + data;
}

Container parse(const std::string& bytes, Verify verify) {
  auto memory = std::make_shared<std::string>(bytes);
  const auto span = std::as_bytes(std::span(*memory));
  return Container::parse(memory, span, "x.kloom", format, verify);
}

std::string refusal(const std::string& bytes, Verify verify = Verify::nothing) {
  try {
    (void)parse(bytes, verify);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

// Header of a file with one tensor of 16 bytes and one block checksum, with its parts replaced at will.
std::string header_with(const std::string& tensor, const std::string& more = "") {
  return R"({"__metadata__":{"checksum":"crc32:00000000","format":"kloom-test","format_version":"1"},)" +
         tensor + R"(,"kloom.block_crc":{"dtype":"I64","shape":[1],"data_offsets":[16,24]})" + more + "}";
}

void write_example(const std::string& path, const Matrix& matrix) {
  SectionList sections;
  sections.text("words", "Grüße");
  sections.matrix("m", matrix);
  sections.vector("v", {1.5, -0.0, std::numeric_limits<double>::quiet_NaN(), 5e-324});
  sections.indices("i", {-1, 0, std::numeric_limits<Index>::max()});
  sections.vector("nothing", {});
  ContainerPlan plan{std::string(format), "1"};
  plan.set("note", "quotes \" and \"checksum\":\"crc32:12345678\"");
  sections.plan_into(plan);
  ContainerWriter writer(plan, path);
  sections.write_to(writer);
  writer.finish();
  EXPECT_EQ(plan.file_bytes(), read_bytes(path).size());
}

Matrix example_matrix(Index rows, Index cols) {
  Matrix m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = 0.1 * static_cast<double>(i) - 1.0;
  return m;
}

TEST(Container, ReturnsTheSameBits) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.kloom");
  const Matrix m = example_matrix(5, 3);
  write_example(path, m);
  for (const bool mapped : {false, true}) {
    const Container c = mapped ? Container::map(path, format) : Container::read(path, format);
    TensorReader reader(c);
    EXPECT_EQ(reader.matrix("m"), m);
    const Vector v = reader.vector("v");
    ASSERT_EQ(v.size(), 4U);
    EXPECT_TRUE(std::signbit(v[1]));
    EXPECT_TRUE(std::isnan(v[2]));
    EXPECT_EQ(v[3], 5e-324);
    EXPECT_EQ(reader.indices("i"), (std::vector<Index>{-1, 0, std::numeric_limits<Index>::max()}));
    EXPECT_EQ(reader.text("words"), "Grüße");
    EXPECT_THROW(reader.finish(), FileError) << "'nothing' was not asked for";
    EXPECT_TRUE(reader.vector("nothing").empty());
    reader.finish();
    EXPECT_EQ(c.metadata().at("note"), "quotes \" and \"checksum\":\"crc32:12345678\"");
  }
}

// The layout as the reference describes it, read here without any of the code under test.
TEST(Container, HasTheSafetensorsLayout) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.kloom");
  const Matrix m = example_matrix(2, 3);
  write_example(path, m);
  const std::string bytes = read_bytes(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0U);
  ASSERT_EQ(bytes[8], '{');
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  std::size_t covered = 0;
  std::vector<std::pair<std::size_t, std::size_t>> offsets;
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__") offsets.emplace_back(value["data_offsets"][0], value["data_offsets"][1]);
  std::sort(offsets.begin(), offsets.end());
  for (const auto& [begin, end] : offsets) {
    EXPECT_EQ(begin, covered);
    covered = end;
  }
  EXPECT_EQ(8 + length + covered, bytes.size());
  EXPECT_EQ(header["m"]["shape"], (nlohmann::json{2, 3}));
  double first_row[3];
  std::memcpy(first_row, bytes.data() + 8 + length + header["m"]["data_offsets"][0].get<std::size_t>(), 24);
  for (Index j = 0; j < 3; ++j) EXPECT_EQ(first_row[j], m(0, j)) << "row-major";
}

TEST(Container, DamageAtEveryByteIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.kloom");
  write_example(path, example_matrix(2, 2));
  const std::string bytes = read_bytes(path);
  for (const bool mapped : {false, true}) {
    const auto count = testing::damage_everywhere(
        bytes, path,
        [&](const std::string& p) {
          const Container c = mapped ? Container::map(p, format) : Container::read(p, format);
          c.verify(0, bytes.size());
          return c.tensors().size();
        },
        [](std::size_t) { return false; });
    EXPECT_EQ(count.refused, count.tried);
    EXPECT_GT(count.tried, 3 * bytes.size());
  }
}

TEST(Container, BlocksAreVerifiedWhenUsed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.kloom");
  const Matrix m = example_matrix(3 * 1024, 256);  // 6 MiB: two blocks of 4 MiB
  SectionList sections;
  sections.matrix("m", m);
  ContainerPlan plan{std::string(format), "1"};
  sections.plan_into(plan);
  {
    ContainerWriter writer(plan, path);
    sections.write_to(writer);
    writer.finish();
  }
  std::string bytes = read_bytes(path);
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);  // in the second block
  write_bytes(path, bytes);
  const Container c = Container::map(path, format);
  constexpr std::size_t block = std::size_t{4} << 20;
  EXPECT_NO_THROW(c.verify(0, block));
  EXPECT_THROW(c.verify(block - 1, block + 1), FileError);
  EXPECT_THROW(c.verify(block, block + 1), FileError) << "a bad block stays bad";
  EXPECT_THROW(Container::read(path, format), FileError);
}

TEST(Container, StatementsOfTheHeaderAreChecked) {
  const std::string data(24, '\0');
  const auto with = [&](const std::string& tensor, const std::string& more = "") {
    return refusal(raw_file(header_with(tensor, more), data));
  };
  EXPECT_EQ(with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})"), "accepted");
  EXPECT_EQ(
      with(
          R"("a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]})"),
      "accepted");
  EXPECT_THAT(
      with(
          R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})"),
      HasSubstr("twice"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","dtype":"F64","shape":[2],"data_offsets":[0,16]})"),
              HasSubstr("twice"));
  EXPECT_THAT(with(R"("a":{"dtype":"F63","shape":[2],"data_offsets":[0,16]})"), HasSubstr("type"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[3],"data_offsets":[0,16]})"), HasSubstr("shape"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[-2],"data_offsets":[0,16]})"), HasSubstr("shape"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[2.0],"data_offsets":[0,16]})"), HasSubstr("shape"));
  EXPECT_THAT(
      with(R"("a":{"dtype":"F64","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,16]})"),
      HasSubstr("shape"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[18446744073709551618],"data_offsets":[0,16]})"),
              HasSubstr("shape"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})"), HasSubstr("start"));
  EXPECT_THAT(
      with(
          R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]})"),
      HasSubstr("start"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[16,0]})"), HasSubstr("outside"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,160]})"), HasSubstr("outside"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16],"more":1})"), HasSubstr("more"));
  EXPECT_THAT(with(R"("a":[1])"), HasSubstr("object"));
  EXPECT_THAT(with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})",
                   R"(,"b":)" + std::string(40, '[') + std::string(40, ']')),
              HasSubstr("deep"));
  EXPECT_THAT(
      refusal(raw_file(header_with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})"), data + "x")),
      HasSubstr("bytes of data"));
  EXPECT_THAT(refusal(raw_file(
                  header_with("\"\xff\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]}"), data)),
              HasSubstr("JSON"));
  EXPECT_THAT(refusal(raw_file(header_with(R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})"), data),
                      Verify::everything),
              HasSubstr("checksum"));
  EXPECT_THAT(refusal(raw_file(R"({"a":{"dtype":"U8","shape":[24],"data_offsets":[0,24]}})", data)),
              HasSubstr("not a kloom-test file"));
  EXPECT_THAT(refusal(std::string(200, 'x')), HasSubstr("not a kloom-test file"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
}

TEST(Container, ReportsWhatIsNotAContainer) {
  const TemporaryFolder folder;
  EXPECT_THROW(Container::read(folder.file("absent"), format), InvalidArgument);
  EXPECT_THROW(Container::map(folder.file(""), format), InvalidArgument) << "a folder";
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THROW(Container::read(folder.file("pipe"), format), InvalidArgument) << "must not wait for a writer";
  write_example(folder.file("a"), example_matrix(1, 1));
  EXPECT_THROW(Container::read(folder.file("a"), "kloom-other"), FileError);
}

TEST(Container, RefusedWritesLeaveTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.kloom");
  write_example(path, example_matrix(2, 2));
  const std::string before = read_bytes(path);

  // A full disk, as far as a test can have one: writes beyond 64 KiB fail.
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit old {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit small = old;
  small.rlim_cur = 65536;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    write_example(path, example_matrix(300, 300));
  } catch (const FileError& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(folder.entries(), 1U) << "the temporary file is gone";

  ContainerPlan plan{std::string(format), "1"};
  plan.add("v", Dtype::f64, {2});
  { const ContainerWriter abandoned(plan, path); }
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(folder.entries(), 1U);
  EXPECT_THROW(ContainerWriter(plan, folder.file("absent/a")), InvalidArgument);
  EXPECT_THROW(ContainerWriter(plan, folder.file("a.kloom/b")), InvalidArgument);
  EXPECT_THROW(ContainerWriter(plan, folder.file("")), InvalidArgument);
  EXPECT_THROW(ContainerWriter(plan, "/dev/full"), InvalidArgument);
  EXPECT_THROW(ContainerWriter(plan, "/dev/null/kloom"), Error);
}

TEST(Container, LinksStayLinks) {
  const TemporaryFolder folder;
  write_example(folder.file("real"), example_matrix(1, 1));
  std::filesystem::create_symlink("real", folder.file("link"));
  write_example(folder.file("link"), example_matrix(2, 2));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  const Container c = Container::read(folder.file("real"), format);
  EXPECT_EQ(TensorReader(c).matrix("m").rows(), 2);
}

TEST(ContainerJson, TextOfAnyEncodingComesBack) {
  for (const std::string& text :
       {std::string(), std::string("plain"),
        std::string("Gr\xfc\xdf"
                    "e"),
        std::string("a\0b", 3), std::string("\xed\xa0\x80"), std::string("\"\\\n"), std::string("日本")}) {
    const auto document = parse_json(nlohmann::json{{"t", encode_text(text)}}.dump(), "x", "y");
    Fields fields(document, "x", "y");
    EXPECT_EQ(fields.text("t"), text);
    fields.finish();
  }
  const auto bad = parse_json(R"({"a":{"hex":"0g"},"b":{"hex":"0"},"c":{"hex":"00","x":1},"d":1})", "x", "y");
  Fields fields(bad, "x", "y");
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_THROW((void)fields.text(key), FileError) << key;
}

}  // namespace
}  // namespace kloom::data
