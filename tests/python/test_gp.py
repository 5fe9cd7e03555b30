# SPDX-License-Identifier: BSD-3-Clause
"""Gaussian processes on sums of kernels against those of scikit-learn with the same, fixed kernel."""
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import kloom
from conftest import clouds

WIDTHS = (0.5, 1.0, 2.0, 4.0)
SPEC = "rbf(width=0.5,1,2,4) on all"


def same_kernel(fitted):
    """The covariance that was found, as scikit-learn writes it."""
    weights = fitted.kernel_weights_
    assert len(weights) == len(WIDTHS)
    kernel = ConstantKernel(max(fitted.constant_weight_, 1e-12))
    for weight, width in zip(weights, WIDTHS):
        if weight > 0:
            kernel = kernel + ConstantKernel(weight) * RBF(width)
    return kernel


def smooth_numbers(samples=80, seed=5):
    generator = np.random.RandomState(seed)
    X = generator.normal(size=(samples, 3))
    return X, 7 + 3 * (np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * generator.normal(size=samples))


def test_numbers_have_the_evidence_and_predictions_of_scikit_learn():
    X, y = smooth_numbers()
    ours = kloom.GPMKLRegressor(kernels=SPEC, standardise=False).fit(X, y)
    mean, scale = y.mean(), y.std()
    theirs = GaussianProcessRegressor(same_kernel(ours) + WhiteKernel(ours.noise_variance_), alpha=0, optimizer=None)
    theirs.fit(X, (y - mean) / scale)
    # The same numbers from the same kernel: rounding grows with the condition of the covariance, below 1e5 here.
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-8)
    fresh = smooth_numbers(seed=6)[0]
    predicted, deviation = ours.predict(fresh, return_std=True)
    wanted, wanted_deviation = theirs.predict(fresh, return_std=True)
    assert np.allclose(predicted, mean + scale * wanted, rtol=1e-7)
    assert np.allclose(deviation, scale * wanted_deviation, rtol=1e-6)


def test_numbers_have_at_least_the_evidence_that_scikit_learn_finds():
    X, y = smooth_numbers()
    ours = kloom.GPMKLRegressor(kernels=SPEC, standardise=False, tol=1e-6, max_iter=1000).fit(X, y)
    kernel = ConstantKernel(0.1)
    for width in WIDTHS:
        kernel = kernel + ConstantKernel(0.3) * RBF(width, "fixed")
    theirs = GaussianProcessRegressor(kernel + WhiteKernel(0.1), alpha=0, random_state=0).fit(X, (y - y.mean()) / y.std())
    # Their constants stop at 1e-5, which costs next to nothing but is not 0.
    assert ours.log_evidence_ >= theirs.log_marginal_likelihood_value_ - 1e-3


def test_two_classes_have_the_evidence_and_probabilities_of_scikit_learn():
    X, y = clouds(samples=80)
    ours = kloom.GPMKLClassifier(kernels=SPEC, standardise=False, calibrate=False).fit(X, y)
    theirs = GaussianProcessClassifier(same_kernel(ours), optimizer=None).fit(X, y)
    # Their Newton iteration stops when it gains less than 1e-10, so its mode is good to 1e-5 and log det to as much.
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
    fresh = clouds(samples=50, seed=9)[0]
    # They average over the score by five error functions, we by one.
    assert np.allclose(ours.predict_proba(fresh), theirs.predict_proba(fresh), atol=0.02)
    assert np.array_equal(ours.predict(fresh), theirs.predict(fresh))


def test_several_classes_are_the_sum_of_one_against_the_rest():
    X, y = clouds(samples=75, classes=3)
    ours = kloom.GPMKLClassifier(kernels=SPEC, standardise=False).fit(X, y)
    kernel = same_kernel(ours)
    evidence = sum(GaussianProcessClassifier(kernel, optimizer=None).fit(X, y == c).log_marginal_likelihood_value_ for c in range(3))
    assert ours.log_evidence_ == pytest.approx(evidence, abs=3e-4)
    assert np.allclose(ours.predict_proba(X).sum(axis=1), 1)


def test_deviations_of_scores_grow_away_from_the_samples():
    X, y = clouds(samples=80)
    clf = kloom.GPMKLClassifier(kernels="rbf(width=1,2)").fit(X, y)
    near = clf.decision_function(X[:1], return_std=True)[1]
    far = clf.decision_function(X[:1] + 100, return_std=True)[1]
    assert far[0] > near[0]
    assert abs(clf.predict_proba(X[:1] + 100)[0, 0] - 0.5) < 0.3
