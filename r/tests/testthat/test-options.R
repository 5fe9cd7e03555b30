# SPDX-License-Identifier: BSD-3-Clause

test_that("methods and options are those of the library", {
  expected <- run_program("methods")
  found <- kloom_methods()
  expect_identical(found$name, expected$name)
  expect_identical(found$summary, expected$summary)
  for (k in seq_len(nrow(found))) {
    options <- kloom_options(found$name[k])
    expect_identical(options$name, gsub("-", "_", expected$options[[k]]$name))
    expect_identical(options$default, expected$options[[k]]$default)
  }
  expect_error(kloom_options("bemlk"), "did you mean 'bemkl'", class = "kloom_invalid_argument")
})

test_that("options are checked before anything is computed", {
  refused <- function(..., sentence) {
    expect_error(kloom(iris[1:4], iris$Species, method = "simplemkl", ...), sentence, class = "kloom_invalid_argument")
  }
  refused(c = 1, sentence = "has no option 'c' \\(did you mean 'C'\\?\\)")
  refused(C = -1, sentence = "option C must be a number >= 0; got -1")
  refused(C = NA_real_, sentence = "option C must be a number")
  refused(C = c(1, 2), sentence = "option C must be a number")
  refused(C = Inf, sentence = "option C must be a number")
  refused(iterations = 2.5, sentence = "option iterations must be a whole number >= 1; got 2.5")
  refused(tolerance = 0, sentence = "option tolerance must be a number > 0; got 0")
  refused(probability = "yes", sentence = "option probability must be TRUE or FALSE")
  refused(algorithm = "fast", sentence = "option algorithm must be one of second-order, reduced-gradient")
  refused(C_grid = TRUE, sentence = "option C_grid must be a text or a vector of numbers")
  refused(kernels = NULL, views = NULL, 1, sentence = "given by name")
  expect_error(kloom(iris[1:4], iris$Species, method = 3), "method must be the name of a method")
})

test_that("what R accepts the library accepts, and what it refuses the library refuses", {
  # The smallest and the largest value of every number of every method, and one beyond: the fit itself parses them again.
  for (method in kloom_methods()$name) {
    for (option in find_method(method)$options) {
      if (!option$kind %in% c("real", "integer") || !is.finite(option$low)) next
      expect_error(option_texts(method, setNames(list(option$low - 1), option$name)), option$name, fixed = TRUE)
      if (!option$low_open) expect_identical(unname(option_texts(method, setNames(list(option$low), option$name))), exact_texts(option$low))
    }
  }
  # The library itself says the same as R does.
  raw <- function(value) {
    samples <- training_samples(as_samples(iris[1:4], "x"), list(), character(), "x")
    problem <- read_problem(iris[1:4], iris$Species, "uniform", list(), TRUE, kernels = "linear")
    problem$request$options <- c(C = value)
    ask(.Call(C_train, samples, problem$targets, problem$request, settings_of(1, 1, 0, FALSE)))
  }
  expect_error(raw("-1"), "option C must be a number >= 0; got '-1'", class = "kloom_invalid_argument")
  expect_type(raw("1"), "raw")
})

test_that("values reach the library exactly", {
  fit <- kloom(iris[1:4], iris$Species, method = "uniform", kernels = "linear", C = 1 / 3, probability = FALSE)
  expect_identical(fit$report$options$C, exact_texts(1 / 3))
  expect_identical(fit$report$options$probability, "false")
  expect_identical(jsonlite::fromJSON(paste0("[", exact_texts(1 / 3), "]")), 1 / 3)
  expect_error(predict(fit, iris, "prob"), "has no probabilities")
  fit <- kloom(iris[1:4], iris$Species, method = "uniform", kernels = "linear", C_grid = c(0.5, 2), folds = 2)
  expect_true(fit$report$options$C %in% c("0.5", "2"))
})

test_that("the library's words are said in those of R", {
  expect_identical(in_r("more --sigma-g, or --no-views; --memory"), "more sigma_g, or views = list(); memory")
})
