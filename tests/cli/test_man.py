# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: sound troff, and everything that --help says."""
import re
import shutil
import subprocess

import pytest
from conftest import MISTAKE, PROGRAM

COMMANDS = subprocess.run([PROGRAM, "man", "--list"], text=True, capture_output=True, check=True).stdout.split()
PAGES = ["", *COMMANDS]


def need(program):
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here, so pages were not tried with it; 'tools/install-packages shells' installs it")


def formatted(page):
    """The page as man(1) shows it, with lines so long that none is broken, and single spaces."""
    need("groff")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=20000n", "-rHY=0"], input=page, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    # Some systems print the minus of an option as a mathematical one.
    return re.sub(r"\s+", " ", done.stdout.replace("\u2212", "-").replace("\u2010", "-"))


def page_of(kloom, command):
    return kloom(*["man", command][:1 + bool(command)]).out


def help_of(kloom, command):
    return kloom(*(["kernels", "build"] if command == "kernels" else [command]), "--help").out


def test_every_command_of_the_overview_has_a_page(kloom):
    overview = kloom("--help").out
    listed = re.findall(r"^  (\w+) ", overview[overview.index("Commands:"):overview.index("Examples:")], re.MULTILINE)
    assert listed == COMMANDS and "train" in COMMANDS


@pytest.mark.parametrize("command", PAGES)
def test_troff_has_no_complaint(kloom, command):
    page = page_of(kloom, command)
    assert page.isascii()
    formatted(page)
    name = "kloom-" + command if command else "kloom"
    assert page.startswith(f'.TH "{name.upper()}"'.replace("-", "\\-"))


@pytest.mark.parametrize("command", PAGES)
def test_mandoc_has_no_complaint(kloom, command):
    need("mandoc")
    # Pages have no date: the same program must print the same page.
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page_of(kloom, command), text=True,
                          capture_output=True, check=False)
    complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert complaints == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_says_what_help_says(kloom, command):
    text = formatted(page_of(kloom, command))
    words = help_of(kloom, command)
    # Entries of the help text: two spaces, then what is typed; the description follows, wrapped.
    entries = re.findall(r"^  (-\S.*?)(?:  +|\n +)(\S.*(?:\n {26}.*)*)", words[:words.index("Examples:")], re.MULTILINE)
    assert len(entries) > 1
    for typed, description in entries:
        for name in (word for word in typed.split() if word.startswith("-")):
            assert f" {name}" in text, name
        assert " ".join(description.split()) in text
    for example in words[words.index("Examples:"):].splitlines()[1:]:
        assert " ".join(example.split()) in text


def test_the_page_of_the_program_names_commands_and_methods(kloom):
    text = formatted(page_of(kloom, ""))
    for command in COMMANDS:
        assert f"kloom-{command}(1)" in text
    for method in kloom("methods", "--json").json():
        assert f" {method['name']} {method['summary']}" in text
    for code in (0, 1, 2, 130):
        assert f" {code} " in text[text.index("EXIT STATUS"):]


def test_the_page_of_methods_has_every_option(kloom):
    text = formatted(page_of(kloom, "methods"))
    for method in kloom("methods", "--json").json():
        for option in method["options"]:
            assert option["flag"] in text and " ".join(option["doc"].split()) in text


def test_pages_that_do_not_exist(kloom):
    assert "did you mean 'train'?" in kloom("man", "trian", code=MISTAKE).err
    assert "--help" in kloom("man", "completion", code=MISTAKE).err
