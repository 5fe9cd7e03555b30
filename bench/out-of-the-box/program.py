# SPDX-License-Identifier: BSD-3-Clause
"""kloom as a competitor: the program, from files, as somebody types it who has read nothing but the first page."""
import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

from peers import Prediction
from sets import TARGET

AUTO = "kloom (auto)"
NORMAL_95 = 1.6449  # a normal variable is within this many deviations of its mean nine times out of ten


class Refused(Exception):
    """The program ended with something else than 0; the text is what it said."""


class TimedOut(Exception):
    pass


class Unusable(Exception):
    """The program was content with itself, but what it wrote does not answer the question."""


def write_table(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_predictions(path, task):
    """The table of `kloom predict`. Columns: label, p(CLASS)...; or prediction with lower and upper, or with deviation."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    column = {name: [row[number] for row in rows] for number, name in enumerate(header)}
    if task == "regression":
        return read_numbers(column)
    if TARGET not in column:
        raise Unusable("classes were taken for numbers: the table of predictions has no labels")
    classes = [name[2:-1] for name in header if re.fullmatch(r"p\(.*\)", name, re.DOTALL)]
    probabilities = None
    if classes:
        probabilities = np.array([[float(value) for value in column[f"p({name})"]] for name in classes]).T
    return Prediction(labels=np.array(column[TARGET]), classes=classes or None, probabilities=probabilities)


def read_numbers(column):
    if "prediction" not in column:
        raise Unusable("numbers were taken for classes: the table of predictions has no column 'prediction'")

    def numbers(name):
        return np.array(column[name], dtype=float)
    mean, lower, upper = numbers("prediction"), None, None
    if "lower" in column and "upper" in column:
        lower, upper = numbers("lower"), numbers("upper")
    elif "deviation" in column:
        half = NORMAL_95 * numbers("deviation")
        lower, upper = mean - half, mean + half
    return Prediction(mean=mean, lower=lower, upper=upper)


class Kloom:
    """`kloom train TRAIN.csv --target label -o M`, then `kloom predict M TEST.csv -o P`; with --method NAME if there is one."""

    def __init__(self, program, method=None, threads=None, limit=300):
        self.program, self.method, self.threads, self.limit = str(program), method, threads, limit

    def suits(self, data, train_rows):
        return self.method is None or not self.method.tasks or data.task in self.method.tasks

    def fit(self, data, train):
        self.data = data
        self.folder = tempfile.TemporaryDirectory(prefix="out-of-the-box-")
        self.left = self.limit  # seconds for training and predicting together
        given = self._write_training(train)
        self.seconds = self._call(["train", *given, "--target", TARGET, *(["--method", self.method.name] if self.method else []),
                                   "-o", "model.kloom"])

    def predict(self, test):
        given = self._write_test(test)
        self.predict_seconds = self._call(["predict", "model.kloom", *given, "-o", "predictions.csv"])
        predicted = read_predictions(pathlib.Path(self.folder.name) / "predictions.csv", self.data.task)
        count = len(predicted.mean if predicted.labels is None else predicted.labels)
        if count != len(test):
            raise Unusable(f"{count} predictions for {len(test)} samples")
        return predicted

    def close(self):
        self.folder.cleanup()

    def _write_training(self, train):
        labels = [self._label(i) for i in train]
        if self.data.kernels is None:
            write_table(self._path("train.csv"), [*self.data.header, TARGET],
                        [[*self.data.rows[i], label] for i, label in zip(train, labels)])
            return ["train.csv"]
        self.train_rows = train
        write_table(self._path("train.csv"), [TARGET], [[label] for label in labels])
        return ["train.csv", *self._write_kernels("training", train)]

    def _write_test(self, test):
        """New samples have no label column."""
        if self.data.kernels is None:
            write_table(self._path("test.csv"), self.data.header, [self.data.rows[i] for i in test])
            return ["test.csv"]
        return self._write_kernels("new", test)

    def _write_kernels(self, name, rows):
        options = []
        for number, kernel in enumerate(self.data.kernels):
            np.save(self._path(f"{name}{number}.npy"), np.ascontiguousarray(kernel[np.ix_(rows, self.train_rows)]))
            options += ["--kernel-file", f"{name}{number}.npy"]
        return options

    def _label(self, row):
        value = self.data.y[row]
        return repr(float(value)) if self.data.task == "regression" else str(value)

    def _path(self, name):
        return pathlib.Path(self.folder.name) / name

    def _call(self, arguments):
        if self.threads:
            arguments = [*arguments, "--threads", str(self.threads)]
        # The variable is there for the peers; the program has its own option.
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        start = time.monotonic()
        try:
            done = subprocess.run([self.program, *arguments], cwd=self.folder.name, env=environment, capture_output=True,
                                  text=True, errors="replace", timeout=self.left, check=False)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"kloom {arguments[0]} was not done after {self.limit} s") from None
        seconds = time.monotonic() - start
        self.left = max(self.left - seconds, 1.0)
        if done.returncode != 0:
            raise Refused(last_words(done.stderr) or f"kloom {arguments[0]} ended with {done.returncode}")
        return seconds


def last_words(text):
    """What the program said last: from the line that begins with "error" on, or the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.lower().startswith(("error", "kloom:")):
            return " ".join(lines[number:])[:500]
    return lines[-1][:500] if lines else ""


class Method:
    def __init__(self, name, tasks):
        self.name, self.tasks = name, tasks


def methods(program):
    listed = subprocess.run([str(program), "methods", "--json"], capture_output=True, text=True, check=True)
    return [Method(method["name"], [task.strip() for task in method.get("tasks", "").split(",") if task.strip()])
            for method in json.loads(listed.stdout)]


def version(program):
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "kloom"
