# SPDX-License-Identifier: BSD-3-Clause
"""What a user would have taken instead: scikit-learn's usual estimators, with the grids that people search.

A competitor has `name`, `suits(data, train_rows)`, and `fit(data, train)`, after which `predict(test)` gives a Prediction.
Searches are over five folds of the training part. Intervals of numbers, where an estimator has none of its own, are the
prediction plus and minus the 90 % quantile of the absolute errors on held-out folds.
"""
import inspect
import warnings

import numpy as np
from sklearn import ensemble, gaussian_process, linear_model, metrics, svm
from sklearn.gaussian_process import kernels as gp_kernels

from columns import Encoder
from sets import divide, hashed_groups

FOLDS = 5
INTERVAL = 0.9
SEARCH_ALL = 5000     # training rows up to which a grid is searched on all of them
SEARCH_SOME = 2000    # rows of the subsample beyond
TEXT_TERMS = 1000     # columns that a text makes for trees
GP_ROWS, GP_CLASSES = 500, 6


class Prediction:
    """labels and probabilities (columns in the order of classes), or numbers with an interval; None for what is not given."""

    def __init__(self, labels=None, classes=None, probabilities=None, mean=None, lower=None, upper=None):
        self.labels, self.classes, self.probabilities = labels, classes, probabilities
        self.mean, self.lower, self.upper = mean, lower, upper


def folds(y, classes):
    """Five pairs of row numbers, stratified; the same everywhere."""
    number = np.empty(len(y), dtype=int)
    dealt = 0  # Goes on from class to class, so that classes with few samples do not all land in the first fold.
    for rows in hashed_groups(len(y), y.tolist() if classes else None, "folds"):
        for row in rows:
            number[row] = dealt % FOLDS
            dealt += 1
    return [(np.flatnonzero(number != fold), np.flatnonzero(number == fold)) for fold in range(FOLDS)]


def subsample(y, classes):
    """The rows on which a grid is searched."""
    if len(y) <= SEARCH_ALL:
        return np.arange(len(y))
    _, kept = divide(len(y), y.tolist() if classes else None, "search", SEARCH_SOME / len(y))
    return np.array(kept)


def search(grid, y, classes, held_out):
    """The setting that does best on held-out folds, the first of equals; and the absolute errors there, of numbers.

    held_out(setting, fit, held) predicts the rows `held` after fitting on the rows `fit`. Beside labels it may give
    the log-probabilities of the truth, which then decide between settings of the same accuracy.
    """
    pairs = folds(y, classes)
    truth = np.concatenate([y[held] for _, held in pairs])
    best = None
    for setting in grid:
        answers = [held_out(setting, fit, held) for fit, held in pairs]
        ties = 0.0
        if isinstance(answers[0], tuple):
            ties = np.mean(np.concatenate([logs for _, logs in answers]))
            answers = [labels for labels, _ in answers]
        predicted = np.concatenate(answers)
        score = (np.mean(predicted == truth) if classes else -np.mean((predicted - truth) ** 2), ties)
        if best is None or score > best[0]:
            best = (score, setting, None if classes else np.abs(predicted - truth))
    return best[1], best[2]


def log_probabilities(model, x, y):
    """Logarithm of the probability that the model gives to each true class; a class that it never saw has almost none."""
    probabilities = model.predict_proba(x)
    place = {name: number for number, name in enumerate(model.classes_.tolist())}
    of_truth = [row[place[name]] if name in place else 0.0 for row, name in zip(probabilities, y.tolist())]
    return np.log(np.clip(of_truth, 1e-15, 1.0))


def safe(estimator, x, y):
    """fit, where a fold may be left with one class; an answer is needed all the same."""
    if len(set(y.tolist())) > 1:
        return estimator.fit(x, y)
    from sklearn.dummy import DummyClassifier
    return DummyClassifier().fit(x, y)


class Peer:
    """An estimator on encoded columns."""
    name = ""
    encoding = {}

    def suits(self, data, train_rows):
        return data.kernels is None

    def fit(self, data, train):
        self.data, self.classes = data, data.task != "regression"
        self.encoder = Encoder(**self.encoding)
        x = self.encoder.fit_transform([data.rows[i] for i in train])
        self.train(x, data.y[train])

    def predict(self, test):
        x = self.encoder.transform([self.data.rows[i] for i in test])
        if not self.classes:
            return self.numbers(x)
        return Prediction(labels=self.model.predict(x), classes=self.model.classes_,
                          probabilities=self.model.predict_proba(x))

    def numbers(self, x):
        mean = self.model.predict(x)
        return Prediction(mean=mean, lower=mean - self.margin, upper=mean + self.margin)


class Linear(Peer):
    """Logistic regression, or ridge regression."""
    name = "logistic / ridge"

    def train(self, x, y):
        if not self.classes:
            return self.train_ridge(x, y)
        rows = subsample(y, True)
        xs, ys = x[rows], y[rows]

        def held_out(c, fit, held):
            model = safe(linear_model.LogisticRegression(C=c, max_iter=200, tol=1e-3), xs[fit], ys[fit])
            return model.predict(xs[held]), log_probabilities(model, xs[held], ys[held])
        c, _ = search(10.0 ** np.arange(-3, 3), ys, True, held_out)
        self.model = linear_model.LogisticRegression(C=c, max_iter=2000).fit(x, y)

    def train_ridge(self, x, y):
        rows = subsample(y, False)
        xs, ys = x[rows], y[rows]

        def held_out(alpha, fit, held):
            return linear_model.Ridge(alpha=alpha).fit(xs[fit], ys[fit]).predict(xs[held])
        alpha, errors = search(10.0 ** np.arange(-3, 5), ys, False, held_out)
        self.margin = np.quantile(errors, INTERVAL)
        self.model = linear_model.Ridge(alpha=alpha).fit(x, y)


def with_probabilities(c, **kernel):
    """SVC with probabilities: Platt's, from five folds inside; newer versions of scikit-learn have a wrapper for that."""
    if "probability" in inspect.signature(svm.SVC).parameters:
        return svm.SVC(C=c, probability=True, random_state=0, cache_size=500, **kernel)
    from sklearn.calibration import CalibratedClassifierCV
    return CalibratedClassifierCV(svm.SVC(C=c, cache_size=500, **kernel), ensemble=False)


class SupportVectors(Peer):
    """Gaussian kernel with a grid over C and gamma."""
    name = "SVM"
    costs = (0.1, 1.0, 10.0, 100.0)
    factors = (0.03, 0.1, 0.3, 1.0, 3.0)  # times the inverse of the mean squared distance

    def train(self, x, y):
        self.shift, self.unit = (0.0, 1.0) if self.classes else (y.mean(), y.std() or 1.0)
        if not self.classes:
            y = (y - self.shift) / self.unit
        rows = subsample(y, self.classes)
        distances, ys = metrics.pairwise.euclidean_distances(x[rows], squared=True), y[rows]
        widest = 1.0 / max(distances.mean(), 1e-300)
        make = svm.SVC if self.classes else svm.SVR

        # Kernels are computed once for each gamma instead of once for each fit: much quicker with many columns.
        kernel_of = {}

        def held_out(setting, fit, held):
            gamma, c = setting
            if gamma not in kernel_of:
                kernel_of.clear()
                kernel_of[gamma] = np.exp(-gamma * distances)
            kernel = kernel_of[gamma]
            model = make(kernel="precomputed", C=c)
            return safe(model, kernel[np.ix_(fit, fit)], ys[fit]).predict(kernel[np.ix_(held, fit)])
        grid = [(factor * widest, c) for factor in self.factors for c in self.costs]
        (gamma, c), errors = search(grid, ys, self.classes, held_out)
        if self.classes:
            self.model = with_probabilities(c, gamma=gamma).fit(x, y)
        else:
            self.margin = np.quantile(errors, INTERVAL) * self.unit
            self.model = svm.SVR(C=c, gamma=gamma, cache_size=500).fit(x, y)

    def numbers(self, x):
        mean = self.model.predict(x) * self.unit + self.shift
        return Prediction(mean=mean, lower=mean - self.margin, upper=mean + self.margin)


class Forest(Peer):
    name = "random forest"
    encoding = {"scale": False, "most_terms": TEXT_TERMS}

    def train(self, x, y):
        make = ensemble.RandomForestClassifier if self.classes else ensemble.RandomForestRegressor
        self.model = make(n_estimators=300, random_state=0, oob_score=not self.classes, n_jobs=1).fit(x, y)
        if not self.classes:
            self.margin = np.quantile(np.abs(self.model.oob_prediction_ - y), INTERVAL)


class Boosting(Peer):
    """Histogram gradient boosting; intervals by two more fits of the 5 % and 95 % quantiles."""
    name = "hist. boosting"
    encoding = {"scale": False, "impute": False, "dense": True, "most_terms": TEXT_TERMS}

    def train(self, x, y):
        early = len(y) > 10000
        if self.classes:
            self.model = ensemble.HistGradientBoostingClassifier(early_stopping=early, random_state=0).fit(x, y)
            return
        make = ensemble.HistGradientBoostingRegressor
        self.model = make(early_stopping=early, random_state=0).fit(x, y)
        self.ends = [make(loss="quantile", quantile=q, early_stopping=early, random_state=0).fit(x, y)
                     for q in (0.5 - INTERVAL / 2, 0.5 + INTERVAL / 2)]

    def numbers(self, x):
        return Prediction(mean=self.model.predict(x), lower=self.ends[0].predict(x), upper=self.ends[1].predict(x))


class GaussianProcess(Peer):
    name = "Gaussian process"
    encoding = {"dense": True}

    def suits(self, data, train_rows):
        few = data.task == "regression" or len(set(data.y.tolist())) <= GP_CLASSES
        return data.kernels is None and train_rows <= GP_ROWS and few

    def train(self, x, y):
        scale = np.sqrt(x.shape[1])
        shape = gp_kernels.ConstantKernel(1.0, (1e-3, 1e4)) * gp_kernels.RBF(scale, (1e-2 * scale, 1e3 * scale))
        if self.classes:
            self.model = gaussian_process.GaussianProcessClassifier(shape, random_state=0).fit(x, y)
            return
        noise = gp_kernels.WhiteKernel(0.1, (1e-8, 1e2))
        self.model = gaussian_process.GaussianProcessRegressor(shape + noise, normalize_y=True, n_restarts_optimizer=2,
                                                               random_state=0).fit(x, y)

    def numbers(self, x):
        mean, deviation = self.model.predict(x, return_std=True)
        return Prediction(mean=mean, lower=mean - 1.6449 * deviation, upper=mean + 1.6449 * deviation)


class LightGBM(Peer):
    name = "LightGBM"
    needs = "lightgbm"
    encoding = {"scale": False, "impute": False, "most_terms": TEXT_TERMS}

    def train(self, x, y):
        import lightgbm
        options = {"n_jobs": 1, "random_state": 0, "verbose": -1}
        if self.classes:
            self.model = lightgbm.LGBMClassifier(**options).fit(x, y)
            return
        self.model = lightgbm.LGBMRegressor(**options).fit(x, y)
        self.ends = [lightgbm.LGBMRegressor(objective="quantile", alpha=q, **options).fit(x, y)
                     for q in (0.5 - INTERVAL / 2, 0.5 + INTERVAL / 2)]

    def numbers(self, x):
        return Prediction(mean=self.model.predict(x), lower=self.ends[0].predict(x), upper=self.ends[1].predict(x))


def quiet():
    """Warnings of convergence and of newer versions are no outcome; errors are."""
    warnings.filterwarnings("ignore")
