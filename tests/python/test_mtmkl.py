# SPDX-License-Identifier: BSD-3-Clause
"""Spike and slab in Python: attributes, deviations that hold, and outputs that help each other."""
import numpy as np
import pytest
from kloom import MTMKLRegressor

KERNELS = "rbf(width=1) on each"


def waves(draw, outputs=4, noise=0.5, samples=40, fresh=200):
    """Sums of two waves of the first two of five columns."""
    rng = np.random.default_rng(draw)
    X = rng.normal(size=(samples + fresh, 5))
    Y = np.column_stack([np.sin(2 * X[:, 0]), np.cos(2 * X[:, 1])]) @ rng.normal(size=(2, outputs))
    seen = Y + noise * Y.std(axis=0) * rng.normal(size=Y.shape)
    return X[:samples], seen[:samples], X[samples:], Y[samples:], seen[samples:]


@pytest.mark.parametrize("single", [True, False])
def test_attributes_have_the_shape_of_the_target(single):
    X, Y, T, *_ = waves(0)
    model = MTMKLRegressor(kernels=KERNELS).fit(X, Y[:, 0] if single else Y)
    shape = (5,) if single else (4, 5)
    assert model.inclusion_.shape == model.kernel_weights_.shape == shape
    assert model.noise_variance_.shape == (1 if single else 4,)
    assert ((model.inclusion_ > 0) & (model.inclusion_ < 1.0 + 1e-15)).all()
    assert np.allclose(model.kernel_weights_.sum(axis=-1), 1)
    mean, std = model.predict(T, return_std=True)
    assert mean.shape == std.shape == (200,) + shape[:-1] and (std > 0).all()
    table = next(t for t in model.report_["tables"] if t["title"].startswith("probability"))
    assert np.allclose(np.array(table["rows"])[:, 1:].T, np.atleast_2d(model.inclusion_))


def test_related_outputs_are_learned_better_together():
    gains = []
    for draw in range(12):
        X, Y, T, truth, _ = waves(draw)
        together = MTMKLRegressor(kernels=KERNELS).fit(X, Y).predict(T)
        alone = np.column_stack([MTMKLRegressor(kernels=KERNELS).fit(X, y).predict(T) for y in Y.T])
        gains.append(np.mean(((alone - truth) ** 2 - (together - truth) ** 2) / truth.var(axis=0)))
    assert np.mean(gains) > 3 * np.std(gains, ddof=1) / np.sqrt(len(gains))


def test_deviations_cover_what_they_say():
    """Of 9,600 new numbers in 12 draws, 90 % within 1.645 deviations; draws differ, and the factored posterior is a little too sure."""
    inside = []
    for draw in range(12):
        X, Y, T, _, seen = waves(draw)
        mean, std = MTMKLRegressor(kernels=KERNELS).fit(X, Y).predict(T, return_std=True)
        inside.append(np.mean(np.abs(seen - mean) < 1.645 * std))
    assert 0.83 < np.mean(inside) < 0.95


def test_without_variance_there_is_no_deviation_and_it_says_so():
    X, Y, *_ = waves(1)
    model = MTMKLRegressor(kernels=KERNELS, variance=False).fit(X, Y)
    with pytest.raises(ValueError, match="variance=True"):
        model.predict(X, return_std=True)


def test_contributions_and_their_deviations_add_up():
    X, Y, T, *_ = waves(2)
    model = MTMKLRegressor(kernels=KERNELS).fit(X, Y)
    parts, deviations = model.contributions(T, return_std=True)
    mean, std = model.predict(T, return_std=True)
    assert parts.shape == deviations.shape == (200, 4, 5)
    assert np.allclose(parts.sum(axis=2) + Y.mean(axis=0), mean)
    noise = model.noise_variance_ * Y.var(axis=0)
    assert np.allclose((deviations ** 2).sum(axis=2) + noise, std ** 2)
