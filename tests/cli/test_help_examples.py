# SPDX-License-Identifier: BSD-3-Clause
"""Every example of every help text, which manual pages and the site show as well, is typed into a shell and works."""
import os
import random
import shutil
import subprocess

import numpy
import pytest
from conftest import PROGRAM

ROWS, NEW = 36, 9


def ask(*words):
    return subprocess.run([PROGRAM, *words], text=True, capture_output=True, check=True).stdout


def examples_in(words):
    text = ask(*words, "--help")
    return [line.strip() for line in text[text.index("Examples:"):].splitlines()[1:]]


COMMANDS = [[], *(["kernels", "build"] if name == "kernels" else [name] for name in ask("man", "--list").split()), ["completion"]]
# What is typed, and the command whose help says so; some are in the overview as well.
EXAMPLES = {example: " ".join(words) for words in COMMANDS for example in examples_in(words)}


def write_tables(folder):
    """The files that the examples name: samples with two classes, as one table and as views, and new samples."""
    generator = random.Random(4)
    samples = []
    for i in range(ROWS + NEW):
        label = i % 2
        samples.append({"patient": f"p{i // 2}", "id": f"s{i}", "a": generator.gauss(1.5 * label, 1), "b": generator.gauss(-label, 1),
                        "c": generator.gauss(0, 1), "label": ("no", "yes")[label], "clinic": ("north", "south")[i // 2 % 2]})

    def table(name, rows, columns, names=None):
        lines = [",".join(names or columns)] + [",".join(str(row[column]) for column in columns) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    old, new = samples[:ROWS], samples[ROWS:]
    for name, rows in (("data.csv", old), ("train.csv", old), ("new.csv", new), ("test.csv", new), ("held_out.csv", new)):
        table(name, rows, ["patient", "a", "b", "c", "label"])
    for prefix, rows in (("", old), ("new_", new)):
        table(f"{prefix}rna.csv", rows, ["id", "a", "b"], ["patient", "rna1", "rna2"])
        table(f"{prefix}methylation.csv", rows, ["id", "c"], ["patient", "site"])
        table(f"{prefix}clinical.csv", rows, ["id", "c", "label"], ["patient", "age", "outcome"])
        table(f"{prefix}clinics.csv", rows, ["clinic", "a", "b", "label"], ["clinic", "a", "b", "outcome"])
    table("labels.csv", old, ["label"])
    for day in ("day1.csv", "day2.csv"):
        table(day, 40 * old, ["a", "b", "label"])
    (folder / "samples.svm").write_text("".join(f"{(-1, 1)[row['label'] == 'yes']} 1:{row['a']} 2:{row['b']}\n" for row in 40 * old),
                                        encoding="utf-8")
    features = numpy.array([[row["a"], row["b"]] for row in samples])
    squares = ((features[:, None] - features[None]) ** 2).sum(axis=2)
    for name, kernel in (("K1.npy", numpy.exp(-squares)), ("K2.npy", numpy.exp(-squares / 8))):
        numpy.save(folder / name, kernel[:ROWS, :ROWS])
    numpy.save(folder / "K_new.npy", numpy.exp(-squares)[ROWS:, :ROWS])


def model_before(command, example):
    """What has to be typed before an example that reads a model."""
    if "--resume -o state.kloom" in example or "state.kloom new.csv" in example:
        return "kloom stream --format csv --target label -o state.kloom < day1.csv"
    if "predict tasks.kloom" in example:
        return "kloom tasks clinics.csv --target outcome --by clinic -o tasks.kloom"
    if "--view rna=new_rna" in example:
        return "kloom train --view rna=rna.csv --view clinical=clinical.csv --id patient --target outcome -o model.kloom"
    if "K_new.npy" in example:
        return "kloom train labels.csv --kernel-file K1.npy -o model.kloom"
    if "model.kloom" in example and command not in ("train", "compare") and "-o model.kloom" not in example:
        return "kloom train data.csv --target label -o model.kloom"
    return "true"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return folder


def test_there_are_examples():
    assert len(EXAMPLES) >= 30 and all("kloom " in example for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_works(example, tables, tmp_path):
    place = tmp_path / "here"
    shutil.copytree(tables, place)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "kloom").symlink_to(PROGRAM)
    (place / ".zfunc").mkdir()
    (place / ".config" / "fish" / "completions").mkdir(parents=True)
    # A file that grows for ever is read as far as it goes.
    typed = example.replace("tail -f ", "cat ")
    before = set(place.iterdir())
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", f"{model_before(EXAMPLES[example], example)}\n{typed}"], cwd=place, text=True,
                          capture_output=True, timeout=500, check=False,
                          env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(place)})
    assert done.returncode == 0, done.stdout + done.stderr
    written = {path.name for path in set(place.iterdir()) - before}
    for name in ("model.kloom", "predictions.csv", "report.html", "report.json", "page.html", "page.json", "bank.kloom", "state.kloom",
                 "best.kloom", "tasks.kloom"):
        assert f"-o {name}" not in example or name in written, name
