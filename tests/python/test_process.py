# SPDX-License-Identifier: BSD-3-Clause
"""The package in a process with others: workers, forks, threads, Ctrl-C, the order of imports, NumPy's BLAS."""
import os
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import kloom
from conftest import KERNELS, clouds


def run_python(code, **environment):
    """A fresh interpreter, with a time limit: what hangs fails."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], text=True, capture_output=True, timeout=120,
                          env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_backends(backend):
    X, y = clouds()
    clf = kloom.BEMKLClassifier(kernels=KERNELS, n_jobs=2)
    alone = cross_val_score(clf.fit(X, y), X, y, cv=4)   # the parent has used its threads before it forks
    with joblib.parallel_backend(backend, n_jobs=2):
        assert np.array_equal(cross_val_score(clf, X, y, cv=4), alone)


def test_a_forked_child_does_not_hang():
    run_python("""
        import os, numpy as np, kloom
        X = np.random.RandomState(0).normal(size=(120, 5))
        y = (X[:, 0] > 0).astype(int)
        wanted = kloom.BEMKLClassifier(kernels="rbf(width=1..4) on all, each", n_jobs=2).fit(X, y).predict(X)
        child = os.fork()
        if child == 0:
            found = kloom.BEMKLClassifier(kernels="rbf(width=1..4) on all, each", n_jobs=2).fit(X, y).predict(X)
            os._exit(0 if (found == wanted).all() else 3)
        assert os.waitpid(child, 0)[1] == 0
    """)


def test_a_child_forked_in_the_middle_of_a_fit_has_a_free_lock():
    run_python("""
        import os, threading, time, numpy as np, kloom
        X = np.random.RandomState(0).normal(size=(700, 5))
        y = (X[:, 0] > 0).astype(int)
        def fit():
            kloom.BEMKLClassifier(kernels="rbf(width=1..8)", tol=0, max_iter=12, variance=False, n_jobs=2).fit(X, y)
        import warnings; warnings.simplefilter("ignore")
        thread = threading.Thread(target=fit)
        thread.start()
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            kloom.UniformMKLClassifier(kernels="linear").fit(X[:50], y[:50])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
    """)


def test_threads_fit_at_the_same_time_and_get_their_own_answers():
    problems = [clouds(seed=seed) for seed in range(4)]
    wanted = [kloom.SimpleMKLClassifier(kernels=KERNELS).fit(X, y).decision_function(X) for X, y in problems]
    found = [None] * 4

    def fit(k):
        X, y = problems[k]
        found[k] = kloom.SimpleMKLClassifier(kernels=KERNELS, n_jobs=1 + k % 2).fit(X, y).decision_function(X)

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        assert np.allclose(found[k], wanted[k], rtol=1e-9, atol=1e-9)


def test_other_threads_run_while_a_fit_computes():
    X, y = clouds(samples=500)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    kloom.BEMKLClassifier(kernels="rbf(width=1..8)", n_jobs=1).fit(X, y)
    seconds = time.monotonic() - start
    done.set()
    thread.join()
    # With the GIL held there would be next to none.
    assert len(ticks) > 20 * seconds


def test_ctrl_c_ends_a_fit(ctrl_c):
    X, y = clouds(samples=1700)
    clf = kloom.BEMKLClassifier(kernels="rbf(width=1..8)", tol=0, max_iter=1000000)
    ctrl_c(1.0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_") or not hasattr(clf, "kernel_weights_")
    assert kloom.UniformMKLClassifier(kernels="linear").fit(X, y).score(X, y) > 0.7   # and everything still works


def test_what_a_callback_raises_comes_out(monkeypatch):
    X, y = clouds(samples=300)

    def broken(*_):
        raise ZeroDivisionError("from the callback")

    monkeypatch.setattr("kloom._progress.say_progress", broken)
    with pytest.raises(ZeroDivisionError, match="from the callback"):
        kloom.BEMKLClassifier(kernels="rbf(width=1..8)", tol=0, verbose=1, max_iter=100000).fit(X, y)


def test_verbose_speaks_and_silence_is_silent(capfd):
    X, y = clouds()
    kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    assert capfd.readouterr() == ("", "")
    kloom.BEMKLClassifier(kernels=KERNELS, verbose=1).fit(X, y)
    assert "bemkl: " in capfd.readouterr().out


ORDER = """
    import sys
    for name in sys.argv[1:] or {names!r}:
        __import__(name)
    import hashlib, os, numpy as np, kloom
    A = np.random.RandomState(0).normal(size=(300, 300))
    product = hashlib.sha256((A @ A).tobytes()).hexdigest()
    y = (A[:, 0] > 0).astype(int)
    scores = kloom.BEMKLClassifier(kernels="rbf(width=1..4)", n_jobs=2).fit(A[:, :8], y).decision_function(A[:, :8])
    print(product, hashlib.sha256(scores.tobytes()).hexdigest(), kloom.machine_info()["blas_core"],
          os.environ.get("OMP_WAIT_POLICY"), os.environ.get("OPENBLAS_CORETYPE"))
"""


def test_the_order_of_imports_changes_nothing():
    environment = {"OMP_WAIT_POLICY": "passive"}
    orders = (["kloom", "numpy", "sklearn.svm"], ["numpy", "kloom"], ["sklearn.svm", "numpy", "kloom"])
    answers = {run_python(ORDER.format(names=names), **environment) for names in orders}
    assert len(answers) == 1
    without = textwrap.dedent("""
        import hashlib, numpy as np
        A = np.random.RandomState(0).normal(size=(300, 300))
        print(hashlib.sha256((A @ A).tobytes()).hexdigest())
    """)
    assert run_python(without).strip() == answers.pop().split()[0], "NumPy's own BLAS must be left as it was"


def test_the_environment_is_left_alone():
    code = """
        import os
        os.environ.pop("OMP_WAIT_POLICY", None)
        before = dict(os.environ)
        import kloom
        assert dict(os.environ) == before, set(os.environ) ^ set(before)
        assert kloom.machine_info()["blas_core_suits"]
    """
    run_python(code)


def test_threads_follow_n_jobs(monkeypatch):
    X, y = clouds(samples=1700)
    for n_jobs, said, wanted in ((1, None, 1), (2, None, 2), (None, "1", 1), (None, "2", 2)):
        if said is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", said)
        clf = kloom.UniformMKLClassifier(kernels="rbf(width=1..8)", n_jobs=n_jobs, probability=False).fit(X, y)
        assert clf.report_["threads"] == wanted
