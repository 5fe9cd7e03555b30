# SPDX-License-Identifier: BSD-3-Clause
"""Which method?

The honest answer is to try them. `kloom compare` does it with a page at the end; in Python every method is an estimator, so
scikit-learn's own tools do.
"""
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate

import kloom

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:240], y[:240]
kernels = "rbf(width=2^0..2^3); linear"
methods = {"bemkl": kloom.BEMKLClassifier, "gp-mkl": kloom.GPMKLClassifier, "simplemkl": kloom.SimpleMKLClassifier,
           "lp-mkl": kloom.LpMKLClassifier, "mcmkl": kloom.MulticlassMKLClassifier, "mkl-da": kloom.MKLDAClassifier,
           "uniform": kloom.UniformMKLClassifier, "single": kloom.SingleKernelClassifier}
results = {name: cross_validate(method(kernels=kernels), X, y, cv=4, scoring=["accuracy", "neg_log_loss"])
           for name, method in methods.items()}

# %%
# Accuracy and log loss (the smaller, the better the probabilities), and the seconds a fit takes:
for name, found in results.items():
    print(f"{name:<10} accuracy {found['test_accuracy'].mean():.3f}   log loss {-found['test_neg_log_loss'].mean():.3f}")

# %%
# The difference between the methods is less than that between the folds. Then the simplest one will do.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
axes[0].boxplot([found["test_accuracy"] for found in results.values()], vert=False)
axes[0].set_yticks(range(1, len(results) + 1), labels=list(results))
axes[0].set_xlabel("accuracy, four folds")
axes[1].barh(range(1, len(results) + 1), [found["fit_time"].mean() for found in results.values()])
axes[1].set(xlabel="seconds of a fit", xscale="log")
