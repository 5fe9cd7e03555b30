# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of other libraries in pipelines, against matrices made by hand."""
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import kloom
from kloom import KernelFunctions, Views


def data(samples=50, seed=0):
    generator = np.random.RandomState(seed)
    X = generator.normal(size=(samples, 5))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.8, "b", "a")


def machine(**options):
    return kloom.LpMKLClassifier(kernels="precomputed", **{"C": 1.0, "probability": False, **options})


class SharedLetters:
    """A kernel with GraKeL's interface: how many letters two texts share."""

    def fit_transform(self, texts):
        self.alphabet = sorted(set("".join(texts)))
        self.counts = self._counts(texts)
        return self.counts @ self.counts.T

    def transform(self, texts):
        return self._counts(texts) @ self.counts.T

    def _counts(self, texts):
        return np.array([[text.count(letter) for letter in self.alphabet] for text in texts], dtype=float)


def double(X, Z):
    return 2.0 * linear_kernel(X, Z)


def test_kernels_of_every_kind_are_what_they_are():
    X, _ = data()
    functions = KernelFunctions({"gauss": RBF(2.0), "tent": "laplacian", "lines": (double, [0, 2]), "first": ("rbf", slice(0, 1))},
                                normalise=False)
    bank = functions.fit_transform(X[:30])
    assert isinstance(bank, kloom.KernelBank) and bank.names == ["gauss", "tent", "lines", "first"] and bank.shape == (30, 30, 4)
    for new, rows in ((bank, X[:30]), (functions.transform(X[30:]), X[30:])):
        expected = [RBF(2.0)(rows, X[:30]), laplacian_kernel(rows, X[:30]), 2 * rows[:, [0, 2]] @ X[:30, [0, 2]].T,
                    rbf_kernel(rows[:, :1], X[:30, :1])]
        found = np.asarray(new)
        for p, kernel in enumerate(expected):
            np.testing.assert_allclose(found[:, :, p], kernel, rtol=1e-14)


def test_scales_are_those_of_training():
    X, _ = data()
    functions = KernelFunctions({"lines": "linear"})
    bank = np.asarray(functions.fit_transform(X[:30]))[:, :, 0]
    assert np.mean(np.diag(bank)) == pytest.approx(1.0, rel=1e-14)
    mean = np.mean((X[:30] ** 2).sum(axis=1))
    assert functions.scales_["lines"] == pytest.approx(mean, rel=1e-14)
    np.testing.assert_allclose(np.asarray(functions.transform(X[30:]))[:, :, 0], X[30:] @ X[:30].T / mean, rtol=1e-13)


def test_a_pipeline_predicts_as_given_matrices_do_and_can_be_cut_cloned_and_pickled():
    X, y = data()
    kernels = {"smooth": Matern(1.5) + WhiteKernel(1e-3), "tent": "laplacian"}
    model = make_pipeline(KernelFunctions(kernels), machine())
    scores = cross_val_score(model, X, y, cv=StratifiedKFold(3))
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        functions = KernelFunctions(kernels)
        given = machine().fit(np.asarray(functions.fit_transform(X[train])), y[train])
        expected.append(given.score(np.asarray(functions.transform(X[test])), y[test]))
    np.testing.assert_array_equal(scores, expected)
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X[:7]), fitted.decision_function(X[:7]))
    search = GridSearchCV(model, {"kernelfunctions__normalise": [True, False]}, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 2


def test_columns_of_objects_views_and_dicts():
    X, y = data()
    texts = ["a" * (1 + 3 * (label == "b")) + "bc"[: 1 + i % 2] for i, label in enumerate(y)]
    frame = pd.DataFrame({"text": texts, "u": X[:, 0], "v": X[:, 1]})
    kernels = {"letters": (SharedLetters(), "text"), "numbers": ("rbf", ["u", "v"]), "one": ("rbf", "u")}
    model = make_pipeline(KernelFunctions(kernels), machine())
    assert cross_val_score(model, frame, y, cv=3).mean() > 0.9
    # What pandas from 3 on makes of texts by itself.
    assert cross_val_score(model, frame.astype({"text": "string"}), y, cv=3).mean() > 0.9
    assert not hasattr(kernels["letters"][0], "alphabet"), "the user's own object is not fitted"
    several = {"numbers": ("rbf", "x")}
    by_dict = KernelFunctions(several).fit_transform({"x": X[:, :2]})
    by_views = KernelFunctions(several).fit_transform(Views({"x": X[:, :2], "rest": X[:, 2:]}))
    by_frame = KernelFunctions({"numbers": kernels["numbers"]}).fit_transform(frame)
    np.testing.assert_array_equal(np.asarray(by_dict), np.asarray(by_views))
    np.testing.assert_array_equal(np.asarray(by_dict), np.asarray(by_frame))


@pytest.mark.parametrize("kernels, words", [
    ({}, "a dict of kernels by name"), ("rbf", "a dict of kernels by name"), ({"a": "gauss"}, "scikit-learn has no kernel 'gauss'"),
    ({"a": 3}, "must be a function"), ({"a": lambda X, Z: np.ones((2, 2))}, r"returned an array of shape \(2, 2\)"),
    ({"a": lambda X, Z: np.zeros((len(X), len(Z)))}, "is it a distance"), ({"a": ("rbf", "u")}, "X is an array; its columns have numbers"),
])
def test_mistakes_are_named(kernels, words):
    X, _ = data(10)
    with pytest.raises(ValueError, match=words):
        KernelFunctions(kernels).fit(X)


def test_parts_that_are_not_there_are_named():
    X, _ = data(10)
    gappy = X[:, :2].copy()
    gappy[3] = np.nan
    with pytest.raises(ValueError, match="looks at the column 'w', which X does not have"):
        KernelFunctions({"a": ("rbf", "w")}).fit(pd.DataFrame({"u": X[:, 0]}))
    with pytest.raises(ValueError, match="looks at 'w', which X does not have; it has u"):
        KernelFunctions({"a": ("rbf", "w")}).fit({"u": X})
    with pytest.raises(ValueError, match="looks at the view 'w', which X does not have; it has u"):
        KernelFunctions({"a": ("rbf", "w")}).fit(Views({"u": X}))
    with pytest.raises(ValueError, match="1 samples lack the view 'u'"):
        KernelFunctions({"a": ("rbf", "u")}).fit(Views({"u": gappy, "v": X}))
