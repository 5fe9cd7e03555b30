# SPDX-License-Identifier: BSD-3-Clause
#
# The same bits as the command line: data in memory and in a file, models from here and from there.

test_that("classes of a plain table are predicted with the same bits", {
  odd <- seq(1, 150, 2)
  train <- write_table(iris[odd, ])
  test <- write_table(iris[-odd, ])
  kernels <- "rbf(width=2^0..2^2) on all, each; linear"
  fit <- kloom(Species ~ ., iris[odd, ], method = "bemkl", kernels = kernels, iterations = 40, seed = 3)
  model <- train_program(train, "--target", "Species", "--method", "bemkl", "--kernels", kernels, "--iterations", "40",
                         "--seed", "3")
  expected <- predict_program(model, test)
  expect_identical(as.character(predict(fit, iris[-odd, ])), expected$label)
  expect_identical(bare(predict(fit, iris[-odd, ], "prob")), columns_of(expected, "p"))
  expect_identical(bare(predict(fit, iris[-odd, ], "score")), columns_of(expected, "score"))
  expect_identical(bare(predict(fit, iris[-odd, ], "deviation")), columns_of(expected, "deviation"))
  loaded <- load_kloom(model)
  expect_identical(bare(predict(loaded, iris[-odd, ], "prob")), columns_of(expected, "p"))
  expect_identical(unname(coef(loaded)), unname(coef(fit)))
  saved <- tempfile(fileext = ".kloom")
  save_kloom(fit, saved)
  expect_identical(predict_program(saved, test), expected)
})

test_that("a table of all kinds of columns with gaps is taken as a file of it, without any option", {
  table <- mixed_table()
  path <- write_table(table)
  # A factor of numbers is a category here; a file has to say so.
  model <- train_program(path, "--target", "outcome", "--category", "grade")
  expected <- predict_program(model, path)
  fit <- kloom(outcome ~ ., table)
  expect_identical(fit$method, "auto")
  expect_identical(bare(predict(fit, table, "prob")), columns_of(expected, "p"))
  expect_identical(bare(predict(load_kloom(model), table, "prob")), columns_of(expected, "p"))
  kinds <- setNames(fit$columns$kind, fit$columns$name)
  expect_identical(kinds[c("age", "town", "member", "seen", "grade")],
                   c(age = "number", town = "category", member = "category", seen = "date", grade = "category"))
})

test_that("numbers and their intervals are the same", {
  table <- airquality[!is.na(airquality$Ozone), ]
  path <- write_table(table)
  model <- train_program(path, "--target", "Ozone", "--task", "regression", "--method", "gp-mkl", "--kernels",
                         "rbf(width=1..3) on all, each")
  expected <- predict_program(model, path)
  fit <- kloom(Ozone ~ ., table, method = "gp-mkl", kernels = "rbf(width=1..3) on all, each")
  expect_identical(predict(fit, table), columns_of(expected, "prediction")[, 1])
  expect_identical(predict(fit, table, "deviation"), columns_of(expected, "deviation")[, 1])
})

test_that("kernels that are computed already give the same bits, as a list and as an array", {
  x <- scale(as.matrix(iris[1:100, 1:4]))
  line <- tcrossprod(x)
  bell <- exp(-as.matrix(dist(x))^2 / 8)
  train <- seq(1, 100, 2)
  labels <- write_table(data.frame(y = as.character(iris$Species[train])))
  cut <- function(rows) list(line = unname(line[rows, train]), bell = unname(bell[rows, train]))
  files <- function(kernels) c(rbind("--kernel-file", mapply(function(name, kernel) {
    write_npy(kernel, file.path(tempfile_folder(), paste0(name, ".npy")))
  }, names(kernels), kernels)))
  model <- do.call(train_program, as.list(c(labels, "--target", "y", files(cut(train)), "--method", "simplemkl", "--C", "10")))
  expected <- do.call(predict_program, as.list(c(model, files(cut(-train)))))
  fit <- kloom(cut(train), as.character(iris$Species[train]), method = "simplemkl", C = 10)
  expect_identical(bare(predict(fit, cut(-train), "score")), columns_of(expected, "score"))
  expect_identical(bare(predict(fit, rev(cut(-train)), "score")), columns_of(expected, "score"))   # found by name
  expect_identical(bare(predict(load_kloom(model), cut(-train), "score")), columns_of(expected, "score"))
  stack <- array(unlist(cut(train)), c(50, 50, 2))
  whole <- train_program(labels, "--target", "y", "--kernel-file", write_npy(stack), "--method", "simplemkl", "--C", "10")
  new <- array(unlist(cut(-train)), c(50, 50, 2))
  fit <- kloom(stack, as.character(iris$Species[train]), method = "simplemkl", C = 10)
  expect_identical(bare(predict(fit, new, "score")), columns_of(predict_program(whole, "--kernel-file", write_npy(new)), "score"))
})

test_that("views by columns and views in tables of their own give the same bits", {
  size <- iris[c("Sepal.Length", "Petal.Length")]
  breadth <- iris[c("Sepal.Width", "Petal.Width")]
  options <- c("--method", "uniform", "--C", "1", "--kernels", "rbf(width=1) on views; linear on view size")
  path <- write_table(iris)
  model <- do.call(train_program, as.list(c(path, "--target", "Species", "--view", "size=*Length", "--view",
                                            "breadth=Sepal.Width,Petal.Width", options)))
  expected <- columns_of(predict_program(model, path), "score")
  kernels <- options[6]
  fit <- kloom(Species ~ ., iris, method = "uniform", C = 1, kernels = kernels, views = list(size = c(1, 3),
               breadth = c("Sepal.Width", "Petal.Width")))
  expect_identical(bare(predict(fit, iris, "score")), expected)
  expect_identical(fit$kernels, c("rbf(width=1) on view size", "rbf(width=1) on view breadth", "linear on view size"))
  folder <- tempfile_folder()
  files <- c(size = write_table(cbind(size, y = iris$Species), file.path(folder, "size.csv")),
             breadth = write_table(breadth, file.path(folder, "breadth.csv")))
  views <- c("--view", paste0("size=", files["size"]), "--view", paste0("breadth=", files["breadth"]))
  model <- do.call(train_program, as.list(c(views, "--target", "y", options)))
  expected <- columns_of(do.call(predict_program, as.list(c(model, views))), "score")
  tables <- list(size = size, breadth = breadth)
  fit <- kloom(tables, iris$Species, method = "uniform", C = 1, kernels = kernels)
  expect_identical(bare(predict(fit, tables, "score")), expected)
  expect_identical(bare(predict(load_kloom(model), tables, "score")), expected)
})

test_that("samples without a label are left out, or used by a method that can", {
  table <- iris
  table$Species[c(2, 60, 149)] <- NA
  path <- write_table(table)
  for (method in c("bemkl", "uniform")) {
    options <- list(kernels = "rbf(width=1..2)", method = method)
    if (method == "bemkl") options$iterations <- 30 else options$C <- 1
    model <- do.call(train_program, as.list(c(path, "--target", "Species", rbind(paste0("--", names(options)), unlist(options)))))
    used <- if (method == "bemkl") 150 else 147
    fit <- suppressMessages(do.call(kloom, c(list(Species ~ ., table), options)))
    expect_identical(fit$samples, used)
    expect_identical(bare(predict(fit, iris, "score")), columns_of(predict_program(model, write_table(iris)), "score"))
  }
  expect_message(kloom(Species ~ ., table, method = "uniform", kernels = "linear", C = 1), "3 of 150 samples .* the first is sample 2")
})

test_that("contributions, weights of samples and the positive class are the same", {
  two <- droplevels(iris[51:150, ])
  two$w <- rep(c(1, 2), 50)
  path <- write_table(two)
  model <- train_program(path, "--target", "Species", "--weight", "w", "--positive", "versicolor", "--method", "simplemkl",
                         "--C", "3", "--kernels", "rbf(width=1..2); linear")
  expected <- predict_program(model, path, "--contributions")
  fit <- kloom(Species ~ . - w, two, weights = w, positive = "versicolor", method = "simplemkl", C = 3,
               kernels = "rbf(width=1..2); linear")
  expect_identical(fit$classes, c("virginica", "versicolor"))
  expect_identical(predict(fit, two, "score"), expected$score)
  expect_identical(bare(predict(fit, two, "contributions")), columns_of(expected, "contribution"))
})

test_that("cross-validation gives the numbers of kloom cv", {
  path <- write_table(iris)
  expected <- run_program("cv", path, "--target", "Species", "--method", "lp-mkl", "--C", "1", "--kernels", "rbf(width=1..2)",
                          "--folds", "4", "--repeats", "2", "--seed", "5")
  tuned <- tune(Species ~ ., iris, method = "lp-mkl", C = 1, kernels = "rbf(width=1..2)", folds = 4, repeats = 2, seed = 5)
  means <- expected$methods$metrics[[1]]
  shown <- setNames(means$mean, means$name)
  for (metric in c("accuracy", "log loss", "AUC")) expect_identical(tuned$results[[metric]], shown[[metric]])
  expect_identical(tuned$results[["accuracy sd"]], means$deviation[means$name == "accuracy"])
})

test_that("metrics on new samples are those of kloom predict", {
  odd <- seq(1, 150, 2)
  fit <- kloom(Species ~ ., iris[odd, ], method = "uniform", kernels = "rbf(width=1)", C = 1)
  path <- tempfile(fileext = ".kloom")
  save_kloom(fit, path)
  expected <- run_program("predict", path, write_table(iris[-odd, ]))$evaluation
  found <- kloom_evaluate(fit, iris[-odd, ], iris$Species[-odd])
  expect_identical(as.list(found)[names(expected$values)], expected$values)
  expect_equal(unname(found["accuracy"]), mean(predict(fit, iris[-odd, ]) == iris$Species[-odd]))
  expect_identical(unclass(attr(found, "confusion")), unclass(table(true = iris$Species[-odd], predicted = predict(fit, iris[-odd, ]))))
})
