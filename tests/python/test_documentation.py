# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings are run, gallery scripts are run, stubs are those of the registry."""
import doctest
import importlib
import inspect
import os
import pathlib
import re
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


def test_every_estimator_is_in_the_guide():
    guide = (SOURCE / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+(?:Classifier|Regressor))`", guide[guide.index("| class |"):].split("\n\n")[0]))
    assert named == {name for name in kloom.__all__ if name.endswith(("Classifier", "Regressor"))}


def test_public_functions_have_docstrings():
    for name in kloom.__all__:
        assert getattr(kloom, name).__doc__, name


def documented(name, thing):
    """(what it is called, it) of a public thing and of the public methods that kloom wrote for it."""
    yield name, thing
    for key in dir(thing) if inspect.isclass(thing) else []:
        owner = next(cls for cls in thing.__mro__ if key in vars(cls))
        # scikit-learn makes the setters of requests itself.
        if owner.__module__.startswith("kloom") and not key.startswith("_") and not key.endswith("_request"):
            if callable(getattr(thing, key)):
                yield f"{name}.{key}", getattr(thing, key)


@pytest.mark.parametrize("name", kloom.__all__)
def test_every_parameter_has_its_entry(name):
    """In the sections of numpydoc: ``name : type`` below "Parameters"."""
    for called, thing in documented(name, getattr(kloom, name)):
        text = inspect.getdoc(thing)
        assert text, called
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^[^\n]+\n-{4,}$|\Z)", text, re.MULTILINE | re.DOTALL)
        entries = re.findall(r"^(\S[^:\n]*) : \S", section[1], re.MULTILINE) if section else []
        found = [one.strip("* ") for entry in entries for one in entry.split(",")]
        parameters = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
        assert [p for p in parameters if p not in found] == [], called


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
