#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Default fits of BEMKL by two programs: how much slower is the new one, and does it find the same model?

    bench/learners/bemkl_default_fits.py OLD NEW DATA_FOLDER [--times 5] [--set NAME]... [--more OPTION]...

OLD and NEW are kloom programs, each beside its own libkloom. They take turns on every set, so that whatever else the
machine does falls on both; what counts is the processor time of `kloom train --threads 1`, from file to model, the
median over all turns. Sets: wdbc with the kernels that kloom once chose for it, and the kernels of the paper's section
6.1 on four data sets. Printed: seconds of both, their ratio, how far the lower bounds and the predicted probabilities differ.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

PAPER = "rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each"
DEFAULT = "rbf(auto, count=5); poly(degree=1,2); rbf(auto, count=3) on each"
SETS = {"wdbc-default": ("wdbc", DEFAULT)} | {name: (name, PAPER) for name in ("pima", "ionosphere", "wdbc", "sonar")}


def environment(program):
    return dict(os.environ, LD_LIBRARY_PATH=str(program.parent))


def train(program, data, kernels, more, model):
    """Processor seconds of one fit, and its lower bound."""
    command = [program, "train", data, "--method", "bemkl", "--threads", "1", "-o", model, "--json", *more]
    if kernels is not None:
        command += ["--kernels", kernels]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, env=environment(program), check=True, capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return seconds, json.loads(done.stdout)["report"]["objective"]


def predictions(program, data, model, folder):
    out = folder / "predictions.csv"
    subprocess.run([program, "predict", model, data, "-o", out], env=environment(program), check=True, capture_output=True)
    with open(out) as file:
        rows = list(csv.reader(file))
    return [[float(cell) for cell in row if cell.replace(".", "").replace("-", "").replace("e", "").isdigit()] for row in rows[1:]]


def difference(first, second):
    return max(abs(x - y) for a, b in zip(first, second, strict=True) for x, y in zip(a, b, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--set", action="append", choices=SETS, help="default: all")
    parser.add_argument("--more", action="append", default=[], help="one more option of kloom train, such as --more=--sparse")
    given = parser.parse_args()
    programs = {"old": given.old.resolve(), "new": given.new.resolve()}
    print(f"{'set':<14} {'old s':>7} {'new s':>7} {'new/old':>8} {'bound':>9} {'predictions':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for label in given.set or SETS:
            dataset, kernels = SETS[label]
            data = given.data / f"{dataset}.csv.gz"
            seconds = {"old": [], "new": []}
            bounds = {}
            for turn in range(given.times):
                for which in ("old", "new") if turn % 2 == 0 else ("new", "old"):
                    spent, bounds[which] = train(programs[which], data, kernels, given.more, folder / f"{which}.kloom")
                    seconds[which].append(spent)
            told = [predictions(programs[which], data, folder / f"{which}.kloom", folder) for which in ("old", "new")]
            old, new = (statistics.median(seconds[which]) for which in ("old", "new"))
            bound = abs(bounds["new"] / bounds["old"] - 1.0)
            print(f"{label:<14} {old:>7.2f} {new:>7.2f} {new / old:>8.3f} {bound:>9.1e} {difference(*told):>12.1e}", flush=True)


main()
