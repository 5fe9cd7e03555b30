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
