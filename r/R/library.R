# SPDX-License-Identifier: BSD-3-Clause
#
# Questions to libkloom: its failures become conditions, its words those of R.

#' @useDynLib rkloom, .registration = TRUE, .fixes = "C_"
#' @importFrom Rcpp evalCpp
NULL

.onLoad <- function(libname, pkgname) {
  .Call(C_begin, !nzchar(Sys.getenv("OPENBLAS_CORETYPE")))
}

# Options of the command line whose names differ here, or that have none.
FLAGS <- c("no-views" = "views = list()", "no-standardise" = "standardise = FALSE",
           "ignore" = "leaving the column out", "kernel-file" = "a kernel matrix")

# "--sigma-g" becomes "sigma_g".
in_r <- function(sentence) {
  for (flag in names(FLAGS)) {
    sentence <- gsub(paste0("--", flag, "\\b"), FLAGS[[flag]], sentence)
  }
  found <- gregexpr("--[a-z][a-z-]*", sentence)
  regmatches(sentence, found) <- lapply(regmatches(sentence, found),
                                        function(flags) gsub("-", "_", sub("^--", "", flags)))
  sentence
}

# What went wrong in the library is raised; everything else is the answer.
ask <- function(answer) {
  if (inherits(answer, "kloom_failure")) refuse(answer$message, kind = answer$kind)
  answer
}

refuse <- function(..., kind = "invalid_argument") {
  stop(structure(class = c(paste0("kloom_", kind), "kloom_error", "error", "condition"),
                 list(message = in_r(paste0(...)), call = NULL)))
}

# What a computation says while it runs.
teller <- function(verbose) {
  force(verbose)
  function(level, sentence) {
    if (level == "warning") {
      warning(in_r(sentence), call. = FALSE)
    } else if (verbose && level == "info") {
      message(in_r(sentence))
    }
  }
}

settings_of <- function(seed, threads, memory, verbose) {
  list(seed = whole_number("seed", seed, 2^53), threads = as.integer(whole_number("threads", threads, 1e6)),
       memory = whole_number("memory", memory, 2^53), tell = teller(isTRUE(verbose)))
}

whole_number <- function(name, value, most) {
  sound <- is.numeric(value) && length(value) == 1 && is.finite(value) && value >= 0 && value <= most &&
    value == floor(value)
  if (!sound) refuse(name, " must be a whole number that is not negative; got ", shown(value))
  as.double(value)
}

one_of <- function(name, value, choices) {
  if (!is.character(value) || length(value) != 1 || !value %in% choices) {
    refuse(name, " must be one of ", paste0('"', choices, '"', collapse = ", "), "; got ", shown(value))
  }
  value
}

shown <- function(value) paste(deparse(value, width.cutoff = 60L, nlines = 1L), collapse = " ")

some_of <- function(names, most = 10L) {
  paste0(paste(utils::head(names, most), collapse = ", "), if (length(names) > most) ", ...")
}
