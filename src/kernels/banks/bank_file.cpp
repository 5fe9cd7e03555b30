// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/bank_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "data/container_json.h"
#include "kernels/banks/mapped_store.h"
#include "kloom/error.h"

namespace kloom {
namespace kernels {
namespace {

using nlohmann::json;

constexpr Index panel_bytes = Index{4} << 20;

void write_panels(const KernelBank& bank, data::ContainerWriter& writer, const Context& context) {
  const Index rows_at_once =
      std::clamp<Index>(panel_bytes / (bank.cols() * static_cast<Index>(sizeof(double))), 1, bank.rows());
  Vector panel(static_cast<std::size_t>(rows_at_once * bank.cols()));
  ProgressMeter progress(context, "bank file");
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index i = 0; i < bank.rows(); i += rows_at_once) {
      const Range rows{i, std::min(i + rows_at_once, bank.rows())};
      bank.panels({p, p + 1}, rows, panel.data());
      writer.write(panel.data(), static_cast<std::size_t>(rows.size() * bank.cols()) * sizeof(double));
    }
    // Half a file is of no use, so "stop" means the same as "abort" here.
    if (progress.step(p + 1, bank.kernels(), std::numeric_limits<double>::quiet_NaN()) &&
        p + 1 < bank.kernels())
      throw Interrupted("Writing the bank file was stopped; nothing was written.");
  }
}

}  // namespace

std::unique_ptr<KernelBank> read_bank(const data::Container& container) {
  if (container.version() != data::bank_version)
    throw FileError(fmt::format(
        "'{}' has version {} of the bank format, and this kloom reads version {}; use a newer kloom.",
        container.source(), json(container.version()).dump(), data::bank_version));
  data::TensorReader tensors(container);
  const json document = data::parse_json(tensors.text("document"), container.source(), "its document");
  data::Fields fields(document, container.source(), "the bank");
  auto names = fields.texts("names");
  const bool symmetric = fields.flag("symmetric");
  const bool apart = fields.find("apart") != nullptr;
  (void)fields.find("recipe");
  fields.finish();

  const data::Tensor* found = container.find("kernels");
  if (found == nullptr) container.damaged("tensor 'kernels' is missing");
  const data::Tensor& kernels = tensors.tensor("kernels", found->dtype, 3);
  tensors.finish("recipe.");
  DenseStore store = mapped_store(container, kernels);
  const Index rows = kernels.shape[1];
  const Index cols = kernels.shape[2];
  if (static_cast<Index>(names.size()) != kernels.shape[0])
    container.damaged("it does not have one name per kernel");
  if (symmetric && rows != cols) container.damaged("its kernels are said to be symmetric and are not square");
  // As they were taken before they were saved, so that models of them have the same bits.
  for (Index p = 0; apart && store.f64 != nullptr && p < kernels.shape[0]; ++p)
    store.apart.push_back({store.f64 + p * rows * cols, 1.0});
  return std::make_unique<DenseBank>(std::move(store), rows, cols, symmetric, std::move(names));
}

}  // namespace kernels

void save_bank(const KernelBank& bank, const std::string& path, const Context& context) {
  if (bank.kernels() < 1 || bank.rows() < 1 || bank.cols() < 1)
    throw InvalidArgument("The bank cannot be saved: it has no kernel entries.");
  if (!bank.presence().complete())
    throw InvalidArgument(
        "The bank cannot be saved: some samples lack views, and a bank file does not hold which. Train on "
        "the views themselves, fill the gaps in (--impute median), or keep whole samples (--join inner).");
  data::ContainerPlan plan{std::string(data::bank_format), std::string(data::bank_version)};
  plan.add("kernels", data::Dtype::f64, {bank.kernels(), bank.rows(), bank.cols()});
  nlohmann::json description{{"names", data::encode_texts(bank.names())}, {"symmetric", bank.symmetric()}};
  const auto* dense = dynamic_cast<const kernels::DenseBank*>(&bank);
  if (dense != nullptr && dense->are_apart()) description["apart"] = true;
  const std::string document = description.dump();
  plan.add("document", data::Dtype::u8, {static_cast<Index>(document.size())});
  data::ContainerWriter writer(plan, path);
  kernels::write_panels(bank, writer, context);
  writer.write(document.data(), document.size());
  writer.finish();
}

std::unique_ptr<KernelBank> load_bank(const std::string& path) {
  return kernels::read_bank(data::Container::map(path, data::bank_format));
}

}  // namespace kloom
