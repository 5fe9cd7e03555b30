# SPDX-License-Identifier: BSD-3-Clause
"""python -m kloom: the command line from the package, and the demonstration on bundled data."""
import csv
import os
import subprocess
import sys

import kloom
from conftest import SOURCE


def run_module(*arguments, cwd, **environment):
    return subprocess.run([sys.executable, "-m", "kloom", *arguments], cwd=cwd, text=True, capture_output=True, timeout=300,
                          env={**os.environ, **environment}, check=False)


def test_it_is_the_program(tmp_path):
    done = run_module("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kloom {kloom.__version__}\n", "")
    wrong = run_module("train", "nowhere.csv", cwd=tmp_path)
    assert wrong.returncode == 2 and wrong.stderr.startswith("kloom: ") and "nowhere.csv" in wrong.stderr


def labels(path, column):
    with open(path, newline="", encoding="utf-8") as file:
        return [row[column] for row in csv.DictReader(file)]


def test_demo(tmp_path):
    done = run_module("demo", cwd=tmp_path, KLOOM_DEMO_TIME="30s")
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("$ kloom cv") < done.stdout.index("accuracy") < done.stdout.index("$ kloom compare"), "a first result"
    for said in ("569 tumours", "$ kloom compare kloom-demo/wdbc.csv", "$ kloom predict", "$ kloom check", "Use "):
        assert said in (done.stdout + done.stderr), said
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    truth = labels(SOURCE / "examples" / "data" / "wdbc.csv", "diagnosis")
    found = labels(tmp_path / "kloom-demo" / "predictions.csv", "label")
    # Always the larger class is right for 63 %; any method that learns something exceeds 90 % on what it learned from.
    assert sum(a == b for a, b in zip(truth, found, strict=True)) > 0.9 * len(truth)
    assert "verdict" in (tmp_path / "kloom-demo" / "check.json").read_text(encoding="utf-8")


def test_a_demo_that_fails_says_so(tmp_path):
    done = run_module("demo", cwd=tmp_path, KLOOM_DEMO_TIME="never")
    assert done.returncode == 2 and "never" in done.stderr and "Traceback" not in done.stderr
