# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings are run, gallery scripts are run, stubs are those of the registry."""
import doctest
import importlib
import os
import pathlib
import subprocess
import sys

import pytest

import kloom
from conftest import SOURCE

MODULES = sorted(path.stem for path in pathlib.Path(kloom.__file__).parent.glob("*.py"))
EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    found = importlib.import_module("kloom" if module == "__init__" else f"kloom.{module}")
    assert doctest.testmod(found, optionflags=doctest.ELLIPSIS).failed == 0


def test_every_estimator_has_an_example():
    finder = doctest.DocTestFinder(recurse=False)
    for name in kloom.__all__:
        if name.endswith(("Classifier", "Regressor")):
            assert finder.find(getattr(kloom, name))[0].examples, name


def test_public_functions_have_docstrings():
    for name in kloom.__all__:
        assert getattr(kloom, name).__doc__, name


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_gallery(script, tmp_path):
    done = subprocess.run([sys.executable, script], cwd=tmp_path, text=True, capture_output=True, timeout=300, check=False,
                          env={**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error::DeprecationWarning:__main__"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"


def test_the_gallery_is_numbered():
    assert [path.name.split("_")[0] for path in EXAMPLES] == [f"{i + 1:02d}" for i in range(len(EXAMPLES))]
    assert len(EXAMPLES) >= 6


def test_stubs_are_fresh():
    done = subprocess.run([sys.executable, SOURCE / "tools" / "make-stubs", "--check"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
