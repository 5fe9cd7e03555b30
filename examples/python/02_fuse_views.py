# SPDX-License-Identifier: BSD-3-Clause
"""Several descriptions of the same samples: which of them matter?

Every digit is described three ways: pixels, row and column sums, and noise that says nothing. Each
description is a view; a kernel is built on each, and the weights say how much each view counts.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kloom import BEMKLClassifier, KernelWeightsDisplay, rbf, view

images = load_digits().images[:500]
y = load_digits().target[:500]
views = {
    "pixels": images.reshape(len(images), -1),
    "profiles": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
    "noise": np.random.RandomState(0).normal(size=(len(images), 20)),
}
X = np.hstack(list(views.values()))
ends = np.cumsum([part.shape[1] for part in views.values()])
columns = {name: slice(end - part.shape[1], end) for (name, part), end in zip(views.items(), ends)}

train, test = train_test_split(np.arange(len(y)), random_state=0, stratify=y)
kernels = sum((rbf(width=[5], on=view(name)) for name in views if name != "pixels"), rbf(width=[8], on=view("pixels")))
clf = BEMKLClassifier(kernels=kernels, views=columns, variance=False).fit(X[train], y[train])
print(f"accuracy on new digits: {clf.score(X[test], y[test]):.3f}")
for name, weight, deviation in zip(clf.kernel_names_, clf.kernel_weights_, clf.kernel_weights_std_):
    print(f"  {name:<30}{weight:7.3f} +- {deviation:.3f}")

KernelWeightsDisplay.from_estimator(clf)
plt.savefig("views.svg", bbox_inches="tight")
