#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is one program slower than another at what both can do?

    bench/learners/before_and_after.py OLD NEW [--turns 15] [--only WORD]...

OLD and NEW are kloom programs, each beside its own libkloom. They take turns at every case, so that whatever else the
machine does falls on both; what counts is processor time, user and system, of the whole process with one thread. Printed: the median of
each in seconds, and of the ratios of neighbouring turns, with the middle half of these. Reading is measured by predictions of a model of 30
samples, which take little else. Where the old program has no probabilities of a method, the new one is told to leave them out. Needs NumPy, to make the data.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy

KERNELS = ["--kernels", "rbf(width=2^-1..2^3) on all; poly(degree=1..3) on all"]
METHODS = {
    "uniform": ["--C", "10"], "simplemkl": ["--C", "10"], "lp-mkl": ["--C", "10"], "bemkl": ["--iterations", "200"],
    "mcmkl": ["--C", "1"], "lmkl": ["--C", "1", "--steps", "20"], "mkl-da": ["--sweeps", "10"], "ufo-mkl": [],
    "samkl": ["--C", "1", "--m0", "1", "--updates", "one", "--no-probability"]}
CASES = {
    "start": ["--version"],
    "read CSV": ["predict", "csv.kloom", "large.csv", "-o", "p.csv"],
    "read NPZ": ["predict", "npz.kloom", "large.npz", "-o", "p.csv"],
    "read NPY": ["predict", "npz.kloom", "large.npy", "-o", "p.csv"],
    "predict": ["predict", "small.kloom", "middle.csv", "-o", "p.csv"],
    **{f"train {name}": ["train", "small.csv", "--target", "y", "--method", name, *KERNELS, *options] for name, options in METHODS.items()},
}


def write_table(path, x, y):
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(f"x{j}" for j in range(x.shape[1])) + ",y\n")
        file.writelines(",".join(map(repr, row)) + f",{'ab'[int(label)]}\n" for row, label in zip(x.tolist(), y))


def make(folder, program):
    """Tables of several sizes, and models by the old program."""
    generator = numpy.random.default_rng(1)
    for name, shape in {"tiny": (30, 8), "small": (600, 8), "middle": (20_000, 8), "large": (80_000, 40)}.items():
        x = generator.standard_normal(shape)
        y = x[:, 0] + x[:, 1] ** 2 + 0.5 * generator.standard_normal(len(x)) > 0.7
        write_table(folder / f"{name}.csv", x, y)
        numpy.savez(folder / f"{name}.npz", X=x, y=y.astype(float))
        numpy.save(folder / f"{name}.npy", x)
    plain = ["--method", "uniform", "--C", "1", "--no-probability"]
    seconds(program, ["train", "tiny.csv", "--target", "y", *plain, "--kernels", "linear", "-o", "csv.kloom"], folder)
    seconds(program, ["train", "tiny.npz", "--target", "y", *plain, "--kernels", "linear", "-o", "npz.kloom"], folder)
    seconds(program, ["train", "small.csv", "--target", "y", *plain, *KERNELS, "-o", "small.kloom"], folder)


def seconds(program, arguments, folder):
    """Processor time of one run."""
    threads = [] if arguments[0] in ("--version", "info") else ["--threads", "1"]
    process = subprocess.Popen([program, *arguments, *threads], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "LD_LIBRARY_PATH": str(program.parent), "OMP_NUM_THREADS": "1"})
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{program} {' '.join(arguments)}: {said.decode(errors='replace')[-400:]}")
    return used.ru_utime + used.ru_stime


def has_probabilities(program, method):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(program.parent)}
    return "--no-probability" in subprocess.run([program, "train", "--method", method, "--help"], env=environment, capture_output=True, text=True,
                                                check=True).stdout


def main():
    parser = argparse.ArgumentParser(description="Processor time of two programs in turns.")
    parser.add_argument("old", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("new", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--only", action="append", default=[], help="cases with this word in their name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder, options.old)
        print(f"{'':24}{'old':>9}{'new':>9}{'ratio':>9}   middle half")
        for case, arguments in CASES.items():
            if options.only and not any(word in case for word in options.only):
                continue
            method = case.removeprefix("train ")
            more = method in METHODS and has_probabilities(options.new, method) and not has_probabilities(options.old, method)
            without = [*arguments, "--no-probability"] if more else arguments
            turns = [(seconds(options.old, arguments, folder), seconds(options.new, without, folder)) for _ in range(options.turns)]
            ratios = [new / old for old, new in turns]
            low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
            print(f"{case:24}{statistics.median(t[0] for t in turns):9.3f}{statistics.median(t[1] for t in turns):9.3f}"
                  f"{middle:9.3f}   {low:.3f}..{high:.3f}", flush=True)


if __name__ == "__main__":
    main()
