# SPDX-License-Identifier: BSD-3-Clause
"""A bar on a terminal, none of it in a log."""
import os
import pty
import subprocess

import pytest
from conftest import PROGRAM

WORK = ["train", "data.csv", "--method", "bemkl", "--literal", "--kernels", "rbf(width=1..4)", "--iterations", "40000"]   # seconds, however fast the machine


def run_on_terminal(tmp_path, *arguments):
    try:
        terminal, program_side = pty.openpty()
    except OSError as error:
        pytest.skip(f"this system has no pseudo-terminals (is /dev/pts mounted?): {error}")
    process = subprocess.Popen([PROGRAM, *WORK, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=program_side)
    os.close(program_side)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:   # how Linux reports that the other side is closed
            break
        if not part:
            break
        text += part
    os.close(terminal)
    assert process.wait(timeout=60) == 0
    return text.decode()


def test_bar_with_objective_and_time_left(tmp_path, table):
    text = run_on_terminal(tmp_path)
    bars = [part for part in text.split("\r") if "[" in part and "bemkl " in part]
    assert bars, text
    assert "/40000" in bars[0] and "objective -" in bars[0] and " s le" in bars[0]   # 80 columns cut the rest
    # Every bar is wiped before anything else is written over it.
    assert text.count("\x1b[K") > len(bars)


def test_quiet_shows_no_bar(tmp_path, table):
    assert run_on_terminal(tmp_path, "--quiet") == ""


def test_no_bar_in_a_log(kloom, table):
    error = kloom(*WORK).err
    assert "\r" not in error and "\x1b" not in error
