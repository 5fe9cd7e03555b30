# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

from ._options import learns
from ._tasks import KernelClassifier


@learns("mcmkl")
class MulticlassMKLClassifier(KernelClassifier):
    """Multiclass multiple kernel learning: one set of few kernels for all classes, with a proof of optimality.

    The joint problem of [1]_. With ``class_kernels="pairs"`` it also learns how similar the classes are. What is known of
    them beforehand goes in as an array, n_classes x n_classes in the order of ``classes_``, or as ``"tree:((a,b),c)"``.

    {parameters}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Kernel weights, which sum to 1.
    kernel_names_ : array of str
        What the kernels are.
    classes_ : array
        The classes.
    gap_ : float
        Relative duality gap: no solution can be better by more than this part.
    objective_ : float
        Primal objective.
    n_iter_ : int
        Updates of the kernel weights.
    report_ : dict
        What happened: status, trace, timings, options.

    See Also
    --------
    SimpleMKLClassifier : Several classes one by one, each with kernels of its own.

    References
    ----------
    .. [1] A. Zien, C. S. Ong, Multiclass multiple kernel learning, ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kloom import MulticlassMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MulticlassMKLClassifier(kernels="rbf(width=2^0..2^3); linear").fit(X, y)
    >>> bool(clf.score(X, y) > 0.95), bool(abs(clf.kernel_weights_.sum() - 1) < 1e-9)
    (True, True)
    """

    @property
    def class_similarity_(self):
        """Similarity of the classes that was learned, n_classes x n_classes (where ``class_kernels`` has several)."""
        return self._table("similarity")

    @property
    def class_embedding_(self):
        """Places of the classes in a plane whose distances show that similarity, n_classes x 2."""
        return self._table("places")[:, 1:]

    def _table(self, word):
        for table in self.report_.get("tables", []):
            if word in table["title"]:
                return np.array(table["rows"], dtype=float)
        raise AttributeError(f"there is no {word} of classes: fit with several class_kernels, e.g. 'pairs' or 'identity+pairs'")
