# SPDX-License-Identifier: BSD-3-Clause
"""Estimators from the registry: every option of a method is described once, in the C++ library, and becomes here a
parameter with its default, its range and its text."""
import inspect
import math
import numbers
import textwrap

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ._load import core
from ._words import PYTHON_NAMES, in_python, python_name

LEARNERS = core.learners()
ESTIMATORS = {}   # (method, "classes" or "numbers") -> class

# Parameters that every estimator has besides the options of its method: default, constraint, text.
KERNELS = ("kernels", None, None, (
    "Which kernels: a kernel spec such as ``\"rbf(width=2^-1..2^3) on all, each; linear\"``, objects such as "
    "``rbf(width=[1, 2]) + linear()``, a callable or a list of callables ``f(X, Z)`` that return a kernel matrix, or "
    "``\"precomputed\"``: X is then an (n, n, P) array or a :class:`KernelBank`. None: kernels that suit the data."))
COMMON = (
    ("views", None, [dict, None], (
        "Named groups of features: ``{\"rna\": slice(0, 2000), \"clinical\": [\"age\", \"grade\"]}``. Kernels without "
        "``on`` then look at each view. None: the beginnings of a DataFrame's column names where all are called "
        "``view.column``; an empty dict: no views.")),
    ("keep", None, ["array-like", None],
     "Columns of a DataFrame that must not be dropped as ids, names or dates."),
    ("text", None, ["array-like", None],
     "Columns of a DataFrame to take as text for the kernels ``words``, ``spectrum`` and ``edit``, whatever they look like."),
    ("standardise", True, ["boolean"], "Subtract the mean of each feature and divide by its standard deviation."),
    ("normalise", "unit-diagonal",
     [StrOptions({"unit-diagonal", "unit-trace", "unit-variance", "centre", "none"})],
     "How kernels are normalised whose family does not say it itself; those given as matrices or callables are taken as they "
     "are."),
    ("bank", "auto",
     [StrOptions({"auto", "dense", "dense32", "low-rank", "rbf-family", "computed"})],
     "How kernels are stored."),
    ("n_jobs", None, [numbers.Integral, None],
     "Threads. None: OMP_NUM_THREADS where it is set (joblib sets it in its workers), else every core; -1: every core."),
    ("random_state", None, ["random_state"],
     "Seed of everything random. None is the fixed seed 1, so that two fits give the same bits."),
    ("verbose", 0, ["verbose", callable], (
        "Say what is being done: with bars in terminals and notebooks where tqdm is installed, else in lines. A class with the "
        "interface of tqdm, such as ``tqdm.notebook.tqdm``: bars of that class.")),
)


class Option:
    """One option of a method as a parameter of its estimators."""

    def __init__(self, info):
        self.option = info["name"]
        self.name = python_name(self.option)
        self.kind = info["kind"]
        self.doc = info["doc"]
        self.rule = info["rule"]
        self.choices = info["choices"]
        self.low, self.high, self.low_open = info["low"], info["high"], info["low_open"]
        self.infinite = info["infinite"]
        self.default = self.value_of(info["default"])

    def value_of(self, text):
        """The Python value of a text that the library wrote."""
        if self.option == "class_weight":
            return None if text == "none" else text
        if self.kind == "real":
            return float(text)
        if self.kind == "integer":
            return int(float(text))
        if self.kind == "flag":
            return text == "true"
        if self.kind == "text":
            return text or None
        return text

    def text_of(self, value):
        """A Python value as the library reads it."""
        if self.option == "class_weight":
            return value if isinstance(value, str) else "none"
        if self.kind == "flag":
            return "true" if value else "false"
        if self.kind == "real":
            return repr(float(value))
        if self.kind == "integer":
            return str(int(value))
        if value is None:
            return ""
        if self.kind == "text" and not isinstance(value, str):
            rows = np.atleast_2d(np.asarray(value, dtype=float))
            return ";".join(",".join(repr(float(number)) for number in row) for row in rows)
        return str(value)

    @property
    def constraint(self):
        if self.option == "class_weight":
            return [StrOptions(set(self.choices) - {"none"}), dict, None]
        if self.kind == "flag":
            return ["boolean"]
        if self.kind == "choice":
            return [StrOptions(set(self.choices))]
        if self.kind == "text":
            return [str, "array-like", None]
        return [self._interval()]

    def _interval(self):
        kind = numbers.Real if self.kind == "real" else numbers.Integral
        bottom, top = self._bound(self.low), self._bound(self.high)
        if self.infinite:
            top = math.inf
        closed_low = bottom is not None and not self.low_open
        closed = ("both" if top is not None else "left") if closed_low else ("right" if top is not None else "neither")
        return Interval(kind, bottom, top, closed=closed)

    def _bound(self, value):
        if math.isinf(value):
            return None
        return value if self.kind == "real" else math.ceil(value)

    @property
    def type_text(self):
        if self.option == "class_weight":
            return "{'balanced'}, dict or None"
        if self.kind == "choice":
            return "{" + ", ".join(repr(choice) for choice in self.choices) + "}"
        name = {"real": "float", "integer": "int", "flag": "bool", "text": "str, array-like or None"}[self.kind]
        return f"{name}, {self.rule}" if self.rule else name


def options_of(method, task, without=()):
    """The options of a method that mean something in a task: "classes" or "numbers"."""
    return [Option(info) for info in LEARNERS[method]["options"]
            if info["name"] not in without and info["suits"] in ("all", task)]


def _sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _choices(constraint):
    """{'a', 'b'} of a constraint that is a choice among texts."""
    return "{" + ", ".join(repr(option) for option in sorted(constraint[0].options)) + "}"


def parameter_docs(options):
    """The section "Parameters" of a class."""
    kinds = {"views": "dict or None", "keep": "list of str or None", "text": "list of str or None", "standardise": "bool",
             "n_jobs": "int or None", "random_state": "int, RandomState instance or None", "verbose": "int, bool or class"}
    return parameter_docs_of(options, [(name, kinds.get(name) or _choices(constraint), default, text)
                                       for name, default, constraint, text in COMMON])


def parameter_docs_of(options, around):
    """The same with other parameters around the options: (name, type, default, text)."""
    name, default, _, text = KERNELS
    entries = [(name, "str, object, callable, list of callables or None", default, text)]
    entries += [(o.name, o.type_text, o.default, _sentence(in_python(o.doc))) for o in options]
    entries += around
    lines = ["Parameters", "----------"]
    for name, kind, default, text in entries:
        lines.append(f"{name} : {kind}, default={default!r}")
        lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines).rstrip()


def signature_of(options):
    return signature_with(options, [(name, default) for name, default, _, _ in COMMON])


def signature_with(options, around):
    """kernels, the options, and what is around them: (name, default)."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                  inspect.Parameter("kernels", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=KERNELS[1])]
    parameters += [inspect.Parameter(o.name, keyword, default=o.default) for o in options]
    parameters += [inspect.Parameter(name, keyword, default=default) for name, default in around]
    return inspect.Signature(parameters)


def initialiser(signature):
    """An __init__ that only assigns, with every parameter in its signature."""

    def __init__(self, *given, **named):
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature
    __init__.__doc__ = "Parameters are kept as they are; ``fit`` looks at them."
    return __init__


def learns(method, without=(), beside=(), attributes=""):
    """Class decorator: an estimator of `method`. `without`: options that its task does not have; `beside`: parameters
    that are no options of the method, as (name, default, constraint, type, text); `attributes`: what stands for {attributes}
    in its documentation."""

    def decorate(cls):
        options = options_of(method, cls._task, without)
        extra = [Beside(*one) for one in beside]
        cls._method = method
        cls._options = options
        ESTIMATORS[method, cls._task] = cls
        cls.__init__ = initialiser(signature_of(options + extra))
        constraints = {"kernels": "no_validation"}
        constraints.update({o.name: o.constraint for o in options + extra})
        constraints.update({name: constraint for name, _, constraint, _ in COMMON})
        cls._parameter_constraints = constraints
        cls.__doc__ = indent_docs(cls.__doc__.replace("{attributes}", attributes), parameter_docs(options + extra))
        return cls

    return decorate


class Beside:
    """A parameter of an estimator that is not an option of its method."""

    def __init__(self, name, default, constraint, type_text, doc):
        self.name, self.default, self.constraint = name, default, constraint
        self.type_text, self.doc = type_text, doc


def indent_docs(template, parameters):
    """The docstring with its parameters where it says {parameters}."""
    return template.replace("{parameters}", textwrap.indent(parameters, "    ").lstrip())


__all__ = ["COMMON", "LEARNERS", "PYTHON_NAMES", "learns", "options_of"]
