# SPDX-License-Identifier: BSD-3-Clause
"""LP-beta and LP-B against SciPy's linear programmes and scikit-learn's support vector machines."""
import itertools

import numpy
import pytest
import scipy.optimize
import sklearn.svm
from conftest import FAILED, MISTAKE, edit_model
from test_samkl import tensors_of

SAMPLES, PRICE = 30, 3.0


def problem(tmp_path, classes, weights=None):
    """Three Gaussian kernels of a column each; classes that all of them know a little of."""
    generator = numpy.random.default_rng(classes)
    labels = numpy.arange(SAMPLES) % classes
    x = generator.normal(size=(SAMPLES, 3)) + 1.2 * numpy.cos(2 * numpy.pi * (labels[:, None] / classes + numpy.array([0, 0.3, 0.6])))
    kernels = [numpy.exp(-(x[:, None, k] - x[None, :, k]) ** 2) for k in range(3)]
    numpy.save(tmp_path / "kernels.npy", numpy.stack(kernels, axis=2))
    lines = ["y,w"] + [f"class{label},{1.0 if weights is None else float(weights[i])!r}" for i, label in enumerate(labels)]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    return kernels, labels


def train(kloom, *more):
    return kloom("train", "labels.csv", "--target", "y", "--weight", "w", "--method", "lp-beta", "--kernel-file", "kernels.npy",
                 "--kernels", "precomputed(normalise=none)", "--C", PRICE, "-o", "m.kloom", "--json", *more).json()["report"]


def programme(held_out, labels, classes, nu, weights, per_class):
    """The primal as it is printed: weights, rho and a slack for every sample, a row for every rival."""
    outputs = 1 if classes == 2 else classes
    kernels = held_out.shape[1] // outputs
    scores = held_out.reshape(len(labels), outputs, kernels)   # sample, class, kernel
    groups = outputs if per_class else 1
    caps = weights / (nu * weights.sum())
    rows = []
    for i, y in enumerate(labels):
        for u in range(outputs) if outputs == 1 else [u for u in range(classes) if u != y]:
            row = numpy.zeros(groups * kernels + 1 + len(labels))
            if outputs == 1:
                row[:kernels] = (1 if y == 1 else -1) * scores[i, 0]
            else:
                row[(y if per_class else 0) * kernels:][:kernels] += scores[i, y]
                row[(u if per_class else 0) * kernels:][:kernels] -= scores[i, u]
            row[groups * kernels] = -1
            row[groups * kernels + 1 + i] = 1
            rows.append(-row)
    sums = numpy.zeros((groups, groups * kernels + 1 + len(labels)))
    for g in range(groups):
        sums[g, g * kernels:(g + 1) * kernels] = 1
    cost = numpy.concatenate([numpy.zeros(groups * kernels), [-1], caps])
    bounds = [(0, None)] * (groups * kernels) + [(None, None)] + [(0, None)] * len(labels)
    solved = scipy.optimize.linprog(cost, A_ub=rows, b_ub=numpy.zeros(len(rows)), A_eq=sums, b_eq=numpy.ones(groups), bounds=bounds,
                                    method="highs")
    assert solved.status == 0
    return solved.fun, solved.x[:groups * kernels].reshape(groups, kernels)


def objective_of(beta, held_out, labels, classes, nu, weights):
    """The objective of weights: rho is tried at every margin."""
    outputs = 1 if classes == 2 else classes
    scores = held_out.reshape(len(labels), outputs, -1)
    caps = weights / (nu * weights.sum())
    sums = numpy.einsum("ick,ck->ic", scores, numpy.broadcast_to(beta, (outputs, scores.shape[2])))
    margins = numpy.array([(1 if y == 1 else -1) * row[0] if outputs == 1 else row[y] - numpy.delete(row, y).max()
                           for y, row in zip(labels, sums)])
    return min(-rho + caps @ numpy.maximum(0, rho - margins) for rho in margins)


@pytest.mark.parametrize("classes, per, nu", itertools.product([2, 4], ["kernel", "class"], [0.1, 0.45]))
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_the_linear_programme(kloom, tmp_path, classes, per, nu, weighted):
    weights = numpy.random.default_rng(2).integers(0, 4, SAMPLES).astype(float) if weighted else numpy.ones(SAMPLES)
    kernels, labels = problem(tmp_path, classes, weights)
    report = train(kloom, "--nu", nu, "--weights-per", per)
    arrays = tensors_of(tmp_path / "m.kloom")
    outputs = 1 if classes == 2 else classes
    held_out = arrays["lp_beta.held_out"]
    least, beta = programme(held_out, labels, classes, nu, weights, per == "class" and classes > 2)
    # HiGHS solves to 1e-7.
    assert report["objective"] == pytest.approx(least, abs=1e-6)
    assert objective_of(arrays["weights"], held_out, labels, classes, nu, weights) == pytest.approx(least, abs=1e-6)
    if per == "kernel":   # a class that has no part in the nearest margins may have any weights
        assert arrays["weights"] == pytest.approx(beta, abs=1e-5)
    items = {item["name"]: item["value"] for item in report["certificate"]["items"]}
    assert items["primal objective"] == pytest.approx(least, abs=1e-6) and items["dual objective"] == pytest.approx(least, abs=1e-6)
    assert report["certificate"]["finding"] == "proved"


def machine(kernel, sides, weights, tried):
    """Scores of the samples `tried` by a machine on the others, and its coefficients."""
    rest = numpy.array([i for i in range(len(sides)) if i not in tried and weights[i] > 0])
    svm = sklearn.svm.SVC(kernel="precomputed", C=PRICE, tol=1e-10)
    svm.fit(kernel[numpy.ix_(rest, rest)], sides[rest], sample_weight=weights[rest])
    coefficients = numpy.zeros(len(sides))
    coefficients[rest[svm.support_]] = svm.dual_coef_[0]
    return kernel[tried] @ coefficients + svm.intercept_[0], coefficients


@pytest.mark.parametrize("classes", [2, 3])
def test_machines_and_held_out_scores_are_those_of_libsvm(kloom, tmp_path, classes):
    weights = numpy.where(numpy.arange(SAMPLES) % 7 == 0, 2.5, 1.0)
    kernels, labels = problem(tmp_path, classes, weights)
    # Every sample is a fold of its own, so that it does not matter which samples fall into which fold.
    train(kloom, "--nu", 0.05, "--folds", SAMPLES, "--tolerance", 1e-12, "--no-probability")
    arrays = tensors_of(tmp_path / "m.kloom")
    outputs = 1 if classes == 2 else classes
    held_out = arrays["lp_beta.held_out"]
    machines = arrays["lp_beta.machines"]
    used = arrays["weights"][0] > 0
    assert used.sum() > 1
    for c, p in itertools.product(range(outputs), range(len(kernels))):
        sides = numpy.where(labels == (1 if classes == 2 else c), 1, -1)
        column = p + len(kernels) * c
        # A machine of gap g has scores within the root of twice its objective (about 30) times g: 1e-5, and a bias near it.
        alone = [machine(kernels[p], sides, weights, [i])[0][0] for i in range(SAMPLES)]
        assert held_out[:, column] == pytest.approx(numpy.array(alone), abs=1e-4)
        if used[p]:
            assert kernels[p] @ machines[:, column] == pytest.approx(kernels[p] @ machine(kernels[p], sides, weights, [0][:0])[1], abs=1e-4)
        else:
            assert not machines[:, column].any()


def test_choices_are_reported(kloom, tmp_path):
    problem(tmp_path, 3)
    report = kloom("train", "labels.csv", "--target", "y", "--ignore", "w", "--method", "lp-beta", "--kernel-file", "kernels.npy",
                   "--kernels", "precomputed(normalise=none)", "-o", "m.kloom", "--json").json()["report"]
    tables = {table["title"]: table for table in report["tables"]}
    alone = tables["machines on single kernels"]["rows"]
    assert [row[2] for row in alone] == report["errors_alone"] and len(alone) == 3
    assert [row[1] for row in alone] == list(tensors_of(tmp_path / "m.kloom")["lp_beta.prices"])
    path = tables["cross-validation of nu"]["rows"]
    least = min(row[1] for row in path)
    assert float(report["options"]["nu"]) == max(row[0] for row in path if row[1] == least)


@pytest.mark.parametrize("array", ["lp_beta.machines", "lp_beta.biases", "lp_beta.dual", "weights"])
def test_edited_models_are_refuted(kloom, tmp_path, array):
    problem(tmp_path, 3)
    train(kloom, "--nu", 0.05)

    def change(numbers):
        largest = max(range(len(numbers)), key=lambda k: abs(numbers[k]))
        numbers[largest] *= 1.01
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", array, change)
    assert "refuted" in kloom("check", "edited.kloom", "labels.csv", "--kernel-file", "kernels.npy", code=FAILED).sentence()


def test_numbers_are_refused(kloom, tmp_path):
    problem(tmp_path, 2)
    sentence = kloom("train", "labels.csv", "--target", "w", "--task", "regression", "--method", "lp-beta", "--kernel-file",
                     "kernels.npy", "--kernels", "precomputed(normalise=none)", "-o", "n.kloom", code=MISTAKE).sentence()
    assert "regression" in sentence
