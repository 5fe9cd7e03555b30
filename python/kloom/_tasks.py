# SPDX-License-Identifier: BSD-3-Clause
"""Classes and numbers: how targets go in and predictions come out."""
import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from ._base import KernelEstimator
from ._load import core

UNLABELLED = -1   # kloom::Targets::unlabelled


def has_probabilities(estimator):
    """Before fit: the parameters promise them; afterwards: the model has them."""
    if hasattr(estimator, "_model"):
        return estimator._model.has_probabilities
    return estimator._probable or getattr(estimator, "probability", False)


class KernelClassifier(ClassifierMixin, KernelEstimator):
    """Estimators of classes."""

    _task = "classes"
    _multilabel = False   # y may be a matrix of 0 and 1
    _probable = False     # every model has probabilities, whatever the parameters

    def _read_target(self, y):
        if y.ndim == 2 and y.shape[1] > 1 and self._multilabel:
            return self._read_labels(y)
        y = column_or_1d(y, warn=True)
        marker = getattr(self, "unlabelled", None)
        known = np.ones(len(y), dtype=bool) if marker is None else y != marker
        check_classification_targets(y[known])
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least two classes; the data has {len(self.classes_)} "
                             f"class" + (f": {self.classes_.tolist()[0]!r}" if len(self.classes_) else ""))
        result = np.full(len(y), UNLABELLED)
        result[known] = codes
        return result

    def _read_labels(self, y):
        if type_of_target(y) != "multilabel-indicator":
            raise ValueError(f"Unknown label type: a y of several columns must hold 0 and 1 only; got {type_of_target(y)}")
        self.classes_ = np.arange(y.shape[1])
        return np.asarray(y, dtype=np.float64)

    def _weights(self, sample_weight, X, y):
        weight = super()._weights(sample_weight, X, y)
        chosen = getattr(self, "class_weight", None)
        if not isinstance(chosen, dict) or y.ndim == 2:
            return weight
        negative = [name for name, value in chosen.items() if not value >= 0]
        if negative:
            raise ValueError(f"class_weight of the class {negative[0]!r} is {chosen[negative[0]]!r}; it must not be negative")
        of_class = compute_sample_weight({self._code_of(name): value for name, value in chosen.items()}, y)
        return of_class if weight is None else weight * of_class

    def _code_of(self, name):
        places = np.flatnonzero(self.classes_ == name)
        if len(places) == 0:
            raise ValueError(f"class_weight names the class {name!r}, which y does not have")
        return int(places[0])

    def _targets(self, y, weight):
        if y.ndim == 2:
            return core.Targets.labels([f"label {i + 1}" for i in range(y.shape[1])], y, weight)
        seen = np.unique(y[y != UNLABELLED])
        if len(seen) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least two classes; without samples of weight 0 the "
                             f"data has {len(seen)} class")
        if len(seen) < len(self.classes_):   # a class whose every sample has weight 0 is absent
            self.classes_ = self.classes_[seen]
            y = np.where(y == UNLABELLED, UNLABELLED, np.searchsorted(seen, y))
        return core.Targets.classes([str(name) for name in self.classes_], y, weight)

    def decision_function(self, X):
        """Scores of the classes.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        scores : array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            The larger, the surer; with two classes those above 0 belong to ``classes_[1]``.
        """
        check_is_fitted(self)
        scores = self._predictions(X)["scores"]
        pairs = self._model.pairs
        if pairs.size:
            return votes(scores, pairs, len(self.classes_))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        """The class of each sample.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        classes : array of shape (n_samples,)
            Members of ``classes_``.
        """
        check_is_fitted(self)
        found = self._predictions(X)
        if self._model.task == "multilabel":
            return (found["scores"] > 0).astype(int)
        return self.classes_[found["codes"]]

    @available_if(has_probabilities)
    def predict_proba(self, X):
        """Probability of each class.

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

    @available_if(has_probabilities)
    def predict_log_proba(self, X):
        """Logarithm of the probability of each class.

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

    def _old_tags(self):
        return {**super()._old_tags(), "multilabel": self._multilabel, "multioutput": self._multilabel}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._multilabel
        tags.target_tags.multi_output = self._multilabel
        return tags

    def _more_tags(self):
        return super()._more_tags()


class UncertainClassifier(KernelClassifier):
    """Estimators of classes whose scores have a posterior deviation."""

    _probable = True

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
        scores : array of shape (n_samples,) for two classes, else (n_samples, n_outputs)
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


def votes(scores, pairs, classes):
    """One score per class from one per pair: the number of pairs it wins, and by how much among equals (the rule of the
    library's own vote)."""
    won = np.zeros((len(scores), classes))
    margin = np.zeros((len(scores), classes))
    for column, (positive, negative) in enumerate(pairs.astype(int)):
        wins = scores[:, column] > 0
        won[wins, positive] += 1
        won[~wins, negative] += 1
        margin[:, positive] += scores[:, column]
        margin[:, negative] -= scores[:, column]
    return won + margin / (3 * (np.abs(margin) + 1))


class KernelRegressor(RegressorMixin, KernelEstimator):
    """Estimators of numbers."""

    _task = "numbers"
    _several = False   # y may have several columns

    def _read_target(self, y):
        y = np.asarray(y, dtype=np.float64)
        if y.ndim == 2 and not self._several:
            y = column_or_1d(y, warn=True)
        self._y_columns = None if y.ndim == 1 else y.shape[1]
        return y

    def _targets(self, y, weight):
        return core.Targets.numbers(y.reshape(len(y), -1), weight)

    def predict(self, X):
        """The number of each sample.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        return self._shaped(self._predictions(X)["scores"])

    def _shaped(self, values):
        return values[:, 0] if self._y_columns is None else values

    def _old_tags(self):
        return {**super()._old_tags(), "multioutput": self._several}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several
        return tags

    def _more_tags(self):
        return super()._more_tags()


class UncertainRegressor(KernelRegressor):
    """Estimators of numbers whose predictions have a standard deviation."""

    # Why a model may have none, and what to do.
    _no_deviations = "the model keeps no variances (variance=False); fit it with variance=True"

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
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        std : array of the same shape
            Only with ``return_std``.
        """
        check_is_fitted(self)
        found = self._predictions(X, probabilities=return_std)
        if not return_std:
            return self._shaped(found["scores"])
        if "deviation" not in found:
            raise ValueError(f"this {type(self).__name__} knows no deviations: {self._no_deviations}")
        return self._shaped(found["scores"]), self._shaped(found["deviation"])
