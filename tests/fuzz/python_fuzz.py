#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A fuzz target for what Python hands to kloom: arrays of every kind, kernel specs, options, files, streams. Run by atheris (from PyPI, in a
virtual environment that tools/fuzz makes), with libFuzzer's options:

    PYTHONPATH=build/python python_fuzz.py tests/fuzz/corpus/python -max_total_time=60

Input may be refused by ValueError, TypeError, OSError, MemoryError or scikit-learn's NotFittedError,
or end in numerical trouble. Any other exception, a crash and an answer that is no
number are findings. The Python code is instrumented; the library is the one in the build, without the fuzzer's coverage.
"""
import os
import sys
import tempfile
import warnings

import atheris

with atheris.instrument_imports(include=["kloom"]):
    import kloom
import numpy as np
from sklearn.exceptions import NotFittedError

REFUSALS = (ValueError, TypeError, OSError, MemoryError, NotFittedError)
FOLDER = tempfile.mkdtemp(prefix="kloom-python-fuzz-")
DTYPES = ["f8", "f4", "i8", "u1", "?", "O", "U3", "S3", "c16", "M8[s]", ">f8", "f2"]
SPECIAL = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 2.0 ** 53, 1e150]
SPECS = ["rbf(width=1)", "linear on all; poly(degree=2)", "rbf(auto) on each", "cosine", "chi2(gamma=1)", "spectrum(k=2)",
         "spectrum(k=2, gaps=1)", "edit(width=1)", "words", None, "precomputed"]
# A quick fit of each kind of solver.
ESTIMATORS = [
    (kloom.UniformMKLClassifier, {"C": 1.0, "probability": False}), (kloom.SimpleMKLClassifier, {"C": 1.0, "probability": False}),
    (kloom.LpMKLRegressor, {"C": 1.0}), (kloom.BEMKLClassifier, {"max_iter": 3}), (kloom.BEMKLRegressor, {"max_iter": 3}),
    (kloom.MulticlassMKLClassifier, {"C": 1.0, "probability": False}), (kloom.AlignFClassifier, {"C": 1.0, "probability": False}),
]


def number(data):
    return SPECIAL[data.ConsumeIntInRange(0, len(SPECIAL) - 1)] if data.ConsumeBool() else data.ConsumeFloat()


def array(data, rows=None):
    """An array that a careless or hostile caller might give."""
    shape = [rows if rows is not None and data.ConsumeIntInRange(0, 9) else data.ConsumeIntInRange(0, 12)]
    shape += [data.ConsumeIntInRange(0, 4) for _ in range(data.ConsumeIntInRange(0, 2))]
    size = int(np.prod(shape))
    if data.ConsumeBool():   # ordinary numbers, so that fits are reached
        values = np.random.default_rng(data.ConsumeIntInRange(0, 1000)).normal(size=shape)
        for _ in range(data.ConsumeIntInRange(0, 2)):
            if size:
                values.flat[data.ConsumeIntInRange(0, size - 1)] = number(data)
    else:
        values = np.array([number(data) for _ in range(size)]).reshape(shape)
    with np.errstate(all="ignore"):
        values = values.astype(DTYPES[data.ConsumeIntInRange(0, len(DTYPES) - 1)]) if data.ConsumeBool() else values
    if data.ConsumeBool():
        values = np.asfortranarray(values)
    return values[::-1] if data.ConsumeIntInRange(0, 5) == 0 and values.ndim else values


def labels(data, rows):
    kind = data.ConsumeIntInRange(0, 4)
    if kind == 0:
        return array(data, rows)
    if kind == 1:
        return [data.ConsumeUnicode(3) for _ in range(rows)]
    if kind == 2:
        return np.arange(rows) * 1.5
    return np.arange(rows) % data.ConsumeIntInRange(1, 4)


def fit(data):
    cls, options = ESTIMATORS[data.ConsumeIntInRange(0, len(ESTIMATORS) - 1)]
    spec = SPECS[data.ConsumeIntInRange(0, len(SPECS) - 1)] if data.ConsumeBool() else data.ConsumeUnicode(40)
    X = array(data)
    rows = X.shape[0] if X.ndim else 0
    estimator = cls(kernels=spec, n_jobs=1, **options).fit(X, labels(data, rows))
    answer = estimator.predict(array(data) if data.ConsumeBool() else X)
    if answer.dtype.kind == "f" and not np.isfinite(answer).all():
        raise AssertionError("a prediction is no number")


def options(data):
    cls, _ = ESTIMATORS[data.ConsumeIntInRange(0, len(ESTIMATORS) - 1)]
    names = sorted(cls().get_params())
    value = [data.ConsumeUnicode(10), number(data), data.ConsumeInt(8), None, True, (), np.float32(1)][data.ConsumeIntInRange(0, 6)]
    name = names[data.ConsumeIntInRange(0, len(names) - 1)]
    if name not in ("n_jobs", "max_iter", "folds", "verbose"):   # what only takes long is no finding
        cls(**{name: value}).fit(np.arange(24.0).reshape(12, 2) % 5, np.arange(12) % 2)


def file(data):
    path = os.path.join(FOLDER, "model.kloom")
    with open(path, "wb") as out:
        out.write(data.ConsumeBytes(data.remaining_bytes()))
    for read in (kloom.load, kloom.KernelBank.load):
        try:
            read(path)
        except REFUSALS:
            pass


def stream(data):
    estimator = kloom.MKLDAClassifier() if data.ConsumeBool() else kloom.UFOMKLClassifier()
    for _ in range(data.ConsumeIntInRange(1, 3)):
        X = array(data)
        estimator.partial_fit(X, labels(data, X.shape[0] if X.ndim else 0), classes=[0, 1, 2] if data.ConsumeBool() else None)
        estimator.predict(X)


def spec(data):
    kloom.Kernels(data.ConsumeUnicode(200))


TARGETS = [fit, options, file, stream, spec]


def one(content):
    data = atheris.FuzzedDataProvider(content)
    target = TARGETS[data.ConsumeIntInRange(0, len(TARGETS) - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target(data)
        except REFUSALS:
            pass
        except RuntimeError as error:
            if "numerical trouble" not in str(error):   # which is a sentence about the user's numbers
                raise


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
