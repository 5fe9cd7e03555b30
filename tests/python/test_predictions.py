# SPDX-License-Identifier: BSD-3-Clause
"""Estimators against independent answers: scikit-learn's own machines and formulas written out."""
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

import kloom
from conftest import KERNELS, clouds


def one_rbf(X, Z, width):
    mean, scale = X.mean(axis=0), X.std(axis=0, ddof=1)
    return rbf_kernel((Z - mean) / scale, (X - mean) / scale, gamma=1 / (2 * width**2))


def test_one_kernel_is_a_support_vector_machine(two_classes):
    X, y = two_classes
    ours = kloom.UniformMKLClassifier(kernels="rbf(width=2)", C=3, tol=1e-10).fit(X[:40], y[:40])
    theirs = SVC(C=3, kernel="precomputed", tol=1e-8).fit(one_rbf(X[:40], X[:40], 2), y[:40])
    # Both stop where no dual variable can gain more than about 1e-8; scores follow with its square root.
    assert np.allclose(ours.decision_function(X[40:]), theirs.decision_function(one_rbf(X[:40], X[40:], 2)), atol=1e-4)


def test_one_kernel_is_support_vector_regression(numbers):
    X, y = numbers
    scale = y[:40].std()
    ours = kloom.SimpleMKLRegressor(kernels="rbf(width=2)", C=3, epsilon=0.05, tol=1e-10).fit(X[:40], y[:40])
    theirs = SVR(C=3, epsilon=0.05, kernel="precomputed", tol=1e-8)
    theirs.fit(one_rbf(X[:40], X[:40], 2), (y[:40] - y[:40].mean()) / scale)
    wanted = theirs.predict(one_rbf(X[:40], X[40:], 2)) * scale + y[:40].mean()
    assert np.allclose(ours.predict(X[40:]), wanted, atol=1e-4 * scale)


@pytest.mark.parametrize("name", ["BEMKLClassifier", "SimpleMKLClassifier", "MulticlassMKLClassifier", "MKLDAClassifier",
                                  "UFOMKLClassifier"])
def test_contributions_sum_to_the_scores(name, three_classes):
    X, y = three_classes
    clf = getattr(kloom, name)(kernels=KERNELS).fit(X, y)
    parts = clf.contributions(X[:7])
    assert parts.shape == (7, 3, len(clf.kernel_names_))
    scores = clf.decision_function(X[:7])
    # Stochastic methods look Gaussians up in a table that is right to 7e-9, contributions are computed one by one.
    close = 1e-7 if clf._ends_by_plan else 1e-10
    assert np.allclose(parts.sum(axis=2) + clf.intercept_, scores, rtol=0, atol=close * np.abs(scores).max())


@pytest.mark.parametrize("fixture, name", [("two_classes", "BEMKLClassifier"), ("three_classes", "BEMKLClassifier"),
                                           ("numbers", "BEMKLRegressor")])
def test_contributions_have_deviations(request, fixture, name):
    X, y = request.getfixturevalue(fixture)
    model = getattr(kloom, name)(kernels=KERNELS).fit(X, y)
    parts, std = model.contributions(X[:7], return_std=True)
    assert np.array_equal(parts, model.contributions(X[:7]))
    assert std.shape == parts.shape and (std > 0).all()


def test_who_has_no_posterior_has_no_deviations_of_contributions(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels=KERNELS, C=1, probability=False).fit(X, y)
    with pytest.raises(ValueError, match="no deviations of contributions"):
        clf.contributions(X, return_std=True)


def test_scores_are_the_formula(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels="rbf(width=1,3)").fit(X, y)
    combined = sum(w * one_rbf(X, X[:5], width) for w, width in zip(clf.kernel_weights_, (1, 3)))
    assert np.allclose(combined @ clf.dual_coef_[:, 0] + clf.intercept_[0], clf.decision_function(X[:5]))


def test_labels_come_back_as_they_were():
    X, y = clouds(classes=3)
    for names in (np.array(["b", "a", "c"]), np.array([10, -2, 7]), np.array([5.0, -2.0, 7.0]),
                  np.array(["x", "y", "z"], dtype=object)):
        clf = kloom.UniformMKLClassifier(kernels="linear").fit(X, names[y])
        assert list(clf.classes_) == sorted(names)
        assert (clf.predict(X) == names[y]).mean() > 0.5   # chance: a third
    truth = kloom.UniformMKLClassifier(kernels="linear").fit(X, y == 1)
    assert truth.predict(X).dtype == bool


def test_one_versus_one_votes_like_its_labels(three_classes):
    X, y = three_classes
    clf = kloom.SimpleMKLClassifier(kernels=KERNELS, multiclass="one-versus-one").fit(X, y)
    scores = clf.decision_function(X)
    assert scores.shape == (len(X), 3)
    assert (clf.classes_[scores.argmax(axis=1)] == clf.predict(X)).all()


def test_probabilities(three_classes):
    X, y = three_classes
    plain = kloom.SimpleMKLClassifier(kernels="linear", probability=False)
    assert not hasattr(plain, "predict_proba") and not hasattr(plain.fit(X, y), "predict_proba")
    # One sigmoid per class may put another class first than the scores do; BEMKL's probabilities share one posterior; one
    # temperature for all classes changes nothing about their order.
    for clf, agree in ((kloom.SimpleMKLClassifier(kernels="linear", C=1), 0.7), (kloom.BEMKLClassifier(kernels="linear"), 0.95),
                       (kloom.MulticlassMKLClassifier(kernels="linear"), 0.999), (kloom.MKLDAClassifier(kernels="linear"), 0.999),
                       (kloom.UFOMKLClassifier(kernels="linear"), 0.999)):
        p = clf.fit(X, y).predict_proba(X)
        assert p.shape == (len(X), 3) and np.allclose(p.sum(axis=1), 1) and (p >= 0).all()
        assert (clf.classes_[p.argmax(axis=1)] == clf.predict(X)).mean() > agree
        assert np.allclose(np.exp(clf.predict_log_proba(X)), p)


def test_several_labels():
    X, Y = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    clf = kloom.BEMKLClassifier(kernels="linear; rbf(width=2)").fit(X, Y)
    assert clf.predict(X).shape == Y.shape and clf.predict_proba(X).shape == Y.shape
    assert ((clf.predict_proba(X) > 0.5) == clf.predict(X)).mean() > 0.95
    assert (clf.predict(X) == Y).mean() > 0.8


def test_several_numbers(numbers):
    X, y = numbers
    Y = np.column_stack([y, -2 * y + 1])
    mean, std = kloom.BEMKLRegressor(kernels=KERNELS).fit(X, Y).predict(X, return_std=True)
    assert mean.shape == std.shape == Y.shape and (std > 0).all()
    assert np.allclose(1 - 2 * mean[:, 0], mean[:, 1], atol=0.05)


@pytest.mark.parametrize("estimator", [kloom.AutoMKLRegressor(), kloom.SimpleMKLRegressor(kernels=KERNELS),
                                       kloom.UniformMKLRegressor(kernels=KERNELS), kloom.MKRRegressor(kernels=KERNELS)], ids=lambda e: type(e).__name__)
def test_intervals_of_what_was_held_out(estimator):
    random = np.random.default_rng(3)
    X = random.uniform(-3, 3, (400, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * random.standard_normal(400)
    mean, std = estimator.fit(X[:200], y[:200]).predict(X[200:], return_std=True)
    # 90 % of 200 are inside: within four standard errors of that, sqrt(0.9 * 0.1 / 200) each, and as many for the 200 held-out ones.
    assert abs(np.mean(np.abs(y[200:] - mean) < 1.645 * std) - 0.9) < 4 * np.sqrt(2 * 0.09 / 200)


def test_no_intervals_where_nothing_was_held_out(numbers):
    X, y = numbers
    reg = kloom.UniformMKLRegressor(kernels=KERNELS, C=1).fit(X, y)
    with pytest.raises(ValueError, match="knows no deviations.*leave C at 0"):
        reg.predict(X, return_std=True)


def test_deviation_of_scores(two_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    scores, std = clf.decision_function(X, return_std=True)
    assert np.array_equal(scores, clf.decision_function(X)) and (std > 0).all()
    far = clf.decision_function(X + 100, return_std=True)[1]
    assert far.mean() != std.mean()


def test_samples_without_a_label_count():
    X, y = clouds(samples=80, seed=4)
    some = np.where(np.arange(80) < 12, y, -1)
    clf = kloom.BEMKLClassifier(kernels=KERNELS, unlabelled=-1).fit(X, some)
    assert list(clf.classes_) == [0, 1]
    assert (clf.predict(X) == y).mean() > 0.75
    few = kloom.BEMKLClassifier(kernels=KERNELS).fit(X[:12], y[:12])
    assert not np.allclose(few.decision_function(X), clf.decision_function(X))


def test_class_weights_are_sample_weights(two_classes):
    X, y = two_classes
    by_class = kloom.SimpleMKLClassifier(kernels=KERNELS, class_weight={0: 1.0, 1: 3.0}, tol=1e-10).fit(X, y)
    by_sample = kloom.SimpleMKLClassifier(kernels=KERNELS, tol=1e-10).fit(X, y, np.where(y == 1, 3.0, 1.0))
    assert np.array_equal(by_class.decision_function(X), by_sample.decision_function(X))
    with pytest.raises(ValueError, match="class 7"):
        kloom.SimpleMKLClassifier(class_weight={7: 1.0}).fit(X, y)


def test_samples_of_weight_0_are_absent(two_classes):
    X, y = two_classes
    weight = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    for cls in (kloom.BEMKLClassifier, kloom.SimpleMKLClassifier):
        with_zeros = cls(kernels="rbf(auto)").fit(X, y, weight)
        assert np.array_equal(with_zeros.decision_function(X), cls(kernels="rbf(auto)").fit(X[:50], y[:50]).decision_function(X))


def test_the_same_bits_every_time(two_classes):
    X, y = two_classes
    for cls in (kloom.BEMKLClassifier, kloom.MKLDAClassifier, kloom.UFOMKLClassifier):
        first, second = (cls(kernels=KERNELS).fit(X, y).decision_function(X) for _ in range(2))
        assert np.array_equal(first, second)
    seeds = [kloom.MKLDAClassifier(kernels=KERNELS, random_state=seed).fit(X, y).decision_function(X) for seed in (1, 2)]
    assert not np.array_equal(*seeds)
    assert np.array_equal(seeds[0], kloom.MKLDAClassifier(kernels=KERNELS).fit(X, y).decision_function(X))


def test_attributes(three_classes):
    X, y = three_classes
    margin = kloom.SimpleMKLClassifier(kernels=KERNELS).fit(X, y)
    assert margin.kernel_weights_.shape == (3, 7) and len(margin.kernel_names_) == 7
    assert 0 <= margin.gap_ <= margin.tol
    shared = kloom.MulticlassMKLClassifier(kernels=KERNELS).fit(X, y)
    assert shared.kernel_weights_.shape == (7,) and shared.gap_ <= shared.tol
    bayes = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    assert bayes.kernel_weights_.shape == bayes.kernel_weights_std_.shape == (7,)
    assert bayes.lower_bound_ == bayes.report_["objective"] and bayes.n_iter_ == bayes.report_["iterations"]


def test_the_referee_agrees(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels=KERNELS).fit(X, y)
    certificate = clf.certify(X, y)
    items = {item["name"]: item["value"] for item in certificate["items"]}
    assert certificate["proof"] and items["duality gap"] <= 2 * clf.tol
    bayes = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    found = {item["name"]: item["value"] for item in bayes.certify(X, y)["items"]}
    assert found["lower bound"] == pytest.approx(bayes.lower_bound_, rel=1e-6)


def test_an_early_end_is_a_convergence_warning(two_classes):
    X, y = two_classes
    with pytest.warns(ConvergenceWarning, match="max_iter|iterations done"):
        kloom.BEMKLClassifier(kernels=KERNELS, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kloom.SimpleMKLClassifier(kernels=KERNELS).fit(X, y)


def test_choosing_C(two_classes):
    X, y = two_classes
    by_text = kloom.SimpleMKLClassifier(kernels="linear", C_grid="10^-2..10^1").fit(X, y)
    by_list = kloom.SimpleMKLClassifier(kernels="linear", C_grid=[0.01, 0.1, 1, 10]).fit(X, y)
    assert by_text.report_["options"]["C"] == by_list.report_["options"]["C"]
    assert len(by_text.report_["tables"][0]["rows"]) == 4


def test_similarity_of_classes(three_classes):
    X, y = three_classes
    clf = kloom.MulticlassMKLClassifier(kernels="linear", class_kernels="identity+pairs").fit(X, y)
    assert clf.class_similarity_.shape == (3, 3) and clf.class_embedding_.shape == (3, 2)
    with pytest.raises(AttributeError, match="class_kernels"):
        kloom.MulticlassMKLClassifier(kernels="linear").fit(X, y).class_similarity_


def test_similarity_of_classes_that_is_given(three_classes):
    X, y = three_classes
    plain = kloom.MulticlassMKLClassifier(kernels="linear").fit(X, y)
    identity = kloom.MulticlassMKLClassifier(kernels="linear", class_kernels=np.eye(3)).fit(X, y)
    assert np.array_equal(plain.decision_function(X), identity.decision_function(X))
    names = [str(c) for c in plain.classes_]
    array = kloom.MulticlassMKLClassifier(kernels="linear", class_kernels=[[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0.5]]).fit(X, y)
    tree = kloom.MulticlassMKLClassifier(kernels="linear", class_kernels=f"tree:(({names[0]},{names[1]}),{names[2]})").fit(X, y)
    assert np.array_equal(array.decision_function(X), tree.decision_function(X))
    assert not np.array_equal(array.decision_function(X), plain.decision_function(X))
    with pytest.raises(ValueError, match="class_kernels"):
        kloom.MulticlassMKLClassifier(kernels="linear", class_kernels=np.eye(2)).fit(X, y)


@pytest.mark.parametrize("name, options, remedy", [
    ("BEMKLClassifier", {"max_iter": 3}, "max_iter"), ("SimpleMKLClassifier", {"max_iter": 1, "C": 1}, "max_iter"),
    ("MulticlassMKLClassifier", {"max_iter": 1}, "max_iter"), ("LMKLClassifier", {"steps": 2}, "steps")])
def test_who_ends_early_says_so_and_what_would_help(name, options, remedy, two_classes):
    X, y = two_classes
    with pytest.warns(ConvergenceWarning, match=f"{name} ended before it converged: .* (more|larger) {remedy}") as caught:
        getattr(kloom, name)(kernels="rbf(width=1,2); linear", **options).fit(X, y)
    assert caught[0].filename == __file__, "the warning points to the line that called fit"


def test_what_ends_by_plan_is_no_failure(two_classes):
    X, y = two_classes
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        kloom.MKLDAClassifier(kernels=KERNELS).fit(X, y)
        kloom.UFOMKLClassifier(kernels=KERNELS).fit(X, y)
        kloom.SAMKLClassifier(kernels=KERNELS, C=1.0, m0="1", updates="one").fit(X, y)


@pytest.mark.parametrize("name, options", [
    ("UniformMKLClassifier", {"C": 1.0}), ("SimpleMKLClassifier", {"C": 1.0}), ("LpMKLClassifier", {"C": 1.0}),
    ("MulticlassMKLClassifier", {}),
    ("SAMKLClassifier", {"C": 1.0, "m0": "1", "updates": "one"})])
def test_weights_are_copies_where_nothing_is_scaled(name, options, three_classes):
    X, y = three_classes
    times = np.random.RandomState(3).randint(1, 4, size=len(y))
    clf = getattr(kloom, name)(kernels="rbf(width=1); linear", standardise=False, tol=1e-9, **options)
    if "probability" in clf.get_params():
        clf.set_params(probability=False)   # calibrated on folds, into which copies fall otherwise
    weighted = clf.fit(X, y, times.astype(float)).decision_function(X)
    copied = clf.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).decision_function(X)
    # Both objectives are within tol of the same optimum; half the squared distance of the machines is at most that gap,
    # and kernels have a unit diagonal.
    close = 2 * np.sqrt(2 * clf.tol * abs(clf.objective_))
    assert np.allclose(weighted, copied, rtol=0, atol=close)
