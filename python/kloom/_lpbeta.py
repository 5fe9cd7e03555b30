# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines on single kernels, weighted by a linear programme."""
from ._base import copies_differ
from ._options import learns
from ._tasks import KernelClassifier


@learns("lp-beta")
class LPBetaClassifier(KernelClassifier):
    """A support vector machine on every kernel alone, their scores weighted by a linear programme: LP-beta and LP-B [1]_.

    The weights are those of the best margins of samples that the machines have not seen. With ``weights_per="class"`` every
    class has weights of its own.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Weights of the kernels' scores, which sum to 1.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes.
    gap_ : float
        Duality gap, the larger one of weights and machines: none can be better by more.
    objective_ : float
        Primal objective of the linear programme.
    n_iter_ : int
        Rounds of adding constraints to the linear programme.
    report_ : dict
        What happened: status, timings, options, C and held-out error of every kernel.

    See Also
    --------
    PWMKClassifier : Weights by the accuracy of every kernel, then one machine.
    LpMKLClassifier : Weights and machine together.

    References
    ----------
    .. [1] P. Gehler, S. Nowozin, On feature combination for multiclass object classification, ICCV 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kloom import LPBetaClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LPBetaClassifier(kernels="rbf(width=2^0..2^3); linear", C=10).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95), bool(abs(clf.kernel_weights_.sum() - 1) < 1e-9)
    (True, True)
    """

    _expected_failures = copies_differ("C, nu and the weights go by held-out folds, and copies fall into other folds than the sample")
