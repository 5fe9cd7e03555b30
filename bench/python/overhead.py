#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Python costs: seconds of a fit through the package over seconds of the same fit in C++, both from raw samples to a
model, taken in turns in one run; medians.

    PYTHONPATH=build/python bench/python/overhead.py build/bench_python_overhead
"""
import argparse
import statistics
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
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
            table.write(",".join(str(j + 1) for j in range(X.shape[1])) + ",label\n")
            table.writelines(",".join(f"{v:.17g}" for v in row) + f",{label}\n" for row, label in zip(X, y))
            table.flush()
            command = [arguments.program, table.name, method, SPEC, str(arguments.threads)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
                through_python, in_cpp = [], []
                for turn in range(arguments.repeats + 1):   # the first turn warms up
                    peer.stdin.write("1\n")
                    peer.stdin.flush()
                    cpp = float(peer.stdout.readline())
                    start = time.perf_counter()
                    est.fit(X, y)
                    python = time.perf_counter() - start
                    if turn > 0:
                        in_cpp.append(cpp)
                        through_python.append(python)
                peer.stdin.close()
        ratio = statistics.median(through_python) / statistics.median(in_cpp)
        print(f"{method:<10} C++ {statistics.median(in_cpp):.3f} s   Python {statistics.median(through_python):.3f} s   "
              f"ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
