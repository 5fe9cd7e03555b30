# SPDX-License-Identifier: BSD-3-Clause
"""Metrics against scikit-learn, paired tests against SciPy: on what the program itself printed and wrote.

Both sides add at most a few hundred terms of size 1 in different orders: 1e-12 holds a margin of a thousand.
"""
import csv
import json
import math
import random
import warnings

import numpy
import pytest
import scipy.stats
import sklearn.metrics
from conftest import two_clouds, write_table

CLOSE = dict(rel=1e-12, abs=1e-12)
QUICK = ("--kernels", "rbf(auto, count=2); linear", "--quiet")


def three_clouds(samples):
    generator = random.Random(5)
    rows = []
    for i in range(samples):
        k = (0, 1, 1, 2)[i % 4]
        rows.append(([generator.gauss(k, 1.1), generator.gauss(-k * k, 1.3), generator.gauss(0, 1)], "abc"[k]))
    return rows


def numbers(samples):
    generator = random.Random(6)
    rows = []
    for _ in range(samples):
        x = [generator.gauss(0, 1) for _ in range(3)]
        rows.append((x, repr(math.sin(2 * x[0]) + 0.5 * x[1] + generator.gauss(0, 0.3))))
    return rows


def run_cv(kloom, tmp_path, rows, *arguments):
    write_table(tmp_path / "data.csv", rows)
    report = kloom("cv", "data.csv", *QUICK, "--json", "--predictions", "p.csv", *arguments).json()
    with open(tmp_path / "p.csv", newline="") as file:
        table = list(csv.DictReader(file))
    for outcome in report["methods"][0]["outcomes"]:
        part = [row for row in table
                if (int(row["repeat"]), int(row["fold"])) == (outcome["repeat"], outcome["fold"])]
        assert len(part) == outcome["test"]
        yield outcome["values"], part


def equal_error(truth, score):
    """Where the curve drawn by scikit-learn has FPR = 1 - TPR, by straight lines."""
    fpr, tpr, _ = sklearn.metrics.roc_curve(truth, score, drop_intermediate=False)
    excess = fpr - (1 - tpr)
    k = int(numpy.argmax(excess >= 0))
    if k == 0:
        return fpr[0]
    share = -excess[k - 1] / (excess[k] - excess[k - 1])
    return fpr[k - 1] + share * (fpr[k] - fpr[k - 1])


def calibration_error(chance, truth):
    confidence, guess = chance.max(axis=1), chance.argmax(axis=1)
    place = numpy.clip(numpy.floor(confidence * 10).astype(int), 0, 9)
    error = 0.0
    for b in range(10):
        inside = place == b
        if inside.any():
            error += inside.mean() * abs((guess == truth)[inside].mean() - confidence[inside].mean())
    return error


def check_classes(values, part, classes):
    truth = numpy.array([classes.index(row["truth"]) for row in part])
    guess = numpy.array([classes.index(row["predicted"]) for row in part])
    chance = numpy.array([[float(row[f"p({c})"]) for c in classes] for row in part])
    binary = len(classes) == 2
    average = dict(average="binary" if binary else "macro", zero_division=0)
    m = sklearn.metrics
    expected = {
        "accuracy": m.accuracy_score(truth, guess),
        "F1 macro": m.f1_score(truth, guess, average="macro", zero_division=0),
        "F1 micro": m.f1_score(truth, guess, average="micro"),
        "precision": m.precision_score(truth, guess, **average),
        "recall": m.recall_score(truth, guess, **average),
        "MCC": m.matthews_corrcoef(truth, guess),
        "log loss": m.log_loss(truth, chance, labels=range(len(classes))),
        "ECE": calibration_error(chance, truth),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")   # a class that is only predicted
        expected["balanced accuracy"] = m.balanced_accuracy_score(truth, guess)
    if binary:
        score = numpy.array([float(row["score1"]) for row in part])
        expected["specificity"] = m.recall_score(truth, guess, pos_label=0)
        expected["Brier score"] = m.brier_score_loss(truth, chance[:, 1])
        expected["AUC"] = m.roc_auc_score(truth, score)
        expected["EER"] = equal_error(truth, score)
    else:
        confusion = m.multilabel_confusion_matrix(truth, guess)
        expected["specificity"] = numpy.mean([c[0, 0] / (c[0, 0] + c[0, 1]) for c in confusion])
        expected["Brier score"] = ((chance - numpy.eye(len(classes))[truth]) ** 2).sum(axis=1).mean()
        if len(set(truth)) == len(classes):
            expected["AUC"] = m.roc_auc_score(truth, chance, multi_class="ovr")
            expected["EER"] = numpy.mean([equal_error(truth == c, chance[:, c]) for c in range(len(classes))])
    assert set(values) == set(expected)
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, **CLOSE), name


@pytest.mark.parametrize("method", ["bemkl", "uniform"])
def test_two_classes(kloom, tmp_path, method):
    checked = 0
    for values, part in run_cv(kloom, tmp_path, two_clouds(samples=90), "--method", method, "--repeats", 2, "--folds", 3):
        check_classes(values, part, ["healthy", "sick"])
        checked += 1
    assert checked == 6


def test_three_classes(kloom, tmp_path):
    checked = 0
    for values, part in run_cv(kloom, tmp_path, three_clouds(100), "--method", "bemkl", "--folds", 4):
        check_classes(values, part, ["a", "b", "c"])
        checked += 1
    assert checked == 4


def test_numbers(kloom, tmp_path):
    m = sklearn.metrics
    checked = 0
    for values, part in run_cv(kloom, tmp_path, numbers(80), "--method", "bemkl", "--holdout", 0.3, "--repeats", 3):
        truth, guess, deviation = (numpy.array([float(row[key]) for row in part])
                                   for key in ("truth", "predicted", "deviation1"))
        expected = {
            "RMSE": math.sqrt(m.mean_squared_error(truth, guess)),
            "MAE": m.mean_absolute_error(truth, guess),
            "R²": m.r2_score(truth, guess),
            "NLL": -scipy.stats.norm.logpdf(truth, guess, deviation).mean(),
            "interval coverage": (abs(truth - guess) <= scipy.stats.norm.ppf(0.975) * deviation).mean(),
        }
        assert set(values) == set(expected)
        for name, value in expected.items():
            assert values[name] == pytest.approx(value, **CLOSE), name
        checked += 1
    assert checked == 3


def test_comparison_agrees_with_scipy(kloom, tmp_path):
    write_table(tmp_path / "data.csv", two_clouds(samples=90))
    report = kloom("compare", "data.csv", *QUICK, "--methods", "uniform,single,lp-mkl", "--folds", 4, "--repeats", 3,
                   "--json", "--time", "5m").json()
    assert json.loads((tmp_path / "report.html").read_text().split("id='report-data'>")[1].split("</script>")[0]) == report
    methods = report["methods"]
    assert {m["method"] for m in methods} == {"uniform", "single", "lp-mkl"}
    splits = [[outcome["values"]["accuracy"] for outcome in m["outcomes"]] for m in methods]
    ranks = scipy.stats.rankdata(-numpy.array(splits), axis=0).mean(axis=1)
    share = numpy.mean([o["test"] / o["train"] for o in methods[0]["outcomes"]])
    for k, method in enumerate(methods):
        accuracy = next(m for m in method["metrics"] if m["name"] == "accuracy")
        assert accuracy["mean"] == pytest.approx(numpy.mean(splits[k]), **CLOSE)
        assert accuracy["deviation"] == pytest.approx(numpy.std(splits[k], ddof=1), **CLOSE)
        assert method["rank"] == pytest.approx(ranks[k], **CLOSE)
        if k == 0:
            assert method["t_test"]["p"] is None and method["wilcoxon"]["p"] is None
            continue
        difference = numpy.round(numpy.subtract(splits[k], splits[0]) / 1e-12) * 1e-12
        n = len(difference)
        if not difference.any():
            assert method["t_test"]["p"] == 1 and method["wilcoxon"]["p"] == 1
            continue
        t = difference.mean() / math.sqrt((1 / n + share) * difference.var(ddof=1))
        assert method["t_test"]["statistic"] == pytest.approx(t, rel=1e-9)
        assert method["t_test"]["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(t), n - 1), rel=1e-9)
        left = difference[difference != 0]
        ties = len(set(abs(left))) < len(left)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")   # few differences for the approximation
            w = scipy.stats.wilcoxon(left, mode="approx" if ties else "exact")
        assert method["wilcoxon"]["statistic"] == pytest.approx(w.statistic, **CLOSE)
        assert method["wilcoxon"]["p"] == pytest.approx(w.pvalue, rel=1e-9)
