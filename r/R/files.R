# SPDX-License-Identifier: BSD-3-Clause

#' Model files
#'
#' The files of the command line and of Python: models of either load here and predict the same, and those written here load
#' there. Reading a file never runs code.
#'
#' @param object A model of [kloom()].
#' @param path The file. An old one is replaced when the new one is whole.
#' @return `save_kloom()`: the object, invisibly. `load_kloom()`: an object of class `kloom`. A file has neither the call and
#'   formula nor the order of a factor's levels; `saveRDS()` keeps these.
#' @examples
#' fit <- kloom(Species ~ ., iris, method = "uniform", kernels = "rbf(width=1..2)", C = 1)
#' path <- tempfile(fileext = ".kloom")
#' save_kloom(fit, path)
#' identical(predict(load_kloom(path), iris), predict(fit, iris))
#' @export
save_kloom <- function(object, path) {
  stopifnot(inherits(object, "kloom"))
  ask(.Call(C_save, pointer_of(object$model), path_text(path)))
  invisible(object)
}

#' @rdname save_kloom
#' @export
load_kloom <- function(path) new_kloom(ask(.Call(C_load, path_text(path))), call = match.call())

path_text <- function(path) {
  if (!is.character(path) || length(path) != 1 || is.na(path)) refuse("path must be the name of a file; got ", shown(path))
  enc2utf8(path.expand(path))
}
