// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of model files are changed, with right checksums, as a bug or a hand might. Whatever is changed, the file is
// refused when it is read, or the referee refutes the model, or its predictions are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "kloom/train.h"
#include "support/model_arrays.h"
#include "support/problems.h"

namespace kloom {
namespace {

// Sums of the training samples' predictions must agree to 1e-6 of their size. What a change makes of a single new sample
// may be some ten times of what it makes of the training samples in the mean, and kernels of its own ten times more.
constexpr double kSamePrediction = 1e-4;

enum class Kind { two, three, number, numbers };

struct Setting {
  const char* method;
  Kind kind;
  OptionValues options;
  const char* kernels = "rbf(width=1..2); linear; rbf(width=1, normalise=centre) on a";
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.method;
}

struct Trained {
  Dataset data;
  Dataset fresh;
  Targets targets;
  std::string file;
  Predictions before;
};

Dataset samples(Index n, unsigned seed) {
  Dataset data;
  data.source = "made up";
  data.samples = n;
  data.features = test::normal_matrix(n, 3, seed);
  for (const char* name : {"a", "b", "c"}) data.feature_info.push_back({name, ""});
  return data;
}

Targets targets_of(const Dataset& data, Kind kind) {
  test::Normal noise(7);
  Targets targets;
  const Index n = data.samples;
  const Matrix& x = data.features;
  if (kind == Kind::two || kind == Kind::three) {
    targets.task = kind == Kind::two ? Task::binary : Task::multiclass;
    targets.classes = {"p", "q"};
    if (kind == Kind::three) targets.classes.emplace_back("r");
    for (Index i = 0; i < n; ++i) {
      const double score = x(i, 0) + 0.5 * x(i, 1) * x(i, 1) + 0.3 * noise();
      targets.codes.push_back(score < 0.2 ? 0 : kind == Kind::two || score < 1.2 ? 1 : 2);
    }
    return targets;
  }
  const Index columns = kind == Kind::number ? 1 : 2;
  targets.task = kind == Kind::number ? Task::regression : Task::multi_regression;
  targets.values = Matrix(n, columns);
  for (Index c = 0; c < columns; ++c) {
    for (Index i = 0; i < n; ++i)
      targets.values(i, c) = 2.0 + std::sin(x(i, 0)) + static_cast<double>(c) * x(i, 1) + 0.2 * noise();
  }
  return targets;
}

Trained trained(const Setting& setting) {
  Trained made{samples(30, 11), samples(8, 12), {}, {}, {}};
  made.targets = targets_of(made.data, setting.kind);
  TrainRequest request;
  request.method = setting.method;
  request.options = setting.options;
  request.kernels = parse_kernel_spec(setting.kernels);
  request.evaluate = true;
  Context context;
  context.threads = 1;
  const FitResult fit = train(made.data, made.targets, request, context);
  made.file = model_bytes(fit.model);
  made.before = predict(model_from_bytes(made.file), made.fresh, {}, context);
  return made;
}

double largest_change(const Matrix& now, const Matrix& before) {
  if (now.rows() != before.rows() || now.cols() != before.cols())
    return std::numeric_limits<double>::infinity();
  double size = 0.0;
  double change = 0.0;
  for (std::size_t k = 0; k < now.values().size(); ++k) {
    size = std::max(size, std::abs(before.values()[k]));
    const double one = std::abs(now.values()[k] - before.values()[k]);
    change = one <= change ? change : one;  // also what is no number
  }
  return change / std::max(size, 1e-300);
}

enum class Outcome { refused, refuted, harmless, changed };

// What becomes of a file: `refused` with a sentence when it is read or checked, `refuted`, or predictions that are the
// same or not.
Outcome outcome_of(const Trained& made, const std::string& file) {
  Context context;
  context.threads = 1;
  try {
    const Model model = model_from_bytes(file);
    require_training_samples(model, made.data);
    const auto bank = store_bank(model.recipe->training_bank_with(made.data), {}, context);
    const Certificate certificate = certify(*bank, made.targets, model, context);
    if (certificate.finding == Certificate::Finding::refuted) {
      EXPECT_FALSE(certificate.proof);
      EXPECT_GT(certificate.verdict.size(), 40U) << "a sentence that names the number";
      return Outcome::refuted;
    }
    const Predictions now = predict(model, made.fresh, {}, context);
    const double change = std::max({largest_change(now.scores, made.before.scores),
                                    largest_change(now.probabilities, made.before.probabilities),
                                    largest_change(now.deviation, made.before.deviation)});
    return change <= kSamePrediction ? Outcome::harmless : Outcome::changed;
  } catch (const Error&) {
    return Outcome::refused;
  }
}

struct Edit {
  const char* name;
  std::function<double(double)> change;
};

const std::vector<Edit>& edits() {
  static const std::vector<Edit> all = {
      {"one in a thousand more", [](double x) { return x == 0.0 ? 1e-3 : x * 1.001; }},
      {"the other sign", [](double x) { return x == 0.0 ? -1.0 : -x; }},
      {"a thousand more", [](double x) { return x + 1000.0; }},
      {"NaN", [](double) { return std::numeric_limits<double>::quiet_NaN(); }},
      {"infinity", [](double) { return std::numeric_limits<double>::infinity(); }},
      {"the edge", [](double) { return std::numeric_limits<double>::max(); }},
  };
  return all;
}

// The first entry, the largest and one in between.
std::vector<std::size_t> chosen_entries(const test::ModelArray& array) {
  std::size_t largest = 0;
  for (std::size_t k = 0; k < array.count(); ++k) {
    if (std::abs(array.get<double>(k)) > std::abs(array.get<double>(largest))) largest = k;
  }
  std::vector<std::size_t> chosen = {0, largest, array.count() / 3};
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

class EditedModels : public testing::TestWithParam<Setting> {};

TEST_P(EditedModels, TheFileItselfPasses) {
  const Trained made = trained(GetParam());
  ASSERT_EQ(test::ModelArrays(made.file).file(), made.file) << "the test does not know the layout of files";
  EXPECT_EQ(outcome_of(made, made.file), Outcome::harmless);
}

TEST_P(EditedModels, NumbersAreRefusedRefutedOrHarmless) {
  const Trained made = trained(GetParam());
  const test::ModelArrays parts(made.file);
  std::map<Outcome, int> outcomes;
  for (std::size_t a = 0; a < parts.arrays.size(); ++a) {
    if (parts.arrays[a].dtype != "F64" || parts.arrays[a].count() == 0) continue;
    for (const std::size_t k : chosen_entries(parts.arrays[a])) {
      for (const Edit& edit : edits()) {
        test::ModelArrays changed = parts;
        changed.arrays[a].set(k, edit.change(parts.arrays[a].get<double>(k)));
        const Outcome outcome = outcome_of(made, changed.file());
        EXPECT_NE(outcome, Outcome::changed) << parts.arrays[a].name << "[" << k << "]: " << edit.name;
        ++outcomes[outcome];
      }
    }
  }
  EXPECT_GT(outcomes[Outcome::refused], 30);
  EXPECT_GT(outcomes[Outcome::refuted], 10);
}

// Predictions of numbers at the edge may be anything or a refusal with a sentence, but one of the two comes.
TEST_P(EditedModels, NumbersAtTheEdgeEndInPredictionsOrASentence) {
  const Trained made = trained(GetParam());
  const test::ModelArrays parts(made.file);
  for (std::size_t a = 0; a < parts.arrays.size(); ++a) {
    if (parts.arrays[a].dtype != "F64" || parts.arrays[a].count() == 0) continue;
    for (const std::size_t k : chosen_entries(parts.arrays[a])) {
      for (const double edge : {1e300, -1e300, 1e-300, 0.0}) {
        test::ModelArrays changed = parts;
        changed.arrays[a].set(k, edge);
        try {
          const Predictions now = predict(model_from_bytes(changed.file()), made.fresh, {}, {});
          EXPECT_EQ(now.scores.rows(), made.fresh.samples);
        } catch (const Error& error) {
          EXPECT_GT(std::string(error.what()).size(), 20U);
        }
      }
    }
  }
}

TEST_P(EditedModels, SwappedNumbersAreRefusedRefutedOrHarmless) {
  const Trained made = trained(GetParam());
  const test::ModelArrays parts(made.file);
  for (std::size_t a = 0; a < parts.arrays.size(); ++a) {
    const std::size_t count = parts.arrays[a].count();
    if (parts.arrays[a].dtype == "U8" || count < 2) continue;
    for (const std::size_t k : {std::size_t{0}, count / 2}) {
      const std::size_t other = (k + 1 + count / 3) % count;
      test::ModelArrays changed = parts;
      changed.arrays[a].set(k, parts.arrays[a].get<std::int64_t>(other));
      changed.arrays[a].set(other, parts.arrays[a].get<std::int64_t>(k));
      EXPECT_NE(outcome_of(made, changed.file()), Outcome::changed)
          << parts.arrays[a].name << "[" << k << ", " << other << "]";
    }
  }
}

// Every number of the document: counts and indices.
TEST_P(EditedModels, NumbersOfTheDocumentAreRefusedRefutedOrHarmless) {
  const Trained made = trained(GetParam());
  const test::ModelArrays parts(made.file);
  const auto document =
      std::ranges::find(parts.arrays, "document", [](const test::ModelArray& one) { return one.name; }) -
      parts.arrays.begin();
  const auto json = nlohmann::ordered_json::parse(parts.arrays[static_cast<std::size_t>(document)].bytes);
  const auto flat = json.flatten();
  std::size_t tried = 0;
  for (const auto& [path, value] : flat.items()) {
    if (!value.is_number()) continue;
    for (const int step : {1, -1, 1000}) {
      auto edited = json;
      edited[nlohmann::ordered_json::json_pointer(path)] = value.get<std::int64_t>() + step;
      test::ModelArrays changed = parts;
      test::ModelArray& text = changed.arrays[static_cast<std::size_t>(document)];
      text.bytes = edited.dump();
      text.shape = {text.bytes.size()};
      EXPECT_NE(outcome_of(made, changed.file()), Outcome::changed) << path << " + " << step;
      ++tried;
    }
  }
  EXPECT_GT(tried, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, EditedModels,
    testing::Values(Setting{"auto", Kind::three, {}}, Setting{"auto", Kind::number, {}},
                    Setting{"bemkl", Kind::two, {{"iterations", "20"}}},
                    Setting{"bemkl", Kind::three, {{"iterations", "20"}, {"likelihood", "multinomial"}}},
                    Setting{"bemkl", Kind::three, {{"iterations", "20"}, {"multiclass", "one-versus-all"}}},
                    Setting{"bemkl", Kind::numbers, {{"iterations", "20"}, {"non_negative", "true"}}},
                    Setting{"gp-mkl", Kind::three, {}}, Setting{"gp-mkl", Kind::number, {}},
                    Setting{"lp-mkl", Kind::number, {}}, Setting{"lp-mkl", Kind::two, {{"norm", "inf"}}},
                    Setting{"simplemkl", Kind::three, {{"multiclass", "one-versus-one"}}},
                    Setting{"simplemkl", Kind::two, {{"probability", "false"}}},
                    Setting{"easymkl", Kind::three, {}}, Setting{"align", Kind::two, {}},
                    Setting{"alignf", Kind::number, {}}, Setting{"group-mkl", Kind::two, {{"mix", "0.5"}}},
                    Setting{"gram", Kind::three, {}}, Setting{"fheuristic", Kind::number, {}},
                    Setting{"pwmk", Kind::three, {}}, Setting{"mcmkl", Kind::two, {}},
                    Setting{"mcmkl", Kind::three, {{"class_kernels", "identity+pairs"}}},
                    Setting{"samkl", Kind::two, {{"m0", "2"}}}, Setting{"lmkl", Kind::two, {{"steps", "5"}}},
                    Setting{"lmkl", Kind::number, {{"steps", "5"}, {"gate", "sigmoid"}}},
                    Setting{"gmkl", Kind::two, {{"C", "1"}}, "rbf(width=1) on each"},
                    Setting{"gmkl", Kind::three, {{"C", "1"}, {"regulariser", "l2"}}, "rbf(width=1) on each"},
                    Setting{"gmkl", Kind::number, {{"C", "1"}}, "rbf(width=1) on each"},
                    Setting{"lp-beta", Kind::two, {{"C", "1"}}},
                    Setting{"lp-beta", Kind::three, {{"C", "1"}, {"weights_per", "class"}}},
                    Setting{"mkr", Kind::number, {{"draws", "10"}, {"steps", "5"}}},
                    Setting{"mtmkl", Kind::number, {}}, Setting{"mtmkl", Kind::numbers, {{"iterations", "20"}}},
                    Setting{"mkr", Kind::numbers, {{"draws", "10"}}},
                    Setting{"mkr", Kind::numbers, {{"weights", "groups"}, {"mix", "0.5"}}},
                    Setting{"simplemkl", Kind::two, {{"groups", "views"}}}, Setting{"uniform", Kind::three, {}},
                    Setting{"single", Kind::two, {}}, Setting{"mkl-da", Kind::two, {}},
                    Setting{"mkl-da", Kind::three, {}}, Setting{"ufo-mkl", Kind::two, {}},
                    Setting{"ufo-mkl", Kind::three, {}}, Setting{"vbpmkl", Kind::two, {}},
                    Setting{"vbpmkl", Kind::three, {{"tolerance", "1e-3"}}},
                    Setting{"samkl", Kind::two, {{"C", "2"}, {"updates", "literal"}}}),
    [](const auto& one) {
      std::string name = std::to_string(one.index) + one.param.method;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace kloom
