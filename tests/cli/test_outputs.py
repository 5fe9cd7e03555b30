# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written: looked at before the work, replaced whole, by one rule for all of them."""
import fcntl
import json
import os
import resource
import stat
import subprocess

import pytest
from conftest import FAILED, KERNELS, MISTAKE, PROGRAM, run_program

QUICK = ["train", "data.csv", "--method", "uniform", "--C", "1", "--kernels", "linear", "--no-probability"]
# Would take hours: an output that is refused must be refused before.
HOURS = ["train", "data.csv", "--method", "bemkl", "--literal", "--iterations", "100000000", "--kernels", KERNELS]
CV = ["cv", "data.csv", "--method", "uniform", "--C", "1", "--kernels", "linear", "--folds", "2"]


@pytest.fixture
def places(table, tmp_path):
    os.symlink("nowhere", tmp_path / "dangling")
    os.symlink("loop", tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("option", ["-o", "--report", "--sample-map"])
@pytest.mark.parametrize("place", ["dangling", "loop", "folder", "absent/file", "data.csv/file"])
def test_refused_before_training(kloom, places, option, place):
    # lmkl has sample maps; the steps would last for hours.
    arguments = ["train", "data.csv", "--method", "lmkl", "--steps", "100000000", "--kernels", KERNELS]
    if option != "-o":
        arguments += ["-o", "m.kloom"]
    before = sorted(os.listdir(places))
    kloom(*arguments, option, place, code=MISTAKE)
    assert sorted(os.listdir(places)) == before


def test_models_banks_and_journals_go_to_regular_files(kloom, places):
    for place in ("pipe", "/dev/null", "/dev/stdout"):
        kloom(*HOURS, "-o", place, code=MISTAKE)
        kloom("kernels", "build", "data.csv", "--kernels", "linear", "-o", place, code=MISTAKE)
        kloom(*CV, "--resume", place, code=MISTAKE)
        kloom("stream", "-o", place, code=MISTAKE, input=b"")


@pytest.mark.parametrize("arguments", [
    [*HOURS, "-o", "x", "--report", "x"],
    [*HOURS, "-o", "x", "--report", "./x"],
    [*HOURS, "-o", "folder/x", "--report", "folder/../folder/x"],
    [*CV, "-o", "x.html", "--predictions", "x.html"],
    [*CV, "-o", "x.html", "--resume", "x.html"],
    ["compare", "data.csv", "--kernels", "linear", "-o", "x.html", "--model", "x.html"],
], ids=" ".join)
def test_two_outputs_in_one_file(kloom, places, arguments):
    assert "same file" in kloom(*arguments, code=MISTAKE).sentence()
    os.link(places / "data.csv", places / "other_name.csv")
    assert "destroy" in kloom(*HOURS, "-o", "other_name.csv", code=MISTAKE).sentence()
    os.symlink("data.csv", places / "link.csv")
    assert "destroy" in kloom(*HOURS, "-o", "m.kloom", "--report", "link.csv", code=MISTAKE).sentence()


def test_stream_does_not_replace_its_input(kloom, table):
    before = table.read_bytes()
    with open(table, "rb") as stream:
        sentence = kloom("stream", "-o", "data.csv", code=MISTAKE, stdin=stream).sentence()
    assert "input" in sentence
    assert table.read_bytes() == before


def test_output_is_not_where_the_shell_prints(table, tmp_path):
    with open(tmp_path / "printed", "wb") as printed:
        process = subprocess.run([PROGRAM, *HOURS, "-o", "printed"], cwd=tmp_path, stdout=printed, stderr=subprocess.PIPE, timeout=60)
    assert process.returncode == MISTAKE and b"shell" in process.stderr


def test_open_files_are_appended_not_replaced(kloom, model, tmp_path):
    # /dev/fd/N names an open file as /dev/stdout does. N is not 1, so that a program that replaces it fails in
    # the folder of /proc, where nothing can be made, and does no harm to the machine.
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("this system has no /proc, where open files have names")
    with open(tmp_path / "printed.csv", "wb") as printed:
        printed.write(b"above\n")
        printed.flush()
        kloom("predict", "model.kloom", "data.csv", "-o", f"/dev/fd/{printed.fileno()}", "-q", pass_fds=[printed.fileno()])
    lines = (tmp_path / "printed.csv").read_text().splitlines()
    assert lines[0] == "above" and lines[1].startswith("label,") and len(lines) == 42


def write_everything(kloom):
    """One of each kind of file: model, report, page, sample map, predictions, bank, journal, checkpoint."""
    lmkl = ["train", "data.csv", "--method", "lmkl", "--steps", "3", "--kernels", "linear on each"]
    kloom(*lmkl, "-o", "m.kloom", "--report", "r.json", "--sample-map", "map.csv")
    kloom(*lmkl, "-o", "m.kloom", "--report", "r.html")
    kloom("predict", "m.kloom", "data.csv", "-o", "p.csv")
    kloom("kernels", "build", "data.csv", "--kernels", "linear", "-o", "b.kloom")
    kloom(*CV, "-o", "cv.json", "--predictions", "cv.csv", "--resume", "j.jsonl")
    with open("data.csv", "rb") as stream:
        kloom("stream", "--kernels", "rbf(gamma=1)", "-o", "s.kloom", stdin=stream)


WRITTEN = ["m.kloom", "r.json", "map.csv", "r.html", "p.csv", "b.kloom", "cv.json", "cv.csv", "j.jsonl", "s.kloom"]


def test_permissions_stay_or_follow_the_umask(kloom, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = os.umask(0o027)
    try:
        write_everything(kloom)
        assert {name: oct(stat.S_IMODE(os.stat(name).st_mode)) for name in WRITTEN} == {name: "0o640" for name in WRITTEN}
        for name in WRITTEN:
            os.chmod(name, 0o600)
        os.umask(0o022)
        write_everything(kloom)
    finally:
        os.umask(old)
    assert {name: oct(stat.S_IMODE(os.stat(name).st_mode)) for name in WRITTEN} == {name: "0o600" for name in WRITTEN}


def test_links_stay_links(kloom, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("real")
    for name in WRITTEN:
        (tmp_path / "real" / name).write_text("")
        os.symlink("real/" + name, name)
    write_everything(kloom)
    for name in WRITTEN:
        assert os.path.islink(name) and os.path.getsize("real/" + name) > 50, name
    assert sorted(os.listdir("real")) == sorted(WRITTEN), "a temporary file was left behind"


def test_other_names_of_a_file_keep_the_old_content(kloom, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in WRITTEN:
        if name != "j.jsonl":   # a journal of other content is refused, not replaced
            (tmp_path / name).write_text("as it was")
            os.link(name, "second-" + name)
    write_everything(kloom)
    for name in WRITTEN:
        if name != "j.jsonl":
            assert (tmp_path / ("second-" + name)).read_text() == "as it was" and os.path.getsize(name) > 50, name


def test_a_report_that_fails_does_not_cost_the_model(kloom, table, tmp_path):
    result = kloom(*QUICK, "-o", "m.kloom", "--report", "/dev/full", code=FAILED)
    assert "/dev/full" in result.sentence() and "m.kloom" in result.sentence()
    assert len(kloom("predict", "m.kloom", "data.csv").out.splitlines()) == 41
    result = kloom(*QUICK, "-o", "m2.kloom", "--report", "/dev/full", "--json", code=FAILED)
    assert result.json()["exit_code"] == FAILED and (tmp_path / "m2.kloom").exists()
    lmkl = ["train", "data.csv", "--method", "lmkl", "--steps", "3", "--kernels", "linear on each"]
    kloom(*lmkl, "-o", "m3.kloom", "--report", "/dev/full", "--sample-map", "map.csv", code=FAILED)
    assert (tmp_path / "m3.kloom").exists() and (tmp_path / "map.csv").exists()


def test_a_report_that_fails_does_not_cost_a_comparison(kloom, table, tmp_path):
    result = kloom(*CV, "-o", "/dev/full", "--predictions", "p.csv", code=FAILED)
    assert "accuracy" in result.out and (tmp_path / "p.csv").exists()
    compare = ["compare", "data.csv", "--kernels", "linear", "--methods", "uniform,single", "--folds", "2"]
    result = kloom(*compare, "-o", "/dev/full", "--model", "best.kloom", code=FAILED)
    assert "uniform" in result.out and (tmp_path / "best.kloom").exists()


def dead_and_alive(folder, name):
    """Temporary files as killed and as running writers leave them; returns (dead, file held open)."""
    dead = [folder / f"{name}.{number}-0.part" for number in (1, os.getpid(), 999999999)]
    for path in dead:
        path.write_text("half")
    alive = folder / f"{name}.{os.getpid()}-7.part"
    handle = open(alive, "w")
    fcntl.flock(handle, fcntl.LOCK_EX)
    return dead, handle


def test_leftovers_of_dead_runs_are_tidied(kloom, table, tmp_path):
    dead, alive = dead_and_alive(tmp_path, "m.kloom")
    others = [tmp_path / name for name in ("m.kloom.part", "m.kloom.x-1.part", "n.kloom.1-0.part", "m.kloom.1-0.partial")]
    for path in others:
        path.write_text("of somebody else")
    os.symlink("data.csv", tmp_path / "m.kloom.5-5.part")
    kloom(*QUICK, "-o", "m.kloom")
    assert not any(path.exists() for path in dead)
    assert os.path.exists(alive.name), "it belongs to a run that is alive"
    assert all(path.exists() for path in others)
    assert (tmp_path / "data.csv").exists() and os.path.islink(tmp_path / "m.kloom.5-5.part")
    dead, alive = dead_and_alive(tmp_path, "p.csv")
    kloom("predict", "m.kloom", "data.csv", "-o", "p.csv")
    assert not any(path.exists() for path in dead) and os.path.exists(alive.name)


def test_protected_files_are_not_replaced(table, tmp_path):
    (tmp_path / "m.kloom").write_text("keep me")
    os.chmod(tmp_path / "m.kloom", 0o444)
    # Root may write everything, so it becomes nobody for this.
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    folder = tmp_path
    while nobody and folder != folder.parent and not os.stat(folder).st_mode & 0o005 == 0o005:
        os.chmod(folder, 0o777)
        folder = folder.parent
    os.chmod(tmp_path, 0o777)
    result = run_program(*QUICK, "-o", "m.kloom", cwd=tmp_path, **nobody)
    assert result.code == FAILED and "m.kloom" in result.sentence(), result.err
    assert (tmp_path / "m.kloom").read_text() == "keep me"


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))   # SIGXFSZ keeps its default, which ends a process


def test_a_limit_on_file_sizes_is_an_error_not_a_signal(kloom, table, tmp_path):
    (tmp_path / "m.kloom").write_text("as it was")
    before = sorted(os.listdir(tmp_path))
    assert "m.kloom" in kloom(*QUICK, "-o", "m.kloom", code=FAILED, preexec_fn=small_files).sentence()
    assert (tmp_path / "m.kloom").read_text() == "as it was" and sorted(os.listdir(tmp_path)) == before


def test_a_journal_cut_in_its_first_line_is_begun_anew(kloom, table, tmp_path):
    kloom(*CV, "--resume", "j.jsonl", "-o", "a.json")
    header = (tmp_path / "j.jsonl").read_bytes().split(b"\n")[0]
    for cut in (1, len(header) // 2, len(header)):
        (tmp_path / "j.jsonl").write_bytes(header[:cut])
        kloom(*CV, "--resume", "j.jsonl", "-o", "b.json")
    a, b = (json.loads((tmp_path / name).read_text())["methods"][0]["outcomes"] for name in ("a.json", "b.json"))
    assert len(a) == 2 and [outcome["values"] for outcome in a] == [outcome["values"] for outcome in b]
    (tmp_path / "j.jsonl").write_bytes(b"not mine")
    kloom(*CV, "--resume", "j.jsonl", code=MISTAKE)
    assert (tmp_path / "j.jsonl").read_bytes() == b"not mine"


def test_text_goes_through_a_named_pipe(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen([PROGRAM, "predict", "model.kloom", "data.csv", "-o", "pipe", "-q"], cwd=tmp_path)
    with open(tmp_path / "pipe") as pipe:
        assert pipe.readline().startswith("label,") and len(pipe.readlines()) == 40
    assert process.wait(timeout=60) == 0


