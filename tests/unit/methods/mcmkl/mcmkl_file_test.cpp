// SPDX-License-Identifier: BSD-3-Clause
//
// The multiclass part of a model file: back to the bit, refused where it breaks a rule, refused
// where it is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kloom/parts.h"
#include "support/files.h"
#include "support/model_files.h"
#include "support/problems.h"

namespace kloom {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;

// 4 samples, 3 classes, 2 kernels, 2 kernels on classes.
Model sound_model() {
  Model model;
  model.method = "mcmkl";
  model.task = Task::multiclass;
  model.classes = {"a", "b", "c"};
  model.kernel_names = {"k", "l"};
  model.weights.values = Matrix(1, 2, 0.5);
  model.coefficients = test::normal_matrix(4, 3, 2);
  model.bias = {1.0, 2.0, 3.0};
  McmklPart part;
  part.loss = McmklPart::Loss::logistic;
  part.bias = false;
  part.box = {1.0, 2.0, 3.0, 4.0};
  part.dual = test::normal_matrix(4, 3, 3);
  part.class_kernels = test::normal_matrix(3, 6, 4);
  part.class_weights = Matrix(2, 2, 0.5);
  model.part = std::make_shared<McmklPart>(std::move(part));
  return model;
}

bool same(const Model& a, const Model& b) {
  const McmklPart& x = part_of<McmklPart>(a);
  const McmklPart& y = part_of<McmklPart>(b);
  return a.coefficients == b.coefficients && x.loss == y.loss && x.bias == y.bias && x.box == y.box &&
         x.dual == y.dual && x.class_kernels == y.class_kernels && x.class_weights == y.class_weights;
}

TEST(McmklFile, ComesBackToTheBit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.kloom");
  Model model = sound_model();
  save_model(model, path);
  EXPECT_EQ(model_file_bytes(model), read_bytes(path).size());
  EXPECT_TRUE(same(model, load_model(path)));
  auto& plain = edit_part<McmklPart>(model);
  plain.class_kernels = plain.class_weights = Matrix();
  save_model(model, path);
  EXPECT_TRUE(same(model, load_model(path)));
}

TEST(McmklFile, DamageAtEveryByteIsRefused) {
  testing::expect_damage_is_refused(sound_model(), same);
}

TEST(McmklFile, PartsThatBreakARuleAreNotSaved) {
  const auto refused = [](auto change) {
    Model model = sound_model();
    change(model);
    return testing::refusal_of(model);
  };
  EXPECT_EQ(refused([](Model&) {}), "accepted");
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).box.pop_back(); }), HasSubstr("prices"));
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).dual = Matrix(4, 2); }), HasSubstr("dual"));
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).class_kernels = Matrix(3, 5); }),
              HasSubstr("kernels on classes"));
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).class_kernels = Matrix(2, 6); }),
              HasSubstr("kernels on classes"));
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).class_weights = Matrix(3, 2); }),
              HasSubstr("weights"));
  EXPECT_THAT(refused([](Model& m) { edit_part<McmklPart>(m).class_weights = Matrix(); }),
              HasSubstr("weights"));
  EXPECT_THAT(refused([](Model& m) {
                m.weights.shape = KernelWeights::Shape::per_class;
                m.weights.values = Matrix(3, 2);
              }),
              HasSubstr("share"));
  EXPECT_THAT(refused([](Model& m) {
                m.task = Task::multi_regression;
                m.classes.clear();
              }),
              HasSubstr("classes"));
}

}  // namespace
}  // namespace kloom
