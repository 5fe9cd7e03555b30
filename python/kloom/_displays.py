# SPDX-License-Identifier: BSD-3-Clause
"""Plots with scikit-learn's Display convention: ``from_estimator`` computes, ``plot`` draws. They need matplotlib.

For calibration curves, scikit-learn's ``CalibrationDisplay.from_estimator`` takes kloom's classifiers as they are.
"""
import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._multiclass import MulticlassMKLClassifier


MOST_LABELS = 50   # one under the other they can still be read


def _axes(ax, size=None):
    """The axes that the caller gave, or new ones in a figure that leaves room for the names of kernels."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("plots need matplotlib, which is not installed") from missing
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


class KernelWeightsDisplay:
    """Weights of the kernels as bars, the largest first, with their posterior deviation where the method has one.

    Parameters
    ----------
    weights : array of shape (n_kernels,)
        Kernel weights.
    names : list of str
        What the kernels are.
    deviation : array of shape (n_kernels,) or None, default=None
        Standard deviations of the weights.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : matplotlib container
        The bars.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kloom import BEMKLClassifier, KernelWeightsDisplay
    >>> clf = BEMKLClassifier(kernels="rbf(width=1..3); linear").fit(*load_wine(return_X_y=True))
    >>> KernelWeightsDisplay.from_estimator(clf).ax_.get_xlabel()
    'kernel weight ± standard deviation'
    """

    def __init__(self, *, weights, names, deviation=None):
        self.weights, self.names, self.deviation = np.asarray(weights), list(names), deviation

    @classmethod
    def from_estimator(cls, estimator, *, output=None, most=20, ax=None, **bars):
        """Draw the kernel weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Any of kloom's.
        output : int or None, default=None
            Which row of ``kernel_weights_`` where each class has its own; None: their mean.
        most : int, default=20
            Show at most so many kernels.
        ax : matplotlib axes or None, default=None
            Where to draw.
        **bars : dict
            For matplotlib's ``barh``.

        Returns
        -------
        display : KernelWeightsDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        deviation = getattr(estimator, "kernel_weights_std_", None)
        weights = estimator.kernel_weights_
        if weights.ndim == 2:
            weights = weights.mean(axis=0) if output is None else weights[output]
            deviation = None if deviation is None or output is None else deviation[output]
        order = np.argsort(-np.abs(weights), kind="stable")[:most]
        display = cls(weights=weights[order], names=estimator.kernel_names_[order],
                      deviation=None if deviation is None else deviation[order])
        return display.plot(ax=ax, **bars)

    def plot(self, *, ax=None, **bars):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw.
        **bars : dict
            For matplotlib's ``barh``.

        Returns
        -------
        display : KernelWeightsDisplay
            Itself.
        """
        self.ax_ = _axes(ax, size=(6.4, 1 + 0.25 * max(4, len(self.weights))))
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.weights))[::-1]
        options = {"error_kw": {"ecolor": "0.25", "capsize": 2}, **bars}
        self.bars_ = self.ax_.barh(places, self.weights, xerr=self.deviation, **options)
        self.ax_.axvline(0, color="0.25", linewidth=0.8)
        self.ax_.set_yticks(places, labels=self.names)
        self.ax_.set_xlabel("kernel weight" if self.deviation is None else "kernel weight ± standard deviation")
        return self


class ConvergenceDisplay:
    """The objective (lower bound, primal objective) over the iterations.

    Parameters
    ----------
    iterations, objective : arrays of the same length
        The trace.
    name : str
        What the objective is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The curve.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kloom import BEMKLClassifier, ConvergenceDisplay
    >>> clf = BEMKLClassifier(kernels="rbf(width=1..3); linear").fit(*load_wine(return_X_y=True))
    >>> ConvergenceDisplay.from_estimator(clf).name
    'lower bound'
    """

    def __init__(self, *, iterations, objective, name):
        self.iterations, self.objective, self.name = np.asarray(iterations), np.asarray(objective), name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **line):
        """Draw the trace in a fitted estimator's report.

        Parameters
        ----------
        estimator : fitted estimator
            One whose method keeps a trace.
        ax : matplotlib axes or None, default=None
            Where to draw.
        **line : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : ConvergenceDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        trace = estimator.report_.get("trace") or []
        if not trace:
            raise ValueError(f"this {type(estimator).__name__} has no trace: its method keeps none, or it solved several "
                             f"problems one after the other")
        values = [np.nan if point["objective"] is None else point["objective"] for point in trace]
        display = cls(iterations=[point["iteration"] for point in trace], objective=values,
                      name=estimator.report_["objective_name"])
        return display.plot(ax=ax, **line)

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
        display : ConvergenceDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        options = {"marker": "." if len(self.iterations) <= 50 else None, **line}
        (self.line_,) = self.ax_.plot(self.iterations, self.objective, **options)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_xlabel("iteration")
        self.ax_.set_ylabel(self.name)
        return self


SWITCHES, GATES = "the kernel is", "gate"


class SampleKernelsDisplay:
    """Which samples use which kernels, as a map: one row per kernel, one column per sample.

    Methods that switch kernels on and off for each sample show those switches; all others show how much each kernel added
    to the score of each sample.

    Parameters
    ----------
    values : array of shape (n_samples, n_kernels)
        What is shown.
    names : list of str
        What the kernels are.
    label : str
        What the values are.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    image_ : matplotlib image
        The map.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kloom import SampleKernelsDisplay, UniformMKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = UniformMKLClassifier(kernels="rbf(width=1..3) on each", C=1).fit(X[:100, :4], y[:100])
    >>> SampleKernelsDisplay.from_estimator(clf, X[:20, :4]).values.shape
    (20, 12)
    """

    def __init__(self, *, values, names, label):
        self.values, self.names, self.label = np.asarray(values, dtype=float), list(names), label

    @classmethod
    def from_estimator(cls, estimator, X=None, *, output=0, ax=None, **image):
        """Draw the map of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Any of kloom's.
        X : as in ``fit``, default=None
            Samples whose contributions are shown; without it the switches or gates of the training samples, where the
            method has them.
        output : int, default=0
            Which class, where there are several.
        ax : matplotlib axes or None, default=None
            Where to draw.
        **image : dict
            For matplotlib's ``imshow``.

        Returns
        -------
        display : SampleKernelsDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        if X is None:
            values, label = cls._map_of(estimator, output)
        else:
            values = estimator.contributions(X)
            values, label = values if values.ndim == 2 else values[:, output], "contribution to the score"
        return cls(values=values, names=estimator.kernel_names_, label=label).plot(ax=ax, **image)

    @staticmethod
    def _map_of(estimator, output):
        """Switches (1 on, 0 off) or gates of the training samples, by class and alike ones together."""
        report = estimator.report_
        if "switches" not in report and "gating" not in report:
            raise ValueError(f"the kernel weights of {type(estimator).__name__} are the same for every sample; give X to "
                             f"see how much each kernel adds to each sample's score")
        found = report.get("switches") or report["gating"]
        samples = [found[output]["samples"][i] for i in found[output]["order"]]
        if "switches" in report:
            return [[mark == "1" for mark in sample] for sample in samples], SWITCHES
        return samples, GATES

    def plot(self, *, ax=None, **image):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw.
        **image : dict
            For matplotlib's ``imshow``.

        Returns
        -------
        display : SampleKernelsDisplay
            Itself.
        """
        self.ax_ = _axes(ax, size=(8, 1.2 + 0.22 * min(max(6, len(self.names)), MOST_LABELS)))
        self.figure_ = self.ax_.figure
        self.image_ = self.ax_.imshow(self.values.T, **{**self._colours(), **image})
        bar = self.figure_.colorbar(self.image_, ax=self.ax_, label=self.label)
        if self.label == SWITCHES:
            bar.set_ticks([0.25, 0.75], labels=["off", "on"])
        shown = range(0, len(self.names), -(-len(self.names) // MOST_LABELS))
        self.ax_.set_yticks(shown, labels=[self.names[p] for p in shown])
        self.ax_.set_xlabel("training samples, alike ones together" if self.label in (SWITCHES, GATES) else "sample")
        return self

    def _colours(self):
        """Two colours around 0 for contributions; from white on for switches and gates, which are not negative."""
        common = {"aspect": "auto", "interpolation": "nearest"}
        most = np.abs(self.values).max() or 1.0
        if self.label == SWITCHES:
            from matplotlib.colors import ListedColormap

            return {**common, "cmap": ListedColormap(["#f0f3f8", "#2f6fb0"]), "vmin": 0, "vmax": 1}
        if self.label == GATES:
            return {**common, "cmap": "Blues", "vmin": 0, "vmax": most}
        return {**common, "cmap": "RdBu_r", "vmin": -most, "vmax": most}


class ClassEmbeddingDisplay:
    """Classes as points of a plane: the nearer, the more similar they were found to be.

    Parameters
    ----------
    places : array of shape (n_classes, 2)
        The points.
    classes : list
        Their names.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    points_ : matplotlib collection
        The points.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kloom import ClassEmbeddingDisplay, MulticlassMKLClassifier
    >>> clf = MulticlassMKLClassifier(kernels="rbf(width=1..3)", class_kernels="identity+pairs").fit(*load_wine(return_X_y=True))
    >>> ClassEmbeddingDisplay.from_estimator(clf).places.shape
    (3, 2)
    """

    def __init__(self, *, places, classes):
        self.places, self.classes = np.asarray(places), list(classes)

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **points):
        """Draw the classes of a fitted MulticlassMKLClassifier.

        Parameters
        ----------
        estimator : MulticlassMKLClassifier
            Fitted with ``class_kernels="pairs"`` or ``"identity+pairs"``.
        ax : matplotlib axes or None, default=None
            Where to draw.
        **points : dict
            For matplotlib's ``scatter``.

        Returns
        -------
        display : ClassEmbeddingDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, MulticlassMKLClassifier):
            raise ValueError(f"a class embedding is learned by MulticlassMKLClassifier; got {type(estimator).__name__}")
        return cls(places=estimator.class_embedding_, classes=estimator.classes_).plot(ax=ax, **points)

    def plot(self, *, ax=None, **points):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw.
        **points : dict
            For matplotlib's ``scatter``.

        Returns
        -------
        display : ClassEmbeddingDisplay
            Itself.
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = self.ax_.scatter(self.places[:, 0], self.places[:, 1], **points)
        for place, name in zip(self.places, self.classes):
            self.ax_.annotate(str(name), place, xytext=(5, 5), textcoords="offset points")
        # Only distances mean something.
        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.margins(0.15)
        self.ax_.set(xticks=[], yticks=[], xlabel="the nearer, the more alike")
        return self
