# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the benchmark itself, on made-up data and with a program that only plays kloom:

  /usr/bin/python3 -m pytest bench/out-of-the-box/selftest.py
"""
import csv
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True

import columns  # noqa: E402
import journal  # noqa: E402
import measures  # noqa: E402
import peers  # noqa: E402
import program  # noqa: E402
import ranks  # noqa: E402
import sets  # noqa: E402

# Written down, so that another version or machine that divides differently is noticed.
KNOWN_DIVISION = ([0, 2, 3, 4, 6, 8, 9], [1, 5, 7])
# Predicts the most frequent label, or the mean of the target; refuses missing values.
FAKE = '''#!/usr/bin/python3
import collections, csv, json, sys
words = sys.argv[1:]
if words[0] == "--version":
    sys.exit(print("kloom 0.0-fake"))
if words[0] == "methods":
    sys.exit(print('[{"name": "bemkl"}, {"name": "uniform", "tasks": "binary, multiclass"}]'))
out = words[words.index("-o") + 1]
if words[0] == "train":
    rows = list(csv.DictReader(open(words[1])))
    if any(value == "" for row in rows for value in row.values()):
        sys.exit("reading train.csv\\nkloom: train.csv line 2: a cell has no value")
    labels = [row["label"] for row in rows]
    json.dump([sorted(set(labels)), collections.Counter(labels).most_common(1)[0][0], labels], open(out, "w"))
else:
    classes, common, labels = json.load(open(words[1]))
    count = len(list(csv.DictReader(open(words[2]))))
    with open(out, "w") as file:
        if len(classes) > 10:
            mean = sum(map(float, labels)) / len(labels)
            file.write("prediction,deviation\\n" + f"{mean},1\\n" * count)
        else:
            shares = [str(labels.count(name) / len(labels)) for name in classes]
            file.write(",".join(["label"] + [f"p({name})" for name in classes]) + "\\n")
            file.write((",".join([common] + shares) + "\\n") * count)
'''


def write_set(folder, name, header, rows):
    with gzip.open(folder / f"{name}.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def data(tmp_path):
    """Three tables: two clouds, the same with holes, and a line with noise."""
    folder = tmp_path / "data" / "tables"
    folder.mkdir(parents=True)
    dice = random.Random(1)
    clouds = [[f"{dice.gauss(2 * (i % 2), 1):.4f}", dice.choice("ab"), "yn"[i % 2]] for i in range(60)]
    write_set(folder, "clouds", ["x", "c", "label"], clouds)
    write_set(folder, "holes", ["x", "c", "label"], [["" if i % 7 == 0 else x, c, y] for i, (x, c, y) in enumerate(clouds)])
    line = [(i / 10, i / 5 + dice.gauss(0, 0.3)) for i in range(60)]
    write_set(folder, "line", ["x", "label"], [[f"{x:.3f}", f"{y:.4f}"] for x, y in line])
    text = "name\trows\tcolumns\ttask\tclasses\thas_missing\thas_text\tviews\tsource\tsha256\n"
    for name, task, kinds in (("clouds", "binary", 2), ("holes", "binary", 2), ("line", "regression", "")):
        text += f"{name}\t60\t{1 if name == 'line' else 2}\t{task}\t{kinds}\tno\tno\t1\tmade up\t-\n"
    (folder / "MANIFEST.tsv").write_text(text)
    fake = tmp_path / "kloom"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    return tmp_path


def start(data, *more):
    command = [sys.executable, str(FOLDER / "run"), str(data / "data"), "--journal", str(data / "j.jsonl"), "--kloom",
               str(data / "kloom"), "--jobs", "2", "--seeds", "2", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def outcomes(data):
    return journal.read(data / "j.jsonl")


# --- splits

def test_splits_are_the_same_in_every_process(data):
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import sets\n"
            "info = sets.all_sets(sys.argv[2])[0]; print(sets.split(sets.read(info, 50), 1))")
    said = {subprocess.run([sys.executable, "-c", code, str(FOLDER), str(data / "data")], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2", "3")}
    assert len(said) == 1
    assert sets.divide(10, list("aaaaaabbbb"), "test/0") == KNOWN_DIVISION


def test_splits_are_stratified_and_differ_by_seed():
    labels = ["a"] * 70 + ["b"] * 20 + ["c"] * 2 + ["d"]
    train, test = sets.divide(len(labels), labels, "s/0")
    assert sorted(train + test) == list(range(93))
    count = {name: sum(labels[i] == name for i in test) for name in "abcd"}
    assert count == {"a": 21, "b": 6, "c": 1, "d": 0}
    assert sets.divide(len(labels), labels, "s/1") != (train, test)


def test_folds_hold_every_row_once():
    y = np.array(["a"] * 17 + ["b"] * 3 + ["c"])
    pairs = peers.folds(y, True)
    assert sorted(np.concatenate([held for _, held in pairs]).tolist()) == list(range(21))
    assert all(not set(fit) & set(held) for fit, held in pairs)


# --- columns and measures

def test_columns_become_numbers():
    rows = [["1", "red", ""], ["2", "blue", "5"], ["", "red", "7"], ["3", "", "9"]]
    encoder = columns.Encoder()
    x = encoder.fit_transform(rows)
    assert x.shape == (4, 4) and np.all(np.isfinite(x))
    assert np.allclose(x.mean(axis=0), 0) and np.allclose(x.std(axis=0), 1)
    new = encoder.transform([["what", "green", "7"]])  # a text among numbers and a new category are no accident
    assert np.all(np.isfinite(new))
    assert np.isnan(columns.Encoder(impute=False, scale=False).fit_transform(rows)[2, 0])


def test_measures_by_hand():
    truth = np.array(["a", "b", "z"])
    prediction = peers.Prediction(labels=np.array(["a", "a", "a"]), classes=["a", "b"],
                                  probabilities=np.array([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]]))
    found = measures.measure(prediction, truth, "multiclass")
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["log_loss"] == pytest.approx(-(np.log(0.8) + np.log(0.5) + np.log(1e-15)) / 3)
    assert found["ece"] == pytest.approx((0.2 + 0.5 + 1.0) / 3)
    numbers = peers.Prediction(mean=np.array([1.0, 2.0]), lower=np.array([0.0, 0.0]), upper=np.array([2.0, 1.0]))
    found = measures.measure(numbers, np.array([1.0, 3.0]), "regression")
    assert found["r2"] == pytest.approx(0.5) and found["coverage"] == 0.5 and found["width"] == pytest.approx(1.5)


def test_calibration_error_by_chance():
    # One row in a bin: the error is 1 - c if the row is right, which it is with probability c, and c if it is wrong.
    assert measures.error_by_chance(np.array([0.8])) == pytest.approx(2 * 0.8 * 0.2, abs=3 * 0.6 * 0.4 / np.sqrt(measures.DRAWS))
    # n rows of confidence c: about the mean absolute value of a normal variable of deviation sqrt(c(1-c)/n).
    assert measures.error_by_chance(np.full(400, 0.7)) == pytest.approx(np.sqrt(0.21 / 400 * 2 / np.pi), rel=0.3)
    assert measures.error_by_chance(np.ones(5)) == 0


def test_intervals_of_the_program(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("prediction,deviation\n1,2\n")
    assert program.read_predictions(path, "regression").upper[0] == pytest.approx(1 + 1.6449 * 2)
    path.write_text("prediction,lower,upper,deviation\n1,0,5,2\n")
    assert program.read_predictions(path, "regression").upper[0] == 5
    path.write_text('label,p(a),"p(b,c)"\na,0.9,0.1\n')
    assert program.read_predictions(path, "binary").classes == ["a", "b,c"]
    with pytest.raises(program.Unusable):
        program.read_predictions(path, "regression")


# --- ranks

def test_ranks_with_ties_and_refusals():
    assert ranks.ranks_of([0.9, 0.8, 0.9, None]).tolist() == [1.5, 3, 1.5, 4]
    assert ranks.ranks_of([None, 0.1, None]).tolist() == [2.5, 1, 2.5]


def test_critical_difference_of_the_paper():
    # Demsar 2006, Table 5: q for five classifiers is 2.728; with 14 data sets CD = 2.728 sqrt(5*6/(6*14)).
    assert ranks.critical_difference(5, 14) == pytest.approx(1.63, abs=0.005)
    # The same table: 1.960 for two and 3.164 for ten classifiers.
    assert ranks.critical_difference(2, 1) == pytest.approx(1.960, abs=0.001)
    assert ranks.critical_difference(10, 1) / np.sqrt(110 / 6) == pytest.approx(3.164, abs=0.001)


def line(name, seed, who, status="ok", **more):
    base = {"set": name, "seed": seed, "competitor": who, "status": status, "task": "binary", "kinds": ["small tables"], "rows": 100,
            "test_rows": 30, "se": 0.05}
    return (name, seed, who), {**base, **more}


def test_a_refused_division_ranks_last_and_no_probabilities_is_not_last():
    table = ranks.Table(dict([
        line("s", 0, program.AUTO, accuracy=0.9, log_loss=0.2), line("s", 1, program.AUTO, "refused", message="no"),
        line("s", 0, "SVM", accuracy=0.7, log_loss=0.5), line("s", 1, "SVM", accuracy=0.7, log_loss=0.5),
        line("s", 0, "plain", accuracy=0.8), line("s", 1, "plain", accuracy=0.8)]))
    assert ranks.Ranking(table, ["s"]).mean == {program.AUTO: 3, "SVM": 2, "plain": 1}
    assert ranks.Ranking(table, ["s"], "log_loss", -1.0).mean == {program.AUTO: 2, "SVM": 1}
    (short,) = ranks.shortfalls(table)
    assert short.serious() and short.word == "refused" and short.peer == "plain"


def test_shortfall_uses_the_test_part_as_floor():
    table = ranks.Table(dict([line("s", seed, program.AUTO, accuracy=0.80) for seed in range(3)]
                             + [line("s", seed, "SVM", accuracy=0.88) for seed in range(3)]))
    (short,) = ranks.shortfalls(table)
    assert short.error == pytest.approx(0.05) and not short.serious()


# --- journal and the whole

def test_torn_last_line_is_done_again(tmp_path):
    path = tmp_path / "j.jsonl"
    whole = journal.Journal(path)
    whole.append({"set": "a", "seed": 0, "competitor": "x", "status": "ok"})
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"set": "b", "se')
    assert list(journal.read(path)) == [("a", 0, "x")]
    journal.Journal(path).append({"set": "b", "seed": 0, "competitor": "x", "status": "ok"})
    assert list(journal.read(path)) == [("a", 0, "x"), ("b", 0, "x")]
    path.write_text('rubbish\n{"set": "a", "seed": 0, "competitor": "x"}\n')
    with pytest.raises(SystemExit):
        journal.read(path)


def test_run_resume_join_and_report(data):
    first = start(data, "--competitors", "kloom,logistic,forest")
    assert first.returncode == 0, first.stderr
    found = outcomes(data)
    assert len(found) == 3 * 2 * 3
    refused = found["holes", 0, program.AUTO]
    assert refused["status"] == "refused" and refused["message"] == "kloom: train.csv line 2: a cell has no value"
    assert found["clouds", 0, program.AUTO]["accuracy"] == 0.5
    assert found["clouds", 1, "logistic / ridge"]["accuracy"] > 0.6
    assert found["line", 0, "logistic / ridge"]["r2"] > 0.9 and "coverage" in found["line", 0, program.AUTO]
    assert all("/" not in str(value) for value in found["line", 0, program.AUTO].values())  # no paths of a machine

    lines = (data / "j.jsonl").read_text().splitlines()
    (data / "j.jsonl").write_text("\n".join(lines[:10]) + "\n" + lines[10][:20])
    second = start(data, "--competitors", "kloom,logistic,forest")
    assert "8 outcomes to find, 10 known" in second.stderr and len(outcomes(data)) == 18
    other = json.dumps({**found["line", 0, program.AUTO], "set": "elsewhere"})
    (data / "other.jsonl").write_text(other + "\n")
    assert start(data, "--competitors", "kloom", "--join", str(data / "other.jsonl")).returncode == 0
    assert ("elsewhere", 0, program.AUTO) in outcomes(data)

    made = subprocess.run([sys.executable, str(FOLDER / "report"), str(data / "j.jsonl"), "-o", str(data / "docs" / "page.md"), "--figures",
                           str(data / "docs" / "figures"), "--title", "A test", "--note", "The moon was full."], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    page = (data / "docs" / "page.md").read_text()
    assert page.startswith("# A test\n") and "- The moon was full.\n" in page
    assert "stratified by class, 3 of them 2 times (seed 0 and 1) and 1 of them once (seed 0)." in page
    assert "| holes | refused |" in page and "Absent from this run: SVM" in page and "a cell has no value" in page
    pictures = list((data / "docs" / "figures").glob("*.svg"))
    assert pictures
    for picture in pictures:
        xml.etree.ElementTree.parse(picture)
        assert f"(figures/{picture.name})" in page


def test_methods_by_name(data):
    assert start(data, "--kloom-only", "--methods", "all", "--sets", "clouds,line", "--seeds", "1").returncode == 0
    # A method that does not say it can do numbers is not asked to.
    assert set(outcomes(data)) == {("clouds", 0, program.AUTO), ("clouds", 0, "kloom bemkl"), ("clouds", 0, "kloom uniform"),
                                   ("line", 0, program.AUTO), ("line", 0, "kloom bemkl")}
    assert "no such method: nonsense" in start(data, "--kloom-only", "--methods", "nonsense").stderr


def test_time_out_is_an_outcome(data):
    (data / "kloom").write_text("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nsleep 60\n")
    assert start(data, "--competitors", "kloom", "--sets", "line", "--limit", "0.5").returncode == 0
    assert {found["status"] for found in outcomes(data).values()} == {"timeout"}
