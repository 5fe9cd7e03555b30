# SPDX-License-Identifier: BSD-3-Clause

#' Learn from several kernels at once
#'
#' Trains a model by multiple kernel learning: which kernels matter, and what they say together. The same data, options and
#' seed give the same numbers as `kloom train` on a file of them.
#'
#' @section Columns:
#' A table goes in as it is, with factors, texts, truth values, dates and `NA`. What is made of each column is decided by the
#' library by the rules of the command line; `summary(object)$columns` has a line for each. A factor is always a category.
#' A column that is a matrix is taken apart into columns `name.column`.
#'
#' @section Targets:
#' Factors, texts and truth values are classes. Numbers are classes where they look like it (two values; few whole numbers that
#' recur) and numbers otherwise; `task` decides where that is not what was meant. A matrix with several columns is several
#' targets. Of two classes the second level of a factor is the positive one, otherwise the last in the order of names. Samples
#' whose target is `NA` are used by methods that can (`kloom_methods()$unlabelled`) if they were asked for by name, else left
#' out.
#'
#' @param x Samples: a matrix or data frame with a row per sample; a named list of data frames, one for each view; or kernels
#'   that are computed already, as an array (samples, samples, kernels) or a list of matrices.
#' @param formula `y ~ .` or `y ~ a + b + log(c)`; several targets: `cbind(a, b) ~ .`. There are no interactions: that is what
#'   kernels are for.
#' @param data Data frame with the variables of the formula.
#' @param y Target of each sample.
#' @param method Name of a method ([kloom_methods()]). Where it is not given and `"auto"` does not do the task, the first method
#'   that does.
#' @param kernels Which kernels, in the language of kloom's kernel spec: `"rbf(width=2^-3..2^6) on all, each; linear"`. `NULL`:
#'   kernels that suit the data.
#' @param views Named groups of columns, `list(rna = 1:200, clinical = c("age", "grade"))`, by numbers, names or masks. Numbers
#'   count the columns of `x`, or of `data`. `NULL`: the beginnings of the names where all columns are called `view.column`;
#'   `list()`: none.
#' @param ... Options of the method ([kloom_options()]), such as `C = 10`; for the generic, arguments of its methods.
#' @param weights Weight of each sample; with a formula it may name a column of `data`.
#' @param task `"auto"`, `"classes"` or `"regression"`: what numbers in `y` are.
#' @param positive Name of the positive class of two.
#' @param keep Names of columns that must not be dropped as ids, names or dates.
#' @param text Names of columns to take as text for the kernels `words`, `spectrum` and `edit`.
#' @param standardise Subtract the mean of each feature and divide by its standard deviation?
#' @param normalise How kernels are normalised whose family does not say it itself: `"unit-diagonal"`, `"unit-trace"`,
#'   `"unit-variance"`, `"centre"` or `"none"`.
#' @param clip_spectrum Drop the negative part of kernel matrices that are not positive semidefinite, instead of refusing them?
#' @param bank How kernels are stored: `"auto"`, `"dense"`, `"dense32"`, `"low-rank"`, `"rbf-family"`, `"computed"`.
#' @param seed Seed of everything random. R's own generator is neither used nor changed.
#' @param threads Threads to use; 0: one per core.
#' @param memory Bytes of memory that may be used; 0: 80 % of what is free.
#' @param verbose Say what is being done, through [message()].
#' @return An object of class `kloom`. [predict()][predict.kloom] asks it about new samples, [coef()][coef.kloom] gives the
#'   kernel weights, [plot()][plot.kloom] draws, [save_kloom()] writes a file for the command line and Python. `saveRDS()` works
#'   too.
#' @examples
#' fit <- kloom(Species ~ ., iris, method = "uniform", kernels = "rbf(width=1..2); linear", C = 1)
#' fit
#' table(predict(fit, iris), iris$Species)
#'
#' # Kernels that are computed already
#' x <- scale(as.matrix(mtcars[, -1]))
#' kernels <- list(line = tcrossprod(x), bell = exp(-as.matrix(dist(x))^2 / 20))
#' fit <- kloom(kernels, mtcars$mpg, method = "bemkl", task = "regression")
#' coef(fit)
#' @export
kloom <- function(x, ...) UseMethod("kloom")

#' @rdname kloom
#' @export
kloom.formula <- function(formula, data, views = NULL, ..., weights = NULL) {
  weights <- eval(substitute(weights), data, environment(formula))
  parts <- read_formula(formula, data)
  fit <- kloom.default(parts$x, parts$y, views = views_of_data(views, data, parts), ..., weights = weights)
  fit$call <- generic_call(match.call(), "kloom")
  fit$terms <- parts$terms
  fit
}

#' @rdname kloom
#' @export
kloom.default <- function(x, y, method = "auto", kernels = NULL, views = NULL, ..., weights = NULL, task = "auto",
                          positive = NULL, keep = NULL, text = NULL, standardise = TRUE, normalise = "unit-diagonal",
                          clip_spectrum = FALSE, bank = "auto", seed = 1, threads = 0, memory = 0, verbose = FALSE) {
  settings <- settings_of(seed, threads, memory, verbose)
  problem <- read_problem(x, y, method, list(...), named = !missing(method), kernels = kernels, views = views,
                          weights = weights, task = task, positive = positive, keep = keep, text = text,
                          standardise = standardise, normalise = normalise, clip_spectrum = clip_spectrum, bank = bank)
  bytes <- ask(.Call(C_train, problem$samples, problem$targets, problem$request, settings))
  new_kloom(bytes, generic_call(match.call(), "kloom"), problem$levels, problem$samples$names)
}

# The call as it was typed: of the generic, not of its method.
generic_call <- function(call, generic) {
  call[[1]] <- as.name(generic)
  call
}

# What the library is told: samples, targets and request; with the levels of the target, and which samples are used.
# `options` of the method; `named`: was the method asked for by name?
read_problem <- function(x, y, method, options, named, kernels = NULL, views = NULL, weights = NULL, task = "auto",
                         positive = NULL, keep = NULL, text = NULL, standardise = TRUE, normalise = "unit-diagonal",
                         clip_spectrum = FALSE, bank = "auto") {
  learner <- find_method(method)
  request <- list(method = if (named || length(options)) method else "", options = option_texts(method, options),
                  kernels = spec_of(kernels), standardise = isTRUE(standardise), normalise = normalise,
                  clip_spectrum = isTRUE(clip_spectrum), bank = bank, keep = as.character(keep),
                  text = as.character(text))
  targets <- as_targets(y, one_of("task", task, c("auto", "classes", "regression")), positive)
  samples <- as_samples(x, "x")
  count <- NROW(targets$labels)
  if (samples$rows != count) refuse("x has ", samples$rows, " samples, but y has ", count)
  targets$weights <- check_weights(weights, count)
  targets$unlabelled <- named && learner$semi_supervised
  known <- rep(TRUE, count)
  if (!targets$unlabelled && is.null(samples$kernels)) known <- has_label(targets)
  if (!all(known) && any(known)) {
    message(sum(!known), " of ", count, " samples have no target and are left out, the first is sample ", which(!known)[1])
    samples <- take_rows(samples, known)
    targets <- take_targets(targets, known)
  }
  request$categories <- setdiff(samples$categories, request$text)
  list(samples = training_samples(samples, views, request$text, "x"), targets = targets, request = request,
       levels = targets$levels, known = known)
}

check_weights <- function(weights, count) {
  if (is.null(weights)) return(double())
  if (!is.numeric(weights) || length(weights) != count || anyNA(weights)) {
    refuse("weights must be ", count, " numbers, one for each sample; got ", shown(weights))
  }
  as.double(weights)
}

spec_of <- function(kernels) {
  if (is.null(kernels)) return("")
  if (is.character(kernels) && length(kernels) == 1 && !is.na(kernels)) return(kernels)
  refuse("kernels must be a kernel spec such as \"rbf(width=1..4); linear\", or NULL; matrices that are computed already are ",
         "given as x. Got an object of class ", paste(class(kernels), collapse = ", "))
}
