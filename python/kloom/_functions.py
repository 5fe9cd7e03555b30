# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of other libraries as a step of a pipeline."""
import copy

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from . import _frames as frames
from ._bank import KernelBank
from ._views import Views


class KernelFunctions(TransformerMixin, BaseEstimator):
    """Kernels of other libraries: samples of any kind in, a :class:`KernelBank` out.

    The first step of a pipeline whose last one has ``kernels="precomputed"``. Every kernel may look at a part of X of its own,
    so that one column holds graphs, another texts and the rest numbers.

    Parameters
    ----------
    kernels : dict
        Kernels by name. A kernel is a function ``f(X, Z)`` that returns a matrix (objects of
        ``sklearn.gaussian_process.kernels`` are such functions), a name of ``sklearn.metrics.pairwise.pairwise_kernels``, or
        an object whose ``fit_transform(X)`` and ``transform(Z)`` return matrices of shapes (n, n) and (m, n), as GraKeL's
        are. A pair (kernel, part) looks at a part of X alone: a view of a dict or of :class:`Views`, a column or a list of
        columns of a DataFrame, a slice or a list of columns of an array.
    normalise : bool, default=True
        Divide every kernel by the mean of its diagonal over the training samples, so that weights can be compared.

    Attributes
    ----------
    scales_ : dict
        What each kernel was divided by.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import scale
    >>> from kloom import KernelFunctions, LpMKLClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> kernels = {"smooth": Matern(length_scale=4.0), "tent": "laplacian", "colour": ("rbf", [9, 10])}
    >>> model = make_pipeline(KernelFunctions(kernels), LpMKLClassifier(kernels="precomputed", C=10))
    >>> bool(model.fit(scale(X), y).score(scale(X), y) > 0.95), list(model[-1].kernel_names_)
    (True, ['smooth', 'tent', 'colour'])
    """

    def __init__(self, kernels, normalise=True):
        self.kernels = kernels
        self.normalise = normalise

    def fit(self, X, y=None):
        """Computes the kernels of the training samples.

        Parameters
        ----------
        X : list, dict, Views, DataFrame or array
            Samples; what the kernels make of them is theirs.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Kernels among the training samples.

        Parameters
        ----------
        X, y : as in ``fit``

        Returns
        -------
        kernels : KernelBank of shape (n_samples, n_samples, n_kernels)
        """
        if not isinstance(self.kernels, dict) or not self.kernels:
            raise ValueError("kernels must be a dict of kernels by name, such as {\"tent\": \"laplacian\"}")
        self._makers = {str(name): _Maker(str(name), *_kernel_and_part(kernel)) for name, kernel in self.kernels.items()}
        found = {name: maker.fit_transform(X) for name, maker in self._makers.items()}
        self.scales_ = {name: _mean_diagonal(name, kernel) if self.normalise else 1.0 for name, kernel in found.items()}
        return self._bank(found)

    def transform(self, X):
        """Kernels between new samples and those of training.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        kernels : KernelBank of shape (n_samples, n_training_samples, n_kernels)
        """
        check_is_fitted(self, "scales_")
        return self._bank({name: maker.transform(X) for name, maker in self._makers.items()})

    def _bank(self, found):
        return KernelBank({name: kernel / self.scales_[name] for name, kernel in found.items()})


class _Maker:
    """One kernel: matrices from the part of the samples that it looks at."""

    def __init__(self, name, kernel, part):
        self.name = name
        self.part = part
        self.machine = self.function = None
        if isinstance(kernel, str):
            if kernel not in PAIRWISE_KERNEL_FUNCTIONS:
                raise ValueError(f"kernel {name!r}: scikit-learn has no kernel {kernel!r}; its kernels are "
                                 f"{', '.join(sorted(PAIRWISE_KERNEL_FUNCTIONS))}")
            self.function = _Pairwise(kernel)
        elif hasattr(kernel, "fit_transform") and hasattr(kernel, "transform"):
            self.machine = copy.deepcopy(kernel)   # the user's own stays as it is
        elif callable(kernel):
            self.function = kernel
        else:
            raise ValueError(f"kernel {name!r} must be a function, a name of scikit-learn's or an object with fit_transform and "
                             f"transform; got {kernel!r}")

    def fit_transform(self, X):
        samples = part_of(X, self.part, self.name)
        self.count = len(samples)
        if self.machine is not None:
            return self._checked(self.machine.fit_transform(samples), self.count)
        self.training = samples
        return self._checked(self.function(samples, samples), self.count)

    def transform(self, X):
        samples = part_of(X, self.part, self.name)
        if self.machine is not None:
            return self._checked(self.machine.transform(samples), len(samples))
        return self._checked(self.function(samples, self.training), len(samples))

    def _checked(self, values, rows):
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (rows, self.count):
            raise ValueError(f"kernel {self.name!r} returned an array of shape {values.shape} for {rows} samples and "
                             f"{self.count} training samples; expected {(rows, self.count)}")
        return values


class _Pairwise:
    """A kernel of scikit-learn by its name; a function of a module can be pickled, one made here could not."""

    def __init__(self, name):
        self.name = name

    def __call__(self, X, Z):
        return pairwise_kernels(X, Z, metric=self.name)


def _kernel_and_part(kernel):
    return kernel if isinstance(kernel, tuple) and len(kernel) == 2 else (kernel, None)


def _mean_diagonal(name, kernel):
    mean = float(np.mean(np.diag(kernel)))
    if not mean > 0:
        raise ValueError(f"kernel {name!r} has a diagonal of mean {mean:g} on the training samples; a kernel's is above 0 "
                         f"(is it a distance?)")
    return mean


def part_of(X, part, kernel):
    """What a kernel looks at."""
    if part is None:
        return X
    if isinstance(X, Views):
        return _view_of(X, part, kernel)
    if isinstance(X, dict):
        if part not in X:
            raise ValueError(f"kernel {kernel!r} looks at {part!r}, which X does not have; it has {', '.join(map(str, X))}")
        return X[part]
    if frames.is_frame(X):
        columns = [part] if isinstance(part, str) else list(part)
        missing = [column for column in columns if column not in X.columns]
        if missing:
            raise ValueError(f"kernel {kernel!r} looks at the column {missing[0]!r}, which X does not have")
        if isinstance(part, str) and _holds_objects(X[part]):
            return list(X[part])
        return X[columns].to_numpy(dtype=np.float64)
    if isinstance(part, str):
        raise ValueError(f"kernel {kernel!r} looks at {part!r}, but X is an array; its columns have numbers")
    return np.asarray(X)[:, part]


def _holds_objects(column):
    """Graphs, texts, series: one object for each sample. Texts have a dtype of their own ("str", "string[pyarrow]") from pandas 3
    on, and in polars."""
    return str(column.dtype).lower().startswith(("object", "str"))


def _view_of(X, part, kernel):
    if X.tables.get(part) is None:
        raise ValueError(f"kernel {kernel!r} looks at the view {part!r}, which X does not have; it has {', '.join(X.tables)}")
    lacking = int((~X.present[part]).sum())
    if lacking:
        raise ValueError(f"{lacking} samples lack the view {part!r}, which kernel {kernel!r} needs; kernels of other libraries "
                         f"cannot be computed for them")
    return np.column_stack(X.tables[part].columns)
