// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for checkpoints of streams: changes to a checkpoint that is made here, each of them ten bytes: a place
// (two bytes, in steps of eight from the beginning of the data) and the eight bytes that are put there. The first byte of
// the input chooses the kind of learner. What is accepted has to go on learning.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "data/container.h"
#include "data/container_layout.h"
#include "kloom/error.h"
#include "kloom/stream.h"
#include "models/model_file.h"

namespace kloom::fuzz {

inline Dataset some_samples() {
  Dataset data;
  data.samples = 24;
  data.features = Matrix(24, 2);
  data.feature_info = {{"u", ""}, {"v", ""}};
  for (Index i = 0; i < 24; ++i) {
    data.features(i, 0) = static_cast<double>(i * 7 % 11) / 5.0 - 1.0;
    data.features(i, 1) = static_cast<double>(i * 5 % 13) / 6.0 - 1.0;
    data.labels.emplace_back(data.features(i, 0) > data.features(i, 1) ? "a" : (i % 5 == 0 ? "c" : "b"));
  }
  return data;
}

constexpr std::size_t kLearners = 5;

inline std::string checkpoint_bytes(std::size_t learner) {
  const Dataset data = some_samples();
  StreamOptions options;
  options.dt_update = 5;
  options.features = 3;
  if (learner == 1) options.literal = true;
  if (learner == 2) options.method = "ufo-mkl";
  if (learner == 3) options.budget = 4;
  if (learner == 4) options.approx = "nystroem";
  Context context;
  context.threads = 1;
  StreamLearner stream(Recipe::fit(data, parse_kernel_spec("rbf(gamma=0.3,2)"), {}, context), options, context);
  (void)stream.learn(data);
  return model_bytes(stream.model());
}

// True if the stream went on.
inline bool read_checkpoint_input(std::string_view input) {
  static const std::array<std::string, kLearners> whole = [] {
    std::array<std::string, kLearners> all;
    for (std::size_t k = 0; k < kLearners; ++k) all[k] = checkpoint_bytes(k);
    return all;
  }();
  if (input.empty()) return false;
  auto bytes = std::make_shared<std::string>(whole[static_cast<unsigned char>(input[0]) % kLearners]);
  input.remove_prefix(1);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes->data(), sizeof header);
  const std::size_t begin = data::layout::length_bytes + header;
  const std::size_t places = (bytes->size() - begin) / 8;
  for (; input.size() >= 10; input.remove_prefix(10)) {
    const std::size_t place =
        static_cast<unsigned char>(input[0]) * 256U + static_cast<unsigned char>(input[1]);
    std::memcpy(bytes->data() + begin + place % places * 8, input.data() + 2, 8);
  }
  try {
    Context context;
    context.threads = 1;
    const Model model = models::read_model(data::Container::parse(
        bytes, std::as_bytes(std::span(*bytes)), "input", models::model_format, data::Verify::nothing));
    StreamLearner stream(model, context);
    (void)stream.learn(some_samples());
    (void)stream.model();
    return true;
  } catch (const Error&) {  // refusing is fine
    return false;
  }
}

}  // namespace kloom::fuzz
