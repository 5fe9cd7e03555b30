// SPDX-License-Identifier: BSD-3-Clause
//
// From a CSV file to a model and its predictions, through the library:
//
//   train_and_predict examples/data/wdbc.csv
#include <kloom/train.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <vector>

namespace {

// Every third sample is kept for the test.
struct Split {
  kloom::Dataset train;
  kloom::Dataset test;
};

Split split(const kloom::Dataset& data) {
  std::vector<kloom::Index> train;
  std::vector<kloom::Index> test;
  for (kloom::Index i = 0; i < data.samples; ++i) (i % 3 == 2 ? test : train).push_back(i);
  return {kloom::select_samples(data, train), kloom::select_samples(data, test)};
}

void run(const char* path) {
  const kloom::Context context;
  kloom::DatasetRequest request;
  request.path = path;
  request.target = "diagnosis";
  const Split data = split(kloom::load_dataset(request, context));
  const kloom::Targets targets = kloom::make_targets(data.train.labels, {});

  kloom::TrainRequest how;
  how.method = "bemkl";
  how.options = {{"iterations", "50"}};
  how.kernels = kloom::parse_kernel_spec("rbf(width=2^-1..2^3) on all, each; poly(degree=2) on all");
  const kloom::FitResult fit = kloom::train(data.train, targets, how, context);
  const kloom::Report& report = fit.report;
  std::cout << report.samples << " samples, " << report.kernels << " kernels, " << report.iterations
            << " iterations, " << report.objective_name << ' ' << report.objective << '\n'
            << report.certificate.verdict << '\n';

  const kloom::Predictions predicted = kloom::predict(fit.model, data.test, {}, context);
  std::size_t right = 0;
  for (std::size_t i = 0; i < predicted.codes.size(); ++i) {
    right += targets.classes[static_cast<std::size_t>(predicted.codes[i])] == data.test.labels[i] ? 1U : 0U;
  }
  std::cout << "test accuracy " << right << " of " << predicted.codes.size() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: train_and_predict DATA.csv\n";
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
