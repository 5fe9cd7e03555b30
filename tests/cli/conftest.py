# SPDX-License-Identifier: BSD-3-Clause
"""The program under test and small data sets for it."""
import json
import os
import pathlib
import random
import struct
import subprocess
import zlib

import numpy
import pytest

PROGRAM = os.environ["KLOOM_PROGRAM"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]

DONE, FAILED, MISTAKE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


def is_sanitized():
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode()   # must be UTF-8
        self.err = process.stderr.decode(errors="replace")   # may quote names in any encoding

    def sentence(self):
        """The error message, without a picture of the place below it."""
        return [line for line in self.err.splitlines() if line.startswith("kloom: ")][-1]

    def json(self):
        return json.loads(self.out)


def run_program(*arguments, cwd, **keywords):
    process = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=300, **keywords)
    return Result(process)


@pytest.fixture
def kloom(tmp_path):
    """Runs the program in an empty folder and looks at the exit code."""

    def run(*arguments, code=DONE, **keywords):
        result = run_program(*arguments, cwd=tmp_path, **keywords)
        assert result.code == code, f"exit code {result.code}\n{result.out}\n{result.err}"
        if code in (FAILED, MISTAKE):
            assert len(result.sentence()) > 25, "a sentence, not a word: " + result.err
            assert "terminate" not in result.err and "Traceback" not in result.err
        return result

    return run


def edit_model(source, target, name, change):
    """Copies a model file with numbers of one F64 array changed by a function on their list, and right checksums."""
    data = bytearray(source.read_bytes())
    length = struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8:8 + length])
    start = 8 + length
    begin, end = (start + offset for offset in entries[name]["data_offsets"])
    assert entries[name]["dtype"] == "F64"
    numbers = list(struct.unpack(f"<{(end - begin) // 8}d", data[begin:end]))
    change(numbers)
    data[begin:end] = struct.pack(f"<{len(numbers)}d", *numbers)
    crc_begin, crc_end = (start + offset for offset in entries["kloom.block_crc"]["data_offsets"])
    blocks = [zlib.crc32(data[k:min(k + (4 << 20), crc_begin)]) for k in range(start, crc_begin, 4 << 20)]
    data[crc_begin:crc_end] = struct.pack(f"<{len(blocks)}q", *blocks)
    place = data.index(b'"checksum":"crc32:', 0, start) + len(b'"checksum":"crc32:')
    data[place:place + 8] = b"00000000"
    data[place:place + 8] = b"%08x" % zlib.crc32(data[crc_begin:crc_end], zlib.crc32(data[:start]))
    target.write_bytes(data)
    return target


def two_clouds(samples=40, features=3, seed=1):
    """Rows of two overlapping Gaussian clouds, every second one 'sick'."""
    generator = random.Random(seed)
    rows = []
    for i in range(samples):
        sick = i % 2 == 1
        values = [generator.gauss(1.5 if sick and j == 0 else 0.0, 1.0) for j in range(features)]
        rows.append((values, "sick" if sick else "healthy"))
    return rows


def labels_and_kernels(samples, seed):
    """Labels and four Gaussian kernels with a unit diagonal and, for CVXOPT, full rank."""
    generator = numpy.random.default_rng(seed)
    x = generator.normal(size=(samples, 4))
    y = numpy.where(numpy.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * generator.normal(size=samples) > 0, 1.0, -1.0)
    kernels = []
    for columns in ([0], [1], [2, 3], [0, 1, 2, 3]):
        part = x[:, columns]
        square = ((part[:, None, :] - part[None, :, :]) ** 2).sum(axis=2)
        kernels.append(numpy.exp(-square) * (1 - 1e-3) + 1e-3 * numpy.eye(samples))
    return y, kernels


def write_table(path, rows, header=None, ids=False):
    features = len(rows[0][0])
    header = header or [f"x{j + 1}" for j in range(features)]
    lines = [",".join((["id"] if ids else []) + header + ["label"])]
    for i, (values, label) in enumerate(rows):
        lines.append(",".join(([f"s{i + 1}"] if ids else []) + [repr(v) for v in values] + [label]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "data.csv", two_clouds())


KERNELS = "rbf(width=2^-1..2^2) on all; linear on each"
POSITIVE = "rbf(width=1) on each"   # for products of kernels


@pytest.fixture
def model(kloom, table):
    """A model trained on `table`."""
    kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 30, "-o", "model.kloom", "--quiet")
    return table.parent / "model.kloom"
