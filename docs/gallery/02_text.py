# SPDX-License-Identifier: BSD-3-Clause
"""Sentences and numbers in one table

A column of sentences needs no preparation: the kernels `words` and `spectrum` compare texts, and their weights stand beside
those of the numbers.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kloom import KernelWeightsDisplay, SimpleMKLClassifier

generator = np.random.RandomState(3)
good = ["arrived quickly", "works very well", "would buy again", "solid and quiet", "easy to use"]
bad = ["arrived late", "broke in a week", "would not buy again", "loud and weak", "hard to use"]
filler = ["the parcel was brown", "it came on a Monday", "the box was large", "my neighbour saw it"]
liked = np.arange(120) % 2 == 1
review = [f"{generator.choice(good if one != (generator.rand() < 0.1) else bad)} and {generator.choice(filler)} number {i}"
          for i, one in enumerate(liked)]
table = pd.DataFrame({"price": generator.normal(50, 10, 120) - 6 * liked, "review": review})
print(table.head(3).to_string())

# %%
# What was made of each column stands in `columns_`.
model = SimpleMKLClassifier(kernels="words; spectrum(k=4); rbf(auto, count=2)", text=["review"], C=10)
model.fit(table[:80], liked[:80])
for column in model.columns_:
    print(f"{column['name']}: {column['kind']}, {column['treatment']}")
print(f"accuracy on new reviews: {model.score(table[80:], liked[80:]):.2f}")

# %%
# Which kernels were used, and how sure the model is about the new reviews:
KernelWeightsDisplay.from_estimator(model)
plt.title("Texts and numbers")

probability = model.predict_proba(table[80:])[:, 1]
figure, axes = plt.subplots()
for value, name in ((True, "liked"), (False, "not liked")):
    axes.hist(probability[liked[80:] == value], bins=np.linspace(0, 1, 11), alpha=0.6, label=name)
axes.set(xlabel="probability of liked", ylabel="new reviews")
axes.legend()
