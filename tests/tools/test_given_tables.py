# SPDX-License-Identifier: BSD-3-Clause
"""The programs that repeat tables on data which cannot be shipped, on made-up folders of the same layout: they read what the public
files hold, every row is there with a number, and learning beats chance where the made-up data can be learned."""
import os
import pathlib
import re
import subprocess

import numpy
import pytest
import scipy.io

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["KLOOM_PROGRAM"]


def study(name, folder, *options, code=0):
    told = subprocess.run([str(CHECKOUT / "bench" / "reproduce" / name), str(folder), "--program", PROGRAM, *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert told.returncode == code, told.stderr
    return told.stdout if code == 0 else told.stderr


def rows(text):
    """Name → our number, of the lines that have a published value."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"(\S.{0,36}?)\s{2,}(-?\d+\.\d+)(?: ± \d+\.\d)?\s{3}\S", line)
        if match:
            found[match[1]] = float(match[2])
    return found


def clouds(per_class, classes, seed, noise=0.35):
    generator = numpy.random.default_rng(seed)
    labels = numpy.repeat(numpy.arange(classes), per_class)
    return numpy.eye(classes)[labels] + noise * generator.normal(size=(len(labels), classes)), labels


def distances(x, seed):
    generator = numpy.random.default_rng(seed)
    x = x + 0.2 * generator.normal(size=x.shape)
    return numpy.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))


def kernels(x, count, seed):
    square = [distances(x, seed + k) ** 2 for k in range(count)]
    return numpy.stack([numpy.exp(-d / d.mean()) for d in square], axis=2)


def test_flowers17(tmp_path):
    x, _ = clouds(6, 17, 1)
    names = iter(range(100))
    for file, arrays in (("distancematrices17gcfeat06", ("D_colourgc", "D_shapegc", "D_texturegc")),
                         ("distancematrices17itfeat08", ("D_hog", "D_hsv", "D_siftint", "D_siftbdy"))):
        scipy.io.savemat(tmp_path / f"{file}.mat", {name: distances(x, next(names)) for name in arrays})
    splits = {}
    for k in (1, 2, 3):
        places = numpy.arange(102).reshape(17, 6) + 1
        splits[f"trn{k}"], splits[f"val{k}"] = places[:, [k % 6, (k + 1) % 6, (k + 2) % 6]].ravel(), places[:, [(k + 3) % 6]].ravel()
        splits[f"tst{k}"] = places[:, [(k + 4) % 6, (k + 5) % 6]].ravel()
    scipy.io.savemat(tmp_path / "datasplits.mat", splits)
    found = rows(study("flowers17", tmp_path, "--widths", "5"))
    assert set(found) == {"bemkl one-versus-all, accuracy", "bemkl multiclass, accuracy", "mkl-da literal, accuracy", "mkl-da plain, accuracy",
                          "mkl-da soft, accuracy", "lp-beta, accuracy", "lp-beta, LP-B, accuracy"}
    assert min(found["bemkl multiclass, accuracy"], found["lp-beta, accuracy"]) > 50   # chance: 6 %


def test_flowers102(tmp_path):
    x, labels = clouds(10, 5, 2)
    scipy.io.savemat(tmp_path / "distancematrices102.mat", {name: distances(x, k) for k, name in
                                                            enumerate(("Dhog", "Dhsv", "Dsiftint", "Dsiftbdy"))})
    scipy.io.savemat(tmp_path / "imagelabels.mat", {"labels": labels[None] + 1})
    places = numpy.arange(50) + 1
    scipy.io.savemat(tmp_path / "setid.mat", {"trnid": places[places % 5 < 2][None], "valid": places[places % 5 == 2][None],
                                              "tstid": places[places % 5 > 2][None]})
    found = rows(study("flowers102", tmp_path))
    assert len(found) == 6
    assert found["bemkl multiclass, AUC"] > 0.8 and found["bemkl multiclass, EER"] < 0.4 and found["bemkl multiclass, accuracy"] > 50


def test_caltech101(tmp_path):
    for split in ("one", "two"):
        (tmp_path / split).mkdir()
        x, labels = clouds(10, 3, 3)
        scipy.io.savemat(tmp_path / split / "K.mat", {"K": kernels(x, 12, 5)})
        lines = [f"c{label},{'test' if i % 2 else 'train'}" for i, label in enumerate(labels)]
        (tmp_path / split / "images.csv").write_text("label,part\n" + "\n".join(lines) + "\n")
    found = rows(study("caltech101", tmp_path))
    assert len(found) == 8 and found["simplemkl, accuracy"] > 50 and found["uniform, accuracy"] > 50


def test_locations(tmp_path):
    for name, classes in (("psortPos", 3), ("psortNeg", 3), ("plant", 3)):
        x, labels = clouds(12, classes, 4)
        scipy.io.savemat(tmp_path / f"{name}_Kmatrix.mat", {"KH": kernels(x, 21, 6), "Y": labels[:, None] + 1.0})
    text = study("psort", tmp_path, "--repeats", "1")
    for name in ("psortPos", "psortNeg"):
        assert text.count(f"{name}: ") == 2
    found = rows(text)
    assert {"samkl literal", "samkl", "simplemkl", "lp-mkl, norm 2", "lp-mkl, norm 4", "lp-mkl, norm 8", "uniform", "mcmkl"} <= set(found)
    assert found["mcmkl"] > 50
    assert rows(study("plant", tmp_path, "--repeats", "1"))["mcmkl"] > 20   # chance: 0


def test_membrane(tmp_path):
    x, labels = clouds(20, 2, 7)
    scipy.io.savemat(tmp_path / "membrane_Kmatrix.mat", {"KH": kernels(x, 3, 8), "Y": labels[:, None] * 2.0 - 1})
    text = study("membrane", tmp_path, "--repeats", "2")
    assert set(rows(text)) == {"simplemkl", "mcmkl", "uniform"}
    alone = re.findall(r"kernel \d: held-out accuracy alone (\S+), weight (\S+)", text)
    assert len(alone) == 3 and abs(sum(float(weight) for _, weight in alone) - 1) < 2e-3
    assert all(float(accuracy) > 0.5 for accuracy, _ in alone)


def test_gisette(tmp_path):
    generator = numpy.random.default_rng(9)
    for part, count in (("train", 120), ("valid", 60)):
        labels = generator.choice([-1, 1], size=count)
        x = (50 * generator.random(size=(count, 8)) + 40 * labels[:, None] * (numpy.arange(8) < 4) + 60).astype(int)
        x[x < 40] = 0
        (tmp_path / f"gisette_{part}.data").write_text("".join(" ".join(map(str, row)) + " \n" for row in x))
        (tmp_path / f"gisette_{part}.labels").write_text("".join(f"{label}\n" for label in labels))
    found = rows(study("gisette", tmp_path))
    assert len(found) == 6 and found["mkl-da soft, accuracy"] > 80


@pytest.mark.parametrize("name", ["flowers17", "flowers102", "caltech101", "psort", "plant", "membrane", "gisette"])
def test_a_folder_without_the_files_is_named(tmp_path, name):
    assert str(tmp_path) in study(name, tmp_path, code=1)
