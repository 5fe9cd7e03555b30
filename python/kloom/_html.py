# SPDX-License-Identifier: BSD-3-Clause
"""What a notebook shows of an estimator besides scikit-learn's diagram: its kernels."""
import html

import numpy as np

MOST = 12
# Colours of the notebook itself, light or dark; bars are half transparent.
STYLE = "font-family: sans-serif; font-size: 0.85em; border-collapse: collapse; margin-top: 0.4em"
CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; border: 0; background: transparent"


def kernels_html(estimator):
    """The kernels of an estimator as HTML: by weight where it is fitted, else as they were asked for."""
    if hasattr(estimator, "kernel_weights_"):
        return _by_weight(estimator)
    asked = getattr(estimator, "kernels", None)
    words = "chosen to suit the data" if asked is None else str(asked)
    return f"<p style='{STYLE}'>Kernels: <code>{html.escape(words)}</code></p>"


def _by_weight(estimator):
    weights = np.asarray(estimator.kernel_weights_, dtype=float)
    deviation = getattr(estimator, "kernel_weights_std_", None)
    means = weights if weights.ndim == 1 else weights.mean(axis=0)
    if weights.ndim > 1:
        deviation = None
    order = np.argsort(-np.abs(means), kind="stable")
    in_use = max(1, np.count_nonzero(means))
    order = order[:min(MOST, in_use)]
    largest = np.abs(means).max() if len(means) else 0.0
    rows = "".join(_row(estimator.kernel_names_[p], means[p], None if deviation is None else deviation[p], largest) for p in order)
    what = "mean weight" if weights.ndim > 1 else "weight"
    title = f"Kernels by {what}"
    if len(order) < len(means):
        title += f", the {len(order)} of {len(means)} that are not 0" if in_use <= MOST else f", the {len(order)} largest of {len(means)}"
    return f"<table style='{STYLE}'><caption style='text-align: left; padding: 0'>{title}</caption>{rows}</table>"


def _row(name, weight, deviation, largest):
    share = 100 * abs(weight) / largest if largest > 0 else 0
    number = f"{weight:.4g}" + ("" if deviation is None else f" ± {deviation:.2g}")
    bar = (f"<div style='width: {share:.0f}%; height: 0.7em; background: {'#2f6fb0' if weight >= 0 else '#c2571a'}; "
           f"opacity: 0.8'></div>")
    return (f"<tr><td style='{CELL}'><code>{html.escape(str(name))}</code></td><td style='{CELL}'>{number}</td>"
            f"<td style='{CELL}; width: 10em'>{bar}</td></tr>")
