# SPDX-License-Identifier: BSD-3-Clause
"""kloom: multiple kernel learning with scikit-learn's interface.

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.model_selection import cross_val_score
>>> from kloom import SimpleMKLClassifier
>>> X, y = load_breast_cancer(return_X_y=True)
>>> clf = SimpleMKLClassifier(kernels="rbf(width=2^0..2^3); linear")
>>> bool(cross_val_score(clf, X, y, cv=3).mean() > 0.95)
True
"""
from ._load import core as _core
from ._auto import AutoMKLClassifier, AutoMKLRegressor
from ._bank import KernelBank
from ._bemkl import BEMKLClassifier, BEMKLRegressor
from ._displays import (
    ClassEmbeddingDisplay,
    ConvergenceDisplay,
    KernelWeightsDisplay,
    SampleKernelsDisplay,
)
from ._files import load
from ._functions import KernelFunctions
from ._gmkl import GMKLClassifier, GMKLRegressor
from ._gp import GPMKLClassifier, GPMKLRegressor
from ._kernels import Kernels, chi2, cosine, intersection, laplacian, linear, poly, rbf, trees, view
from ._local import LMKLClassifier, LMKLRegressor, SAMKLClassifier
from ._lpbeta import LPBetaClassifier
from ._margin import (
    AlignClassifier,
    AlignFClassifier,
    AlignFRegressor,
    AlignRegressor,
    EasyMKLClassifier,
    FHeuristicClassifier,
    FHeuristicRegressor,
    GRAMClassifier,
    GroupMKLClassifier,
    GroupMKLRegressor,
    LpMKLClassifier,
    LpMKLRegressor,
    PWMKClassifier,
    SimpleMKLClassifier,
    SimpleMKLRegressor,
    SingleKernelClassifier,
    SingleKernelRegressor,
    UniformMKLClassifier,
    UniformMKLRegressor,
)
from ._judged_displays import CalibrationDisplay, PathDisplay
from ._multiclass import MulticlassMKLClassifier
from ._mtmkl import MTMKLRegressor
from ._online import MKLDAClassifier, UFOMKLClassifier
from ._ridge import MKRRegressor
from ._several_tasks import BEMKLTasks
from ._strings import EditDistances, GappySpectrum, MismatchSpectrum
from ._vbpmkl import VBpMKLClassifier
from ._views import Views

__version__ = _core.version()


def machine_info(measure=False):
    """The processor, its cores and memory, and the BLAS inside kloom.

    Parameters
    ----------
    measure : bool, default=False
        Also measure how fast it is, which takes a moment.

    Returns
    -------
    info : dict
        What ``kloom info --machine`` prints.
    """
    return _core.machine_info(measure)


__all__ = [
    "AlignClassifier",
    "AlignFClassifier",
    "AlignFRegressor",
    "AlignRegressor",
    "AutoMKLClassifier",
    "AutoMKLRegressor",
    "BEMKLClassifier",
    "BEMKLRegressor",
    "BEMKLTasks",
    "CalibrationDisplay",
    "ClassEmbeddingDisplay",
    "ConvergenceDisplay",
    "EasyMKLClassifier",
    "EditDistances",
    "FHeuristicClassifier",
    "FHeuristicRegressor",
    "GMKLClassifier",
    "GMKLRegressor",
    "GPMKLClassifier",
    "GPMKLRegressor",
    "GRAMClassifier",
    "GappySpectrum",
    "GroupMKLClassifier",
    "GroupMKLRegressor",
    "KernelBank",
    "KernelFunctions",
    "KernelWeightsDisplay",
    "Kernels",
    "LMKLClassifier",
    "LMKLRegressor",
    "LPBetaClassifier",
    "LpMKLClassifier",
    "LpMKLRegressor",
    "MKLDAClassifier",
    "MKRRegressor",
    "MTMKLRegressor",
    "MismatchSpectrum",
    "MulticlassMKLClassifier",
    "PWMKClassifier",
    "PathDisplay",
    "SAMKLClassifier",
    "SampleKernelsDisplay",
    "SimpleMKLClassifier",
    "SimpleMKLRegressor",
    "SingleKernelClassifier",
    "SingleKernelRegressor",
    "UFOMKLClassifier",
    "UniformMKLClassifier",
    "UniformMKLRegressor",
    "VBpMKLClassifier",
    "Views",
    "chi2",
    "cosine",
    "intersection",
    "laplacian",
    "linear",
    "load",
    "machine_info",
    "poly",
    "rbf",
    "trees",
    "view",
]
