# SPDX-License-Identifier: BSD-3-Clause
"""kloom check says proved, checked or refuted, and ends accordingly; predict refuses models of impossible numbers."""
import math

import pytest
from conftest import FAILED, MISTAKE, KERNELS, POSITIVE, edit_model

FINDINGS = {"simplemkl": "proved", "lp-mkl": "proved", "mcmkl": "proved", "uniform": "proved", "single": "proved",
            "easymkl": "proved", "align": "proved", "alignf": "proved", "gram": "proved", "fheuristic": "proved", "pwmk": "proved", "group-mkl": "proved",
            "lp-beta": "proved", "gmkl": "checked", "samkl": "checked", "lmkl": "checked", "bemkl": "checked", "gp-mkl": "checked", "auto": "checked",
            "mkl-da": "checked", "ufo-mkl": "checked", "vbpmkl": "checked"}


def train(kloom, method):
    kloom("train", "data.csv", "--method", method, "--kernels", POSITIVE if method == "gmkl" else KERNELS, "-o", "m.kloom", "--quiet")


def first_plus(amount):
    def change(numbers):
        numbers[0] += amount
    return change


@pytest.mark.parametrize("method", FINDINGS)
def test_the_finding_is_a_word_an_exit_code_and_a_sentence(kloom, tmp_path, table, method):
    train(kloom, method)
    checked = kloom("check", "m.kloom", "data.csv", "--json").json()["certificate"]
    assert checked["finding"] == FINDINGS[method] and "refuted" not in checked
    assert f"certificate ({FINDINGS[method]}" in kloom("check", "m.kloom", "data.csv").out
    # The bias alone: every sample is then predicted alike.
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", "bias", first_plus(1000.0))
    result = kloom("check", "edited.kloom", "data.csv", "--json", code=FAILED)
    certificate = result.json()["certificate"]
    assert certificate["finding"] == "refuted" and not certificate["proof"] and certificate["refuted"]
    assert "edited.kloom is refuted: " in result.sentence()
    assert certificate["refuted"][0] in result.sentence()
    assert "certificate (refuted)" in kloom("check", "edited.kloom", "data.csv", code=FAILED).out


@pytest.mark.parametrize("method", FINDINGS)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_models_of_numbers_that_are_none_are_not_read(kloom, tmp_path, table, method, number):
    train(kloom, method)
    for name in ("weights", "coefficients", "bias"):
        def change(numbers):
            numbers[0] = number
        edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", name, change)
        for command in ("predict", "check"):
            result = kloom(command, "edited.kloom", "data.csv", code=FAILED)
            assert "is damaged" in result.sentence() and result.out == ""


def test_predictions_that_are_no_numbers_are_not_written(kloom, tmp_path, table):
    train(kloom, "simplemkl")

    def change(numbers):
        numbers[:] = [1e308 * (1 if number >= 0 else -1) for number in numbers]
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", "coefficients", change)
    result = kloom("predict", "edited.kloom", "data.csv", "-o", "out.csv", code=MISTAKE)
    assert "is no finite number" in result.sentence() and not (tmp_path / "out.csv").exists()


def test_the_same_model_with_other_threads_and_banks_is_not_refuted(kloom, table):
    for method in ("simplemkl", "bemkl", "gp-mkl"):
        train(kloom, method)
        for bank in ("dense", "computed", "low-rank", "dense32"):
            kloom("check", "m.kloom", "data.csv", "--bank", bank, "--threads", 2)
    kloom("train", "data.csv", "--method", "simplemkl", "--kernels", KERNELS, "--bank", "dense32", "-o", "m.kloom", "--quiet")
    kloom("check", "m.kloom", "data.csv")
