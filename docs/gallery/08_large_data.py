# SPDX-License-Identifier: BSD-3-Clause
"""Many samples

Kernel matrices grow with the square of the samples. `MKLDAClassifier` makes none: its time grows with the samples, and fifty
widths cost as much as one.
"""
import time

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from kloom import MKLDAClassifier, SimpleMKLClassifier

new_X, new_y = make_moons(2000, noise=0.25, random_state=1)
sizes = {"simplemkl": [250, 500, 1000], "mkl-da": [250, 500, 1000, 4000, 16000]}
models = {"simplemkl": SimpleMKLClassifier(kernels="rbf(gamma=2^-4..2^4)", C=1, probability=False),
          "mkl-da": MKLDAClassifier(kernels="rbf(gamma=2^-4..2^4, count=50)", budget=500, probability=False)}
seconds, accuracy = {}, {}
for name, model in models.items():
    for size in sizes[name]:
        X, y = make_moons(size, noise=0.25, random_state=0)
        start = time.perf_counter()
        model.fit(X, y)
        seconds[name, size] = time.perf_counter() - start
        accuracy[name, size] = model.score(new_X, new_y)
        print(f"{name:<10}{size:>6} samples: accuracy {accuracy[name, size]:.3f}")

# %%
# Time and accuracy on new samples over the number of training samples:
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6))
for name, some in sizes.items():
    axes[0].plot(some, [seconds[name, size] for size in some], marker="o", label=name)
    axes[1].plot(some, [accuracy[name, size] for size in some], marker="o", label=name)
axes[0].set(xscale="log", yscale="log", xlabel="training samples", ylabel="seconds")
axes[1].set(xscale="log", xlabel="training samples", ylabel="accuracy")
axes[0].legend()
