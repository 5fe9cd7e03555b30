# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C keeps what is usable."""
import json
import os
import signal
import subprocess
import time

from conftest import INTERRUPTED, KERNELS, PROGRAM, two_clouds, write_table

FOREVER = ["--kernels", KERNELS, "--method", "bemkl", "--literal", "--iterations", "100000000"]


def start(tmp_path, *arguments):
    return subprocess.Popen([PROGRAM, "train", "data.csv", *FOREVER, *arguments], cwd=tmp_path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def wait_until_training(process):
    """Reads what is said until the bank is made; training follows at once."""
    for line in process.stderr:
        if line.startswith("bank:"):
            time.sleep(0.5)
            return
    raise AssertionError("training never began")


def test_interrupt_saves_the_model_so_far(kloom, table, tmp_path):
    process = start(tmp_path, "--json")
    wait_until_training(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, err
    assert "the model so far is in data.kloom" in err
    result = json.loads(out)
    assert result["interrupted"] is True and result["report"]["status"] == "stopped"
    assert result["report"]["iterations"] > 0
    assert len(kloom("predict", "data.kloom", "data.csv").out.splitlines()) == 41
    kloom("check", "data.kloom", "data.csv")


def test_second_interrupt_ends_at_once_and_leaves_the_old_file(tmp_path):
    # Enough samples for one iteration to last a while, so that the second signal finds the program still at work.
    write_table(tmp_path / "data.csv", two_clouds(samples=1200, features=4))
    (tmp_path / "data.kloom").write_text("as it was")
    process = start(tmp_path)
    wait_until_training(process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    content = (tmp_path / "data.kloom").read_bytes()
    assert content == b"as it was" or len(content) > 1000, "neither the old file nor a whole new one"


def test_interrupt_before_training_writes_nothing(tmp_path):
    # The pipe keeps the program waiting for data until the signal has arrived.
    write_table(tmp_path / "data.csv", two_clouds())
    os.mkfifo(tmp_path / "slow.csv")
    process = subprocess.Popen([PROGRAM, "train", "slow.csv", "-o", "m.kloom"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    with open(tmp_path / "slow.csv", "w") as pipe:
        pipe.write((tmp_path / "data.csv").read_text())
        pipe.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, err
    assert "nothing was written" in err
    assert not (tmp_path / "m.kloom").exists()
