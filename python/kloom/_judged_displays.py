# SPDX-License-Identifier: BSD-3-Clause
"""Plots of how right a model is: its probabilities or intervals, and the values of options that were tried for it."""
import numpy as np
from scipy.special import erf
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ._displays import _axes

LEVELS = np.arange(1, 10) / 10


class CalibrationDisplay:
    """What a model promises beside what comes true: probabilities of classes, or intervals of numbers.

    On the diagonal a probability means what it says, and an interval holds as often as it promises.

    Parameters
    ----------
    promised : array of shape (n_points,)
        Mean probability of the samples of a bin, or level of an interval.
    happened : array of shape (n_points,)
        How often it came true.
    counts : array of shape (n_points,)
        Samples behind each point.
    labels : tuple of two str
        What the axes are.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kloom import CalibrationDisplay, UniformMKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = UniformMKLClassifier(kernels="rbf(width=1..3)", C=1).fit(X[:300], y[:300])
    >>> CalibrationDisplay.from_estimator(clf, X[300:], y[300:]).labels
    ('probability of class 1', 'how often it came true')
    """

    def __init__(self, *, promised, happened, counts, labels):
        self.promised, self.happened, self.counts = np.asarray(promised), np.asarray(happened), np.asarray(counts)
        self.labels = labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, bins=10, ax=None, **line):
        """Draw what a fitted estimator promises of labelled samples, best ones that it has never seen.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier with probabilities (two classes: of the positive one; several: of the predicted one), or a regressor
            whose ``predict`` takes ``return_std``.
        X : as in ``fit``
            Samples.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        bins : int, default=10
            Intervals of equal width for probabilities; empty ones are left out.
        ax : matplotlib axes or None, default=None
            Where to draw.
        **line : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : CalibrationDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        curve = _of_classes(estimator, X, y, bins) if is_classifier(estimator) else _of_numbers(estimator, X, y)
        return cls(**curve).plot(ax=ax, **line)

    def plot(self, *, ax=None, **line):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw.
        **line : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : CalibrationDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color="0.5", linestyle=":", linewidth=1)
        (self.line_,) = self.ax_.plot(self.promised, self.happened, **{"marker": "o", **line})
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self.ax_.set_aspect("equal")
        return self


def _of_classes(estimator, X, y, bins):
    probabilities, codes = estimator.predict_proba(X), np.searchsorted(estimator.classes_, y)
    binary = probabilities.shape[1] == 2
    asked = np.ones(len(codes), dtype=int) if binary else probabilities.argmax(axis=1)
    promised, came_true = probabilities[np.arange(len(codes)), asked], codes == asked
    bin_of = np.minimum((promised * bins).astype(int), bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    used = counts > 0

    def means(values):
        return np.bincount(bin_of, weights=values, minlength=bins)[used] / counts[used]

    which = f"class {estimator.classes_[1]}" if binary else "the predicted class"
    return {"promised": means(promised), "happened": means(came_true), "counts": counts[used],
            "labels": (f"probability of {which}", "how often it came true")}


def _of_numbers(estimator, X, y):
    try:
        mean, deviation = estimator.predict(X, return_std=True)
    except TypeError:
        raise ValueError(f"{type(estimator).__name__} predicts numbers without deviations, so there is nothing to compare "
                         f"with what came true; BEMKLRegressor, GPMKLRegressor and AutoMKLRegressor have them") from None
    # The level of the interval around the mean that just reaches a value: P(|Z| <= |error| / deviation).
    reached = erf(np.abs(np.asarray(y) - mean) / (deviation * np.sqrt(2)))
    return {"promised": LEVELS, "happened": [(reached <= level).mean() for level in LEVELS],
            "counts": np.full(len(LEVELS), len(reached)),
            "labels": ("level of the interval", "share of true values inside")}


class PathDisplay:
    """The error of held-out samples over the values of an option that a fit tried, and the one that it took.

    Parameters
    ----------
    option : str
        What was varied.
    measure : str
        What was judged by.
    curves : dict
        Values and errors by what else was varied: ``{"m0 = 1": (values, errors)}``; ``{"": …}`` where that is nothing.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib lines
        The curves.
    best_ : tuple of two float
        Value and error of the least error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kloom import PathDisplay, UniformMKLClassifier
    >>> clf = UniformMKLClassifier(kernels="rbf(width=1..3)", C_grid="10^-1..10^2").fit(*load_wine(return_X_y=True))
    >>> PathDisplay.from_estimator(clf).option
    'C'
    """

    def __init__(self, *, option, measure, curves):
        self.option, self.measure, self.curves = option, measure, curves

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **line):
        """Draw the path that a fitted estimator's report keeps.

        Parameters
        ----------
        estimator : fitted estimator
            One that chose among values of an option: ``C``, ``reg_lambda``, ….
        ax : matplotlib axes or None, default=None
            Where to draw.
        **line : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : PathDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        for table in estimator.report_.get("tables", []):
            judged = [k for k, name in enumerate(table["columns"]) if "error" in name]
            if table["title"].startswith("cross-validation") and judged and judged[0] > 0 and len(table["rows"]) > 1:
                return cls(option=table["columns"][0], measure=table["columns"][judged[0]],
                           curves=_curves(table, judged[0])).plot(ax=ax, **line)
        raise ValueError(f"this {type(estimator).__name__} tried no values of an option: its method chooses none that way, or "
                         f"the value was given")

    def plot(self, *, ax=None, **line):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw.
        **line : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : PathDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [self.ax_.plot(values, errors, **{"marker": "o", "label": name, **line})[0]
                       for name, (values, errors) in self.curves.items()]
        self.best_ = min(((value, error) for values, errors in self.curves.values() for value, error in zip(values, errors)),
                         key=lambda point: point[1])
        self.ax_.plot(*self.best_, marker="o", markersize=13, markerfacecolor="none", color="0.25", linestyle="none")
        if all(min(values) > 0 for values, _ in self.curves.values()):
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel=self.option, ylabel=self.measure)
        if len(self.curves) > 1:
            self.ax_.legend()
        return self


def _curves(table, judged):
    """One curve for every combination of the columns between the first and the judged one."""
    curves = {}
    for row in table["rows"]:
        if row[judged] is None:
            continue
        name = ", ".join(f"{column} = {value:g}" for column, value in zip(table["columns"][1:judged], row[1:judged]))
        values, errors = curves.setdefault(name, ([], []))
        values.append(row[0])
        errors.append(row[judged])
    return {name: tuple(np.asarray(side)[np.argsort(values)] for side in (values, errors))
            for name, (values, errors) in curves.items()}
