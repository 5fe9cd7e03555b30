# SPDX-License-Identifier: BSD-3-Clause

test_that("the package has the version of the library", {
  expect_identical(as.character(utils::packageVersion("rkloom")), ask(.Call(C_version)))
})
