# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn from 1.2 on: the few names that changed meanwhile."""
import inspect

from sklearn.utils.validation import check_array

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator, X, y="no_validation", **options):
        return estimator._validate_data(X, y, **options)


_FINITE = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"


def allow_nan():
    """Keyword arguments of check_array that let NaN pass."""
    return {_FINITE: "allow-nan"}
