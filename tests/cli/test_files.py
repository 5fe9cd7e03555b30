# SPDX-License-Identifier: BSD-3-Clause
"""Files that are damaged, of another kind, or cannot be written."""
import os
import resource
import signal

import pytest
from conftest import FAILED, KERNELS, MISTAKE, run_program


def test_another_file_as_model(kloom, model, tmp_path):
    (tmp_path / "text.kloom").write_text("this is no model\n" * 20)
    kloom("predict", "text.kloom", "data.csv", code=FAILED)
    kloom("predict", "data.csv", "data.csv", code=FAILED)
    (tmp_path / "empty.kloom").write_bytes(b"")
    kloom("predict", "empty.kloom", "data.csv", code=FAILED)
    kloom("kernels", "build", "data.csv", "--kernels", "linear", "-o", "bank.kloom")
    assert "bank" in kloom("predict", "bank.kloom", "data.csv", code=FAILED).err


@pytest.mark.parametrize("part", [0.0005, 0.01, 0.3, 0.7, 0.999])
def test_truncated_model(kloom, model, tmp_path, part):
    whole = model.read_bytes()
    (tmp_path / "cut.kloom").write_bytes(whole[:max(9, int(part * len(whole)))])
    for command in (["predict", "cut.kloom", "data.csv"], ["check", "cut.kloom", "data.csv"]):
        assert "cut.kloom" in kloom(*command, code=FAILED).err


def test_altered_model(kloom, model, tmp_path):
    whole = bytearray(model.read_bytes())
    for place in range(40, len(whole), len(whole) // 12):
        altered = bytearray(whole)
        altered[place] ^= 1
        (tmp_path / "altered.kloom").write_bytes(altered)
        kloom("predict", "altered.kloom", "data.csv", code=FAILED)


def test_output_is_checked_before_the_work(kloom, table, tmp_path):
    assert "folder" in kloom("train", "data.csv", "-o", "no/such/folder/m.kloom", code=MISTAKE).err
    (tmp_path / "folder").mkdir()
    kloom("train", "data.csv", "-o", "folder", code=MISTAKE)
    before = table.read_bytes()
    assert "destroy" in kloom("train", "data.csv", "-o", "data.csv", code=MISTAKE).err
    assert table.read_bytes() == before


def test_outputs_never_replace_inputs(kloom, model, tmp_path):
    before = model.read_bytes()
    kloom("predict", "model.kloom", "data.csv", "-o", "model.kloom", code=MISTAKE)
    kloom("kernels", "build", "data.csv", "-o", "./data.csv", code=MISTAKE)
    assert model.read_bytes() == before


def test_unwritable_folder(kloom, table, tmp_path):
    if os.geteuid() == 0:
        # Root may write anywhere, but not even root writes into /proc.
        if not os.path.exists("/proc/self"):
            pytest.skip("root may write anywhere, and this system has no /proc, where not even root may")
        kloom("train", "--method", "bemkl", "data.csv", "-o", "/proc/m.kloom", "--kernels", "linear", "--iterations", 2, code=FAILED)
        return
    (tmp_path / "closed").mkdir(mode=0o500)
    kloom("train", "data.csv", "-o", "closed/m.kloom", code=FAILED)


def no_room():
    """Files of the process may have 2 kB: the effect of a full disk, without root."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


@pytest.mark.parametrize("arguments", [
    ["train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", "5", "-o", "old.kloom"],
    ["predict", "model.kloom", "data.csv", "-o", "old.kloom"],
    ["kernels", "build", "data.csv", "--kernels", KERNELS, "-o", "old.kloom"],
], ids=lambda arguments: arguments[0])
def test_full_disk_leaves_the_old_file(kloom, model, tmp_path, arguments):
    (tmp_path / "old.kloom").write_text("as it was")
    before = sorted(os.listdir(tmp_path))
    error = kloom(*arguments, code=FAILED, preexec_fn=no_room).err
    assert "old.kloom" in error
    assert (tmp_path / "old.kloom").read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == before, "a temporary file was left behind"


def test_devices_are_written_not_replaced(kloom, model, tmp_path):
    if os.path.exists("/proc/self"):   # /dev/stdout is a link into it
        assert kloom("predict", "model.kloom", "data.csv", "-o", "/dev/stdout", "-q").out.startswith("label,")
    kloom("predict", "model.kloom", "data.csv", "-o", "/dev/full", code=FAILED)
    kloom("predict", "model.kloom", "data.csv", "-o", "-")
    result = run_program("train", "--method", "bemkl", "data.csv", "--kernels", "linear", "--iterations", 2, "-o", "/dev/null", cwd=tmp_path)
    assert result.code == MISTAKE
    assert not os.path.isfile("/dev/null")
