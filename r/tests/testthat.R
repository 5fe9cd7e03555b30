# SPDX-License-Identifier: BSD-3-Clause
library(testthat)
library(rkloom)

test_check("rkloom")
