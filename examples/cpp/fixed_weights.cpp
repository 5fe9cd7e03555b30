// SPDX-License-Identifier: BSD-3-Clause
//
// A method of one's own, outside of kloom: kernel weights from a fixed list, then regularised least squares on
// the sum of kernels. It is registered, trained through the same verb as the others, saved, loaded and asked.
//
//   fixed_weights examples/data/wdbc.csv
#include <kloom/parts.h>
#include <kloom/train.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using kloom::Index;

// What the method adds to a model: nothing but its strength.
struct FixedPart : kloom::ModelPart {
  double ridge = 1.0;

  kloom::Predictions predict(const kloom::Model& model, const kloom::KernelBank& bank,
                             const kloom::PredictOptions& /*options*/) const override {
    const kloom::Vector weights(model.weights.values.values().begin(), model.weights.values.values().end());
    const kloom::Matrix kernel = bank.combine(weights);  // training samples x rows
    kloom::Predictions result;
    result.scores = kloom::Matrix(bank.rows(), 1, model.bias[0]);
    for (Index i = 0; i < bank.rows(); ++i) {
      for (Index n = 0; n < bank.cols(); ++n) result.scores(i, 0) += kernel(n, i) * model.coefficients(n, 0);
      result.codes.push_back(result.scores(i, 0) > 0.0 ? 1 : 0);
    }
    return result;
  }
  void save(kloom::PartWriter& file) const override { file.vector("fixed.ridge", {ridge}); }
};

// (K + ridge I) c = y by conjugate gradients.
kloom::Vector solve(const kloom::Matrix& kernel, const kloom::Vector& y, double ridge) {
  const std::size_t n = y.size();
  const auto dot = [](const kloom::Vector& a, const kloom::Vector& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  kloom::Vector c(n);
  kloom::Vector rest = y;
  kloom::Vector direction = y;
  double square = dot(rest, rest);
  for (int step = 0; step < 200 && square > 1e-16; ++step) {
    kloom::Vector image(n);
    for (std::size_t i = 0; i < n; ++i) {
      image[i] = ridge * direction[i];
      for (std::size_t j = 0; j < n; ++j)
        image[i] += kernel(static_cast<Index>(j), static_cast<Index>(i)) * direction[j];
    }
    const double length = square / dot(direction, image);
    for (std::size_t i = 0; i < n; ++i) {
      c[i] += length * direction[i];
      rest[i] -= length * image[i];
    }
    const double next = dot(rest, rest);
    for (std::size_t i = 0; i < n; ++i) direction[i] = rest[i] + next / square * direction[i];
    square = next;
  }
  return c;
}

kloom::Vector numbers_of(const std::string& text) {
  kloom::Vector numbers;
  std::istringstream words(text);
  for (double number = 0.0; words >> number;) numbers.push_back(number);
  return numbers;
}

kloom::Learner fixed_weights() {
  kloom::Learner learner;
  learner.name = "fixed-weights";
  learner.summary = "kernel weights as given, least squares on their sum";
  learner.tasks = {kloom::Task::binary};
  kloom::OptionInfo weights;
  weights.name = "weights";
  weights.kind = kloom::OptionInfo::Kind::text;
  weights.doc = "weights of the kernels, separated by blanks; the last one stands for all that follow";
  learner.options = {weights};
  learner.working_memory = [](Index n, Index /*p*/, Index /*m*/) {
    return static_cast<std::size_t>(n * n) * sizeof(double);
  };
  learner.load = [](kloom::PartReader& file, const kloom::Model& /*model*/) {
    auto part = std::make_shared<FixedPart>();
    part->ridge = file.vector("fixed.ridge").at(0);
    return part;
  };
  learner.certify = [](const kloom::KernelBank& /*bank*/, const kloom::Targets& /*targets*/,
                       const kloom::Model& /*model*/, const kloom::Context& /*context*/) {
    kloom::Certificate certificate;
    certificate.verdict = "The weights were given, so there is nothing to prove about them.";
    return certificate;
  };
  learner.fit = [learner](const kloom::KernelBank& bank, const kloom::Targets& targets,
                          const kloom::OptionValues& options, const kloom::Context& context) {
    return kloom::complete_fit(learner, bank, targets, options, context, [&](kloom::FitResult& result) {
      const auto given = options.find("weights");
      const kloom::Vector list = given == options.end() ? kloom::Vector{1.0} : numbers_of(given->second);
      kloom::Vector used;
      for (std::size_t p = 0; p < static_cast<std::size_t>(bank.kernels()); ++p)
        used.push_back(list[p < list.size() ? p : list.size() - 1]);
      auto part = std::make_shared<FixedPart>();
      kloom::Model& model = result.model;
      model.weights.values = kloom::Matrix(1, bank.kernels());
      for (Index p = 0; p < bank.kernels(); ++p) model.weights.values(0, p) = used[static_cast<std::size_t>(p)];
      const kloom::Vector c = solve(bank.combine(used), targets.signs(), part->ridge);
      model.coefficients = kloom::Matrix(bank.rows(), 1);
      for (Index i = 0; i < bank.rows(); ++i) model.coefficients(i, 0) = c[static_cast<std::size_t>(i)];
      model.bias = {0.0};
      model.part = part;
      result.report.message = "weights as given";
    });
  };
  return learner;
}

void run(const char* path) {
  kloom::register_learner(fixed_weights());
  const kloom::Context context;
  kloom::DatasetRequest files;
  files.path = path;
  files.target = "diagnosis";
  const kloom::Dataset data = kloom::load_dataset(files, context);
  const kloom::Targets targets = kloom::make_targets(data.labels, {});
  kloom::TrainRequest how;
  how.method = "fixed-weights";
  how.options = {{"weights", "2 1"}};
  how.kernels = kloom::parse_kernel_spec("rbf(width=2^1..2^3); linear");
  const kloom::FitResult fit = kloom::train(data, targets, how, context);
  const kloom::Model model = kloom::model_from_bytes(kloom::model_bytes(fit.model));
  const kloom::Predictions before = kloom::predict(fit.model, data, {}, context);
  const kloom::Predictions after = kloom::predict(model, data, {}, context);
  std::size_t right = 0;
  for (std::size_t i = 0; i < after.codes.size(); ++i) right += after.codes[i] == targets.codes[i] ? 1U : 0U;
  std::cout << fit.report.certificate.verdict << '\n'
            << "right on " << right << " of " << after.codes.size()
            << ", the same after saving and loading: " << (before.scores == after.scores ? "yes" : "no")
            << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fixed_weights DATA.csv\n";
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
