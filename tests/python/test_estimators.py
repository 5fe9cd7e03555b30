# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks of every estimator."""
import inspect

import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.estimator_checks import parametrize_with_checks

import kloom

# Cheap kernels and few iterations: the checks are about conventions.
CHEAP = {
    "BEMKLClassifier": {"max_iter": 60},
    "BEMKLRegressor": {"max_iter": 60},
    "GMKLClassifier": {"kernels": "rbf(width=1) on each", "C": 1.0},
    "GMKLRegressor": {"kernels": "rbf(width=1) on each", "C": 1.0},
    "MKRRegressor": {"draws": 8},
    "MKLDAClassifier": {"kernels": "rbf(width=1,2)", "sweeps": 2, "epochs": 3},
    "SAMKLClassifier": {"C": 1.0, "m0": "1", "updates": "one", "kernels": "rbf(width=1,2)"},
    "UFOMKLClassifier": {"kernels": "rbf(width=1,2)", "epochs": 5},
    **{method + task: {"C": 1.0} for method in ("UniformMKL", "SingleKernel", "SimpleMKL", "LpMKL", "EasyMKL", "GRAM", "Align", "AlignF", "FHeuristic", "PWMK", "GroupMKL")
       for task in ("Classifier", "Regressor")},
}


def estimator_classes():
    """Those that learn from one array: KernelFunctions, a step before them, takes graphs and texts and gives no arrays of
    features, and BEMKLTasks takes an array for each task (test_several_tasks.py)."""
    return [value for _, value in inspect.getmembers(kloom, inspect.isclass)
            if issubclass(value, BaseEstimator) and not issubclass(value, TransformerMixin) and value is not kloom.BEMKLTasks]


def instances():
    for cls in estimator_classes():
        options = {"kernels": "rbf(width=1); linear", "n_jobs": 1, **CHEAP.get(cls.__name__, {})}
        if "probability" in cls().get_params():
            if cls is kloom.UniformMKLClassifier:   # the code is the same for all
                yield cls(**options)
            options["probability"] = False
        yield cls(**options)


def expected(estimator):
    return estimator._expected_failures


# Before 1.6 expected failures are a tag of the estimator.
arguments = {"expected_failed_checks": expected} if "expected_failed_checks" in inspect.signature(
    parametrize_with_checks).parameters else {}


@parametrize_with_checks(list(instances()), **arguments)
def test_scikit_learn_check(estimator, check):
    # These checks shuffle or repeat samples and compare scores to 1e-7: ask the solvers for that much.
    if "sample_weight" in str(check) and "tol" in estimator.get_params():
        estimator.set_params(tol=1e-12)
    check(estimator)


def test_every_method_has_its_estimators():
    from kloom._options import ESTIMATORS, LEARNERS

    for method, learner in LEARNERS.items():
        if "binary" in learner["tasks"]:
            assert (method, "classes") in ESTIMATORS
        if "regression" in learner["tasks"]:
            assert (method, "numbers") in ESTIMATORS


def test_defaults_are_constructible_and_clone():
    for cls in estimator_classes():
        estimator = cls()
        assert sklearn.base.clone(estimator).get_params() == estimator.get_params()


def test_expected_failures_have_reasons():
    for cls in estimator_classes():
        for check, reason in cls()._expected_failures.items():
            assert check.startswith("check_") and len(reason) > 30
