# SPDX-License-Identifier: BSD-3-Clause
"""Multinomial probit machine on a convex combination of kernels."""
from ._gp import GPMKLClassifier
from ._options import learns
from ._tasks import UncertainClassifier


@learns("vbpmkl")
class VBpMKLClassifier(UncertainClassifier):
    """Multinomial probit machine on a convex combination of kernels, by variational Bayes: classes with probabilities.

    The model of [1]_. By default the kernel weights are those of the largest lower bound on the evidence; with
    ``literal=True`` they are estimated by importance sampling, as published.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Kernel weights, which sum to 1.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes.
    lower_bound_ : float
        Lower bound on the log evidence that was reached.
    n_iter_ : int
        Sweeps over all factors.
    report_ : dict
        What happened: status, trace, timings, options.

    See Also
    --------
    BEMKLClassifier : Kernel weights with a posterior of their own; far more kernels.

    References
    ----------
    .. [1] T. Damoulas, M. A. Girolami, Probabilistic multi-class multi-kernel learning: on protein fold recognition and remote
       homology detection, Bioinformatics 24(10), 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kloom import VBpMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = VBpMKLClassifier(kernels="rbf(width=2^0..2^3); linear").fit(X, y)
    >>> bool(clf.score(X, y) > 0.95), bool(abs(clf.kernel_weights_.sum() - 1) < 1e-9)
    (True, True)
    """

    @property
    def lower_bound_(self):
        return self.objective_

    _expected_failures = GPMKLClassifier._expected_failures   # probabilities take the variance of the scores into account
