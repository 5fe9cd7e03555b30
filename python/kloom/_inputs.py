# SPDX-License-Identifier: BSD-3-Clause
"""What users give as X, in the form that the library takes: features (a Dataset) or kernel matrices (a Bank)."""
import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _frames as frames
from . import _views as several
from ._bank import as_bank, dataset_of_kernels
from ._compat import allow_nan, validate_data
from ._kernels import Kernels
from ._load import core


def is_precomputed(kernels):
    return isinstance(kernels, str) and kernels.strip() == "precomputed"


def functions_of(kernels):
    """Callable kernels as a list, None where the kernels are something else."""
    if callable(kernels):
        return [kernels]
    if isinstance(kernels, (list, tuple)) and kernels and all(callable(one) for one in kernels):
        return list(kernels)
    return None


def spec_of(kernels):
    """The kernel spec; empty: the library chooses."""
    if kernels is None:
        return ""
    if isinstance(kernels, (str, Kernels)):
        return str(kernels)
    raise ValueError(
        f"kernels must be a kernel spec, an object such as rbf(width=1) + linear(), a callable, a list of callables, "
        f"'precomputed' or None. Got {kernels!r} instead.")


def read_features(estimator, X, reset, **options):
    """X as a dense float64 matrix; sets or checks n_features_in_ and feature_names_in_."""
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, **options)
    X, rest = (X[0], X[1:]) if isinstance(X, tuple) else (X, ())
    return (X.toarray() if sparse.issparse(X) else X, *rest)


def feature_names(estimator):
    """Names of the columns: the DataFrame's, else numbers from 1 on, as the command line names those of an NPY file."""
    names = getattr(estimator, "feature_names_in_", None)
    return [str(i + 1) for i in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def view_columns(views, names):
    """[(name, indices)] of views given as slices, indices, masks or column names."""
    result = []
    for view, columns in (views or {}).items():
        chosen = _columns_of(view, columns, names)
        if len(chosen) == 0:
            raise ValueError(f"view {view!r} has no columns")
        result.append((str(view), [int(column) for column in chosen]))
    return result


def _columns_of(view, columns, names):
    every = np.arange(len(names))
    if isinstance(columns, slice):
        return every[columns]
    if np.ndim(columns) == 0:
        columns = [columns]
    if any(isinstance(column, str) for column in columns):
        missing = [column for column in columns if column not in names]
        if missing:
            raise ValueError(f"view {view!r} names the column {missing[0]!r}, which X does not have; its columns "
                             f"are {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")
        return np.array([names.index(column) for column in columns])
    columns = np.asarray(columns)
    if columns.size == 0:
        return columns
    if columns.dtype == bool and len(columns) != len(names):
        raise ValueError(f"view {view!r} is a mask of {len(columns)} entries, but X has {len(names)} columns")
    if columns.dtype != bool and not np.issubdtype(columns.dtype, np.integer):
        raise ValueError(f"view {view!r} must be a slice, a mask, numbers or names of columns; got {columns.tolist()!r}")
    if columns.dtype != bool and not np.isin(columns, [*every, *(every - len(names))]).all():
        raise ValueError(f"view {view!r} asks for the columns {columns.tolist()}, but X has {len(names)} columns, 0 to "
                         f"{len(names) - 1}")
    return every[columns]


def read_training(estimator, X, y, least=2, **options):
    """X and y of fit: a Table where X has columns with names and dtypes, else a matrix; sets n_features_in_ and
    feature_names_in_."""
    if several.is_views(X) and functions_of(estimator.kernels) is None:
        estimator._by_name = True
        return several.read_training(estimator, X, y, least)
    estimator._by_name = frames.is_frame(X) and functions_of(estimator.kernels) is None
    if estimator._by_name:
        return frames.read_training(estimator, X, y, least)
    return read_features(estimator, X, reset=True, y=y, ensure_min_samples=least, **options)


def make_dataset(estimator, X):
    """The Dataset of training samples."""
    names = feature_names(estimator)
    if isinstance(X, frames.Table):
        views = X.views if estimator.views is None else view_columns(estimator.views, names)
        return X.dataset([*frames.named(estimator.text), *X.categories], views, training=True)
    return core.Dataset(X, names, view_columns(estimator.views, names))


def fit_recipe(estimator, data, X, spec, settings, targets=None):
    if isinstance(X, frames.Table):
        return core.Recipe.fit_table(data, frames.recipe_request(estimator, X, spec), settings)
    return core.Recipe.fit(data, spec, estimator.standardise, estimator.normalise, False, settings, targets,
                           getattr(estimator, "_method", ""))


def kernel_stack(functions, X, Z):
    """(P, len(X), len(Z)): every function on all pairs."""
    stack = np.empty((len(functions), len(X), len(Z)))
    for p, function in enumerate(functions):
        values = np.asarray(function(X, Z), dtype=np.float64)
        if values.shape != stack.shape[1:]:
            raise ValueError(f"kernel {function_name(function)} returned an array of shape {values.shape} for {len(X)} "
                             f"and {len(Z)} samples; expected {stack.shape[1:]}")
        stack[p] = values
    return stack


def function_name(function):
    return getattr(function, "__name__", type(function).__name__)


def function_names(functions):
    names = [function_name(function) for function in functions]
    return [name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names)]


def new_samples(estimator, X):
    """X for prediction: a Dataset or a Bank."""
    check_is_fitted(estimator)
    model = estimator._model
    if is_precomputed(estimator.kernels):
        return _new_kernels(estimator, model, as_bank(X))
    if several.is_views(X) and functions_of(estimator.kernels) is None:
        return _named_columns(estimator, several.read_new(estimator, X))
    if getattr(estimator, "_from_file", False):
        return _for_file_model(estimator, X)
    if getattr(estimator, "_by_name", False):
        return _named_columns(estimator, frames.read_new(estimator, X))
    X = read_features(estimator, X, reset=False)[0]
    functions = functions_of(estimator.kernels)
    if functions is not None:
        stack = kernel_stack(functions, X, estimator._fit_X)
        return dataset_of_kernels(stack, function_names(functions))
    return core.Dataset(X, feature_names(estimator))


def _named_columns(estimator, table):
    data = table.dataset(estimator._model.text_names)
    frames.warn_of_surprises(estimator, table, data, stacklevel=5)
    return data


def _for_file_model(estimator, X):
    """For a model from a file: columns of a DataFrame are found by name, in any order."""
    model = estimator._model
    if frames.is_frame(X):
        frames.require_samples(estimator, X, 1)
        return _named_columns(estimator, frames.read_frame(X, [str(name) for name in X.columns]))
    if model.text_names:
        raise ValueError(f"the model reads the text columns {', '.join(model.text_names)}; give X as a DataFrame that has them")
    options = allow_nan() if model.imputes else {}
    return core.Dataset(read_features(estimator, X, reset=False, **options)[0], model.feature_names)


def _new_kernels(estimator, model, bank):
    expected = estimator.n_features_in_
    if bank.shape[1] != expected:
        raise ValueError(f"X has {bank.shape[1]} features, but {type(estimator).__name__} is expecting {expected} "
                         f"features as input: one column of each kernel for every training sample")
    if bank.shape[2] != len(model.kernel_names):
        raise ValueError(f"X holds {bank.shape[2]} kernels, but the model was trained with {len(model.kernel_names)}")
    if estimator._kept is not None:
        bank = bank[:, estimator._kept]
    return dataset_of_kernels(bank.stack(), bank.names)
