# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines on products of kernels."""
from ._margin import _MarginClassifier
from ._options import learns
from ._tasks import KernelRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Exponents of the kernels; 0: the kernel has no part in the product.
    kernel_names_ : array of str
        What the kernels are.
    objective_ : float
        Primal objective, the regulariser included.
    dual_coef_ : array of shape (n_samples, n_outputs)
        Coefficients of the training samples.
    intercept_ : array of shape (n_outputs,)
        Biases.
    n_iter_ : int
        Steps of the exponents.
    report_ : dict
        What happened: status, trace, timings, options."""


@learns("gmkl", attributes=_ATTRIBUTES)
class GMKLClassifier(_MarginClassifier):
    """Generalised multiple kernel learning for classes: a product of powers of kernels, and a machine on it [1]_.

    With a Gaussian kernel on every column that is one Gaussian with a width for each column. Kernels must be above 0
    everywhere, so name them: ``kernels="rbf(width=1) on each"``.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SimpleMKLClassifier : A sum of kernels, with a proof of optimality.

    References
    ----------
    .. [1] M. Varma, B. R. Babu, More generality in efficient multiple kernel learning, ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import GMKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> clf = GMKLClassifier(kernels="rbf(width=1) on each", C=10).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> bool(clf.kernel_weights_[:2].min() > clf.kernel_weights_[2:].max())
    True
    """


@learns("gmkl", attributes=_ATTRIBUTES)
class GMKLRegressor(KernelRegressor):
    """Generalised multiple kernel learning for numbers: a product of powers of kernels, and epsilon-regression on it.

    {parameters}

    {attributes}

    See Also
    --------
    GMKLClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import GMKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> reg = GMKLRegressor(kernels="rbf(width=1) on each", C=10).fit(X, np.sin(2 * X[:, 0]) + X[:, 1])
    >>> bool(reg.kernel_weights_[:2].min() > reg.kernel_weights_[2:].max())
    True
    """
