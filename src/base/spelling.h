// SPDX-License-Identifier: BSD-3-Clause
//
// The old place of did_you_mean; src/registry.cpp still includes it.
#pragma once

#include "kloom/words.h"
