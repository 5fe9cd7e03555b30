# SPDX-License-Identifier: BSD-3-Clause
"""What people see in a notebook or a terminal: progress as bars, estimators with their kernels."""
import sys
import types

import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kloom
from conftest import KERNELS
from kloom import _progress
from kloom._html import kernels_html


class Bar:
    """The part of tqdm's interface that is used, and a memory."""

    made = []

    def __init__(self, total=None, desc=None):
        self.total, self.desc, self.n, self.closed, self.postfix = total, desc, 0, False, {}
        Bar.made.append(self)

    def update(self, by):
        assert by >= 0 and not self.closed
        self.n += by

    def set_postfix(self, refresh=True, **values):
        self.postfix = values

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def forget():
    Bar.made.clear()


def test_a_class_with_the_interface_of_tqdm(two_classes):
    clf = kloom.BEMKLClassifier(kernels=KERNELS, verbose=Bar)
    assert clone(clf).verbose is Bar
    clf.fit(*two_classes)
    assert Bar.made, "the fit told nothing"
    assert all(bar.closed for bar in Bar.made), "a bar was left open"
    assert all(bar.total is None or bar.n <= bar.total for bar in Bar.made)


def test_a_bar_shows_the_objective_of_its_stage():
    bars = _progress.Bars(Bar)
    bars("training", 1, 4, -12.5, 0.1)
    bars("training", 3, 4, -11.25, 0.2)
    bars("folds", 1, 2, float("nan"), 0.3)
    bars.close()
    training, folds = Bar.made
    assert (training.n, training.total, training.desc, training.postfix) == (3, 4, "training", {"objective": "-11.25"})
    assert (folds.n, folds.postfix) == (1, {}) and training.closed and folds.closed


def test_bars_by_stage():
    bars = _progress.Bars(Bar)
    for step in (1, 4, 4):
        bars("folds", step, 4, float("nan"), 0.1)
    bars("iterations", 1, 0, -3.25, 0.2)
    bars("iterations", 1, 0, -3.5, 0.2)
    bars("iterations", 0, 0, -7.0, 0.3)   # another fit of the same kind
    assert [(bar.desc, bar.total, bar.n) for bar in Bar.made] == [("folds", 4, 4), ("iterations", None, 1), ("iterations", None, 0)]
    assert Bar.made[0].closed and Bar.made[1].closed and not Bar.made[2].closed
    assert Bar.made[1].postfix == {"objective": "-3.5"} and Bar.made[0].postfix == {}
    del bars
    assert Bar.made[2].closed


def test_lines_where_nobody_looks_and_bars_where_somebody_does(monkeypatch, capsys, two_classes):
    monkeypatch.setattr(_progress, "in_notebook", lambda: False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert _progress.reporter(0) is None
    assert _progress.reporter(1) is _progress.say_progress
    _progress.say_progress("choice of C", 2, 5, 0.25, 1.0)
    assert capsys.readouterr().out == "choice of C: 2 of 5, objective 0.25 (1.0 s)\n"
    monkeypatch.setattr(_progress, "in_notebook", lambda: True)
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    assert isinstance(_progress.reporter(True), _progress.Bars)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)   # not installed
    assert _progress.reporter(True) is _progress.say_progress


def test_verbose_is_checked(two_classes):
    with pytest.raises(ValueError, match="verbose"):
        kloom.UniformMKLClassifier(kernels="linear", verbose="loud").fit(*two_classes)


def test_the_kernels_are_below_the_diagram(two_classes, three_classes):
    clf = kloom.BEMKLClassifier(kernels="rbf(width=2); linear")
    bundle = clf._repr_mimebundle_()
    assert "Kernels: <code>rbf(width=2); linear</code>" in bundle["text/html"] and bundle["text/plain"] == repr(clf)
    clf.fit(*two_classes)
    shown = clf._repr_html_().split("</style>")[-1]
    # The diagram has another number each time; what is below it does not.
    assert clf._repr_mimebundle_()["text/html"].endswith(shown[shown.index("<caption"):])
    for name, weight, deviation in zip(clf.kernel_names_, clf.kernel_weights_, clf.kernel_weights_std_):
        assert f"<code>{name}</code>" in shown and f"{weight:.4g} ± {deviation:.2g}" in shown
    largest = max(abs(clf.kernel_weights_))
    for weight in clf.kernel_weights_:
        assert f"width: {100 * abs(weight) / largest:.0f}%" in shown
    several = kloom.SimpleMKLClassifier(kernels=KERNELS, C=1.0, probability=False).fit(*three_classes)
    assert "Kernels by mean weight" in several._repr_html_()
    assert "BEMKLClassifier" in make_pipeline(StandardScaler(), clf)._repr_html_()


def test_kernels_without_weight_are_not_shown():
    fitted = types.SimpleNamespace(kernel_weights_=[0.0, 0.75, 0.0, 0.25], kernel_names_=["a1", "b1", "c1", "d1"])
    shown = kernels_html(fitted)
    assert "the 2 of 4 that are not 0" in shown
    assert all((f"<code>{name}</code>" in shown) == (name in ("b1", "d1")) for name in fitted.kernel_names_)
    fitted.kernel_weights_ = [0.0, 0.0, 0.0, 0.0]
    assert kernels_html(fitted).count("<code>") == 1
    many = types.SimpleNamespace(kernel_weights_=[1.0] * 40, kernel_names_=[f"k{i}" for i in range(40)])
    assert "the 12 largest of 40" in kernels_html(many)


def test_names_are_text_and_text_is_asked_for():
    clf = kloom.UniformMKLClassifier(kernels="linear on '<b>'")
    assert "&lt;b&gt;" in clf._repr_mimebundle_()["text/html"].split("Kernels:")[1]
    with sklearn.config_context(display="text"):
        assert "text/html" not in clf._repr_mimebundle_()
        assert not hasattr(clf, "_repr_html_")
