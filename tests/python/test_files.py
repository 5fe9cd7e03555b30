# SPDX-License-Identifier: BSD-3-Clause
"""Models go to files and come back: pickle, joblib, and the command line in both directions."""
import copy
import csv
import io
import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

import kloom
from conftest import KERNELS, clouds

NAMES = ["a", "b", "c"]
CLASSIFIERS = ["BEMKLClassifier", "SimpleMKLClassifier", "LpMKLClassifier", "UniformMKLClassifier",
               "SingleKernelClassifier", "MulticlassMKLClassifier", "MKLDAClassifier", "UFOMKLClassifier"]
REGRESSORS = ["BEMKLRegressor", "SimpleMKLRegressor", "LpMKLRegressor", "UniformMKLRegressor", "SingleKernelRegressor"]
# The program reads decimal text that Python wrote with all digits and computes with the same library, so its scores are
# the same numbers; only what it prints is rounded.
PRINTED = 1e-9


def frame(classes=2):
    X, y = clouds(classes=classes)
    return pd.DataFrame(X, columns=NAMES), np.array(["healthy", "sick", "unsure"])[y]


def table(path, X, y, target="label"):
    X.assign(**{target: y}).to_csv(path, index=False, float_format="%.17g")


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_pickle_joblib_copy_and_file_keep_every_score(name, tmp_path):
    X, y = frame(classes=3)
    y = y if name in CLASSIFIERS else X["a"] ** 2
    est = getattr(kloom, name)(kernels=KERNELS).fit(X, y)
    joblib.dump(est, tmp_path / "model.joblib")
    est.save(tmp_path / "model.file")
    others = [pickle.loads(pickle.dumps(est)), copy.deepcopy(est), joblib.load(tmp_path / "model.joblib"),
              kloom.load(tmp_path / "model.file")]
    for other in others:
        assert type(other) is type(est)
        assert np.array_equal(other.predict(X), est.predict(X))
        if name in CLASSIFIERS:
            assert np.array_equal(other.decision_function(X), est.decision_function(X))
            assert list(other.classes_) == list(est.classes_)
        assert np.array_equal(other.kernel_weights_, est.kernel_weights_)
        assert list(other.feature_names_in_) == NAMES
    loaded = others[-1]
    skipped = {"kernels", "views", "n_jobs", "random_state"}
    assert {k: v for k, v in loaded.get_params().items() if k not in skipped} == {
        k: v for k, v in est.get_params().items() if k not in skipped}


@pytest.mark.parametrize("method, name, options", [
    ("bemkl", "BEMKLClassifier", {}),
    ("simplemkl", "SimpleMKLClassifier", {"C": 3.0}),
    ("lp-mkl", "LpMKLClassifier", {"norm": 1.5}),
    ("uniform", "UniformMKLClassifier", {}),
    ("mcmkl", "MulticlassMKLClassifier", {"tol": 1e-4}),
    ("mkl-da", "MKLDAClassifier", {}),
    ("ufo-mkl", "UFOMKLClassifier", {"reg_lambda": 0.01}),
])
def test_python_and_the_program_learn_the_same(method, name, options, tmp_path, kloom_program):
    X, y = frame()
    table(tmp_path / "data.csv", X, y)
    est = getattr(kloom, name)(kernels=KERNELS, **options).fit(X, y)
    flags = {"tol": "--tolerance", "reg_lambda": "--lambda"}
    said = [word for k, v in options.items() for word in (flags.get(k, f"--{k}"), v)]
    kloom_program("train", "data.csv", "--method", method, "--kernels", KERNELS, *said, "-o", "cli.model", "--quiet")
    from_program = kloom.load(tmp_path / "cli.model")
    assert type(from_program) is type(est)
    assert np.array_equal(from_program.decision_function(X), est.decision_function(X))

    est.save(tmp_path / "python.model")
    rows = read_csv(kloom_program("predict", "python.model", "data.csv", "--quiet"))
    assert [row["label"] for row in rows] == list(est.predict(X))
    score = next(key for key in rows[0] if key.startswith("score"))
    assert np.allclose([float(row[score]) for row in rows], est.decision_function(X), rtol=PRINTED, atol=PRINTED)
    certificate = json.loads(kloom_program("check", "python.model", "data.csv", "--target", "label", "--json", "--quiet"))
    assert certificate


def test_regression_in_both_directions(tmp_path, kloom_program):
    X, _ = frame()
    y = np.sin(X["a"]) + X["b"]
    table(tmp_path / "data.csv", X, y, target="y")
    est = kloom.BEMKLRegressor(kernels=KERNELS).fit(X, y).save(tmp_path / "python.model")
    rows = read_csv(kloom_program("predict", "python.model", "data.csv", "--quiet"))
    value = next(key for key in rows[0] if key not in ("id",))
    assert np.allclose([float(row[value]) for row in rows], est.predict(X), rtol=1e-6)
    kloom_program("train", "data.csv", "--target", "y", "--method", "bemkl", "--kernels", KERNELS, "-o", "cli.model", "--quiet")
    loaded = kloom.load(tmp_path / "cli.model")
    assert np.array_equal(loaded.predict(X), est.predict(X))
    assert (loaded.predict(X, return_std=True)[1] > 0).all()


def test_precomputed_kernels_in_both_directions(tmp_path, kloom_program):
    X, y = frame()
    K = np.stack([X.values @ X.values.T, np.exp(-((X.values[:, None] - X.values[None]) ** 2).sum(axis=2))], axis=2)
    np.save(tmp_path / "first.npy", K[:, :, 0])
    np.save(tmp_path / "second.npy", K[:, :, 1])
    bank = kloom.KernelBank({"first": K[:, :, 0], "second": K[:, :, 1]})
    est = kloom.SimpleMKLClassifier(kernels="precomputed").fit(bank, y).save(tmp_path / "python.model")
    rows = read_csv(kloom_program("predict", "python.model", "--kernel-file", "first.npy", "--kernel-file", "second.npy",
                                  "--quiet"))
    assert [row["label"] for row in rows] == list(est.predict(bank))
    pd.DataFrame({"label": y}).to_csv(tmp_path / "labels.csv", index=False)
    kloom_program("train", "labels.csv", "--kernel-file", "first.npy", "--kernel-file", "second.npy", "--method", "simplemkl",
                  "-o", "cli.model", "--quiet")
    loaded = kloom.load(tmp_path / "cli.model")
    assert loaded.kernels == "precomputed"
    assert np.array_equal(loaded.decision_function(K), est.decision_function(K))


def test_normalised_kernels_of_the_program(tmp_path, kloom_program):
    X, y = frame()
    np.save(tmp_path / "K.npy", X.values @ X.values.T)
    pd.DataFrame({"label": y}).to_csv(tmp_path / "labels.csv", index=False)
    kloom_program("train", "labels.csv", "--kernel-file", "K.npy", "--kernels", "precomputed(normalise=unit-trace)",
                  "--method", "simplemkl", "-o", "cli.model", "--quiet")
    rows = read_csv(kloom_program("predict", "cli.model", "--kernel-file", "K.npy", "--quiet"))
    found = kloom.load(tmp_path / "cli.model").decision_function([X.values @ X.values.T])
    score = next(key for key in rows[0] if key.startswith("score"))
    assert np.allclose([float(row[score]) for row in rows], found, rtol=PRINTED, atol=PRINTED)


def test_models_of_the_program_with_text_and_missing_values(tmp_path, kloom_program):
    X, y = frame()
    X["colour"] = np.where(np.arange(len(X)) % 3 == 0, "red", "blue")
    X.loc[3, "b"] = np.nan
    X.assign(label=y).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    kloom_program("train", "data.csv", "--categorical", "onehot", "--impute", "mean", "--kernels", "linear; rbf(width=1)",
                  "--method", "uniform", "-o", "cli.model", "--quiet")
    rows = read_csv(kloom_program("predict", "cli.model", "data.csv", "--quiet"))
    est = kloom.load(tmp_path / "cli.model")
    assert list(est.predict(X[["colour", "c", "b", "a"]])) == [row["label"] for row in rows]
    with pytest.raises(ValueError, match="text columns colour; give X as a DataFrame"):
        est.predict(X[NAMES].values)
    with pytest.raises(ValueError, match="'b', which X does not have"):
        est.predict(X[["a", "c", "colour"]])


def test_classes_of_a_file(tmp_path):
    X, y = clouds(classes=3)
    for names, kind in (([3, 1, 2], int), ([1.0, 2.0, -3.0], float), (["a", "b", "c"], str)):
        est = kloom.UniformMKLClassifier(kernels="linear").fit(X, np.array(names)[y]).save(tmp_path / "model.file")
        loaded = kloom.load(tmp_path / "model.file")
        assert np.array_equal(loaded.classes_, est.classes_) and isinstance(loaded.classes_[0].item(), kind)
    est = kloom.UniformMKLClassifier(kernels="linear").fit(X, y == 1).save(tmp_path / "model.file")
    assert kloom.load(tmp_path / "model.file").predict(X).dtype == bool


def test_bad_files(tmp_path):
    (tmp_path / "no.model").write_bytes(b"this is no model")
    with pytest.raises((OSError, ValueError), match="no.model"):
        kloom.load(tmp_path / "no.model")
    with pytest.raises((OSError, ValueError), match="absent.model"):
        kloom.load(tmp_path / "absent.model")
    X, y = clouds()
    est = kloom.UniformMKLClassifier(kernels="linear").fit(X, y)
    with pytest.raises((OSError, ValueError), match="folder does not exist"):
        est.save(tmp_path / "none" / "model.file")
    state = bytearray(pickle.dumps(est._model))
    state[len(state) // 2] ^= 1
    with pytest.raises((OSError, ValueError)):
        pickle.loads(bytes(state))
