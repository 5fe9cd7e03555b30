# SPDX-License-Identifier: BSD-3-Clause
"""The plots show what the estimators hold."""
import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from scipy.stats import norm  # noqa: E402
from sklearn.calibration import CalibrationDisplay, calibration_curve  # noqa: E402

import kloom  # noqa: E402
from conftest import KERNELS  # noqa: E402


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_weights(two_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    display = kloom.KernelWeightsDisplay.from_estimator(clf, most=3)
    largest = np.sort(np.abs(clf.kernel_weights_))[::-1][:3]
    assert np.allclose(np.abs([bar.get_width() for bar in display.bars_]), largest)
    assert len(display.deviation) == 3 and display.figure_ is display.ax_.figure
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(display.names)


def test_weights_of_one_class(three_classes):
    X, y = three_classes
    clf = kloom.SimpleMKLClassifier(kernels=KERNELS).fit(X, y)
    mean = kloom.KernelWeightsDisplay.from_estimator(clf)
    one = kloom.KernelWeightsDisplay.from_estimator(clf, output=1, ax=plt.subplots()[1])
    assert sorted(mean.weights) == sorted(clf.kernel_weights_.mean(axis=0))
    assert sorted(one.weights) == sorted(clf.kernel_weights_[1])


def test_convergence(two_classes, three_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    display = kloom.ConvergenceDisplay.from_estimator(clf)
    assert display.line_.get_ydata()[-1] == pytest.approx(clf.lower_bound_, rel=clf.tol)
    assert display.ax_.get_ylabel() == "lower bound"
    several = kloom.SimpleMKLClassifier(kernels=KERNELS).fit(*three_classes)
    with pytest.raises(ValueError, match="no trace"):
        kloom.ConvergenceDisplay.from_estimator(several)


def test_samples_and_kernels(two_classes, three_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    display = kloom.SampleKernelsDisplay.from_estimator(clf, X)
    assert np.array_equal(display.image_.get_array(), clf.contributions(X).T)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(clf.kernel_names_)
    with pytest.raises(ValueError, match="give X"):
        kloom.SampleKernelsDisplay.from_estimator(clf)
    X, y = three_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    display = kloom.SampleKernelsDisplay.from_estimator(clf, X, output=2)
    assert np.array_equal(display.values, clf.contributions(X)[:, 2])


def test_switches_and_gates(two_classes):
    X, y = two_classes
    clf = kloom.SAMKLClassifier(kernels=KERNELS, C=1.0, m0="1", updates="one", probability=False).fit(X, y)
    display = kloom.SampleKernelsDisplay.from_estimator(clf)
    assert display.values.shape == (len(y), len(clf.kernel_names_)) and set(np.unique(display.values)) <= {0.0, 1.0}
    gated = kloom.LMKLClassifier(kernels=KERNELS, steps=3, probability=False).fit(X, y)
    display = kloom.SampleKernelsDisplay.from_estimator(gated)
    # Softmax gates times the root of the number of kernels, so that equal ones are the mean of all; four digits each.
    assert np.allclose(display.values.sum(axis=1), len(gated.kernel_names_) ** 0.5, atol=1e-3)


def test_many_kernels_have_names_that_do_not_overlap(two_classes):
    X, y = two_classes
    clf = kloom.UniformMKLClassifier(kernels="rbf(width=0.5..8, count=120)", probability=False).fit(X, y)
    display = kloom.SampleKernelsDisplay.from_estimator(clf, X)
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert len(boxes) == 40   # every third of 120
    assert all(not one.overlaps(other) for one, other in zip(boxes, boxes[1:]))
    whole = display.figure_.bbox
    assert all(box.x0 >= whole.x0 for box in boxes), "names are cut off"


def test_classes_in_a_plane(three_classes):
    X, y = three_classes
    clf = kloom.MulticlassMKLClassifier(kernels="linear", class_kernels="identity+pairs").fit(X, y)
    display = kloom.ClassEmbeddingDisplay.from_estimator(clf)
    assert np.allclose(display.points_.get_offsets(), clf.class_embedding_)
    assert [text.get_text() for text in display.ax_.texts] == ["0", "1", "2"]


def test_other_methods_have_no_places_of_classes(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="got SimpleMKLClassifier"):
        kloom.ClassEmbeddingDisplay.from_estimator(kloom.SimpleMKLClassifier(kernels="linear").fit(X, y))


def test_calibration_of_two_classes_is_scikit_learns(two_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X[:30], y[:30])
    display = kloom.CalibrationDisplay.from_estimator(clf, X[30:], y[30:], bins=5)
    happened, promised = calibration_curve(y[30:], clf.predict_proba(X[30:])[:, 1], n_bins=5)
    assert np.allclose(display.promised, promised) and np.allclose(display.happened, happened)
    assert display.counts.sum() == 30 and np.array_equal(display.line_.get_ydata(), display.happened)


def test_calibration_of_several_classes_is_of_the_predicted_one(three_classes):
    X, y = three_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, np.array(["a", "b", "c"])[y])
    display = kloom.CalibrationDisplay.from_estimator(clf, X, np.array(["a", "b", "c"])[y])
    # The class of the largest probability; where two are nearly as likely, the score of another may be the largest.
    right = clf.classes_[clf.predict_proba(X).argmax(axis=1)] == np.array(["a", "b", "c"])[y]
    assert np.average(display.happened, weights=display.counts) == pytest.approx(right.mean())
    assert np.average(display.promised, weights=display.counts) == pytest.approx(clf.predict_proba(X).max(axis=1).mean())


def test_calibration_of_intervals(numbers):
    X, y = numbers
    reg = kloom.BEMKLRegressor(kernels=KERNELS).fit(X[::2], y[::2])
    display = kloom.CalibrationDisplay.from_estimator(reg, X[1::2], y[1::2])
    mean, std = reg.predict(X[1::2], return_std=True)
    for level, happened in zip(display.promised, display.happened):
        low, high = norm.interval(level, mean, std)
        assert happened == ((low <= y[1::2]) & (y[1::2] <= high)).mean()
    plain = kloom.LMKLRegressor(kernels="linear", C=1.0, steps=1).fit(X, y)
    with pytest.raises(ValueError, match="without deviations"):
        kloom.CalibrationDisplay.from_estimator(plain, X, y)
    nothing_held_out = kloom.SimpleMKLRegressor(kernels="linear", C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="knows no deviations"):
        kloom.CalibrationDisplay.from_estimator(nothing_held_out, X, y)


def test_path(two_classes):
    X, y = two_classes
    clf = kloom.SimpleMKLClassifier(kernels=KERNELS, C_grid=[10, 0.1, 1], folds=3, probability=False).fit(X, y)
    display = kloom.PathDisplay.from_estimator(clf)
    (line,) = display.lines_
    assert list(line.get_xdata()) == [0.1, 1, 10] and display.option == "C" and display.ax_.get_xscale() == "log"
    assert display.best_[0] == float(clf.report_["options"]["C"]) and display.best_[1] == min(line.get_ydata())
    fixed = kloom.SimpleMKLClassifier(kernels=KERNELS, C=1.0, probability=False).fit(X, y)
    with pytest.raises(ValueError, match="tried no values"):
        kloom.PathDisplay.from_estimator(fixed)


def test_path_over_two_options(two_classes):
    X, y = two_classes
    clf = kloom.UFOMKLClassifier(kernels=KERNELS, reg_lambda_grid=[0.01, 0.1], alpha_grid=[0.0, 0.5]).fit(X, y)
    display = kloom.PathDisplay.from_estimator(clf)
    assert sorted(display.curves) == ["alpha = 0", "alpha = 0.5"] and len(display.lines_) == 2
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(display.curves)


def test_calibration_by_scikit_learn(two_classes):
    X, y = two_classes
    clf = kloom.BEMKLClassifier(kernels=KERNELS).fit(X, y)
    assert len(CalibrationDisplay.from_estimator(clf, X, y, n_bins=4).prob_true) > 1
