# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic methods, which also learn by batches."""
import numbers

from sklearn.utils._param_validation import Interval, StrOptions

from ._options import learns
from ._stream import StreamMixin
from ._tasks import KernelClassifier

_BUDGET = ("budget", 0, [Interval(numbers.Integral, 0, None, closed="left")], "int, >= 0",
           "partial_fit: keep at most so many support vectors; 0: all.")
_APPROX = ("approx", "none", [StrOptions({"none", "rff", "nystroem"})], "{'none', 'rff', 'nystroem'}",
           "partial_fit: finite features in the place of support vectors, so that memory does not grow.")
_FEATURES = ("features", 32, [Interval(numbers.Integral, 1, None, closed="left")], "int, >= 1",
             "partial_fit with approx: features per kernel.")
_DT_UPDATE = ("dt_update", 200, [Interval(numbers.Integral, 1, None, closed="left")], "int, >= 1",
              "partial_fit: samples between two draws of the penalties.")


@learns("mkl-da", beside=[_BUDGET, _APPROX, _FEATURES, _DT_UPDATE])
class MKLDAClassifier(StreamMixin, KernelClassifier):
    """Multiple kernel learning via data augmentation: hundreds of widths at the price of one, without grid search.

    Stochastic gradients under penalties that are drawn from their posterior [1]_; ``partial_fit`` is its online form.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Mean kernel weights.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes.
    n_iter_ : int
        Rounds.
    report_ : dict
        What happened: status, timings, options.
    prequential_score_ : float
        After ``partial_fit``: part of the samples that were predicted right before they were learned.

    See Also
    --------
    UFOMKLClassifier : Sparse kernel weights with a lower bound.

    References
    ----------
    .. [1] K. Nguyen, T. Le, V. Nguyen, T. D. Nguyen, D. Phung, Multiple kernel learning with data augmentation, ACML 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import MKLDAClassifier
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> bool(MKLDAClassifier(kernels="rbf(gamma=2^-5..2^5)").fit(X, y).score(X, y) > 0.95)
    True
    >>> online = MKLDAClassifier(kernels="rbf(gamma=2^-5..2^5)")
    >>> for batch in range(3):
    ...     rows = slice(100 * batch, 100 * (batch + 1))
    ...     online = online.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> online.n_samples_seen_
    300
    """

    def _stream_options(self):
        return {"method": "mkl-dao", "literal": self.mode == "literal", "budget": self.budget,
                "approx": self.approx, "features": self.features, "dt_update": self.dt_update, "kappa": self.kappa,
                "theta": self.theta, "mu": self.mu, "sigma": self.sigma}


@learns("ufo-mkl", beside=[_BUDGET, _APPROX, _FEATURES])
class UFOMKLClassifier(StreamMixin, KernelClassifier):
    """UFO-MKL: sparse kernel weights by stochastic mirror descent, with a lower bound as certificate.

    The problem and method of [1]_; ``partial_fit`` is one pass of it, sample by sample.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Kernel weights.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes.
    n_iter_ : int
        Passes over the samples.
    report_ : dict
        What happened: status, timings, options.
    prequential_score_ : float
        After ``partial_fit``: part of the samples that were predicted right before they were learned.

    See Also
    --------
    MKLDAClassifier : Weights by data augmentation.

    References
    ----------
    .. [1] F. Orabona, J. Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import UFOMKLClassifier
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> clf = UFOMKLClassifier(kernels="rbf(gamma=2^-5..2^5)", reg_lambda=1e-4, epochs=50).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    def _stream_options(self):
        return {"method": "ufo-mkl", "budget": self.budget, "approx": self.approx, "features": self.features,
                "reg_lambda": self.reg_lambda, "alpha": self.alpha}
