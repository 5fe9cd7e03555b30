# SPDX-License-Identifier: BSD-3-Clause
#
# Methods and their options, as the registry of the library describes them.

#' Methods and their options
#'
#' What the library can learn with. Names, defaults, rules and explanations come from the library that is loaded.
#'
#' @param method Name of a method.
#' @return `kloom_methods()`: a data frame with a row per method: `name`, `tasks`, `unlabelled` (can it learn from samples
#'   without a label?), `summary`.
#'
#'   `kloom_options()`: a data frame with a row per option: `name`, `kind` (real, integer, flag, choice, text), `default`,
#'   `rule` (which values are allowed), `tasks` (in which it means something), `doc`.
#' @examples
#' kloom_methods()[, c("name", "tasks")]
#' kloom_options("simplemkl")[, c("name", "default", "rule")]
#' @export
kloom_methods <- function() {
  methods <- ask(.Call(C_methods))
  data.frame(name = texts_of(methods, "name"),
             tasks = vapply(methods, function(m) paste(m$tasks, collapse = ", "), ""),
             unlabelled = vapply(methods, function(m) m$semi_supervised, NA),
             summary = texts_of(methods, "summary"), row.names = NULL)
}

#' @rdname kloom_methods
#' @export
kloom_options <- function(method) {
  options <- find_method(method)$options
  data.frame(name = texts_of(options, "name"), kind = texts_of(options, "kind"), default = texts_of(options, "default"),
             rule = vapply(options, rule_of, ""), tasks = texts_of(options, "suits"), doc = in_r(texts_of(options, "doc")),
             row.names = NULL)
}

texts_of <- function(entries, field) vapply(entries, function(entry) entry[[field]], "")

rule_of <- function(option) {
  if (length(option$choices) && !nzchar(option$rule)) paste("one of:", paste(option$choices, collapse = ", ")) else option$rule
}

find_method <- function(method) {
  if (!is.character(method) || length(method) != 1 || is.na(method)) {
    refuse("method must be the name of a method (see kloom_methods()); got ", shown(method))
  }
  ask(.Call(C_method, method))
}

# Options as the library reads them: texts by name. What breaks a rule is refused before anything is computed.
option_texts <- function(method, given) {
  if (length(given) == 0) return(character())
  if (is.null(names(given)) || any(!nzchar(names(given)))) {
    refuse("options of a method are given by name, such as kloom(x, y, method = \"simplemkl\", C = 10)")
  }
  known <- find_method(method)$options
  mapply(function(name, value) option_text(method, name, value, known), names(given), given)
}

option_text <- function(method, name, value, known) {
  info <- known[[name]]
  if (is.null(info)) {
    refuse("method ", method, " has no option '", name, "'", ask(.Call(C_did_you_mean, name, names(known))),
           "; its options are ", paste(names(known), collapse = ", "))
  }
  switch(info$kind,
         flag = flag_text(info, value),
         choice = choice_text(info, value),
         text = list_text(info, value),
         number_text(info, value))
}

wrong_value <- function(info, rule, value) refuse("option ", info$name, " must be ", rule, "; got ", shown(value))

flag_text <- function(info, value) {
  if (!isTRUE(value) && !isFALSE(value)) wrong_value(info, "TRUE or FALSE", value)
  if (value) "true" else "false"
}

choice_text <- function(info, value) {
  if (!is.character(value) || length(value) != 1 || !value %in% info$choices) {
    wrong_value(info, paste("one of", paste(info$choices, collapse = ", ")), value)
  }
  value
}

# Ranges such as "1e-1..1e3", or a vector of numbers.
list_text <- function(info, value) {
  if (is.numeric(value)) return(paste(exact_texts(value), collapse = ","))
  if (!is.character(value) || length(value) != 1 || is.na(value)) wrong_value(info, "a text or a vector of numbers", value)
  value
}

number_text <- function(info, value) {
  what <- paste(if (info$kind == "integer") "a whole number" else "a number", info$rule)
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) wrong_value(info, what, value)
  inside <- value <= info$high && if (info$low_open) value > info$low else value >= info$low
  finite <- is.finite(value) || info$infinite
  if (!inside || !finite || (info$kind == "integer" && value != floor(value))) wrong_value(info, what, value)
  exact_texts(value)
}

# The shortest digits that read back as the same number.
exact_texts <- function(numbers) ask(.Call(C_number_texts, as.double(numbers)))
