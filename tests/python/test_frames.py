# SPDX-License-Identifier: BSD-3-Clause
"""DataFrames as people have them: texts, categories, truth values, dates, gaps; the same answers as the command line."""
import csv
import io
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import kloom


def mixed(rows=80, seed=1):
    """A table with every kind of column; the label follows from colour, size and note."""
    generator = np.random.RandomState(seed)
    words = np.array("box lid heavy light old new round flat".split())
    colour = generator.choice(["red", "green", "blue"], rows).astype(object)
    size = generator.normal(size=rows)
    heavy = np.array(["heavy" in " ".join(generator.choice(words, 2)) for _ in range(rows)])
    frame = pd.DataFrame({
        "row": np.arange(1, rows + 1),
        "size": size,
        "flag": (generator.uniform(size=rows) < 0.3).astype(int),
        "ok": generator.uniform(size=rows) < 0.5,
        "colour": colour,
        "when": [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(rows)],
        "who": [f"N{37 * i}" for i in range(rows)],
        "note": [" ".join(generator.choice(words, 4)) + (" heavy" if h else "") for h in heavy],
        "flat": 7,
        "empty": np.nan,
    })
    score = size + (colour == "red") + heavy - 0.5
    frame.loc[frame.index % 13 == 5, "size"] = np.nan
    frame.loc[frame.index % 11 == 3, "colour"] = np.nan
    return frame, np.where(score > 0, "yes", "no")


def kinds(estimator):
    return {one["name"]: one["kind"] for one in estimator.columns_}


KINDS = {"row": "id", "size": "number", "flag": "number", "ok": "category", "colour": "category", "when": "date",
         "who": "name", "note": "sentences", "flat": "constant", "empty": "empty"}


@pytest.mark.parametrize("method, make", [("auto", kloom.AutoMKLClassifier), ("uniform", kloom.UniformMKLClassifier),
                                          ("simplemkl", kloom.SimpleMKLClassifier)])
def test_the_same_numbers_as_the_command_line(method, make, kloom_program, tmp_path):
    frame, y = mixed()
    frame.assign(label=y).iloc[:60].to_csv(tmp_path / "train.csv", index=False)
    frame.iloc[60:].to_csv(tmp_path / "new.csv", index=False)
    kloom_program("train", "train.csv", "--target", "label", "--method", method, "-o", "m.kloom", "--threads", 1)
    said = list(csv.DictReader(io.StringIO(kloom_program("predict", "m.kloom", "new.csv", "--threads", 1))))
    read = pd.read_csv(tmp_path / "train.csv", float_precision="round_trip")
    new = pd.read_csv(tmp_path / "new.csv", float_precision="round_trip")
    est = make(n_jobs=1).fit(read.drop(columns="label"), read["label"])
    assert kinds(est) == KINDS
    assert [row["label"] for row in said] == list(est.predict(new))
    # The command line writes 17 digits, which give the bits back.
    assert np.array_equal(np.array([float(row["score"]) for row in said]), est.decision_function(new))
    # pandas' quick reader of numbers is off by a last digit here and there.
    assert np.allclose(est.decision_function(pd.read_csv(tmp_path / "new.csv")), est.decision_function(new), rtol=0, atol=1e-12)
    # The file of either side serves the other.
    est.save(tmp_path / "python.kloom")
    assert kloom_program("predict", "python.kloom", "new.csv", "--threads", 1) == \
        kloom_program("predict", "m.kloom", "new.csv", "--threads", 1)
    assert np.array_equal(kloom.load(tmp_path / "m.kloom").decision_function(new), est.decision_function(new))


GAUSSIAN = "rbf(width=1..2) on all"  # gmkl takes no kernel with values below 0


def test_every_estimator_takes_a_frame():
    frame, y = mixed(40)
    made = [getattr(kloom, name) for name in kloom.__all__ if name.endswith(("Classifier", "Regressor"))]
    assert len(made) >= 15
    for make in made:
        target = np.where(y == "yes", 1.0, -1.0) + 0.01 * np.arange(len(y)) if make.__name__.endswith("Regressor") else y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            est = make(kernels=GAUSSIAN if make.__name__.startswith("GMKL") else f"{GAUSSIAN}; linear on all").fit(frame, target)
        assert kinds(est) == KINDS, make.__name__
        assert len(est.predict(frame)) == len(y)


def test_columns_are_found_by_name():
    frame, y = mixed()
    est = kloom.UniformMKLClassifier().fit(frame, y)
    assert list(est.feature_names_in_) == list(frame.columns) and est.n_features_in_ == frame.shape[1]
    wanted = est.decision_function(frame)
    assert np.array_equal(est.decision_function(frame[frame.columns[::-1]]), wanted)
    assert np.array_equal(est.decision_function(frame.assign(more="x")), wanted)
    assert np.array_equal(est.decision_function(frame.drop(columns=["row", "when", "empty"])), wanted)   # dropped ones
    with pytest.raises(ValueError, match="one column of the model is not in this data: size"):
        est.predict(frame.drop(columns="size"))
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.array_equal(est.decision_function(frame.to_numpy(dtype=object)), wanted)
    with pytest.raises(ValueError, match="9 features, but UniformMKLClassifier is expecting 10"):
        with pytest.warns(UserWarning, match="valid feature names"):
            est.predict(frame.to_numpy(dtype=object)[:, :9])


def test_what_is_new_is_said():
    frame, y = mixed()
    est = kloom.UniformMKLClassifier().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est.predict(frame)   # gaps where training had some, nothing new
    with pytest.warns(UserWarning, match="Column 'colour': training never saw violet"):
        est.predict(frame.assign(colour="violet"))
    with pytest.warns(UserWarning, match=r"filled by the training median.*'flag' \(80\)"):
        est.predict(frame.assign(flag=np.nan))


def test_gaps_of_every_kind_are_the_same():
    frame, y = mixed()
    wanted = kloom.UniformMKLClassifier().fit(frame, y).decision_function(frame)
    for gap in (None, np.nan, pd.NA, pd.NaT, "", "NA", "n/a", "?", "null"):
        other = frame.copy()
        other["colour"] = [gap if isinstance(v, float) else v for v in frame["colour"]]
        assert np.array_equal(kloom.UniformMKLClassifier().fit(other, y).decision_function(other), wanted)
    nullable = frame.assign(size=frame["size"].astype("Float64"), flag=frame["flag"].astype("Int64"),
                            ok=frame["ok"].astype("boolean"), colour=frame["colour"].astype("string"))
    assert np.array_equal(kloom.UniformMKLClassifier().fit(nullable, y).decision_function(nullable), wanted)
    declared = frame.assign(colour=frame["colour"].astype("category"), when=pd.to_datetime(frame["when"]))
    assert np.array_equal(kloom.UniformMKLClassifier().fit(declared, y).decision_function(declared), wanted)


def test_a_declared_category_may_look_like_a_number():
    generator = np.random.RandomState(3)
    code = generator.choice([1, 2, 3, 10], 60)
    frame = pd.DataFrame({"code": code, "x": generator.normal(size=60)})
    y = np.isin(code, [1, 10]).astype(int)
    plain = kloom.UniformMKLClassifier().fit(frame, y)
    declared = kloom.UniformMKLClassifier().fit(frame.assign(code=frame["code"].astype("category")), y)
    assert kinds(plain)["code"] == "number" and kinds(declared)["code"] == "category"
    assert "one-hot, 4 values" in declared.columns_[0]["treatment"]
    # The same values as numbers are the same categories.
    assert np.array_equal(declared.decision_function(frame), declared.decision_function(frame.astype({"code": "category"})))
    assert np.array_equal(declared.decision_function(frame), declared.decision_function(frame.astype({"code": float})))


def test_other_types():
    rows = 40
    y = np.arange(rows) % 2
    frame = pd.DataFrame({
        "time": pd.to_timedelta(np.arange(rows) ** 2, unit="h"),
        "day": pd.date_range("2024-01-01", periods=rows, tz="UTC"),
        "few": pd.Categorical(np.arange(rows) % 3),
        "mixed": [str(v) if v % 20 else "unknown" for v in range(rows)],
        "bytes": [b"a" if v % 2 else b"b" for v in range(rows)],
        "small": np.arange(rows, dtype=np.int8) % 5,
    })
    est = kloom.UniformMKLClassifier().fit(frame, y)
    assert kinds(est) == {"time": "number", "day": "date", "few": "category", "mixed": "number", "bytes": "category",
                          "small": "number"}
    assert (est.predict(frame) == y).mean() > 0.9
    with pytest.raises(ValueError, match="column 'lists' holds a list"):
        kloom.UniformMKLClassifier().fit(frame.assign(lists=[[1]] * rows), y)
    with pytest.raises(ValueError, match="Complex data not supported: column 'c'"):
        kloom.UniformMKLClassifier().fit(frame.assign(c=1j), y)
    with pytest.raises(ValueError, match="'small' is infinite"):
        kloom.UniformMKLClassifier().fit(frame.assign(small=np.inf), y)


def test_keep_and_text():
    frame, y = mixed()
    kept = kloom.UniformMKLClassifier(keep=["row", "who"]).fit(frame, y)
    assert kinds(kept)["row"] == "number" and kinds(kept)["who"] == "category"
    as_text = kloom.UniformMKLClassifier(text=["colour"]).fit(frame, y)
    assert kinds(as_text)["colour"] == "sequence"
    assert any(name.startswith("spectrum") and "colour" in name for name in as_text.kernel_names_)
    asked = kloom.UniformMKLClassifier(kernels="words on note; rbf(width=1) on size").fit(frame, y)
    assert list(asked.kernel_names_) == ["words on note", "rbf(width=1) on size"]
    for parameter in ("keep", "text"):
        with pytest.raises(ValueError, match=f"{parameter} names the column 'sise'"):
            kloom.UniformMKLClassifier(**{parameter: ["sise"]}).fit(frame, y)


def test_views_of_a_frame():
    frame, y = mixed()
    views = {"plain": ["size", "flag"], "words": ["note", "colour"]}
    est = kloom.UniformMKLClassifier(views=views).fit(frame, y)
    assert any("view plain" in name for name in est.kernel_names_)
    prefixed = pd.DataFrame(np.random.RandomState(0).normal(size=(40, 4)), columns=["rna.a", "rna.b", "met.a", "met.b"])
    y = np.arange(40) % 2
    assert any("view rna" in name for name in kloom.UniformMKLClassifier().fit(prefixed, y).kernel_names_)
    assert not any("view" in name for name in kloom.UniformMKLClassifier(views={}).fit(prefixed, y).kernel_names_)


def test_copies_and_selection():
    frame, y = mixed()
    est = kloom.UniformMKLClassifier().fit(frame, y)
    wanted = est.decision_function(frame)
    other = pickle.loads(pickle.dumps(est))
    assert np.array_equal(other.decision_function(frame), wanted) and other.columns_ == est.columns_
    assert clone(est).get_params().keys() == est.get_params().keys()
    assert cross_val_score(est, frame, y, cv=3).mean() > 0.6
    search = GridSearchCV(kloom.SimpleMKLClassifier(), {"C": [0.1, 1.0]}, cv=2).fit(frame, y)
    assert search.best_score_ > 0.6
    assert est.certify(frame, y)["verdict"]
    weight = np.where(np.arange(len(y)) < 40, 1.0, 0.0)
    half = kloom.UniformMKLClassifier().fit(frame, y, weight)
    assert np.array_equal(half.decision_function(frame), kloom.UniformMKLClassifier().fit(frame[:40], y[:40]).decision_function(frame))


def test_a_saved_model_keeps_what_was_decided(tmp_path):
    frame, y = mixed()
    est = kloom.UniformMKLClassifier().fit(frame, y)
    est.save(tmp_path / "m.kloom")
    loaded = kloom.load(tmp_path / "m.kloom")
    by_name = {one["name"]: one for one in loaded.columns_}
    assert by_name == {one["name"]: one for one in est.columns_}
    assert np.array_equal(loaded.decision_function(frame), est.decision_function(frame))
    assert "kernels" in " ".join(loaded.kernel_reasons_) or loaded.kernel_reasons_ == est.kernel_reasons_
    assert est.kernel_reasons_


def test_batches_of_a_frame(tmp_path):
    frame, y = mixed(200)
    est = kloom.UFOMKLClassifier(kernels="rbf(gamma=2^-4..2^0)")
    for start in range(0, 150, 50):
        rows = slice(start, start + 50)
        columns = frame.columns if start == 0 else frame.columns[::-1]
        est.partial_fit(frame[columns][rows], y[rows], classes=["no", "yes"])
    assert est.n_samples_seen_ == 150
    assert (est.predict(frame[150:]) == y[150:]).mean() > 0.6
    assert kinds(est)["colour"] == "category"
    again = pickle.loads(pickle.dumps(est)).partial_fit(frame[150:], y[150:])
    assert again.n_samples_seen_ == 200


def test_sample_ids_are_no_features(kloom_program, tmp_path):
    frame, y = mixed()
    est = kloom.UniformMKLClassifier().fit(frame.assign(sample=[f"s{i % 40}" for i in range(len(y))]), y)
    assert est.columns_[-1]["kind"] == "id" and not est.columns_[-1]["used"]
    assert np.array_equal(est.decision_function(frame), kloom.UniformMKLClassifier().fit(frame, y).decision_function(frame))


@pytest.mark.parametrize("make, message", [
    (lambda frame, y: (frame, np.repeat("a", len(y))), "at least two classes; the data has 1 class: 'a'"),
    (lambda frame, y: (frame[["row", "when"]], y), r"no column is left to learn from: 'row' \(it counts the rows\).*keep="),
    (lambda frame, y: (frame[["flat", "empty"]], y), r"no column varies.*'flat' \(it has the same value"),
    (lambda frame, y: (frame.iloc[:1], y[:1]), "minimum of 2 is required"),
    (lambda frame, y: (frame, y[:-1]), "inconsistent numbers of samples"),
    (lambda frame, y: (frame, None), "requires y to be passed"),
    (lambda frame, y: (frame.rename(columns={"flag": "size"}), y), "two columns of X are called 'size'"),
    (lambda frame, y: (frame, np.where(y == "yes", y, np.array(np.nan, dtype=object))), "contains NaN"),
    (lambda frame, y: (frame.iloc[:, :0], y), r"0 feature\(s\)"),
])
def test_what_is_refused(make, message):
    X, y = make(*mixed())
    with pytest.raises(ValueError, match=message):
        kloom.UniformMKLClassifier().fit(X, y)


def test_frames_of_numbers_without_names():
    """Names that are no texts do not count: columns go by their places, as in scikit-learn."""
    generator = np.random.RandomState(5)
    X, y = generator.normal(size=(40, 3)), np.arange(40) % 2
    est = kloom.UniformMKLClassifier().fit(pd.DataFrame(X), y)
    assert not hasattr(est, "feature_names_in_") and est.n_features_in_ == 3
    assert np.array_equal(est.decision_function(pd.DataFrame(X)), est.decision_function(X))
    gaps = X.copy()
    gaps[3, 1] = np.nan
    assert kloom.UniformMKLClassifier().fit(pd.DataFrame(gaps), y).columns_[1]["missing"] == 1


class Columns:
    """As much of a DataFrame as kloom looks at; polars has it, too."""

    def __init__(self, frame):
        self.columns, self.shape = list(frame.columns), frame.shape
        self._values = {name: [None if pd.isna(cell) else cell for cell in frame[name]] for name in frame.columns}

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, name):
        return self._values[name]


def test_frames_of_other_libraries():
    frame, y = mixed()
    other = Columns(frame)
    est = kloom.UniformMKLClassifier().fit(other, y)
    wanted = kloom.UniformMKLClassifier().fit(frame, y)
    assert kinds(est) == KINDS
    assert np.array_equal(est.decision_function(other), wanted.decision_function(frame))
    assert np.array_equal(est.decision_function(frame), wanted.decision_function(frame))
