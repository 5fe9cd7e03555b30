# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are given as matrices."""
import numpy as np

from ._load import core
from ._words import python_words


def require_file(path):
    """Raises what Python raises for a file that cannot be opened (FileNotFoundError, PermissionError, ...)."""
    with open(path, "rb"):
        pass


def _numbered(count):
    return [f"kernel {p + 1}" for p in range(count)]


def _as_indices(key, size):
    """A row or column indexer (slice, mask, integers) as an array of indices; None for all."""
    if isinstance(key, slice):
        if key == slice(None):
            return None
        return np.arange(size)[key]
    key = np.asarray(key)
    if key.dtype == bool:
        if key.size != size:
            raise IndexError(f"a mask of {key.size} entries for {size} samples")
        return np.flatnonzero(key)
    if not np.issubdtype(key.dtype, np.integer):
        raise IndexError(f"samples are chosen by integers, masks and slices, not by {key.dtype}")
    key = np.atleast_1d(key.reshape(-1))
    if key.size and (key.min() < -size or key.max() >= size):
        raise IndexError(f"index {key.min() if key.min() < -size else key.max()} is outside the {size} samples")
    return np.where(key < 0, key + size, key)


def _compose(before, after):
    """Indices `after` into what `before` chose."""
    if after is None:
        return before
    return after if before is None else before[after]


PART = 100   # samples that refuse_indefinite looks at


class KernelBank:
    """P kernel matrices between the same samples, with the shape (rows, columns, P).

    Choosing samples (``bank[rows]``, ``bank[np.ix_(rows, columns)]``) gives another bank that looks at the same memory,
    which is what scikit-learn's cross-validation does with an estimator whose ``kernels`` are ``"precomputed"``.

    Parameters
    ----------
    kernels : list of (n, m) arrays, dict of them by name, or (n, m, P) array
        A dictionary's keys become the names. An (n, m, P) array whose kernels are contiguous (made by
        ``np.moveaxis(stack, 0, 2)`` from a (P, n, m) array) is not copied.
    names : list of str or None, default=None
        Names of the kernels, for reports and plots.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
    >>> from kloom import KernelBank
    >>> X = np.arange(12.0).reshape(4, 3)
    >>> bank = KernelBank({"line": linear_kernel(X), "bell": rbf_kernel(X)})
    >>> bank.shape
    (4, 4, 2)
    >>> bank[np.ix_([0, 2, 3], [0, 2, 3])].shape
    (3, 3, 2)
    """

    ndim = 3
    dtype = np.dtype(np.float64)

    def __init__(self, kernels, names=None):
        if isinstance(kernels, dict):
            names = list(kernels) if names is None else names
            kernels = list(kernels.values())
        if isinstance(kernels, (list, tuple)):
            stack = _stack_of(kernels)
        else:
            cube = np.asarray(kernels, dtype=np.float64)
            if cube.ndim != 3:
                raise ValueError(
                    f"kernels must be an array of shape (n, m, P) or a list of (n, m) arrays; got an array of shape "
                    f"{cube.shape}. Use KernelBank([K]) for a single kernel.")
            stack = np.moveaxis(cube, 2, 0)
        if stack.shape[0] == 0:
            raise ValueError("a kernel bank needs at least one kernel; none was given")
        self._stack = stack
        self._source = None
        self._rows = self._columns = None
        self.names = _numbered(stack.shape[0]) if names is None else [str(name) for name in names]
        if len(self.names) != stack.shape[0]:
            raise ValueError(f"{len(self.names)} names were given for {stack.shape[0]} kernels")

    @classmethod
    def load(cls, path):
        """The bank in a file that ``save`` or ``kloom kernels build`` wrote; it is mapped, not read.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        bank : KernelBank
            The bank.
        """
        require_file(path)
        bank = cls.__new__(cls)
        bank._source = core.Bank.load(str(path))
        bank._stack = None
        bank._rows = bank._columns = None
        bank.names = list(bank._source.names)
        return bank

    def save(self, path):
        """Write the bank to a file that ``KernelBank.load`` and the command line read.

        A square bank is one of training samples. Where rounding made entries differ from their mirror images, the file has the
        mean of both.

        Parameters
        ----------
        path : str or path-like
            The file; an old one is replaced.

        Returns
        -------
        self : KernelBank
            The bank.
        """
        self._to_core(self.shape[0] == self.shape[1]).save(str(path), core.Settings())
        return self

    def checked(self, clip_spectrum=False):
        """The bank of training samples after the checks of ``kloom train --kernel-file``: finite, symmetric, no negative
        eigenvalue. It computes the eigenvalues of every kernel; ``fit`` alone looks at a part of each.

        Parameters
        ----------
        clip_spectrum : bool, default=False
            Drop the part of a kernel that belongs to negative eigenvalues, instead of raising.

        Returns
        -------
        bank : KernelBank
            The kernels, exactly symmetric.
        """
        data = dataset_of_kernels(self.stack(), self.names)
        with python_words():
            recipe = core.Recipe.fit(data, "precomputed", False, "none", clip_spectrum, core.Settings())
        kernels = recipe.training_bank().panels(0, len(self.names), 0, self.shape[0])
        return KernelBank(np.moveaxis(kernels, 0, 2), self.names)

    @property
    def shape(self):
        rows, columns = self._whole_shape()
        return (rows if self._rows is None else len(self._rows),
                columns if self._columns is None else len(self._columns), len(self.names))

    def _whole_shape(self):
        if self._source is not None:
            return self._source.rows, self._source.cols
        return self._stack.shape[1:]

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return "KernelBank of {2} kernels, {0} x {1} samples".format(*self.shape)

    def __getitem__(self, key):
        rows, columns = key[:2] if isinstance(key, tuple) else (key, slice(None))
        if isinstance(key, tuple) and len(key) == 3 and key[2] != slice(None):
            raise IndexError("a bank is cut by samples; choose kernels when you make it")
        chosen = KernelBank.__new__(KernelBank)
        chosen._source, chosen._stack, chosen.names = self._source, self._stack, self.names
        chosen._rows = _compose(self._rows, _as_indices(rows, self.shape[0]))
        chosen._columns = _compose(self._columns, _as_indices(columns, self.shape[1]))
        return chosen

    def _kernel(self, p):
        whole = self._stack[p] if self._source is None else self._source.panels(p, p + 1, 0, self._source.rows)[0]
        if self._rows is not None:
            whole = whole[self._rows]
        return whole if self._columns is None else whole[:, self._columns]

    def stack(self):
        """The entries as a contiguous (P, rows, columns) array; the bank's own memory where it is one."""
        if self._source is None and self._rows is None and self._columns is None:
            return np.ascontiguousarray(self._stack)
        entries = np.empty((len(self.names), *self.shape[:2]))
        for p in range(len(self.names)):
            entries[p] = self._kernel(p)
        return entries

    def _to_core(self, symmetric):
        # The bank as the library sees it.
        if self._source is not None and self._rows is None and self._columns is None:
            if self._source.symmetric == symmetric:
                return self._source
        return core.Bank.from_stack(self.stack(), self.names, symmetric)

    def __array__(self, dtype=None, copy=None):
        cube = np.moveaxis(self.stack(), 0, 2)
        return cube if dtype is None else cube.astype(dtype)

    def __reduce__(self):
        return KernelBank, (np.moveaxis(self.stack(), 0, 2), self.names)


def dataset_of_kernels(stack, names):
    """Kernels (P, rows, columns) as the library has them from files: whoever gives them, predictions have the same bits."""
    data = core.Dataset(np.empty((stack.shape[1], 0)), [])
    for name, kernel in zip(names, stack):
        data.add_kernel(name, kernel)
    return data


def refuse_indefinite(bank):
    """Raises where a kernel of the library's bank is shown to have a negative eigenvalue.

    The smallest eigenvalue of a part (some samples against themselves) is not below that of the whole, so a part can prove the
    matter and costs little; KernelBank.checked looks at the whole. Typical: distances were given. The tolerance is for
    kernels that were computed in single precision.
    """
    size = min(bank.rows, PART)
    for p, name in enumerate(bank.names):
        part = bank.panels(p, p + 1, 0, size)[0, :, :size]
        slack = 1e-6 * np.abs(np.diag(part)).max() * size
        try:
            np.linalg.cholesky(part + (slack + np.finfo(float).tiny) * np.eye(size))
        except np.linalg.LinAlgError:
            values = np.linalg.eigvalsh(part)
            raise ValueError(
                f"kernel {name!r} is not positive semidefinite: among its first {size} samples the smallest eigenvalue is "
                f"{values[0]:.6g}, the largest {values[-1]:.6g}. If it holds distances D, a kernel of them is "
                f"np.exp(-D / D.mean()); KernelBank.checked(clip_spectrum=True) drops the negative part of a kernel") from None


def _stack_of(kernels):
    matrices = [np.asarray(kernel, dtype=np.float64) for kernel in kernels]
    for p, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise ValueError(f"kernel {p + 1} of the list has the shape {matrix.shape}; a kernel is a matrix, samples by samples")
        if matrix.shape != matrices[0].shape:
            raise ValueError(f"kernel {p + 1} of the list has the shape {matrix.shape}; all kernels must be matrices of "
                             f"one shape, the first has {matrices[0].shape}")
    return np.stack(matrices) if matrices else np.empty((0, 0, 0))


def as_bank(X, name="X"):
    """Whatever a user gives with kernels="precomputed"."""
    if isinstance(X, KernelBank):
        return X
    if isinstance(X, (list, tuple, dict)) or getattr(X, "ndim", None) == 3:
        return KernelBank(X)
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        raise ValueError(f"{name} has the shape {tuple(shape)}, but kernels='precomputed' needs an array of shape "
                         f"(n, n, P), a KernelBank or a list of matrices; for one kernel K give KernelBank([K])")
    got = type(X).__name__ if shape is None else f"an array of shape {tuple(shape)}"
    raise ValueError(f"kernels='precomputed' needs {name} as an array of shape (n, n, P), a KernelBank or a list of "
                     f"matrices; got {got}")
