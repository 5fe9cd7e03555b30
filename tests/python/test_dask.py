# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validation and grid search on the workers of a Dask cluster, through joblib."""
import os

import distributed
import joblib
import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

import kloom
from conftest import KERNELS, clouds

on_dask = getattr(joblib, "parallel_config", joblib.parallel_backend)   # the name since joblib 1.3, and before


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        with distributed.Client(local) as client:
            yield client


def cases(tmp_path):
    """Name -> estimator and X: features, kernels in an array, in a bank, and in a file that workers map."""
    X, y = clouds()
    cube = np.stack([linear_kernel(X), rbf_kernel(X), laplacian_kernel(X)], axis=2)
    kloom.KernelBank(cube).save(tmp_path / "bank.file")
    given = kloom.SimpleMKLClassifier(kernels="precomputed", probability=False)
    return y, {"features": (kloom.SimpleMKLClassifier(kernels=KERNELS, probability=False), X),
               "array": (given, cube),
               "bank": (given, kloom.KernelBank(cube)),
               "file": (given, kloom.KernelBank.load(tmp_path / "bank.file"))}


@pytest.mark.parametrize("name", ["features", "array", "bank", "file"])
def test_a_cluster_gives_the_same_scores(name, cluster, tmp_path):
    y, known = cases(tmp_path)
    est, X = known[name]
    alone = cross_val_score(est, X, y, cv=3)
    grid = {"C": [0.01, 1.0]}
    alone_search = GridSearchCV(est, grid, cv=3).fit(X, y)
    with on_dask("dask"):
        assert np.array_equal(cross_val_score(est, X, y, cv=3), alone)
        search = GridSearchCV(est, grid, cv=3).fit(X, y)
    for key in ("mean_test_score", "std_test_score"):
        assert np.array_equal(search.cv_results_[key], alone_search.cv_results_[key])
    assert np.array_equal(search.decision_function(X), alone_search.decision_function(X))


def where_it_was_fitted(est, X, y):
    return os.getpid(), est.fit(X, y).decision_function(X)


def test_workers_do_the_fits_and_send_models_back(cluster):
    X, y = clouds()
    est = kloom.BEMKLClassifier(kernels=KERNELS)
    with on_dask("dask"):
        found = joblib.Parallel()(joblib.delayed(where_it_was_fitted)(est, X, y) for _ in range(4))
        fitted, = joblib.Parallel()(joblib.delayed(est.fit)(X, y) for _ in range(1))
    wanted = est.fit(X, y).decision_function(X)
    assert os.getpid() not in {process for process, _ in found}
    for scores in (*(scores for _, scores in found), fitted.decision_function(X)):
        assert np.array_equal(scores, wanted)
