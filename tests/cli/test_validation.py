# SPDX-License-Identifier: BSD-3-Clause
"""kloom cv and kloom compare as a user meets them."""
import json
import re
import signal
import subprocess
import time

import pytest
from conftest import INTERRUPTED, MISTAKE, PROGRAM, two_clouds, write_table

SMALL = ("--kernels", "rbf(auto, count=2)")


def with_columns(path, rows, columns):
    """The table with more columns in front of the label."""
    write_table(path, rows)
    lines = path.read_text().splitlines()
    out = []
    for i, line in enumerate(lines):
        cells = line.split(",")
        more = list(columns) if i == 0 else [values[i - 1] for values in columns.values()]
        out.append(",".join(cells[:-1] + more + cells[-1:]))
    path.write_text("\n".join(out) + "\n")


def table_of(report):
    """What must not depend on how often the run was interrupted: everything but times."""
    keep = []
    for method in report["methods"]:
        outcomes = [{k: v for k, v in o.items() if k != "seconds"} for o in method["outcomes"]]
        keep.append([method[k] for k in ("method", "metrics", "rank", "t_test", "wilcoxon", "chosen", "splits",
                                         "kernels_used", "kernels")] + [outcomes])
    return keep, report["left_out"], report["complete_splits"]


def test_cv_prints_a_table(kloom, table):
    result = kloom("cv", "data.csv", *SMALL, "--method", "uniform", "--grid", "C=1e-1..1e1", "--folds", 3)
    assert re.search(r"accuracy +0\.\d+ ± 0\.\d+", result.out)
    assert "C=" in result.out


def test_cv_nested_grid_over_any_option(kloom, table):
    report = kloom("cv", "data.csv", *SMALL, "--method", "bemkl", "--grid", "sigma_g=0.1,1", "--grid", "margin=0,1",
                   "--folds", 2, "--inner-folds", 2, "--iterations", 20, "--json", "--quiet").json()
    for outcome in report["methods"][0]["outcomes"]:
        assert outcome["chosen"]["sigma_g"] in ("0.1", "1") and outcome["chosen"]["margin"] in ("0", "1")


def test_groups_and_given_splits(kloom, tmp_path):
    rows = two_clouds(samples=48)
    patients = [f"p{i // 4}" for i in range(48)]
    parts = ["train" if i < 16 else ("one" if i < 32 else "two") for i in range(48)]
    with_columns(tmp_path / "data.csv", rows, {"patient": patients, "part": parts})
    kloom("cv", "data.csv", *SMALL, "--method", "uniform", "--group", "patient", "--ignore", "part", "--folds", 3,
          "--predictions", "p.csv", "--quiet")
    fold_of = {}
    for line in (tmp_path / "p.csv").read_text().splitlines()[1:]:
        _, fold, sample = line.split(",")[:3]
        fold_of.setdefault(patients[int(sample) - 1], set()).add(fold)
    assert len(fold_of) == 12 and all(len(folds) == 1 for folds in fold_of.values())

    report = kloom("cv", "data.csv", *SMALL, "--method", "uniform", "--split", "part", "--ignore", "patient",
                   "--predictions", "p.csv", "--json", "--quiet").json()
    assert [o["test"] for o in report["methods"][0]["outcomes"]] == [16, 16]
    assert report["data"]["features"] == 3, "the columns about splits are no features"
    tested = [int(line.split(",")[2]) for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert sorted(tested) == list(range(17, 49))


def test_interrupted_cv_goes_on_where_it_was(kloom, tmp_path):
    write_table(tmp_path / "data.csv", two_clouds(samples=160, features=4))
    arguments = ["cv", "data.csv", "--kernels", "rbf(auto, count=5) on all, each", "--method", "bemkl", "--repeats", "4",
                 "--literal", "--iterations", "150", "--quiet", "--json"]
    whole = kloom(*arguments).json()
    arguments += ["--resume", "work.jsonl"]
    process = subprocess.Popen([PROGRAM, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    journal = tmp_path / "work.jsonl"
    limit = time.monotonic() + 120
    while time.monotonic() < limit and not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, err.decode()
    assert b"work.jsonl" in err
    finished = journal.read_bytes().count(b"\n") - 1
    assert 2 <= finished < 20
    assert table_of(kloom(*arguments).json()) == table_of(whole)


def test_interrupted_comparison_goes_on_where_it_was(kloom, tmp_path):
    write_table(tmp_path / "data.csv", two_clouds(samples=120, features=4))
    arguments = ["compare", "data.csv", "--kernels", "rbf(auto, count=3) on all, each", "--methods", "bemkl,single,uniform",
                 "--repeats", "3", "--folds", "4", "--time", "9m", "--quiet", "--json"]
    whole = kloom(*arguments, "-o", "whole.html").json()
    process = subprocess.Popen([PROGRAM, *arguments, "-o", "report.html"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    journal = tmp_path / "report.html.partial"
    limit = time.monotonic() + 120
    while time.monotonic() < limit and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, err.decode()
    assert not (tmp_path / "report.html").exists()
    resumed = kloom(*arguments, "-o", "report.html").json()
    assert table_of(resumed) == table_of(whole)
    assert not journal.exists(), "what was kept for resuming goes when the report is there"


def test_compare_recommends_explains_and_saves(kloom, table, tmp_path):
    result = kloom("compare", "data.csv", *SMALL, "--methods", "uniform,single", "--folds", 3, "--time", "2m", "--model",
                   "best.kloom")
    assert re.search(r"Use (uniform|single): over 3 held-out parts", result.out)
    assert "not among the methods asked for" in result.out and "left out" in result.out
    assert "estimated" in result.err
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "http" not in re.sub(r"http://www.w3.org\S*|http-equiv", "", page)
    assert "kloom compare data.csv" in page
    kloom("predict", "best.kloom", "data.csv", "-o", "p.csv", "--quiet")
    kloom("check", "best.kloom", "data.csv", "--quiet")


def test_reports_as_json_and_of_training(kloom, table, tmp_path):
    kloom("compare", "data.csv", *SMALL, "--methods", "uniform", "--folds", 2, "-o", "r.json", "--quiet")
    assert json.loads((tmp_path / "r.json").read_text())["recommended"] == "uniform"
    kloom("train", "data.csv", *SMALL, "--report", "t.html", "-o", "m.kloom", "--quiet")
    assert "figure-weights" in (tmp_path / "t.html").read_text()


def test_compare_shows_every_kernel_by_itself(kloom, table, tmp_path):
    kernels = "rbf(width=0.1,0.3,1,2,4,8)"   # six: one more than the five that single looks at by itself
    arguments = ("compare", "data.csv", "--kernels", kernels, "--methods", "single,simplemkl", "--folds", 3, "--time", "2m", "--quiet")
    for extra, judged in (((), 5), (("--every-kernel",), 6)):
        report = kloom(*arguments, *extra, "-o", "r.html", "--json", "--resume", f"{judged}.jsonl").json()
        single = next(method for method in report["methods"] if method["method"] == "single")["first_split"]
        errors = single["errors_alone"]
        assert len(errors) == 6 and sum(error is not None for error in errors) == judged
        best = min(error for error in errors if error is not None)
        assert errors[single["weights"].index(1)] == best, "the kernel that was taken is the best one"
        page = (tmp_path / "r.html").read_text()
        assert "figure-alone" in page and f"{judged} of 6 kernels" in page
        again = kloom(*arguments, *extra, "-o", "r.html", "--json", "--resume", f"{judged}.jsonl").json()
        kept = next(method for method in again["methods"] if method["method"] == "single")["first_split"]
        assert kept == single, "the journal keeps what was found"


def test_regression_is_compared_by_rmse(kloom, tmp_path):
    rows = [(values, repr(values[0] * 2 + 0.1 * values[1] ** 2)) for values, _ in two_clouds(samples=60)]
    write_table(tmp_path / "data.csv", rows)
    report = kloom("compare", "data.csv", *SMALL, "--folds", 3, "--time", "2m", "--json", "--quiet").json()
    assert report["metric"] == "RMSE" and report["larger_is_better"] is False
    means = [next(m["mean"] for m in method["metrics"] if m["name"] == "RMSE") for method in report["methods"]]
    assert means == sorted(means) and len(means) >= 3
    why = {entry["method"]: entry["why"] for entry in report["left_out"]}
    assert "regression" in why["mcmkl"]


@pytest.mark.parametrize("arguments, words", [
    (("cv", "data.csv", "--folds", 1), ["folds must be from 2"]),
    (("cv", "data.csv", "--folds", 41), ["number of labelled samples, 40"]),
    (("cv", "data.csv", "--holdout", 1.5), ["between 0 and 1"]),
    (("cv", "data.csv", "--repeats", 0), ["at least 1"]),
    (("cv", "data.csv", "--method", "uniform", "--grid", "D=1..3"), ["no option 'D'", "C"]),
    (("cv", "data.csv", "--method", "uniform", "--grid", "C"), ["NAME=VALUES"]),
    (("cv", "data.csv", "--method", "uniform", "--grid", "C=1..2", "--C", 3), ["both set C"]),
    (("cv", "data.csv", "--metric", "acuracy"), ["did you mean 'accuracy'"]),
    (("cv", "data.csv", "--group", "patient"), ["no column 'patient'", "x1"]),
    (("cv", "data.csv", "--split", "fold"), ["no column 'fold'"]),
    (("cv", "data.csv", "--resume", "data.csv"), ["input"]),
    (("compare", "data.csv", "--methods", "simplemlk"), ["did you mean 'simplemkl'"]),
    (("compare", "data.csv", "--time", "soon"), ["10m"]),
    (("compare", "data.csv", "-o", "nowhere/report.html"), ["no folder"]),
])
def test_mistakes_get_a_sentence(kloom, table, arguments, words):
    sentence = kloom(*arguments, code=MISTAKE).sentence()
    for word in words:
        assert word in sentence, sentence
