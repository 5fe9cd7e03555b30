# SPDX-License-Identifier: BSD-3-Clause
"""Kernel weights of greatest evidence."""
from ._options import learns
from ._tasks import UncertainClassifier, UncertainRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Weights of the kernels in the covariance of the Gaussian process.
    kernel_names_ : array of str
        What the kernels are.
    log_evidence_ : float
        Log evidence that was reached.
    constant_weight_ : float
        Weight of the constant kernel, which every model has besides its own.
    n_iter_ : int
        Steps uphill.
    report_ : dict
        What happened: status, trace, timings, options."""


class _Evidence:
    """The attribute that is called objective in general."""

    @property
    def log_evidence_(self):
        return self.objective_

    @property
    def constant_weight_(self):
        return self.report_["tables"][0]["rows"][0][0]


@learns("gp-mkl", attributes=_ATTRIBUTES)
class GPMKLClassifier(_Evidence, UncertainClassifier):
    """Gaussian process on a weighted sum of kernels, the weights by its evidence: classes with probabilities.

    The evidence is Laplace's approximation with the logistic likelihood [1]_, summed over the classes, each against the
    rest, which share their weights. It can choose among widths of Gaussians where a margin takes the narrowest.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    GPMKLRegressor : The same for numbers.
    AutoMKLClassifier : Kernels chosen by held-out loss; much faster with many samples.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press, 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import GPMKLClassifier
    >>> X, y = make_moons(120, noise=0.15, random_state=0)
    >>> clf = GPMKLClassifier(kernels="rbf(width=2^-5..2^5); linear").fit(X[:80], y[:80])
    >>> bool(clf.score(X[80:], y[80:]) > 0.9), clf.predict_proba(X).shape
    (True, (120, 2))
    """

    _expected_failures = {**UncertainClassifier._expected_failures, **dict.fromkeys(("check_decision_proba_consistency",), (
        "a probability takes the variance of its score into account: of two samples with nearly the same score the less certain "
        "one is nearer to one half, so that probabilities and scores do not sort samples alike"))}



@learns("gp-mkl", attributes=_ATTRIBUTES)
class GPMKLRegressor(_Evidence, UncertainRegressor):
    """Gaussian process on a weighted sum of kernels, the weights by its evidence: numbers with standard deviations.

    The evidence is exact [1]_.

    {parameters}

    {attributes}
    noise_variance_ : float
        Variance of the noise, as a part of the target's.

    See Also
    --------
    GPMKLClassifier : The same for classes.
    AutoMKLRegressor : Kernels chosen by the leave-one-out error.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import GPMKLRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> reg = GPMKLRegressor(kernels="rbf(width=2^-5..2^5); linear").fit(X, np.sin(X[:, 0]))
    >>> mean, std = reg.predict(X, return_std=True)
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99), std.shape
    (True, (60,))
    """

    @property
    def noise_variance_(self):
        return self.report_["tables"][0]["rows"][0][1]
