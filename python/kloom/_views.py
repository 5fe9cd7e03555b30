# SPDX-License-Identifier: BSD-3-Clause
"""Samples described by several views: a dict or list of arrays and data frames, of which a sample may lack some."""
import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_y, check_consistent_length

from . import _frames as frames


class Views:
    """Several descriptions of the same samples, in an object that pipelines and cross-validation can cut rows from.

    Parameters
    ----------
    views : dict, list, AnnData or MuData
        One array, sparse matrix or data frame of shape (n_samples, n_features) for each view. A sample that lacks a view has
        a row of NaN there, or None in a list of rows; None instead of an array is a view that no sample has. Of AnnData the
        views are the entries of ``obsm``, or ``X`` where there are none; of MuData every modality's ``X``, which samples
        lack that the modality does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import Views
    >>> X = Views({"rna": np.ones((4, 3)), "clinical": [[1.0, 2.0], None, [0.5, 1.0], [2.0, 2.0]]})
    >>> X.shape, X[[0, 1]].present["clinical"]
    ((4, 5), array([ True, False]))
    """

    def __init__(self, views):
        if is_annotated(views):
            views = annotated_views(views)
        named = views.items() if hasattr(views, "items") else ((str(place + 1), view) for place, view in enumerate(views))
        self.tables = {str(name): read_view(str(name), view) for name, view in named}
        counts = {name: len(table) for name, table in self.tables.items() if table is not None}
        if not counts:
            raise ValueError("no view has any samples; give at least one array or data frame")
        if len(set(counts.values())) > 1:
            raise ValueError("the views have different numbers of samples ("
                             + ", ".join(f"{name}: {count}" for name, count in counts.items())
                             + "); a sample that lacks a view has a row of NaN, or None, there")

    def __len__(self):
        return next(len(table) for table in self.tables.values() if table is not None)

    @property
    def shape(self):
        return len(self), sum(table.shape[1] for table in self.tables.values() if table is not None)

    @property
    def ndim(self):
        return 2

    def __getitem__(self, rows):
        part = Views.__new__(Views)
        part.tables = {name: None if table is None else table[rows] for name, table in self.tables.items()}
        return part

    @property
    def present(self):
        """Whether each sample has anything in each view, as a dict of arrays of truth values."""
        return {name: np.zeros(len(self), dtype=bool) if table is None
                else np.any([has_value(column) for column in table.columns], axis=0)
                for name, table in self.tables.items()}

    def table(self):
        """All columns side by side, called view.column."""
        names, columns, categories, views = [], [], [], []
        for view, table in self.tables.items():
            if table is None:
                continue
            views.append((view, list(range(len(names), len(names) + len(table.names)))))
            names += [f"{view}.{name}" for name in table.names]
            columns += table.columns
            categories += [f"{view}.{name}" for name in table.categories]
        whole = frames.Table(names, columns, categories)
        whole.views = views
        return whole


def has_value(column):
    return ~np.isnan(column) if column.dtype == np.float64 else column != ""


def is_views(X):
    """Whether X is several views and not one array: a list of numbers or of rows is an array."""
    if isinstance(X, Views) or is_annotated(X):
        return True
    if isinstance(X, dict):
        return not sparse.issparse(X)   # some sparse matrices are dicts of their entries
    return (isinstance(X, (list, tuple)) and any(is_block(one) for one in X)
            and all(one is None or is_block(one) for one in X))


def is_annotated(X):
    """Whether X is of AnnData's kind, by what it has: the package need not be there."""
    return hasattr(X, "obsm") and hasattr(X, "obs_names")


def annotated_views(data):
    """The views of an AnnData or MuData object."""
    if not hasattr(data, "mod"):
        count = len(data.obs_names)
        return dict(data.obsm) or {"X": table_of(data, range(count), count)}
    place = {name: row for row, name in enumerate(data.obs_names)}
    return {name: table_of(part, [place[sample] for sample in part.obs_names], len(place)) for name, part in data.mod.items()}


def table_of(data, rows, samples):
    """X of an AnnData object, its rows at these places among so many; the others are absent."""
    if data.X is None:
        raise ValueError("an AnnData object without X was given as a view; give the views as a dict of arrays")
    values = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    whole = np.full((samples, values.shape[1]), np.nan)
    whole[rows] = values
    return frames.Table([str(name) for name in data.var_names], [np.ascontiguousarray(column) for column in whole.T])


def is_block(view):
    return frames.is_frame(view) or sparse.issparse(view) or (isinstance(view, np.ndarray) and view.ndim == 2)


def read_view(name, view):
    """One view as a table; None where no sample has it."""
    if view is None or isinstance(view, frames.Table):
        return view
    if frames.is_frame(view):
        return frames.read_frame(view, [str(column) for column in view.columns])
    if sparse.issparse(view):
        view = view.toarray()
    if isinstance(view, (list, tuple)):
        view = with_gaps(name, view)
    view = np.asarray(view, dtype=np.float64)
    if view.ndim != 2:
        raise ValueError(f"view {name!r} has {view.ndim} dimensions; give samples by features")
    return frames.Table(frames.numbered(view.shape[1]), [np.ascontiguousarray(column) for column in view.T])


def with_gaps(name, rows):
    """A list of rows, None for samples that lack the view."""
    width = next((len(row) for row in rows if row is not None), None)
    if width is None:
        raise ValueError(f"every row of view {name!r} is None; give None instead of the list")
    return [[np.nan] * width if row is None else row for row in rows]


def read_training(estimator, X, y, least):
    """Views and targets of fit as a Table; sets n_features_in_ and feature_names_in_."""
    X = X if isinstance(X, Views) else Views(X)
    if estimator.views is not None:
        raise ValueError("views is for columns of one array; X has views of its own")
    frames.require_samples(estimator, X, least)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = _check_y(y, multi_output=True, estimator=estimator)
    table = X.table()
    estimator.feature_names_in_ = np.array(table.names, dtype=object)
    estimator.n_features_in_ = len(table.names)
    check_consistent_length(table, y)
    return table, y


def read_new(estimator, X):
    """New samples of an estimator that was fitted on views."""
    X = X if isinstance(X, Views) else Views(X)
    frames.require_samples(estimator, X, 1)
    return X.table()
