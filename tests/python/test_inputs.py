# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of every kind, DataFrames, sparse matrices, views, kernel objects, callables."""
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kloom
from conftest import KERNELS, clouds
from kloom import linear, poly, rbf, view


def scores(X, y, new, **parameters):
    return kloom.SimpleMKLClassifier(**{"kernels": KERNELS, **parameters}).fit(X, y).decision_function(new)


def test_layout_and_type_do_not_matter(two_classes):
    X, y = two_classes
    wanted = scores(X, y, X)
    read_only = X.copy()
    read_only.setflags(write=False)
    every_second = np.repeat(X, 2, axis=0)[::2]
    for same in (np.asfortranarray(X), read_only, every_second, X.tolist(), sparse.csr_matrix(X), sparse.coo_matrix(X)):
        assert np.array_equal(scores(same, y, same), wanted)
    single = X.astype(np.float32)
    assert np.array_equal(scores(single, y, single), scores(single.astype(float), y, single.astype(float)))


def test_input_is_not_changed(two_classes):
    X, y = two_classes
    before = X.copy()
    scores(X, y, X)
    assert np.array_equal(X, before)


def test_names_of_a_frame_are_kept(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=["age", "mean radius", "grade"])
    clf = kloom.SimpleMKLClassifier(kernels='rbf(width=1) on age, "mean radius"').fit(frame, y)
    assert list(clf.feature_names_in_) == list(frame.columns)
    assert [name.split(" on ")[1] for name in clf.kernel_names_] == ["age", '"mean radius"']
    assert np.array_equal(scores(frame, y, frame), scores(X, y, X))
    with pytest.raises(ValueError, match="height"):
        kloom.SimpleMKLClassifier(kernels="rbf(width=1) on height").fit(frame, y)


def test_views(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    wanted = None
    for data, first, second in ((X, slice(0, 2), [2]), (X, [0, 1], slice(2, None)), (X, [True, True, False], 2),
                                (X, np.array([0, 1]), np.int64(-1)),
                                (frame, ["a", "b"], "c"), (frame, slice(0, 2), ["c"])):
        clf = kloom.SimpleMKLClassifier(kernels="rbf(width=1)", views={"one": first, "two": second}).fit(data, y)
        assert list(clf.kernel_names_) == ["rbf(width=1) on view one", "rbf(width=1) on view two"]
        found = clf.decision_function(data)
        assert wanted is None or np.array_equal(found, wanted)
        wanted = found
    with pytest.raises(ValueError, match="view 'one' names the column 'z'"):
        kloom.SimpleMKLClassifier(views={"one": ["z"]}).fit(frame, y)
    for wrong, message in (([], "no columns"), (slice(5, 9), "no columns"),
                           ([0, 7], r"columns \[0, 7\], but X has 3 columns, 0 to 2"),
                           ([True, False], "mask of 2 entries, but X has 3 columns"), ([0.5], r"got \[0.5\]")):
        with pytest.raises(ValueError, match="view 'one'.*" + message):
            kloom.SimpleMKLClassifier(views={"one": wrong}).fit(frame, y)


def test_kernel_objects(two_classes):
    X, y = two_classes
    objects = rbf(width=[0.5, 1, 2, 4], on="all") + linear(on="each")
    assert str(objects) == "rbf(width=0.5,1,2,4) on all; linear on each"
    assert np.array_equal(scores(X, y, X, kernels=objects), scores(X, y, X))
    assert str(rbf(on=view("rna"), count=3)) == "rbf(auto, count=3) on view rna"
    assert str(poly(degree=range(1, 4), on=[("a", "b c")])) == 'poly(degree=1,2,3) on a + "b c"'
    assert str(rbf(width="2^-1..2^1", normalise="centre")) == "rbf(width=0.5,1,2, normalise=centre)"
    assert "linear" + rbf(width=1) == linear() + rbf(width=1)
    with pytest.raises(ValueError, match="width or gamma"):
        rbf(width=1, gamma=1)
    with pytest.raises(ValueError, match="degree"):
        poly(degree=0)
    with pytest.raises(TypeError):
        rbf(width=1) + 3
    grid = GridSearchCV(kloom.SimpleMKLClassifier(), {"kernels": [linear(), rbf(width=1)]}, cv=2).fit(X, y)
    assert grid.best_params_["kernels"] in (linear(), rbf(width=1))


def wide(X, Z):
    return rbf_kernel(X, Z, gamma=0.1)


def test_callables(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels=[wide, linear_kernel], tol=1e-8).fit(X[:40], y[:40])
    assert list(clf.kernel_names_) == ["wide", "linear_kernel"]
    cube = np.stack([wide(X, X), linear_kernel(X, X)], axis=2)
    given = kloom.SimpleMKLClassifier(kernels="precomputed", tol=1e-8).fit(cube[:40, :40], y[:40])
    # The functions see 40 or 60 samples at a time, which changes their last digits.
    assert np.allclose(clf.decision_function(X[40:]), given.decision_function(cube[40:, :40]), rtol=1e-6, atol=1e-6)
    assert cross_val_score(clone(clf), X, y, cv=3).mean() > 0.7
    one = kloom.SimpleMKLClassifier(kernels=wide).fit(X, y)
    assert one.certify(X, y)["proof"]
    with pytest.raises(ValueError, match="kernel <lambda> returned an array of shape"):
        kloom.SimpleMKLClassifier(kernels=lambda A, B: np.ones((2, 2))).fit(X, y)
    with pytest.raises(ValueError, match="kernels must be a kernel spec"):
        kloom.SimpleMKLClassifier(kernels=[wide, "linear"]).fit(X, y)


def test_inside_a_pipeline(two_classes):
    X, y = two_classes
    pipeline = make_pipeline(StandardScaler(), kloom.SimpleMKLClassifier(kernels="linear", standardise=False))
    search = GridSearchCV(pipeline, {"simplemklclassifier__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("make, message", [
    (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    (lambda X, y: (X[:, 0], y), "Expected 2D array"),
    (lambda X, y: (np.where(X == X[3, 1], np.nan, X), y), "Input X contains NaN"),
    (lambda X, y: (X, np.zeros(len(y))), "at least two classes; the data has 1 class: 0.0"),
    (lambda X, y: (X, X[:, 0]), "Unknown label type"),
    (lambda X, y: (X, None), "requires y to be passed"),
    (lambda X, y: (X[:1], y[:1]), "minimum of 2 is required"),
    (lambda X, y: (X.astype(object).tolist()[:-1] + [["a", "b", "c"]], y), "could not convert string to float"),
])
def test_bad_data_are_refused_in_a_sentence(make, message, two_classes):
    X, y = make(*two_classes)
    with pytest.raises(ValueError) as refused:
        kloom.SimpleMKLClassifier().fit(X, y)
    assert message in str(refused.value)


def test_bad_weights(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels="linear")
    for weight, message in ((-np.ones(len(y)), "must not be negative"), (np.zeros(len(y)), "0 for every sample|at least one non-zero"),
                            (np.ones(3), "sample_weight.shape"), (np.where(y == 0, 0.0, 1.0), "1 class")):
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y, weight)


def test_bad_class_weights(two_classes):
    X, y = two_classes
    for weight, message in (({7: 1.0}, "class 7, which y does not have"), ({1: -1.0}, "class 1 is -1.0; it must not be negative"),
                            ({1: np.nan}, "must not be negative")):
        with pytest.raises(ValueError, match=message):
            kloom.SimpleMKLClassifier(class_weight=weight).fit(X, y)


def test_certificates_are_about_the_training_data(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    weight = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    clf = kloom.SimpleMKLClassifier(kernels="rbf(width=1)").fit(frame, y, weight)
    assert clf.certify(frame, y, weight)["proof"]
    before = clf.decision_function(frame)
    other = frame.copy()
    other.loc[7, "b"] += 0.1
    for data, message in ((other, "X, sample 8: feature 'b' differs"), (frame[["a", "b"]], "not in this data: c"),
                          (frame[:40], "40 samples")):
        with pytest.raises(ValueError, match=message):
            clf.certify(data, y[:len(data)], weight[:len(data)])
    # And asking changes nothing.
    assert np.array_equal(clf.decision_function(frame), before) and clf.n_features_in_ == 3


def test_not_fitted():
    X, _ = clouds()
    clf = kloom.BEMKLClassifier()
    for method in (clf.predict, clf.predict_proba, clf.decision_function, clf.contributions):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        clf.save("nowhere.model")


def test_other_columns_are_refused(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels="linear").fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but SimpleMKLClassifier is expecting 3"):
        clf.predict(X[:, :2])


def test_kernels_that_suit_the_data(two_classes, numbers):
    X, y = two_classes
    assert kloom.SimpleMKLClassifier().fit(X, y).score(X, y) > 0.8
    X, y = numbers
    assert kloom.BEMKLRegressor().fit(X, y).score(X, y) > 0.8
