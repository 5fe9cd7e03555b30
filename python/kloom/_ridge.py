# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression on weighted sums of kernels."""
import numpy as np

from ._base import copies_differ
from ._options import learns
from ._tasks import UncertainRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Kernel weights, of every target by itself.
    kernel_names_ : array of str
        What the kernels are.
    dual_coef_ : array of shape (n_samples, n_outputs)
        Coefficients of the training samples.
    intercept_ : array of shape (n_outputs,)
        Means of the targets.
    report_ : dict
        What happened: timings, options, and where there are up to 50 targets the strength and the leave-one-out R2 of each."""


@learns("mkr", attributes=_ATTRIBUTES)
class MKRRegressor(UncertainRegressor):
    """Multiple-kernel ridge regression: every target has kernel weights of its own, of least leave-one-out error [1]_.

    A y of thousands of columns costs little more than one of a few.

    {parameters}

    {attributes}

    See Also
    --------
    GPMKLRegressor : Weights by the evidence, with standard deviations.

    References
    ----------
    .. [1] T. Dupré la Tour, M. Eickenberg, A. O. Nunez-Elizalde, J. L. Gallant, Feature-space selection with banded ridge
       regression, NeuroImage 264, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import MKRRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> Y = np.column_stack([np.sin(X[:, 0]), X[:, 0]])
    >>> reg = MKRRegressor(kernels="rbf(width=1); linear", draws=20, random_state=0).fit(X, Y)
    >>> reg.kernel_weights_.shape, bool(reg.score(X, Y) > 0.99)
    ((2, 2), True)
    """

    _several = True
    _expected_failures = copies_differ("weights are chosen by leaving one sample out, and its copy stays")

    def score_by_kernel(self, X, y):
        """What each kernel contributes to R², its product measure.

        With r = y less the training mean and f the sum of what the kernels add (`contributions`), kernel m has
        sum(f_m (2r - f)) / sum(r²). The numbers of all kernels add up to 1 - sum((r - f)²) / sum(r²).

        Parameters
        ----------
        X, y : as in ``fit``
            Samples to judge by.

        Returns
        -------
        shares : array of shape (n_kernels,) or (n_outputs, n_kernels)
            Below 0 where a kernel does harm.
        """
        y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        parts = np.asarray(self.contributions(X)).reshape(len(y), y.shape[1], -1)
        residual = y - self.intercept_
        shares = np.einsum("itk,it->tk", parts, 2 * residual - parts.sum(axis=2)) / (residual ** 2).sum(axis=0)[:, None]
        return shares[0] if self._y_columns is None else shares
