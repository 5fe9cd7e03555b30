# SPDX-License-Identifier: BSD-3-Clause
"""Model files of earlier versions still load and predict what they did."""
import csv

import pytest
from conftest import SOURCE

FOLDER = SOURCE / "tests" / "data" / "models" / "version-1"
MODELS = sorted(FOLDER.glob("*.kloom"))
SAMPLES = {"two": "two-new.csv", "number": "number-new.csv", "nonneg": "two-new.csv"}

# Scores are sums of 24 samples x 5 kernels of size 1 and weights up to 100; another BLAS adds them in another order,
# which moves them by at most 120 roundings of 100 * 2e-16.
TOLERANCE = 120 * 100 * 2.2e-16


def test_there_are_models_of_every_kind():
    assert len(MODELS) == 23


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_predictions_are_as_they_were(kloom, tmp_path, path):
    samples = SAMPLES.get(path.stem.rsplit("-", 1)[1], "three-new.csv")
    kloom("predict", path, FOLDER / samples, "-o", "now.csv", "--threads", 1, "--quiet")
    with open(tmp_path / "now.csv", newline="") as now, open(path.with_suffix(".csv"), newline="") as then:
        rows, expected = list(csv.reader(now)), list(csv.reader(then))
    assert rows[0] == expected[0] and len(rows) == len(expected) == 10
    for row, known in zip(rows[1:], expected[1:]):
        for name, value, old in zip(rows[0], row, known):
            try:
                assert float(value) == pytest.approx(float(old), rel=0, abs=TOLERANCE * max(1.0, abs(float(old)))), name
            except ValueError:
                assert value == old
