# SPDX-License-Identifier: BSD-3-Clause
"""Learning from a stream, batch by batch.

Samples come in batches; each batch is first predicted and then learned. Fifty Gaussian widths cost no more than one, and
at most 300 support vectors are kept.
"""
import numpy as np
from sklearn.datasets import make_moons

from kloom import MKLDAClassifier

generator = np.random.RandomState(0)
clf = MKLDAClassifier(kernels="rbf(gamma=2^-6..2^6, count=50)", budget=300)
right = []
for batch in range(12):
    X, y = make_moons(200, noise=0.2, random_state=generator)
    if batch > 0:
        right.append(clf.score(X, y))
    clf.partial_fit(X, y, classes=[0, 1])
print(f"batch by batch, before learning: {np.mean(right[:3]):.3f} at first, {np.mean(right[-3:]):.3f} at last")
print(f"sample by sample:                {clf.prequential_score_:.3f} over {clf.n_samples_seen_} samples")
print(f"support vectors kept:            {clf.n_support_vectors_}")

clf.save("stream.model")
print("'kloom stream --resume -o stream.model' goes on from here")
