# SPDX-License-Identifier: BSD-3-Clause
"""partial_fit: batches are a stream, and a stream is what the program learns."""
import csv
import io
import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import kloom
from conftest import clouds

KERNELS = "rbf(gamma=2^-3..2^3); laplacian(gamma=0.5)"
ONLINE = ["MKLDAClassifier", "UFOMKLClassifier"]


def in_batches(est, X, y, sizes, classes):
    start = 0
    for size in sizes:
        est.partial_fit(X[start:start + size], y[start:start + size], classes=classes)
        start += size
    return est


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("classes", [2, 3])
def test_batches_do_not_matter_after_the_first(name, classes):
    X, y = clouds(samples=400, classes=classes)
    labels = np.arange(classes)
    cls = getattr(kloom, name)
    once = in_batches(cls(kernels=KERNELS), X, y, [128, 272], labels)
    often = in_batches(cls(kernels=KERNELS), X, y, [128, 128, 128, 16], labels)
    assert np.allclose(once.decision_function(X), often.decision_function(X), rtol=1e-9, atol=1e-12)
    assert once.n_samples_seen_ == 400 and 0 < once.n_support_vectors_ <= 400
    assert once.score(X, y) > (0.75 if classes == 2 else 0.6)
    assert 0.5 < once.prequential_score_ <= 1


@pytest.mark.parametrize("name", ONLINE)
def test_pickled_streams_go_on(name):
    X, y = clouds(samples=300)
    cls = getattr(kloom, name)
    whole = in_batches(cls(kernels=KERNELS), X, y, [128, 128], [0, 1])
    half = in_batches(cls(kernels=KERNELS), X, y, [128], [0, 1])
    again = pickle.loads(pickle.dumps(half)).partial_fit(X[128:256], y[128:256])
    assert np.allclose(whole.decision_function(X), again.decision_function(X), rtol=1e-9, atol=1e-12)


def test_the_program_goes_on_with_a_stream_of_python(tmp_path):
    X, y = clouds(samples=384)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    est = kloom.MKLDAClassifier(kernels=KERNELS)
    est.partial_fit(frame[:128], y[:128], classes=[0, 1]).save(tmp_path / "state.model")
    text = frame[128:].assign(label=y[128:]).to_csv(index=False, float_format="%.17g")
    program = os.environ["KLOOM_PROGRAM"]
    subprocess.run([program, "stream", "--resume", "-o", "state.model", "--format", "csv", "--target", "label"], input=text,
                   text=True, cwd=tmp_path, check=True, capture_output=True)
    loaded = kloom.load(tmp_path / "state.model")
    est.partial_fit(frame[128:], y[128:])
    assert np.allclose(loaded.decision_function(frame), est.decision_function(frame), rtol=1e-9, atol=1e-12)
    frame.assign(label=y).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    done = subprocess.run([program, "predict", "state.model", "data.csv", "--quiet"], cwd=tmp_path, check=True, text=True,
                          capture_output=True)
    assert [row["label"] for row in csv.DictReader(io.StringIO(done.stdout))] == [str(c) for c in est.predict(frame)]


def test_ctrl_c_ends_a_batch_as_if_it_had_not_come(ctrl_c):
    X, y = clouds(samples=200000)
    est = kloom.MKLDAClassifier(kernels="rbf(gamma=2^-3..2^3, count=50)").partial_fit(X[:300], y[:300], classes=[0, 1])
    before = est.decision_function(X[:50])
    ctrl_c(0.5)
    with pytest.raises(KeyboardInterrupt):
        est.partial_fit(X, y)
    assert est.n_samples_seen_ == 300 and np.array_equal(est.decision_function(X[:50]), before)
    est.partial_fit(X[300:600], y[300:600])
    whole = in_batches(kloom.MKLDAClassifier(kernels=est.kernels), X, y, [300, 300], [0, 1])
    assert np.allclose(whole.decision_function(X[:50]), est.decision_function(X[:50]), rtol=1e-9, atol=1e-12)
    assert est.n_samples_seen_ == 600


def test_a_class_that_has_not_come_yet():
    X, y = clouds(samples=120)
    est = kloom.MKLDAClassifier(kernels=KERNELS).partial_fit(X, y, classes=[2, 1, 0])
    assert list(est.classes_) == [0, 1, 2] and est.decision_function(X).shape == (120, 3)
    assert set(est.predict(X)) <= {0, 1, 2}
    only = kloom.UFOMKLClassifier(kernels=KERNELS).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    assert (only.predict(X[y == 1]) == 1).mean() > 0.9


def test_budget():
    X, y = clouds(samples=400)
    est = in_batches(kloom.MKLDAClassifier(kernels=KERNELS, budget=20), X, y, [128, 272], [0, 1])
    assert est.n_support_vectors_ <= 20


def test_mistakes():
    X, y = clouds()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        kloom.MKLDAClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        kloom.MKLDAClassifier().partial_fit(X, y, classes=[0])
    with pytest.raises(ValueError, match="class 1, which is not among the classes"):
        kloom.MKLDAClassifier().partial_fit(X, y, classes=[0, 7])
    with pytest.warns(UserWarning, match="begins anew"):
        anew = kloom.MKLDAClassifier(kernels=KERNELS).fit(X[:40], y[:40]).partial_fit(X, y)
    assert anew.n_samples_seen_ == len(X)
    with pytest.raises(ValueError, match="partial_fit computes kernels itself"):
        kloom.MKLDAClassifier(kernels="precomputed").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="linear|stream"):
        kloom.MKLDAClassifier(kernels="linear").partial_fit(X, y, classes=[0, 1])
    fitted = kloom.MKLDAClassifier(kernels=KERNELS).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.partial_fit(X[:, :2], y)
    fitted.fit(X, y)   # forgets the stream
    assert not fitted._model.is_stream


@pytest.mark.parametrize("approx", ["rff", "nystroem"])
def test_finite_features_keep_no_support_vectors(approx):
    X, y = clouds(samples=600, classes=2)
    clf = kloom.MKLDAClassifier(kernels="rbf(gamma=2^-4..2^1)", approx=approx, features=64, n_jobs=1)
    for rows in (slice(0, 300), slice(300, 600)):
        clf.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert clf.n_support_vectors_ == 0
    assert clf.score(X, y) > 0.8   # chance is a half
