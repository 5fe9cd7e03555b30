# SPDX-License-Identifier: BSD-3-Clause
"""Multiple-kernel ridge regression against a transcription: every sample is really left out, every system really solved."""
import csv
import io

import numpy
import pytest
import scipy.linalg
import test_absent_views as absent_views
from conftest import FAILED, MISTAKE, edit_model
from test_samkl import tensors_of

SAMPLES, FRESH, TARGETS = 24, 6, 3
GRID = [0.01, 0.1, 1.0, 10.0]


def problem(tmp_path, seed=4):
    """Three Gaussian kernels of six columns; targets of the first, the second, and of all of them."""
    generator = numpy.random.default_rng(seed)
    x = generator.normal(size=(SAMPLES + FRESH, 6))
    kernels = []
    for columns in ([0, 1], [2, 3], [4, 5]):
        square = ((x[:, None, columns] - x[None, :, columns]) ** 2).sum(axis=2)
        kernels.append(numpy.exp(-square / 2))
    y = numpy.column_stack([numpy.sin(2 * x[:, 0]) + x[:, 1], x[:, 2] * x[:, 3], x.sum(axis=1)])
    y += 0.1 * generator.normal(size=y.shape) + [1.0, -20.0, 300.0]
    numpy.save(tmp_path / "train.npy", numpy.stack([k[:SAMPLES, :SAMPLES] for k in kernels], axis=2))
    numpy.save(tmp_path / "fresh.npy", numpy.stack([k[SAMPLES:, :SAMPLES] for k in kernels], axis=2))
    lines = ["y1,y2,y3"] + [",".join(map(repr, map(float, row))) for row in y[:SAMPLES]]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    return kernels, y


def train(kloom, *more):
    return kloom("train", "labels.csv", "--target", "y1,y2,y3", "--method", "mkr", "--kernel-file", "train.npy", "--kernels",
                 "precomputed(normalise=none)", "--draws", 15, "--alpha-grid", "0.01,0.1,1,10", "--seed", 3, "-o", "m.kloom",
                 "--json", *more).json()


def left_out_loss(kernel, y, alpha, weights):
    """The weighted mean of squared errors, each by a machine that was solved without the sample; the mean of y stays."""
    errors = []
    for i in range(len(y)):
        rest = numpy.arange(len(y)) != i
        system = kernel[numpy.ix_(rest, rest)] + alpha * numpy.diag(1 / weights[rest])
        errors.append(y[i] - kernel[i, rest] @ scipy.linalg.solve(system, y[rest]))
    return (weights * numpy.square(errors)).sum() / weights.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_choices_and_coefficients_are_those_of_a_transcription(kloom, tmp_path, weighted):
    kernels, y = problem(tmp_path)
    weights = numpy.ones(SAMPLES)
    options = []
    if weighted:
        weights = numpy.random.default_rng(5).uniform(0.5, 2.0, SAMPLES)
        table = (tmp_path / "labels.csv").read_text().splitlines()
        table[0] += ",w"
        for i, weight in enumerate(weights):
            table[i + 1] += f",{float(weight)!r}"
        (tmp_path / "labels.csv").write_text("\n".join(table) + "\n")
        options = ["--weight", "w"]
    report = train(kloom, *options)
    assert report["report"]["certificate"]["finding"] == "proved", report["report"]["certificate"]
    arrays = tensors_of(tmp_path / "m.kloom")
    points = arrays["mkr.points"].reshape(-1, 3)
    assert len(points) == 15 and numpy.allclose(points[0], 1 / 3) and numpy.allclose(points.sum(axis=1), 1)
    assert (points[1:].max(axis=1) > 0.9).any() and (points[1:].max(axis=1) < 0.7).any(), "near the edges and inside"
    chosen = []
    for t in range(TARGETS):
        mean = numpy.average(y[:SAMPLES, t], weights=weights)
        target = y[:SAMPLES, t] - mean
        losses = {}
        for d, point in enumerate(points):
            kernel = sum(w * k[:SAMPLES, :SAMPLES] for w, k in zip(point, kernels))
            for alpha in GRID:
                losses[d, alpha] = left_out_loss(kernel, target, alpha, weights)
        d, alpha = min(losses, key=losses.get)
        # Errors of the systems' solutions grow with their condition, at most 24 / 0.01 here: far below 1e-9.
        assert arrays["mkr.losses"][t] == pytest.approx(losses[d, alpha], rel=1e-9)
        assert arrays["mkr.strengths"][t] == alpha
        assert arrays["weights"].reshape(TARGETS, 3)[t] == pytest.approx(points[d], abs=1e-14)
        kernel = sum(w * k[:SAMPLES, :SAMPLES] for w, k in zip(points[d], kernels))
        solution = scipy.linalg.solve(kernel + alpha * numpy.diag(1 / weights), target)
        rows = sum(w * k[SAMPLES:, :SAMPLES] for w, k in zip(points[d], kernels))
        chosen.append(mean + rows @ solution)
    assert len(set(map(tuple, arrays["weights"].reshape(TARGETS, 3)))) > 1, "targets have weights of their own"
    out = kloom("predict", "m.kloom", "--kernel-file", "fresh.npy", "--quiet").out
    found = [[float(row[name]) for name in row if name.startswith("prediction")] for row in csv.DictReader(io.StringIO(out))]
    assert numpy.array(found) == pytest.approx(numpy.column_stack(chosen), rel=1e-5), "the table has six digits"


def test_descent_lowers_the_error_and_is_what_it_says(kloom, tmp_path):
    kernels, y = problem(tmp_path)
    train(kloom)
    before = tensors_of(tmp_path / "m.kloom")["mkr.losses"]
    report = train(kloom, "--steps", 30)
    assert report["report"]["certificate"]["finding"] == "proved", report["report"]["certificate"]
    arrays = tensors_of(tmp_path / "m.kloom")
    assert (arrays["mkr.losses"] <= before).all() and (arrays["mkr.losses"] < 0.99 * before).any()
    for t in range(TARGETS):
        target = y[:SAMPLES, t] - y[:SAMPLES, t].mean()
        theta = arrays["weights"].reshape(TARGETS, 3)[t]
        kernel = sum(w * k[:SAMPLES, :SAMPLES] for w, k in zip(theta, kernels))
        loss = left_out_loss(kernel, target, arrays["mkr.strengths"][t], numpy.ones(SAMPLES))
        assert arrays["mkr.losses"][t] == pytest.approx(loss, rel=1e-8)


def test_samples_that_lack_views(kloom, tmp_path):
    """Kernels divided by the shares that both samples have, then the same transcription."""
    labels, views, present = absent_views.problem(samples=40)
    generator = numpy.random.default_rng(6)
    y = views[0][:, 0] + views[1][:, 0] * views[1][:, 1] + 0.1 * generator.normal(size=40)
    absent_views.write_views(tmp_path, labels, views, present)
    (tmp_path / "labels.csv").write_text("id,y\n" + "".join(f"s{i},{float(y[i])!r}\n" for i in range(40)))
    options = [*absent_views.view_options(), "--kernels", "linear on views"]
    report = kloom("train", "labels.csv", "--target", "y", *options, "--method", "mkr", "--draws", 12, "--alpha-grid",
                   "0.1,1,10", "-o", "m.kloom", "--json").json()["report"]
    assert report["certificate"]["finding"] == "proved", report["certificate"]
    kernels = absent_views.linear_kernels(views, present)   # diagonals of 1 where there is a view
    arrays = tensors_of(tmp_path / "m.kloom")
    target, ones = y - y.mean(), numpy.ones(40)
    losses = {}
    for d, point in enumerate(arrays["mkr.points"].reshape(-1, 3)):
        shares = present @ point
        kernel = sum(w * k for w, k in zip(point, kernels)) / numpy.sqrt(numpy.outer(shares, shares))
        for alpha in (0.1, 1.0, 10.0):
            losses[d, alpha] = left_out_loss(kernel, target, alpha, ones), kernel
    d, alpha = min(losses, key=lambda key: losses[key][0])
    assert arrays["mkr.strengths"][0] == alpha
    assert arrays["mkr.losses"][0] == pytest.approx(losses[d, alpha][0], rel=1e-9)
    kernel = losses[d, alpha][1]
    expected = y.mean() + kernel @ scipy.linalg.solve(kernel + alpha * numpy.eye(40), target)
    out = kloom("predict", "m.kloom", *absent_views.view_options(), "--quiet").out
    found = {row["id"]: float(row["prediction"]) for row in csv.DictReader(io.StringIO(out))}
    assert [found[f"s{i}"] for i in range(40)] == pytest.approx(expected, rel=1e-5, abs=1e-5)   # six digits
    sentence = kloom("train", "labels.csv", "--target", "y", *options, "--method", "mkr", "--steps", 3, "-o", "n.kloom",
                     code=MISTAKE).sentence()
    assert "steps" in sentence and "--impute median" in sentence


def test_linear_kernels_on_views_are_banded_ridge(kloom, tmp_path):
    """In the space of the columns where they are few: ridge regression with a penalty for each band, by its normal equations."""
    generator = numpy.random.default_rng(7)
    x = generator.normal(size=(70, 6))
    y = x @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.1] + 0.3 * generator.normal(size=70) + 5.0
    names = ["a1", "a2", "a3", "b1", "b2", "c1"]
    lines = [",".join([*names, "y"])] + [",".join(repr(float(v)) for v in [*row, value]) for row, value in zip(x, y)]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    options = ["--target", "y", "--view", "a=a*", "--view", "b=b*", "--view", "c=c*", "--no-standardise", "--kernels",
               "linear(normalise=none) on views", "--method", "mkr", "--draws", 15, "--alpha-grid", "0.01,0.1,1,10"]
    arrays, banks = {}, {}
    for bank in ("auto", "dense"):
        run = kloom("train", "table.csv", *options, "--bank", bank, "-o", "m.kloom", "--json")
        report = run.json()["report"]
        assert report["certificate"]["finding"] == "proved", report["certificate"]
        banks[bank] = run.err
        arrays[bank] = tensors_of(tmp_path / "m.kloom")
    assert "bank: low-rank" in banks["auto"] and "bank: dense" in banks["dense"]
    centred = y - y.mean()
    losses = {}
    for d, point in enumerate(arrays["auto"]["mkr.points"].reshape(-1, 3)):
        for alpha in GRID:
            penalty = alpha / numpy.repeat(point, [3, 2, 1])
            errors = []
            for i in range(70):
                rest = numpy.arange(70) != i
                b = numpy.linalg.solve(x[rest].T @ x[rest] + numpy.diag(penalty), x[rest].T @ centred[rest])
                errors.append(centred[i] - x[i] @ b)
            losses[d, alpha] = numpy.square(errors).mean()
    d, alpha = min(losses, key=losses.get)
    penalty = alpha / numpy.repeat(arrays["auto"]["mkr.points"].reshape(-1, 3)[d], [3, 2, 1])
    fitted = x @ numpy.linalg.solve(x.T @ x + numpy.diag(penalty), x.T @ centred)
    for found in arrays.values():
        assert found["mkr.strengths"][0] == alpha
        # Condition of the kernel at most 70 · 10 / 0.01, times rounding.
        assert found["mkr.losses"][0] == pytest.approx(losses[d, alpha], rel=1e-9)
        assert centred - alpha * found["coefficients"].ravel() == pytest.approx(fitted, abs=1e-9)   # y - Kc = αc


@pytest.mark.parametrize("array", ["mkr.losses", "mkr.strengths", "weights", "coefficients", "bias"])
def test_changed_numbers_are_refuted(kloom, tmp_path, array):
    problem(tmp_path)
    train(kloom)

    def change(numbers):
        numbers[0] *= 1.01
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", array, change)
    kloom("check", "edited.kloom", "labels.csv", "--kernel-file", "train.npy", code=FAILED)


def test_mistakes_are_named(kloom, tmp_path):
    problem(tmp_path)
    assert "alpha_grid" in kloom("train", "labels.csv", "--target", "y1", "--method", "mkr", "--kernel-file", "train.npy",
                                 "--kernels", "precomputed", "--alpha-grid", "0,1", code=MISTAKE).sentence()
    indefinite = numpy.load(tmp_path / "train.npy")
    indefinite[:] = -numpy.eye(SAMPLES)[:, :, None]
    numpy.save(tmp_path / "train.npy", indefinite)
    sentence = kloom("train", "labels.csv", "--target", "y1", "--method", "mkr", "--kernel-file", "train.npy", "--kernels",
                     "precomputed(normalise=none)", "--alpha-grid", "0.5", code=MISTAKE).sentence()
    assert "positive semidefinite" in sentence
