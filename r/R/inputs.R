# SPDX-License-Identifier: BSD-3-Clause
#
# What users give as samples and targets, in the form that the library takes: columns of numbers or texts the way a CSV file
# would have them, or kernel matrices. What becomes of a column is decided by the library.

SEPARATOR <- "\037"   # kloom::Dataset::separator

# `x` as samples: list(rows, names, columns, categories, kernels, kernel_names), of
# tables of views also views.
#   names       of the columns; those of a table of a view begin with the view and SEPARATOR
#   columns     vectors of numbers or texts
#   categories  names of columns that are factors
#   kernels     list of matrices or array (rows, training samples, kernels), or NULL
as_samples <- function(x, source) {
  if (inherits(x, "Matrix")) x <- as.matrix(x)
  if (is.data.frame(x)) return(samples_of_table(x))
  if (is.matrix(x)) return(samples_of_table(matrix_columns(x, source)))
  if (is.array(x) && length(dim(x)) == 3) return(samples_of_kernels(x, dimnames(x)[[3]]))
  if (is.list(x) && length(x) > 0 && all(vapply(x, is.data.frame, NA))) return(samples_of_views(x, source))
  if (is.list(x) && length(x) > 0 && all(vapply(x, is.matrix, NA))) return(samples_of_kernels(x, names(x), source))
  refuse(source, " must be a matrix, a data frame, an array (samples, samples, kernels), a list of kernel matrices or a ",
         "named list of data frames; got an object of class ", paste(class(x), collapse = ", "))
}

matrix_columns <- function(x, source) {
  if (!is.numeric(x) && !is.logical(x) && !is.character(x)) {
    refuse(source, " is a matrix of type ", typeof(x), "; it must hold numbers, truth values or texts")
  }
  columns <- lapply(seq_len(ncol(x)), function(j) x[, j])
  names(columns) <- if (is.null(colnames(x))) as.character(seq_len(ncol(x))) else colnames(x)
  structure(columns, rows = nrow(x))
}

samples_of_table <- function(table) {
  rows <- if (is.data.frame(table)) nrow(table) else attr(table, "rows")
  wide <- unlist(lapply(names(table), function(name) flat_column(name, table[[name]])), recursive = FALSE)
  if (is.null(wide)) wide <- list()
  list(rows = rows, names = as.character(names(wide)), columns = unname(lapply(names(wide), function(name)
    read_column(name, wide[[name]]))), categories = names(wide)[vapply(wide, is.factor, NA)], kernels = NULL,
    kernel_names = character())
}

# A column that is a matrix or a data frame is several columns called name.column.
flat_column <- function(name, values) {
  if (is.null(dim(values)) || length(dim(values)) < 2) return(stats::setNames(list(values), name))
  if (!is.data.frame(values)) values <- matrix_columns(unclass(values), name)
  names(values) <- paste(name, names(values), sep = ".")
  as.list(values)
}

samples_of_views <- function(views, source) {
  if (is.null(names(views)) || any(!nzchar(names(views))) || anyDuplicated(names(views))) {
    refuse(source, " is a list of data frames, one for each view; give every view a name of its own: list(rna = ..., clinical = ...)")
  }
  parts <- lapply(views, samples_of_table)
  rows <- vapply(parts, function(part) part$rows, 0L)
  if (length(unique(rows)) > 1) {
    refuse("views describe the same samples, in the same order; got ",
           paste0(names(views), " with ", rows, " rows", collapse = ", "))
  }
  keys <- Map(function(view, part) paste0(view, SEPARATOR, part$names), names(views), parts)
  list(rows = rows[[1]], names = unlist(keys, use.names = FALSE),
       columns = unlist(lapply(unname(parts), `[[`, "columns"), recursive = FALSE),
       categories = unlist(lapply(unname(parts), `[[`, "categories")), views = keys, kernels = NULL,
       kernel_names = character())
}

samples_of_kernels <- function(kernels, names = NULL, source = "x") {
  count <- if (is.list(kernels)) length(kernels) else dim(kernels)[3]
  if (is.null(names) || any(!nzchar(names))) names <- paste("kernel", seq_len(count))
  numeric <- if (is.list(kernels)) vapply(kernels, is.numeric, NA) else is.numeric(kernels)
  if (!all(numeric)) refuse("kernels must be matrices of numbers; '", names[which(!numeric)[1]], "' is none")
  if (is.list(kernels)) {
    shapes <- vapply(kernels, dim, c(0L, 0L))
    other <- which(shapes[1, ] != shapes[1, 1] | shapes[2, ] != shapes[2, 1])
    if (length(other)) {
      refuse("all kernels of ", source, " must have one shape; '", names[1], "' has ", shapes[1, 1], " x ", shapes[2, 1], ", '",
             names[other[1]], "' has ", shapes[1, other[1]], " x ", shapes[2, other[1]])
    }
    kernels <- lapply(kernels, as_double)
    rows <- shapes[1, 1]
  } else {
    kernels <- as_double(kernels)
    rows <- dim(kernels)[1]
  }
  list(rows = rows, names = character(), columns = list(), categories = character(), kernels = kernels,
       kernel_names = names)
}

as_double <- function(values) {
  if (!is.double(values)) storage.mode(values) <- "double"
  values
}

# One column as numbers, with NA where there is none, or as texts, with "" where there is none.
read_column <- function(name, values) {
  if (inherits(values, "AsIs")) class(values) <- setdiff(class(values), "AsIs")
  if (inherits(values, "difftime")) return(as.numeric(values, units = "secs"))
  if (inherits(values, "Date")) return(filled(format(values, "%Y-%m-%d")))
  if (inherits(values, "POSIXt")) return(filled(format(values, "%Y-%m-%dT%H:%M:%S")))
  if (is.factor(values) || is.logical(values)) return(filled(as.character(values)))
  if (is.character(values)) return(filled(gsub("^[ \t]+|[ \t]+$", "", values)))
  if (is.numeric(values) && !inherits(values, "integer64")) return(as.double(values))
  refuse("column '", name, "' holds values of class ", paste(class(values), collapse = ", "),
         "; columns hold numbers, texts, factors, truth values or dates. Convert it, or leave it out")
}

filled <- function(texts) {
  texts[is.na(texts)] <- ""
  texts
}

take_rows <- function(samples, rows) {
  samples$columns <- lapply(samples$columns, function(values) values[rows])
  samples$rows <- length(samples$columns[[1]])
  samples
}

plain_names <- function(names) sub(paste0("^.*", SEPARATOR), "", names)

# The samples with what the library is told about them. `views`: NULL where it may find them by the names of columns.
training_samples <- function(samples, views, text, source) {
  unknown <- setdiff(text, plain_names(samples$names))
  if (length(unknown)) refuse("text names the column '", unknown[1], "', which ", source, " does not have")
  own <- samples$views
  asked <- if (is.null(own)) view_columns(views, samples$names, source) else own
  as_text <- samples$names[plain_names(samples$names) %in% c(text, samples$categories)]
  c(samples[setdiff(names(samples), "views")],
    list(views = asked, find_views = is.null(views) && is.null(own), text = as_text, training = TRUE, source = source))
}

# Views by numbers, names or a mask of columns, as names of columns.
view_columns <- function(views, columns, source) {
  if (is.null(views) || length(views) == 0) return(list())
  if (!is.list(views) || is.null(names(views)) || any(!nzchar(names(views)))) {
    refuse("views must be a named list of columns, such as list(rna = 1:200, clinical = c(\"age\", \"grade\")); got ", shown(views))
  }
  Map(function(name, chosen) {
    if (is.character(chosen)) return(chosen)
    if (is.logical(chosen) && length(chosen) != length(columns)) {
      refuse("view '", name, "' is a mask of ", length(chosen), " entries, but ", source, " has ", length(columns), " columns")
    }
    found <- columns[chosen]
    if (length(found) == 0 || anyNA(found)) {
      refuse("view '", name, "' asks for columns that ", source, " does not have; it has ", length(columns), " columns")
    }
    found
  }, names(views), views)
}

# A target with the name that it has in its table.
named_target <- function(values, name) structure(list(values = values, name = name), class = "kloom_target")

# `y` as targets: list(labels, levels, task, positive, name). Labels are texts, or numbers in a matrix.
as_targets <- function(y, task, positive) {
  name <- ""
  if (inherits(y, "kloom_target")) {
    name <- y$name
    y <- y$values
  }
  if (is.data.frame(y)) y <- as.matrix(y)
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  levels <- NULL
  if (is.factor(y)) {
    levels <- levels(y)
    used <- levels(droplevels(y))
    # R's convention: of two levels the second is the one that a model speaks for.
    if (is.null(positive) && length(used) == 2 && task != "regression") positive <- used[2]
  }
  if (is.factor(y) || is.logical(y) || is.character(y)) {
    if (task == "auto") task <- "classes"
    labels <- filled(as.character(y))
  } else if (is.numeric(y)) {
    labels <- matrix(as.double(y), nrow = NROW(y))
    if (is.matrix(y) && !nzchar(name)) name <- target_names(y)
  } else {
    refuse("y must be a factor, texts, truth values, numbers or a matrix of numbers; got an object of class ",
           paste(class(y), collapse = ", "))
  }
  list(labels = labels, levels = levels, task = task, positive = if (is.null(positive)) "" else as.character(positive),
       name = name)
}

target_names <- function(y) {
  names <- if (is.null(colnames(y))) paste0("y", seq_len(ncol(y))) else colnames(y)
  paste(gsub(",", " ", names, fixed = TRUE), collapse = ",")
}

take_targets <- function(targets, rows) {
  targets$labels <- if (is.matrix(targets$labels)) targets$labels[rows, , drop = FALSE] else targets$labels[rows]
  if (length(targets$weights)) targets$weights <- targets$weights[rows]
  targets
}

has_label <- function(targets) {
  if (is.matrix(targets$labels)) rowSums(!is.na(targets$labels)) > 0 else nzchar(targets$labels)
}
