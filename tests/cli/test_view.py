# SPDX-License-Identifier: BSD-3-Clause
"""The page of one model says what `info` and `predict` say, and is right about how right the model is."""
import csv
import json

import pytest
from conftest import MISTAKE, SOURCE

WDBC = SOURCE / "examples" / "data" / "wdbc.csv"
OLD = SOURCE / "tests" / "data" / "models" / "version-1"


@pytest.fixture
def halves(tmp_path):
    """Half of the samples to learn from, the other half to look at."""
    with open(WDBC, newline="", encoding="utf-8") as rows:
        head, *samples = csv.reader(rows)
    for name, part in (("train.csv", samples[::2]), ("test.csv", samples[1::2])):
        with open(tmp_path / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *part])
    return tmp_path


def train(kloom, *options):
    kloom("train", "train.csv", "--target", "diagnosis", "--kernels", "rbf(width=4,8); linear", *options, "-o", "m.kloom", "--quiet")


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_samples_are_as_predict_says(kloom, halves):
    train(kloom, "--method", "simplemkl", "--C", "1")
    report = kloom("view", "m.kloom", "test.csv", "-o", "page.html", "--json").json()
    predicted = rows_of(kloom("predict", "m.kloom", "test.csv", "--contributions").out)
    assert report["viewed"]["count"] == len(predicted) and report["viewed"]["seen"] is False
    kernels = [kernel["name"] for kernel in report["model"]["kernels"]]
    for shown, row in zip(report["viewed"]["list"], predicted):
        assert shown["predicted"] == row["label"] and shown["score"] == pytest.approx(float(row["score"]), rel=1e-3)
        added = {name: float(row[f"contribution({name})"]) for name in kernels}
        named = {one["kernel"]: one["contribution"] for one in shown["spoke"]}
        loudest = sorted(added, key=lambda name: -abs(added[name]))[:len(named)]
        assert set(named) == set(loudest)
        assert all(named[name] == pytest.approx(added[name], rel=1e-3) for name in named)


def test_how_right_it_is(kloom, halves):
    train(kloom, "--method", "bemkl")
    report = kloom("view", "m.kloom", "test.csv", "-o", "page.html", "--json").json()
    with open(halves / "test.csv", newline="", encoding="utf-8") as file:
        truth = [row["diagnosis"] for row in csv.DictReader(file)]
    predicted = rows_of(kloom("predict", "m.kloom", "test.csv").out)
    right = sum(row["label"] == label for row, label in zip(predicted, truth))
    confusion = report["viewed"]["confusion"]
    assert sum(confusion[k][k] for k in range(2)) == right and sum(map(sum, confusion)) == len(truth)
    assert report["viewed"]["evaluation"]["values"]["accuracy"] == pytest.approx(right / len(truth))
    bins = report["viewed"]["reliability"]
    assert sum(one["count"] for one in bins) == len(truth)
    malignant = sum(one["count"] * one["frequency"] for one in bins)
    assert malignant == pytest.approx(truth.count("malignant"))
    assert all("deviation" in kernel for kernel in report["model"]["kernels"])
    page = (halves / "page.html").read_text(encoding="utf-8")
    for figure in ("weights", "convergence", "contributions", "reliability", "roc", "confusion"):
        assert f"id='figure-{figure}'" in page
    assert "<h2>Certificate</h2>" in page and "standard deviation" in page


def test_its_own_samples_where_none_are_named(kloom, halves):
    train(kloom, "--method", "uniform", "--C", "1")
    report = kloom("view", "m.kloom", "--json").json()
    assert (halves / "m.html").exists()
    predicted = rows_of(kloom("predict", "m.kloom", "train.csv").out)
    assert report["viewed"]["seen"] is True and "confusion" not in report["viewed"]
    for shown, row in zip(report["viewed"]["list"], predicted):
        assert shown["score"] == pytest.approx(float(row["score"]), rel=1e-3)
    again = kloom("view", "m.kloom", "train.csv", "-o", "again.json", "--json").json()
    assert again["viewed"]["seen"] is True and again == json.loads((halves / "again.json").read_text(encoding="utf-8"))


def test_intervals(kloom, tmp_path):
    with open(tmp_path / "numbers.csv", "w", encoding="utf-8") as file:
        file.write("x,y\n" + "".join(f"{k / 7!r},{(k * k % 11) / 5 + k / 9!r}\n" for k in range(60)))
    kloom("train", "numbers.csv", "--target", "y", "--method", "bemkl", "-o", "m.kloom", "--quiet")
    report = kloom("view", "m.kloom", "numbers.csv", "-o", "page.html", "--json").json()
    predicted = rows_of(kloom("predict", "m.kloom", "numbers.csv").out)
    assert len(report["viewed"]["residuals"]) == len(predicted)
    shares = [point["frequency"] for point in report["viewed"]["coverage"]]
    assert shares == sorted(shares) and len(shares) == 9 and 0 <= shares[0] and shares[-1] <= 1
    assert "id='figure-coverage'" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(OLD.glob("*.kloom")), ids=lambda path: path.stem)
def test_models_of_every_method_and_of_earlier_programs(kloom, tmp_path, path):
    report = kloom("view", path, "-o", "page.html", "--json").json()
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert report["model"]["method"] in page and "nan" not in page.split("<script")[0].lower().split()
    for kernel in report["model"]["kernels"][:3]:
        assert kernel["name"].replace("'", "&#39;") in page


def test_mistakes(kloom, halves):
    train(kloom, "--method", "uniform", "--C", "1")
    assert "m.kloom" in kloom("view", "m.kloom", "-o", "m.kloom", code=MISTAKE).err
    assert "MODEL" in kloom("view", code=MISTAKE).err.upper()
