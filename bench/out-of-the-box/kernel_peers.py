# SPDX-License-Identifier: BSD-3-Clause
"""What a user with several kernels or several views would have taken instead.

Kernels are the given ones, or a linear one on each view; each is scaled to a diagonal of ones.
"""
import numpy as np
from scipy import sparse
from sklearn import svm

from columns import Encoder
from peers import Peer, Prediction, folds, safe, search, with_probabilities

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MKL_ROWS = 2000  # training rows up to which the packages for multiple kernel learning are tried


def dense(x):
    return x.toarray() if sparse.issparse(x) else x


def unit_diagonal(kernel, left, right):
    """k(x,z)/sqrt(k(x,x) k(z,z)); a sample with k(x,x)=0 (an absent view) is like no other."""
    left, right = (np.where(values > 0, values, np.inf) for values in (left, right))
    return kernel / np.sqrt(left)[:, None] / np.sqrt(right)[None, :]


class GivenKernels:
    """Training and test kernels out of the matrices of the set."""

    def fit(self, data, train):
        self.kernels, self.train = data.kernels, train
        return self.of(train)

    def of(self, rows):
        return [unit_diagonal(kernel[np.ix_(rows, self.train)], np.diag(kernel)[rows], np.diag(kernel)[self.train])
                for kernel in self.kernels]


class ViewKernels:
    """A linear kernel on each view; without views, polynomials of growing degree on all columns, if degrees are asked for."""

    def __init__(self, degrees=1):
        self.degrees = degrees

    def fit(self, data, train):
        self.data = data
        views = data.views()
        self.powers = range(1, self.degrees + 1) if len(views) == 1 else [1]
        rows = [data.rows[i] for i in train]
        self.encoders = [Encoder(columns) for columns in views.values()]
        self.x = [encoder.fit_transform(rows) for encoder in self.encoders]
        return self._kernels(self.x)

    def of(self, rows):
        cells = [self.data.rows[i] for i in rows]
        return self._kernels([encoder.transform(cells) for encoder in self.encoders])

    def _kernels(self, new):
        kernels = []
        for x, z in zip(new, self.x):
            squares = [np.asarray(dense(m.multiply(m) if sparse.issparse(m) else m * m)).sum(axis=1) for m in (x, z)]
            base = unit_diagonal(dense(x @ z.T), *squares)
            kernels += [base ** power for power in self.powers]
        return kernels


def choose_cost(kernels, y):
    """Which kernel and which C do best on held-out folds."""
    def held_out(setting, fit, held):
        number, c = setting
        kernel = kernels[number]
        return safe(svm.SVC(kernel="precomputed", C=c), kernel[np.ix_(fit, fit)], y[fit]).predict(kernel[np.ix_(held, fit)])
    grid = [(number, c) for number in range(len(kernels)) for c in COSTS]
    return search(grid, y, True, held_out)[0]


class KernelPeer(Peer):
    def source(self, data):
        return GivenKernels() if data.kernels is not None else ViewKernels()

    def suits(self, data, train_rows):
        return data.task != "regression" and (data.kernels is not None or data.info.views > 1)

    def fit(self, data, train):
        self.kernels = self.source(data)
        self.train(self.kernels.fit(data, train), data.y[train])


class MeanKernel(KernelPeer):
    name = "mean kernel + SVM"

    def train(self, kernels, y):
        mean = sum(kernels) / len(kernels)
        _, c = choose_cost([mean], y)
        self.model = with_probabilities(c, kernel="precomputed").fit(mean, y)

    def predict(self, test):
        kernels = self.kernels.of(test)
        mean = sum(kernels) / len(kernels)
        return Prediction(labels=self.model.predict(mean), classes=self.model.classes_,
                          probabilities=self.model.predict_proba(mean))


class BestKernel(KernelPeer):
    name = "best kernel + SVM"

    def suits(self, data, train_rows):
        return data.kernels is not None

    def train(self, kernels, y):
        self.number, c = choose_cost(kernels, y)
        self.model = with_probabilities(c, kernel="precomputed").fit(kernels[self.number], y)

    def predict(self, test):
        kernel = self.kernels.of(test)[self.number]
        return Prediction(labels=self.model.predict(kernel), classes=self.model.classes_,
                          probabilities=self.model.predict_proba(kernel))


class MKLpy(KernelPeer):
    """MKLpy by its defaults. On a table without views: homogeneous polynomials of degree 1 to 10, as in its tutorial."""
    needs = "MKLpy.algorithms"
    algorithm = ""

    def source(self, data):
        return GivenKernels() if data.kernels is not None else ViewKernels(degrees=10)

    def suits(self, data, train_rows):
        return data.task != "regression" and train_rows <= MKL_ROWS

    def train(self, kernels, y):
        import MKLpy.algorithms
        # MKLpy takes labels that are numbers, and nothing else.
        self.names, codes = np.unique(y, return_inverse=True)
        self.model = getattr(MKLpy.algorithms, self.algorithm)().fit(kernels, codes)

    def predict(self, test):
        codes = np.asarray(self.model.predict(self.kernels.of(test))).astype(int)
        return Prediction(labels=self.names[codes])


class EasyMKL(MKLpy):
    name = "MKLpy EasyMKL"
    algorithm = "EasyMKL"


class AverageMKL(MKLpy):
    name = "MKLpy AverageMKL"
    algorithm = "AverageMKL"


class Himalaya(KernelPeer):
    """Multiple kernel ridge regression with himalaya's random search; classes by the largest of one output each."""
    name = "himalaya"
    needs = "himalaya.kernel_ridge"

    def suits(self, data, train_rows):
        return super().suits(data, train_rows) and train_rows <= MKL_ROWS

    def train(self, kernels, y):
        from himalaya.kernel_ridge import MultipleKernelRidgeCV
        self.classes = np.unique(y)
        targets = (y[:, None] == self.classes[None, :]).astype(float)
        self.offset = targets.mean(axis=0)
        options = {"n_iter": 50, "alphas": np.logspace(-4, 4, 9), "progress_bar": False}
        self.model = MultipleKernelRidgeCV(kernels="precomputed", solver="random_search", solver_params=options,
                                           cv=folds(y, True), random_state=0)
        self.model.fit(np.stack(kernels), targets - self.offset)

    def predict(self, test):
        # himalaya wants kernels of new samples as (kernels, new, training).
        scores = np.asarray(self.model.predict(np.stack(self.kernels.of(test)))) + self.offset
        return Prediction(labels=self.classes[np.argmax(scores, axis=1)])
