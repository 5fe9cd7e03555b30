#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Models that Python or the program wrote load in R and predict with the same bits, and the other way round.

    python_models.py BUILD      with the Python package in BUILD/python and the R package in BUILD/r-lib
"""
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.datasets import load_breast_cancer  # noqa: E402
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402
from sklearn.preprocessing import scale  # noqa: E402

import kloom  # noqa: E402

# Numbers cross as bytes. R is column-major, so arrays are written as their transpose.
R_PROGRAM = """
library(rkloom)
read <- function(name, ...) array(readBin(name, "double", 1e6), c(...))
write <- function(values, name) writeBin(c(as.double(values)), name)
x <- read("x", 569, 10)
colnames(x) <- as.character(1:10)
y <- ifelse(read("y", 569) > 0, "b", "m")

write(predict(load_kloom("array.kloom"), x, "prob"), "array.r")
frame <- data.frame(x, check.names = FALSE)
names(frame) <- paste0("f", 1:10)
write(predict(load_kloom("frame.kloom"), frame, "interval")[, 2], "frame.r")
kernels <- read("kernels", 569, 569, 2)
write(predict(load_kloom("kernels.kloom"), kernels, "score"), "kernels.r")
given <- kloom(kernels, y, method = "simplemkl", C = 2, kernels = "precomputed(normalise=none)")
save_kloom(given, "given.kloom")
write(predict(given, kernels, "score"), "given.r")
write(predict(given, kernels[1:100, , ], "score"), "some.r")

fit <- kloom(frame, y, method = "simplemkl", C = 2, kernels = "rbf(width=1..3); linear")
save_kloom(fit, "r.kloom")
write(predict(fit, frame, "prob"), "own.r")
"""


def read(name):
    return np.fromfile(name)


def program(*arguments):
    subprocess.run([BUILD / "kloom", *arguments, "--quiet"], check=True)


def printed_scores(model, kernels):
    program("predict", model, "--kernel-file", kernels, "-o", "printed.csv")
    return pd.read_csv("printed.csv", float_precision="round_trip").filter(regex="^score").to_numpy().ravel()


def main():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.ascontiguousarray(X[:, :10])
    frame = pd.DataFrame(X, columns=[f"f{i + 1}" for i in range(10)])
    kernels = np.stack([rbf_kernel(scale(X)), scale(X) @ scale(X).T], axis=2)
    X.T.tofile("x")
    y.astype(float).tofile("y")
    kernels.transpose(2, 1, 0).copy().tofile("kernels")

    by_array = kloom.BEMKLClassifier(kernels="rbf(width=1..3); linear", max_iter=20, variance=False).fit(X, y)
    by_array.save("array.kloom")
    by_frame = kloom.GPMKLRegressor(kernels="rbf(width=2)", max_iter=5).fit(frame[["f1", "f2"]], X[:, 2])
    by_frame.save("frame.kloom")
    by_kernels = kloom.UniformMKLClassifier(kernels="precomputed", C=1).fit(kernels, y)
    by_kernels.save("kernels.kloom")
    np.save("all.npy", kernels)
    np.save("some.npy", kernels[:100])
    pd.DataFrame({"label": np.where(y > 0, "b", "m")}).to_csv("labels.csv", index=False)
    program("train", "labels.csv", "--kernel-file", "all.npy", "--kernels", "precomputed(normalise=none)", "--method", "simplemkl",
            "--C", "2", "-o", "program.kloom")
    subprocess.run(["Rscript", "-e", R_PROGRAM], check=True, env={**os.environ, "R_LIBS": str(BUILD / "r-lib")})

    middle, deviation = by_frame.predict(frame[["f1", "f2"]], return_std=True)
    # R computes the lower end of the interval with a quantile of its own: a few roundings of a number of that size.
    lower = middle - 1.959963984540054 * deviation
    wrong = []
    for name, same in {
        "probabilities of a model of an array": np.array_equal(read("array.r"), by_array.predict_proba(X).T.ravel()),
        "intervals of a model of a frame": np.abs(read("frame.r") - lower).max() < 8 * np.finfo(float).eps * np.abs(middle).max(),
        "scores of a model of kernels": np.array_equal(read("kernels.r"), by_kernels.decision_function(kernels)),
        "scores of kernels by the program": np.array_equal(read("given.r"), printed_scores("program.kloom", "all.npy")),
        "scores of kernels of new samples": np.array_equal(read("some.r"), printed_scores("program.kloom", "some.npy")),
        "probabilities of a model of R": np.array_equal(read("own.r"), kloom.load("r.kloom").predict_proba(frame).T.ravel()),
    }.items():
        print(f"{name}: {'the same' if same else 'NOT the same'}")
        wrong += [] if same else [name]
    return 1 if wrong else 0


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = main()
    os.chdir("/")
sys.exit(status)
