# SPDX-License-Identifier: BSD-3-Clause

#' Ask a model about new samples
#'
#' @param object A model of [kloom()].
#' @param newdata New samples, in the form of the training samples. Columns of a data frame, or of a matrix that has names, are
#'   found by name in any order; others are ignored. Kernels have the shape (new samples, training samples).
#' @param type What is wanted:
#'   \describe{
#'     \item{`"class"`}{the class of each sample, a factor; of a model of labels a matrix of 0 and 1}
#'     \item{`"prob"`}{the probability of each class, a matrix}
#'     \item{`"response"`}{numbers, or what `"class"` gives}
#'     \item{`"interval"`}{for numbers: a matrix with the columns `fit`, `lwr`, `upr`}
#'     \item{`"deviation"`}{the standard deviation of each score or number, where the method has one}
#'     \item{`"score"`}{the scores: of two classes the positive one has those above 0}
#'     \item{`"contributions"`}{how much each kernel added to each score; rows sum to the score less the bias}
#'   }
#'   By default classes, or numbers.
#' @param level Probability of the interval.
#' @param threads,memory As in [kloom()].
#' @param ... Ignored.
#' @return As `type` says; where there are several outputs, matrices with a column for each (intervals and contributions: arrays
#'   with a slice for each).
#' @examples
#' fit <- kloom(Species ~ ., iris, method = "uniform", kernels = "rbf(width=1..2)", C = 1)
#' predict(fit, iris[c(1, 51, 101), ])
#' predict(fit, iris[c(1, 51, 101), ], type = "prob")
#' @export
predict.kloom <- function(object, newdata, type = c("class", "prob", "response", "interval", "deviation", "score",
                                                     "contributions"), level = 0.95, threads = 0, memory = 0, ...) {
  if (missing(newdata)) refuse("give newdata: a model does not keep the training samples in the form that they had")
  type <- if (missing(type)) "response" else match.arg(type)
  refuse_type(object, type)
  samples <- new_samples(object, newdata)
  found <- ask(.Call(C_predict, pointer_of(object$model), samples, type == "contributions",
                     settings_of(1, threads, memory, FALSE)))
  warn_of_surprises(object, samples, found$surprises)
  switch(type,
         prob = probabilities_of(object, found),
         interval = intervals_of(object, found, level),
         deviation = outputs_of(object, deviations_of(object, found)),
         score = outputs_of(object, found$scores),
         contributions = contributions_of(object, found),
         if (is_numbers(object)) outputs_of(object, found$scores) else classes_of(object, found))
}

refuse_type <- function(object, type) {
  if (is_numbers(object) && type %in% c("class", "prob")) refuse("this is a model of numbers; it has no type \"", type, "\"")
  if (!is_numbers(object) && type == "interval") refuse("this is a model of classes; it has no intervals, but type \"prob\"")
  if (type == "prob" && !object$probabilities) {
    refuse("this model of ", object$method, " has no probabilities; train it with those that the method can have, see ",
           "kloom_options(\"", object$method, "\")")
  }
}

# newdata as the library takes it.
new_samples <- function(object, newdata) {
  if (!is.null(object$terms)) newdata <- variables_of(object$terms, newdata)
  samples <- as_samples(named_columns(object, newdata), "newdata")
  if (length(object$reads$matrices) && is.null(samples$kernels)) {
    refuse("the model was trained on kernel matrices; newdata must hold the rows of ", length(object$reads$matrices),
           " kernels, with a column for each of the ", object$samples, " training samples")
  }
  if (!is.null(samples$kernels)) samples <- check_new_kernels(object, samples, newdata)
  known <- samples$names %in% object$reads$inputs
  samples$columns <- samples$columns[known]
  samples$names <- samples$names[known]
  c(samples[setdiff(names(samples), "views")], list(views = list(), find_views = FALSE, text = object$reads$texts,
                                                   training = FALSE, source = "newdata"))
}

# A matrix without names has the columns of training in their order.
named_columns <- function(object, newdata) {
  if (!is.matrix(newdata) || !is.null(colnames(newdata))) return(newdata)
  if (length(object$reads$texts)) refuse("the columns of newdata have no names, and the model reads columns of text; give a data frame")
  if (ncol(newdata) != length(object$reads$all)) {
    refuse("newdata has ", ncol(newdata), " columns without names, but the model was trained on ", length(object$reads$all))
  }
  colnames(newdata) <- object$reads$all
  newdata
}

check_new_kernels <- function(object, samples, newdata) {
  columns <- if (is.list(samples$kernels)) ncol(samples$kernels[[1]]) else dim(samples$kernels)[2]
  if (columns != object$samples) {
    refuse("kernels of new samples need a column for each of the ", object$samples, " training samples; newdata has ", columns)
  }
  given <- if (is.list(newdata)) names(newdata) else dimnames(newdata)[[3]]
  if (is.null(given) && length(samples$kernel_names) == length(object$reads$matrices)) {
    samples$kernel_names <- object$reads$matrices
  }
  samples
}

# Gaps are worth a warning where training had none.
warn_of_surprises <- function(object, samples, sentences) {
  gaps <- samples$names[vapply(samples$columns, anyNA, NA)]
  expected <- key_of(object$columns)[object$columns$missing > 0]
  for (sentence in sentences) {
    if (!startsWith(sentence, "Missing values") || length(setdiff(gaps, expected))) warning(in_r(sentence), call. = FALSE)
  }
}

classes_of <- function(object, found) {
  if (object$task == "multilabel") return(outputs_of(object, (found$scores > 0) + 0))
  factor(object$classes[found$codes + 1L], levels = if (is.null(object$levels)) object$classes else object$levels)
}

# Columns in the order of the levels that the target had.
probabilities_of <- function(object, found) {
  probabilities <- found$probabilities
  colnames(probabilities) <- object$classes
  order <- intersect(object$levels, object$classes)
  if (length(order)) probabilities[, order, drop = FALSE] else probabilities
}

output_names <- function(object, count) {
  names <- if (length(object$classes)) object$classes else strsplit(object$target, ",", fixed = TRUE)[[1]]
  if (length(names) == count) names else paste("output", seq_len(count))
}

outputs_of <- function(object, values) {
  if (ncol(values) == 1) return(values[, 1])
  colnames(values) <- output_names(object, ncol(values))
  values
}

deviations_of <- function(object, found) {
  if (length(found$deviation) == 0) {
    refuse("this model of ", object$method, " has no standard deviations")
  }
  found$deviation
}

intervals_of <- function(object, found, level) {
  if (!is.numeric(level) || length(level) != 1 || is.na(level) || level <= 0 || level >= 1) {
    refuse("level must be a number between 0 and 1; got ", shown(level))
  }
  reach <- stats::qnorm((1 + level) / 2) * deviations_of(object, found)
  one <- function(t) cbind(fit = found$scores[, t], lwr = found$scores[, t] - reach[, t], upr = found$scores[, t] + reach[, t])
  slices <- lapply(seq_len(ncol(found$scores)), one)
  if (length(slices) == 1) return(slices[[1]])
  stacked(slices, output_names(object, length(slices)))
}

contributions_of <- function(object, found) {
  slices <- lapply(found$contributions, function(values) {
    colnames(values) <- object$kernels
    values
  })
  if (length(slices) == 1) return(slices[[1]])
  stacked(slices, output_names(object, length(slices)))
}

stacked <- function(slices, names) {
  array(unlist(slices), c(dim(slices[[1]]), length(slices)), list(NULL, colnames(slices[[1]]), names))
}

#' How good predictions are
#'
#' Predicts samples whose targets are known, and compares. The metrics are those of `kloom predict` and `kloom cv`.
#'
#' @inheritParams predict.kloom
#' @param y The targets of the samples; `NA` is left out.
#' @return A named vector of metrics; for classes the attribute `confusion` is a table of counts, true classes in rows.
#' @examples
#' odd <- seq(1, 150, 2)
#' fit <- kloom(Species ~ ., iris[odd, ], method = "uniform", kernels = "rbf(width=1..2)", C = 1)
#' kloom_evaluate(fit, iris[-odd, ], iris$Species[-odd])
#' @export
kloom_evaluate <- function(object, newdata, y, threads = 0, memory = 0) {
  stopifnot(inherits(object, "kloom"))
  labels <- as_targets(y, "auto", NULL)$labels
  samples <- new_samples(object, newdata)
  if (samples$rows != NROW(labels)) refuse("newdata has ", samples$rows, " samples, but y has ", NROW(labels))
  found <- ask(.Call(C_evaluate, pointer_of(object$model), samples, labels, settings_of(1, threads, memory, FALSE)))
  if (length(found$unknown)) {
    warning("classes that the model does not know are left out: ", some_of(found$unknown), call. = FALSE)
  }
  values <- stats::setNames(found$values, found$names)
  if (length(found$confusion)) {
    attr(values, "confusion") <- as.table(matrix(found$confusion, length(found$classes),
                                                 dimnames = list(true = found$classes, predicted = found$classes)))
  }
  values
}
