# SPDX-License-Identifier: BSD-3-Clause
"""Estimators from model files, whoever wrote them."""
import json
import os

import numpy as np

from ._bank import require_file
from ._load import core
from ._options import ESTIMATORS
from ._several_tasks import BEMKLTasks

_STREAMS = {"mkl-dao": "mkl-da"}   # method of a stream -> method of its estimator


def load(path):
    """The estimator in a model file that ``save`` or the command line wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : object
        A fitted estimator of the class that the file's method and task ask for, or :class:`BEMKLTasks`. Classes that are numbers come back as
        numbers. Pickle keeps more (the type of the classes, callable kernels); this file is read by the command line, too,
        and reading it never runs code.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import kloom
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.kloom")
    >>> _ = kloom.UniformMKLClassifier(kernels="rbf(width=1..3)").fit(X, y).save(path)
    >>> bool(kloom.load(path).score(X, y) > 0.9)
    True
    """
    path = os.fspath(path)
    require_file(path)
    if core.holds_tasks(path):
        return BEMKLTasks.load(path)
    model = _read(path)
    kind = "numbers" if model.task in ("regression", "multi-regression") else "classes"
    method = _STREAMS.get(model.method, model.method)
    if (method, kind) not in ESTIMATORS:
        raise ValueError(f"{path}: there is no estimator for method {model.method!r} and task {model.task!r}")
    estimator = ESTIMATORS[method, kind]()
    estimator.set_params(**_parameters(estimator, model))
    _restore(estimator, model)
    return estimator


def _read(path):
    try:
        return core.Model.load(path)
    except Exception:
        with open(path, "rb") as file:
            if file.read(1) == b"\x80":   # the first operation of every pickle since 2003
                raise ValueError(f"{path}: this is a pickle, which could run code while it is read; kloom.load reads the files "
                                 f"that save writes") from None
        raise


def _parameters(estimator, model):
    texts = json.loads(model.options_json) if model.options_json else {}
    found = {option.name: option.value_of(texts[option.option]) for option in estimator._options
             if isinstance(texts.get(option.option), str)}
    found["kernels"] = "precomputed" if model.takes_kernels else model.spec
    found["standardise"] = model.standardised
    return found


def _restore(estimator, model):
    estimator._model = model
    estimator._kept = None
    estimator._from_file = True
    estimator._texts = model.text_names
    if model.takes_kernels:
        estimator.n_features_in_ = model.samples
    else:
        names = model.feature_names
        estimator.n_features_in_ = len(names)
        if names != [str(i + 1) for i in range(len(names))]:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    if estimator._task == "numbers":
        estimator._y_columns = None if model.task == "regression" else model.coefficients.shape[1]
    elif model.task == "multilabel":
        estimator.classes_ = np.arange(len(model.classes))
    else:
        estimator.classes_ = _as_written(model.classes)
    estimator._keep_model()


def _as_written(names):
    """Class names as numbers or truth values where all of them are."""
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except ValueError:
            continue
    return np.array(names)
