# SPDX-License-Identifier: BSD-3-Clause
"""A limit on the address space (ulimit -v): a model or a sentence, never a process that waits for ever."""
import os
import resource
import subprocess
import sys

import pytest
from conftest import DONE, FAILED, PROGRAM, is_sanitized

MEGABYTE = 1 << 20
# From less than one of OpenBLAS's buffers (128 MiB) beside the program itself to more than it needs.
LIMITS = [160, 240, 320, 400, 480, 560, 700, 900]
SECONDS = 60   # a fit of these samples takes less than five

pytestmark = pytest.mark.skipif(is_sanitized(), reason="sanitizers reserve terabytes of address space")


def limited(megabytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))


def train(folder, megabytes, *options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "OPENBLAS_"))}
    return subprocess.run([PROGRAM, "train", "data.csv", "--kernels", "rbf(width=1..3) on all", "-o", "m.kloom", *options], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS, env=environment,
                          preexec_fn=limited(megabytes))


@pytest.mark.parametrize("method", ["lmkl", "auto", "bemkl", "simplemkl"])
def test_a_model_or_a_sentence(table, tmp_path, method):
    options = ["--method", method, "--threads", "1", *(["--time", "3"] if method == "auto" else [])]
    codes = []
    for megabytes in LIMITS:
        run = train(tmp_path, megabytes, *options)
        codes.append(run.returncode)
        if run.returncode == FAILED:
            sentence = [line for line in run.stderr.splitlines() if line.startswith("kloom: ")][-1]
            assert "address space" in sentence or "memory" in sentence
            assert not (tmp_path / "m.kloom").exists()
        else:
            assert run.returncode == DONE, f"{megabytes} MB: exit code {run.returncode}\n{run.stderr}"
            (tmp_path / "m.kloom").unlink()
    # Two buffers and the program itself; what is enough once stays enough.
    assert codes[0] == FAILED and codes[-3:] == [DONE] * 3
    assert codes == sorted(codes, reverse=True)


def test_threads_that_were_asked_for_are_refused_and_others_are_fewer(table, tmp_path):
    run = train(tmp_path, 900, "--method", "uniform", "--C", "1", "--threads", "8")
    assert run.returncode == FAILED
    assert "of 8 threads" in run.stderr and "--threads" in run.stderr
    assert train(tmp_path, 900, "--method", "uniform", "--C", "1").returncode == DONE


PYTHON = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
import sys
sys.path.insert(0, {package!r})
import kloom
try:
    kloom.UniformMKLClassifier(kernels="linear", C=1.0, n_jobs=1).fit([[float(i % 7), float(i % 3)] for i in range(60)], ["ab"[i % 2] for i in range(60)])
except MemoryError as error:
    print("refused:", error)
else:
    print("done")
"""


def test_python_refuses_with_a_sentence(tmp_path):
    package = os.path.join(os.path.dirname(PROGRAM), "python")
    if not os.path.isdir(os.path.join(package, "kloom")):
        pytest.skip("there is no Python package beside the program")
    answers = []
    # NumPy has an OpenBLAS of its own, which takes some address space first.
    for megabytes in (600, 700, 800, 1000, 1500, 3000):
        run = subprocess.run([sys.executable, "-c", PYTHON.format(bytes=megabytes * MEGABYTE, package=package)], cwd=tmp_path, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                             env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
        answers.append(run.stdout.split(":")[0].strip())
        assert answers[-1] in ("done", "refused") or "MemoryError" in run.stderr or "cannot allocate" in run.stderr, run.stderr
    assert answers[-1] == "done"
