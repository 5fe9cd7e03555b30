#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The SVM core against scikit-learn's SVC on the same precomputed kernel, interleaved, one thread, equal objective.

    bench/learners/margin_sklearn.py build/bench_margin [samples]

scikit-learn is told to skip its own check for finite numbers, so that only its solver is timed; neither side counts
reading the kernel.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

import numpy  # noqa: E402
import sklearn  # noqa: E402
import sklearn.svm  # noqa: E402


def problem(samples):
    generator = numpy.random.default_rng(1)
    x = generator.normal(size=(samples, 10))
    score = numpy.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * generator.normal(size=samples)
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    return numpy.exp(-0.1 * square), numpy.where(score > 0, 1.0, -1.0)


def objective(kernel, coefficients):
    return 0.5 * coefficients @ kernel @ coefficients - abs(coefficients).sum()


def main(program, samples):
    kernel, y = problem(samples)
    with tempfile.TemporaryDirectory() as folder:
        kernel.tofile(os.path.join(folder, "kernel"))
        y.tofile(os.path.join(folder, "labels"))
        ours = subprocess.Popen([program, "--serve", folder, str(samples)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        for price in (1.0, 100.0):
            times = {"kloom": [], "scikit-learn": []}
            objectives = {}
            for _ in range(7):
                machine = sklearn.svm.SVC(C=price, kernel="precomputed", tol=1e-3, cache_size=1000)
                with sklearn.config_context(assume_finite=True):
                    start = time.perf_counter()
                    machine.fit(kernel, y)
                    times["scikit-learn"].append(time.perf_counter() - start)
                coefficients = numpy.zeros(samples)
                coefficients[machine.support_] = machine.dual_coef_[0]
                objectives["scikit-learn"] = objective(kernel, coefficients)
                ours.stdin.write(f"{price}\n")
                ours.stdin.flush()
                seconds, value = map(float, ours.stdout.readline().split())
                times["kloom"].append(seconds)
                objectives["kloom"] = value
            medians = {name: statistics.median(values) for name, values in times.items()}
            difference = abs(objectives["kloom"] / objectives["scikit-learn"] - 1)
            print(f"C {price:>6g}: scikit-learn {sklearn.__version__} {1e3 * medians['scikit-learn']:.1f} ms, kloom "
                  f"{1e3 * medians['kloom']:.1f} ms, ratio {medians['scikit-learn'] / medians['kloom']:.2f}, "
                  f"objectives differ by {difference:.1e}")
        ours.stdin.close()
        ours.wait()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
