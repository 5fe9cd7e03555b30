# SPDX-License-Identifier: BSD-3-Clause
#
# The program `kloom` on files that hold exactly what R has in memory: KLOOM_PROGRAM, or the one on the path.

program <- function() {
  path <- Sys.getenv("KLOOM_PROGRAM", Sys.which("kloom"))
  if (!file.exists(path)) stop("these tests compare with the program kloom: set KLOOM_PROGRAM to its path")
  path
}

# What it printed as JSON. Numbers are read by the C library's strtod, which rounds correctly; R's own reader may be off by a bit.
run_program <- function(...) {
  printed <- tempfile()
  said <- tempfile()
  status <- system2(program(), shQuote(c(..., "--json")), stdout = printed, stderr = said)
  if (status != 0) stop("kloom ended with ", status, ": ", paste(readLines(said), collapse = "\n"))
  jsonlite::fromJSON(paste(readLines(printed, encoding = "UTF-8"), collapse = "\n"))
}

# 17 digits give every number back; an empty cell is a gap.
write_table <- function(frame, path = tempfile(fileext = ".csv")) {
  cells <- lapply(frame, function(values) {
    text <- if (is.numeric(values)) sprintf("%.17g", values) else paste0('"', values, '"')
    ifelse(is.na(values), "", text)
  })
  rows <- do.call(paste, c(unname(cells), sep = ","))
  writeLines(c(paste0('"', names(frame), '"', collapse = ","), rows), path, useBytes = TRUE)
  path
}

# A matrix or array in NumPy's format, Fortran order.
write_npy <- function(values, path = tempfile(fileext = ".npy")) {
  shape <- paste(dim(values), collapse = ", ")
  header <- sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%s), }", shape)
  header <- paste0(header, strrep(" ", 63 - (10 + nchar(header)) %% 64), "\n")
  file <- file(path, "wb")
  on.exit(close(file))
  writeBin(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0)), file)
  writeBin(nchar(header), file, size = 2, endian = "little")
  writeChar(header, file, eos = NULL)
  writeBin(as.double(values), file, endian = "little")
  path
}

# The model file that `kloom train` makes, and what it predicts for a file.
train_program <- function(...) {
  path <- tempfile(fileext = ".kloom")
  run_program("train", ..., "-o", path)
  path
}
predict_program <- function(...) run_program("predict", ...)$predictions

# One kind of columns of the program's table ("p", "score", "prediction", "deviation") as a matrix without names.
columns_of <- function(table, what) {
  chosen <- table[grepl(paste0("^", what, "(\\(|$)"), names(table))]
  unname(as.matrix(chosen))
}

bare <- function(values) unname(as.matrix(values))

# A table of all kinds of columns, with gaps.
mixed_table <- function(rows = 80) {
  i <- seq_len(rows)
  data.frame(
    id = paste0("s", i),
    age = ifelse(i %% 9 == 0, NA, 20 + (7 * i) %% 50),
    weight = round(60 + 20 * sin(i), 3),
    town = ifelse(i %% 11 == 0, NA, c("Ulm", "Bonn", "Bad Urach")[1 + i %% 3]),
    member = i %% 4 == 0,
    seen = as.Date("2020-01-01") + i,
    grade = factor(1 + i %% 3),
    outcome = ifelse((7 * i) %% 50 > 20 | i %% 3 == 0, "sick", "well"))
}

tempfile_folder <- function() {
  folder <- tempfile()
  dir.create(folder)
  folder
}
