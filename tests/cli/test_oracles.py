# SPDX-License-Identifier: BSD-3-Clause
"""Margin MKL with p = 2 against CVXOPT's interior-point solution of the dual as a cone programme."""
import cvxopt
import cvxopt.solvers
import numpy
import pytest

from conftest import labels_and_kernels


def cone_objective(y, kernels, price):
    """max over alpha of 1'alpha - ||q||_2 / 2, q_m = (y alpha)' K_m (y alpha), 0 <= alpha <= C, y'alpha = 0.

    Variables (alpha, s, t): minimise -1'alpha + t/2 with ||s|| <= t and q_m <= s_m, which with K_m = L L' is
    ||(2 L'(y alpha), s_m - 1)|| <= s_m + 1.
    """
    n, m = len(y), len(kernels)
    size = n + m + 1
    objective = numpy.concatenate([-numpy.ones(n), numpy.zeros(m), [0.5]])
    rows, right, cones = quadratic_cones(y, kernels, price, size)
    block = numpy.zeros((m + 1, size))
    block[0, n + m] = -1.0
    block[1:, n:n + m] = -numpy.eye(m)
    rows.append(block)
    right.append(numpy.zeros(m + 1))
    cones.append(m + 1)
    equality = numpy.concatenate([y, numpy.zeros(m + 1)])[None, :]
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-8, reltol=1e-8, feastol=1e-8)
    result = cvxopt.solvers.conelp(
        cvxopt.matrix(objective), cvxopt.matrix(numpy.vstack(rows)), cvxopt.matrix(numpy.concatenate(right)),
        {"l": 2 * n, "q": cones, "s": []}, cvxopt.matrix(equality), cvxopt.matrix(numpy.zeros(1)))
    assert result["status"] == "optimal"
    return -result["primal objective"]


def quadratic_cones(y, kernels, price, size):
    """alpha between 0 and C, and s_m >= (y alpha)' K_m (y alpha): the variables from 0 and from len(y) on."""
    n = len(y)
    rows = [numpy.vstack([-numpy.eye(n, size), numpy.eye(n, size)])]
    right = [numpy.concatenate([numpy.zeros(n), numpy.full(n, price)])]
    cones = []
    for k, kernel in enumerate(kernels):
        block = numpy.zeros((n + 2, size))
        block[0, n + k] = -1.0
        block[1:n + 1, :n] = -2.0 * numpy.linalg.cholesky(kernel).T * y
        block[n + 1, n + k] = -1.0
        rows.append(block)
        right.append(numpy.concatenate([[1.0], numpy.zeros(n), [-1.0]]))
        cones.append(n + 2)
    return rows, right, cones


def grouped_objective(y, kernels, price, groups, mix):
    """max over alpha of 1'alpha - h(q)/2, h the largest theta'q with theta >= 0 and, for v = mix and b_g = ||theta_g||_2,
    v sum b_g + (1 - v) sum b_g^2 <= 1.

    h is the least eta + sum z_g with ||s_g|| <= r_g + v eta and r_g^2 <= 4 (1 - v) eta z_g; for v = 1 the least eta with
    ||s_g|| <= eta. Variables (alpha, s, eta, r, z).
    """
    n, m, count = len(y), len(kernels), max(groups) + 1
    size = n + m + 1 + 2 * count
    eta, r, z = n + m, n + m + 1, n + m + 1 + count
    rows, right, cones = quadratic_cones(y, kernels, price, size)
    # r and z are not negative, and 0 where there is no use for them.
    bounds = numpy.zeros((2 * count, size))
    bounds[:, r:] = -numpy.eye(2 * count)
    if mix == 1.0:
        bounds = numpy.vstack([bounds, -bounds])
    rows[0] = numpy.vstack([rows[0], bounds])
    right[0] = numpy.concatenate([right[0], numpy.zeros(len(bounds))])
    for g in range(count):
        members = [k for k in range(m) if groups[k] == g]
        block = numpy.zeros((len(members) + 1, size))
        block[0, r + g], block[0, eta] = -1.0, -mix
        for place, k in enumerate(members):
            block[place + 1, n + k] = -1.0
        rows.append(block)
        right.append(numpy.zeros(len(members) + 1))
        cones.append(len(members) + 1)
        if mix == 1.0:
            continue
        block = numpy.zeros((3, size))   # ||(2 r, 4(1 - v) eta - z)|| <= 4(1 - v) eta + z
        block[0, eta], block[0, z + g] = -4 * (1 - mix), -1.0
        block[1, r + g] = -2.0
        block[2, eta], block[2, z + g] = -4 * (1 - mix), 1.0
        rows.append(block)
        right.append(numpy.zeros(3))
        cones.append(3)
    objective = numpy.zeros(size)
    objective[:n] = -1.0
    objective[eta] = 0.5
    objective[z:] = 0.5
    equality = numpy.concatenate([y, numpy.zeros(size - n)])[None, :]
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-8, reltol=1e-8, feastol=1e-8)
    result = cvxopt.solvers.conelp(
        cvxopt.matrix(objective), cvxopt.matrix(numpy.vstack(rows)), cvxopt.matrix(numpy.concatenate(right)),
        {"l": len(right[0]), "q": cones, "s": []}, cvxopt.matrix(equality), cvxopt.matrix(numpy.zeros(1)))
    assert result["status"] == "optimal"
    return -result["primal objective"]


@pytest.mark.parametrize("groups", [[0, 0, 1, 1], [0, 1, 2, 0], [0, 0, 0, 0]])
@pytest.mark.parametrize("mix", [1.0, 0.5, 0.1, 0.0])
def test_weights_in_groups_reach_the_cone_programme(kloom, tmp_path, groups, mix):
    y, kernels = labels_and_kernels(samples=40, seed=5)
    expected = grouped_objective(y, kernels, 2.0, groups, mix)
    (tmp_path / "labels.csv").write_text("label\n" + "".join(f"{int(value)}\n" for value in y))
    numpy.save(tmp_path / "K.npy", numpy.stack(kernels, axis=2))
    report = kloom("train", "labels.csv", "--kernel-file", "K.npy", "--normalise", "none", "--method", "group-mkl", "--groups",
                   ",".join(str(g + 1) for g in groups), "--mix", mix, "--norm", 2, "--C", 2, "--tolerance", "1e-5",
                   "--iterations", 20000, "--no-probability", "--json", "-o", "m.kloom").json()
    report = report.get("report", report)
    assert report["status"] == "converged" and report["certificate"]["finding"] == "proved", report["certificate"]
    assert report["objective"] == pytest.approx(expected, rel=1e-5 + 2e-8)   # the gaps of both


@pytest.mark.parametrize("price", [0.1, 1.0, 30.0])
def test_norm_two_reaches_the_cone_programme(kloom, tmp_path, price):
    y, kernels = labels_and_kernels(samples=40, seed=3)
    expected = cone_objective(y, kernels, price)
    (tmp_path / "labels.csv").write_text("label\n" + "".join(f"{int(value)}\n" for value in y))
    numpy.save(tmp_path / "K.npy", numpy.stack(kernels, axis=2))
    # Both end at a gap of 1e-8 of the objective, which bounds the difference.
    report = kloom("train", "labels.csv", "--kernel-file", "K.npy", "--normalise", "none", "--method", "lp-mkl",
                   "--norm", "2", "--C", price, "--tolerance", "1e-8", "--no-probability", "--json", "-o",
                   "m.kloom").json()
    report = report.get("report", report)
    assert report["status"] == "converged"
    assert report["objective"] == pytest.approx(expected, rel=2e-8)
