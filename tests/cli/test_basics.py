# SPDX-License-Identifier: BSD-3-Clause
"""Help, version, suggestions, machine-readable output."""
import json
import re
import subprocess

import pytest
from conftest import FAILED, KERNELS, MISTAKE, PROGRAM, run_program

COMMANDS = [["train"], ["predict"], ["stream"], ["tasks"], ["check"], ["kernels", "build"], ["info"], ["methods"]]


def test_version(kloom):
    assert re.fullmatch(r"kloom \d+\.\d+\.\d+\n", kloom("--version").out)


def test_overview_names_every_command(kloom):
    text = kloom("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command[0]}\b", text, re.MULTILINE)


def test_no_arguments_is_a_mistake_that_shows_the_overview(tmp_path):
    result = run_program(cwd=tmp_path)
    assert result.code == MISTAKE
    assert "Commands:" in result.err and result.out == ""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_is_wrapped_and_has_examples(kloom, command):
    text = kloom(*command, "--help").out
    assert text.startswith("Usage: kloom " + " ".join(command))
    assert "Examples:\n  kloom " in text
    options = text[:text.index("Examples:")]
    assert max(map(len, options.splitlines())) <= 80


def test_help_lists_the_options_of_the_method(kloom):
    names = kloom("methods", "bemkl", "--json").json()[0]["options"]
    text = kloom("train", "--method", "bemkl", "--help").out
    assert len(names) > 5
    for option in names:
        assert f"  {option['flag']}" in text


@pytest.mark.parametrize("typed, meant", [("trian", "train"), ("predct", "predict"), ("chek", "check"), ("inf", "info")])
def test_misspelt_command(kloom, typed, meant):
    assert f"did you mean '{meant}'?" in kloom(typed, "x.csv", code=MISTAKE).err


@pytest.mark.parametrize("arguments, meant", [
    (["train", "--method", "bemkl", "data.csv", "--kernls", "linear"], "--kernels"),
    (["train", "--method", "bemkl", "--kernls", "linear", "data.csv"], "--kernels"),
    (["train", "--method", "bemkl", "data.csv", "--sigma_g", "1"], "--sigma-g"),
    (["train", "data.csv", "--ouput=m.kloom"], "--output"),
    (["predict", "--contribution", "m.kloom", "data.csv"], "--contributions"),
    (["info", "--machin"], "--machine"),
])
def test_misspelt_option(kloom, table, arguments, meant):
    error = kloom(*arguments, code=MISTAKE).err
    assert f"did you mean '{meant}'?" in error
    assert "--help" in error


def test_misspelt_method(kloom, table):
    error = kloom("train", "data.csv", "--method", "bemlk", code=MISTAKE).err
    assert "bemlk" in error and "'bemkl'" in error


@pytest.mark.parametrize("arguments", [
    ["predict"], ["check"], ["kernels"], ["train"], ["info"],
    ["kernels", "bild"],
    ["train", "data.csv", "--target"],
    ["train", "data.csv", "--threads", "many"],
    ["train", "data.csv", "--threads", "-1"],
    ["train", "data.csv", "--memory", "lots"],
    ["train", "data.csv", "--seed", "-3"],
    ["train", "data.csv", "--impute", "zero"],
    ["train", "data.csv", "--task", "clustering"],
    ["train", "--method", "bemkl", "data.csv", "--bank", "big"],
    ["train", "--method", "bemkl", "data.csv", "--normalise", "twice"],
    ["train", "--method", "bemkl", "data.csv", "--iterations", "0"],
    ["train", "--method", "bemkl", "data.csv", "--sigma-g", "-1"],
    ["train", "--method", "bemkl", "data.csv", "--sigma-g", "1,5"],
    ["train", "data.csv", "--kernels", "rbf(width=)"],
    ["train", "data.csv", "--kernels", "rbff(width=1)"],
    ["train", "data.csv", "--kernels", "linear on nowhere"],
    ["train", "data.csv", "--view", "=x1"],
    ["train", "data.csv", "other.csv"],
], ids=" ".join)
def test_wrong_arguments_are_the_users_mistake(kloom, table, arguments):
    kloom(*arguments, code=MISTAKE)


@pytest.mark.parametrize("arguments", [
    ["methods"], ["methods", "bemkl"], ["info", "--machine"], ["info", "data.csv"], ["info", "model.kloom"],
    ["predict", "model.kloom", "data.csv"], ["predict", "model.kloom", "data.csv", "-o", "p.csv"],
    ["check", "model.kloom", "data.csv"],
    ["kernels", "build", "data.csv", "--kernels", "linear", "-o", "b.kloom"],
    ["train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", "5", "-o", "m2.kloom"],
], ids=" ".join)
def test_json_is_all_that_stands_on_standard_output(kloom, model, arguments):
    parsed = kloom(*arguments, "--json").json()
    assert parsed
    assert json.dumps(parsed, allow_nan=False)


def test_json_errors(kloom):
    result = kloom("info", "nowhere.csv", "--json", code=MISTAKE)
    assert result.json()["exit_code"] == MISTAKE
    assert "nowhere.csv" in result.json()["error"]
    assert "nowhere.csv" in result.err


def test_quiet_says_nothing(kloom, table):
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", "linear", "--iterations", 3, "--quiet")
    assert result.out == "" and result.err == ""


def test_machine_is_described_and_measured(kloom, monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)  # a machine may set it for all programs
    machine = kloom("info", "--machine", "--json").json()
    assert machine["blas_core_suits"] is True
    assert machine["dgemm_gflops_1"] > 0 and machine["bandwidth_gbs"] > 0
    text = kloom("info", "--machine").out
    for word in ("processor", "BLAS core", "GFLOP/s", "GB/s", "memory", "threads"):
        assert word in text


def test_old_blas_kernels_are_cured_and_the_users_choice_is_respected(kloom, monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert kloom("info", "--machine", "--json").json()["blas_core_suits"] is True
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    forced = kloom("info", "--machine", "--json").json()
    assert forced["blas_core"] == "Prescott"


def test_closed_standard_output_is_a_failure(tmp_path, kloom, model):
    with open("/dev/full", "w") as full:
        process = subprocess.run([PROGRAM, "predict", "model.kloom", "data.csv"], cwd=tmp_path, stdout=full,
                                 stderr=subprocess.PIPE, text=True, timeout=60)
    assert process.returncode == FAILED
    assert "standard output" in process.stderr

