#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Are BEMKL's uncertainties true? Coverage of intervals in regression, reliability of probabilities in classification.

    bench/learners/bemkl_calibration.py build/kloom [DATA_FOLDER] [--splits 10]

Regression: diabetes as packaged by scikit-learn, and Friedman's three functions made here; each split trains on 70 %.
An interval of 50 % or 90 % should hold as many of the held-out values. Classification: predictions in bins by
their probability beside the share that was positive, and the expected calibration error; data sets of DATA_FOLDER
(skipped, and said, where there is none).
"""
import argparse
import csv
import pathlib
import statistics
import subprocess
import tempfile

import numpy
import sklearn.datasets
from scipy.stats import norm

DATA = {"pima", "wdbc", "ionosphere", "sonar", "heart", "bupaliver"}


def friedman(number, samples, generator):
    if number == 1:
        x = generator.uniform(size=(samples, 10))
        y = 10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
        return x, y + generator.normal(size=samples)
    low, high = [0, 40 * numpy.pi, 0, 1], [100, 560 * numpy.pi, 1, 11]
    x = generator.uniform(low, high, size=(samples, 4))
    inner = x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])
    if number == 2:
        return x, numpy.hypot(x[:, 0], inner) + 125 * generator.normal(size=samples)
    return x, numpy.arctan(inner / x[:, 0]) + 0.1 * generator.normal(size=samples)


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def fit_and_predict(program, folder, train, test, header):
    write(folder / "train.csv", header, train)
    write(folder / "test.csv", header, test)
    common = ["--quiet", "--seed", "1"]
    subprocess.run([program, "train", folder / "train.csv", "--target", "y", "--method", "bemkl", "-o",
                    folder / "model.kloom", *common], check=True)
    subprocess.run([program, "predict", folder / "model.kloom", folder / "test.csv", "-o", folder / "out.csv", *common],
                   check=True)
    with open(folder / "out.csv") as file:
        return list(csv.DictReader(file))


def splits(samples, count):
    for seed in range(count):
        order = numpy.random.default_rng(seed).permutation(samples)
        cut = int(0.7 * samples)
        yield order[:cut], order[cut:]


def regression(program, name, x, y, count):
    header = [f"x{j}" for j in range(x.shape[1])] + ["y"]
    table = numpy.column_stack([x, y])
    inside = {0.5: [], 0.9: []}
    errors, losses = [], []
    for train, test in splits(len(y), count):
        with tempfile.TemporaryDirectory() as folder:
            rows = fit_and_predict(program, pathlib.Path(folder), table[train], table[test], header)
        mean = numpy.array([float(row["prediction"]) for row in rows])
        deviation = numpy.array([float(row["deviation"]) for row in rows])
        z = (y[test] - mean) / deviation
        for level in inside:
            inside[level].append(numpy.mean(abs(z) <= norm.ppf(0.5 + level / 2)))
        errors.append(numpy.sqrt(numpy.mean((y[test] - mean) ** 2)) / numpy.std(y[test]))
        losses.append(-numpy.mean(norm.logpdf(y[test], mean, deviation)))
    cells = [f"{100 * statistics.mean(v):5.1f} ± {100 * statistics.stdev(v) / count ** 0.5:.1f}" for v in inside.values()]
    print(f"{name:<12} {len(y):>5}   {cells[0]:>11}   {cells[1]:>11}   {statistics.mean(errors):8.3f}   {statistics.mean(losses):8.3f}",
          flush=True)


def classification(program, path, count):
    import gzip
    with gzip.open(path, "rt") as file:
        reader = csv.reader(file)
        header = next(reader)
        rows = list(reader)
    target = next(i for i, name in enumerate(header) if name in ("label", "target", "class", "y"))
    header[target] = "y"
    positive = sorted({row[target] for row in rows}, key=lambda v: (0, float(v)) if v.lstrip("+-").replace(".", "").isdigit() else (1, v))[-1]
    probability, truth = [], []
    for train, test in splits(len(rows), count):
        with tempfile.TemporaryDirectory() as folder:
            out = fit_and_predict(program, pathlib.Path(folder), [rows[i] for i in train], [rows[i] for i in test], header)
        column = next(name for name in out[0] if name in (f"p({positive})", f"probability_{positive}", f"p_{positive}"))
        probability += [float(row[column]) for row in out]
        truth += [rows[i][target] == positive for i in test]
    probability, truth = numpy.array(probability), numpy.array(truth)
    edges = numpy.linspace(0, 1, 11)
    which = numpy.clip(numpy.digitize(probability, edges) - 1, 0, 9)
    error = sum(abs(truth[which == k].mean() - probability[which == k].mean()) * (which == k).mean()
                for k in range(10) if (which == k).any())
    loss = -numpy.mean(numpy.log(numpy.where(truth, probability, 1 - probability)))
    curve = " ".join(f"{100 * truth[which == k].mean():4.0f}" if (which == k).sum() >= 10 else "   ·" for k in range(10))
    print(f"{path.name.split('.')[0]:<12} {len(rows):>5}   {curve}   {100 * error:5.1f}   {loss:6.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    print(f"{'regression':<12} {'N':>5}   {'50 % holds':>11}   {'90 % holds':>11}   {'RMSE/std':>8}   {'NLL':>8}   ({arguments.splits} splits)")
    diabetes = sklearn.datasets.load_diabetes()
    regression(arguments.program, "diabetes", diabetes.data, diabetes.target, arguments.splits)
    for number in (1, 2, 3):
        x, y = friedman(number, 400, numpy.random.default_rng(number))
        regression(arguments.program, f"friedman-{number}", x, y, arguments.splits)
    if arguments.folder is None:
        print("classification: no DATA_FOLDER given, left out")
        return
    print(f"\n{'classes':<12} {'N':>5}   % positive where the model says 5 15 25 … 95 %           ECE %   log loss")
    found = sorted(path for path in arguments.folder.glob("*.csv.gz") if path.name.split(".")[0] in DATA)
    if not found:
        raise SystemExit(f"{arguments.folder} has none of {', '.join(sorted(DATA))}")
    for path in found:
        classification(arguments.program, path, arguments.splits)


main()
