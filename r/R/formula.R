# SPDX-License-Identifier: BSD-3-Clause
#
# Formulas: which variables are samples, which are targets.

# list(x, y, terms). terms is NULL for `y ~ .`: then all other columns are taken as they are, however many.
read_formula <- function(formula, data) {
  if (length(formula) != 3) refuse("the formula ", shown(formula), " has no target on its left side")
  if (!is.data.frame(data)) refuse("data must be a data frame; got an object of class ", paste(class(data), collapse = ", "))
  target <- formula[[2]]
  y <- eval(target, data, environment(formula))
  if (NROW(y) != nrow(data)) refuse("the target ", shown(target), " has ", NROW(y), " values, but data has ", nrow(data), " rows")
  name <- if (is.matrix(y)) target_names(y) else shown(target)
  if (identical(formula[[3]], quote(.))) {
    x <- data[setdiff(names(data), all.vars(target))]
    return(list(x = x, y = named_target(y, name), terms = NULL))
  }
  terms <- stats::delete.response(stats::terms(formula, data = data))
  refuse_interactions(terms)
  list(x = variables_of(terms, data), y = named_target(y, name), terms = terms)
}

refuse_interactions <- function(terms) {
  crossed <- attr(terms, "term.labels")[attr(terms, "order") > 1]
  if (length(crossed)) {
    refuse("the formula has the interaction ", crossed[1], "; kernels of several columns see interactions by themselves: ",
           "name the variables with +")
  }
  if (!is.null(attr(terms, "offset"))) refuse("the formula has an offset; subtract it from the target instead")
  if (length(attr(terms, "term.labels")) == 0) refuse("the formula has no variables on its right side")
}

variables_of <- function(terms, data) {
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass)
  attr(frame, "terms") <- NULL
  frame[attr(terms, "term.labels")]
}

# Numbers in views count the columns of data.
views_of_data <- function(views, data, parts) {
  if (is.null(views) || length(views) == 0) return(views)
  lapply(view_columns(views, names(data), "data"), function(chosen) {
    outside <- setdiff(chosen, names(parts$x))
    outside <- outside[!grepl("[*?]", outside)]
    if (length(outside)) refuse("views name the column '", outside[1], "', which the formula does not use")
    chosen
  })
}
