# SPDX-License-Identifier: BSD-3-Clause
"""Data that breaks a rule: exit code 2 and a sentence that says what, where, and what to do."""
import numpy
import pytest
from conftest import FAILED, MISTAKE

GOOD = "x1,x2,label\n1,2,a\n2,1,b\n3,5,a\n4,1,b\n"


def replaced(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


CASES = {
    "empty file": ("", ["data.csv"]),
    "header only": ("x1,x2,label\n", ["data.csv"]),
    "one class": (GOOD.replace(",b", ",a"), ["'a'"]),
    "missing value": (replaced("2,1,b", ",1,b"), ["x1", "3", "--impute"]),
    "not a number": (replaced("2,1,b", "nan,1,b"), ["x1", "3"]),
    "infinite": (replaced("2,1,b", "inf,1,b"), ["x1", "3"]),
    "ragged row": (replaced("2,1,b", "2,1,9,b"), ["3"]),
    "short row": (replaced("2,1,b", "2,1"), ["3"]),
    "duplicate columns": (GOOD.replace("x1,x2", "x1,x1"), ["x1"]),
    "text column": (replaced("2,1,b", "two,1,b"), ["x1", "two", "--categorical onehot"]),
    "no label at all": ("x1,y\n1,\n2,\n3,\n4,\n", ["no sample has a label", "'y'", "--target"]),
    "no target": (GOOD.replace("label", "outcome"), ["--target", "outcome"]),
    "two possible targets": (GOOD.replace("x2", "class"), ["class", "label"]),
    "open quote": (replaced("2,1,b", '2,1,"b'), ["quot"]),
    "numbers beyond range": (replaced("2,1,b", "1e999,1,b"), ["x1", "3"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_tables(kloom, tmp_path, name):
    text, words = CASES[name]
    (tmp_path / "data.csv").write_text(text)
    strict = ["--impute", "none", "--categorical", "refuse"]
    error = kloom("train", "data.csv", "--kernels", "linear", "-o", "m.kloom", *strict, code=MISTAKE).sentence()
    for word in words:
        assert word in error, f"{word!r} is not in: {error}"
    assert not (tmp_path / "m.kloom").exists()


def test_binary_noise_as_a_table(kloom, tmp_path):
    (tmp_path / "data.csv").write_bytes(bytes(range(256)) * 8)
    kloom("train", "data.csv", code=MISTAKE)
    kloom("info", "data.csv", code=MISTAKE)


def test_latin1_names_in_json(kloom, tmp_path):
    (tmp_path / "data.csv").write_bytes(GOOD.replace(",a", ",\xe4rgerlich").encode("latin-1"))
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", "linear", "--iterations", 3, "-o", "m.kloom", "--json")
    assert len(result.json()["classes"]) == 2


def test_methods_refuse_tasks_that_they_do_not_do(kloom, tmp_path):
    tables = {"binary": GOOD, "multiclass": GOOD + "5,5,c\n", "regression": "x1,label\n1,0.5\n2,1.5\n3,2.25\n4,7.5\n"}
    for method in kloom("methods", "--json").json():
        for task in tables.keys() - set(method["tasks"].split(", ")):
            (tmp_path / "data.csv").write_text(tables[task])
            kind = "regression" if task == "regression" else "classes"
            error = kloom("train", "data.csv", "--method", method["name"], "--task", kind, code=MISTAKE).sentence()
            assert method["name"] in error and task in error


def test_unknown_names(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(GOOD)
    assert "label" in kloom("train", "data.csv", "--target", "lable", code=MISTAKE).err
    assert "c" in kloom("train", "data.csv", "--positive", "c", code=MISTAKE).err
    assert "x9" in kloom("train", "data.csv", "--kernels", "linear on x9", code=MISTAKE).err
    assert "weights" in kloom("train", "data.csv", "--weight", "weights", code=MISTAKE).err


def test_missing_label(kloom, tmp_path):
    """Used as a sample without a label by a method that can and was asked for, left out with a sentence by the others."""
    (tmp_path / "data.csv").write_text(GOOD.replace("2,1,b", "2,1,") + "5,5,b\n6,1,b\n")
    for method in (["--method", "simplemkl"], []):
        said = kloom("train", "data.csv", "--kernels", "linear", *method, "-o", "m.kloom").err
        assert "1 of" in said and "no value in the target" in said and "line 3" in said
    assert "without a label 1" in kloom("train", "data.csv", "--kernels", "linear", "--method", "bemkl", "-o", "m.kloom").err


def test_missing_files(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(GOOD)
    for arguments in (["train", "nowhere.csv"], ["predict", "nowhere.kloom", "data.csv"],
                      ["check", "nowhere.kloom", "data.csv"], ["info", "nowhere.kloom"],
                      ["train", "--view", "a=nowhere.csv"], ["train", "data.csv", "--kernel-file", "nowhere.npy"],
                      ["kernels", "build", "nowhere.csv"]):
        assert "nowhere" in kloom(*arguments, code=MISTAKE).err


def test_new_data_that_lacks_a_feature(kloom, model, tmp_path):
    (tmp_path / "new.csv").write_text("x1,X2,x3\n1,2,3\n")
    assert "x2" in kloom("predict", "model.kloom", "new.csv", code=MISTAKE).err


def test_new_data_with_text_or_holes(kloom, model, tmp_path):
    (tmp_path / "new.csv").write_text("x1,x2,x3\n1,2,3\n1,two,3\n")
    error = kloom("predict", "model.kloom", "new.csv", code=MISTAKE).err
    assert "x2" in error
    (tmp_path / "new.csv").write_text("x1,x2,x3\n1,2,3\n1,,3\n")
    assert "'x2' (1)" in kloom("predict", "model.kloom", "new.csv").err
    kloom("train", "data.csv", "--impute", "none", "--kernels", "linear", "--method", "uniform", "-o", "strict.kloom")
    assert "x2" in kloom("predict", "strict.kloom", "new.csv", code=MISTAKE).err


def test_kernel_files_of_the_wrong_shape(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(GOOD)
    numpy.save(tmp_path / "K.npy", numpy.eye(5))
    assert "5" in kloom("train", "data.csv", "--kernel-file", "K.npy", "--kernels", "precomputed", code=MISTAKE).err
    indefinite = -numpy.eye(4)
    numpy.save(tmp_path / "K.npy", indefinite)
    kloom("train", "data.csv", "--kernel-file", "K.npy", "--kernels", "precomputed", code=MISTAKE)
    holes = numpy.eye(4)
    holes[1, 2] = numpy.nan
    numpy.save(tmp_path / "K.npy", holes)
    kloom("train", "data.csv", "--kernel-file", "K.npy", "--kernels", "precomputed", code=MISTAKE)


def test_damaged_archive(kloom, tmp_path):
    (tmp_path / "data.csv.gz").write_bytes(b"\x1f\x8b\x08\x00broken")
    kloom("train", "data.csv.gz", code=FAILED)


def test_folder_in_place_of_a_file(kloom, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    kloom("info", "folder.csv", code=MISTAKE)
