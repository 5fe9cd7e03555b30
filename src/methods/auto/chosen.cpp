// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/chosen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kloom/error.h"

namespace kloom::methods {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"ridge", "logistic", "margin"};  // as MachineKind

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    if (!part.empty()) parts.push_back(part);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

[[noreturn]] void refuse(std::string_view part, const char* why) {
  throw InvalidArgument(fmt::format(
      "machines: '{}' {}; give the text that an earlier run of auto printed, or leave the option out", part,
      why));
}

double number(std::string_view part, std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
    refuse(part, "has something that is no number >= 0");
  return value;
}

Vector weights_of(std::string_view part, std::string_view text, Index kernels) {
  Vector weights(at(kernels));
  for (const std::string_view term : split(text, ',')) {
    const std::size_t star = term.find('*');
    if (star == std::string_view::npos) refuse(part, "has a kernel without a weight");
    const double place = number(part, term.substr(0, star));
    if (place < 1.0 || place > static_cast<double>(kernels) || place != std::floor(place))
      refuse(part, "names a kernel that does not exist; the kernels must be the same as then");
    weights[static_cast<std::size_t>(place) - 1] = number(part, term.substr(star + 1));
  }
  return weights;
}

}  // namespace

std::string_view kind_name(MachineKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string to_text(const Chosen& chosen) {
  std::string text = fmt::format("loss {}", chosen.loss);
  if (chosen.deviation > 0.0) text += fmt::format("; deviation {}", chosen.deviation);
  for (const ChosenMachine& machine : chosen.machines) {
    text +=
        fmt::format("; {} {} {} {} ", kind_name(machine.kind), machine.ridge, machine.factor, machine.share);
    const char* between = "";
    for (std::size_t p = 0; p < machine.weights.size(); ++p) {
      if (machine.weights[p] == 0.0) continue;
      text += fmt::format("{}{}*{}", between, p + 1, machine.weights[p]);
      between = ",";
    }
  }
  return text;
}

Chosen parse_chosen(std::string_view text, Index kernels) {
  Chosen chosen;
  for (const std::string_view part : split(text, ';')) {
    const std::vector<std::string_view> words = split(part, ' ');
    if (words.empty()) continue;
    const bool single = words.size() == 2;
    const auto* const kind = std::ranges::find(kKindNames, words[0]);
    if (single && words[0] == "loss") {
      chosen.loss = number(part, words[1]);
    } else if (single && words[0] == "deviation") {
      chosen.deviation = number(part, words[1]);
    } else if (words.size() == 5 && kind != kKindNames.end()) {
      ChosenMachine machine{static_cast<MachineKind>(kind - kKindNames.begin()), number(part, words[1]),
                            number(part, words[2]), number(part, words[3]),
                            weights_of(part, words[4], kernels)};
      if (!(machine.ridge > 0.0)) refuse(part, "has a strength that is not above 0");
      chosen.machines.push_back(std::move(machine));
    } else {
      refuse(part, "is neither a loss, a deviation nor a machine");
    }
  }
  if (chosen.machines.empty()) refuse(text, "has no machine");
  return chosen;
}

}  // namespace kloom::methods
