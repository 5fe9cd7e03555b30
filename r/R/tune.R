# SPDX-License-Identifier: BSD-3-Clause

#' Choose options of a method by cross-validation
#'
#' Tries every point of a grid on the same folds, and trains a model with the best options on all samples. Everything that is
#' fitted (imputation, scales, kernel widths, the model) is fitted on the training part of a fold alone. Without a grid this is
#' the cross-validation of one method.
#'
#' The score of the best point is the best of many and therefore flatters a little; `kloom cv --grid` on the command line chooses
#' inside each training part and does not.
#'
#' @inheritParams kloom
#' @param grid Named list of vectors: options of the method and the values to try, such as `list(C = 10^(-1:3), norm = c(1.5, 2))`.
#' @param folds,repeats Folds, with classes spread evenly over them, and how often they are made anew.
#' @param groups A value per sample: samples of one group are never on both sides. With a formula it may name a column of `data`.
#' @param metric What decides: `"accuracy"`, `"AUC"`, `"log loss"`, `"RMSE"`, ... `NULL`: accuracy, or RMSE for numbers.
#' @param ... Further arguments of [kloom()], and fixed options of the method. The formula method passes everything on.
#' @param object,x A result of `tune()`.
#' @param digits Significant digits of what is printed.
#' @param which What to draw: the metric over the grid, or how well held-out probabilities (or intervals) of the best point agree
#'   with what was true.
#' @return A list of class `kloom_tune`: `results` (a data frame, best first: the grid, the mean and the deviation between folds of
#'   every metric, the mean rank, `p` of a corrected t-test against the best), `best` (its options), `metric`, `held_out` (what
#'   the best point predicted for samples that it had not learned from), `model` (of class `kloom`, on all samples).
#' @examples
#' tuned <- tune(Species ~ ., iris, method = "simplemkl", kernels = "rbf(width=1..2); linear",
#'               grid = list(C = c(1, 100)), folds = 3)
#' tuned
#' predict(tuned, iris[c(1, 51, 101), ])
#' @export
tune <- function(x, ...) UseMethod("tune")

#' @rdname tune
#' @export
tune.formula <- function(formula, data, views = NULL, ..., weights = NULL, groups = NULL) {
  weights <- eval(substitute(weights), data, environment(formula))
  groups <- eval(substitute(groups), data, environment(formula))
  parts <- read_formula(formula, data)
  tuned <- tune.default(parts$x, parts$y, views = views_of_data(views, data, parts), ..., weights = weights,
                        groups = groups)
  tuned$model$terms <- parts$terms
  tuned$call <- tuned$model$call <- generic_call(match.call(), "tune")
  tuned
}

#' @rdname tune
#' @export
tune.default <- function(x, y, method = "auto", grid = list(), kernels = NULL, views = NULL, ..., folds = 5, repeats = 1,
                         groups = NULL, metric = NULL, weights = NULL, seed = 1, threads = 0, memory = 0, verbose = FALSE) {
  given <- list(...)
  own <- if (is.null(names(given))) rep(FALSE, length(given)) else names(given) %in% names(formals(read_problem))
  problem <- do.call(read_problem, c(list(x, y, method, given[!own], named = !missing(method), kernels = kernels, views = views,
                                          weights = weights), given[own]))
  points <- grid_points(method, grid)
  plan <- list(grid = points, folds = as.integer(whole_number("folds", folds, 1e6)),
               repeats = as.integer(whole_number("repeats", repeats, 1e6)), metric = if (is.null(metric)) "" else metric,
               groups = group_texts(groups, problem))
  found <- ask(.Call(C_tune, problem$samples, problem$targets, problem$request, plan,
                     settings_of(seed, threads, memory, verbose)))
  for (why in unique(unlist(found$left_out))) warning("a point of the grid gave no result: ", in_r(why), call. = FALSE)
  model <- new_kloom(found$model, generic_call(match.call(), "tune"), problem$levels, problem$samples$names)
  results <- results_of(found, grid_frame(grid))
  structure(class = "kloom_tune", list(call = model$call, method = model$method, metric = found$metric,
            larger_is_better = found$larger_is_better, results = results, best = results[1, names(grid), drop = FALSE],
            folds = plan$folds, repeats = plan$repeats, held_out = held_out_of(found, problem, model), model = model))
}

grid_frame <- function(grid) {
  if (length(grid) == 0) return(data.frame(row.names = 1L))
  expand.grid(grid, stringsAsFactors = FALSE)
}

# Every point as options in text.
grid_points <- function(method, grid) {
  if (!is.list(grid) || (length(grid) && is.null(names(grid)))) {
    refuse("grid must be a named list of values, such as list(C = 10^(-1:3)); got ", shown(grid))
  }
  frame <- grid_frame(grid)
  lapply(seq_len(nrow(frame)), function(i) option_texts(method, as.list(frame[i, , drop = FALSE])))
}

group_texts <- function(groups, problem) {
  if (is.null(groups)) return(character())
  groups <- as.character(groups)
  if (length(groups) != length(problem$known)) refuse("groups has ", length(groups), " values, but there are ", length(problem$known), " samples")
  groups[problem$known]
}

results_of <- function(found, frame) {
  rows <- lapply(found$table, function(row) {
    values <- as.list(c(rbind(row$means, row$deviations)))
    names(values) <- c(rbind(row$metrics, paste(row$metrics, "sd")))
    cbind(frame[row$point, , drop = FALSE], data.frame(values, check.names = FALSE),
          data.frame(rank = row$rank, p = row$t_p, seconds = row$seconds))
  })
  table <- do.call(rbind, rows)
  rownames(table) <- NULL
  table
}

# A data frame: sample, repeat, fold, then scores, probabilities and deviations; and what was true.
held_out_of <- function(found, problem, model) {
  parts <- lapply(found$held_out, function(part) {
    frame <- data.frame(sample = which(problem$known)[part$samples], "repeat" = part[["repeat"]], fold = part$fold,
                        check.names = FALSE)
    for (kind in c("score", "probability", "deviation")) {
      values <- part[[c(score = "scores", probability = "probabilities", deviation = "deviation")[[kind]]]]
      if (length(values)) frame[[kind]] <- values
    }
    frame
  })
  all <- do.call(rbind, parts)
  if (!is.null(all$probability)) colnames(all$probability) <- model$classes
  all$truth <- truth_of(problem, all$sample)
  all
}

truth_of <- function(problem, samples) {
  labels <- problem$targets$labels
  places <- match(samples, which(problem$known))
  if (is.matrix(labels)) labels[places, ] else labels[places]
}

#' @rdname tune
#' @export
print.kloom_tune <- function(x, digits = 4, ...) {
  cat("cross-validation of ", x$method, ", ", x$folds, " folds", if (x$repeats > 1) paste0(", ", x$repeats, " times"),
      "; ", x$metric, " decides\n", sep = "")
  shown <- c(names(x$best), x$metric, paste(x$metric, "sd"), "rank", "p")
  print(utils::head(x$results[intersect(shown, names(x$results))], 20L), digits = digits, row.names = FALSE)
  invisible(x)
}

#' @rdname tune
#' @export
predict.kloom_tune <- function(object, ...) stats::predict(object$model, ...)
