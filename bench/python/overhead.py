#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Python costs: seconds of a fit through the package over seconds of the same fit in C++, both from raw samples to a
model, taken in turns in one run; medians. Seconds of the processor as well, which other work on the machine changes less.

    PYTHONPATH=build/python bench/python/overhead.py build/bench_python_overhead
"""
import argparse
import subprocess
import tempfile
import time

import numpy as np

import kloom

SAMPLES, KERNELS = 1000, 50
SPEC = f"rbf(width=0.5..8, count={KERNELS})"


def problem():
    generator = np.random.RandomState(0)
    X = generator.normal(size=(SAMPLES, 10))
    return X, (X[:, 0] * X[:, 1] + 0.5 * generator.normal(size=SAMPLES) > 0).astype(int)


def table_of(X, y):
    """The samples in a file, with all digits."""
    table = tempfile.NamedTemporaryFile("w", suffix=".csv")
    table.write(",".join(str(j + 1) for j in range(X.shape[1])) + ",label\n")
    table.writelines(",".join(f"{v:.17g}" for v in row) + f",{label}\n" for row, label in zip(X, y))
    table.flush()
    return table


def in_turns(peer, est, X, y, repeats):
    """Seconds by the clock and of the processor, of C++ and of Python: an array (2, repeats, 2)."""
    found = np.empty((2, repeats, 2))
    for turn in range(-1, repeats):   # the first turn warms up
        peer.stdin.write("1\n")
        peer.stdin.flush()
        cpp = [float(word) for word in peer.stdout.readline().split()]
        start = time.perf_counter(), time.process_time()
        est.fit(X, y)
        python = time.perf_counter() - start[0], time.process_time() - start[1]
        found[:, turn] = cpp, python   # turn -1 is overwritten by the last
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    X, y = problem()
    print(f"N = {SAMPLES}, P = {KERNELS}, {arguments.threads} thread(s), medians of {arguments.repeats}, taken in turns")
    for method, cls in (("bemkl", kloom.BEMKLClassifier), ("simplemkl", kloom.SimpleMKLClassifier)):
        est = cls(kernels=SPEC, n_jobs=arguments.threads, bank="dense")
        with table_of(X, y) as table:
            command = [arguments.program, table.name, method, SPEC, str(arguments.threads)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
                (cpp, cpp_cpu), (python, python_cpu) = np.median(in_turns(peer, est, X, y, arguments.repeats), axis=1)
                peer.stdin.close()
        print(f"{method:<10} C++ {cpp:.3f} s   Python {python:.3f} s   ratio {python / cpp:.3f}      of the processor: "
              f"{cpp_cpu:.3f} s, {python_cpu:.3f} s, ratio {python_cpu / cpp_cpu:.3f}")


if __name__ == "__main__":
    main()
