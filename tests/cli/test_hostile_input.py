# SPDX-License-Identifier: BSD-3-Clause
"""Input that was made to do harm, or looks like it: every command answers with a result or a sentence, in bounded memory."""
import base64
import gzip
import hashlib
import json
import pickle
import random
import re
import subprocess
import sys
import zlib

import numpy
import pytest
from conftest import DONE, FAILED, MISTAKE, PROGRAM, is_sanitized, run_program, two_clouds, write_table

MEGABYTE = 1_000_000


# A process that is forked begins with the memory of its parent, so the program is started by a small one.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak_bytes(*arguments, cwd):
    """Exit code, what was said, and the most memory that the program held."""
    process = subprocess.run([sys.executable, "-S", "-c", MEASURE, PROGRAM, *map(str, arguments)], cwd=cwd,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=True)
    code, peak = map(int, process.stdout.split())
    return code, process.stderr.decode(errors="replace"), peak


def expect_refused_within(budget, *arguments, cwd, words):
    """Refused, and the program took no more than the budget besides what it always takes."""
    code, said, peak = peak_bytes(*arguments, "--memory", f"{budget}", cwd=cwd)
    assert code == FAILED, said
    for word in words:
        assert word in said, said
    # The program itself takes 20 to 30 MB; the sanitizers keep what was freed for a while.
    besides = 700 * MEGABYTE if is_sanitized() else 40 * MEGABYTE
    assert peak < budget + besides, f"{peak / MEGABYTE:.0f} MB"


# --- memory ------------------------------------------------------------------------------------------------------------

def test_a_shape_with_a_zero_and_a_huge_number(kloom, tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    for arguments in (["info", "a.npy"], ["train", "--kernel-file", "a.npy"]):
        code, said, peak = peak_bytes(*arguments, cwd=tmp_path)
        assert code in (FAILED, MISTAKE) and "a.npy" in said
        assert is_sanitized() or peak < 100 * MEGABYTE
    numpy.save(tmp_path / "b.npy", numpy.zeros((0, 5)))
    assert "no features" in kloom("info", "b.npy", code=MISTAKE).err


def test_packed_tables_are_measured_while_they_unpack(tmp_path):
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        file.write(b"x,y\n" + b"1,2\n" * (60 << 18))
    expect_refused_within(100 * MEGABYTE, "info", "bomb.csv.gz", cwd=tmp_path, words=["bomb.csv.gz", "--unpack-ratio"])
    expect_refused_within(100 * MEGABYTE, "info", "bomb.csv.gz", "--unpack-ratio", 2000, cwd=tmp_path,
                          words=["bomb.csv.gz", "--memory"])


def test_packed_arrays_are_measured_before_they_unpack(kloom, tmp_path):
    numpy.savez_compressed(tmp_path / "zeros.npz", X=numpy.zeros((2000, 2000), dtype="i1"), y=numpy.arange(2000) % 2)
    numpy.savez_compressed(tmp_path / "bomb.npz", X=numpy.zeros((30000, 1000), dtype="i1"))
    kloom("info", "zeros.npz", "--no-standardise")          # packs well, but is small
    expect_refused_within(100 * MEGABYTE, "info", "bomb.npz", cwd=tmp_path, words=["bomb.npz", "--unpack-ratio"])
    # Bytes that become doubles take eight times as much.
    expect_refused_within(100 * MEGABYTE, "info", "bomb.npz", "--unpack-ratio", 2000, cwd=tmp_path,
                          words=["bomb.npz", "--memory"])


TABLES = {
    "short lines": b"x,y\n" + b"1,2\n" * 3_000_000,
    "carriage returns": b"x,y\r" + b"1,2\r" * 3_000_000,
    "one long header": b"a" + b",b" * 5_000_000 + b"\n",
    "one long row": b"x,y\n1,2\n" + b"1," * 5_000_000 + b"\n",
    "quoted lines": b'"x\n",y\n' + b'"\n",2\n' * 2_000_000,
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_stay_within_the_budget(tmp_path, name):
    (tmp_path / "t.csv").write_bytes(TABLES[name])
    code, said, peak = peak_bytes("info", "t.csv", "--memory", 60 * MEGABYTE, cwd=tmp_path)
    assert code in (FAILED, MISTAKE) and "t.csv" in said
    assert is_sanitized() or peak < 100 * MEGABYTE, f"{peak / MEGABYTE:.0f} MB: {said}"


def test_svmlight_stays_within_the_budget(tmp_path):
    (tmp_path / "t.svm").write_bytes(b"1\n" * 5_000_000)
    expect_refused_within(60 * MEGABYTE, "info", "t.svm", cwd=tmp_path, words=["t.svm", "--memory"])
    (tmp_path / "wide.svm").write_bytes(b"1 1:1 99999999:1\n2 1:2\n")
    expect_refused_within(60 * MEGABYTE, "info", "wide.svm", cwd=tmp_path, words=["wide.svm", "--memory"])


def test_views_share_the_budget(kloom, tmp_path):
    rows = "".join(f"s{i},{i % 7},{i % 3}\n" for i in range(100_000))
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("id,x,z\n" + rows)
    views = ["--view", "a=a.csv", "--view", "b=b.csv"]
    one = ["info", "--view", "a=a.csv", "--memory", "14MB"]
    kloom(*one)
    expect_refused_within(14 * MEGABYTE, "info", *views, cwd=tmp_path, words=["--memory"])


def test_absurd_numbers_are_refused_at_once(kloom, table):
    assert "--repeats" in kloom("cv", "data.csv", "--method", "uniform", "--repeats", 1_000_000_000, "--memory", "1GB", code=FAILED).err
    assert "repeats" in kloom("compare", "data.csv", "--repeats", 10**17, code=MISTAKE).err
    kloom("compare", "data.csv", "--folds", 0, code=MISTAKE)
    assert "--threads is 100000" in kloom("train", "data.csv", "--threads", 100_000, code=MISTAKE).err
    assert "--unpack-ratio" in kloom("info", "data.csv", "--unpack-ratio", "nan", code=MISTAKE).err


# --- numbers at the edge -------------------------------------------------------------------------------------------------

def regression(path, scale):
    generator = random.Random(5)
    lines = ["x1,x2,y"]
    for _ in range(40):
        a, b = generator.gauss(0, 1), generator.gauss(0, 1)
        lines.append(f"{a!r},{b!r},{(a + b * b + 0.1) * scale!r}")
    path.write_text("\n".join(lines) + "\n")


METHODS = ["auto", "bemkl", "gp-mkl", "simplemkl", "uniform", "lmkl"]


@pytest.mark.parametrize("method", METHODS)
def test_targets_of_any_usual_size(kloom, tmp_path, method):
    """R² does not depend on the unit of the targets; beyond 1e±150 they are refused."""
    fits = {}
    for scale in (1.0, 1e-149, 1e149):
        regression(tmp_path / "r.csv", scale)
        report = kloom("train", "r.csv", "--task", "regression", "--method", method, "--kernels", "rbf(width=1,3); linear",
                       "-o", "m.kloom", "--json").json()["report"]
        fits[scale] = report["evaluations"][0]["values"]["R²"]
        assert report["status"] in ("converged", "iteration limit"), report["status"]
        kloom("info", "m.kloom")
    # Fits stop within their tolerance of 1e-3 of the objective, not at the same point.
    assert fits[1e149] == pytest.approx(fits[1.0], abs=0.01) and fits[1e-149] == pytest.approx(fits[1.0], abs=0.01)
    for scale in (1e152, 1e200, 1e307, 1e-200, 1e-300):
        regression(tmp_path / "r.csv", scale)
        said = kloom("train", "r.csv", "--task", "regression", "--method", method, "-o", "n.kloom", code=MISTAKE).sentence()
        assert "r.csv" in said and "unit" in said
        assert not (tmp_path / "n.kloom").exists()


def test_kernels_of_any_usual_size(kloom, tmp_path):
    generator = numpy.random.default_rng(3)
    x = generator.normal(size=(40, 3))
    kernel = numpy.exp(-((x[:, None] - x[None]) ** 2).sum(2) / 4)
    (tmp_path / "y.csv").write_text("label\n" + "".join("ab"[int(v > 0)] + "\n" for v in x[:, 0]))
    for scale in (1e-149, 1e149):
        numpy.save(tmp_path / "K.npy", kernel * scale)
        fit = kloom("train", "y.csv", "--kernel-file", "K.npy", "--method", "bemkl", "-o", "m.kloom", "--json").json()
        assert fit["report"]["evaluations"][0]["values"]["accuracy"] > 0.9
    for scale in (1e152, 1e308, 1e-200):
        numpy.save(tmp_path / "K.npy", kernel * scale)
        for method in ("uniform", "bemkl"):
            assert "'K'" in kloom("train", "y.csv", "--kernel-file", "K.npy", "--method", method, code=MISTAKE).sentence()


@pytest.mark.parametrize("method", [*METHODS, "single", "lp-mkl", "samkl", "mcmkl", "mkl-da", "ufo-mkl", "easymkl", "gram", "align",
                                    "alignf", "fheuristic", "pwmk", "group-mkl"])
def test_classes_of_a_single_sample(tmp_path, method):
    # bemkl ended in a segmentation fault: no class had enough samples for its choice of sigma_g.
    (tmp_path / "data.csv").write_text("x,label\n0,a\n900,a\n0,b\n0,c\n2.2,d\n")
    result = run_program("train", "data.csv", "--method", method, "--task", "classes", "-o", "m.kloom", cwd=tmp_path)
    assert result.code in (DONE, FAILED, MISTAKE), result.err
    if result.code == DONE:
        assert run_program("predict", "m.kloom", "data.csv", cwd=tmp_path).code == DONE
    else:
        assert len(result.sentence()) > 25 and not (tmp_path / "m.kloom").exists()


def test_features_beyond_all_measure(kloom, model, tmp_path):
    """Standardised they are numbers like any other; as they are, their squares are none."""
    rows = [(["1e200" if i % 2 else "2e200", str(i % 5), str(i % 3)], "sick" if i % 2 else "healthy") for i in range(20)]
    lines = ["x1,x2,x3,label"] + [",".join(values) + "," + label for values, label in rows]
    (tmp_path / "huge.csv").write_text("\n".join(lines) + "\n")
    for method in ("uniform", "bemkl", "auto", "gp-mkl", "mkl-da"):
        arguments = ["train", "huge.csv", "--method", method, "--kernels", "rbf(width=1,3)", "-o", "h.kloom"]
        assert kloom(*arguments, "--json").json()["report"]["evaluations"][0]["values"]["accuracy"] > 0.9
        arguments[4:] = [method, "--kernels", "linear; poly(degree=2)", "--no-standardise", "-o", "n.kloom"]
        result = run_program(*arguments, cwd=tmp_path)
        assert result.code in (FAILED, MISTAKE), f"{method}: {result.out}"
        assert not (tmp_path / "n.kloom").exists() and "nan" not in result.out
    result = run_program("predict", "model.kloom", "huge.csv", cwd=tmp_path)
    assert "nan" not in result.out and "inf" not in result.out


def test_labels_that_are_infinite(kloom, tmp_path):
    lines = ["y,x"] + [f"{'inf' if i % 2 else '-inf'},{i % 7}" for i in range(30)]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    said = kloom("train", "d.csv", "-o", "m.kloom", code=MISTAKE).sentence()
    assert "line 2" in said and "-inf" in said
    kloom("train", "d.csv", "--task", "classes", "--kernels", "linear", "--method", "uniform", "-o", "m.kloom")
    (tmp_path / "d.csv").write_text("y,x\n" + "".join(f"{i * 0.5},{i % 7}\n" for i in range(30)) + "1e999,3\n")
    assert "line 32" in kloom("train", "d.csv", code=MISTAKE).sentence()


def test_long_integers_are_different_classes(kloom, tmp_path):
    labels = ["9007199254740992", "9007199254740993", "9007199254740994"]
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i % 3 + i / 100},{labels[i % 3]}\n" for i in range(30)))
    fit = kloom("train", "d.csv", "--kernels", "linear; rbf(width=1)", "--method", "uniform", "-o", "m.kloom", "--json").json()
    assert fit["classes"] == labels
    assert kloom("predict", "m.kloom", "d.csv", "--json").json()["evaluation"]["values"]["accuracy"] > 0.8


# --- journals ------------------------------------------------------------------------------------------------------------

CV = ["cv", "data.csv", "--method", "uniform", "--kernels", "linear", "--folds", "3", "--resume", "work.jsonl"]


def fnv(chain, text):
    data = len(text).to_bytes(8, "little") + text
    for byte in data:
        chain = (chain ^ byte) * 0x100000001B3 % 2**64
    return chain


def with_checksums(lines):
    """The journal that somebody who knows the format could forge."""
    chain, text = 0xCBF29CE484222325, b""
    for line in lines:
        body = json.dumps(line, separators=(",", ":")).encode() if isinstance(line, dict) else line
        chain = fnv(chain, body)
        text += body + b"\t%016x\n" % chain
    return text


@pytest.fixture
def journal(kloom, table):
    kloom(*CV)
    return table.parent / "work.jsonl"


def parsed(journal):
    return [json.loads(line.split("\t")[0]) for line in journal.read_text().splitlines()]


def test_the_forger_of_these_tests_forges_well(kloom, journal):
    whole = journal.read_bytes()
    assert with_checksums([line.split(b"\t")[0] for line in whole.splitlines()]) == whole
    journal.write_bytes(with_checksums(parsed(journal)[:2]))
    kloom(*CV)
    assert len(journal.read_bytes().splitlines()) == 4


def test_changed_lines_are_noticed(kloom, journal):
    whole = journal.read_text()
    lines = whole.splitlines(keepends=True)
    changes = {
        "a metric": whole.replace('"accuracy",0.', '"accuracy",0.9', 1),
        "no checksum": lines[0] + lines[1].split("\t")[0] + "\n" + "".join(lines[2:]),
        "a line left out": lines[0] + lines[2] + lines[3],
        "a line twice": whole + lines[3],
        "two lines swapped": lines[0] + lines[2] + lines[1] + lines[3],
    }
    for name, text in changes.items():
        assert text != whole
        journal.write_text(text)
        said = kloom(*CV, code=FAILED).sentence()
        assert "work.jsonl, line" in said and "emove" in said, f"{name}: {said}"
        assert journal.read_text() == text
    journal.write_text(whole + lines[3][:40])    # cut off by a crash
    kloom(*CV)
    assert journal.read_text() == whole


FORGERIES = {
    "a split that does not exist": lambda o: o.update(split=3),
    "a negative split": lambda o: o.update(split=-1),
    "a huge split": lambda o: o.update(split=2**60),
    "another method": lambda o: o.update(candidate=1),
    "a class that does not exist": lambda o: o["codes"].__setitem__(0, 129),
    "a negative class": lambda o: o["codes"].__setitem__(0, -1),
    "a class too few": lambda o: o["codes"].pop(),
    "rows that are not there": lambda o: o["scores"].update(rows=10**12),
    "no rows": lambda o: o["scores"].update(rows=0, cols=0, values=[]) or o["codes"].clear(),
    "a score that is infinite": lambda o: o["scores"]["values"].__setitem__(0, "inf"),
    "a score that is none": lambda o: o["scores"]["values"].__setitem__(0, None),
    "a score that is text": lambda o: o["scores"]["values"].__setitem__(0, "many"),
    "a probability of 2": lambda o: o["probabilities"]["values"].__setitem__(0, 2.0),
    "a better accuracy": lambda o: o["evaluation"]["values"][0].__setitem__(1, 1.0),
    "a confusion of one class": lambda o: o["evaluation"].update(confusion=[[14]]),
    "no times": lambda o: o.update(seconds=[]),
    "a negative time": lambda o: o.update(seconds=[-1.0, 0.0, 0.0]),
    "an option that was not asked for": lambda o: o["chosen"].update(C="7"),
    "a status that does not exist": lambda o: o.update(status=99),
    "a field too many": lambda o: o.update(more=1),
    "a field too few": lambda o: o.pop("codes"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_journals_are_not_believed(kloom, journal, name):
    lines = parsed(journal)
    FORGERIES[name](lines[1])
    journal.write_bytes(with_checksums(lines))
    said = kloom(*CV, "-o", "report.json", code=FAILED).sentence()
    assert "work.jsonl" in said and ("damaged" in said or '"more" in line 2' in said)


def test_the_same_work_twice_is_not_believed(kloom, journal):
    lines = parsed(journal)
    journal.write_bytes(with_checksums([*lines, lines[1]]))
    assert "line 5" in kloom(*CV, code=FAILED).sentence()


def test_deep_nesting_in_journals(kloom, journal):
    first = parsed(journal)[0]
    journal.write_bytes(with_checksums([first, b'{"plan":' + b"[" * 200_000 + b"]" * 200_000 + b"}"]))
    assert "nested" in kloom(*CV, code=FAILED).sentence()


def test_journals_of_earlier_programs(kloom, journal):
    fingerprint = parsed(journal)[0]["fingerprint"]
    journal.write_text(json.dumps({"kloom_journal": 1, "fingerprint": fingerprint}) + "\n{}\n")
    said = kloom(*CV, code=MISTAKE).sentence()
    assert "another version" in said and "remove it" in said


def test_two_runs_do_not_share_a_journal(kloom, tmp_path):
    import fcntl
    write_table(tmp_path / "data.csv", two_clouds())
    with open(tmp_path / "work.jsonl", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another run" in kloom(*CV, code=MISTAKE).sentence()
        compare = ["compare", "data.csv", "--methods", "uniform", "--kernels", "linear", "--resume", "work.jsonl"]
        assert "another run" in kloom(*compare, code=MISTAKE).sentence()
    kloom(*CV)


def test_forged_plans_are_not_believed(kloom, table):
    arguments = ["compare", "data.csv", "--methods", "uniform", "--kernels", "linear", "--folds", "3", "--resume", "plan.jsonl"]
    kloom(*arguments)
    path = table.parent / "plan.jsonl"
    lines = parsed(path)
    plan = json.loads(lines[1]["plan"])
    for change in ({"methods": ["bemkl"]}, {"methods": ["none"]}, {"methods": []}, {"repeats": 10**9}, {"folds": 10**9},
                   {"grids": 7}, {"notes": 3}, {"repeats": 0}):
        forged = [lines[0], {"plan": json.dumps({**plan, **change})}]
        path.write_bytes(with_checksums(forged))
        assert "plan" in kloom(*arguments, code=FAILED).sentence(), change


# --- models -------------------------------------------------------------------------------------------------------------

def with_document(model, path, change):
    """A copy of a model with another document and the checksums that belong to it; see src/data/container.h."""
    data = model.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + length]), data[8 + length:]
    begin, end = header["document"]["data_offsets"]
    assert header["kloom.block_crc"]["data_offsets"][0] == end, "the document comes last"
    document = json.loads(body[begin:end])
    change(document)
    text = json.dumps(document).encode()
    content, block = body[:begin] + text, 4 << 20
    crcs = b"".join(zlib.crc32(content[i:i + block]).to_bytes(8, "little") for i in range(0, len(content), block))
    header["document"].update(shape=[len(text)], data_offsets=[begin, len(content)])
    header["kloom.block_crc"].update(shape=[len(crcs) // 8], data_offsets=[len(content), len(content) + len(crcs)])
    header["__metadata__"]["checksum"] = "crc32:00000000"
    words = json.dumps(header, separators=(",", ":")).encode()
    words += b" " * (-(8 + len(words)) % 64)
    blank = len(words).to_bytes(8, "little") + words
    seal = zlib.crc32(crcs, zlib.crc32(blank))
    path.write_bytes(blank.replace(b'"checksum":"crc32:00000000"', b'"checksum":"crc32:%08x"' % seal) + content + crcs)


def test_nested_texts_inside_of_models(kloom, model, tmp_path):
    """Options and report are JSON inside of the document's JSON; `info` shows them."""
    deep = "[" * 200_000 + "]" * 200_000
    for field in ("options", "report"):
        with_document(model, tmp_path / "deep.kloom", lambda document, name=field: document.update({name: deep}))
        assert "nested too deeply" in kloom("info", "deep.kloom", code=FAILED).sentence()
    with_document(model, tmp_path / "flat.kloom", lambda document: document.update(options="{}"))
    kloom("info", "flat.kloom")     # what is changed here is accepted otherwise


# --- silent acceptance ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("share", ["-0.5", "nan", "0", "1", "2"])
def test_holdouts_that_are_none(kloom, table, share):
    assert "held out" in kloom("cv", "data.csv", "--method", "uniform", f"--holdout={share}", code=MISTAKE).sentence()


def test_categories_that_training_never_saw(kloom, tmp_path):
    generator = random.Random(2)
    rows = [f"{generator.gauss(i % 2, 1)},{'red' if i % 3 else 'blue'},{'1' if i % 5 else 'x'},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "d.csv").write_text("x,colour,code,label\n" + "\n".join(rows) + "\n")
    kloom("train", "d.csv", "--method", "uniform", "--kernels", "linear; rbf(width=1)", "-o", "m.kloom")
    (tmp_path / "new.csv").write_text("x,colour,code\n1,Red,1\n2,red,1.0\n3,Red,1.0\n4,green,1.0\n")
    said = kloom("predict", "m.kloom", "new.csv").err
    colour = next(line for line in said.splitlines() if "'colour'" in line)
    assert "warning" in colour and "Red (training has 'red')" in colour and "green" in colour and "3 of 4 samples" in colour
    code = next(line for line in said.splitlines() if "'code'" in line)
    assert "1.0 (training has '1')" in code and "3 of 4 samples" in code


def test_names_that_coding_makes_twice(kloom, tmp_path):
    generator = random.Random(2)
    rows = [f"{generator.gauss(i % 2, 1)},{'red' if i % 3 else 'blue'},{generator.random()},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "d.csv").write_text("x,colour,colour=red,label\n" + "\n".join(rows) + "\n")
    said = kloom("train", "d.csv", "--method", "uniform", "--kernels", "linear on each", code=MISTAKE).sentence()
    assert "'colour=red'" in said and "Rename" in said
    kloom("train", "d.csv", "--method", "uniform", "--kernels", "linear on each", "--ignore", "colour=red", "-o", "m.kloom")


def stream(*arguments, cwd, text, code=DONE):
    result = run_program("stream", *arguments, cwd=cwd, input=text)
    assert result.code == code, result.err
    return result


def test_resumed_streams_keep_what_they_were_made_with(tmp_path):
    text = (tmp_path / "d.csv", write_table(tmp_path / "d.csv", two_clouds()))[1].read_bytes()
    kernels = "rbf(gamma=0.1,1)"
    stream("-o", "s.kloom", "--kernels", kernels, "--budget", 20, cwd=tmp_path, text=text)
    before = (tmp_path / "s.kloom").read_bytes()
    for change in (["--method", "ufo-mkl"], ["--kernels", "rbf(gamma=2)"], ["--budget", 30], ["--literal"],
                   ["--approx", "rff"], ["--dt-update", 7], ["--impute", "mean"], ["--no-standardise"]):
        said = stream("--resume", "-o", "s.kloom", *change, cwd=tmp_path, text=text, code=MISTAKE).sentence()
        assert change[0] in said and "checkpoint" in said
        assert (tmp_path / "s.kloom").read_bytes() == before
    stream("--resume", "-o", "s.kloom", "--kernels", kernels, "--budget", 20, "--method", "mkl-dao", cwd=tmp_path, text=text)


def test_a_stream_without_line_breaks(tmp_path):
    said = stream("--memory", "40MB", cwd=tmp_path, text=b"x,label\n" + b"1" * 30_000_000, code=FAILED).sentence()
    assert "line 2" in said and "--memory" in said


# --- what is said and written ---------------------------------------------------------------------------------------------

def test_messages_are_short_and_harmless(kloom, tmp_path):
    cell = "\x1b]0;owned\x07\x1b[2J" + "long " * 2_000_000
    (tmp_path / "d.csv").write_text("x,label\n1,a\n\"" + cell + "\",b\n3,a\n4,b\n")
    result = kloom("train", "d.csv", "--categorical", "refuse", "--json", code=MISTAKE)
    assert "\x1b" not in result.err and "\x07" not in result.err and "\\x1b]0;owned\\x07" in result.err
    assert len(result.err) < 5000 and len(result.out) < 5000
    assert "line 3" in result.err and "left out" in result.err and "--ignore" in result.err
    (tmp_path / "e.csv").write_text("x,label\n1,a\x1b[31m\n2,b\n3,a\x1b[31m\n4," + "b" * 100_000 + "\n")
    result = kloom("info", "e.csv")
    assert "\x1b" not in result.out + result.err and len(result.out) < 20_000


def test_formulas_are_no_cells(kloom, tmp_path):
    """A spreadsheet would run them; numbers, also negative ones, stay what they are."""
    ids = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-x", "-1.5", "+2", "plain", "=a,b"]
    generator = random.Random(2)
    rows = [f'"{ids[i % 8]}#{i}",{generator.gauss(i % 2, 1)},{"+" if i % 2 else "-"}' for i in range(16)]
    rows = [row.replace("-1.5#", "-1.5").replace("+2#", "+2") for row in rows]
    (tmp_path / "d.csv").write_text("id,x,label\n" + "\n".join(rows) + "\n")
    kloom("train", "d.csv", "--kernels", "linear", "--method", "uniform", "-o", "m.kloom")
    text = kloom("predict", "m.kloom", "d.csv").out
    written = [line.split(",")[0].strip('"') for line in text.splitlines()[1:]]
    for cell, name in zip(written, ids):
        harmless = name in ("-1.5", "+2", "plain")
        assert cell.startswith(name if harmless else "'" + name.split(",")[0]), cell
    assert {line.split(",")[1] for line in text.splitlines()[1:7]} <= {"+", "-"}
    kloom("cv", "d.csv", "--kernels", "linear", "--method", "uniform", "--folds", 2, "--predictions", "p.csv")
    assert "'=1+1" in (tmp_path / "p.csv").read_text() and ",=1+1" not in (tmp_path / "p.csv").read_text()


def test_pages_obey_nobody_else(kloom, table):
    """The policy names the hashes of the page's own style and script. If this fails because one of them was changed, put
    the hash that is expected here into src/report/page_style.cpp."""
    kloom("train", "data.csv", "--method", "uniform", "--kernels", "linear", "-o", "m.kloom", "--report", "page.html")
    page = (table.parent / "page.html").read_text()
    policy = re.search('<meta http-equiv=\'Content-Security-Policy\' content="([^"]*)">', page).group(1)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy, f"expected sha256-{digest}"
    assert not re.search(r"<[^>]* (style|on[a-z]+)=", page.split("<script")[0]), "the policy would block these"


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return open, (str(self.witness), "w")


def test_pickles_are_never_unpickled(kloom, table, tmp_path):
    witness = tmp_path / "it-ran"
    bomb = Bomb(witness)
    (tmp_path / "bomb.kloom").write_bytes(pickle.dumps(bomb))
    (tmp_path / "bomb.csv").write_bytes(pickle.dumps(bomb))
    numpy.save(tmp_path / "bomb.npy", numpy.array([bomb] * 40, dtype=object), allow_pickle=True)
    numpy.savez(tmp_path / "bomb.npz", X=numpy.array([[bomb]] * 40, dtype=object), y=numpy.arange(40) % 2)
    kloom("check", "bomb.kloom", "data.csv", code=FAILED)
    kloom("predict", "bomb.kloom", "data.csv", code=FAILED)
    for name in ("bomb.npy", "bomb.npz"):
        assert "Python objects" in kloom("train", name, code=MISTAKE).sentence()
    kloom("train", "data.csv", "--kernel-file", "bomb.npy", code=MISTAKE)
    kloom("train", "bomb.csv", code=MISTAKE)
    assert not witness.exists(), "a file ran code"
