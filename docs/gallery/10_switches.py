# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that fail for some samples

Two sensors; for some samples one of them was broken and shows the opposite. `SAMKLClassifier` switches kernels off sample by
sample, `LMKLClassifier` lets their weight change with the sample.
"""
import matplotlib.pyplot as plt
import numpy as np

from kloom import LMKLClassifier, SAMKLClassifier, SampleKernelsDisplay

generator = np.random.RandomState(1)
y = np.arange(120) % 2
X = 0.5 * generator.normal(size=(120, 2)) + np.where(y == 1, 1, -1)[:, None]
broken = np.arange(120) >= 90
X[broken, 1] *= -1

# %%
# The switches of the training samples, samples of a class together; a kernel that is off says nothing about the sample.
switched = SAMKLClassifier(kernels="rbf(width=1) on each", C=10, m0="1", updates="one", probability=False).fit(X, y)
SampleKernelsDisplay.from_estimator(switched)
plt.title("samkl: on and off")
print(f"samkl: accuracy {switched.score(X, y):.2f} on the training samples (its switches have seen the labels)")

# %%
# Gates are smooth functions of the sample:
gated = LMKLClassifier(kernels="rbf(width=1) on each", C=10, probability=False).fit(X, y)
SampleKernelsDisplay.from_estimator(gated)
plt.title("lmkl: gates")
