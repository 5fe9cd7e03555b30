# SPDX-License-Identifier: BSD-3-Clause
#
# What users may give as samples and targets. All fits are of the cheapest kind.

quick <- function(...) kloom(..., method = "uniform", kernels = "rbf(width=1..2)", C = 1)
scores <- function(fit, newdata) bare(predict(fit, newdata, "score"))

test_that("formula, data frame and matrix are the same model", {
  by_formula <- quick(Species ~ ., iris)
  expect_identical(scores(quick(iris[1:4], iris$Species), iris), scores(by_formula, iris))
  expect_identical(scores(quick(as.matrix(iris[1:4]), iris$Species), iris), scores(by_formula, iris))
  named <- quick(Species ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width, iris)
  expect_identical(scores(named, iris), scores(by_formula, iris))
  expect_identical(by_formula$call[[1]], quote(kloom))
})

test_that("columns are found by name, a matrix without names by place", {
  fit <- quick(Species ~ ., iris)
  expect_identical(scores(fit, cbind(other = "x", iris[, c(4, 2, 3, 1)])), scores(fit, iris))
  expect_identical(scores(fit, unname(as.matrix(iris[1:4]))), scores(fit, iris))
  expect_error(predict(fit, iris[c(1, 2, 4)]), "Petal.Length", class = "kloom_invalid_argument")
  expect_error(predict(fit, unname(as.matrix(iris[1:3]))), "3 columns without names, but the model was trained on 4")
})

test_that("a formula computes its variables for new samples too", {
  fit <- quick(Species ~ log(Sepal.Length) + I(Petal.Length^2), iris)
  table <- data.frame(Species = iris$Species, a = log(iris$Sepal.Length), b = iris$Petal.Length^2)
  expect_identical(fit$columns$name, c("log(Sepal.Length)", "I(Petal.Length^2)"))
  expect_identical(scores(fit, iris), scores(quick(Species ~ a + b, table), table))
  expect_error(quick(Species ~ Sepal.Length * Petal.Length, iris), "interaction Sepal.Length:Petal.Length")
  expect_error(quick(~ Sepal.Length, iris), "no target")
})

test_that("a factor is a category, a matrix in a data frame is several columns", {
  table <- data.frame(y = iris$Species, level = factor(rep(1:3, 50)), m = I(as.matrix(iris[1:2])))
  fit <- quick(y ~ ., table)
  expect_identical(fit$columns$name, c("level", "m.Sepal.Length", "m.Sepal.Width"))
  expect_identical(fit$columns$kind[1], "category")
  expect_identical(quick(y ~ ., transform(table, level = as.integer(level)))$columns$kind[1], "number")
  expect_identical(nlevels(predict(fit, table)), 3L)
})

test_that("dates, times, durations and truth values are read as a file has them", {
  expect_identical(read_column("a", as.Date(c("2020-02-03", NA))), c("2020-02-03", ""))
  expect_identical(read_column("a", as.POSIXct("2020-02-03 04:05:06", tz = "UTC")), "2020-02-03T04:05:06")
  expect_identical(read_column("a", as.difftime(2, units = "mins")), 120)
  expect_identical(read_column("a", c(TRUE, NA)), c("TRUE", ""))
  expect_identical(read_column("a", c(" b\t", NA)), c("b", ""))
  expect_identical(read_column("a", c(1L, NA)), c(1, NA))
  expect_error(read_column("z", list(1)), "column 'z' holds values of class list", class = "kloom_invalid_argument")
  expect_error(read_column("z", 1i), "complex")
})

test_that("levels of a factor decide about order and the positive class", {
  two <- iris[51:150, ]
  two$Species <- factor(two$Species, levels = c("virginica", "versicolor", "setosa"))
  fit <- quick(Species ~ ., two)
  expect_identical(fit$classes, c("virginica", "versicolor"))
  expect_identical(levels(predict(fit, two)), levels(two$Species))
  expect_identical(colnames(predict(fit, two, "prob")), c("virginica", "versicolor"))
  expect_identical(predict(fit, two, "prob")[, "versicolor"] > 0.5, predict(fit, two) == "versicolor")
  expect_identical(quick(two[1:4], as.character(two$Species))$classes, c("versicolor", "virginica"))
  three <- iris
  three$Species <- factor(three$Species, levels = rev(levels(iris$Species)))
  probabilities <- predict(quick(Species ~ ., three), three, "prob")
  expect_identical(colnames(probabilities), levels(three$Species))
  expect_identical(levels(three$Species)[max.col(probabilities)], as.character(predict(quick(Species ~ ., three), three)))
})

test_that("numbers are numbers or classes as the library's rule and task say", {
  expect_identical(quick(mtcars[, -1], mtcars$mpg)$task, "regression")
  expect_identical(quick(mtcars[, -9], mtcars$am)$classes, c("0", "1"))
  expect_identical(quick(iris[51:150, 1:4], rep(c(-1, 1), each = 50))$classes, c("-1", "1"))
  expect_identical(quick(mtcars[, -9], mtcars$am, task = "regression")$task, "regression")
  expect_identical(quick(mtcars[, -9], mtcars$am == 1)$classes, c("FALSE", "TRUE"))
  expect_identical(quick(iris[1:4], rep(c(100000, 200000, 300000), each = 50))$classes, c("100000", "200000", "300000"))
})

test_that("several targets go to a method that does them", {
  fit <- kloom(cbind(mpg, hp) ~ wt + qsec + disp, mtcars, kernels = "rbf(width=1..2)", iterations = 20, method = "bemkl")
  expect_identical(fit$task, "multi-regression")
  expect_identical(dimnames(predict(fit, mtcars)), list(NULL, c("mpg", "hp")))
  expect_identical(dim(predict(fit, mtcars, "interval")), c(32L, 3L, 2L))
  labels <- cbind(a = mtcars$am, v = mtcars$vs)
  fit <- kloom(mtcars[c("wt", "qsec", "disp")], labels, kernels = "rbf(width=1)")   # no method named: the first that can
  expect_identical(fit$task, "multilabel")
  expect_identical(fit$classes, c("a", "v"))
  expect_true(all(predict(fit, mtcars) %in% c(0, 1)))
})

test_that("what cannot be is refused with a sentence", {
  expect_error(quick(iris[1:4], iris$Species[1:10]), "x has 150 samples, but y has 10", class = "kloom_invalid_argument")
  expect_error(quick("file.csv", iris$Species), "x must be a matrix, a data frame")
  expect_error(quick(iris[1:4], as.list(1:150)), "y must be a factor")
  expect_error(quick(iris[1:4], rep("a", 150)), "at least two classes")
  expect_error(quick(iris[1:4], iris$Species, views = list(1:2)), "views must be a named list")
  expect_error(quick(iris[1:4], iris$Species, views = list(a = 9)), "view 'a' asks for columns that x does not have")
  expect_error(quick(iris[1:4], iris$Species, views = list(a = "Sepal")), "Sepal")
  expect_error(quick(Species ~ ., iris, views = list(a = 5)), "column 'Species', which the formula does not use")
  expect_error(quick(iris[1:4], iris$Species, weights = 1:3), "weights must be 150 numbers")
  expect_error(kloom(iris[1:4], iris$Species, kernels = diag(4)), "kernels must be a kernel spec")
  expect_error(kloom(iris[1:4], iris$Species, text = "dna"), "text names the column 'dna'")
  expect_error(kloom(iris[1:4], iris$Species, task = "guess"), 'task must be one of "auto", "classes", "regression"')
  expect_error(kloom(iris[1:4], iris$Species, seed = -1), "seed must be a whole number")
  expect_error(kloom(list(iris[1:2], iris[3:4]), iris$Species), "give every view a name")
})

test_that("kernel matrices are checked by the library", {
  kernel <- tcrossprod(as.matrix(iris[1:4]))
  y <- iris$Species
  bent <- kernel
  bent[2, 1] <- 1e6
  expect_error(kloom(list(a = bent), y, method = "uniform", C = 1), "symmetric")
  bent <- kernel
  bent[7, 7] <- NaN
  expect_error(kloom(list(a = bent), y, method = "uniform", C = 1))
  expect_error(kloom(list(a = as.matrix(dist(iris[1:4]))), y, method = "uniform", C = 1), "positive semidefinite")
  expect_warning(kloom(list(a = as.matrix(dist(iris[1:4]))), y, method = "uniform", C = 1, clip_spectrum = TRUE))
  expect_error(kloom(list(a = kernel, b = kernel[1:3, 1:3]), y, method = "uniform", C = 1), "'a' has 150 x 150, 'b' has 3 x 3")
  fit <- kloom(list(a = kernel), y, method = "uniform", C = 1)
  expect_error(predict(fit, list(a = kernel[, 1:9])), "150 training samples; newdata has 9")
  expect_error(predict(fit, iris), "trained on kernel matrices")
  expect_identical(dim(predict(fit, list(a = kernel[1:5, ]), "prob")), c(5L, 3L))
})
