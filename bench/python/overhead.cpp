// SPDX-License-Identifier: BSD-3-Clause
//
// The C++ half of overhead.py: reads a number of repeats from standard input, line by line, fits that often
// on the file it was given and answers with the seconds of each fit, from raw samples to model: by the clock
// and of the processor.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <iostream>

#include "base/stopwatch.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "kloom/recipe.h"

namespace {

using namespace kloom;  // NOLINT(google-build-using-namespace): this is its main program

struct Request {
  std::string method;
  std::string spec;
  int threads = 0;
};

Model fit(const Dataset& data, const Targets& targets, const Request& request, const Context& context) {
  const Recipe recipe = Recipe::fit(data, parse_kernel_spec(request.spec), {}, context);
  const auto bank = store_bank(recipe.training_bank(), {BankKind::dense}, context);
  Model model = find_learner(request.method).fit(*bank, targets, {}, context).model;
  model.recipe = recipe;
  return model;
}

struct Seconds {
  double wall = 0.0;
  double cpu = 0.0;
};

Seconds seconds_of_fit(const Dataset& data, const Targets& targets, const Request& request,
                       const Context& context) {
  const kloom::Stopwatch clock;
  const std::clock_t start_cpu = std::clock();
  const Model model = fit(data, targets, request, context);
  return {clock.seconds(), static_cast<double>(std::clock() - start_cpu) / CLOCKS_PER_SEC};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: bench_python_overhead DATA.csv METHOD SPEC THREADS\n";
    return 2;
  }
  cure_blas_core();
  const Request request{argv[2], argv[3], std::atoi(argv[4])};
  Context context;
  context.threads = request.threads;
  DatasetRequest files;
  files.path = argv[1];
  files.target = "label";
  const Dataset data = load_dataset(files, context);
  const Targets targets = make_targets(data.labels, {});
  for (int repeats = 0; std::cin >> repeats;) {
    for (int i = 0; i < repeats; ++i) {
      const Seconds seconds = seconds_of_fit(data, targets, request, context);
      std::cout << fmt::format("{} {}\n", seconds.wall, seconds.cpu);
    }
    std::cout.flush();
  }
}
