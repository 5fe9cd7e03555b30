# SPDX-License-Identifier: BSD-3-Clause
"""Every option of every method is where people look for it: help, manual page, completion, Python, its stubs, the site.

What is expected comes from `kloom methods --json`; what is looked at is made from the same tables, so that an option that is
added to one is everywhere. The R package asks the library, and its own test compares with the program (r/tests)."""
import ast
import inspect
import json
import os
import re
import subprocess
import sys

import pytest

import kloom
from conftest import SOURCE
from kloom._options import ESTIMATORS, LEARNERS
from kloom._words import PYTHON_NAMES

PROGRAM = os.environ["KLOOM_PROGRAM"]


def ask(*words):
    return subprocess.run([PROGRAM, *words], text=True, capture_output=True, check=True).stdout


def one_line(text):
    return re.sub(r"\s+", " ", text)


def typed(text):
    """troff without its marks for minus signs, powers and quotes."""
    for mark, character in (("\\-", "-"), ("\\(ha", "^"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\(ti", "~"), ("\\e", "\\"), ("\\&", "")):
        text = text.replace(mark, character)
    return one_line(text)


METHODS = json.loads(ask("methods", "--json"))
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method["name"])


def test_there_is_something_to_compare():
    assert len(METHODS) >= 15 and sum(len(method["options"]) for method in METHODS) > 100


def explained(option):
    """What is said of an option: its text, its default, its rule."""
    if option["default"] in ("true", "false"):
        return one_line(option["doc"])
    notes = ([f"default {option['default']}"] if option["default"] else []) + ([option["rule"]] if option["rule"] else [])
    return one_line(option["doc"]) + (f" ({'; '.join(notes)})" if notes else "")


@each_method
def test_help_and_manual_page(method):
    shown = one_line(ask("train", "--method", method["name"], "--help"))
    parts = ask("man", "methods").split('.SS "')
    page = next(typed(part) for part in parts if typed(part).startswith(method["name"] + '"'))
    for option in method["options"]:
        assert f" {option['flag']} " in shown and explained(option) in shown, option["flag"]
        assert f"{option['flag']}\\fR" in page and explained(option) in page, option["flag"]


@each_method
def test_completion(method):
    offered = [line.split("\t")[0] for line in ask("complete-words", "train", "--method", method["name"], "--").splitlines()]
    for option in method["options"]:
        assert option["flag"] in [word.removesuffix("...") for word in offered]


@pytest.mark.parametrize("key", sorted(ESTIMATORS), ids="-".join)
def test_parameters_docstring_and_stub(key):
    cls = ESTIMATORS[key]
    stub = next(node for node in ast.parse((SOURCE / "python" / "kloom" / "__init__.pyi").read_text(encoding="utf-8")).body
                if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    init = next(node for node in stub.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    in_stub = {argument.arg for argument in init.args.args + init.args.kwonlyargs}
    suits = {option["name"]: option["suits"] for option in LEARNERS[key[0]]["options"]}
    method = next(method for method in METHODS if method["name"] == key[0])
    for option in method["options"]:
        if suits[option["name"]] not in ("all", cls._task):
            continue
        name = PYTHON_NAMES.get(option["name"], option["name"])
        assert name in inspect.signature(cls).parameters, name
        assert name in in_stub, f"{name}; 'make stubs' writes it"
        assert re.search(rf"^{name} : ", inspect.getdoc(cls), re.MULTILINE), name


@each_method
def test_site(method, monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE / "tools"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    from site_pages import command_line, text

    table = command_line.option_table(method)
    for option in method["options"]:
        assert re.search(rf"^`+ ?{re.escape(option['flag'])}(?![\w-])", table, re.MULTILINE), option["flag"]
        assert text.escaped(text.sentence(option["doc"])) in table
