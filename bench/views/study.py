#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well samples without some views are learned: views are removed from complete data, and kloom's methods for absent views
are compared with what people do otherwise.

    PYTHONPATH=build/python bench/views/study.py --tables FOLDER [--sets 3sources,msrcv1] [--rates 0,0.2,0.4,0.6,0.8]
                                                 [--pattern random|groups] [--splits 5] [--out results.json]

FOLDER holds tables NAME.csv.gz whose columns are called view.column, besides `label`. Every sample keeps one view at least.
  random   each view of each sample is removed with the rate's probability
  groups   the samples are in five groups of equal size; from each a set of views is removed, of the rate's size on average
The same samples, kernels (rbf on views, widths 0.5, 1 and 2 times the median) and price (C = 10) for all; half of the samples train.
Accuracies of held-out samples, which lack views like the others:

  own margins     lp-mkl, the margin of each sample in the space of its own kernels
  auto            auto with kernels of its own choice from the same spec
  bemkl, mkl-da   the same kernels, all other options as they are
  complete only   lp-mkl on the training samples that have every view; others are predicted by mean imputation
  mean            lp-mkl after every absent feature is the training mean
  zero kernels    lp-mkl on kernels that are 0 where a view is absent
  knn kernels     lp-mkl on kernels whose absent rows are means of the rows of the 5 samples that are nearest in the other views
"""
import argparse
import json
import pathlib
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

from kloom import AutoMKLClassifier, BEMKLClassifier, KernelBank, LpMKLClassifier, MKLDAClassifier

FACTORS = (0.5, 1.0, 2.0)
SPEC = "rbf(auto=0.5,1,2) on views"
PRICE = 10.0
NEIGHBOURS = 5


def read(path, most):
    table = pd.read_csv(path)
    y = table.pop("label").astype(str).to_numpy()
    kept = np.sort(np.random.RandomState(0).permutation(len(y))[:most])
    names = list(dict.fromkeys(column.split(".")[0] for column in table.columns))
    return ({name: table[[c for c in table.columns if c.split(".")[0] == name]].to_numpy(dtype=float)[kept] for name in names},
            y[kept])


def removed(samples, views, rate, pattern, generator):
    """Which views are there: samples x views, at least one each."""
    if pattern == "groups":
        groups = generator.permutation(samples) % 5
        sets = generator.uniform(size=(5, views)) >= rate
        present = sets[groups]
    else:
        present = generator.uniform(size=(samples, views)) >= rate
    for i in np.flatnonzero(~present.any(axis=1)):
        present[i, generator.randint(views)] = True
    return present


def standardised(view, fitted_on):
    mean, deviation = view[fitted_on].mean(axis=0), view[fitted_on].std(axis=0, ddof=1)
    return np.where(deviation > 0, (view - mean) / np.where(deviation > 0, deviation, 1.0), 0.0)


def kernels_of(views, present, train):
    """The kernels of the spec among all samples, fitted on the training samples that have the view, and absent rows as NaN."""
    stack = []
    for v, view in enumerate(views.values()):
        own = train[present[train, v]]
        x = standardised(view, own)
        d2 = np.maximum(0.0, (x ** 2).sum(1)[:, None] + (x ** 2).sum(1)[None] - 2.0 * x @ x.T)
        median = np.median(np.sqrt(d2[np.ix_(own, own)][np.triu_indices(len(own), 1)]))
        for factor in FACTORS:
            kernel = np.exp(-d2 / (2.0 * (factor * median) ** 2))
            kernel[~present[:, v]] = np.nan
            kernel[:, ~present[:, v]] = np.nan
            stack.append(kernel)
    return stack


def completed(stack, present, neighbours):
    """Absent rows and columns as means of those of neighbours: S K S', which stays positive semidefinite; 0 without."""
    similar = np.nanmean(np.array(stack), axis=0) if neighbours else None
    result = []
    for p, kernel in enumerate(stack):
        there = present[:, p // len(FACTORS)]
        whole = np.nan_to_num(kernel)
        if neighbours:
            mixing = np.diag(there.astype(float))
            for i in np.flatnonzero(~there):
                order = [j for j in np.argsort(-np.nan_to_num(similar[i], nan=-1.0)) if there[j]][:neighbours]
                mixing[i, order] = 1.0 / max(1, len(order))
            whole = mixing @ whole @ mixing.T
        result.append(whole)
    return result


def with_kernels(stack, y, train, test):
    stack = np.stack(stack, axis=2)
    model = LpMKLClassifier(kernels="precomputed", C=PRICE, probability=False)
    model.fit(KernelBank(stack[np.ix_(train, train)]), y[train])
    return (model.predict(KernelBank(stack[np.ix_(test, train)])) == y[test]).mean()


def cut(views, present, rows):
    return {name: np.where(present[rows, v][:, None], view[rows], np.nan) for v, (name, view) in enumerate(views.items())}


def imputed(views, present, train):
    filled = {}
    for v, (name, view) in enumerate(views.items()):
        filled[name] = np.where(present[:, v][:, None], view, view[train[present[train, v]]].mean(axis=0))
    return filled


def fit_and_score(model, views, y, train, test, fitted_on=None):
    fitted_on = train if fitted_on is None else fitted_on
    model.fit({name: view[fitted_on] for name, view in views.items()}, y[fitted_on])
    return (model.predict({name: view[test] for name, view in views.items()}) == y[test]).mean()


def accuracies(views, y, present, train, test):
    lp = dict(kernels=SPEC, C=PRICE, probability=False)
    gaps = cut(views, present, np.arange(len(y)))
    filled = imputed(views, present, train)
    stack = kernels_of(views, present, train)
    found = {"own margins": fit_and_score(LpMKLClassifier(**lp), gaps, y, train, test),
             "auto": fit_and_score(AutoMKLClassifier(kernels=SPEC, random_state=0), gaps, y, train, test),
             "bemkl": fit_and_score(BEMKLClassifier(kernels=SPEC), gaps, y, train, test),
             "mkl-da": fit_and_score(MKLDAClassifier(kernels=SPEC, random_state=0), gaps, y, train, test),
             "mean": fit_and_score(LpMKLClassifier(**lp), filled, y, train, test),
             "zero kernels": with_kernels(completed(stack, present, 0), y, train, test),
             "knn kernels": with_kernels(completed(stack, present, NEIGHBOURS), y, train, test)}
    whole = train[present[train].all(axis=1)]
    try:
        found["complete only"] = fit_and_score(LpMKLClassifier(**lp), filled, y, train, test, whole)
    except ValueError:   # too few samples, or one class: the most frequent class of all
        classes, counts = np.unique(y[train], return_counts=True)
        found["complete only"] = (y[test] == classes[counts.argmax()]).mean()
    return found


def study(name, views, y, rates, pattern, splits):
    rows = []
    cuts = list(StratifiedShuffleSplit(splits, test_size=0.5, random_state=1).split(np.zeros(len(y)), y))
    for rate in rates:
        for number, (train, test) in enumerate(cuts):
            generator = np.random.RandomState(100 * number + round(100 * rate))
            present = removed(len(y), len(views), rate, pattern, generator)
            found = accuracies(views, y, present, train, test)
            rows.append({"set": name, "pattern": pattern, "rate": rate, "split": number, "accuracy": found})
    return rows


def table(rows):
    """Mean accuracy and standard error over splits, a line per set and rate."""
    methods = list(rows[0]["accuracy"])
    lines = ["| set | removed | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for key in dict.fromkeys((row["set"], row["pattern"], row["rate"]) for row in rows):
        of = [row["accuracy"] for row in rows if (row["set"], row["pattern"], row["rate"]) == key]
        cells = []
        for method in methods:
            values = 100 * np.array([one[method] for one in of])
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            cells.append(f"{values.mean():.1f} ± {error:.1f}")
        lines.append(f"| {key[0]} | {key[2]:.0%} {key[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=pathlib.Path, required=True)
    parser.add_argument("--sets", default="3sources,msrcv1,nutrimouse,wikipedia")
    parser.add_argument("--rates", default="0,0.2,0.4,0.6,0.8")
    parser.add_argument("--pattern", choices=("random", "groups"), default="random")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--most", type=int, default=400, help="samples of a set that are looked at, at most")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in options.sets.split(","):
        views, y = read(options.tables / f"{name}.csv.gz", options.most)
        rates = [float(rate) for rate in options.rates.split(",")]
        rows += study(name, views, y, rates, options.pattern, options.splits)
        print(table([row for row in rows if row["set"] == name]), flush=True)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
