# SPDX-License-Identifier: BSD-3-Clause
"""An installed wheel beside scikit-learn: how long the import takes, and threads of both in one process.

    python wheel_process.py      asked by tools/test-packages, in the environment of the wheel
"""
import os
import sys
import time

MOST_SECONDS = 0.3   # of the processor, beyond scikit-learn's own import

os.environ["OMP_NUM_THREADS"] = "2"
import sklearn.ensemble  # noqa: E402
import sklearn.model_selection  # noqa: E402

started = time.process_time()
import kloom  # noqa: E402

seconds = time.process_time() - started
print(f"import kloom: {seconds:.2f} s beyond scikit-learn's")
if seconds > MOST_SECONDS:
    sys.exit(f"that is more than {MOST_SECONDS} s")

from sklearn.datasets import load_breast_cancer  # noqa: E402

X, y = load_breast_cancer(return_X_y=True)


def both():
    """Scores of kloom, with two threads, and of a learner of scikit-learn that uses OpenMP as well."""
    model = kloom.UniformMKLClassifier(kernels="rbf(width=1..4)", C=1, probability=False, n_jobs=2).fit(X, y)
    trees = sklearn.ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    return model.decision_function(X).tobytes(), trees.predict_proba(X).tobytes()


if len({both() for _ in range(5)}) != 1:
    sys.exit("the results of one of them changed from one time to the next")
with open("/proc/self/maps", encoding="utf-8") as maps:
    loaded = sorted({os.path.basename(line.split()[-1]) for line in maps if "gomp" in line})
print("both give the same five times in one process; OpenMP:", ", ".join(loaded))
