# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and SIGTERM keep what is usable."""
import json
import os
import signal
import subprocess
import time

import pytest
from conftest import INTERRUPTED, KERNELS, PROGRAM, TERMINATED, two_clouds, write_table

SIGNALS = pytest.mark.parametrize("sent, code", [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)], ids=["SIGINT", "SIGTERM"])

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


@SIGNALS
def test_interrupt_saves_the_model_so_far(kloom, table, tmp_path, sent, code):
    process = start(tmp_path, "--json")
    wait_until_training(process)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
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


def test_sigterm_twice_is_as_gentle_as_once(kloom, table, tmp_path):
    # coreutils' `timeout` sends it to the process and to its group.
    process = start(tmp_path)
    wait_until_training(process)
    for _ in range(20):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.001)
    process.communicate(timeout=60)
    assert process.returncode == TERMINATED
    kloom("check", "data.kloom", "data.csv")


@SIGNALS
def test_cv_and_compare_go_on_after_a_signal(kloom, tmp_path, sent, code):
    write_table(tmp_path / "data.csv", two_clouds(samples=400))
    common = ["--kernels", KERNELS, "--folds", "5", "--repeats", "3", "--resume", "j.jsonl"]
    command = ["cv", "data.csv", "--method", "bemkl", "--literal", "--iterations", "400", *common]
    process = subprocess.Popen([PROGRAM, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if (tmp_path / "j.jsonl").exists() and (tmp_path / "j.jsonl").read_bytes().count(b"\n") >= 2:
            break
        time.sleep(0.05)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code and "goes on from there" in err, err
    done = (tmp_path / "j.jsonl").read_bytes()
    assert done.count(b"\n") < 16, "the signal came too late for this test to say anything"
    kloom(*command)
    assert (tmp_path / "j.jsonl").read_bytes().startswith(done)


@SIGNALS
def test_every_command_stops(table, model, tmp_path, sent, code):
    # They wait for data from a pipe when the signal comes; the end of the data follows.
    for command in (["train", "slow.csv", "-o", "m"], ["predict", "model.kloom", "slow.csv"], ["check", "model.kloom", "slow.csv"],
                    ["cv", "slow.csv"], ["compare", "slow.csv"], ["kernels", "build", "slow.csv", "--kernels", "linear"]):
        os.mkfifo(tmp_path / "slow.csv")
        before = sorted(os.listdir(tmp_path))
        process = subprocess.Popen([PROGRAM, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with open(tmp_path / "slow.csv", "w") as pipe:
            pipe.write(table.read_text())
            pipe.flush()
            time.sleep(0.3)
            process.send_signal(sent)
            time.sleep(0.3)
        _, err = process.communicate(timeout=60)
        assert process.returncode == code, (command, process.returncode, err)
        assert sorted(os.listdir(tmp_path)) == before, command
        os.remove(tmp_path / "slow.csv")


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
