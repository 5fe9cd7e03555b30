// SPDX-License-Identifier: BSD-3-Clause
//
// Gates in a model file: back to the bit, refused where they break a rule, refused where they are damaged.
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

// 4 samples, 2 kernels, 3 classes.
Model sound_model(Gates::Kind kind) {
  Model model;
  model.method = kind == Gates::Kind::switches ? "samkl" : "lmkl";
  model.task = Task::multiclass;
  model.classes = {"a", "b", "c"};
  model.kernel_names = {"k", "l"};
  model.weights.shape = KernelWeights::Shape::per_class;
  model.weights.values = Matrix(3, 2, 0.5);
  model.coefficients = test::normal_matrix(4, 3, 2);
  model.bias = {1.0, 2.0, 3.0};
  GatedPart part;
  part.box = Matrix(4, 3, 1.0);
  part.gates.kind = kind;
  const bool switches = kind == Gates::Kind::switches;
  for (unsigned c = 0; c < 3; ++c) {
    Gates::Output output;
    output.samples = switches ? Matrix(4, 2, 1.0) : Matrix(4, 2, 0.3 + 0.1 * c);
    if (switches) {
      output.samples(static_cast<Index>(c), 1) = 0.0;
      output.patterns = Matrix(2, 2, 1.0);
      output.patterns(1, 1) = 0.0;
      output.margins = {1.0, 0.5, 0.25, 1.0};
    } else {
      output.parameters = test::normal_matrix(2, 4, 6 + c);
    }
    part.gates.outputs.push_back(output);
  }
  if (switches) {
    part.gates.start = {1.0, 1.0};
    part.gates.changes = 1.0;
  } else {
    part.gates.space = {0.5, 0.5};
    part.gates.projection = test::normal_matrix(4, 3, 9);
    part.gates.offset = {0.1, 0.2, 0.3};
  }
  model.part = std::make_shared<GatedPart>(std::move(part));
  return model;
}

constexpr Gates::Kind kKinds[] = {Gates::Kind::switches, Gates::Kind::softmax, Gates::Kind::sigmoid};

bool same(const Model& a, const Model& b) {
  const Gates& x = part_of<GatedPart>(a).gates;
  const Gates& y = part_of<GatedPart>(b).gates;
  bool equal = a.coefficients == b.coefficients && x.kind == y.kind && x.start == y.start &&
               x.changes == y.changes && x.space == y.space && x.projection == y.projection &&
               x.offset == y.offset && x.outputs.size() == y.outputs.size();
  for (std::size_t k = 0; equal && k < x.outputs.size(); ++k) {
    equal = x.outputs[k].samples == y.outputs[k].samples && x.outputs[k].patterns == y.outputs[k].patterns &&
            x.outputs[k].margins == y.outputs[k].margins && x.outputs[k].parameters == y.outputs[k].parameters;
  }
  return equal;
}

TEST(GateFile, ComesBackToTheBit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.kloom");
  for (const auto kind : kKinds) {
    const Model model = sound_model(kind);
    save_model(model, path);
    EXPECT_EQ(model_file_bytes(model), read_bytes(path).size());
    EXPECT_TRUE(same(model, load_model(path)));
  }
}

TEST(GateFile, DamageAtEveryByteIsRefused) {
  for (const auto kind : {Gates::Kind::switches, Gates::Kind::softmax})
    testing::expect_damage_is_refused(sound_model(kind), same);
}

TEST(GateFile, GatesThatBreakARuleAreNotSaved) {
  const auto refused = [](Gates::Kind kind, auto change) {
    Model model = sound_model(kind);
    change(model);
    return testing::refusal_of(model);
  };
  const auto switches = Gates::Kind::switches;
  const auto softmax = Gates::Kind::softmax;
  EXPECT_EQ(refused(switches, [](Model&) {}), "accepted");
  EXPECT_THAT(refused(switches, [](Model& m) { m.part = nullptr; }), HasSubstr("no part"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs.pop_back(); }),
              HasSubstr("each score"));
  EXPECT_THAT(
      refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[1].samples = Matrix(3, 2); }),
      HasSubstr("each sample"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[1].samples(0, 0) = 0.5; }),
              HasSubstr("on nor off"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[1].patterns = Matrix(); }),
              HasSubstr("patterns"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[0].margins[2] = 0.0; }),
              HasSubstr("positive"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[0].margins.pop_back(); }),
              HasSubstr("margins"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).gates.start.pop_back(); }),
              HasSubstr("per kernel"));
  EXPECT_THAT(refused(switches, [](Model& m) { edit_part<GatedPart>(m).pairs = Matrix(3, 2); }),
              HasSubstr("pairs"));
  EXPECT_THAT(
      refused(softmax, [](Model& m) { edit_part<GatedPart>(m).gates.outputs[0].parameters = Matrix(2, 3); }),
      HasSubstr("parameters"));
  EXPECT_THAT(refused(softmax, [](Model& m) { edit_part<GatedPart>(m).gates.offset.pop_back(); }),
              HasSubstr("inputs"));
  EXPECT_THAT(refused(softmax, [](Model& m) { edit_part<GatedPart>(m).gates.space.clear(); }),
              HasSubstr("inputs"));
}

}  // namespace
}  // namespace kloom
