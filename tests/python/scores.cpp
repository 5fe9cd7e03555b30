// SPDX-License-Identifier: BSD-3-Clause
//
// The C++ third of test_files.py: fits one method on a table through the library alone and prints the scores
// of the same samples, a line each, with all digits.
//
//   python_scores DATA.csv TARGET METHOD SPEC [OPTION=VALUE ...]
#include <cstdio>
#include <exception>
#include <string>

#include "kloom/learner.h"
#include "kloom/machine.h"
#include "kloom/recipe.h"

namespace {

using namespace kloom;  // NOLINT(google-build-using-namespace): this is its main program

OptionValues options_of(int argc, char** argv, int first) {
  OptionValues options;
  for (int i = first; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    options[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

Predictions scores(const std::string& path, const std::string& target, const Learner& learner,
                   const std::string& spec, const OptionValues& options) {
  Context context;
  context.threads = 1;
  DatasetRequest request;
  request.path = path;
  request.target = target;
  const Dataset data = load_dataset(request, context);
  const Targets targets = make_targets(data.labels, {});
  const Recipe recipe = Recipe::fit(data, parse_kernel_spec(spec), {}, context);
  const auto computed = recipe.training_bank();
  const BankRequest like = preferred_bank(learner, computed->rows(), computed->kernels(), std::size_t{1} << 30);
  const auto bank = store_bank(computed, like, context);
  Model model = learner.fit(*bank, targets, options, context).model;
  model.recipe = recipe;
  return predict(model, data, {}, context);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  cure_blas_core();
  try {
    const Predictions found =
        scores(argv[1], argv[2], find_learner(argv[3]), argv[4], options_of(argc, argv, 5));
    for (Index i = 0; i < found.scores.rows(); ++i) {
      for (Index j = 0; j < found.scores.cols(); ++j) std::printf("%.17g ", found.scores(i, j));
      std::printf("\n");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
