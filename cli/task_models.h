// SPDX-License-Identifier: BSD-3-Clause
//
// Files of several tasks (kloom/tasks.h), for the commands that take a model.
#pragma once

#include <string>

#include "dataset_options.h"
#include "kloom/tasks.h"
#include "session.h"

namespace kloom::cli {

// What the models are, and the weights that they give to the kernels.
[[nodiscard]] std::string tasks_text(const TaskModels& models);

// kloom predict, check and info on such a file; each returns an exit code.
int predict_tasks(const std::string& path, const DatasetOptions& dataset, const std::string& output,
                  Session& session);
int check_tasks(const std::string& path, const DatasetOptions& dataset, Session& session);
int show_tasks(const std::string& path, Session& session);

}  // namespace kloom::cli
