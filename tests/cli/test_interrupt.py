# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and SIGTERM keep what is usable."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest
from conftest import FAILED, INTERRUPTED, KERNELS, MISTAKE, PROGRAM, TERMINATED, is_sanitized, two_clouds, write_table

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


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hard_problem(path, samples=500):
    """Classes that overlap altogether."""
    generator = random.Random(8)
    rows = [([generator.gauss(0, 1) for _ in range(8)], generator.choice("abcd")) for _ in range(samples)]
    write_table(path, rows)


# Long in every part of the fit that can be: choosing, solving, probabilities.
LONG = {
    "auto": ["--time", "1000"], "bemkl": ["--iterations", "100000", "--literal"], "gp-mkl": ["--iterations", "100000"],
    "mcmkl": ["--tolerance", "1e-12"], "lmkl": ["--C", "1000", "--steps", "100000"], "mkl-da": ["--sweeps", "100000"],
    "ufo-mkl": ["--epochs", "100000"], "samkl": [], "uniform": ["--C-grid", "10^3..10^8", "--tolerance", "1e-9"],
    "simplemkl": ["--C-grid", "10^3..10^8", "--tolerance", "1e-9", "--iterations", "100000"],
    "lp-mkl": ["--C-grid", "10^3..10^8", "--tolerance", "1e-9"], "single": ["--C-grid", "10^3..10^8", "--tolerance", "1e-9"],
    "lp-beta": ["--C-grid", "10^3..10^8", "--tolerance", "1e-9"], "gmkl": ["--tolerance", "1e-12", "--iterations", "100000"],
    "vbpmkl": ["--iterations", "100000", "--tolerance", "0"],
}

QUICK = {"auto": 1500, "mcmkl": 1500, "uniform": 1500, "gp-mkl": 1500}   # done with 500 samples in less than a second


@pytest.mark.parametrize("method", LONG)
def test_a_signal_is_heard_within_a_second(tmp_path, method):
    # In processor time, so that a busy machine does not matter; under sanitizers everything takes ten times as long.
    allowed = 10.0 if is_sanitized() else 1.0
    hard_problem(tmp_path / "data.csv", QUICK.get(method, 500))
    kernels = "rbf(width=2^-1..2^2) on all, each" if method == "gmkl" else KERNELS   # gmkl: above 0
    process = subprocess.Popen([PROGRAM, "train", "data.csv", "--method", method, "--kernels", kernels, "--threads", "1", *LONG[method]],
                               cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("bank:"):
            break
    begin, wanted = processor_seconds(process.pid), random.Random(method).uniform(0.2, 0.8)
    while processor_seconds(process.pid) < begin + wanted:
        time.sleep(0.01)
        if "Z" in pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]:
            break
    sent = processor_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == INTERRUPTED, "the fit was over too soon for this test to say anything"
    assert used.ru_utime + used.ru_stime - sent < allowed


@pytest.mark.parametrize("method", ["bemkl", "simplemkl", "mkl-da"])
def test_time_is_a_limit(kloom, tmp_path, method):
    hard_problem(tmp_path / "data.csv", 1500 if method == "simplemkl" else 500)   # 500 samples may be done within the time
    began = os.times()
    result = kloom("train", "data.csv", "--method", method, "--kernels", KERNELS, "--threads", "1", *LONG[method], "--time", "3s", "--json")
    used = os.times()
    assert result.json()["report"]["status"] == "stopped" and "--time 3s is over" in result.err
    assert used.children_user - began.children_user < (40.0 if is_sanitized() else 6.0)
    kloom("predict", "data.kloom", "data.csv")


def test_time_that_is_too_short_for_a_model_says_so(kloom, tmp_path):
    hard_problem(tmp_path / "data.csv")
    result = kloom("train", "data.csv", "--method", "samkl", "--kernels", KERNELS, "--time", "0.5s", code=FAILED)
    assert "--time 0.5s was over before there was a model" in result.sentence() and not (tmp_path / "data.kloom").exists()
    kloom("train", "data.csv", "--method", "lmkl", "--time", "soon", code=MISTAKE)


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
