# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of your own

Any similarity that is positive semidefinite can be a kernel: of graphs, of sequences, from another program. Compute the
matrices, hand them over as a bank.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from kloom import KernelBank, LpMKLClassifier

X, y = load_wine(return_X_y=True)
X = scale(X)
bank = KernelBank({"linear": linear_kernel(X) / X.shape[1], "bell": rbf_kernel(X, gamma=0.1),
                   "tent": laplacian_kernel(X, gamma=0.1), "colour alone": rbf_kernel(X[:, [9]])})
print(bank)

# %%
# The matrices, samples in the order of their class:
figure, axes = plt.subplots(1, 4, figsize=(8, 2.4))
for place, name, matrix in zip(axes, bank.names, np.moveaxis(np.asarray(bank), 2, 0)):
    place.imshow(matrix, cmap="Blues")
    place.set(title=name, xticks=[], yticks=[])

# %%
# scikit-learn's cross-validation cuts a bank on both sides, without copying it.
model = LpMKLClassifier(kernels="precomputed", C=10)
print(f"accuracy {cross_val_score(model, bank, y, cv=5).mean():.3f}")
model.fit(bank, y)

figure, axes = plt.subplots()
image = axes.imshow(model.kernel_weights_, cmap="Blues", vmin=0)
axes.set_xticks(range(4), labels=bank.names)
axes.set_yticks(range(3), labels=[f"class {name} against the rest" for name in model.classes_])
figure.colorbar(image, label="weight")
