# SPDX-License-Identifier: BSD-3-Clause
"""Which width? Give them all.

A support vector machine needs a grid search over the width of its Gaussian kernel. Multiple kernel learning takes kernels
of every width and finds the combination in one fit.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kloom import KernelWeightsDisplay, SimpleMKLClassifier

X, y = load_breast_cancer(return_X_y=True)

widths = 2.0 ** np.arange(-1, 5)
search = GridSearchCV(make_pipeline(StandardScaler(), SVC(C=10)), {"svc__gamma": 1 / (2 * widths**2)}, cv=3)
print(f"grid search over widths:  {cross_val_score(search, X, y, cv=3).mean():.3f}")

mkl = SimpleMKLClassifier(kernels="rbf(width=2^-1..2^4)", C=10)
print(f"all widths at once:       {cross_val_score(mkl, X, y, cv=3).mean():.3f}")

mkl.fit(X, y)
for name, weight in zip(mkl.kernel_names_, mkl.kernel_weights_):
    print(f"  {name:<22}{weight:.3f}")
print(f"no other combination is better by more than {mkl.gap_:.1e} of the objective")

KernelWeightsDisplay.from_estimator(mkl)
plt.savefig("widths.svg", bbox_inches="tight")
