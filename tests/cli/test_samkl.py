# SPDX-License-Identifier: BSD-3-Clause
"""SAMKL and LMKL from the command line; SAMKL's inner problem against CVXOPT's solution of the dual (13) as published."""
import csv
import json
import struct

import cvxopt
import cvxopt.solvers
import numpy
import pytest

from conftest import MISTAKE, labels_and_kernels


def tensors_of(path):
    """Arrays of a model file (safetensors layout), by name."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F64":
            continue
        begin, end = entry["data_offsets"]
        arrays[name] = numpy.frombuffer(data[8 + length + begin:8 + length + end]).reshape(entry["shape"])
    return arrays


def dual_13(y, kernels, switches, tau, price):
    """max sum(alpha) - max_p q_p / 2, q_p = sum_ij alpha_i alpha_j y_i y_j h_ip h_jp K_p / (tau_i tau_j),
    sum_i alpha_i y_i / tau_i = 0, 0 <= alpha <= C: Liu et al. 2014, eq. 13, for the kernel weights on the simplex."""
    n = len(y)
    objective = numpy.concatenate([-numpy.ones(n), [0.5]])
    rows = [numpy.vstack([-numpy.eye(n, n + 1), numpy.eye(n, n + 1)])]
    right = [numpy.concatenate([numpy.zeros(n), numpy.full(n, price)])]
    cones = []
    for p, kernel in enumerate(kernels):
        block = numpy.zeros((n + 2, n + 1))
        block[0, n] = -1.0
        block[1:n + 1, :n] = -2.0 * numpy.linalg.cholesky(kernel).T * (y * switches[:, p] / tau)
        block[n + 1, n] = -1.0
        rows.append(block)
        right.append(numpy.concatenate([[1.0], numpy.zeros(n), [-1.0]]))
        cones.append(n + 2)
    equality = numpy.concatenate([y / tau, [0.0]])[None, :]
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-9, reltol=1e-9, feastol=1e-9)
    result = cvxopt.solvers.conelp(
        cvxopt.matrix(objective), cvxopt.matrix(numpy.vstack(rows)), cvxopt.matrix(numpy.concatenate(right)),
        {"l": 2 * n, "q": cones, "s": []}, cvxopt.matrix(equality), cvxopt.matrix(numpy.zeros(1)))
    assert result["status"] == "optimal"
    return -result["primal objective"]


@pytest.mark.parametrize("price,m0,updates", [(0.3, 1, "one"), (3.0, 2, "one"), (30.0, 2, "stop"), (1.0, 3, "literal")])
def test_inner_problem_is_the_published_dual(kloom, tmp_path, price, m0, updates):
    y, kernels = labels_and_kernels(samples=36, seed=4)
    (tmp_path / "labels.csv").write_text("label\n" + "".join(f"{int(value)}\n" for value in y))
    numpy.save(tmp_path / "K.npy", numpy.stack(kernels, axis=2))
    report = kloom("train", "labels.csv", "--kernel-file", "K.npy", "--normalise", "none", "--method", "samkl", "--C",
                   price, "--m0", m0, "--updates", updates, "--tolerance", "1e-8", "--no-probability", "--json", "-o",
                   "m.kloom").json()
    report = report.get("report", report)
    model = tensors_of(tmp_path / "m.kloom")
    switches, tau = model["gate.0.samples"], model["gate.0.margins"]
    assert switches.min() == 0.0 and (switches.shape[1] - switches.sum(axis=1)).max() <= m0
    assert tau.min() < 1.0
    # Gaps of 1e-8 and 1e-9 bound the difference.
    assert report["objective"] == pytest.approx(dual_13(y, kernels, switches, tau, price), rel=2e-8)


def two_sensors(path):
    generator = numpy.random.default_rng(3)
    lines = ["a.1,a.2,b.1,b.2,kind"]
    for i in range(80):
        sign = 1 if i % 2 else -1
        values = sign * 0.8 + generator.normal(size=4)
        lines.append(",".join(f"{v:.5f}" for v in values) + (",up" if sign > 0 else ",down"))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("method,key,words", [("samkl", "switches", {"on", "off", "idle"}), ("lmkl", "gating", None)])
def test_report_and_csv_have_the_map(kloom, tmp_path, method, key, words):
    two_sensors(tmp_path / "data.csv")
    kloom("train", "data.csv", "--target", "kind", "--views-by-prefix", "--kernels", "linear; rbf(width=1)", "--method",
          method, "--report", "r.json", "--sample-map", "map.csv", "-o", "m.kloom")
    report = json.loads((tmp_path / "r.json").read_text())
    drawn = report[key][0]
    assert len(drawn["kernels"]) == 4 and len(drawn["samples"]) == 80 and sorted(drawn["order"]) == list(range(80))
    assert len(drawn["class_means"]) == 2 and len(drawn["class_means"][0]) == 4
    if key == "switches":
        assert sum(pattern["samples"] for pattern in drawn["patterns"]) == 80
        assert {len(text) for text in drawn["samples"]} == {4}
    table = list(csv.reader((tmp_path / "map.csv").open()))
    assert table[0][:3] == ["sample", "class", "output"] and table[0][3:] == drawn["kernels"]
    assert len(table) == 81 and sorted(int(row[0]) for row in table[1:]) == list(range(1, 81))
    assert [row[1] for row in table[1:]] == ["down"] * 40 + ["up"] * 40
    for row in table[1:]:
        assert words is None or set(row[3:]) <= words
        if words is None:
            # A softmax times the root of the number of kernels.
            assert sum(map(float, row[3:])) == pytest.approx(2.0, rel=1e-9)
    kloom("predict", "m.kloom", "data.csv", "-o", "p.csv")
    check = kloom("check", "m.kloom", "data.csv", "--json").json()
    assert "gap" in json.dumps(check)


def test_map_of_a_method_without_one_is_refused(kloom, tmp_path):
    two_sensors(tmp_path / "data.csv")
    result = kloom("train", "data.csv", "--target", "kind", "--method", "simplemkl", "--sample-map", "map.csv",
                   code=MISTAKE)
    assert "samkl" in result.sentence() and not (tmp_path / "map.csv").exists()


def test_bad_options_are_refused(kloom, tmp_path):
    two_sensors(tmp_path / "data.csv")
    for option, value, word in (("--m0", "1.5", "whole"), ("--h0", "101", "h0"), ("--updates", "two", "updates"),
                                ("--C-grid", "-1,2", "C_grid"), ("--m0", "x", "")):
        result = kloom("train", "data.csv", "--target", "kind", "--method", "samkl", "--kernels", "linear; rbf(width=1)",
                       option, value, code=MISTAKE)
        assert word in result.sentence()
