# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities that mean what they say

Of the samples that are given a probability of 70 %, about 70 % should be of that class. `BEMKLClassifier` integrates over what
it does not know and learns from held-out samples how sure it may be.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from kloom import BEMKLClassifier

X, y = make_moons(200, noise=0.35, random_state=0)
new_X, new_y = make_moons(1000, noise=0.35, random_state=1)
models = {name: BEMKLClassifier(kernels="rbf(width=2^-1..2^1)", calibration=name).fit(X, y) for name in ("held-out", "none")}
for name, model in models.items():
    print(f"calibration {name:<9} log loss {log_loss(new_y, model.predict_proba(new_X)):.3f}")

# %%
# The nearer to the diagonal, the better. The plot is scikit-learn's own.
figure, axes = plt.subplots(figsize=(5.5, 4.5))
for name, model in models.items():
    CalibrationDisplay.from_estimator(model, new_X, new_y, n_bins=8, ax=axes, name=name)

# %%
# Far away from everything that was seen the model does not pretend to know:
grid = np.stack(np.meshgrid(np.linspace(-4, 5, 80), np.linspace(-4, 4, 80)), axis=-1)
probability = models["held-out"].predict_proba(grid.reshape(-1, 2))[:, 1].reshape(80, 80)
figure, axes = plt.subplots(figsize=(6, 4.5))
shades = axes.contourf(grid[..., 0], grid[..., 1], probability, levels=np.linspace(0, 1, 11), cmap="RdBu_r")
axes.scatter(*X.T, c=y, cmap="RdBu_r", edgecolors="white", linewidths=0.5, s=20)
figure.colorbar(shades, label="probability of class 1")
