# SPDX-License-Identifier: BSD-3-Clause
"""Products of kernels against LIBSVM: the objective of the exponents, its slope, and where SciPy's descent goes."""
import numpy
import pytest
import scipy.optimize
import sklearn.svm
from conftest import FAILED, MISTAKE, edit_model
from test_samkl import tensors_of

SAMPLES, PRICE, STRENGTH, TUBE = 50, 2.0, 0.7, 0.1


def problem(tmp_path, classes):
    """Gaussian kernels of three columns, of which the target knows two; classes 0: numbers."""
    generator = numpy.random.default_rng(7)
    x = generator.normal(size=(SAMPLES, 3))
    signal = numpy.sin(2 * x[:, 0]) + x[:, 1] + 0.2 * generator.normal(size=SAMPLES)
    kernels = [numpy.exp(-((x[:, None, d] - x[None, :, d]) ** 2) / 2) for d in range(3)]
    numpy.save(tmp_path / "kernels.npy", numpy.stack(kernels, axis=2))
    target = 10 + 4 * signal if classes == 0 else numpy.digitize(signal, [0.0] if classes == 2 else [-0.6, 0.6])
    (tmp_path / "labels.csv").write_text("y\n" + "\n".join(repr(float(t)) if classes == 0 else f"class{t}" for t in target) + "\n")
    return kernels, target


def train(kloom, *more):
    return kloom("train", "labels.csv", "--target", "y", "--method", "gmkl", "--kernel-file", "kernels.npy", "--kernels",
                 "precomputed(normalise=none)", "--C", PRICE, "--lambda", STRENGTH, "--no-probability", "-o", "m.kloom", "--json",
                 *more).json()["report"]


def machine_objective(kernel, target, classes):
    """The primal of LIBSVM's machines, summed over the classes."""
    total = 0.0
    for c in [1] if classes in (0, 2) else range(classes):
        if classes == 0:
            y = (target - target.mean()) / target.std()
            svm = sklearn.svm.SVR(kernel="precomputed", C=PRICE, epsilon=TUBE, tol=1e-9).fit(kernel, y)
        else:
            y = numpy.where(target == c, 1.0, -1.0)
            svm = sklearn.svm.SVC(kernel="precomputed", C=PRICE, tol=1e-9).fit(kernel, y)
        a = numpy.zeros(SAMPLES)
        a[svm.support_] = svm.dual_coef_[0]
        f = kernel @ a + svm.intercept_[0]
        loss = numpy.maximum(0, numpy.abs(y - f) - TUBE if classes == 0 else 1 - y * f)
        total += a @ kernel @ a / 2 + PRICE * loss.sum()
    return total


def objective(gamma, kernels, target, classes, squared):
    product = numpy.exp(sum(g * numpy.log(kernel) for g, kernel in zip(gamma, kernels)))
    return machine_objective(product, target, classes) + STRENGTH * (gamma @ gamma / 2 if squared else gamma.sum())


def slope(gamma, d, *more):
    step = 1e-3
    up, down = gamma.copy(), gamma.copy()
    up[d] += step
    down[d] = max(0.0, down[d] - step)
    return (objective(up, *more) - objective(down, *more)) / (up[d] - down[d])


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("regulariser", ["l1", "l2"])
def test_exponents_are_a_minimum_of_the_objective(kloom, tmp_path, classes, regulariser):
    kernels, target = problem(tmp_path, classes)
    report = train(kloom, "--regulariser", regulariser, "--tolerance", 1e-4)
    gamma = tensors_of(tmp_path / "m.kloom")["weights"].ravel()
    setting = (kernels, target, classes, regulariser == "l2")
    least = objective(gamma, *setting)
    # Machines are asked for 1e-7 of their objective.
    assert report["objective"] == pytest.approx(least, rel=1e-6)
    for d in range(3):   # slopes by differences are right to the curvature times the step
        found = slope(gamma, d, *setting)
        if gamma[d] > 0:
            assert abs(found) * gamma[d] <= (1e-4 + 2e-3) * least
        else:
            assert found >= -2e-3 * least
    # From the same start, by another way.
    other = scipy.optimize.minimize(objective, numpy.full(3, 1 / 3), setting, method="L-BFGS-B", bounds=[(0, None)] * 3,
                                    jac=lambda g, *more: numpy.array([slope(g, d, *more) for d in range(3)]))
    assert least <= other.fun * (1 + 1e-3)


def test_the_referee_says_what_is_proved(kloom, tmp_path):
    problem(tmp_path, 2)
    train(kloom)
    certificate = kloom("check", "m.kloom", "labels.csv", "--kernel-file", "kernels.npy", "--json").json()["certificate"]
    assert certificate["finding"] == "checked" and not certificate["proof"] and "not convex" in certificate["verdict"]


@pytest.mark.parametrize("array", ["weights", "coefficients", "bias", "product.lambda"])
def test_edited_models_are_refuted(kloom, tmp_path, array):
    problem(tmp_path, 3)
    train(kloom)

    def change(numbers):
        largest = max(range(len(numbers)), key=lambda k: abs(numbers[k]))
        numbers[largest] *= 1.01
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", array, change)
    assert "refuted" in kloom("check", "edited.kloom", "labels.csv", "--kernel-file", "kernels.npy", code=FAILED).sentence()


def test_kernels_below_zero_are_refused_with_a_remedy(kloom, table):
    sentence = kloom("train", "data.csv", "--method", "gmkl", "--kernels", "rbf(width=1) on each; linear", "-o", "m.kloom",
                     code=MISTAKE).sentence()
    assert "kernel 'linear on all'" in sentence and "between samples" in sentence and "rbf(width=1) on each" in sentence
