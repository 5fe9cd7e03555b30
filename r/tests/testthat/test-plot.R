# SPDX-License-Identifier: BSD-3-Clause

drawn <- function(code) {
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  on.exit(grDevices::dev.off())
  force(code)
}

odd <- seq(1, 150, 2)
fit <- kloom(Species ~ ., iris[odd, ], method = "bemkl", kernels = "rbf(width=1..4); linear", views = list(), iterations = 30)

test_that("weights and trace are those of the model", {
  table <- drawn(plot(fit))
  expect_identical(table, weight_table(fit))
  expect_identical(nrow(drawn(plot(fit, most = 2))), 2L)
  trace <- drawn(plot(fit, which = "trace"))
  expect_identical(trace$iteration, seq_len(fit$report$iterations))
  expect_false(is.unsorted(trace$objective))   # a lower bound rises
  expect_lte(max(trace$objective), fit$report$objective)
})

test_that("calibration is the share of what was true", {
  table <- drawn(plot(fit, which = "calibration", newdata = iris[-odd, ], y = iris$Species[-odd], bins = 5))
  expect_identical(sum(table$count), 75L * 3L)
  probabilities <- predict(fit, iris[-odd, ], "prob")
  true <- outer(as.character(iris$Species[-odd]), colnames(probabilities), "==")
  least <- probabilities < 0.2
  expect_equal(table$true[1], mean(true[least]))
  expect_equal(table$said[1], mean(probabilities[least]))
  expect_error(plot(fit, which = "calibration"), "give newdata and y")
})

test_that("calibration of numbers is the share inside of intervals", {
  fit <- kloom(mpg ~ wt + hp, mtcars, method = "gp-mkl", kernels = "rbf(width=1..2)")
  table <- drawn(plot(fit, which = "calibration", newdata = mtcars, y = mtcars$mpg))
  interval <- predict(fit, mtcars, "interval", level = 0.5)
  expect_equal(table$inside[abs(table$level - 0.5) < 1e-9], mean(interval[, "lwr"] <= mtcars$mpg & mtcars$mpg <= interval[, "upr"]))
})

test_that("a grid is drawn over its first axis", {
  tuned <- tune(Species ~ ., iris, method = "lp-mkl", kernels = "linear", grid = list(C = c(0.01, 1, 100), norm = c(1.5, 2)), folds = 2)
  expect_identical(drawn(plot(tuned)), tuned$results)
  expect_identical(sum(drawn(plot(tuned, which = "calibration"))$count), 450L)
})
