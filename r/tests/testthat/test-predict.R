# SPDX-License-Identifier: BSD-3-Clause

test_that("intervals are those of a normal distribution with the deviations", {
  fit <- kloom(mpg ~ wt + hp, mtcars, method = "gp-mkl", kernels = "rbf(width=1..2); linear")
  middle <- predict(fit, mtcars)
  deviation <- predict(fit, mtcars, "deviation")
  interval <- predict(fit, mtcars, "interval")
  expect_identical(colnames(interval), c("fit", "lwr", "upr"))
  expect_identical(interval[, "fit"], middle)
  expect_equal(interval[, "upr"] - middle, 1.959963984540054 * deviation)
  expect_equal(middle - predict(fit, mtcars, "interval", level = 0.5)[, "lwr"], 0.6744897501960817 * deviation)
  expect_true(all(deviation > 0))
  expect_error(predict(fit, mtcars, "interval", level = 1.5), "level must be a number between 0 and 1")
  expect_error(predict(fit, mtcars, "prob"), "model of numbers")
  expect_error(predict(fit), "give newdata")
})

test_that("probabilities sum to one and contributions to the score less a bias", {
  fit <- kloom(Species ~ ., iris[51:150, ], method = "simplemkl", kernels = "rbf(width=1..2); linear", C = 1)
  # n sums of rounding errors of numbers up to 1
  expect_equal(rowSums(predict(fit, iris, "prob")), rep(1, 150), tolerance = 4 * .Machine$double.eps)
  rest <- predict(fit, iris, "score") - rowSums(predict(fit, iris, "contributions"))
  expect_lt(diff(range(rest)), 1e-10)
  expect_identical(colnames(predict(fit, iris, "contributions")), fit$kernels)
  expect_error(predict(fit, iris, "interval"), "model of classes")
  expect_error(predict(fit, iris, "deviation"), "no standard deviations")
})

test_that("new categories are warned of, and gaps only where training had none", {
  table <- mixed_table()
  fit <- kloom(outcome ~ age + weight + town, table, method = "uniform", kernels = "rbf(width=1)", C = 1)
  expect_silent(predict(fit, table))
  new <- table[1:6, ]
  new$town[1] <- "Rome"
  expect_warning(predict(fit, new), "Rome")
  new <- table[1:6, ]
  new$weight[2] <- NA
  expect_warning(predict(fit, new), "Missing values were filled by the training median")
})

test_that("the number of threads and R's own generator do not matter, the seed does", {
  x <- as.matrix(iris[1:4])
  fit <- function(...) kloom(x, iris$Species, method = "ufo-mkl", kernels = "rbf(width=1..2)", epochs = 2, ...)
  set.seed(1)
  before <- .Random.seed
  first <- predict(fit(threads = 1), x, "score")
  expect_identical(.Random.seed, before)
  set.seed(2)
  expect_identical(predict(fit(threads = 2), x, "score", threads = 1), first)
  expect_false(identical(predict(fit(seed = 2), x, "score"), first))
})

test_that("print, summary and coef say what the model is", {
  fit <- kloom(Species ~ ., iris, method = "bemkl", kernels = "rbf(width=1..2); linear", views = list(), iterations = 20)
  expect_named(coef(fit), c("rbf(width=1) on all", "rbf(width=2) on all", "linear on all"))
  expect_named(coef(fit, deviation = TRUE), names(coef(fit)))
  expect_output(print(fit), "kloom model of bemkl\nmulticlass: setosa, versicolor, virginica\n150 training samples, 3 kernels")
  expect_output(print(summary(fit)), "lower bound: .*on the training samples: accuracy 0.9")
  table <- summary(fit)$kernels
  expect_identical(table$weight, unname(coef(fit)[order(-abs(coef(fit)))]))
  expect_equal(unname(summary(fit)$training["accuracy"]), mean(predict(fit, iris) == iris$Species))
  expect_null(coef(kloom(mpg ~ wt, mtcars, method = "uniform", kernels = "linear", C = 1), deviation = TRUE))
})

test_that("verbose says what is done, warnings are conditions", {
  said <- capture_messages(kloom(Species ~ ., iris, method = "uniform", kernels = "linear", C = 1, verbose = TRUE))
  expect_true(any(grepl("2 kernels: linear", said)))
  expect_false(any(grepl("--", said, fixed = TRUE)))
  expect_silent(kloom(Species ~ ., iris, method = "uniform", kernels = "linear", C = 1))
  # A message that becomes an error ends the computation and leaves R in order.
  expect_error(withCallingHandlers(
    kloom(Species ~ ., iris, method = "uniform", kernels = "linear", C = 1, verbose = TRUE),
    message = function(m) stop("enough")), "enough")
  expect_s3_class(kloom(Species ~ ., iris, method = "uniform", kernels = "linear", C = 1), "kloom")
})
