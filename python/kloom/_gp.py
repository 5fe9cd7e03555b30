# SPDX-License-Identifier: BSD-3-Clause
"""Kernel weights of greatest evidence."""
import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._options import learns
from ._tasks import KernelClassifier, KernelRegressor

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
class GPMKLClassifier(_Evidence, KernelClassifier):
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

    _expected_failures = {**KernelClassifier._expected_failures, **dict.fromkeys(("check_decision_proba_consistency",), (
        "a probability takes the variance of its score into account: of two samples with nearly the same score the less certain "
        "one is nearer to one half, so that probabilities and scores do not sort samples alike"))}

    def decision_function(self, X, return_std=False):
        """Scores of the classes, and how uncertain they are.

        Parameters
        ----------
        X : as in ``fit``
            New samples.
        return_std : bool, default=False
            Also return the posterior standard deviation of each score.

        Returns
        -------
        scores : array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            With two classes those above 0 belong to ``classes_[1]``.
        std : array of the same shape
            Only with ``return_std``.
        """
        if not return_std:
            return super().decision_function(X)
        check_is_fitted(self)
        found = self._predictions(X, probabilities=True)
        parts = found["scores"], found["deviation"]
        return tuple(part[:, 0] if part.shape[1] == 1 else part for part in parts)

    def predict_proba(self, X):
        """Probability of each class, averaged over the uncertainty of its score.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._predictions(X, probabilities=True)["probabilities"]

    def predict_log_proba(self, X):
        """Logarithm of ``predict_proba``.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))


@learns("gp-mkl", attributes=_ATTRIBUTES)
class GPMKLRegressor(_Evidence, KernelRegressor):
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

    def predict(self, X, return_std=False):
        """The number of each sample, and how uncertain it is.

        Parameters
        ----------
        X : as in ``fit``
            New samples.
        return_std : bool, default=False
            Also return the predictive standard deviation, noise included.

        Returns
        -------
        y : array of shape (n_samples,)
            Predictions.
        std : array of the same shape
            Only with ``return_std``.
        """
        check_is_fitted(self)
        found = self._predictions(X, probabilities=return_std)
        if not return_std:
            return self._shaped(found["scores"])
        return self._shaped(found["scores"]), self._shaped(found["deviation"])
