# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of letter sequences against their definitions, letter by letter."""
import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kloom import EditDistances, GappySpectrum, KernelFunctions, LpMKLClassifier, MismatchSpectrum


def words(count, seed, letters="abcd", longest=7):
    generator = np.random.RandomState(seed)
    return ["".join(generator.choice(list(letters), size=generator.randint(0, longest + 1))) for _ in range(count)]


def inner_products(features, texts, others):
    counts = {text: Counter(features(text)) for text in {*texts, *others}}
    return np.array([[sum(count * counts[z][one] for one, count in counts[x].items()) for z in others] for x in texts], dtype=float)


def cosines(features, texts, others):
    own = [np.sqrt([inner_products(features, [text], [text])[0, 0] for text in part]) for part in (texts, others)]
    scale = np.outer(*[np.where(lengths > 0, lengths, 1.0) for lengths in own])
    return inner_products(features, texts, others) / scale


@pytest.mark.parametrize("k, mismatches", [(2, 0), (2, 1), (3, 1), (3, 2)])
def test_mismatches(k, mismatches):
    def features(text):
        """Every string over the letters, for every substring that is near enough."""
        found = []
        for start in range(len(text) - k + 1):
            part = text[start:start + k]
            found += ["".join(one) for one in itertools.product("abcd", repeat=k)
                      if sum(a != b for a, b in zip(one, part)) <= mismatches]
        return found
    training, new = words(12, 1), words(6, 2)
    kernel = MismatchSpectrum(k, mismatches, normalise=False)
    assert np.array_equal(kernel.fit_transform(training), inner_products(features, training, training))
    assert np.array_equal(kernel.transform(new), inner_products(features, new, training))
    scaled = MismatchSpectrum(k, mismatches)
    np.testing.assert_allclose(scaled.fit_transform(training), cosines(features, training, training), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(scaled.transform(new), cosines(features, new, training), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("k, gaps", [(2, 0), (2, 1), (3, 2)])
def test_gaps(k, gaps):
    def features(text):
        size = min(k + gaps, len(text))
        found = []
        for start in range(len(text) - size + 1):
            window = text[start:start + size]
            there = [one for one in map("".join, itertools.product("abcd", repeat=k))
                     if any("".join(window[place] for place in places) == one
                            for places in itertools.combinations(range(size), k))]
            found += there
        return found
    training, new = words(12, 3), words(6, 4)
    kernel = GappySpectrum(k, gaps, normalise=False)
    assert np.array_equal(kernel.fit_transform(training), inner_products(features, training, training))
    assert np.array_equal(kernel.transform(new), inner_products(features, new, training))


def edit_distance(a, b):
    """By its recursion."""
    if not a or not b:
        return len(a) + len(b)
    return min(edit_distance(a[1:], b) + 1, edit_distance(a, b[1:]) + 1, edit_distance(a[1:], b[1:]) + (a[0] != b[0]))


def test_edit_distances():
    training, new = words(10, 5, longest=5), words(5, 6, longest=5)
    vectors = np.array([[edit_distance(x, z) for z in training] for x in training], dtype=float)
    fresh = np.array([[edit_distance(x, z) for z in training] for x in new], dtype=float)
    kernel = EditDistances(width=1.5)

    def gaussian(rows):
        return np.exp(-((rows[:, None] - vectors[None]) ** 2).mean(axis=2) / (2 * 1.5 ** 2))
    np.testing.assert_allclose(kernel.fit_transform(training), gaussian(vectors), rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(new), gaussian(fresh), rtol=1e-12)
    assert np.linalg.eigvalsh(EditDistances().fit_transform(training)).min() > -1e-12
    assert EditDistances().fit_transform(["same", "same"]).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_texts_that_are_too_short_are_like_nothing():
    for kernel in (MismatchSpectrum(2, 1), GappySpectrum(2, 1)):
        kernel.fit_transform(["abab", "bbaa"])
        assert np.array_equal(kernel.transform(["", "x"]), np.zeros((2, 2)))
    assert MismatchSpectrum(2, 1).fit_transform(["ab", "ax"])[0, 1] > 0


def test_in_a_pipeline_beside_other_columns():
    generator = np.random.RandomState(7)
    y = np.arange(40) % 2
    frame = pd.DataFrame({"protein": ["".join(generator.choice(list("GAS"), 6)) + ("MKV" if one else "GSG") for one in y],
                          "mass": generator.normal(size=40)})
    kernels = {"near": (MismatchSpectrum(3, 1), "protein"), "gappy": (GappySpectrum(2, 1), "protein"),
               "edits": (EditDistances(), "protein"), "mass": ("rbf", "mass")}
    model = make_pipeline(KernelFunctions(kernels), LpMKLClassifier(kernels="precomputed", C=10, probability=False))
    assert cross_val_score(model, frame, y, cv=4).mean() > 0.9


def test_the_kernel_spec_has_the_same_kernels():
    """With a C that leaves samples without a coefficient: predictions then see a part of the training texts only. No training
    text is too short: such a one is 1 to itself in the spec, and 0 here."""
    training, new = [text + "abc" for text in words(60, 8)], words(20, 9, letters="abcdx", longest=9)
    y = np.array([text.count("a") > text.count("b") for text in training]).astype(int)
    kernels = {"near": (MismatchSpectrum(3, 1), "s"), "gappy": (GappySpectrum(2, 1), "s"), "edits": (EditDistances(1.5), "s")}
    options = {"C": 10, "norm": 2, "tol": 1e-10, "probability": False}
    ours = make_pipeline(KernelFunctions(kernels), LpMKLClassifier(kernels="precomputed", **options))
    spec = "spectrum(k=3, mismatches=1) on s; spectrum(k=2, gaps=1) on s; edit(width=1.5) on s"
    theirs = LpMKLClassifier(kernels=spec, text=["s"], **options)
    frames = [pd.DataFrame({"s": texts}) for texts in (training, new)]
    ours.fit(frames[0], y)
    theirs.fit(frames[0], y)
    coefficients = theirs.dual_coef_
    assert 0 < np.count_nonzero(coefficients) < 60
    # ½‖w‖² in the group norm 2,4/3 of norm=2 is convex with modulus 1/3, so that ‖w − w*‖² is at most six times the gap of the objective;
    # a sample has the dual norm 3^(1/4), since every kernel is 1 to itself. That for both scores, and as much for their biases.
    off = 4 * 3 ** 0.25 * np.sqrt(6 * 1e-10 * theirs.objective_)
    assert off < 1e-3
    np.testing.assert_allclose(theirs.decision_function(frames[1]), ours.decision_function(frames[1]), rtol=0, atol=off)


@pytest.mark.parametrize("make, words_of", [(lambda: MismatchSpectrum(2, 2), "mismatches must be"), (lambda: GappySpectrum(0, 1), "k must be"),
                                            (lambda: EditDistances().fit_transform([3]), "need texts")])
def test_mistakes_are_named(make, words_of):
    with pytest.raises(ValueError, match=words_of):
        make()
