# SPDX-License-Identifier: BSD-3-Clause
"""Why this class? How much each kernel added to each sample's score.

The scores of a model are sums over kernels. Half of these samples are told apart by the first feature, the other half by
the second, and the contributions show it.
"""
import matplotlib.pyplot as plt
import numpy as np

from kloom import BEMKLClassifier, SampleKernelsDisplay

generator = np.random.RandomState(1)
y = np.arange(120) % 2
X = 0.3 * generator.normal(size=(120, 2))
first_half = np.arange(120) < 60
X[first_half, 0] += np.where(y[first_half] == 1, 2, -2)
X[~first_half, 1] += np.where(y[~first_half] == 1, 2, -2)

clf = BEMKLClassifier(kernels="rbf(width=1) on each").fit(X, y)
parts = np.abs(clf.contributions(X))
print(f"accuracy: {clf.score(X, y):.3f}")
for name, rows in (("first half", first_half), ("second half", ~first_half)):
    shares = parts[rows].mean(axis=0) / parts[rows].mean(axis=0).sum()
    print(f"{name:<12}" + "  ".join(f"{kernel} {share:.0%}" for kernel, share in zip(clf.kernel_names_, shares)))

SampleKernelsDisplay.from_estimator(clf, X)
plt.savefig("samples.svg", bbox_inches="tight")
