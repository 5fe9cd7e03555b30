# SPDX-License-Identifier: BSD-3-Clause
"""Several tasks at once in Python: what goes in, what comes out, files and the command line."""
import os
import pickle
import subprocess

import numpy as np
import pytest

import kloom

KERNELS = "rbf(width=1..2) on each"


@pytest.fixture
def tasks():
    generator = np.random.default_rng(3)
    X = {name: generator.normal(size=(n, 3)) for name, n in (("north", 30), ("south", 25), ("west", 36))}
    y = {"north": X["north"][:, 0] - X["north"][:, 1], "south": X["south"][:, 0] > X["south"][:, 1],
         "west": np.array([4, 7, 9])[np.digitize(X["west"][:, 0] - X["west"][:, 1], [-0.6, 0.6])]}
    return X, y


def test_every_task_has_its_kind(tasks):
    X, y = tasks
    model = kloom.BEMKLTasks(kernels=KERNELS, weights_across="shared").fit(X, y)
    assert model.kinds_ == {"north": "regression", "south": "binary", "west": "multiclass"}
    assert model.classes_["south"].dtype == bool and model.classes_["west"].tolist() == [4, 7, 9]
    assert model.shared_ and np.array_equal(model.kernel_weights_["north"], model.kernel_weights_["west"])
    found = model.predict(X)
    assert np.mean((found["north"] - y["north"]) ** 2) < 0.2 * np.var(y["north"])
    assert np.mean(found["south"] == y["south"]) > 0.9
    assert np.mean(found["west"] == y["west"]) > 0.8
    assert model.lower_bound_ == model.report_["objective"]
    assert model.report_["certificate"]["finding"] == "checked"


def test_deviations_and_probabilities(tasks):
    X, y = tasks
    model = kloom.BEMKLTasks(kernels=KERNELS).fit(X, y)
    mean, deviation = model.predict({"north": X["north"][:5]}, return_std=True)
    assert mean["north"].shape == deviation["north"].shape == (5,) and (deviation["north"] > 0).all()
    chances = model.predict_proba({"west": X["west"], "south": X["south"]})
    assert chances["west"].shape == (36, 3) and np.allclose(chances["west"].sum(axis=1), 1)
    assert np.array_equal(model.classes_["south"][chances["south"].argmax(axis=1)], model.predict(X)["south"])
    with pytest.raises(ValueError, match="task 'north' has numbers"):
        model.predict_proba(X)


def test_lists_are_tasks_that_are_counted(tasks):
    X, y = tasks
    model = kloom.BEMKLTasks(kernels=KERNELS).fit(list(X.values()), list(y.values()))
    assert model.tasks_ == ["1", "2", "3"]
    named = kloom.BEMKLTasks(kernels=KERNELS).fit(X, y)
    assert np.array_equal(model.predict(list(X.values()))["1"], named.predict(X)["north"])


def test_files_and_pickles_keep_every_bit(tasks, tmp_path):
    X, y = tasks
    model = kloom.BEMKLTasks(kernels=KERNELS, tol=1e-4).fit(X, y)
    model.save(tmp_path / "m.kloom")
    loaded = kloom.load(tmp_path / "m.kloom")
    assert isinstance(loaded, kloom.BEMKLTasks) and loaded.tol == 1e-4 and loaded.kinds_ == model.kinds_
    again = pickle.loads(pickle.dumps(model))
    for name in X:
        assert np.array_equal(again.predict(X)[name], model.predict(X)[name])
    assert np.array_equal(loaded.predict(X)["north"], model.predict(X)["north"])
    assert loaded.predict(X)["west"].tolist() == [str(value) for value in model.predict(X)["west"]]


def test_the_command_line_says_the_same(tasks, tmp_path):
    X, y = tasks
    lines = ["clinic,a,b,c,y"]
    for name in ("north", "south"):
        for x, target in zip(X[name], y[name]):
            lines.append(",".join([name, *(repr(float(v)) for v in x), repr(float(target)) if name == "north" else str(bool(target))]))
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    program = os.environ["KLOOM_PROGRAM"]
    subprocess.run([program, "tasks", "t.csv", "--target", "y", "--by", "clinic", "--kernels", KERNELS, "-o", "m.kloom", "--quiet"],
                   cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    two = {name: X[name] for name in ("north", "south")}
    mine = kloom.BEMKLTasks(kernels=KERNELS).fit(two, {name: y[name] for name in two})
    theirs = kloom.BEMKLTasks.load(tmp_path / "m.kloom")
    assert np.allclose(theirs.predict(two)["north"], mine.predict(two)["north"], rtol=1e-9, atol=1e-12)
    assert np.allclose(theirs.predict_proba({"south": X["south"]})["south"], mine.predict_proba({"south": X["south"]})["south"], rtol=1e-8)


def test_refusals(tasks):
    X, y = tasks
    model = kloom.BEMKLTasks(kernels=KERNELS)
    with pytest.raises(ValueError, match="X has the tasks"):
        model.fit(X, {"north": y["north"]})
    with pytest.raises(ValueError, match="task 'south' has 2 features, and 3 are expected"):
        model.fit({**X, "south": X["south"][:, :2]}, y)
    with pytest.raises(ValueError, match="30 samples and 4 targets"):
        model.fit(X, {**y, "north": y["north"][:4]})
    with pytest.raises(ValueError, match="task 'south'"):
        model.fit(X, {**y, "south": np.ones(25, dtype=bool)})
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.fit({**X, "north": np.full((30, 3), np.nan)}, y)
    with pytest.raises(ValueError):
        kloom.BEMKLTasks(weights_across="some").fit(X, y)
    with pytest.raises(ValueError, match="there is no task 'nort'"):
        model.fit(X, y).predict({"nort": X["north"]})
