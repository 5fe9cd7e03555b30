# SPDX-License-Identifier: BSD-3-Clause
"""Learning from a stream

Samples come in batches and are not kept. Each batch is predicted first and then learned, so every score is one on new
samples. Half-way the world changes.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kloom import MKLDAClassifier

generator = np.random.RandomState(0)
model = MKLDAClassifier(kernels="rbf(gamma=2^-6..2^6, count=50)", budget=300)
accuracy = []
for batch in range(40):
    X, y = make_moons(100, noise=0.2, random_state=generator)
    if batch >= 20:
        X = X[:, ::-1] * [1, -1]   # turned by a quarter
    if batch > 0:
        accuracy.append(model.score(X, y))
    model.partial_fit(X, y, classes=[0, 1])
print(f"{model.n_samples_seen_} samples seen, {model.n_support_vectors_} kept")

# %%
# Fifty Gaussian widths cost no more than one. The budget bounds memory and time, however long the stream is.
figure, axes = plt.subplots()
axes.plot(range(1, 40), accuracy, marker=".")
axes.axvline(20, color="0.5", linestyle="--")
axes.text(20.3, min(accuracy), "the world turns")
axes.set(xlabel="batch", ylabel="accuracy before learning it")
