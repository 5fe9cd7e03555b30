# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities that mean what they say.

BEMKL integrates over its uncertainty. Its probabilities are held against the truth on new samples; far from the training
data they go towards one half. In regression, new values are counted that fall within two standard deviations.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import brier_score_loss, log_loss

from kloom import BEMKLClassifier, BEMKLRegressor

X, y = make_moons(200, noise=0.35, random_state=0)
new_X, new_y = make_moons(1000, noise=0.35, random_state=1)
clf = BEMKLClassifier(kernels="rbf(width=2^-1..2^1)").fit(X, y)
p = clf.predict_proba(new_X)[:, 1]
print(f"log loss {log_loss(new_y, p):.3f}, Brier score {brier_score_loss(new_y, p):.3f} on new samples")
print(f"mean probability {p.mean():.3f}, share of class 1 {new_y.mean():.3f}")
print(f"far away: probability {clf.predict_proba([[40.0, 40.0]])[0, 1]:.2f}")
CalibrationDisplay.from_estimator(clf, new_X, new_y, n_bins=8)
plt.savefig("calibration.svg")

generator = np.random.RandomState(2)
x = generator.uniform(-3, 3, size=(300, 1))
values = np.sin(2 * x[:, 0]) + 0.3 * generator.normal(size=300)
reg = BEMKLRegressor(kernels="rbf(width=2^-2..2^0)").fit(x[:150], values[:150])
mean, deviation = reg.predict(x[150:], return_std=True)
print(f"within two standard deviations: {(np.abs(values[150:] - mean) < 2 * deviation).mean():.0%} of new values")
