# SPDX-License-Identifier: BSD-3-Clause
"""Kernels, strength and a blend of machines chosen by what is held out."""
from ._base import copies_differ
from ._options import learns
from ._tasks import KernelClassifier, UncertainRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        How much of each kernel is in the blend.
    kernel_names_ : array of str
        What the kernels are.
    objective_ : float
        Loss of the blend on samples that its machines had not seen: log loss, or squared error over variance.
    n_iter_ : int
        Machines that were tried.
    report_ : dict
        What happened: status, timings, options, and a table of the machines with their losses and shares."""

_WHY = ("kernels and strengths are chosen by held-out samples: copies fall into other folds than the sample, and other samples of "
        "weight 0 between the rest shift the folds")
_FOLDS = {**copies_differ(_WHY), "check_sample_weights_invariance": _WHY}


@learns("auto", attributes=_ATTRIBUTES)
class AutoMKLClassifier(KernelClassifier):
    """Kernels, strength and a blend of kernel machines chosen by held-out log loss; the choice where nothing else is known.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    BEMKLClassifier : Kernel weights with their uncertainty.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import AutoMKLClassifier
    >>> X, y = make_moons(120, noise=0.15, random_state=0)
    >>> clf = AutoMKLClassifier().fit(X[:80], y[:80])
    >>> bool(clf.score(X[80:], y[80:]) > 0.9)
    True
    """

    _expected_failures = _FOLDS


@learns("auto", attributes=_ATTRIBUTES)
class AutoMKLRegressor(UncertainRegressor):
    """Kernels, strength and a blend of kernel ridge regressions chosen by the leave-one-out error.

    {parameters}

    {attributes}

    See Also
    --------
    BEMKLRegressor : Kernel weights with their uncertainty.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import AutoMKLRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> reg = AutoMKLRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _expected_failures = _FOLDS
