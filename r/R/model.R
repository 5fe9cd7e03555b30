# SPDX-License-Identifier: BSD-3-Clause
#
# The object: what the library says of a model, and the bytes of its file. A pointer into the library is made from these when
# it is needed, so that saveRDS() and workers of the package parallel keep the model.

# `features`: columns of the training samples, where the model was trained just now.
new_kloom <- function(bytes, call, levels = NULL, features = NULL) {
  model <- new.env(parent = emptyenv())
  model$bytes <- bytes
  facts <- ask(.Call(C_describe, pointer_of(model)))
  report <- if (nzchar(facts$report)) jsonlite::fromJSON(facts$report, simplifyDataFrame = TRUE) else list()
  inputs <- unique(facts$recipe$inputs)
  columns <- facts$recipe$columns
  if (!is.null(features)) columns <- columns[order(match(key_of(columns), features)), ]
  rownames(columns) <- NULL
  if (!is.null(features)) for (sentence in report$warnings) warning(in_r(sentence), call. = FALSE)
  structure(class = "kloom", list(
    call = call, method = facts$method, task = facts$task, classes = facts$classes, levels = levels, target = facts$target,
    samples = facts$samples, kernels = facts$kernels, spec = facts$recipe$spec, reasons = facts$recipe$reasons,
    weights = named_weights(facts$weights, facts), deviation = named_weights(facts$deviation, facts), shape = facts$shape,
    probabilities = facts$probabilities, columns = columns, report = report, terms = NULL,
    reads = list(inputs = unique(key_of(inputs)), texts = unique(key_of(inputs[inputs$text, ])), all = if (is.null(features)) key_of(columns) else features,
                 matrices = facts$recipe$matrices),
    model = model))
}

# Columns as the samples name them (inputs.R).
key_of <- function(columns) ifelse(nzchar(columns$view), paste0(columns$view, SEPARATOR, columns$name), columns$name)

pointer_of <- function(model) {
  if (is.null(model$pointer) || .Call(C_is_null, model$pointer)) model$pointer <- ask(.Call(C_model, model$bytes))
  model$pointer
}

# A vector where all samples and classes share the weights, else a matrix.
named_weights <- function(weights, facts) {
  if (length(weights) == 0) return(NULL)
  colnames(weights) <- facts$kernels
  if (nrow(weights) == 1) return(weights[1, ])
  if (nrow(weights) == length(facts$classes)) rownames(weights) <- facts$classes
  weights
}

is_numbers <- function(object) object$task %in% c("regression", "multi-regression")

#' Kernel weights
#'
#' @param object A model of [kloom()].
#' @param deviation Posterior standard deviations instead, where the method has them.
#' @param ... Ignored.
#' @return A named vector; a matrix with a row per class or sample where the weights depend on it. `NULL` where there are no
#'   deviations.
#' @examples
#' fit <- kloom(Species ~ ., iris, method = "bemkl", kernels = "rbf(width=1..2); linear", iterations = 50)
#' coef(fit)
#' @export
coef.kloom <- function(object, deviation = FALSE, ...) if (deviation) object$deviation else object$weights

# Kernels by weight: a data frame.
weight_table <- function(object) {
  mean_of <- function(values) if (is.matrix(values)) colMeans(values) else values
  table <- data.frame(kernel = object$kernels, weight = unname(mean_of(object$weights)))
  if (!is.null(object$deviation) && !is.matrix(object$deviation)) table$deviation <- unname(object$deviation)
  table <- table[order(-abs(table$weight)), , drop = FALSE]
  rownames(table) <- NULL
  table
}

task_sentence <- function(object) {
  if (is_numbers(object)) return(paste0(object$task, if (nzchar(object$target)) paste0(" on ", object$target)))
  text <- paste0(object$task, ": ", some_of(object$classes, 12L))
  if (object$task == "binary") paste0(text, "; positive class ", object$classes[2]) else text
}

weight_heading <- function(object) {
  switch(object$shape, "per class" = "mean weight over classes", "per sample" = "mean weight over samples", "weight")
}

print_weights <- function(object, most, digits) {
  table <- weight_table(object)
  cat("kernels by ", weight_heading(object), " (", min(most, nrow(table)), " of ", nrow(table), ")\n", sep = "")
  print(utils::head(table, most), row.names = FALSE, digits = digits, right = FALSE)
}

#' @rdname summary.kloom
#' @export
print.kloom <- function(x, digits = 4, ...) {
  cat("kloom model of ", x$method, "\n", task_sentence(x), "\n", x$samples, " training samples, ", length(x$kernels),
      " kernels\n", sep = "")
  if (length(x$report$status)) cat(x$report$status, ": ", in_r(x$report$message), "\n", sep = "")
  print_weights(x, 5L, digits)
  invisible(x)
}

#' What a model is and how its training went
#'
#' @param object,x A model of [kloom()], or its summary.
#' @param digits Significant digits of weights.
#' @param most How many kernels are shown.
#' @param ... Ignored.
#' @return A list of class `summary.kloom`: `kernels` (a data frame, largest weight first), `columns` (what was made of every
#'   column, and why), `reasons` (why these kernels), `training` (metrics on the training samples), `certificate` (the finding
#'   of the referee), `options`, `seconds`, and the `object`.
#' @examples
#' fit <- kloom(mpg ~ ., mtcars, method = "simplemkl", kernels = "rbf(width=1..3); linear", C = 10)
#' summary(fit)
#' @export
summary.kloom <- function(object, ...) {
  report <- object$report
  training <- if (is.data.frame(report$evaluations)) unlist(report$evaluations$values[1, , drop = FALSE])
  structure(class = "summary.kloom", list(
    object = object, kernels = weight_table(object), columns = object$columns, reasons = object$reasons, training = training,
    certificate = report$certificate, options = unlist(report$options), seconds = unlist(report$seconds)))
}

#' @rdname summary.kloom
#' @export
print.summary.kloom <- function(x, digits = 4, most = 10L, ...) {
  object <- x$object
  cat("kloom model of ", object$method, "\n", task_sentence(object), "\n", object$samples, " training samples, ",
      length(object$kernels), " kernels: ", object$spec, "\n", sep = "")
  report <- object$report
  if (length(report$status)) {
    cat(report$status, " after ", report$iterations, " iterations: ", in_r(report$message), "\n", sep = "")
    if (length(report$objective_name) && nzchar(report$objective_name)) {
      cat(report$objective_name, ": ", format(report$objective, digits = 7), "\n", sep = "")
    }
  }
  if (length(x$certificate$verdict) && nzchar(x$certificate$verdict)) cat("certificate: ", in_r(x$certificate$verdict), "\n", sep = "")
  if (length(x$training)) {
    cat("on the training samples: ", paste(names(x$training), format(x$training, digits = digits, trim = TRUE), collapse = ", "),
        "\n", sep = "")
  }
  print_weights(object, most, digits)
  invisible(x)
}
