# SPDX-License-Identifier: BSD-3-Clause
"""Parameters come from the registry: names, defaults, ranges, texts."""
import inspect

import numpy as np
import pytest

import kloom
from conftest import clouds
from kloom._load import core
from kloom._options import COMMON, ESTIMATORS, LEARNERS
from kloom._words import PYTHON_NAMES, in_python


@pytest.mark.parametrize("key", sorted(ESTIMATORS), ids="-".join)
def test_every_option_is_a_parameter_with_its_default(key):
    method, _ = key
    cls = ESTIMATORS[key]
    defaults = {p.name: p.default for p in inspect.signature(cls).parameters.values()}
    for option in LEARNERS[method]["options"]:
        name = PYTHON_NAMES.get(option["name"], option["name"])
        if option["suits"] not in ("all", cls._task):
            assert name not in defaults
            continue
        default = defaults[name]
        if option["kind"] in ("real", "integer"):
            assert default == float(option["default"]) and isinstance(default, (int, float))
        elif option["kind"] == "flag":
            assert default is (option["default"] == "true")
        else:
            assert (default or "none") == (option["default"] or "none")
        assert option["doc"].split()[1] in cls.__doc__
    assert list(defaults)[0] == "kernels" and set(defaults) >= {name for name, *_ in COMMON}
    assert "{" not in cls.__doc__.replace("{'", "").replace('{"', ""), "a placeholder was left in the docstring"


def test_the_library_knows_every_option_we_send():
    X, y = clouds()
    for (method, kind), cls in ESTIMATORS.items():
        values = cls()._option_values()
        assert set(values) <= {option["name"] for option in LEARNERS[method]["options"]}


@pytest.mark.parametrize("parameters, message", [
    ({"C": -1.0}, "The 'C' parameter of SimpleMKLClassifier must be a float in the range"),
    ({"max_iter": 0}, "The 'max_iter' parameter of SimpleMKLClassifier must be an int in the range"),
    ({"algorithm": "newton"}, "The 'algorithm' parameter of SimpleMKLClassifier must be a str among"),
    ({"views": 3}, "The 'views' parameter"),
    ({"kernels": 7}, "kernels must be a kernel spec"),
    ({"kernels": "rbf(width=)"}, "expected a number"),
    ({"kernels": "gaus(width=1)"}, "gaus"),
    ({"n_jobs": 0}, "n_jobs == 0 has no meaning"),
    ({"C_grid": "1..x"}, "1"),
])
def test_bad_parameters_are_refused_in_fit(parameters, message):
    X, y = clouds()
    with pytest.raises(ValueError) as refused:
        kloom.SimpleMKLClassifier(**parameters).fit(X, y)
    assert message in str(refused.value)


def test_unknown_parameters_are_refused_at_once():
    with pytest.raises(TypeError, match="gamma"):
        kloom.SimpleMKLClassifier(gamma=1)


def test_infinite_norm_is_uniform():
    X, y = clouds()
    clf = kloom.LpMKLClassifier(kernels="rbf(width=1,2,4)", norm=np.inf).fit(X, y)
    assert np.allclose(clf.kernel_weights_, clf.kernel_weights_[0])


def test_messages_speak_python():
    assert in_python("more --iterations or a larger --tolerance") == "more max_iter or a larger tol"
    assert in_python("chi2 needs --no-standardise") == "chi2 needs standardise=False"
    X, y = clouds()
    with pytest.raises(ValueError) as refused:
        kloom.SimpleMKLClassifier(kernels="chi2(gamma=1)").fit(X, y)
    assert "--" not in str(refused.value)


def test_the_core_names_its_learners():
    assert core.learners().keys() == LEARNERS.keys()
    assert kloom.__version__ == core.version()
    assert kloom.machine_info()["cores"] >= 1
