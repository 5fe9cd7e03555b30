# SPDX-License-Identifier: BSD-3-Clause
"""Models go to files and come back: pickle, joblib, and the command line in both directions."""
import copy
import csv
import io
import json
import os
import pickle
import struct
import subprocess
import zlib

import joblib
import numpy as np
import pandas as pd
import pytest

import kloom
from conftest import KERNELS, POSITIVE, clouds
from kloom._options import ESTIMATORS
from kloom._words import PYTHON_NAMES

NAMES = ["a", "b", "c"]
# The program reads decimal text that Python wrote with all digits and computes with the same library, so its scores are
# the same numbers; only what it prints is rounded.
PRINTED = 1e-9


# Options other than the defaults where the defaults would take long, and some to see that they arrive.
OPTIONS = {
    "simplemkl": {"C": 3.0},
    "gmkl": {"C": 3.0},
    "lp-mkl": {"norm": 1.5},
    "mcmkl": {"tol": 1e-4},
    "ufo-mkl": {"reg_lambda": 0.01},
    "samkl": {"C": 1.0, "m0": "1", "updates": "one"},
    "lmkl": {"steps": 5},
}


def kernels_for(method):
    return POSITIVE if method == "gmkl" else KERNELS


def frame(classes=2):
    X, y = clouds(classes=classes)
    return pd.DataFrame(X, columns=NAMES), np.array(["healthy", "sick", "unsure"])[y]


def table(path, X, y, target="label"):
    X.assign(**{target: y}).to_csv(path, index=False, float_format="%.17g")


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("method, kind", sorted(ESTIMATORS))
def test_pickle_joblib_copy_and_file_keep_every_score(method, kind, tmp_path):
    X, y = frame(classes=3)
    y = y if kind == "classes" else X["a"] ** 2
    est = ESTIMATORS[method, kind](kernels=kernels_for(method), **OPTIONS.get(method, {})).fit(X, y)
    joblib.dump(est, tmp_path / "model.joblib")
    est.save(tmp_path / "model.file")
    others = [pickle.loads(pickle.dumps(est)), copy.deepcopy(est), joblib.load(tmp_path / "model.joblib"),
              kloom.load(tmp_path / "model.file")]
    for other in others:
        assert type(other) is type(est)
        assert np.array_equal(other.predict(X), est.predict(X))
        if kind == "classes":
            assert np.array_equal(other.decision_function(X), est.decision_function(X))
            assert list(other.classes_) == list(est.classes_)
        assert np.array_equal(other.kernel_weights_, est.kernel_weights_)
        assert list(other.feature_names_in_) == NAMES
    loaded = others[-1]
    skipped = {"kernels", "views", "n_jobs", "random_state"}
    assert {k: v for k, v in loaded.get_params().items() if k not in skipped} == {
        k: v for k, v in est.get_params().items() if k not in skipped}


def in_cpp(*arguments):
    """Scores of a program that uses the C++ library alone."""
    done = subprocess.run([os.environ["KLOOM_CPP_SCORES"], *map(str, arguments)], text=True, capture_output=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr
    scores = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
    return scores[:, 0] if scores.shape[1] == 1 else scores


def said(method):
    """The options of a method as the library calls them."""
    names = {python: option for option, python in PYTHON_NAMES.items()}
    return {names.get(k, k): v for k, v in OPTIONS.get(method, {}).items()}


def flags(options):
    return [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", sorted(method for method, kind in ESTIMATORS if kind == "classes"))
def test_python_the_program_and_cpp_learn_the_same_classes(method, classes, tmp_path, kloom_program):
    X, y = frame(classes)
    table(tmp_path / "data.csv", X, y)
    est, options = ESTIMATORS[method, "classes"](kernels=kernels_for(method), **OPTIONS.get(method, {})).fit(X, y), said(method)
    kloom_program("train", "data.csv", "--method", method, "--kernels", kernels_for(method), *flags(options), "-o", "cli.model", "--quiet")
    from_program = kloom.load(tmp_path / "cli.model")
    assert type(from_program) is type(est)
    assert np.array_equal(from_program.decision_function(X), est.decision_function(X))
    scores = in_cpp(tmp_path / "data.csv", "label", method, kernels_for(method), *(f"{k}={v}" for k, v in options.items()))
    assert np.array_equal(scores, est._predictions(X)["scores"].squeeze())

    est.save(tmp_path / "python.model")
    rows = read_csv(kloom_program("predict", "python.model", "data.csv", "--quiet"))
    assert [row["label"] for row in rows] == list(est.predict(X))
    printed = [[float(v) for k, v in row.items() if k.startswith("score")] for row in rows]
    assert np.allclose(np.squeeze(printed), scores, rtol=PRINTED, atol=PRINTED)
    certificate = json.loads(kloom_program("check", "python.model", "data.csv", "--target", "label", "--json", "--quiet"))
    assert certificate


@pytest.mark.parametrize("method", sorted(method for method, kind in ESTIMATORS if kind == "numbers"))
def test_python_the_program_and_cpp_learn_the_same_numbers(method, tmp_path, kloom_program):
    X, _ = frame()
    y = np.sin(X["a"]) + X["b"]
    table(tmp_path / "data.csv", X, y, target="y")
    est, options = ESTIMATORS[method, "numbers"](kernels=kernels_for(method), **OPTIONS.get(method, {})).fit(X, y), said(method)
    est.save(tmp_path / "python.model")
    rows = read_csv(kloom_program("predict", "python.model", "data.csv", "--quiet"))
    value = next(key for key in rows[0] if key not in ("id",))
    assert np.allclose([float(row[value]) for row in rows], est.predict(X), rtol=1e-6)
    kloom_program("train", "data.csv", "--target", "y", "--method", method, "--kernels", kernels_for(method), *flags(options), "-o",
                  "cli.model", "--quiet")
    loaded = kloom.load(tmp_path / "cli.model")
    assert type(loaded) is type(est) and np.array_equal(loaded.predict(X), est.predict(X))
    scores = in_cpp(tmp_path / "data.csv", "y", method, kernels_for(method), *(f"{k}={v}" for k, v in options.items()))
    assert np.array_equal(scores, est.predict(X))
    if method == "bemkl":
        assert (loaded.predict(X, return_std=True)[1] > 0).all()


def test_several_targets_in_both_directions(tmp_path, kloom_program):
    X, _ = frame()
    Y = np.column_stack([np.sin(X["a"]), X["b"] - X["c"]])
    X.assign(u=Y[:, 0], v=Y[:, 1]).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    est = kloom.BEMKLRegressor(kernels=KERNELS).fit(X, Y)
    kloom_program("train", "data.csv", "--target", "u,v", "--method", "bemkl", "--kernels", KERNELS, "-o", "cli.model", "--quiet")
    loaded = kloom.load(tmp_path / "cli.model")
    assert loaded.predict(X).shape == Y.shape and np.array_equal(loaded.predict(X), est.predict(X))
    labels = (Y > 0).astype(int)
    X.assign(u=labels[:, 0], v=labels[:, 1]).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    est = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, labels)
    kloom_program("train", "data.csv", "--target", "u,v", "--method", "bemkl", "--kernels", KERNELS, "-o", "cli.model", "--quiet")
    loaded = kloom.load(tmp_path / "cli.model")
    assert np.array_equal(loaded.predict_proba(X), est.predict_proba(X))
    assert np.array_equal(loaded.predict(X), est.predict(X))


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


def rounded_kernels(X):
    """Two kernels whose mirror images differ by rounding, as those of other libraries do."""
    K = np.stack([X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))], axis=2)
    upper = np.triu_indices(len(X), 1)
    K[upper] = np.nextafter(K[upper], np.inf)
    return K


@pytest.mark.parametrize("method, options", [("uniform", {"C": 1.0}), ("simplemkl", {"C": 2.0}), ("bemkl", {})])
def test_given_kernels_have_the_same_bits_in_python_and_the_program(method, options, tmp_path, kloom_program):
    X, y = frame()
    K = rounded_kernels(X.values)
    new = {"all": K, "some": K[:7]}
    for name, rows in new.items():
        np.save(tmp_path / f"{name}.npy", rows)
    pd.DataFrame({"label": y}).to_csv(tmp_path / "labels.csv", index=False)
    words = [f"--{name}={value}" for name, value in options.items()]
    # The program would store kernels of low rank as factors for bemkl; in Python kernels stay as they are given.
    kloom_program("train", "labels.csv", "--kernel-file", "all.npy", "--kernels", "precomputed(normalise=none)", "--bank", "dense",
                  "--method", method, *words, "-o", "program.model", "--quiet")
    est = ESTIMATORS[method, "classes"](kernels="precomputed", **options).fit(K, y).save(tmp_path / "python.model")
    for name, rows in new.items():
        expected = est.decision_function(rows)
        for model in ["program.model", "python.model"]:
            assert np.array_equal(kloom.load(tmp_path / model).decision_function(rows), expected)
            printed = read_csv(kloom_program("predict", model, "--kernel-file", f"{name}.npy", "--quiet"))
            score = next(key for key in printed[0] if key.startswith("score"))
            assert np.array_equal([float(row[score]) for row in printed], expected)


def test_it_does_not_show_where_given_kernels_are(tmp_path, kloom_program):
    X, y = frame()
    K = rounded_kernels(X.values)
    np.save(tmp_path / "both.npy", K)
    for p, name in enumerate(["one", "two"]):
        np.save(tmp_path / f"{name}.npy", K[:, :, p])
    kloom.KernelBank(K).save(tmp_path / "bank.kloom")
    pd.DataFrame({"label": y}).to_csv(tmp_path / "labels.csv", index=False)
    expected = kloom.BEMKLClassifier(kernels="precomputed").fit(K, y).decision_function(K)
    for given in [list(np.moveaxis(K, 2, 0)), kloom.KernelBank(K), kloom.KernelBank.load(tmp_path / "bank.kloom")]:
        assert np.array_equal(kloom.BEMKLClassifier(kernels="precomputed").fit(given, y).decision_function(K), expected)
    for files in [["both.npy"], ["one.npy", "two.npy"], ["bank.kloom"]]:
        words = [word for name in files for word in ("--kernel-file", name)]
        kloom_program("train", "labels.csv", *words, "--kernels", "precomputed(normalise=none)", "--bank", "dense", "--method", "bemkl",
                      "-o", "program.model", "--quiet")
        assert np.array_equal(kloom.load(tmp_path / "program.model").decision_function(K), expected)


def test_functions_have_the_same_bits_in_python_and_the_program(tmp_path, kloom_program):
    X, y = frame()
    est = kloom.UniformMKLClassifier(kernels=[np.inner], C=1.0).fit(X.values, y).save(tmp_path / "python.model")
    np.save(tmp_path / "rows.npy", np.inner(X.values[:7], X.values))
    printed = read_csv(kloom_program("predict", "python.model", "--kernel-file", "rows.npy", "--quiet"))
    score = next(key for key in printed[0] if key.startswith("score"))
    assert np.array_equal([float(row[score]) for row in printed], est.decision_function(X.values[:7]))


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
    with pytest.raises(ValueError, match="one column of the model is not in this data: b"):
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
    for read in (kloom.load, kloom.KernelBank.load):
        with pytest.raises(FileNotFoundError, match="absent.model"):
            read(tmp_path / "absent.model")
        with pytest.raises(IsADirectoryError):
            read(tmp_path)
    X, y = clouds()
    est = kloom.UniformMKLClassifier(kernels="linear").fit(X, y)
    with pytest.raises((OSError, ValueError), match="there is no folder"):
        est.save(tmp_path / "none" / "model.file")
    state = bytearray(pickle.dumps(est._model))
    state[len(state) // 2] ^= 1
    with pytest.raises((OSError, ValueError)):
        pickle.loads(bytes(state))


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return open, (str(self.witness), "w")


def refused(path):
    with pytest.raises((OSError, ValueError), match=path.name) as error:
        kloom.load(path)
    return str(error.value)


def with_array(path, name, content):
    """A model file with one array more and right checksums."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + length]), data[8 + length:]
    sums = header.pop("kloom.block_crc")
    begin = sums["data_offsets"][0]
    body = body[:begin] + content
    header[name] = {"dtype": "U8", "shape": [len(content)], "data_offsets": [begin, begin + len(content)]}
    blocks = [zlib.crc32(body[k:k + (4 << 20)]) for k in range(0, len(body), 4 << 20)]
    tail = struct.pack(f"<{len(blocks)}q", *blocks)
    header["kloom.block_crc"] = {"dtype": "I64", "shape": [len(blocks)], "data_offsets": [len(body), len(body) + len(tail)]}
    header["__metadata__"]["checksum"] = "crc32:00000000"
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    front = struct.pack("<Q", len(text)) + text
    mark = b"crc32:%08x" % zlib.crc32(tail, zlib.crc32(front))
    path.write_bytes(front.replace(b"crc32:00000000", mark, 1) + body + tail)


def test_load_never_runs_what_a_file_holds(tmp_path):
    X, y = clouds()
    est = kloom.UniformMKLClassifier(kernels="linear").fit(X, y)
    witness = tmp_path / "it-ran"
    pickle.loads(pickle.dumps(Bomb(witness)))
    assert witness.exists(), "the bomb of this test is none"
    witness.unlink()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        (tmp_path / "bomb.pickle").write_bytes(pickle.dumps(Bomb(witness), protocol))
        assert "pickle" in refused(tmp_path / "bomb.pickle")
    (tmp_path / "old.pickle").write_bytes(pickle.dumps(Bomb(witness), 0))
    refused(tmp_path / "old.pickle")
    (tmp_path / "whole.pickle").write_bytes(pickle.dumps(est))
    assert "pickle" in refused(tmp_path / "whole.pickle")
    joblib.dump(Bomb(witness), tmp_path / "bomb.joblib", compress=3)
    refused(tmp_path / "bomb.joblib")
    np.save(tmp_path / "bomb.npy", np.array([Bomb(witness)], dtype=object), allow_pickle=True)
    refused(tmp_path / "bomb.npy")
    with pytest.raises((OSError, ValueError)):
        kloom.KernelBank.load(tmp_path / "bomb.pickle")
    # A model that is right, checksums too, but for a pickle among its arrays.
    for name in ("extra", "__reduce__"):
        est.save(tmp_path / "model.kloom")
        with_array(tmp_path / "model.kloom", name, pickle.dumps(Bomb(witness)))
        assert name in refused(tmp_path / "model.kloom"), "the forger of this test forges badly"
    assert not witness.exists(), "a file ran code"
