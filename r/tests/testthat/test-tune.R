# SPDX-License-Identifier: BSD-3-Clause

test_that("every point of the grid is tried on the same folds and the best is trained", {
  tuned <- tune(Species ~ ., iris, method = "lp-mkl", kernels = "rbf(width=1..2)", folds = 3,
                grid = list(C = c(0.001, 10), norm = c(1.5, 2)))
  expect_identical(nrow(tuned$results), 4L)
  expect_identical(tuned$metric, "accuracy")
  expect_false(is.unsorted(rev(tuned$results$accuracy)))
  alone <- tune(Species ~ ., iris, method = "lp-mkl", kernels = "rbf(width=1..2)", folds = 3, C = 10, norm = 2)
  row <- tuned$results$C == 10 & tuned$results$norm == 2
  expect_identical(tuned$results[row, "log loss"], alone$results[["log loss"]])
  best <- kloom(Species ~ ., iris, method = "lp-mkl", kernels = "rbf(width=1..2)", C = tuned$best$C, norm = tuned$best$norm)
  expect_identical(predict(tuned, iris, type = "prob"), predict(best, iris, "prob"))
  expect_output(print(tuned), "cross-validation of lp-mkl, 3 folds; accuracy decides")
})

test_that("held-out predictions are of every sample and give the accuracy that is reported", {
  tuned <- tune(iris[1:4], iris$Species, method = "uniform", kernels = "rbf(width=1)", C = 1, folds = 5)
  held <- tuned$held_out
  expect_identical(sort(held$sample), 1:150)
  expect_identical(held$truth, as.character(iris$Species)[held$sample])
  right <- colnames(held$probability)[max.col(held$score)] == held$truth
  expect_equal(mean(tapply(right, held$fold, mean)), tuned$results$accuracy)
  # A fold again by hand: a model of the rest predicts it with the same bits.
  first <- held[held$fold == 1, ]
  rest <- setdiff(1:150, first$sample)
  again <- kloom(iris[rest, 1:4], iris$Species[rest], method = "uniform", kernels = "rbf(width=1)", C = 1)
  expect_equal(bare(predict(again, iris[first$sample, ], "prob")), bare(first$probability))
})

test_that("groups stay together, metrics decide, samples without a target are left out", {
  group <- rep(1:30, each = 5)
  tuned <- tune(iris[1:4], iris$Species, method = "uniform", kernels = "linear", grid = list(C = c(1e-4, 1)), folds = 3,
                groups = group, metric = "log loss")
  expect_true(all(tapply(tuned$held_out$fold, group[tuned$held_out$sample], function(f) length(unique(f))) == 1))
  expect_false(is.unsorted(tuned$results[["log loss"]]))
  expect_false(tuned$larger_is_better)
  table <- airquality
  tuned <- suppressMessages(tune(Ozone ~ Wind + Temp, table, method = "uniform", kernels = "rbf(width=1)", C = 1, folds = 3))
  expect_identical(sort(tuned$held_out$sample), which(!is.na(table$Ozone)))
  expect_identical(tuned$held_out$truth, as.double(table$Ozone[tuned$held_out$sample]))
  folds <- split(tuned$held_out, tuned$held_out$fold)
  rmse <- vapply(folds, function(f) sqrt(mean((f$score[, 1] - f$truth)^2)), 0)
  expect_equal(tuned$results$RMSE, mean(rmse))
})

test_that("a grid that cannot be is refused", {
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", grid = list(D = 1)), "has no option 'D'")
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", grid = list(C = c(1, -1))), "option C must be a number >= 0; got -1")
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", grid = list(1)), "grid must be a named list")
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", metric = "luck"), "luck")
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", folds = 1000), "folds|samples")
  expect_error(tune(iris[1:4], iris$Species, method = "uniform", groups = 1:3), "groups has 3 values")
})
