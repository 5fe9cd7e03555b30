# SPDX-License-Identifier: BSD-3-Clause
"""Several tasks in one table: one of numbers, one of two classes, one of three."""
import csv
import io
import random
import signal
import subprocess
import time

import pytest
from conftest import DONE, FAILED, INTERRUPTED, MISTAKE, PROGRAM

KERNELS = ["--kernels", "rbf(width=1..2) on each"]


def rows_of(count, seed):
    generator = random.Random(seed)
    rows = []
    for i in range(count):
        x = [generator.gauss(0, 1) for _ in range(3)]
        value = x[0] - x[1] + 0.1 * generator.gauss(0, 1)
        y = [repr(round(value, 4)), "ill" if value > 0 else "well", "low" if value < -0.7 else "mid" if value < 0.7 else "high"][i % 3]
        rows.append([f"p{i}", ["north", "south", "west"][i % 3], *(repr(round(v, 4)) for v in x), y])
    return rows


def write(path, rows, header=("id", "clinic", "a", "b", "c", "y")):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture
def clinics(tmp_path):
    write(tmp_path / "clinics.csv", rows_of(90, 1))
    write(tmp_path / "new.csv", rows_of(60, 2))
    return tmp_path


def train(kloom, *more):
    return kloom("tasks", "clinics.csv", "--target", "y", "--by", "clinic", *KERNELS, "-o", "m.kloom", *more)


def test_learn_predict_check_and_describe(kloom, clinics):
    report = train(kloom, "--json").json()
    assert report["tasks"] == ["north", "south", "west"]
    assert report["report"]["certificate"]["finding"] == "checked"
    table = list(csv.DictReader(io.StringIO(kloom("predict", "m.kloom", "new.csv", "--quiet").out)))
    truth = rows_of(60, 2)
    assert [row["id"] for row in table] == [row[0] for row in truth]
    assert [row["clinic"] for row in table] == [row[1] for row in truth]
    errors, wrong = [], 0
    for row, true in zip(table, truth):
        if row["clinic"] == "north":
            assert row["label"] == "" and row["probability"] == ""
            errors.append((float(row["prediction"]) - float(true[-1])) ** 2)
            assert float(row["deviation"]) > 0
        else:
            assert row["prediction"] == "" and row["deviation"] == ""
            assert 0.3 <= float(row["probability"]) <= 1
            wrong += row["label"] != true[-1]
    assert sum(errors) / len(errors) < 0.4     # of a variance of two
    assert wrong <= 13                         # of 40; guesses are wrong in 23, with a standard deviation of 3.1
    checked = kloom("check", "m.kloom", "clinics.csv", "--json").json()
    bound = {item["name"]: item["value"] for item in checked["certificate"]["items"]}["lower bound"]
    assert bound == pytest.approx(report["report"]["objective"], rel=1e-9)
    described = kloom("info", "m.kloom", "--json").json()
    assert [task["task"] for task in described["tasks"]] == ["regression", "binary", "multiclass"]
    assert described["column"] == "clinic"


@pytest.mark.parametrize("across, shared", [("shared", True), ("separate", False)])
def test_weights_as_asked(kloom, clinics, across, shared):
    assert train(kloom, "--weights-across", across, "--json").json()["shared"] is shared
    tasks = kloom("info", "m.kloom", "--json").json()["tasks"]
    weights = [{kernel["name"]: kernel["weight"] for kernel in task["kernels"]} for task in tasks]
    assert (weights[0] == weights[1] == weights[2]) is shared


def test_predictions_to_a_file_and_evaluation(kloom, clinics):
    train(kloom)
    said = kloom("predict", "m.kloom", "new.csv", "-o", "p.csv")
    assert "task 'south'" in said.err
    assert (clinics / "p.csv").read_text().startswith("id,clinic,label,probability,prediction,deviation\n")


def test_numbers_that_name_tasks_stay_names(kloom, tmp_path):
    write(tmp_path / "clinics.csv", [[r[0], {"north": "01", "south": "2", "west": "03"}[r[1]], *r[2:]] for r in rows_of(90, 1)])
    assert train(kloom, "--json").json()["tasks"] == ["01", "03", "2"]


def test_samples_may_lack_views(kloom, tmp_path):
    rows = [[*row[:4], *(["", ""] if i % 7 == 0 else [row[4], row[2]]), row[5]] for i, row in enumerate(rows_of(90, 1))]
    write(tmp_path / "clinics.csv", rows, ["id", "clinic", "u.a", "u.b", "v.c", "v.d", "y"])
    kloom("tasks", "clinics.csv", "--target", "y", "--by", "clinic", "--views-by-prefix", "--kernels", "rbf(width=1) on views", "-o", "m.kloom",
          "--weights-across", "shared")
    checked = kloom("check", "m.kloom", "clinics.csv", "--views-by-prefix", "--json").json()
    assert checked["certificate"]["finding"] == "checked"
    assert len(kloom("predict", "m.kloom", "clinics.csv", "--views-by-prefix", "--quiet").out.splitlines()) == 91


def refused(kloom, *arguments):
    return kloom(*arguments, code=MISTAKE).sentence()


def test_refusals(kloom, clinics):
    train(kloom)
    rows = rows_of(6, 3)
    write(clinics / "other.csv", [[*rows[0][:1], "nort", *rows[0][2:]]])
    assert "line 2: there is no task 'nort' (did you mean 'north'?)" in refused(kloom, "predict", "m.kloom", "other.csv")
    write(clinics / "none.csv", [row[:1] + row[2:] for row in rows], ["id", "a", "b", "c", "y"])
    assert "clinic" in refused(kloom, "predict", "m.kloom", "none.csv")
    assert "site" in refused(kloom, "tasks", "clinics.csv", "--target", "y", "--by", "site")
    assert "contributions" in refused(kloom, "predict", "m.kloom", "new.csv", "--contributions")
    assert "centred" in refused(kloom, "tasks", "clinics.csv", "--target", "y", "--by", "clinic", "--kernels", "linear", "--normalise", "centre")
    write(clinics / "few.csv", [*rows_of(30, 4), ["p31", "east", "1", "2", "3", "ill"]])
    assert "task 'east'" in refused(kloom, "tasks", "few.csv", "--target", "y", "--by", "clinic", *KERNELS)
    gap = rows_of(30, 5)
    gap[4][1] = ""
    write(clinics / "gap.csv", gap)
    assert "line 6: column 'clinic' is empty" in refused(kloom, "tasks", "gap.csv", "--target", "y", "--by", "clinic", *KERNELS)


def test_a_damaged_file_is_refused(kloom, clinics):
    train(kloom)
    whole = (clinics / "m.kloom").read_bytes()
    (clinics / "m.kloom").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    for command in (["predict", "m.kloom", "new.csv"], ["info", "m.kloom"], ["check", "m.kloom", "clinics.csv"]):
        assert "damaged" in kloom(*command, code=FAILED).sentence()


def test_interrupt_saves_what_is_there(clinics):
    process = subprocess.Popen([PROGRAM, "tasks", "clinics.csv", "--target", "y", "--by", "clinic", *KERNELS, "-o", "m.kloom", "--tolerance", "0",
                                "--iterations", "100000000", "--weights-across", "shared", "--sigma-g", "1"],
                               cwd=clinics, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, err
    told = subprocess.run([PROGRAM, "info", "m.kloom"], cwd=clinics, stdout=subprocess.PIPE, text=True)
    assert told.returncode == DONE and "3 tasks" in told.stdout
