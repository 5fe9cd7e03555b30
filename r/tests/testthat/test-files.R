# SPDX-License-Identifier: BSD-3-Clause

fit <- kloom(Species ~ ., iris, method = "uniform", kernels = "rbf(width=1..2)", C = 1)

test_that("a file gives the model back", {
  path <- file.path(tempfile_folder(), "m\u00fcller.kloom")
  expect_invisible(save_kloom(fit, path))
  loaded <- load_kloom(path)
  expect_identical(predict(loaded, iris, "prob"), predict(fit, iris, "prob"))
  expect_identical(coef(loaded), coef(fit))
  expect_identical(loaded$report, fit$report)
  expect_identical(loaded$target, "Species")
  expect_identical(loaded$columns, fit$columns)
  expect_identical(predict(loaded, unname(as.matrix(iris[1:4]))), predict(fit, iris))
})

test_that("a model survives saveRDS and workers", {
  path <- tempfile()
  saveRDS(fit, path)
  copy <- readRDS(path)
  expect_identical(predict(copy, iris, "prob"), predict(fit, iris, "prob"))
  expect_output(print(copy), "uniform")
  forked <- parallel::mclapply(1:2, function(k) predict(fit, iris, "prob"), mc.cores = 2)
  expect_identical(forked[[2]], predict(fit, iris, "prob"))
})

test_that("a damaged or absent file is refused", {
  expect_error(load_kloom(tempfile()), "No such file", class = "kloom_error")
  path <- tempfile()
  save_kloom(fit, path)
  bytes <- readBin(path, "raw", 1e7)
  writeBin(utils::head(bytes, -100), path)
  expect_error(load_kloom(path), class = "kloom_file_error")
  writeLines("no model", path)
  expect_error(load_kloom(path), class = "kloom_error")
  expect_error(save_kloom(fit, file.path(tempfile(), "m.kloom")), "there is no folder", class = "kloom_error")
  expect_error(save_kloom(1, path))
  expect_error(load_kloom(3), "path must be the name of a file")
})
