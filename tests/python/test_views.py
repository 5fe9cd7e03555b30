# SPDX-License-Identifier: BSD-3-Clause
"""Several views as they are: dicts and lists of arrays and frames, of which samples may lack some."""
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import kloom
from kloom import AutoMKLClassifier, BEMKLClassifier, KernelBank, LpMKLClassifier, MKLDAClassifier, UFOMKLClassifier, UniformMKLClassifier, Views

from conftest import clouds


def three_views(samples=60, absent=0.3, seed=4):
    X, y = clouds(samples=samples, features=9, seed=seed)
    generator = np.random.RandomState(seed)
    views = {"rna": X[:, :3].copy(), "clinical": X[:, 3:6] + y[:, None], "image": X[:, 6:]}
    present = generator.uniform(size=(samples, 3)) >= absent
    present[~present.any(axis=1), 0] = True
    for place, view in enumerate(views.values()):
        view[~present[:, place]] = np.nan
    return views, y, present


def test_ways_to_give_the_same_views():
    views, y, present = three_views()
    with_none = {name: [None if np.isnan(row).any() else list(row) for row in view] for name, view in views.items()}
    frames = {name: pd.DataFrame(view, columns=["1", "2", "3"]) for name, view in views.items()}
    expected = UniformMKLClassifier(C=1.0).fit(views, y).decision_function(views)
    for X in (Views(views), with_none, frames, Views(with_none)):
        found = UniformMKLClassifier(C=1.0).fit(X, y).decision_function(X)
        assert np.array_equal(found, expected)
    listed = UniformMKLClassifier(C=1.0).fit(list(views.values()), y)
    assert np.array_equal(listed.decision_function(list(views.values())), expected)
    assert listed.views_present(list(views.values()))["2"].tolist() == present[:, 1].tolist()


def test_one_table_with_views_and_gaps_is_the_same():
    views, y, present = three_views()
    columns = {f"{name}.{k + 1}": view[:, k] for name, view in views.items() for k in range(3)}
    table = pd.DataFrame(columns)
    one = UniformMKLClassifier(C=1.0).fit(table, y)
    several = UniformMKLClassifier(C=1.0).fit(views, y)
    assert np.array_equal(one.decision_function(table), several.decision_function(views))
    found = one.views_present(table)
    for place, name in enumerate(views):
        assert found[name].tolist() == present[:, place].tolist()


@pytest.mark.parametrize("estimator", [AutoMKLClassifier(random_state=1), LpMKLClassifier(C=1.0), BEMKLClassifier(),
                                       MKLDAClassifier(random_state=1), UFOMKLClassifier(random_state=1)])
def test_new_samples_may_lack_any_view(estimator):
    views, y, present = three_views()
    estimator.fit(views, y)
    complete = {name: np.nan_to_num(view) for name, view in views.items()}
    assert estimator.predict_proba(complete).shape == (60, 2)
    assert estimator.views_present(complete)["rna"].all()
    only = estimator.decision_function({"clinical": complete["clinical"]})
    none = estimator.decision_function({"clinical": complete["clinical"], "rna": None, "image": None})
    assert np.array_equal(only, none)
    assert ((only > 0) == (y == 1)).mean() > 0.6
    with pytest.warns(UserWarning, match="lack views"):
        estimator.predict({"clinical": complete["clinical"]})
    with pytest.raises(ValueError, match="no view at all"):
        estimator.predict({name: np.full((2, 3), np.nan) for name in views})


def test_complete_models_predict_samples_that_lack_views():
    views, y, _ = three_views(absent=0.0)
    model = LpMKLClassifier(C=1.0).fit(views, y)
    there = model.decision_function({"rna": views["rna"], "clinical": views["clinical"]})
    assert np.isfinite(there).all()


@pytest.mark.parametrize("estimator", [MKLDAClassifier, UFOMKLClassifier])
def test_stochastic_methods_scale_what_samples_have(estimator):
    """The same as on kernels that are given and scaled: a sample with one view of three counts three times."""
    views, y, present = three_views()
    scales = np.sqrt(3 / present.sum(axis=1))
    stack = []
    for place, view in enumerate(views.values()):
        own = view[present[:, place]]
        x = np.nan_to_num((view - own.mean(axis=0)) / own.std(axis=0, ddof=1))
        norms = np.where(present[:, place], np.linalg.norm(x, axis=1), 1.0)
        stack.append(x @ x.T / np.outer(norms, norms) * np.outer(scales, scales))
    bank = KernelBank(np.stack(stack, axis=2))
    expected = estimator(kernels="precomputed", random_state=3).fit(bank, y).decision_function(bank)
    found = estimator(kernels="linear on views", random_state=3).fit(views, y).decision_function(views)
    # Only the order of sums differs.
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_pipelines_and_cross_validation_cut_rows():
    views, y, _ = three_views()
    scores = cross_val_score(make_pipeline(UniformMKLClassifier(C=1.0)), Views(views), y, cv=3)
    assert len(scores) == 3 and scores.mean() > 0.6
    assert Views(views)[[3, 5]].shape == (2, 9)


def test_what_is_refused():
    views, y, _ = three_views()
    with pytest.raises(ValueError, match="different numbers of samples"):
        Views({"a": np.ones((3, 2)), "b": np.ones((4, 2))})
    with pytest.raises(ValueError, match="views is for columns of one array"):
        UniformMKLClassifier(views={"a": [0]}).fit(views, y)
    with pytest.raises(ValueError, match="no view has any samples"):
        Views({"a": None})
    with pytest.raises(ValueError, match="lack some of the views"):
        kloom.LMKLClassifier().fit(views, y)


class Annotated:
    """What kloom asks of an AnnData object, as its documentation describes it."""

    def __init__(self, X, names, obsm=None):
        self.X, self.obsm = X, obsm or {}
        self.obs_names, self.var_names = names, [f"gene{k}" for k in range(X.shape[1])]


class Modalities:
    """The same of MuData: modalities of some of the samples each."""

    def __init__(self, mod):
        self.mod, self.obsm = mod, {}
        self.obs_names = sorted({name for part in mod.values() for name in part.obs_names})


def annotated_kinds():
    """The stand-ins, and the packages' own classes where they are installed."""
    kinds = [(Annotated, Modalities)]
    try:
        import anndata
        import mudata
    except ImportError:
        return kinds
    mudata.set_options(pull_on_update=False)

    def real(X, names, obsm=None):
        return anndata.AnnData(X, obs=pd.DataFrame(index=names), var=pd.DataFrame(index=[f"gene{k}" for k in range(X.shape[1])]),
                               obsm=obsm)
    return [*kinds, (real, mudata.MuData)]


@pytest.mark.parametrize("annotated, modalities", annotated_kinds())
def test_annotated_data(annotated, modalities):
    views, y, present = three_views()
    names = [f"s{i:02d}" for i in range(60)]
    complete = {name: np.nan_to_num(view) for name, view in views.items()}
    one = annotated(np.zeros((60, 2)), names, {"X_pca": complete["rna"], "X_image": complete["image"]})
    found = UniformMKLClassifier(C=1.0).fit(one, y)
    expected = UniformMKLClassifier(C=1.0).fit({"X_pca": complete["rna"], "X_image": complete["image"]}, y)
    assert np.array_equal(found.decision_function(one), expected.decision_function({"X_pca": complete["rna"],
                                                                                     "X_image": complete["image"]}))
    bare = Views(annotated(sparse.csr_matrix(complete["rna"]), names))
    assert bare.shape == (60, 3) and bare.table().names[0] == "X.gene0"
    several = modalities({name: annotated(view[present[:, place]], [names[i] for i in np.flatnonzero(present[:, place])])
                          for place, (name, view) in enumerate(views.items())})
    given = Views(several)
    order = [names.index(name) for name in several.obs_names]
    for place, name in enumerate(views):
        assert given.present[name].tolist() == present[order, place].tolist()
        np.testing.assert_array_equal(np.column_stack(given.tables[name].columns), views[name][order])
    model = UniformMKLClassifier(C=1.0).fit(several, y[order])
    assert model.views_present(several)["rna"].tolist() == present[order, 0].tolist()
    assert cross_val_score(UniformMKLClassifier(C=1.0), given, y[order], cv=3).shape == (3,)
