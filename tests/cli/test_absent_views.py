# SPDX-License-Identifier: BSD-3-Clause
"""Samples that lack views: what is learned from them, against a transcription and CVXOPT, and what is said about them."""
import csv
import json

import cvxopt
import cvxopt.solvers
import numpy
import pytest

from conftest import MISTAKE, edit_model
from test_samkl import tensors_of

VIEWS = ("a", "b", "c")
WIDTH = 3


def problem(samples=48, seed=3, absent=0.4):
    """Three views that each say something about the label; which of them a sample lacks, at most two."""
    generator = numpy.random.RandomState(seed)
    y = numpy.where(numpy.arange(samples) % 2 == 0, 1.0, -1.0)
    views = [generator.normal(size=(samples, WIDTH)) + 0.8 * y[:, None] * (numpy.arange(WIDTH) == v)
             for v in range(len(VIEWS))]
    present = generator.uniform(size=(samples, len(VIEWS))) >= absent
    present[~present.any(axis=1), 0] = True
    return y, views, present


def write_views(folder, y, views, present, names=VIEWS, rows=None, label=True):
    """A file for each view with the samples that have it, and one of labels."""
    rows = range(len(y)) if rows is None else rows
    if label:
        (folder / "labels.csv").write_text("id,label\n" + "".join(f"s{i},{'pos' if y[i] > 0 else 'neg'}\n" for i in rows))
    for v, name in enumerate(names):
        lines = [f"s{i}," + ",".join(repr(float(x)) for x in views[v][i]) for i in rows if present[i, v]]
        header = "id," + ",".join(f"x{k}" for k in range(views[v].shape[1]))
        (folder / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")


def view_options(names=VIEWS, join="outer"):
    options = ["--id", "id", "--join", join]
    for name in names:
        options += ["--view", f"{name}={name}.csv"]
    return options


def linear_kernels(views, present, rows_views=None, rows_present=None):
    """Cosines of standardised features, fitted on the samples that have the view, 0 where one of the two lacks it."""
    kernels = []
    for v, view in enumerate(views):
        own = view[present[:, v]]
        def standardised(x):
            return (x - own.mean(axis=0)) / own.std(axis=0, ddof=1)
        columns = standardised(view)
        rows, there = (columns, present) if rows_views is None else (standardised(rows_views[v]), rows_present)
        products = rows @ columns.T / numpy.outer(numpy.linalg.norm(rows, axis=1), numpy.linalg.norm(columns, axis=1))
        kernels.append(products * numpy.outer(there[:, v], present[:, v]))
    return kernels


def best_dual(y, kernel, tau, price):
    """max tau'a - a'YKYa/2, y'a = 0, 0 <= a <= C/tau: the machine with margins tau, by CVXOPT."""
    n = len(y)
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-10, reltol=1e-10, feastol=1e-10)
    result = cvxopt.solvers.qp(cvxopt.matrix(kernel * numpy.outer(y, y)), cvxopt.matrix(-tau),
                               cvxopt.matrix(numpy.vstack([-numpy.eye(n), numpy.eye(n)])),
                               cvxopt.matrix(numpy.concatenate([numpy.zeros(n), price / tau])),
                               cvxopt.matrix(y[None, :]), cvxopt.matrix(numpy.zeros(1)))
    assert result["status"] == "optimal"
    return -result["primal objective"], numpy.array(result["x"]).ravel()


def train(kloom, method, *options, names=VIEWS):
    return kloom("train", "labels.csv", *view_options(names), "--method", method, "--kernels", "linear on views", "--json",
                 "-o", "model.kloom", *options).json()


def test_own_margins_are_those_of_the_published_fixed_point(kloom, tmp_path):
    """uniform, C = 2: margins and solution in turn, each solution by CVXOPT."""
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    report = train(kloom, "uniform", "--C", "2", "--tolerance", "1e-8", "--no-probability")
    kernels = linear_kernels(views, present)
    mean = sum(kernels) / len(kernels)
    tau = numpy.ones(len(y))
    for _ in range(60):
        value, a = best_dual(y, mean, tau, 2.0)
        sizes = numpy.array([(a * y) @ kernel @ (a * y) for kernel in kernels])
        tau = numpy.maximum(0.05, numpy.sqrt(present @ sizes / sizes.sum()))
    arrays = tensors_of(tmp_path / "model.kloom")
    found = arrays["margin.own"].ravel()
    # The iteration stops when no tau changes by more than 1e-3, and contracts.
    assert numpy.abs(found - tau).max() < 5e-3
    assert len(set(found.round(3))) > 2 and found.min() < 0.9, "margins must differ, or the test says nothing"
    # For the margins in the model, the objective is that of the dual.
    value, _ = best_dual(y, mean, found, 2.0)
    assert report["report"]["objective"] == pytest.approx(value, rel=1e-6)


def test_certificate_and_tampered_margins(kloom, tmp_path):
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    for method in ("uniform", "simplemkl", "lp-mkl", "easymkl", "gram", "fheuristic", "pwmk", "group-mkl", "auto", "bemkl", "mkl-da", "ufo-mkl"):
        report = train(kloom, method)["report"]
        assert report["certificate"]["finding"] != "refuted", (method, report["certificate"])
    train(kloom, "lp-mkl", "--C", "1")
    def all_one(margins):
        margins[:] = [1.0] * len(margins)
    edit_model(tmp_path / "model.kloom", tmp_path / "other.kloom", "margin.own", all_one)
    text = kloom("check", "other.kloom", "labels.csv", *view_options(), code=1).out
    assert "refuted" in text


def predictions(kloom, model="model.kloom", names=VIEWS, *more):
    out = kloom("predict", model, *view_options(names), "--quiet", *more).out
    return {row["id"]: row for row in csv.DictReader(out.splitlines())}


@pytest.mark.parametrize("method", ["uniform", "lp-mkl", "auto", "bemkl"])
def test_predictions_say_which_views_were_used(kloom, tmp_path, method):
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, method)
    rows = predictions(kloom)
    assert set(rows) == {f"s{i}" for i in range(len(y))}
    for i in range(len(y)):
        assert rows[f"s{i}"]["views"].split() == [name for v, name in enumerate(VIEWS) if present[i, v]]
    # A view of which new data have nothing at all need not be named.
    some = predictions(kloom, "model.kloom", ("a", "b"))
    for i in range(len(y)):
        if present[i, 0] or present[i, 1]:
            assert some[f"s{i}"]["views"].split() == [name for v, name in enumerate("ab") if present[i, v]]


def test_predictions_against_a_transcription(kloom, tmp_path):
    """score = (sum over the views that are there + b) / tau of the sample."""
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, "lp-mkl", "--C", "1", "--tolerance", "1e-8", "--no-probability")
    arrays = tensors_of(tmp_path / "model.kloom")
    theta, c, b = arrays["weights"].ravel(), arrays["coefficients"].ravel(), arrays["bias"].ravel()[0]
    _, new, there = problem(samples=20, seed=9, absent=0.5)
    write_views(tmp_path, y, new, there, rows=range(20), label=False)
    rows = predictions(kloom)
    kernels = linear_kernels(views, present)
    forms = numpy.array([c @ kernel @ c for kernel in kernels])
    # ||w_m|| to the power 2p/(p + 1) with p = 2, and the root of that.
    parts = (theta * numpy.sqrt(forms)) ** (4 / 3)
    tau = (there @ parts / parts.sum()) ** (3 / 4)
    scores = sum(t * kernel @ c for t, kernel in zip(theta, linear_kernels(views, present, new, there))) + b
    expected = scores / tau
    found = numpy.array([float(rows[f"s{i}"]["score"]) for i in range(20)])
    # Only the order of sums of some dozens of products differs.
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["uniform", "simplemkl", "lp-mkl", "easymkl", "gram", "align", "alignf", "fheuristic", "pwmk", "group-mkl",
                                    "auto", "bemkl", "mkl-da", "ufo-mkl"])
def test_nothing_absent_is_the_plain_fit_to_the_bit(kloom, tmp_path, method):
    y, views, present = problem()
    write_views(tmp_path, y, views, numpy.ones_like(present))
    models = []
    for join in ("inner", "outer"):
        kloom("train", "labels.csv", *view_options(join=join), "--method", method, "--kernels", "rbf(auto) on views",
              "-o", f"{join}.kloom", "--quiet")
        models.append(tensors_of(tmp_path / f"{join}.kloom"))
    assert models[0].keys() == models[1].keys() and len(models[0]) > 5
    for name, values in models[0].items():
        assert values.tobytes() == models[1][name].tobytes(), name


@pytest.mark.parametrize("method", ["simplemkl", "group-mkl", "auto", "ufo-mkl"])
def test_a_view_without_weight_is_not_missed(kloom, tmp_path, method):
    """A view of noise beside two that separate: where its kernel has no weight, predictions do not need it."""
    y, views, present = problem(samples=60, absent=0.3)
    views = [view.copy() for view in views]
    views[0] += 3.0 * y[:, None]
    views[2] = numpy.random.RandomState(5).normal(size=views[2].shape)
    present[:, 0] = True
    write_views(tmp_path, y, views, present)
    ways = {"auto": [[]], "ufo-mkl": [["--alpha", alpha] for alpha in ("0.01", "0.03", "0.1", "0.3")]}
    for options in ways.get(method, [["--C", "10"]]):
        train(kloom, method, *options)
        weights = numpy.array(tensors_of(tmp_path / "model.kloom")["weights"]).ravel()
        idle = [name for v, name in enumerate(VIEWS) if weights[v] == 0.0]
        if idle:
            break
    if not idle and method == "auto":
        kloom("train", "labels.csv", *view_options(), "--method", "auto", "--kernels", "linear on views", "--machines",
              "loss 0.5; ridge 0.1 1 1 1*1,2*1", "-o", "model.kloom", "--quiet")
        idle = ["c"]
    assert 0 < len(idle) < len(VIEWS), "no view is without weight, or all are, so the test says nothing"
    whole = predictions(kloom)
    rest = predictions(kloom, "model.kloom", tuple(name for name in VIEWS if name not in idle))
    compared = 0
    for name, row in rest.items():
        assert float(row["score"]) == float(whole[name]["score"])
        compared += 1
    assert compared > 20


def bemkl_posterior(arrays):
    """What predictions of a model of two classes are made of; kernels are linear on views."""
    packed = arrays["bemkl.0.a_covariance.0"].ravel()
    n = round((numpy.sqrt(8 * len(packed) + 1) - 1) / 2)
    of_a = numpy.zeros((n, n))
    of_a[numpy.tril_indices(n)] = packed
    of_a = of_a + of_a.T - numpy.diag(of_a.diagonal())
    p = arrays["weights"].size
    return {"a": arrays["coefficients"].ravel(), "e": arrays["weights"].ravel(), "b": arrays["bias"].ravel()[0], "of_a": of_a,
            "of_be": arrays["bemkl.0.be_covariance"].reshape(p + 1, p + 1, order="F"),
            "squares": arrays["bemkl.0.output_squares"].ravel()}


def test_bemkl_predictions_against_a_transcription(kloom, tmp_path):
    """Outputs of absent kernels are 0 on average, with the mean square of the outputs of samples that have the kernel."""
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, "bemkl", "--sigma-g", "0.5")
    q = bemkl_posterior(tensors_of(tmp_path / "model.kloom"))
    kernels = linear_kernels(views, present)
    outputs = numpy.array([kernel @ q["a"] for kernel in kernels]).T
    for v in range(len(VIEWS)):
        own = outputs[present[:, v], v]
        # tr(S of_a) is an even share for every output that is there.
        share = sum(numpy.trace(kernel @ q["of_a"] @ kernel) for kernel in kernels) / present.sum()
        assert q["squares"][v] == pytest.approx(0.25 + (own ** 2).mean() + share, rel=1e-9)
    _, new, there = problem(samples=20, seed=9, absent=0.5)
    write_views(tmp_path, y, new, there, rows=range(20), label=False)
    rows = predictions(kloom)
    blocks = numpy.array(linear_kernels(views, present, new, there))
    g = (blocks @ q["a"]).T
    own = numpy.column_stack([numpy.ones(20), g])
    spread = numpy.where(there, 0.25, q["squares"])
    moments = q["e"] ** 2 + q["of_be"].diagonal()[1:]
    mixed = numpy.einsum("m,mij->ij", q["e"], blocks)
    variance = (1.0 + numpy.einsum("ij,jk,ik->i", own, q["of_be"], own) + spread @ moments
                + numpy.einsum("ij,jk,ik->i", mixed, q["of_a"], mixed))
    # Only the order of sums of some dozens of products differs.
    assert [float(rows[f"s{i}"]["score"]) for i in range(20)] == pytest.approx(g @ q["e"] + q["b"], rel=1e-9, abs=1e-9)
    assert [float(rows[f"s{i}"]["deviation"]) for i in range(20)] == pytest.approx(numpy.sqrt(variance), rel=1e-9)


def test_bemkl_is_less_sure_of_samples_that_lack_more(kloom, tmp_path):
    y, views, present = problem(samples=90)
    write_views(tmp_path, y, views, present)
    train(kloom, "bemkl")
    _, new, _ = problem(samples=30, seed=9)
    means = []
    for names in (VIEWS, VIEWS[:2], VIEWS[:1]):
        write_views(tmp_path, y, new, numpy.ones((30, 3), dtype=bool), rows=range(30), label=False)
        means.append(numpy.mean([float(row["deviation"]) for row in predictions(kloom, "model.kloom", names).values()]))
    assert means[0] < means[1] < means[2]


def test_bemkl_that_saw_whole_samples_predicts_others(kloom, tmp_path):
    y, views, present = problem()
    write_views(tmp_path, y, views, numpy.ones_like(present))
    train(kloom, "bemkl")
    rows = predictions(kloom, "model.kloom", VIEWS[:2])
    assert len(rows) == len(y) and numpy.mean([(row["label"] == "pos") == (y[int(name[1:])] > 0) for name, row in rows.items()]) > 0.7


@pytest.mark.parametrize("method", [["lp-mkl", "--C", "1", "--tolerance", "1e-8", "--no-probability"],
                                    ["bemkl", "--tolerance", "1e-10", "--iterations", "20000"]])
def test_permuted_samples_and_views_give_permuted_answers(kloom, tmp_path, method):
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, *method)
    before = predictions(kloom)
    order = numpy.random.RandomState(2).permutation(len(y))
    names = ("c", "a", "b")
    write_views(tmp_path, y, views, present, rows=order)
    train(kloom, *method, names=names)
    after = predictions(kloom, "model.kloom", names)
    assert before.keys() == after.keys()
    for name, row in before.items():
        # Scores are unique to about the root of the gap; rounds of tau end within 1e-3 of each other.
        assert float(after[name]["score"]) == pytest.approx(float(row["score"]), rel=2e-3, abs=2e-3)
        assert sorted(after[name]["views"].split()) == sorted(row["views"].split())


@pytest.mark.parametrize("method", ["mkl-da", "ufo-mkl"])
def test_stochastic_predictions_against_a_transcription(kloom, tmp_path, method):
    """score = s(x) sum of w_f a_n k_f(x, x_n), s(x) the root of all kernels over those that x has."""
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, method)
    arrays = tensors_of(tmp_path / "model.kloom")
    terms = sum(name.startswith("stochastic.weights.") for name in arrays)
    pairs = [(arrays[f"stochastic.weights.{k}"].ravel(), arrays[f"stochastic.coefficients.{k}"].ravel()) for k in range(terms)]
    pairs = pairs or [(arrays["weights"].ravel(), arrays["coefficients"].ravel())]
    assert all((weights > 0).all() for weights, _ in pairs)
    _, new, there = problem(samples=20, seed=9, absent=0.5)
    write_views(tmp_path, y, new, there, rows=range(20), label=False)
    rows = predictions(kloom)
    blocks = linear_kernels(views, present, new, there)
    scores = sum(w * block @ a for weights, a in pairs for w, block in zip(weights, blocks))
    expected = scores * numpy.sqrt(3 / there.sum(axis=1))
    assert [float(rows[f"s{i}"]["score"]) for i in range(20)] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_baselines_stand_beside_methods_for_absent_views(kloom, tmp_path):
    y, views, present = problem(samples=90)
    write_views(tmp_path, y, views, present)
    arguments = ("labels.csv", *view_options(), "--kernels", "rbf(auto) on views", "--methods", "lp-mkl,lmkl", "--folds", 3, "--time",
                 "4m", "--quiet", "--json")
    report = kloom("compare", *arguments, "-o", "page.html").json()
    found = {method["method"]: method for method in report["methods"]}
    assert set(found) == {"lp-mkl", "lp-mkl, whole samples only", "lp-mkl, imputed means", "lp-mkl, zero kernels",
                          "lp-mkl, nearest kernels"}
    assert report["recommended"] == "lp-mkl"
    assert any(one["method"] == "lmkl" and "lack some of the views" in one["why"] for one in report["left_out"])
    page = (tmp_path / "page.html").read_text()
    assert "figure-absence" in page and "figure-by-views" in page
    # Which samples have which views, and how many of each number were held out.
    patterns = {tuple(one["has"]): one["samples"] for one in report["absent_views"]["patterns"]}
    assert patterns == {tuple(map(int, has)): int((present == has).all(axis=1).sum()) for has in numpy.unique(present, axis=0)}
    for method in found.values():
        assert {one["views"]: one["samples"] for one in method["by_views"]} == {
            k: int((present.sum(axis=1) == k).sum()) for k in (1, 2, 3)}
        right = sum(one["samples"] * one["value"] for one in method["by_views"]) / len(y)
        assert right == pytest.approx(numpy.mean([one["values"]["accuracy"] * one["test"] * 3 for one in method["outcomes"]]) / len(y))
    # Filled in before all else is the same as filled in by the baseline.
    alone = [argument if argument != "lp-mkl,lmkl" else "lp-mkl" for argument in arguments]
    filled = kloom("compare", *alone, "--impute", "mean", "-o", "other.html").json()
    assert "absent_views" not in filled and "figure-absence" not in (tmp_path / "other.html").read_text()
    same = next(method for method in filled["methods"] if method["method"] == "lp-mkl")
    assert [one["values"] for one in same["outcomes"]] == [one["values"] for one in found["lp-mkl, imputed means"]["outcomes"]]
    message = kloom("compare", *arguments, "--absent-baselines", "lmkl", "-o", "other.html", code=MISTAKE).sentence()
    assert "'lmkl' is no such method" in message
    none = kloom("compare", *alone, "--absent-baselines", "none", "-o", "other.html").json()
    assert [method["method"] for method in none["methods"]] == ["lp-mkl"]


def test_a_table_with_whole_blocks_missing(kloom, tmp_path):
    """In one table, blocks of a view are absent, single gaps are filled in; --impute fills both."""
    y, views, present = problem()
    lines = [",".join(f"{name}.x{k}" for name in VIEWS for k in range(WIDTH)) + ",label"]
    for i in range(len(y)):
        cells = [repr(float(x)) if present[i, v] else "" for v in range(3) for x in views[v][i]]
        if present[i, 0] and i % 7 == 0:
            cells[1] = ""
        lines.append(",".join(cells) + f",{'pos' if y[i] > 0 else 'neg'}")
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    run = kloom("train", "table.csv", "--method", "lp-mkl", "-o", "m.kloom", "--json").json()
    assert "each sample's own kernels" in run["report"]["message"]
    message = kloom("train", "table.csv", "--method", "lmkl", "-o", "n.kloom", code=MISTAKE).sentence()
    assert "lack some of the views" in message and "lp-mkl" in message and "--impute median" in message
    kloom("train", "table.csv", "--method", "lmkl", "--impute", "median", "-o", "n.kloom")
    assert kloom("cv", "table.csv", "--method", "auto", "--folds", "3", "--json").json()


def test_a_sample_without_any_view_is_refused_by_name(kloom, tmp_path):
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    train(kloom, "uniform")
    (tmp_path / "table.csv").write_text("id,label\nlonely,pos\n")
    for v, name in enumerate(VIEWS):
        header = "id," + ",".join(f"x{k}" for k in range(WIDTH))
        (tmp_path / f"{name}.csv").write_text(f"{header}\nlonely" + "," * WIDTH + "\ns1" + ",0.5" * WIDTH + "\n")
    message = kloom("predict", "model.kloom", *view_options(), code=MISTAKE).sentence()
    assert "'lonely'" in message and "no view at all" in message


def test_join_outer_says_what_it_left_out(kloom, tmp_path):
    y, views, present = problem()
    write_views(tmp_path, y, views, present)
    (tmp_path / "labels.csv").write_text((tmp_path / "labels.csv").read_text() + "stranger,pos\n")
    with (tmp_path / "a.csv").open("a") as file:
        file.write("unknown,1,2,3\n")
    said = kloom("train", "labels.csv", *view_options(), "--method", "uniform", "--kernels", "linear on views", "-o",
                 "m.kloom").err
    assert "1 sample without any view is left out: stranger" in said
    assert "1 sample without a label is left out: unknown" in said
    message = kloom("train", "labels.csv", *view_options()[:2], *view_options()[4:], "-o", "m.kloom", code=MISTAKE).sentence()
    assert "--join outer" in message
    assert json.loads(kloom("train", "labels.csv", *view_options(), "--method", "auto", "-o", "m.kloom", "--json").out)
