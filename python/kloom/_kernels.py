# SPDX-License-Identifier: BSD-3-Clause
"""Kernel specs as objects: ``rbf(width=[0.5, 1, 2], on="each") + linear()``."""
import inspect
import re
import textwrap

import numpy as np

from ._load import core

_SCOPES = ("all", "each", "views")
_RANGE = "a number, a list, or a range as in a kernel spec (``\"2^-3..2^6\"``)"
# What the parameters of the functions below mean, in all of them.
_PARAMETERS = {
    "width": ("float, sequence of float or str", f"Widths: {_RANGE}."),
    "gamma": ("float, sequence of float or str", f"Factors of the distance: {_RANGE}; ``\"auto\"``: from the distances in the data."),
    "degree": ("int, sequence of int or str", f"Degrees: {_RANGE}."),
    "leaves": ("int", "Leaves of a tree."),
    "folds": ("int or None", "With folds all labelled samples grow the trees, and samples of each fold judge trees that grew without it; None: half "
                             "of the samples grow them, and the others judge."),
    "count": ("int or None", "How many values a range or the data's distances are divided into."),
    "on": ("str, list or None", "Features: ``\"all\"`` together, ``\"each\"`` alone, ``\"views\"``, a name, :func:`view`, or a list "
                                "of these; a tuple within it is one group. None: all, or each view where there are views."),
    "normalise": ("str or None", "``\"unit-diagonal\"``, ``\"unit-trace\"``, ``\"unit-variance\"``, ``\"centre\"`` or ``\"none\"``; "
                                 "None: as the estimator says."),
}


class Kernels:
    """Families of kernels. ``+`` joins them, ``str`` gives the kernel spec.

    Parameters
    ----------
    spec : str
        A kernel spec.

    Examples
    --------
    >>> from kloom import linear, poly, rbf
    >>> rbf(width=[0.5, 1, 2], on=["all", "each"]) + poly(degree=range(1, 4))
    Kernels('rbf(width=0.5,1,2) on all, each; poly(degree=1,2,3)')
    """

    def __init__(self, spec):
        self.spec = core.parse_kernel_spec(str(spec))

    def __add__(self, other):
        if not isinstance(other, (Kernels, str)):
            return NotImplemented
        return Kernels(f"{self}; {other}")

    def __radd__(self, other):
        return Kernels(f"{other}; {self}") if isinstance(other, str) else NotImplemented

    def __str__(self):
        return self.spec

    def __repr__(self):
        return f"Kernels({self.spec!r})"

    def __eq__(self, other):
        return isinstance(other, Kernels) and self.spec == other.spec

    def __hash__(self):
        return hash(self.spec)


def view(name):
    """The scope "the view called `name`", for the argument ``on`` of a kernel.

    Parameters
    ----------
    name : str
        Name of a view.

    Returns
    -------
    scope : str
        As it stands in a kernel spec.
    """
    return f"view {_quoted(name)}"


def _quoted(name):
    name = str(name)
    plain = re.fullmatch(r"[A-Za-z_][\w.\-/:%#@$&']*", name) and name not in (*_SCOPES, "view", "on")
    return name if plain else '"' + name.replace('"', '""') + '"'


def _scope(scope):
    if isinstance(scope, (tuple, list)):
        return " + ".join(_quoted(name) for name in scope)
    if scope in _SCOPES or str(scope).startswith("view "):
        return scope
    return _quoted(scope)


def _family(function, parts, on):
    text = function + (f"({', '.join(parts)})" if parts else "")
    if on is None:
        return Kernels(text)
    scopes = on if isinstance(on, list) else [on]
    return Kernels(f"{text} on {', '.join(_scope(scope) for scope in scopes)}")


def _parts(normalise, count=None, **values):
    parts = []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, str):
            parts.append("auto" if value == "auto" else f"{name}={value}")
        else:
            parts.append(f"{name}=" + ",".join(f"{number:.17g}" for number in np.ravel(value)))
    if count is not None:
        parts.append(f"count={count}")
    if normalise is not None:
        parts.append(f"normalise={normalise}")
    return parts


def _documented(function):
    """Adds the sections of numpydoc to a function of the parameters above."""
    lines = [inspect.getdoc(function), "", "Parameters", "----------"]
    for parameter in inspect.signature(function).parameters.values():
        kind, text = _PARAMETERS[parameter.name]
        lines += [f"{parameter.name} : {kind}, default={parameter.default!r}",
                  textwrap.indent(textwrap.fill(text, 100, break_on_hyphens=False), "    ")]
    lines += ["", "Returns", "-------", "kernels : Kernels", "    The family, which ``+`` joins with others."]
    function.__doc__ = "\n".join(lines)
    return function


@_documented
def rbf(width=None, gamma=None, *, count=None, on=None, normalise=None):
    """Gaussian kernels ``exp(-|x-z|^2 / (2 width^2))`` or ``exp(-gamma |x-z|^2)``; without either, widths from the data."""
    if width is not None and gamma is not None:
        raise ValueError("give width or gamma, not both: gamma = 1 / (2 width^2)")
    parts = _parts(normalise, count, width=width, gamma=gamma)
    return _family("rbf", ["auto", *parts] if width is None and gamma is None else parts, on)


@_documented
def poly(degree=2, *, on=None, normalise=None):
    """Polynomial kernels ``(x.z + 1)^degree``."""
    return _family("poly", _parts(normalise, degree=degree), on)


@_documented
def linear(*, on=None, normalise=None):
    """The linear kernel ``x.z``."""
    return _family("linear", _parts(normalise), on)


@_documented
def cosine(*, on=None, normalise=None):
    """The cosine of the angle between two samples."""
    return _family("cosine", _parts(normalise), on)


@_documented
def laplacian(gamma="auto", *, count=None, on=None, normalise=None):
    """Laplacian kernels ``exp(-gamma |x-z|_1)``."""
    return _family("laplacian", _parts(normalise, count, gamma=gamma), on)


@_documented
def chi2(gamma="auto", *, count=None, on=None, normalise=None):
    """The kernels ``exp(-gamma sum (x-z)^2/(x+z))`` for features that are not negative (use standardise=False)."""
    return _family("chi2", _parts(normalise, count, gamma=gamma), on)


@_documented
def intersection(*, on=None, normalise=None):
    """The histogram intersection ``sum min(x, z)`` for features that are not negative (use standardise=False)."""
    return _family("intersection", _parts(normalise), on)


@_documented
def trees(leaves=16, *, folds=None, on=None, normalise=None):
    """How often two samples reach the same leaf of trees, which labelled samples grow by gradient boosting.

    For :class:`AutoMKLClassifier` and :class:`AutoMKLRegressor`, which judge them by samples that did not grow them.
    """
    return _family("trees", _parts(normalise, leaves=leaves, folds=folds), on)
