# SPDX-License-Identifier: BSD-3-Clause
"""Several views of the same patients

Three layers are measured for each patient: expression, methylation and a few clinical numbers. Here they are made up, so that we
know what is in them: expression and clinic say something about the outcome, methylation is noise.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from kloom import KernelWeightsDisplay, SimpleMKLClassifier

generator = np.random.RandomState(0)
outcome = np.arange(160) % 2
expression = generator.normal(size=(160, 60))
expression[:, :12] += 0.55 * outcome[:, None]
methylation = generator.normal(size=(160, 40))
clinic = generator.normal(size=(160, 4))
clinic[:, 0] += 1.1 * outcome
X = np.hstack([expression, methylation, clinic])
views = {"expression": slice(0, 60), "methylation": slice(60, 100), "clinic": slice(100, 104)}

# %%
# Without `on`, a kernel is made for every view. The weights say what each view is worth beside the others.
model = SimpleMKLClassifier(kernels="rbf(auto, count=2); linear", views=views, C=1).fit(X, outcome)
KernelWeightsDisplay.from_estimator(model)
plt.title("Weights of the kernels of three views")

# %%
# All views together against each alone, on samples that were held out:
scores = {}
for name in [*views, "all"]:
    chosen = views if name == "all" else {name: views[name]}
    columns = np.hstack([np.arange(104)[part] for part in chosen.values()])
    here = None if name != "all" else views
    one = SimpleMKLClassifier(kernels="rbf(auto, count=2); linear", views=here, C=1, probability=False)
    scores[name] = cross_val_score(one, X[:, columns], outcome, cv=5)
    print(f"{name:<12} accuracy {scores[name].mean():.2f}")

figure, axes = plt.subplots()
axes.boxplot(list(scores.values()))
axes.set_xticks(range(1, 5), labels=list(scores))
axes.set_ylabel("accuracy in five folds")
