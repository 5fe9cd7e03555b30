# SPDX-License-Identifier: BSD-3-Clause

#' Pictures of a model
#'
#' @param x A model of [kloom()].
#' @param which `"weights"`: the kernels of largest weight, with their posterior deviations where there are some; `"trace"`: the
#'   objective over the iterations; `"calibration"`: how often what was said with a probability was true. The last needs
#'   `newdata` and `y`, samples that the model has not learned from. For numbers it shows how often intervals held the truth.
#' @param newdata,y Samples and their targets.
#' @param most How many kernels are shown.
#' @param bins In how many intervals probabilities are gathered.
#' @param ... Passed on to the function of graphics that draws.
#' @return What is drawn, invisibly, as a data frame.
#' @examples
#' odd <- seq(1, 150, 2)
#' fit <- kloom(Species ~ ., iris[odd, ], method = "bemkl", kernels = "rbf(width=1..2); linear", iterations = 50)
#' plot(fit)
#' plot(fit, which = "trace")
#' plot(fit, which = "calibration", newdata = iris[-odd, ], y = iris$Species[-odd])
#' @export
plot.kloom <- function(x, which = c("weights", "trace", "calibration"), newdata, y, most = 15L, bins = 10L, ...) {
  which <- match.arg(which)
  if (which == "weights") return(invisible(plot_weights(x, most, ...)))
  if (which == "trace") return(invisible(plot_trace(x, ...)))
  if (missing(newdata) || missing(y)) refuse("calibration is about samples that the model has not seen; give newdata and y")
  if (is_numbers(x)) {
    numbers <- stats::predict(x, newdata, type = "response")
    return(invisible(plot_coverage(numbers, stats::predict(x, newdata, type = "deviation"), as.double(y), ...)))
  }
  invisible(plot_reliability(stats::predict(x, newdata, type = "prob"), as.character(y), bins, ...))
}

#' @rdname tune
#' @export
plot.kloom_tune <- function(x, which = c("metric", "calibration"), ...) {
  which <- match.arg(which)
  held <- x$held_out
  if (which == "metric") return(invisible(plot_metric(x, ...)))
  if (!is.null(held$probability)) return(invisible(plot_reliability(held$probability, held$truth, 10L, ...)))
  if (is.null(held$deviation) || !is_numbers(x$model)) refuse("models of ", x$method, " have neither probabilities nor intervals")
  invisible(plot_coverage(held$score[, 1], held$deviation[, 1], held$truth, ...))
}

plot_weights <- function(object, most, ...) {
  table <- utils::head(weight_table(object), most)
  shown <- table[rev(seq_len(nrow(table))), ]
  spread <- if (is.null(shown$deviation)) 0 else shown$deviation
  width <- max(nchar(shown$kernel))
  old <- graphics::par(mar = c(5, min(4 + 0.42 * width, 20), 3, 1))
  on.exit(graphics::par(old))
  middle <- graphics::barplot(shown$weight, horiz = TRUE, names.arg = shown$kernel, las = 1, cex.names = 0.8, col = "grey70",
                              border = NA, xlab = weight_heading(object), main = object$method,
                              xlim = range(0, shown$weight - spread, shown$weight + spread), ...)
  if (!is.null(shown$deviation)) graphics::segments(shown$weight - spread, middle, shown$weight + spread, middle)
  table
}

plot_trace <- function(object, ...) {
  trace <- object$report$trace
  if (!is.data.frame(trace) || nrow(trace) == 0) refuse("the report of this model of ", object$method, " has no trace")
  graphics::plot(trace$iteration, trace$objective, type = "l", xlab = "iteration", ylab = object$report$objective_name,
                 main = object$method, ...)
  trace
}

# All probabilities of all classes: said with about p, true with which share?
plot_reliability <- function(probabilities, truth, bins, ...) {
  known <- truth %in% colnames(probabilities)
  said <- c(probabilities[known, ])
  true <- c(outer(truth[known], colnames(probabilities), `==`))
  if (ncol(probabilities) == 2) {   # the first class says nothing more
    said <- probabilities[known, 2]
    true <- truth[known] == colnames(probabilities)[2]
  }
  place <- pmin(floor(said * bins), bins - 1)
  table <- data.frame(said = as.vector(tapply(said, place, mean)), true = as.vector(tapply(true, place, mean)),
                      count = as.vector(table(place)))
  graphics::plot(table$said, table$true, type = "b", xlim = c(0, 1), ylim = c(0, 1), pch = 19, cex = 0.6 + table$count / max(table$count),
                 xlab = "probability that was said", ylab = "share that was true", main = "calibration", ...)
  graphics::abline(0, 1, lty = 2)
  table
}

plot_coverage <- function(numbers, deviation, truth, ...) {
  if (is.matrix(numbers)) refuse("calibration is drawn for one number; this model has ", ncol(numbers))
  levels <- seq(0.05, 0.95, 0.05)
  distance <- abs(truth - numbers) / deviation
  table <- data.frame(level = levels, inside = vapply(levels, function(level)
    mean(distance <= stats::qnorm((1 + level) / 2), na.rm = TRUE), 0))
  graphics::plot(table$level, table$inside, type = "b", xlim = c(0, 1), ylim = c(0, 1), pch = 19,
                 xlab = "probability of the interval", ylab = "share of samples inside", main = "calibration", ...)
  graphics::abline(0, 1, lty = 2)
  table
}

# Over the first axis of the grid, a line for every combination of the others.
plot_metric <- function(tuned, ...) {
  results <- tuned$results
  axes <- names(tuned$best)
  if (length(axes) == 0) refuse("there is no grid to draw")
  first <- results[[axes[1]]]
  where <- if (is.numeric(first)) first else match(first, unique(first))
  logarithmic <- is.numeric(first) && all(first > 0) && length(unique(first)) > 2 && max(first) / min(first) > 50
  others <- if (length(axes) > 1) interaction(results[axes[-1]], drop = TRUE) else factor(rep(1, nrow(results)))
  graphics::plot(where, results[[tuned$metric]], type = "n", log = if (logarithmic) "x" else "", xlab = axes[1],
                 ylab = tuned$metric, main = tuned$method, xaxt = if (is.numeric(first)) "s" else "n", ...)
  if (!is.numeric(first)) graphics::axis(1, seq_along(unique(first)), unique(first))
  for (k in seq_len(nlevels(others))) {
    chosen <- which(others == levels(others)[k])
    chosen <- chosen[order(where[chosen])]
    graphics::lines(where[chosen], results[[tuned$metric]][chosen], type = "b", lty = k, pch = 19)
  }
  if (nlevels(others) > 1) graphics::legend("bottomright", levels(others), lty = seq_len(nlevels(others)), bty = "n")
  results
}
