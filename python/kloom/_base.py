# SPDX-License-Identifier: BSD-3-Clause
"""What every estimator does: read the input, ask the library, keep what it answered under scikit-learn's names."""
import copy
import json
import os
import warnings

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _frames as frames
from . import _inputs as inputs
from ._bank import as_bank, refuse_indefinite
from ._html import kernels_html
from ._load import core
from ._progress import reporter
from ._words import in_python, python_words

DEFAULT_SEED = 1   # that of the command line


def threads_of(n_jobs):
    if n_jobs is None:
        said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(said) if said.isdigit() else 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; give a number of threads, or -1 for every core")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def seed_of(random_state):
    if random_state is None:
        return DEFAULT_SEED
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def say(level, message):
    print(in_python(message))


def copies_differ(why):
    """Checks of scikit-learn in which a sample of weight k must be the same as k copies of it."""
    return dict.fromkeys(("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), why)


SCALED = copies_differ("features, numeric targets and kernel constants are scaled by the samples as they are, whatever their "
                       "weights; where nothing is scaled, a sample of weight k is the same as k copies of it")


class KernelEstimator(BaseEstimator):
    """The common part of all estimators; `learns` (_options.py) gives each its method and parameters."""

    _method = None
    _options = ()
    _ends_by_plan = False   # a fixed number of steps is how the method ends, not a failure to converge
    _limit = "max_iter"   # the parameter that ends a fit which does not converge
    _expected_failures = SCALED   # checks of scikit-learn that do not hold for the method, and why

    # What the library is told besides the data.

    def _settings(self):
        return core.Settings(threads=threads_of(self.n_jobs), seed=seed_of(self.random_state),
                             log=say if self.verbose else None, progress=reporter(self.verbose))

    def _option_values(self):
        return {option.option: option.text_of(getattr(self, option.name)) for option in self._options}

    # Training.

    def fit(self, X, y, sample_weight=None):
        """Learn from labelled samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or DataFrame
            Columns of a DataFrame may hold numbers, texts, categories, truth values, dates and gaps; ``columns_`` says what was
            made of each, by the rules of the command line. Arrays hold numbers without gaps.
            With ``kernels="precomputed"``: an (n_samples, n_samples, n_kernels) array, a KernelBank or a list of matrices.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight 0 counts as absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight=None):
        self._validate_params()
        X, y = self._read_training(X, y)
        y = self._read_target(y)
        weight = self._weights(sample_weight, X, y)
        if weight is not None and not weight.all():
            X, y, weight = self._without_absent(X, y, weight)
        targets = self._targets(y, weight)
        with python_words():
            self._model = self._learn(X, targets)
        self._keep_results()
        return self

    def _read_training(self, X, y):
        self._kept = None
        self._from_file = False
        if not inputs.is_precomputed(self.kernels):
            return inputs.read_training(self, X, y, multi_output=True)
        bank = as_bank(X)
        if bank.shape[0] != bank.shape[1]:
            raise ValueError(f"kernels between {bank.shape[0]} and {bank.shape[1]} samples were given to fit; kernels of "
                             f"training samples are square")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = np.asarray(y)
        if len(y) != bank.shape[0]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{bank.shape[0]}, {len(y)}]")
        self.n_features_in_ = bank.shape[0]
        return bank, y

    def _weights(self, sample_weight, X, y):
        if sample_weight is None:
            return None
        rows = np.empty((len(y), 1)) if inputs.is_precomputed(self.kernels) else X
        weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        if (weight < 0).any():
            raise ValueError(f"sample_weight must not be negative; sample {int(np.argmin(weight))} has {weight.min()}")
        if not weight.any():
            raise ValueError("sample_weight is 0 for every sample")
        return weight

    def _without_absent(self, X, y, weight):
        kept = np.flatnonzero(weight)
        if inputs.is_precomputed(self.kernels):
            self._kept = kept
            return X[np.ix_(kept, kept)], y[kept], weight[kept]
        return X[kept], y[kept], weight[kept]

    def _learn(self, X, targets):
        settings = self._settings()
        if inputs.is_precomputed(self.kernels) or inputs.functions_of(self.kernels) is not None:
            bank = self._bank_of(X)
            refuse_indefinite(bank)
            if not inputs.is_precomputed(self.kernels):
                self._fit_X = X
            return core.fit_bank(self._method, bank, targets, self._option_values(), settings)
        data = inputs.make_dataset(self, X)
        spec = inputs.spec_of(self.kernels)
        if isinstance(X, frames.Table):
            request = frames.recipe_request(self, X, spec)
            request.bank = self.bank
            for note in data.notes if self.verbose else ():
                say("info", note)
            return core.fit_table(self._method, data, targets, self._option_values(), request, settings)
        recipe = inputs.fit_recipe(self, data, X, spec, settings, targets)
        return core.fit_recipe(self._method, recipe, targets, self._option_values(), self.bank, settings)

    # What the library answered.

    def _keep_results(self):
        self._keep_model()
        report = self.report_
        if self.verbose:
            say("info", f"{self._method}: {report['status']}, {report['message']}")
        if report["status"] == "numerical trouble":
            raise RuntimeError(f"{type(self).__name__} ran into numerical trouble: {in_python(report['message'])}")
        if report["status"] == "iteration limit" and not self._ends_by_plan:
            said = in_python(report["message"])
            remedy = "" if f"more {self._limit}" in said else f"; a larger {self._limit} lets it go on"
            warnings.warn(f"{type(self).__name__} ended before it converged: {said}{remedy}", ConvergenceWarning, stacklevel=4)
        for message in report["warnings"]:
            warnings.warn(in_python(message), UserWarning, stacklevel=4)

    def _keep_model(self):
        model = self._model
        weights = model.weights
        shared = weights.shape[0] == 1
        self.kernel_weights_ = weights[0] if shared else weights
        deviation = model.weights_deviation
        if deviation.size:
            self.kernel_weights_std_ = deviation[0] if shared else deviation
        self.kernel_names_ = np.array(model.kernel_names, dtype=object)
        self.weights_by_view_ = model.weights_by_view
        self.report_ = json.loads(model.report_json) if model.report_json else {}
        self.n_iter_ = max(1, self.report_.get("iterations", 1))
        self.objective_ = self.report_.get("objective")
        if "gap" in self.report_:
            self.gap_ = self.report_["gap"]
        if not model.takes_kernels:
            in_order = getattr(self, "_by_name", False) and hasattr(self, "feature_names_in_")
            self.columns_ = frames.decisions(self.feature_names_in_, model.decisions) if in_order else model.decisions
            self.kernel_reasons_ = model.kernel_reasons
        self.dual_coef_ = model.coefficients
        self.intercept_ = model.bias

    # Prediction.

    def _predictions(self, X, probabilities=False, contributions=False, deviations=False):
        samples = inputs.new_samples(self, X)
        with python_words():
            return self._model.predict(samples, probabilities, contributions, deviations, self._settings())

    def views_present(self, X):
        """Which views every sample has: those that its prediction was made from.

        Parameters
        ----------
        X : as in ``fit``
            New samples.

        Returns
        -------
        present : dict
            For each view that samples may lack, an array of truth values, one per sample.
        """
        found = self._predictions(X)
        return {name: found["views"][:, place] > 0 if "views" in found else np.ones(len(found["scores"]), dtype=bool)
                for place, name in enumerate(self._model.view_names)}

    def contributions(self, X, return_std=False):
        """How much each kernel added to the score of each sample.

        Parameters
        ----------
        X : as in ``fit``
            New samples.
        return_std : bool, default=False
            Also return how sure each of them is; of estimators that learn a posterior of kernel weights (BEMKL, MTMKL).

        Returns
        -------
        contributions : array of shape (n_samples, n_kernels), or (n_samples, n_outputs, n_kernels)
            Rows sum to the score less the bias.
        std : array of the same shape
            Only with ``return_std``.
        """
        found = self._predictions(X, contributions=True, deviations=return_std)
        if return_std and not found["contribution_deviations"]:
            raise ValueError(f"{type(self).__name__} has no deviations of contributions: it learns no posterior of kernel "
                             "weights; BEMKLClassifier, BEMKLRegressor and MTMKLRegressor do")
        parts, deviations = (values[0] if len(values) == 1 else np.stack(values, axis=1) if values else None
                             for values in (found["contributions"], found["contribution_deviations"]))
        return (parts, deviations) if return_std else parts

    def certify(self, X, y, sample_weight=None):
        """The referee's finding on the training data, recomputed from the model alone.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``
            The data that the estimator was fitted on.

        Returns
        -------
        certificate : dict
            ``finding`` (proved, checked or refuted), ``items`` (name, value, meaning), ``proof`` (do they prove
            optimality?), the ``verdict`` in a sentence and, where something disagrees, ``refuted``: which numbers.
        """
        check_is_fitted(self)
        other = copy.copy(self)   # reading data sets attributes
        X, y = other._read_training(X, y)
        y = other._read_target(y)
        weight = other._weights(sample_weight, X, y)
        if weight is not None and not weight.all():
            X, y, weight = other._without_absent(X, y, weight)
        with python_words():
            bank = other._bank_of(X)
            return json.loads(core.certify(bank, other._targets(y, weight), self._model, self._settings()))

    def _bank_of(self, X):
        """Kernels of the training samples once more."""
        if inputs.is_precomputed(self.kernels):
            return X._to_core(symmetric=True)
        functions = inputs.functions_of(self.kernels)
        if functions is not None:
            return core.Bank.from_stack(inputs.kernel_stack(functions, X, X), inputs.function_names(functions), True)
        if isinstance(X, frames.Table):
            core.require_training_samples(self._model, X.dataset(self._model.text_names))
        else:
            core.require_training_samples(self._model, core.Dataset(X, inputs.feature_names(self)))
        return self._model.training_bank()

    # Files.

    def save(self, path):
        """Write the model to a file that ``kloom.load`` and the command line read.

        Parameters
        ----------
        path : str or path-like
            The file; an old one is replaced when the new one is whole.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))
        return self

    # In a notebook: scikit-learn's diagram and, below it, the kernels.

    @property
    def _repr_html_(self):
        diagram = super()._repr_html_   # there is none where scikit-learn was told to show text
        return lambda: diagram() + kernels_html(self)

    def _repr_mimebundle_(self, **kwargs):
        shown = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += kernels_html(self)
        return shown

    # scikit-learn's questions, before 1.6 and since.

    def _more_tags(self):
        return {"pairwise": inputs.is_precomputed(self.kernels), **self._old_tags()}

    def _old_tags(self):
        return {"requires_y": True, "_xfail_checks": self._expected_failures}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = inputs.is_precomputed(self.kernels)
        tags.input_tags.three_d_array = tags.input_tags.pairwise
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
