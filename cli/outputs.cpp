// SPDX-License-Identifier: BSD-3-Clause
#include "outputs.h"

#include <fmt/format.h>

#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {

Outputs::Outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  require_outputs(outputs, inputs);
}

void Outputs::attempt(const std::function<void()>& write) {
  try {
    write();
  } catch (const std::exception& error) {
    if (!failure_.empty()) return;
    failure_ = error.what();
    interrupted_ = dynamic_cast<const Interrupted*>(&error) != nullptr;
  }
}

void Outputs::text(const std::string& path, std::string_view content, Session& session) {
  attempt([&] {
    write_text(path, content, session.context());
    keep(path);
  });
}

void Outputs::finish() const {
  if (failure_.empty()) return;
  std::string message = failure_;
  while (message.ends_with('.')) message.pop_back();
  if (!kept_.empty()) message += fmt::format("; written: {}", list_of(kept_, 10));
  if (interrupted_) throw Interrupted(message);
  throw FileError(message);
}

}  // namespace kloom::cli
