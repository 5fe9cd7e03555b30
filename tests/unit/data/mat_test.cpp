// SPDX-License-Identifier: BSD-3-Clause
#include "data/mat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <matio.h>

#include <sys/wait.h>
#include <chrono>
#include <cmath>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <random>
#include <thread>

#include "data/mat_child.h"
#include "kloom/error.h"
#include "support/files.h"
#include "support/folders.h"

namespace kloom::data {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

constexpr matio_compression no_compression = MAT_COMPRESSION_NONE;
constexpr matio_compression zlib_compression = MAT_COMPRESSION_ZLIB;

// Writes arrays with matio, which is independent of everything that checks the file.
class MatWriter {
 public:
  MatWriter(const std::string& path, mat_ft version, matio_compression compression)
      : file_(Mat_CreateVer(path.c_str(), nullptr, version)), compression_(compression) {
    if (file_ == nullptr) throw std::runtime_error("matio cannot create " + path);
  }
  ~MatWriter() { Mat_Close(file_); }
  MatWriter(const MatWriter&) = delete;
  MatWriter& operator=(const MatWriter&) = delete;

  void add(const char* name, matio_classes array_class, matio_types type, std::vector<std::size_t> dims,
           void* data, int options = 0) {
    matvar_t* array =
        Mat_VarCreate(name, array_class, type, static_cast<int>(dims.size()), dims.data(), data, options);
    ASSERT_NE(array, nullptr);
    ASSERT_EQ(Mat_VarWrite(file_, array, compression_), 0);
    Mat_VarFree(array);
  }
  void add(const char* name, std::vector<std::size_t> dims, std::vector<double> values) {
    add(name, MAT_C_DOUBLE, MAT_T_DOUBLE, std::move(dims), values.data());
  }

 private:
  mat_t* file_;
  matio_compression compression_;
};

std::vector<double> numbers(std::size_t count) {
  std::mt19937_64 engine(3);
  std::vector<double> out(count);
  for (double& x : out) x = static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5;
  return out;
}

void write_example(const std::string& path, mat_ft version, matio_compression compression) {
  MatWriter writer(path, version, compression);
  writer.add("KH", {6, 6, 3}, numbers(108));
  std::vector<double> labels(6);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<double>(i % 2);
  writer.add("Y", {6, 1}, labels);
}

MatOptions quick() {
  MatOptions options;
  options.seconds = 10;
  return options;
}

struct Kind {
  mat_ft version;
  matio_compression compression;
  const char* name;
};
const std::vector<Kind> kinds = {{MAT_FT_MAT5, no_compression, "v5 plain"},
                                 {MAT_FT_MAT5, zlib_compression, "v5 compressed"},
                                 {MAT_FT_MAT73, no_compression, "v7.3 plain"},
                                 {MAT_FT_MAT73, zlib_compression, "v7.3 compressed"}};

TEST(Mat, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const std::string path = folder.file("a.mat");
    write_example(path, kind.version, kind.compression);
    const MatFile file = read_mat(path, Context());
    ASSERT_EQ(file.arrays.size(), 2U);
    EXPECT_EQ(file.arrays[0].name, "KH");
    EXPECT_EQ(file.arrays[0].shape, (std::vector<Index>{6, 6, 3}));
    EXPECT_EQ(file.arrays[0].values, numbers(108));
    EXPECT_EQ(file.arrays[1].name, "Y");
    EXPECT_EQ(file.arrays[1].shape, (std::vector<Index>{6, 1}));
    EXPECT_EQ(file.arrays[1].values, (Vector{0, 1, 0, 1, 0, 1}));
  }
}

template <typename T>
void expect_class(const TemporaryFolder& folder, const Kind& kind, matio_classes array_class, matio_types type,
                  int options = 0) {
  std::vector<T> values = {0, 1, 2, 3, 100, 127};
  const std::string path = folder.file("a.mat");
  {
    MatWriter writer(path, kind.version, kind.compression);
    writer.add("x", array_class, type, {2, 3}, values.data(), options);
  }
  const MatFile file = read_mat(path, Context());
  ASSERT_EQ(file.arrays.size(), 1U);
  EXPECT_EQ(file.arrays[0].values, (Vector{0, 1, 2, 3, 100, 127})) << kind.name << " class " << array_class;
}

TEST(Mat, ReadsEveryClassOfNumbers) {
  const TemporaryFolder folder;
  for (const auto& kind : kinds) {
    expect_class<double>(folder, kind, MAT_C_DOUBLE, MAT_T_DOUBLE);
    expect_class<float>(folder, kind, MAT_C_SINGLE, MAT_T_SINGLE);
    expect_class<std::int8_t>(folder, kind, MAT_C_INT8, MAT_T_INT8);
    expect_class<std::uint8_t>(folder, kind, MAT_C_UINT8, MAT_T_UINT8);
    expect_class<std::int16_t>(folder, kind, MAT_C_INT16, MAT_T_INT16);
    expect_class<std::uint16_t>(folder, kind, MAT_C_UINT16, MAT_T_UINT16);
    expect_class<std::int32_t>(folder, kind, MAT_C_INT32, MAT_T_INT32);
    expect_class<std::uint32_t>(folder, kind, MAT_C_UINT32, MAT_T_UINT32);
    expect_class<std::int64_t>(folder, kind, MAT_C_INT64, MAT_T_INT64);
    expect_class<std::uint64_t>(folder, kind, MAT_C_UINT64, MAT_T_UINT64);
    expect_class<std::uint8_t>(folder, kind, MAT_C_UINT8, MAT_T_UINT8, MAT_F_LOGICAL);
  }
}

TEST(Mat, PassesOverWhatIsNotARealFullArray) {
  const TemporaryFolder folder;
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const std::string path = folder.file("a.mat");
    {
      MatWriter writer(path, kind.version, kind.compression);
      std::string text = "hello";
      writer.add("text", MAT_C_CHAR, MAT_T_UINT8, {1, 5}, text.data());
      std::vector<double> re = {1, 2};
      std::vector<double> im = {3, 4};
      mat_complex_split_t split = {re.data(), im.data()};
      writer.add("z", MAT_C_DOUBLE, MAT_T_DOUBLE, {1, 2}, &split, MAT_F_COMPLEX);
      writer.add("four", {1, 2, 1, 2}, {1, 2, 3, 4});
    }
    EXPECT_THROW((void)read_mat(path, Context()), FileError) << "nothing is left";
    {
      MatWriter writer(path, kind.version, kind.compression);
      std::string text = "hello";
      writer.add("text", MAT_C_CHAR, MAT_T_UINT8, {1, 5}, text.data());
      writer.add("x", {1, 2}, {5, 6});
    }
    const MatFile file = read_mat(path, Context());
    ASSERT_EQ(file.arrays.size(), 1U);
    EXPECT_EQ(file.arrays[0].name, "x");
  }
}

std::string refusal(const std::string& path, const MatOptions& options = MatOptions()) {
  try {
    (void)read_mat(path, Context(), options);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Mat, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mat");
  EXPECT_THROW((void)read_mat(path, Context()), InvalidArgument);
  EXPECT_THROW((void)read_mat(folder.file(""), Context()), InvalidArgument);
  write_bytes(path, "");
  EXPECT_THAT(refusal(path), HasSubstr("empty"));
  write_bytes(path, "a,b\n1,2\n");
  EXPECT_THAT(refusal(path), HasSubstr("not a MAT file"));
  {
    MatWriter writer(path, MAT_FT_MAT4, no_compression);
    writer.add("x", {30, 2}, numbers(60));
  }
  EXPECT_THAT(refusal(path), HasSubstr("save -v7"));
}

TEST(Mat, NamesThePlaceOfWhatIsNotFinite) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mat");
  const auto write = [&](double value) {
    MatWriter writer(path, MAT_FT_MAT5, zlib_compression);
    writer.add("x", {2, 3}, {1, 2, 3, 4, 5, value});
  };
  MatOptions missing;
  missing.allow_missing = true;
  write(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(refusal(path), HasSubstr("x(2, 3)"));
  EXPECT_EQ(refusal(path, missing), "accepted");
  write(std::numeric_limits<double>::infinity());
  EXPECT_THAT(refusal(path, missing), HasSubstr("inf"));
}

// What the child does wrong on purpose, and the sentence that comes of it.
std::string child_refusal(const ChildWork& work, double seconds = 5.0) {
  ChildLimits limits;
  limits.seconds = seconds;
  try {
    (void)run_in_child(work, "a.mat", limits);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MatChild, EveryEndBecomesASentence) {
  const MatArray good{"x", {2, 1}, {1, 2}};
  EXPECT_EQ(child_refusal([&](const ArraySink& sink) { sink(good); }), "accepted");
  EXPECT_THAT(child_refusal([](const ArraySink&) { std::raise(SIGSEGV); }), HasSubstr("crashed"));
  EXPECT_THAT(child_refusal([](const ArraySink&) { std::abort(); }), HasSubstr("crashed"));
  EXPECT_THAT(child_refusal([](const ArraySink&) { ::_exit(0); }), HasSubstr("gave up"));
  EXPECT_THAT(child_refusal([&](const ArraySink& sink) {
                sink(good);
                ::_exit(0);
              }),
              HasSubstr("gave up"));
  EXPECT_THAT(child_refusal([](const ArraySink&) { throw FileError("it is a bad file"); }),
              HasSubstr("bad file"));
  EXPECT_THAT(child_refusal([](const ArraySink&) { throw std::bad_alloc(); }), HasSubstr("memory"));
  EXPECT_THAT(child_refusal([](const ArraySink& sink) { sink({"x", {2, 0}, {}}); }), HasSubstr("broken"));
  EXPECT_THAT(child_refusal([](const ArraySink& sink) { sink({"x", {}, {}}); }), HasSubstr("broken"));
  EXPECT_THAT(child_refusal([](const ArraySink& sink) {
                sink({"x", {2, 2}, {1, 2}});
              }),
              HasSubstr("cannot be read"));
}

TEST(MatChild, AnEndlessLoopIsEndedInTime) {
  const auto start = std::chrono::steady_clock::now();
  const std::string message = child_refusal(
      [](const ArraySink&) {
        volatile bool forever = true;
        while (forever) {
        }
      },
      0.3);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(message, HasSubstr("not done after 0.3 seconds"));
  EXPECT_LT(took.count(), 5.0);
}

TEST(MatChild, LeavesNoProcessBehind) {
  for (int i = 0; i < 20; ++i) (void)child_refusal([](const ArraySink&) { std::raise(SIGSEGV); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "every child was reaped";
}

// glibc's allocator survives fork() while other threads are inside it; those of GCC 12's sanitizers do not, so
// under them the threads take turns.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kTakeTurns = true;
#else
constexpr bool kTakeTurns = false;
#endif

TEST(MatChild, WorksWhileOtherThreadsRun) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mat");
  write_example(path, MAT_FT_MAT5, zlib_compression);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  std::mutex turn;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        std::unique_lock lock(turn, std::defer_lock);
        if (kTakeTurns) lock.lock();
        good += read_mat(path, Context()).arrays.size() == 2 ? 1 : 0;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

// How an accepted damaged copy may differ from the intact file.
struct Differences {
  int names = 0;
  int values = 0;
  bool other = false;  // arrays lost, won or of another shape
};

Differences compare(const MatFile& a, const MatFile& b) {
  Differences out;
  out.other = a.arrays.size() != b.arrays.size();
  for (std::size_t i = 0; !out.other && i < a.arrays.size(); ++i) {
    const MatArray& x = a.arrays[i];
    const MatArray& y = b.arrays[i];
    out.names += x.name != y.name ? 1 : 0;
    out.other = x.shape != y.shape;
    for (std::size_t k = 0; !out.other && k < x.values.size(); ++k)
      out.values += x.values[k] != y.values[k] ? 1 : 0;
  }
  return out;
}

struct DamageResult {
  int refused = 0;
  int same = 0;
  int one_number = 0;  // one number changed: undetectable where numbers are stored plainly
  int one_name = 0;    // one name changed
  int beginning = 0;   // cut between two arrays of a file of version 5
};

// A file of version 5 does not say how many arrays it has: cut between two, it is a file of the first ones.
bool is_beginning(const MatFile& cut, const MatFile& whole) {
  MatFile first = whole;
  first.arrays.resize(std::min(cut.arrays.size(), whole.arrays.size()));
  const Differences d = compare(cut, first);
  return !d.other && d.names == 0 && d.values == 0 && cut.arrays.size() < whole.arrays.size();
}

// Truncates and changes single bytes of `bytes`; anything but refusal, the same content, or one changed number
// or name is a failure. `offset(rng)` chooses the place.
DamageResult damage(const std::string& bytes, const std::string& path, int copies, unsigned seed,
                    const std::function<std::size_t(std::mt19937_64&)>& offset) {
  write_bytes(path, bytes);
  const MatFile intact = read_mat(path, Context());
  std::mt19937_64 engine(seed);
  DamageResult result;
  for (int copy = 0; copy < copies; ++copy) {
    std::string damaged = bytes;
    const std::size_t at = offset(engine);
    const bool truncated = copy % 2 == 0;
    if (truncated)
      damaged.resize(at);
    else
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + engine() % 255));
    write_bytes(path, damaged);
    try {
      const MatFile read = read_mat(path, Context(), quick());
      if (truncated) {
        EXPECT_TRUE(bytes[126] == 'I' && bytes[125] == 1 && is_beginning(read, intact)) << "cut at " << at;
        ++result.beginning;
        continue;
      }
      const Differences d = compare(intact, read);
      EXPECT_FALSE(d.other) << "byte " << at << " of " << bytes.size() << " changed arrays or shapes";
      EXPECT_LE(d.names + d.values, 1) << "byte " << at << " of " << bytes.size();
      result.same += d.names + d.values == 0 ? 1 : 0;
      result.one_number += d.values == 1 ? 1 : 0;
      result.one_name += d.names == 1 ? 1 : 0;
    } catch (const FileError& error) {
      ++result.refused;
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
  return result;
}

std::function<std::size_t(std::mt19937_64&)> anywhere(std::size_t size) {
  return [size](std::mt19937_64& engine) { return engine() % size; };
}

class MatDamage : public ::testing::TestWithParam<int> {};

TEST_P(MatDamage, FiveHundredCopiesAreRefusedOrHarmless) {
  const Kind& kind = kinds[static_cast<std::size_t>(GetParam())];
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mat");
  write_example(path, kind.version, kind.compression);
  const std::string bytes = read_bytes(path);
  const DamageResult result = damage(bytes, path, 500, 11, anywhere(bytes.size()));
  std::printf("%s (%zu bytes): refused %d, same %d, one number %d, one name %d\n", kind.name, bytes.size(),
              result.refused, result.same, result.one_number, result.one_name);
  EXPECT_GE(result.refused + result.beginning, 250) << "at least every truncation";
  EXPECT_LE(result.beginning, 10) << "one place in a thousand";
  if (kind.version == MAT_FT_MAT5 && kind.compression == zlib_compression) {
    // Everything behind the header of 128 bytes is under zlib's checksum.
    EXPECT_EQ(result.one_number + result.one_name, 0);
  }
}

std::string kind_name(const ::testing::TestParamInfo<int>& info) {
  std::string name = kinds[static_cast<std::size_t>(info.param)].name;
  for (char& c : name)
    if (c == ' ' || c == '.') c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Kinds, MatDamage, ::testing::Values(0, 1, 2, 3), kind_name);

struct RealFile {
  const char* name;
  Index samples, kernels;
};
const std::vector<RealFile> real_files = {
    {"AR10P_Kmatrix.mat", 130, 6}, {"YALE_Kmatrix.mat", 165, 5}, {"heart_Kmatrix.mat", 270, 9}};

class MatRealData : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    path_ = (test::data_folder() / real_files[static_cast<std::size_t>(GetParam())].name).string();
    if (!std::filesystem::exists(path_))
      GTEST_SKIP() << "no such data: " << path_ << " (name the folder in KLOOM_DATA)";
  }
  std::string path_;
};

TEST_P(MatRealData, HasSymmetricKernelsAndLabels) {
  const RealFile& real = real_files[static_cast<std::size_t>(GetParam())];
  const MatFile file = read_mat(path_, Context());
  ASSERT_EQ(file.arrays.size(), 2U);
  const Index n = real.samples;
  EXPECT_EQ(file.arrays[0].name, "KH");
  EXPECT_EQ(file.arrays[0].shape, (std::vector<Index>{n, n, real.kernels}));
  EXPECT_EQ(file.arrays[1].values.size(), static_cast<std::size_t>(n));
  for (Index p = 0; p < real.kernels; ++p) {
    const auto entry = [&](Index a, Index b) {
      return file.arrays[0].values[static_cast<std::size_t>(a + n * (b + n * p))];
    };
    double largest = 0.0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, entry(i, i));
    ASSERT_GT(largest, 0.0);
    // K(i, j) and K(j, i) are sums in different orders: thousands of roundings at most.
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j)
        ASSERT_NEAR(entry(i, j), entry(j, i), 4096 * std::numeric_limits<double>::epsilon() * largest);
  }
}

// Damage in the first and last kilobytes, where HDF5 keeps its records, and in the middle.
TEST_P(MatRealData, DamagedCopiesAreRefusedOrHarmless) {
  const TemporaryFolder folder;
  const std::string bytes = read_bytes(path_);
  const auto offset = [size = bytes.size()](std::mt19937_64& engine) -> std::size_t {
    const std::size_t where = engine() % 3;
    if (where == 0) return engine() % 8192;
    if (where == 1) return size - 1 - engine() % 8192;
    return engine() % size;
  };
  const DamageResult result = damage(bytes, folder.file("a.mat"), 120, 5, offset);
  std::printf("%s: refused %d, same %d, one number %d, one name %d\n", path_.c_str(), result.refused,
              result.same, result.one_number, result.one_name);
  EXPECT_GE(result.refused, 60);
}

INSTANTIATE_TEST_SUITE_P(Files, MatRealData, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace kloom::data
