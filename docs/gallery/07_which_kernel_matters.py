# SPDX-License-Identifier: BSD-3-Clause
"""Which kernel matters?

A kernel for every column: the weights then say which columns matter. Sparse methods name few; Bayesian ones say how
uncertain each weight is.
"""
import matplotlib.pyplot as plt
import numpy as np

from kloom import BEMKLClassifier, KernelWeightsDisplay, SimpleMKLClassifier

generator = np.random.RandomState(5)
X = generator.normal(size=(150, 10))
y = (np.sin(2 * X[:, 2]) + X[:, 7] ** 2 - 1 + 0.3 * generator.normal(size=150) > 0).astype(int)

# %%
# Columns 2 and 7 made the classes (kernels count from the names `x0`, `x1`, … on), neither in a straight line.
sparse = SimpleMKLClassifier(kernels="rbf(width=1) on each", C=1).fit(X, y)
KernelWeightsDisplay.from_estimator(sparse)
plt.title("simplemkl: few kernels")
print(f"kernels in use: {np.count_nonzero(sparse.kernel_weights_ > 1e-3)} of {len(sparse.kernel_weights_)}")

# %%
# With its deviation a weight can be told from chance:
bayes = BEMKLClassifier(kernels="rbf(width=1) on each").fit(X, y)
KernelWeightsDisplay.from_estimator(bayes)
plt.title("bemkl: weights with deviations")
sure = np.abs(bayes.kernel_weights_) > 2 * bayes.kernel_weights_std_
print("more than two deviations from 0:", ", ".join(bayes.kernel_names_[sure]))
