# SPDX-License-Identifier: BSD-3-Clause
from ._base import copies_differ
from ._options import learns
from ._tasks import UncertainClassifier, UncertainRegressor


_PRIORS = copies_differ("every sample has a coefficient and a prior of its own, copies too; a weight multiplies the sample's "
                        "part of the likelihood only")


class _LowerBound:
    """The attribute that is called objective in general."""

    @property
    def lower_bound_(self):
        return self.objective_


@learns("bemkl", beside=[("unlabelled", None, "no_validation", "label or None",
                          "Value of y that marks samples without a label; they are used, too.")])
class BEMKLClassifier(_LowerBound, UncertainClassifier):
    """Bayesian efficient multiple kernel learning: classes with calibrated probabilities from hundreds of kernels.

    A lower bound on the evidence is maximised over factorised posteriors of sample weights and kernel weights [1]_.
    Two or several classes; a y of several columns of 0 and 1 is learned as several labels that share kernel weights.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Posterior means of the kernel weights.
    kernel_weights_std_ : array of the same shape
        Their posterior standard deviations.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes; with several labels, their numbers.
    lower_bound_ : float
        The lower bound on log p(y) that was reached.
    n_iter_ : int
        Passes over all factors.
    report_ : dict
        What happened: status, trace, timings, options.

    See Also
    --------
    BEMKLRegressor : The same for numbers.
    SimpleMKLClassifier : Few kernels, with a proof of optimality.

    References
    ----------
    .. [1] M. Gönen, Bayesian efficient multiple kernel learning, ICML 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import BEMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = BEMKLClassifier(kernels="rbf(width=2^-2..2^2); linear").fit(X, y)
    >>> clf.score(X, y)
    1.0
    >>> clf.kernel_weights_.shape
    (6,)
    """

    _multilabel = True
    _expected_failures = {**_PRIORS, **dict.fromkeys(("check_decision_proba_consistency", "check_classifier_multioutput"), (
        "a probability takes the predictive variance of its sample into account: of two samples with nearly the same score the "
        "less certain one is nearer to one half, so that probabilities and scores do not sort samples alike"))}



@learns("bemkl")
class BEMKLRegressor(_LowerBound, UncertainRegressor):
    """Bayesian efficient multiple kernel learning: numbers with standard deviations.

    A lower bound on the evidence is maximised over factorised posteriors of sample weights and kernel weights [1]_.
    Several columns of y are learned together and share kernel weights.

    {parameters}

    Attributes
    ----------
    kernel_weights_, kernel_weights_std_ : array of shape (n_kernels,)
        Posterior means and standard deviations of the kernel weights.
    kernel_names_ : array of str
        What the kernels are.
    lower_bound_ : float
        The lower bound on log p(y) that was reached.
    n_iter_ : int
        Passes over all factors.
    report_ : dict
        What happened: status, trace, timings, options.

    See Also
    --------
    BEMKLClassifier : The same for classes.

    References
    ----------
    .. [1] M. Gönen, Bayesian efficient multiple kernel learning, ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import BEMKLRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = BEMKLRegressor(kernels="rbf(width=2^-1..2^1)").fit(X, np.sin(X[:, 0]))
    >>> mean, std = reg.predict(X, return_std=True)
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.9), std.shape
    (True, (40,))
    """

    _several = True
    _expected_failures = _PRIORS
