// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/bank_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "fuzz/bank_input.h"
#include "kernels/banks/dense_bank.h"
#include "kloom/bank.h"
#include "kloom/error.h"
#include "support/corpus.h"
#include "support/files.h"

namespace kloom {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

std::vector<Matrix> random_kernels(Index count, Index rows, Index cols, bool symmetric) {
  std::mt19937_64 engine(7);
  std::vector<Matrix> out;
  for (Index p = 0; p < count; ++p) {
    Matrix m(rows, cols);
    for (double& x : m.values()) x = static_cast<double>(engine() >> 11) * 0x1p-53;
    for (Index i = 0; symmetric && i < rows; ++i)
      for (Index j = 0; j < i; ++j) m(j, i) = m(i, j);
    out.push_back(std::move(m));
  }
  return out;
}

std::vector<std::string> names_for(Index count) {
  std::vector<std::string> names;
  for (Index p = 0; p < count; ++p) names.push_back("kernel \xfc " + std::to_string(p));
  return names;
}

Vector entries(const KernelBank& bank) {
  Vector out(static_cast<std::size_t>(bank.kernels() * bank.rows() * bank.cols()));
  bank.panels({0, bank.kernels()}, {0, bank.rows()}, out.data());
  return out;
}

bool same(const KernelBank& a, const KernelBank& b) {
  return a.names() == b.names() && a.rows() == b.rows() && a.cols() == b.cols() &&
         a.symmetric() == b.symmetric() && entries(a) == entries(b);
}

TEST(BankFile, ComesBackToTheBit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.kloom");
  for (const auto& [count, rows, cols, symmetric] : {std::tuple<Index, Index, Index, bool>{3, 5, 5, true},
                                                     {1, 1, 1, false},
                                                     {4, 2, 7, false},
                                                     {2, 900, 900, true}}) {
    const auto kernels = random_kernels(count, rows, cols, symmetric);
    const auto bank = make_dense_bank(kernels, names_for(count), symmetric);
    save_bank(*bank, path, Context());
    const auto loaded = load_bank(path);
    EXPECT_TRUE(same(*bank, *loaded)) << rows << " × " << cols;
    EXPECT_EQ(loaded->kind(), "dense");
    EXPECT_EQ(loaded->bytes(), static_cast<std::size_t>(count * rows * cols) * sizeof(double));
    const Vector flat = entries(*loaded);
    EXPECT_EQ(flat[static_cast<std::size_t>(cols - 1)], kernels[0](0, cols - 1)) << "the first row comes first";
  }
}

TEST(BankFile, TheMappedBankAnswersLikeTheOneInMemory) {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.kloom");
  const auto bank = make_dense_bank(random_kernels(3, 20, 20, true), names_for(3), true);
  save_bank(*bank, path, Context());
  const auto loaded = load_bank(path);
  std::filesystem::remove(path);  // the mapping stays
  const Vector w{0.5, -1.0, 2.0};
  Matrix v(20, 2);
  for (Index i = 0; i < v.size(); ++i) v.data()[i] = 0.25 * static_cast<double>(i % 7) - 1.0;
  EXPECT_EQ(loaded->combine(w), bank->combine(w));
  EXPECT_EQ(loaded->apply(v.view()), bank->apply(v.view()));
  EXPECT_EQ(loaded->diagonal(), bank->diagonal());
}

TEST(BankFile, DamageAtEveryByteIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.kloom");
  const auto bank = make_dense_bank(random_kernels(2, 4, 4, true), names_for(2), true);
  save_bank(*bank, path, Context());
  const auto count = testing::damage_everywhere(
      read_bytes(path), path,
      [](const std::string& p) {
        auto loaded = load_bank(p);
        (void)entries(*loaded);
        return loaded;
      },
      [&](const std::unique_ptr<KernelBank>& loaded) { return same(*loaded, *bank); });
  EXPECT_EQ(count.refused, count.tried) << "every byte is under a checksum";
}

TEST(BankFile, OnlyTheDamagedKernelIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.kloom");
  // 4.3 MB per kernel and blocks of 4 MiB: kernel 0 is in blocks 0 and 1, kernel 2 in blocks 2 and 3.
  const auto bank = make_dense_bank(random_kernels(3, 730, 730, false), names_for(3), false);
  save_bank(*bank, path, Context());
  std::string bytes = read_bytes(path);
  const std::size_t at = bytes.size() - 1'000'000;  // in kernel 2, before the block that also holds the names
  bytes[at] = static_cast<char>(bytes[at] ^ 4);
  write_bytes(path, bytes);
  const auto loaded = load_bank(path);
  Vector row(730);
  EXPECT_NO_THROW(loaded->panels({0, 1}, {0, 1}, row.data()));
  EXPECT_THROW(loaded->panels({2, 3}, {0, 1}, row.data()), FileError);
  EXPECT_THROW((void)loaded->combine(Vector{1, 1, 1}), FileError);
}

// Files with right checksums and wrong statements.
std::string refusal(const std::string& document, data::Dtype dtype, std::vector<Index> shape) {
  const TemporaryFolder folder;
  const std::string path = folder.file("b.kloom");
  data::ContainerPlan plan{std::string(data::bank_format), "1"};
  plan.add("kernels", dtype, std::move(shape));
  const std::size_t bytes = plan.data_bytes();
  plan.add("document", data::Dtype::u8, {static_cast<Index>(document.size())});
  data::ContainerWriter writer(plan, path);
  const std::string zeros(bytes, '\0');
  writer.write(zeros.data(), zeros.size());
  writer.write(document.data(), document.size());
  writer.finish();
  try {
    (void)load_bank(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BankFile, StatementsAreChecked) {
  using data::Dtype;
  const std::string good = R"({"names":["a","b"],"symmetric":false})";
  EXPECT_EQ(refusal(good, Dtype::f64, {2, 3, 4}), "accepted");
  EXPECT_EQ(refusal(good, Dtype::f32, {2, 3, 4}), "accepted");
  EXPECT_THAT(refusal(good, Dtype::f64, {3, 3, 4}), HasSubstr("one name per kernel"));
  EXPECT_THAT(refusal(good, Dtype::f64, {2, 12}), HasSubstr("rank 3"));
  EXPECT_THAT(refusal(good, Dtype::i64, {2, 3, 4}), HasSubstr("real"));
  EXPECT_THAT(refusal(good, Dtype::f64, {2, 0, 4}), HasSubstr("no kernel entries"));
  EXPECT_THAT(refusal(R"({"names":["a","b"],"symmetric":true})", Dtype::f64, {2, 3, 4}), HasSubstr("square"));
  EXPECT_THAT(refusal(R"({"names":["a",1],"symmetric":true})", Dtype::f64, {2, 3, 3}), HasSubstr("text"));
  EXPECT_THAT(refusal(R"({"names":["a","b"],"symmetric":true,"gate":1})", Dtype::f64, {2, 3, 3}),
              HasSubstr("newer"));
  EXPECT_THAT(refusal("{", Dtype::f64, {2, 3, 3}), HasSubstr("JSON"));
}

TEST(BankFile, StoppingLeavesNothingBehind) {
  const TemporaryFolder folder;
  const auto bank = make_dense_bank(random_kernels(3, 4, 4, false), names_for(3), false);
  Context context;
  context.progress = [](const Progress&) { return Signal::stop; };
  EXPECT_THROW(save_bank(*bank, folder.file("b.kloom"), context), Interrupted);
  EXPECT_EQ(folder.entries(), 0U);
  EXPECT_THROW(static_cast<void>(load_bank(folder.file("b.kloom"))), InvalidArgument);
}

TEST(BankFile, FuzzCorpusIsReadOrRefused) {
  testing::replay_corpus("bank", fuzz::read_bank_input);
}

}  // namespace
}  // namespace kloom
