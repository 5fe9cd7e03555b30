# SPDX-License-Identifier: BSD-3-Clause
"""Kernels given as matrices, and scikit-learn's cross-validation on them."""
import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, learning_curve

import kloom
from conftest import clouds
from kloom import KernelBank

FUNCTIONS = (linear_kernel, rbf_kernel, laplacian_kernel)


@pytest.fixture
def cube():
    X, y = clouds()
    return np.stack([f(X) for f in FUNCTIONS], axis=2), y


def classifier(**parameters):
    return kloom.SimpleMKLClassifier(**{"kernels": "precomputed", "tol": 1e-8, **parameters})


def test_shape_names_and_entries(cube):
    K, _ = cube
    bank = KernelBank(K)
    assert bank.shape == K.shape and len(bank) == len(K) and bank.ndim == 3
    assert np.array_equal(np.asarray(bank), K)
    assert KernelBank({"a": K[:, :, 0], "b": K[:, :, 1]}).names == ["a", "b"]
    assert "3 kernels, 60 x 60" in repr(bank)


def test_cuts_are_views_of_the_same_memory(cube):
    K, _ = cube
    bank = KernelBank(np.moveaxis(np.ascontiguousarray(np.moveaxis(K, 2, 0)), 0, 2))
    rows, columns = np.array([3, 1, 4]), np.array([5, 9])
    cut = bank[np.ix_(rows, columns)]
    assert cut._stack is bank._stack
    assert np.array_equal(np.asarray(cut), K[np.ix_(rows, columns)])
    assert np.array_equal(np.asarray(cut[[2, 0]][:, [1]]), K[np.ix_([4, 3], [9])])
    mask = np.arange(60) % 2 == 0
    assert np.array_equal(np.asarray(bank[mask, :10]), K[mask, :10])
    assert np.array_equal(np.asarray(bank[-1]), K[[-1]])
    for wrong in (60, np.zeros(3, dtype=bool), [0.5], (slice(None), slice(None), 1)):
        with pytest.raises(IndexError):
            bank[wrong]


def test_contiguous_kernels_are_not_copied(cube):
    K, _ = cube
    stack = np.ascontiguousarray(np.moveaxis(K, 2, 0))
    assert np.shares_memory(KernelBank(np.moveaxis(stack, 0, 2)).stack(), stack)


def test_array_list_and_bank_are_the_same(cube):
    K, y = cube
    wanted = classifier().fit(K[:40, :40], y[:40]).decision_function(K[40:, :40])
    bank = KernelBank(K)
    cut = classifier().fit(bank[:40, :40], y[:40])
    assert np.array_equal(cut.decision_function(bank[40:, :40]), wanted)
    matrices = classifier().fit([K[:40, :40, p] for p in range(3)], y[:40])
    assert np.array_equal(matrices.decision_function([K[40:, :40, p] for p in range(3)]), wanted)


def test_cross_validation_cuts_both_sides(cube):
    K, y = cube
    folds = StratifiedKFold(3)
    by_hand = []
    for train, test in folds.split(np.zeros(len(y)), y):
        clf = classifier().fit(K[np.ix_(train, train)], y[train])
        by_hand.append(clf.score(K[np.ix_(test, train)], y[test]))
    for X in (K, KernelBank(K)):
        assert np.array_equal(cross_val_score(classifier(), X, y, cv=folds), by_hand)
        assert cross_val_predict(classifier(), X, y, cv=folds).shape == y.shape
        search = GridSearchCV(classifier(), {"C": [0.1, 1.0]}, cv=folds).fit(X, y)
        assert search.predict(X).shape == y.shape
        sizes, _, tests = learning_curve(classifier(), X, y, cv=folds, train_sizes=[0.5, 1.0])
        assert tests.shape == (2, 3) and sizes[1] == 40


def test_workers_get_banks(cube):
    K, y = cube
    bank = KernelBank(K)
    assert np.array_equal(cross_val_score(classifier(), bank, y, cv=3, n_jobs=2), cross_val_score(classifier(), bank, y, cv=3))
    copy = pickle.loads(pickle.dumps(bank[:10, :5]))
    assert copy.shape == (10, 5, 3) and np.array_equal(np.asarray(copy), K[:10, :5])


def test_new_kernels_are_matched_by_name(cube):
    K, y = cube
    names = ["linear", "rbf", "laplacian"]
    clf = classifier().fit(dict(zip(names, np.moveaxis(K, 2, 0))), y)
    turned = {name: K[:5, :, p] for p, name in reversed(list(enumerate(names)))}
    assert np.array_equal(clf.decision_function(turned), clf.decision_function(K[:5]))


def test_files(cube, tmp_path):
    K, y = cube
    KernelBank(K, names=["linear", "rbf", "laplacian"]).save(tmp_path / "bank.file")
    bank = KernelBank.load(tmp_path / "bank.file")
    held = (K + K.transpose(1, 0, 2)) / 2   # kernels of training samples without the rounding of those who computed them
    assert np.abs(held - K).max() <= 2 * np.finfo(float).eps * np.abs(K).max()
    assert bank.names == ["linear", "rbf", "laplacian"] and np.array_equal(np.asarray(bank), held)
    assert np.array_equal(np.asarray(bank[np.ix_([1, 2], [3])]), held[np.ix_([1, 2], [3])])
    assert np.array_equal(cross_val_score(classifier(), bank, y, cv=3), cross_val_score(classifier(), K, y, cv=3))
    clf = classifier().fit(bank, y)
    assert list(clf.kernel_names_) == bank.names


def test_weight_0_in_precomputed_kernels(cube):
    K, y = cube
    weight = np.where(np.arange(60) < 40, 1.0, 0.0)
    clf = classifier().fit(K, y, weight)
    assert np.array_equal(clf.decision_function(K[40:]), classifier().fit(K[:40, :40], y[:40]).decision_function(K[40:, :40]))


@pytest.mark.parametrize("make, message", [
    (lambda K, y: (K[:, :, 0], y), "KernelBank([K])"),
    (lambda K, y: (K[:50], y[:50]), "square"),
    (lambda K, y: (K, y[:-1]), "inconsistent numbers of samples"),
    (lambda K, y: ([K[:, :, 0], K[:5, :5, 1]], y), "kernel 2 of the list has the shape (5, 5)"),
    (lambda K, y: ([], y), "at least one kernel"),
    (lambda K, y: (np.where(K == K[2, 1, 1], np.nan, K), y), "not finite"),
    (lambda K, y: (K + np.arange(60)[:, None, None], y), "not symmetric"),
    (lambda K, y: ("kernels", y), "got str"),
    (lambda K, y: (K[..., None], y), "got an array of shape (60, 60, 3, 1)"),
    (lambda K, y: ([y], y), "kernel 1 of the list has the shape (60,); a kernel is a matrix"),
    (lambda K, y: (K, None), "requires y"),
])
def test_bad_kernels_are_refused_in_a_sentence(make, message, cube):
    X, y = make(*cube)
    with pytest.raises(ValueError) as refused:
        classifier().fit(X, y)
    assert message in str(refused.value)


def distances(samples):
    X, y = clouds(samples=samples)
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)), y


@pytest.mark.parametrize("samples", [40, 150])   # the part that is looked at is the whole, or less
def test_distances_are_no_kernel(samples):
    D, y = distances(samples)
    for wrong in (D, -D, -np.eye(samples)):
        with pytest.raises(ValueError, match="kernel 'b' is not positive semidefinite: among its first"):
            classifier().fit(KernelBank({"a": np.eye(samples), "b": wrong}), y)
    classifier().fit([np.exp(-D / D.mean())], y)
    with pytest.raises(ValueError, match="kernel '<lambda>' is not positive semidefinite"):
        kloom.SimpleMKLClassifier(kernels=lambda X, Z: -X @ Z.T).fit(D, y)


def test_kernels_in_single_precision_and_of_low_rank_pass(cube):
    K, y = cube
    low = np.ones((60, 60)) + np.diag(np.zeros(60))
    classifier().fit([K[:, :, 1].astype(np.float32), low, np.zeros((60, 60))], y)


def test_checked_finds_what_a_part_does_not_show():
    D, y = distances(150)
    K = np.exp(-D / D.mean())
    K[149, 149] = 0.0
    bank = KernelBank({"a": np.eye(150), "broken": K})
    classifier().fit(bank, y)
    with pytest.raises(ValueError, match="'broken' is not positive semidefinite.*clip_spectrum=True"):
        bank.checked()
    clipped = bank.checked(clip_spectrum=True)
    values, vectors = np.linalg.eigh(K)
    wanted = (vectors * np.maximum(values, 0)) @ vectors.T
    # Two eigenvalue solvers: errors of n eps of the largest eigenvalue.
    assert np.allclose(np.asarray(clipped)[:, :, 1], wanted, rtol=0, atol=150 * np.finfo(float).eps * values[-1])
    assert np.array_equal(np.asarray(clipped)[:, :, 0], np.eye(150)) and clipped.names == bank.names


def test_bad_new_kernels(cube):
    K, y = cube
    clf = classifier().fit(K, y)
    with pytest.raises(ValueError, match="X has 50 features, but SimpleMKLClassifier is expecting 60"):
        clf.predict(K[:, :50])
    with pytest.raises(ValueError, match="X holds 2 kernels, but the model was trained with 3"):
        clf.predict(K[:, :, :2])


def test_names_must_fit():
    with pytest.raises(ValueError, match="2 names were given for 1 kernels"):
        KernelBank([np.eye(3)], names=["a", "b"])
