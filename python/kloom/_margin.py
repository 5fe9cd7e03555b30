# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines on combinations of kernels."""
from ._base import copies_differ
from ._options import learns
from ._tasks import KernelClassifier, UncertainRegressor

_ATTRIBUTES = """Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Kernel weights.
    kernel_names_ : array of str
        What the kernels are.
    gap_ : float
        Relative duality gap: no solution can be better by more than this part.
    objective_ : float
        Primal objective.
    dual_coef_ : array of shape (n_samples, n_outputs)
        Coefficients of the training samples.
    intercept_ : array of shape (n_outputs,)
        Biases.
    n_iter_ : int
        Updates of the kernel weights.
    report_ : dict
        What happened: status, trace, timings, options."""


_SIGMOIDS = {"check_classifiers_train": (
    "with probability=True each class has a sigmoid of its own, fitted on held-out scores [Platt]; with several classes the "
    "most probable class is then not always the one with the highest score, as in scikit-learn's SVC(probability=True)")}


_FOLDS = copies_differ("C and the single kernel are chosen by cross-validation, and copies fall into other folds than the sample")


class _MarginClassifier(KernelClassifier):
    @property
    def _expected_failures(self):
        return {**_FOLDS, **(_SIGMOIDS if self.probability else {})}


class _MarginRegressor(UncertainRegressor):
    _no_deviations = ("they are made of what held-out samples missed, and with a given C nothing was held out; leave C at 0 to have "
                      "it chosen")


@learns("simplemkl", attributes=_ATTRIBUTES)
class SimpleMKLClassifier(_MarginClassifier):
    """l1-norm multiple kernel learning for classes: few kernels, with a proof of optimality.

    The problem of SimpleMKL [1]_: a support vector machine on a convex combination of kernels, both learned together.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    LpMKLClassifier : Weights spread over all kernels.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, SimpleMKL, JMLR 9, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import SimpleMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = SimpleMKLClassifier(kernels="rbf(width=2^-2..2^2); linear", C=10).fit(X, y)
    >>> clf.score(X, y), bool(clf.gap_ <= clf.tol)
    (1.0, True)
    """


@learns("simplemkl", attributes=_ATTRIBUTES)
class SimpleMKLRegressor(_MarginRegressor):
    """l1-norm multiple kernel learning for numbers: epsilon-regression with few kernels and a proof of optimality.

    {parameters}

    {attributes}

    See Also
    --------
    SimpleMKLClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import SimpleMKLRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = SimpleMKLRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("lp-mkl", attributes=_ATTRIBUTES)
class LpMKLClassifier(_MarginClassifier):
    """lp-norm multiple kernel learning for classes: weights spread over all kernels [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SimpleMKLClassifier : Few kernels.
    UniformMKLClassifier : The mean of all kernels.

    References
    ----------
    .. [1] M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien, lp-norm multiple kernel learning, JMLR 12, 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import LpMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = LpMKLClassifier(kernels="rbf(width=2^-2..2^2)", C=10, norm=2).fit(X, y)
    >>> bool((clf.kernel_weights_ > 0).all())
    True
    """


@learns("lp-mkl", attributes=_ATTRIBUTES)
class LpMKLRegressor(_MarginRegressor):
    """lp-norm multiple kernel learning for numbers: epsilon-regression with weights spread over all kernels.

    {parameters}

    {attributes}

    See Also
    --------
    LpMKLClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import LpMKLRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = LpMKLRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("uniform", attributes=_ATTRIBUTES)
class UniformMKLClassifier(_MarginClassifier):
    """The baseline to beat: a support vector machine on the mean of all kernels.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SingleKernelClassifier : The one best kernel.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import UniformMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> UniformMKLClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y).score(X, y)
    1.0
    """


@learns("uniform", attributes=_ATTRIBUTES)
class UniformMKLRegressor(_MarginRegressor):
    """The baseline to beat: support vector regression on the mean of all kernels.

    {parameters}

    {attributes}

    See Also
    --------
    UniformMKLClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import UniformMKLRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = UniformMKLRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("single", attributes=_ATTRIBUTES)
class SingleKernelClassifier(_MarginClassifier):
    """A support vector machine on the one kernel that cross-validates best.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    UniformMKLClassifier : The mean of all kernels.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import SingleKernelClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = SingleKernelClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> int((clf.kernel_weights_ != 0).sum())
    1
    """


@learns("single", attributes=_ATTRIBUTES)
class SingleKernelRegressor(_MarginRegressor):
    """Support vector regression on the one kernel that cross-validates best.

    {parameters}

    {attributes}

    See Also
    --------
    SingleKernelClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import SingleKernelRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = SingleKernelRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> int((reg.kernel_weights_ != 0).sum())
    1
    """

    _expected_failures = _FOLDS


@learns("group-mkl", attributes=_ATTRIBUTES)
class GroupMKLClassifier(_MarginClassifier):
    """Group-lasso and elastic-net multiple kernel learning for classes: kernels of a view count together [1]_ [2]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SimpleMKLClassifier : Every kernel by itself, few of them.
    LpMKLClassifier : Weights spread over all kernels.

    References
    ----------
    .. [1] Z. Xu, R. Jin, H. Yang, I. King, M. Lyu, Simple and efficient multiple kernel learning by group lasso, ICML 2010.
    .. [2] H. Yang, Z. Xu, J. Ye, I. King, M. Lyu, Efficient sparse generalized multiple kernel learning, IEEE Transactions on
       Neural Networks 22, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import GroupMKLClassifier
    >>> X = np.random.RandomState(0).normal(size=(60, 4))
    >>> clf = GroupMKLClassifier(kernels="rbf(width=2^0..2^2) on each", C=1).fit(X, np.where(X[:, 0] > 0, "a", "b"))
    >>> of_column = clf.kernel_weights_.reshape(4, 3)
    >>> int(of_column.sum(axis=1).argmax()), bool(((of_column > 0).any(axis=1) == (of_column > 0).all(axis=1)).all())
    (0, True)
    """


@learns("group-mkl", attributes=_ATTRIBUTES)
class GroupMKLRegressor(_MarginRegressor):
    """Group-lasso and elastic-net multiple kernel learning for numbers: kernels of a view count together.

    {parameters}

    {attributes}

    See Also
    --------
    GroupMKLClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import GroupMKLRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = GroupMKLRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("easymkl", attributes=_ATTRIBUTES)
class EasyMKLClassifier(_MarginClassifier):
    """EasyMKL: kernel weights from the distance of the classes in every kernel, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    UniformMKLClassifier : The mean of all kernels, what must be beaten.

    References
    ----------
    .. [1] F. Aiolli, M. Donini, EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing 169, 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import EasyMKLClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = EasyMKLClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """


@learns("gram", attributes=_ATTRIBUTES)
class GRAMClassifier(_MarginClassifier):
    """GRAM: kernel weights of the least ratio of radius and margin, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    EasyMKLClassifier : Weights from the distance of the classes alone.

    References
    ----------
    .. [1] I. Lauriola, M. Polato, F. Aiolli, Radius-margin ratio optimization for dot-product boolean kernel learning, ICANN 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import GRAMClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = GRAMClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """


@learns("align", attributes=_ATTRIBUTES)
class AlignClassifier(_MarginClassifier):
    """Kernel weights by centred alignment with the labels, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    UniformMKLClassifier : The mean of all kernels, what must be beaten.

    References
    ----------
    .. [1] C. Cortes, M. Mohri, A. Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13, 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import AlignClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = AlignClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """


@learns("align", attributes=_ATTRIBUTES)
class AlignRegressor(_MarginRegressor):
    """Kernel weights by centred alignment with the labels, then a support vector machine, for numbers.

    {parameters}

    {attributes}

    See Also
    --------
    AlignClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import AlignRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = AlignRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("alignf", attributes=_ATTRIBUTES)
class AlignFClassifier(_MarginClassifier):
    """The sum of kernels best aligned with the labels, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    UniformMKLClassifier : The mean of all kernels, what must be beaten.

    References
    ----------
    .. [1] C. Cortes, M. Mohri, A. Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13, 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import AlignFClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = AlignFClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """


@learns("alignf", attributes=_ATTRIBUTES)
class AlignFRegressor(_MarginRegressor):
    """The sum of kernels best aligned with the labels, then a support vector machine, for numbers.

    {parameters}

    {attributes}

    See Also
    --------
    AlignFClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import AlignFRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = AlignFRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("fheuristic", attributes=_ATTRIBUTES)
class FHeuristicClassifier(_MarginClassifier):
    """Kernel weights by the alignment of every kernel with the labels, nothing centred, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    AlignClassifier : The same with centred kernels.

    References
    ----------
    .. [1] S. Qiu, T. Lane, A framework for multiple kernel support vector regression and its applications to siRNA efficacy
       prediction, IEEE/ACM Transactions on Computational Biology and Bioinformatics 6, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import FHeuristicClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = FHeuristicClassifier(kernels="rbf(width=2^-2..2^2)", C=10).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """


@learns("fheuristic", attributes=_ATTRIBUTES)
class FHeuristicRegressor(_MarginRegressor):
    """Kernel weights by the alignment of every kernel with the target, then a support vector machine, for numbers.

    {parameters}

    {attributes}

    See Also
    --------
    FHeuristicClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import FHeuristicRegressor
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> reg = FHeuristicRegressor(kernels="rbf(width=2^-1..2^1)", C=100, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(reg.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """


@learns("pwmk", attributes=_ATTRIBUTES)
class PWMKClassifier(_MarginClassifier):
    """Kernel weights by the held-out accuracy of every kernel alone, then a support vector machine [1]_.

    {parameters}

    {attributes}
    classes_ : array
        The classes.

    See Also
    --------
    SingleKernelClassifier : The best kernel alone.

    References
    ----------
    .. [1] H. Tanabe, T. B. Ho, C. H. Nguyen, S. Kawasaki, Simple but effective methods for combining kernels in computational
       biology, IEEE International Conference on Research, Innovation and Vision for the Future, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kloom import PWMKClassifier
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> clf = PWMKClassifier(kernels="rbf(width=2^-2..2^2)", C=10, threshold=0.6).fit(X, y)
    >>> float(clf.kernel_weights_.sum().round(6))
    1.0
    """
