# SPDX-License-Identifier: BSD-3-Clause
"""Several numbers that share a random function for each kernel."""
from ._options import learns
from ._tasks import UncertainRegressor


@learns("mtmkl")
class MTMKLRegressor(UncertainRegressor):
    """Several numbers that share a random function for each kernel, with weights that are 0 or not: spike and slab [1]_.

    The outputs help each other to find the functions, and every output has its own probability of using each kernel.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Shares of what the kernels are expected to add to an output's squares.
    inclusion_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Probability that the output uses the kernel.
    noise_variance_ : array of shape (n_outputs,)
        Variance of the noise, as a part of the output's.
    kernel_names_ : array of str
        What the kernels are.
    lower_bound_ : float
        Lower bound on the log evidence that was reached.
    n_iter_ : int
        Passes over all factors, of the start that led to the highest bound.
    report_ : dict
        What happened: status, trace, timings, options.

    See Also
    --------
    BEMKLRegressor : Outputs share kernel weights, each with a function of its own.
    MKRRegressor : Thousands of outputs, each with kernel weights of its own.

    References
    ----------
    .. [1] M. K. Titsias, M. Lázaro-Gredilla, Spike and slab variational inference for multi-task and multiple kernel learning,
       NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import MTMKLRegressor
    >>> X = np.random.RandomState(0).normal(size=(60, 3))
    >>> Y = np.column_stack([np.sin(X[:, 0]), np.sin(X[:, 0]) - X[:, 1]])
    >>> reg = MTMKLRegressor(kernels="rbf(width=1) on each").fit(X, Y)
    >>> mean, std = reg.predict(X, return_std=True)
    >>> mean.shape, std.shape, (reg.inclusion_ > 0.5).tolist()
    ((60, 2), (60, 2), [[True, False, False], [True, True, False]])
    """

    _several = True

    @property
    def inclusion_(self):
        inclusion = self._model.inclusion
        return inclusion[0] if self._y_columns is None else inclusion

    @property
    def noise_variance_(self):
        return self._model.noise

    @property
    def lower_bound_(self):
        return self.objective_
