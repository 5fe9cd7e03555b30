# SPDX-License-Identifier: BSD-3-Clause
"""tools/soak: a sound program passes, and each kind of fault is noticed in a program that has it."""
import os
import subprocess
import sys

import pytest
from conftest import PROGRAM, SOURCE


def soak(program, *arguments):
    process = subprocess.run([sys.executable, SOURCE / "tools" / "soak", "--program", program, "--seconds", "200", *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500, text=True)
    return process.returncode, process.stdout


def test_some_cases_pass():
    code, said = soak(PROGRAM, "--seed", "3", "--cases", "12")
    assert code == 0 and "12 cases" in said and "0 failures" in said, said


# Each stands before the real program and spoils what it does.
FAULTS = {
    "dies of SIGSEGV": "kill -SEGV $$",
    "half a file": '"$REAL" "$@"; code=$?; for f in *.kloom; do [ -f "$f" ] && truncate -s -9 "$f"; done; exit $code',
    "leaves temporary files": '"$REAL" "$@"; code=$?; touch m.kloom.1-0.part; exit $code',
    "prints a number that is none": '"$REAL" "$@"; code=$?; echo "accuracy -nan"; exit $code',
    "fails without a sentence": "exit 1",
    "breaks down": 'echo "Traceback (most recent call last)" >&2; exit 1',
}


@pytest.mark.parametrize("found", FAULTS)
def test_a_fault_is_noticed(tmp_path, monkeypatch, found):
    monkeypatch.setenv("REAL", PROGRAM)
    fake = tmp_path / "kloom"
    fake.write_text("#!/bin/bash\n" + FAULTS[found] + "\n")
    os.chmod(fake, 0o755)
    code, said = soak(fake, "--seed", "3", "--cases", "12")
    assert code == 1 and found in said and "--case" in said, said
