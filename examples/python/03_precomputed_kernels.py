# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of your own, with cross-validation.

A bank of kernel matrices has the shape (samples, samples, kernels), so scikit-learn can cut training and test samples out
of it. Nothing is copied until a fold is learned.
"""
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity, laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kloom import KernelBank, LpMKLClassifier, SingleKernelClassifier, UniformMKLClassifier

X, y = load_wine(return_X_y=True)
Z = StandardScaler().fit_transform(X)
bank = KernelBank({
    "chi2": chi2_kernel(MinMaxScaler().fit_transform(X)),
    "cosine": cosine_similarity(Z),
    "laplacian": laplacian_kernel(Z),
    "rbf": rbf_kernel(Z),
})
print(bank)

for cls in (SingleKernelClassifier, UniformMKLClassifier, LpMKLClassifier):
    scores = cross_val_score(cls(kernels="precomputed", C=10), bank, y, cv=5)
    print(f"{cls.__name__:<24}{scores.mean():.3f}")

search = GridSearchCV(LpMKLClassifier(kernels="precomputed", C=10), {"norm": [1, 1.5, 2, np.inf]}, cv=5).fit(bank, y)
print("best norm:", search.best_params_["norm"])
