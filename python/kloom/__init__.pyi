# SPDX-License-Identifier: BSD-3-Clause
# Written by tools/make-stubs; do not edit.
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

_Array = NDArray[np.float64]
_KernelFunction = Callable[[Any, Any], ArrayLike]
_Kernels = Union[str, "Kernels", _KernelFunction, Sequence[_KernelFunction], None]
_Values = Union[str, float, Sequence[float], None]

__version__: str

class AlignClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AlignClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "AlignClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class AlignFClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AlignFClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "AlignFClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class AlignFRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AlignFRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "AlignFRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class AlignRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AlignRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "AlignRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class AutoMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        time: float = 0.0,
        folds: int = 0,
        landmarks: int = 0,
        screen_on: int = 350,
        machines: str | Sequence[float] | None = None,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AutoMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "AutoMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class AutoMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        time: float = 0.0,
        folds: int = 0,
        landmarks: int = 0,
        screen_on: int = 350,
        machines: str | Sequence[float] | None = None,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AutoMKLRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "AutoMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class BEMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        sigma_g: float = 0.0,
        margin: float = 0.5,
        multiclass: Literal["shared", "one-versus-all"] = "shared",
        likelihood: Literal["probit", "multinomial"] = "probit",
        max_iter: int = 1000,
        tol: float = 1e-05,
        acceleration: Literal["anderson", "none"] = "anderson",
        sparse: bool = False,
        sparse_samples: bool = False,
        non_negative: bool = False,
        alpha_lambda: float = 1.0,
        beta_lambda: float = 1.0,
        alpha_gamma: float = 1.0,
        beta_gamma: float = 1.0,
        alpha_omega: float = 1.0,
        beta_omega: float = 1.0,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        start: Literal["mean", "random"] = "mean",
        restarts: int = 1,
        variance: bool = True,
        calibration: Literal["held-out", "none"] = "held-out",
        literal: bool = False,
        unlabelled: Any = None,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BEMKLClassifier": ...
    @property
    def lower_bound_(self) -> Any: ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "BEMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class BEMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        sigma_g: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-05,
        acceleration: Literal["anderson", "none"] = "anderson",
        sparse: bool = False,
        sparse_samples: bool = False,
        non_negative: bool = False,
        alpha_lambda: float = 1.0,
        beta_lambda: float = 1.0,
        alpha_gamma: float = 1.0,
        beta_gamma: float = 1.0,
        alpha_omega: float = 1.0,
        beta_omega: float = 1.0,
        alpha_upsilon: float = 1.0,
        beta_upsilon: float = 1.0,
        alpha_epsilon: float = 1.0,
        beta_epsilon: float = 1.0,
        start: Literal["mean", "random"] = "mean",
        restarts: int = 1,
        variance: bool = True,
        calibration: Literal["held-out", "none"] = "held-out",
        literal: bool = False,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BEMKLRegressor": ...
    @property
    def lower_bound_(self) -> Any: ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "BEMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class BEMKLTasks:
    def __init__(self, kernels: Any = None, *, weights_across: Any = "auto", sigma_g: Any = 0.0, margin: Any = 0.5, max_iter: Any = 1000, tol: Any = 1e-05, acceleration: Any = "anderson", sparse: Any = False, alpha_lambda: Any = 1.0, beta_lambda: Any = 1.0, alpha_gamma: Any = 1.0, beta_gamma: Any = 1.0, alpha_omega: Any = 1.0, beta_omega: Any = 1.0, alpha_epsilon: Any = 1.0, beta_epsilon: Any = 1.0, class_weight: Any = None, variance: Any = True, calibration: Any = "held-out", standardise: Any = True, normalise: Any = "unit-diagonal", n_jobs: Any = None, random_state: Any = None, verbose: Any = 0) -> None: ...
    def fit(self, X: Any, y: Any) -> "BEMKLTasks": ...
    @classmethod
    def load(cls, path: Any) -> "BEMKLTasks": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "BEMKLTasks": ...

class CalibrationDisplay:
    def __init__(self, *, promised: Any, happened: Any, counts: Any, labels: Any) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, bins: Any = 10, ax: Any = None, **line: Any) -> "CalibrationDisplay": ...
    def plot(self, *, ax: Any = None, **line: Any) -> Any: ...

class ClassEmbeddingDisplay:
    def __init__(self, *, places: Any, classes: Any) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **points: Any) -> "ClassEmbeddingDisplay": ...
    def plot(self, *, ax: Any = None, **points: Any) -> Any: ...

class ConvergenceDisplay:
    def __init__(self, *, iterations: Any, objective: Any, name: Any) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line: Any) -> "ConvergenceDisplay": ...
    def plot(self, *, ax: Any = None, **line: Any) -> Any: ...

class EasyMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        reg_lambda: float = 0.1,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "EasyMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "EasyMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class EditDistances:
    def __init__(self, width: Any = None) -> None: ...
    def fit_transform(self, X: Any, y: Any = None) -> Any: ...
    def transform(self, X: Any) -> Any: ...

class FHeuristicClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "FHeuristicClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "FHeuristicClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class FHeuristicRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "FHeuristicRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "FHeuristicRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class GMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-1..10^3",
        folds: int = 3,
        reg_lambda: float = 1.0,
        regulariser: Literal["l1", "l2"] = "l1",
        tol: float = 0.01,
        max_iter: int = 200,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "GMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class GMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-1..10^3",
        folds: int = 3,
        reg_lambda: float = 1.0,
        regulariser: Literal["l1", "l2"] = "l1",
        epsilon: float = 0.1,
        tol: float = 0.01,
        max_iter: int = 200,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GMKLRegressor": ...
    def predict(self, X: Any) -> Any: ...
    def save(self, path: Any) -> "GMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class GPMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        evidence_samples: int = 2000,
        variance_samples: int = 2000,
        penalty: float = 0.0,
        calibrate: bool = True,
        max_iter: int = 200,
        tol: float = 0.001,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    @property
    def constant_weight_(self) -> Any: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GPMKLClassifier": ...
    @property
    def log_evidence_(self) -> Any: ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "GPMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class GPMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        evidence_samples: int = 2000,
        variance_samples: int = 2000,
        penalty: float = 0.0,
        max_iter: int = 200,
        tol: float = 0.001,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    @property
    def constant_weight_(self) -> Any: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GPMKLRegressor": ...
    @property
    def log_evidence_(self) -> Any: ...
    @property
    def noise_variance_(self) -> Any: ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "GPMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class GRAMClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        reg_lambda: float = 0.1,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GRAMClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "GRAMClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class GappySpectrum:
    def __init__(self, k: Any = 3, gaps: Any = 1, normalise: Any = True) -> None: ...
    def fit_transform(self, X: Any, y: Any = None) -> Any: ...
    def transform(self, X: Any) -> Any: ...

class GroupMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        groups: str | Sequence[float] | None = "views",
        mix: float = 1.0,
        norm: float = 2.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GroupMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "GroupMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class GroupMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        groups: str | Sequence[float] | None = "views",
        mix: float = 1.0,
        norm: float = 2.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GroupMKLRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "GroupMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class KernelBank:
    def __init__(self, kernels: Any, names: Any = None) -> None: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> _Array: ...
    def __getitem__(self, key: Any) -> "KernelBank": ...
    def __len__(self) -> int: ...
    def checked(self, clip_spectrum: Any = False) -> "KernelBank": ...
    @classmethod
    def load(cls, path: Any) -> "KernelBank": ...
    def save(self, path: Any) -> "KernelBank": ...
    @property
    def shape(self) -> Any: ...
    def stack(self) -> _Array: ...

class KernelFunctions:
    def __init__(self, kernels: Any, normalise: Any = True) -> None: ...
    def fit(self, X: Any, y: Any = None) -> "KernelFunctions": ...
    def fit_transform(self, X: Any, y: Any = None) -> Any: ...
    def transform(self, X: Any) -> Any: ...

class KernelWeightsDisplay:
    def __init__(self, *, weights: Any, names: Any, deviation: Any = None) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, *, output: Any = None, most: Any = 20, ax: Any = None, **bars: Any) -> "KernelWeightsDisplay": ...
    def plot(self, *, ax: Any = None, **bars: Any) -> Any: ...

class Kernels:
    def __init__(self, spec: Any) -> None: ...
    def __add__(self, other: Any) -> "Kernels": ...
    def __radd__(self, other: Any) -> "Kernels": ...

class LMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 1.0,
        C_grid: str | Sequence[float] | None = None,
        gate: Literal["softmax", "sigmoid"] = "softmax",
        gate_kernel: str | Sequence[float] | None = "mean",
        gate_inputs: int = 10,
        steps: int = 50,
        change: float = 0.0001,
        tol: float = 1e-05,
        folds: int = 5,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "LMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class LMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 1.0,
        C_grid: str | Sequence[float] | None = None,
        gate: Literal["softmax", "sigmoid"] = "softmax",
        gate_kernel: str | Sequence[float] | None = "mean",
        gate_inputs: int = 10,
        steps: int = 50,
        change: float = 0.0001,
        tol: float = 1e-05,
        epsilon: float = 0.1,
        folds: int = 5,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LMKLRegressor": ...
    def predict(self, X: Any) -> Any: ...
    def save(self, path: Any) -> "LMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class LPBetaClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        weights_per: Literal["kernel", "class"] = "kernel",
        nu: float = 0.0,
        nu_grid: str | Sequence[float] | None = "0.05,0.1,0.2,0.4,0.8",
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LPBetaClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "LPBetaClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class LpMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        norm: float = 2.0,
        groups: str | Sequence[float] | None = "all",
        mix: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LpMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "LpMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class LpMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        norm: float = 2.0,
        groups: str | Sequence[float] | None = "all",
        mix: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LpMKLRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "LpMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class MKLDAClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        mode: Literal["soft", "plain", "literal"] = "soft",
        sweeps: int = 0,
        epochs: float = 3.0,
        strengths: str | Sequence[float] | None = "0.3,1,3,10,30,100,300,3000",
        choose_on: int = 5000,
        probability: bool = True,
        kappa: float = 1.0,
        theta: float = 1.0,
        mu: float = 1.0,
        sigma: float = 1.0,
        budget: int = 0,
        approx: str = "none",
        features: int = 32,
        dt_update: int = 200,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKLDAClassifier": ...
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "MKLDAClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "MKLDAClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class MKRRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        draws: int = 100,
        alpha_grid: str | Sequence[float] | None = "10^-4..10^4",
        steps: int = 0,
        weights: Literal["draws", "groups"] = "draws",
        groups: str | Sequence[float] | None = "views",
        mix: float = 1.0,
        norm: float = 2.0,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKRRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "MKRRegressor": ...
    def score_by_kernel(self, X: Any, y: Any) -> Any: ...
    def views_present(self, X: Any) -> Any: ...

class MTMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        max_iter: int = 1000,
        tol: float = 1e-07,
        least_noise: float = 1e-06,
        rescale: bool = True,
        variance: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MTMKLRegressor": ...
    @property
    def inclusion_(self) -> Any: ...
    @property
    def lower_bound_(self) -> Any: ...
    @property
    def noise_variance_(self) -> Any: ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "MTMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class MismatchSpectrum:
    def __init__(self, k: Any = 3, mismatches: Any = 1, normalise: Any = True) -> None: ...
    def fit_transform(self, X: Any, y: Any = None) -> Any: ...
    def transform(self, X: Any) -> Any: ...

class MulticlassMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 1.0,
        C_grid: str | Sequence[float] | None = None,
        folds: int = 3,
        algorithm: Literal["level", "silp", "silp-compact", "qcqp"] = "level",
        class_kernels: str | Sequence[float] | None = "identity",
        loss: Literal["hinge", "squared-hinge", "logistic"] = "hinge",
        bias: bool = True,
        probability: bool = True,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    @property
    def class_embedding_(self) -> Any: ...
    @property
    def class_similarity_(self) -> Any: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MulticlassMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "MulticlassMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class PWMKClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        threshold: float = 0.5,
        single_C: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PWMKClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "PWMKClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class PathDisplay:
    def __init__(self, *, option: Any, measure: Any, curves: Any) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line: Any) -> "PathDisplay": ...
    def plot(self, *, ax: Any = None, **line: Any) -> Any: ...

class SAMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-1..10^4",
        m0: str | Sequence[float] | None = "0..3",
        updates: Literal["auto", "one", "stop", "literal"] = "auto",
        update_limit: int = 10,
        h0: str | Sequence[float] | None = "all",
        margins: Literal["updated", "one"] = "updated",
        least_margin: float = 0.01,
        folds: int = 5,
        tol: float = 0.001,
        max_iter: int = 500,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SAMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "SAMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class SampleKernelsDisplay:
    def __init__(self, *, values: Any, names: Any, label: Any) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, output: Any = 0, ax: Any = None, **image: Any) -> "SampleKernelsDisplay": ...
    def plot(self, *, ax: Any = None, **image: Any) -> Any: ...

class SimpleMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        algorithm: Literal["second-order", "reduced-gradient", "silp", "level"] = "second-order",
        groups: str | Sequence[float] | None = "none",
        mix: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SimpleMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "SimpleMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class SimpleMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        algorithm: Literal["second-order", "reduced-gradient", "silp", "level"] = "second-order",
        groups: str | Sequence[float] | None = "none",
        mix: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SimpleMKLRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "SimpleMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class SingleKernelClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        candidates: int = 5,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SingleKernelClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "SingleKernelClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class SingleKernelRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        candidates: int = 5,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SingleKernelRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "SingleKernelRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class UFOMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        reg_lambda: float = 0.0,
        alpha: float = 0.0,
        norm: float = 0.0,
        epochs: float = 10.0,
        reg_lambda_grid: str | Sequence[float] | None = None,
        alpha_grid: str | Sequence[float] | None = None,
        folds: int = 5,
        probability: bool = True,
        budget: int = 0,
        approx: str = "none",
        features: int = 32,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "UFOMKLClassifier": ...
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "UFOMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "UFOMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class UniformMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        tol: float = 0.001,
        max_iter: int = 500,
        multiclass: Literal["one-versus-rest", "one-versus-one"] = "one-versus-rest",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        probability: bool = True,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "UniformMKLClassifier": ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "UniformMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class UniformMKLRegressor(RegressorMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    gap_: float
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        C: float = 0.0,
        C_grid: str | Sequence[float] | None = "10^-2..10^3",
        folds: int = 3,
        epsilon: float = 0.1,
        tol: float = 0.001,
        max_iter: int = 500,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "UniformMKLRegressor": ...
    def predict(self, X: Any, return_std: Any = False) -> Any: ...
    def save(self, path: Any) -> "UniformMKLRegressor": ...
    def views_present(self, X: Any) -> Any: ...

class VBpMKLClassifier(ClassifierMixin, BaseEstimator):
    kernel_weights_: _Array
    kernel_weights_std_: _Array
    kernel_names_: NDArray[np.object_]
    weights_by_view_: dict[str, float]
    n_iter_: int
    report_: dict[str, Any]
    objective_: float
    dual_coef_: _Array
    intercept_: _Array
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    columns_: list[dict[str, Any]]
    kernel_reasons_: list[str]
    classes_: NDArray[Any]
    def __init__(
        self,
        kernels: _Kernels = None,
        *,
        tau: float = 0.001,
        upsilon: float = 0.001,
        max_iter: int = 500,
        tol: float = 0.0001,
        variance: bool = True,
        literal: bool = False,
        draws: int = 1000,
        mu: float = 1.0,
        reg_lambda: float = 1.0,
        views: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        text: Sequence[str] | None = None,
        standardise: bool = True,
        normalise: str = "unit-diagonal",
        bank: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | type = 0,
    ) -> None: ...
    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]: ...
    def contributions(self, X: Any, return_std: Any = False) -> Any: ...
    def decision_function(self, X: Any, return_std: Any = False) -> Any: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "VBpMKLClassifier": ...
    @property
    def lower_bound_(self) -> Any: ...
    def predict(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> _Array: ...
    def predict_proba(self, X: Any) -> _Array: ...
    def save(self, path: Any) -> "VBpMKLClassifier": ...
    def views_present(self, X: Any) -> Any: ...

class Views:
    def __init__(self, views: Any) -> None: ...
    def __getitem__(self, rows: Any) -> "Views": ...
    def __len__(self) -> int: ...
    @property
    def ndim(self) -> Any: ...
    @property
    def present(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
    def table(self) -> Any: ...

def chi2(gamma: Any = "auto", *, count: Any = None, on: Any = None, normalise: Any = None) -> Kernels: ...

def cosine(*, on: Any = None, normalise: Any = None) -> Kernels: ...

def intersection(*, on: Any = None, normalise: Any = None) -> Kernels: ...

def laplacian(gamma: Any = "auto", *, count: Any = None, on: Any = None, normalise: Any = None) -> Kernels: ...

def linear(*, on: Any = None, normalise: Any = None) -> Kernels: ...

def load(path: Any) -> BaseEstimator: ...

def machine_info(measure: Any = False) -> dict[str, Any]: ...

def poly(degree: Any = 2, *, on: Any = None, normalise: Any = None) -> Kernels: ...

def rbf(width: Any = None, gamma: Any = None, *, count: Any = None, on: Any = None, normalise: Any = None) -> Kernels: ...

def trees(leaves: Any = 16, *, folds: Any = None, on: Any = None, normalise: Any = None) -> Kernels: ...

def view(name: Any) -> str: ...

__all__ = ["AlignClassifier", "AlignFClassifier", "AlignFRegressor", "AlignRegressor", "AutoMKLClassifier", "AutoMKLRegressor", "BEMKLClassifier", "BEMKLRegressor", "BEMKLTasks", "CalibrationDisplay", "ClassEmbeddingDisplay", "ConvergenceDisplay", "EasyMKLClassifier", "EditDistances", "FHeuristicClassifier", "FHeuristicRegressor", "GMKLClassifier", "GMKLRegressor", "GPMKLClassifier", "GPMKLRegressor", "GRAMClassifier", "GappySpectrum", "GroupMKLClassifier", "GroupMKLRegressor", "KernelBank", "KernelFunctions", "KernelWeightsDisplay", "Kernels", "LMKLClassifier", "LMKLRegressor", "LPBetaClassifier", "LpMKLClassifier", "LpMKLRegressor", "MKLDAClassifier", "MKRRegressor", "MTMKLRegressor", "MismatchSpectrum", "MulticlassMKLClassifier", "PWMKClassifier", "PathDisplay", "SAMKLClassifier", "SampleKernelsDisplay", "SimpleMKLClassifier", "SimpleMKLRegressor", "SingleKernelClassifier", "SingleKernelRegressor", "UFOMKLClassifier", "UniformMKLClassifier", "UniformMKLRegressor", "VBpMKLClassifier", "Views", "chi2", "cosine", "intersection", "laplacian", "linear", "load", "machine_info", "poly", "rbf", "trees", "view"]
