# SPDX-License-Identifier: BSD-3-Clause
"""Multiclass MKL against CVXOPT's interior-point solutions: the dual (9) as a cone programme, and with the logistic loss the
primal (4)."""
import cvxopt
import cvxopt.solvers
import numpy
import pytest


def problem(samples, classes, seed):
    """Labels and three kernels of full rank, unit diagonal."""
    generator = numpy.random.default_rng(seed)
    labels = numpy.arange(samples) % classes
    x = 0.6 * generator.normal(size=(samples, classes)) + numpy.eye(classes)[labels]
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    kernels = [numpy.exp(-square / (2 * width ** 2)) * (1 - 1e-3) + 1e-3 * numpy.eye(samples)
               for width in (0.4, 1.0, 3.0)]
    return labels, kernels


def pair_kernels(classes):
    """+1 on the diagonal of every pair of classes, +1 or -1 beside it."""
    result = []
    for u in range(classes):
        for v in range(u + 1, classes):
            for sign in (1.0, -1.0):
                kernel = numpy.zeros((classes, classes))
                kernel[u, u] = kernel[v, v] = 1.0
                kernel[u, v] = kernel[v, u] = sign
                result.append(kernel)
    return result


def root_of(matrix):
    """R with R'R = matrix, positive semidefinite."""
    values, vectors = numpy.linalg.eigh(matrix)
    return (vectors * numpy.sqrt(numpy.maximum(values, 0.0))).T


def cone_objective(labels, kernels, class_kernels, price):
    """max sum alpha_iy - max_k |w_k|^2 / 2 over the polytope of (9).

    Variables: alpha (sample by sample, class by class) and gamma. |w_k|^2 <= 2 gamma is
    ||(R alpha, gamma - 1/2)|| <= gamma + 1/2 with R'R the joint kernel matrix.
    """
    n, m = len(labels), class_kernels[0].shape[0]
    size = n * m + 1
    own = numpy.eye(m)[labels].ravel()
    objective = numpy.concatenate([-own, [1.0]])
    # alpha_iu <= 0, and <= C for the own class; alpha_iy >= 0 follows from the sums.
    rows = [numpy.eye(n * m, size)]
    right = [price * own]
    cones = []
    for kernel in kernels:
        for class_kernel in class_kernels:
            root = numpy.kron(root_of(kernel), root_of(class_kernel))
            block = numpy.zeros((n * m + 2, size))
            block[0, -1] = -1.0
            block[1:-1, :-1] = -root
            block[-1, -1] = -1.0
            rows.append(block)
            right.append(numpy.concatenate([[0.5], numpy.zeros(n * m), [-0.5]]))
            cones.append(n * m + 2)
    sample_sums = numpy.kron(numpy.eye(n), numpy.ones((1, m)))
    class_sums = numpy.kron(numpy.ones((1, n)), numpy.eye(m))[:-1]   # the last one follows
    equality = numpy.hstack([numpy.vstack([sample_sums, class_sums]), numpy.zeros((n + m - 1, 1))])
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-9, reltol=1e-9, feastol=1e-9)
    result = cvxopt.solvers.conelp(
        cvxopt.matrix(objective), cvxopt.matrix(numpy.vstack(rows)), cvxopt.matrix(numpy.concatenate(right)),
        {"l": n * m, "q": cones, "s": []}, cvxopt.matrix(equality), cvxopt.matrix(numpy.zeros(n + m - 1)))
    assert result["status"] == "optimal"
    return -result["primal objective"]


def logistic_primal(labels, kernels, class_kernels, price):
    """min (sum_k |v_k|)^2 / 2 + C sum_i log(1 + exp(z_i)), z_i >= -(s_iy - s_iu) for u != y_i.

    The least of sum_k |v_k|^2 / beta_k over the simplex is (sum_k |v_k|)^2. Features of a kernel are the columns of a root of
    it. Variables: v_k, their norms r_k, biases but the last, z.
    """
    n, m = len(labels), class_kernels[0].shape[0]
    roots = [numpy.kron(root_of(kernel), root_of(class_kernel)) for kernel in kernels for class_kernel in class_kernels]
    features, norms, size = len(roots) * n * m, len(roots), len(roots) * (n * m + 1) + m - 1 + n
    scores = numpy.zeros((n * m, size))        # s_iu as a row over all variables
    scores[:, :features] = numpy.hstack([root.T for root in roots])
    for u in range(m - 1):
        scores[u::m, features + norms + u] = 1.0
    rows = []
    for i, y in enumerate(labels):
        for u in range(m):
            if u != y:
                row = scores[i * m + u] - scores[i * m + y]
                row[size - n + i] -= 1.0
                rows.append(row)
    inequality = numpy.vstack(rows)
    for k in range(norms):
        block = numpy.zeros((n * m + 1, size))
        block[0, features + k] = -1.0
        block[1:, k * n * m:(k + 1) * n * m] = -numpy.eye(n * m)
        inequality = numpy.vstack([inequality, block])
    sum_of_norms = numpy.zeros(size)
    sum_of_norms[features:features + norms] = 1.0

    def objective(x=None, scale=None):
        if x is None:
            return 0, cvxopt.matrix(numpy.zeros(size))
        point = numpy.array(x).ravel()
        z, total = point[size - n:], sum_of_norms @ point
        share = 1.0 / (1.0 + numpy.exp(-z))
        gradient = total * sum_of_norms
        gradient[size - n:] += price * share
        value = 0.5 * total ** 2 + price * numpy.logaddexp(0.0, z).sum()
        if scale is None:
            return value, cvxopt.matrix(gradient).T
        hessian = numpy.outer(sum_of_norms, sum_of_norms)
        hessian[range(size - n, size), range(size - n, size)] += price * share * (1.0 - share)
        return value, cvxopt.matrix(gradient).T, cvxopt.matrix(scale[0] * hessian)

    cvxopt.solvers.options.update(show_progress=False, abstol=1e-9, reltol=1e-9, feastol=1e-9)
    result = cvxopt.solvers.cp(objective, cvxopt.matrix(inequality), cvxopt.matrix(numpy.zeros(len(inequality))),
                               {"l": n * (m - 1), "q": [n * m + 1] * norms, "s": []})
    assert result["status"] == "optimal"
    return result["primal objective"]


def fit(kloom, folder, labels, kernels, *options):
    (folder / "labels.csv").write_text("label\n" + "".join(f"c{value}\n" for value in labels))
    numpy.save(folder / "K.npy", numpy.stack(kernels, axis=2))
    report = kloom("train", "labels.csv", "--kernel-file", "K.npy", "--normalise", "none", "--method", "mcmkl",
                   "--tolerance", "1e-6", "--iterations", "3000", "--json", "-o", "m.kloom", *options).json()
    report = report.get("report", report)
    assert report["status"] == "converged"
    return report["objective"]


# Gaps of 1e-6 and 1e-9 bound the differences; the product promises 1e-5.
@pytest.mark.parametrize("price", [0.1, 1.0, 20.0])
def test_all_algorithms_reach_the_cone_programme(kloom, tmp_path, price):
    labels, kernels = problem(samples=24, classes=3, seed=5)
    expected = cone_objective(labels, kernels, [numpy.eye(3)], price)
    for algorithm in ("level", "silp", "silp-compact", "qcqp"):
        found = fit(kloom, tmp_path, labels, kernels, "--C", price, "--algorithm", algorithm)
        assert found == pytest.approx(expected, rel=2e-6), algorithm


def test_kernels_on_classes_reach_the_cone_programme(kloom, tmp_path):
    labels, kernels = problem(samples=21, classes=3, seed=6)
    expected = cone_objective(labels, kernels[:2], pair_kernels(3), 1.0)
    for algorithm in ("level", "qcqp"):
        found = fit(kloom, tmp_path, labels, kernels[:2], "--class-kernels", "pairs", "--algorithm", algorithm)
        assert found == pytest.approx(expected, rel=2e-6), algorithm


def test_given_kernels_on_classes_reach_the_cone_programme(kloom, tmp_path):
    labels, kernels = problem(samples=21, classes=3, seed=6)
    tree = numpy.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0.5]])      # ((0, 1), 2): branches in common, of two
    given = numpy.array([[1, -0.3, 0.2], [-0.3, 1, 0], [0.2, 0, 2]])
    (tmp_path / "classes.csv").write_text("\n".join(",".join(map(repr, map(float, row))) for row in given) + "\n")
    newick = "tree:((c0,c1),c2)"
    for text, matrices in ((newick, [tree]), ("file:classes.csv", [given]), (f"identity+{newick}+file:classes.csv",
                                                                             [numpy.eye(3), tree, given])):
        expected = cone_objective(labels, kernels[:2], matrices, 1.0)
        for algorithm in ("level", "silp", "qcqp"):
            found = fit(kloom, tmp_path, labels, kernels[:2], "--class-kernels", text, "--algorithm", algorithm)
            assert found == pytest.approx(expected, rel=2e-6), (text, algorithm)


@pytest.mark.parametrize("price", [0.1, 1.0, 20.0])
def test_logistic_loss_reaches_the_primal(kloom, tmp_path, price):
    labels, kernels = problem(samples=18, classes=3, seed=9)
    expected = logistic_primal(labels, kernels, [numpy.eye(3)], price)
    for algorithm in ("level", "silp", "silp-compact", "qcqp"):
        found = fit(kloom, tmp_path, labels, kernels, "--C", price, "--algorithm", algorithm, "--loss", "logistic")
        assert found == pytest.approx(expected, rel=2e-6), algorithm


def test_logistic_loss_with_kernels_on_classes_reaches_the_primal(kloom, tmp_path):
    labels, kernels = problem(samples=12, classes=3, seed=10)
    expected = logistic_primal(labels, kernels[:2], pair_kernels(3), 1.0)
    found = fit(kloom, tmp_path, labels, kernels[:2], "--class-kernels", "pairs", "--loss", "logistic")
    assert found == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_command_line_trains_predicts_and_checks(kloom, tmp_path, loss):
    generator = numpy.random.default_rng(8)
    labels = numpy.arange(90) % 3
    x = 0.4 * generator.normal(size=(90, 2)) + numpy.array([[0, 0], [1, 0], [0, 1]])[labels]
    lines = ["a,b,kind"] + [f"{row[0]:.6f},{row[1]:.6f},k{label}" for row, label in zip(x, labels)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    kloom("train", "data.csv", "--target", "kind", "--method", "mcmkl", "--kernels", "rbf(width=2^-1..2^1) on all; linear",
          "--class-kernels", "identity+pairs", "--loss", loss, "-o", "m.kloom")
    certificate = kloom("check", "m.kloom", "data.csv", "--json").json()["certificate"]
    assert certificate["proof"]
    values = {item["name"]: item["value"] for item in certificate["items"]}
    assert -1e-9 <= values["duality gap"] <= 1.001e-3     # the tolerance, and kernels stored with fewer digits
    kloom("predict", "m.kloom", "data.csv", "-o", "p.csv")
    predicted = [line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()]
    column = next(k for k, name in enumerate(predicted[0]) if "label" in name or "predict" in name or "kind" in name)
    right = sum(row[column] == f"k{label}" for row, label in zip(predicted[1:], labels))
    assert right >= 75
