# SPDX-License-Identifier: BSD-3-Clause
"""Small data for the tests of the package."""
import os
import pathlib
import signal
import subprocess
import threading

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ["KLOOM_SOURCE"])
KERNELS = "rbf(width=2^-1..2^2) on all; linear on each"
POSITIVE = "rbf(width=1) on each"   # for products of kernels


def clouds(samples=60, features=3, classes=2, seed=1):
    """Overlapping Gaussian clouds, one per class."""
    generator = np.random.RandomState(seed)
    y = np.arange(samples) % classes
    X = generator.normal(size=(samples, features))
    X[:, 0] += 1.5 * y
    X[:, 1] += 1.5 * (y == classes - 1)
    return X, y


@pytest.fixture
def two_classes():
    return clouds()


@pytest.fixture
def three_classes():
    return clouds(samples=75, classes=3)


@pytest.fixture
def numbers():
    X, _ = clouds(seed=2)
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1]


@pytest.fixture
def ctrl_c():
    """ctrl_c(seconds) sends SIGINT so many seconds later, also where a shell started us in the background, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def later(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def kloom_program(tmp_path):
    """Runs the command line in an empty folder."""

    def run(*arguments):
        done = subprocess.run([os.environ["KLOOM_PROGRAM"], *map(str, arguments)], cwd=tmp_path, text=True,
                              capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
