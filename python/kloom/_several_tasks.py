# SPDX-License-Identifier: BSD-3-Clause
"""Several related tasks at once, each with samples of its own."""
import json
import numbers
import os
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _inputs as inputs
from ._base import say, seed_of, threads_of
from ._load import core
from ._options import Option, indent_docs, initialiser, parameter_docs_of, signature_with
from ._progress import reporter
from ._words import in_python, python_words

_OPTIONS = [Option(info) for info in core.task_options()]
# What is around the options: name, default, constraint, type, text.
_AROUND = [
    ("standardise", True, ["boolean"], "bool", "Subtract the mean of each feature of all tasks and divide by its deviation."),
    ("normalise", "unit-diagonal", [StrOptions({"unit-diagonal", "unit-trace", "unit-variance", "none"})],
     "{'unit-diagonal', 'unit-trace', 'unit-variance', 'none'}", "How kernels are normalised whose family does not say it."),
    ("n_jobs", None, [numbers.Integral, None], "int or None", "Threads, as in the other estimators."),
    ("random_state", None, ["random_state"], "int, RandomState instance or None", "Seed; None is the fixed seed 1."),
    ("verbose", 0, ["verbose", callable], "int, bool or class", "Say what is being done."),
]


def _text_of(value):
    """A target as the library reads it: numbers with every digit, anything else as text."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


class BEMKLTasks(BaseEstimator):
    """Several tasks at once by Bayesian efficient multiple kernel learning.

    Every task has samples and targets of its own, numbers or classes; all look at their samples through the same kernels.
    Their weights are shared where held-out samples say that this predicts better.

    {parameters}

    Attributes
    ----------
    tasks_ : list of str
        Names of the tasks.
    kinds_ : dict
        For each task ``"regression"``, ``"binary"`` or ``"multiclass"``.
    classes_ : dict
        For each task with classes, these.
    shared_ : bool
        Whether the tasks share the weights of the kernels.
    kernel_weights_, kernel_weights_std_ : dict
        For each task an array of shape (n_kernels,): posterior means and standard deviations of the weights.
    kernel_names_ : array of str
        What the kernels are.
    lower_bound_ : float
        The lower bound on the sum of log p(y) of all tasks that was reached.
    report_ : dict
        What happened: status, certificate, options, what was held out.

    See Also
    --------
    BEMKLClassifier, BEMKLRegressor : One task.

    Examples
    --------
    >>> import numpy as np
    >>> from kloom import BEMKLTasks
    >>> rng = np.random.default_rng(0)
    >>> X = {"north": rng.normal(size=(30, 3)), "south": rng.normal(size=(25, 3))}
    >>> y = {"north": X["north"][:, 0], "south": np.where(X["south"][:, 0] > 0, "ill", "well")}
    >>> model = BEMKLTasks(kernels="rbf(width=1..2) on each").fit(X, y)
    >>> model.kinds_
    {'north': 'regression', 'south': 'binary'}
    >>> found = model.predict(X)
    >>> found["south"].shape, bool(np.mean(found["south"] == y["south"]) > 0.9)
    ((25,), True)
    """

    _task_options = _OPTIONS

    def fit(self, X, y):
        """Learn all tasks.

        Parameters
        ----------
        X : dict of {name: array-like of shape (n_samples of the task, n_features)}, or list of these
            Samples of each task; tasks of a list are called ``"1"``, ``"2"``, … All have the same features.
        y : dict or list, as X
            Targets of each task: numbers or classes, decided task by task as the command line does.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        X, y = _by_name(X), _by_name(y)
        if set(X) != set(y):
            raise ValueError(f"X has the tasks {sorted(X)}, y has {sorted(y)}; both need the same")
        arrays = {name: _matrix(name, values) for name, values in X.items()}
        self.n_features_in_ = next(iter(arrays.values())).shape[1] if arrays else 0
        task_of, labels, self._values = [], [], {}
        for name, values in arrays.items():
            targets = list(y[name])
            if len(targets) != len(values):
                raise ValueError(f"task {name!r} has {len(values)} samples and {len(targets)} targets")
            self._width(name, values)
            texts = [_text_of(value) for value in targets]
            self._values[name] = dict(zip(texts, targets))
            task_of += [name] * len(targets)
            labels += texts
        self._models = self._learn(np.vstack(list(arrays.values())) if arrays else np.empty((0, 1)), task_of, labels)
        self._keep()
        return self

    def _learn(self, features, task_of, labels):
        request = core.RecipeRequest()
        request.spec = inputs.spec_of(self.kernels)
        request.standardise = self.standardise
        request.normalise = self.normalise
        data = core.Dataset(np.asfortranarray(features), inputs.feature_names(self), [])
        values = {option.option: option.text_of(getattr(self, option.name)) for option in self._task_options}
        with python_words():
            return core.fit_tasks(data, task_of, labels, values, request, self._settings())

    def _settings(self):
        return core.Settings(threads=threads_of(self.n_jobs), seed=seed_of(self.random_state),
                             log=say if self.verbose else None, progress=reporter(self.verbose))

    def _keep(self):
        models = self._models
        self.tasks_ = list(models.names)
        self.shared_ = models.shared
        one = {name: models.model(name) for name in self.tasks_}
        self.kinds_ = {name: model.task for name, model in one.items()}
        self.classes_ = {name: np.array([self._value(name, text) for text in model.classes])
                         for name, model in one.items() if model.classes}
        self.kernel_weights_ = {name: model.weights[0] for name, model in one.items()}
        self.kernel_weights_std_ = {name: model.weights_deviation[0] for name, model in one.items()}
        self.kernel_names_ = np.array(one[self.tasks_[0]].kernel_names, dtype=object)
        self.report_ = json.loads(models.report_json)
        self.lower_bound_ = self.report_["objective"]
        if self.report_["status"] == "iteration limit":
            warnings.warn(f"BEMKLTasks ended before it converged: {in_python(self.report_['message'])}", ConvergenceWarning,
                          stacklevel=3)

    def _value(self, name, text):
        return self._values.get(name, {}).get(text, text)

    def _width(self, name, values):
        if values.shape[1] != self.n_features_in_:
            raise ValueError(f"task {name!r} has {values.shape[1]} features, and {self.n_features_in_} are expected")

    def _found(self, X, probabilities):
        check_is_fitted(self, "_models")
        found = {}
        for name, values in _by_name(X).items():
            values = _matrix(name, values)
            self._width(name, values)
            with python_words():
                model = self._models.model(name)
                data = core.Dataset(np.asfortranarray(values), inputs.feature_names(self), [])
                found[name] = model.predict(data, probabilities, False, False, self._settings())
        return found

    def predict(self, X, return_std=False):
        """Classes or numbers of new samples.

        Parameters
        ----------
        X : dict or list, as in ``fit``
            New samples of some or all of the tasks.
        return_std : bool, default=False
            Also return standard deviations: of numbers, or of the scores of classes.

        Returns
        -------
        predictions : dict of {name: array of shape (n_samples,)}
            Classes where the task has classes, else numbers.
        std : dict of arrays
            Only with ``return_std``.
        """
        found = self._found(X, return_std)
        answers = {name: self.classes_[name][one["codes"]] if name in self.classes_ else one["scores"][:, 0]
                   for name, one in found.items()}
        if not return_std:
            return answers
        spread = {name: one["deviation"][:, 0] if one["deviation"].shape[1] == 1 else one["deviation"]
                  for name, one in found.items()}
        return answers, spread

    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : dict or list, as in ``fit``
            New samples of tasks that have classes.

        Returns
        -------
        probabilities : dict of {name: array of shape (n_samples, n_classes)}
            Rows sum to 1.
        """
        found = self._found(X, True)
        for name in found:
            if name not in self.classes_:
                raise ValueError(f"task {name!r} has numbers, which have no probabilities; predict(X, return_std=True) has "
                                 f"their deviations")
        return {name: one["probabilities"] for name, one in found.items()}

    def save(self, path):
        """Write the models of all tasks to one file, which ``BEMKLTasks.load`` and the command line read.

        Parameters
        ----------
        path : str or path-like
            The file; an old one is replaced when the new one is whole.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self, "_models")
        self._models.save(os.fspath(path))
        return self

    @classmethod
    def load(cls, path):
        """The estimator in a file that ``save`` or ``kloom tasks`` wrote. Classes come back as texts.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        estimator : BEMKLTasks
            Fitted.
        """
        models = core.TaskModels.load(os.fspath(path))
        texts = json.loads(models.options_json) if models.options_json else {}
        given = {option.name: option.value_of(texts[option.option]) for option in cls._task_options
                 if isinstance(texts.get(option.option), str)}
        first = models.model(models.names[0])
        estimator = cls(first.spec, **given)
        estimator.n_features_in_ = len(first.feature_names)
        if first.feature_names != [str(i + 1) for i in range(estimator.n_features_in_)]:
            estimator.feature_names_in_ = np.array(first.feature_names, dtype=object)
        estimator._values = {}
        estimator._models = models
        estimator._keep()
        return estimator


def _by_name(values):
    if hasattr(values, "items"):
        return {str(name): value for name, value in values.items()}
    return {str(place + 1): value for place, value in enumerate(values)}


def _matrix(name, values):
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise ValueError(f"the samples of task {name!r} must be an array of rows and columns; got one of shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"the samples of task {name!r} contain NaN or infinity")
    return values


BEMKLTasks.__init__ = initialiser(signature_with(_OPTIONS, [(name, default) for name, default, *_ in _AROUND]))
BEMKLTasks._parameter_constraints = {"kernels": "no_validation", **{o.name: o.constraint for o in _OPTIONS},
                                     **{name: constraint for name, _, constraint, _, _ in _AROUND}}
BEMKLTasks.__doc__ = indent_docs(BEMKLTasks.__doc__, parameter_docs_of(
    _OPTIONS, [(name, kind, default, text) for name, default, _, kind, text in _AROUND]))
