# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that depend on the sample."""
from ._base import SCALED
from ._options import learns
from ._tasks import KernelClassifier, KernelRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Kernel weights.
    kernel_names_ : array of str
        What the kernels are.
    n_iter_ : int
        Updates.
    report_ : dict
        What happened: status, trace, timings, options, and which kernels each sample uses."""


_STEPS = {**SCALED, "check_sample_weights_invariance": (
    "gates are found by gradient steps that end when the objective hardly falls (change), and see principal components over all "
    "training samples, also those of weight 0: without them the steps end at another point nearby")}


@learns("samkl", attributes=_ATTRIBUTES)
class SAMKLClassifier(KernelClassifier):
    """Sample-adaptive multiple kernel learning: each sample switches off the kernels that do not suit it.

    The model of [1]_; how many kernels a sample may switch is chosen by cross-validation, with none among the choices.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    LMKLClassifier : Kernel weights as a smooth function of the sample.

    References
    ----------
    .. [1] X. Liu, L. Wang, J. Zhang, J. Yin, Sample-adaptive multiple kernel learning, AAAI 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import SAMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = SAMKLClassifier(kernels="rbf(width=2^-1..2^1); linear").fit(X, y)
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    _limit = "update_limit"

    @property
    def _ends_by_plan(self):
        return self.report_["options"]["updates"] == "one"   # asked for, or chosen by cross-validation


@learns("lmkl", attributes=_ATTRIBUTES)
class LMKLClassifier(KernelClassifier):
    """Localised multiple kernel learning for classes: kernel weights are a function of the sample.

    The model of [1]_: a gating function, learned together with the machine, says how much each kernel counts where.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SAMKLClassifier : Kernels that are on or off for each sample.

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, Localized multiple kernel learning, ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import LMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = LMKLClassifier(kernels="rbf(width=2^-1..2^1); linear").fit(X, y)
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    _expected_failures = _STEPS
    _limit = "steps"


@learns("lmkl", attributes=_ATTRIBUTES)
class LMKLRegressor(KernelRegressor):
    """Localised multiple kernel learning for numbers: kernel weights are a function of the sample.

    {parameters}

    {attributes}

    See Also
    --------
    LMKLClassifier : The same for classes, with the reference.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import LMKLRegressor
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> reg = LMKLRegressor(kernels="rbf(width=2^-1..2^1); linear").fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    _expected_failures = _STEPS
    _limit = "steps"
