# SPDX-License-Identifier: BSD-3-Clause
"""Tables whose columns have names (pandas, polars): every column as numbers or as texts, the way a CSV file would have it.
What becomes of a column is decided by the library, by the rules of the command line (docs/guide/columns.md)."""
import numbers
import warnings
from collections import Counter

import numpy as np
from sklearn.utils.validation import _check_y, _get_feature_names, check_array, check_consistent_length

from ._compat import allow_nan
from ._load import core

GAPS = ("NAType", "NaTType")   # pandas' own marks of missing values


def is_frame(X):
    return hasattr(X, "columns") and hasattr(X, "__getitem__") and not hasattr(X, "compute")


class Table:
    """Columns in their order: arrays of float64 with NaN for gaps, or arrays of str with "" for gaps."""

    def __init__(self, names, columns, categories=()):
        self.names = names
        self.columns = columns
        self.categories = list(categories)   # names of columns that the frame declares to be categories
        self.views = None   # [(name, indices)] where the columns came as several views

    def __len__(self):
        return len(self.columns[0]) if self.columns else 0

    @property
    def shape(self):
        return len(self), len(self.names)

    def __getitem__(self, rows):
        part = Table(self.names, [column[rows] for column in self.columns], self.categories)
        part.views = self.views
        return part

    def dataset(self, text, views=None, training=False):
        """`text`: columns to take as text even where they look like numbers; `views`: as the estimator has them."""
        given = [core.ViewRequest(name, [self.names[i] for i in chosen]) for name, chosen in views or ()]
        columns = [(name, values if values.dtype == np.float64 else values.tolist())
                   for name, values in zip(self.names, self.columns)]
        return core.Dataset.of_table(columns, len(self), given, views is None and training, list(text), training)


def read_column(name, values):
    """One column of a frame."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind == "m":
        return np.where(np.isnat(array), np.nan, array / np.timedelta64(1, "s")).astype(np.float64)
    if array.dtype.kind == "M":
        return np.where(np.isnat(array), "", np.datetime_as_string(array, unit="s")).astype(object)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} holds complex numbers; give their parts as columns")
    cells = array.astype(object)
    gaps = np.array([is_gap(cell) for cell in cells], dtype=bool)
    if all(is_number(cell) for cell in cells[~gaps]):
        return np.array([np.nan if gap else float(cell) for gap, cell in zip(gaps, cells)], dtype=np.float64)
    result = np.empty(len(cells), dtype=object)
    result[:] = ["" if gap else text_of(name, cell) for gap, cell in zip(gaps, cells)]
    return result


def is_gap(cell):
    return cell is None or type(cell).__name__ in GAPS or (isinstance(cell, (float, np.floating)) and cell != cell)


def is_number(cell):
    return isinstance(cell, numbers.Real) and not isinstance(cell, (bool, np.bool_))


def text_of(name, cell):
    """The cell as a CSV file would have it."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        return cell.strip(" \t")
    if hasattr(cell, "__len__"):
        raise ValueError(f"column {name!r} holds a {type(cell).__name__}; cells must be numbers, texts, truth values or dates. "
                         f"Make columns of it, or leave it out: X.drop(columns={name!r})")
    return str(cell)


def is_category(values):
    return str(getattr(values, "dtype", "")).lower().startswith(("categor", "enum"))


def names_of(X):
    """Names of the columns of a frame, None where they are numbers. From 1.9 on scikit-learn asks only frames of libraries that it
    knows; what is wrong with names of several kinds it says itself."""
    names = list(X.columns)
    return np.array(names, dtype=object) if all(isinstance(name, str) for name in names) else _get_feature_names(X)


def read_frame(X, names, wanted=None):
    """The columns `wanted` (all, where None) of a frame under the given names."""
    listed = list(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"two columns of X are called {twice!r}; rename one of them")
    chosen, columns, categories = [], [], []
    for name, own in zip(names, listed):
        if wanted is not None and name not in wanted:
            continue
        values = X[own]
        chosen.append(name)
        columns.append(read_column(name, values))
        if is_category(values):
            categories.append(name)
    return Table(chosen, columns, categories)


def numbered(count):
    """Names of columns that have none, as the command line names those of an NPY file."""
    return [str(place + 1) for place in range(count)]


def require_samples(estimator, X, least):
    rows, columns = X.shape
    if rows < least:
        raise ValueError(f"Found array with {rows} sample(s) (shape={(rows, columns)}) while a minimum of {least} is required "
                         f"by {type(estimator).__name__}.")
    if columns < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={(rows, columns)}) while a minimum of 1 is required "
                         f"by {type(estimator).__name__}.")


def read_training(estimator, X, y, least=2):
    """A frame and its targets; sets n_features_in_ and feature_names_in_."""
    require_samples(estimator, X, least)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = _check_y(y, multi_output=True, estimator=estimator)
    names = names_of(X)
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = X.shape[1]
    table = read_frame(X, numbered(X.shape[1]) if names is None else list(names))
    check_consistent_length(table, y)
    for option in ("keep", "text"):
        require_columns(table, option, named(getattr(estimator, option)))
    return table, y


def named(columns):
    return [] if columns is None else [str(name) for name in columns]


def require_columns(table, option, names):
    for name in names:
        if name not in table.names:
            raise ValueError(f"{option} names the column {name!r}, which X does not have; its columns are "
                             f"{', '.join(table.names[:10])}{', ...' if len(table.names) > 10 else ''}")


def read_new(estimator, X):
    """New samples for an estimator that was fitted on a frame: columns by name, in any order, more or fewer of them; without
    names by their places. The library says what is missing."""
    known = getattr(estimator, "feature_names_in_", None)
    names = names_of(X) if is_frame(X) else None
    if known is not None and names is not None:
        require_samples(estimator, X, 1)
        return read_frame(X, list(names), set(known))
    if known is not None:
        warnings.warn(f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names",
                      UserWarning, stacklevel=5)
    elif names is not None:
        warnings.warn(f"X has feature names, but {type(estimator).__name__} was fitted without feature names", UserWarning,
                      stacklevel=5)
    if not is_frame(X):
        X = check_array(X, dtype=None, **allow_nan())
    require_samples(estimator, X, 1)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
                         f"{estimator.n_features_in_} features as input.")
    names = numbered(X.shape[1]) if known is None else list(known)
    if is_frame(X):
        return read_frame(X, names)
    return Table(names, [read_column(name, X[:, place]) for place, name in enumerate(names)])


def recipe_request(estimator, table, spec):
    request = core.RecipeRequest()
    request.spec = spec
    request.standardise = estimator.standardise
    request.normalise = estimator.normalise
    request.keep = named(estimator.keep)
    request.text = named(estimator.text)
    request.categories = [name for name in table.categories if name not in request.text]
    return request


def decisions(names, found):
    """What was decided about every column, in the order of the frame."""
    by_name = {one["name"]: one for one in found}
    left = {"kind": "id", "treatment": "sample ids", "reason": "its name says that it names the samples", "used": False,
            "missing": 0, "view": ""}
    return [by_name.get(name, {"name": name, **left}) for name in names]


def warn_of_surprises(estimator, table, data, stacklevel):
    """One warning for every column with categories that training never saw, and one for gaps in columns that had none in
    training; gaps elsewhere are what the model was trained for."""
    model = estimator._model
    gaps = {name for name, values in zip(table.names, table.columns)
            if values.dtype == np.float64 and np.isnan(values).any()}
    expected = {one["name"] for one in model.decisions if one["missing"] > 0}
    for sentence in model.surprises(data):
        if not sentence.startswith("Missing values") or gaps - expected:
            warnings.warn(sentence, UserWarning, stacklevel=stacklevel)
