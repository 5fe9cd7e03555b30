// SPDX-License-Identifier: BSD-3-Clause
//
// The commands. Each gets the arguments after its name, returns an exit code, and throws what goes wrong.
#pragma once

#include "command_line.h"

namespace kloom::cli {

int run_train(const Arguments& arguments);
int run_predict(const Arguments& arguments);
int run_kernels(const Arguments& arguments);
int run_cv(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_stream(const Arguments& arguments);
int run_check(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_methods(const Arguments& arguments);

}  // namespace kloom::cli
