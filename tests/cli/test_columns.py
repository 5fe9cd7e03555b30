# SPDX-License-Identifier: BSD-3-Clause
"""Ordinary tables: nothing is refused, and what was decided about columns is said."""
import csv
import gzip
import io
import json
import os
import pathlib
import random

import pytest
from conftest import MISTAKE, SOURCE

TABLES = pathlib.Path(os.environ.get("KLOOM_DATA", SOURCE.parent / "shared" / "data")) / "tables"
NAMES = sorted(path.name.removesuffix(".csv.gz") for path in TABLES.glob("*.csv.gz"))
ROWS = 150


def small_part(name):
    """A few rows of a table, by chance, with two rows of every class where it has classes."""
    with gzip.open(TABLES / f"{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.reader(file))
    header, rows = rows[0], rows[1:]
    random.Random(1).shuffle(rows)
    label = header.index("label")
    seen = {}
    first = [row for row in rows if (seen.update({row[label]: seen.get(row[label], 0) + 1}) or seen[row[label]] <= 2)]
    chosen = (first[:ROWS // 2] + [row for row in rows if row not in first[:ROWS // 2]])[:ROWS]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *chosen])
    return out.getvalue(), header


@pytest.mark.parametrize("name", NAMES or ["no tables"])
def test_no_ordinary_table_is_refused(kloom, tmp_path, name):
    if not NAMES:
        pytest.skip(f"NO TABLES IN {TABLES}: the test of ordinary tables was skipped")
    text, header = small_part(name)
    (tmp_path / "data.csv").write_text(text)
    columns = kloom("info", "data.csv", "--target", "label", "--json").json()["columns"]
    assert {c["name"] for c in columns} == set(header) - {"label"} - {"id", "sample"}
    assert all(c["kind"] and c["treatment"] for c in columns)
    kloom("kernels", "build", "data.csv", "--target", "label", "-o", "bank.kloom")
    bank = kloom("info", "bank.kloom", "--json").json()
    assert 1 <= len(bank["kernels"]) <= 75


def mixed_table(rows=60, seed=1):
    """Every kind of column; the label follows from colour and size."""
    generator = random.Random(seed)
    lines = ["row,size,flag,flat,colour,when,who,note,label"]
    words = "box lid red blue heavy light old new".split()
    for i in range(rows):
        colour = generator.choice(["red", "green", "blue", ""])
        size = generator.gauss(0, 1)
        lines.append(",".join([
            str(i + 1), "NA" if i % 13 == 5 else repr(size), str(int(i % 11 == 0)), "7", colour,
            f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}", f"N{i * 37}", " ".join(generator.choices(words, k=5)),
            "yes" if size + (colour == "red") > 0.2 else "no"]))
    return "\n".join(lines) + "\n"


def test_mixed_columns(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(mixed_table())
    report = kloom("train", "data.csv", "--method", "uniform", "-o", "m.kloom")
    assert "left out: " in report.err and "missing values in 2 columns" in report.err
    columns = {c["name"]: c for c in kloom("info", "m.kloom", "--json").json()["columns"]}
    assert {name: c["kind"] for name, c in columns.items()} == {
        "row": "id", "size": "number", "flag": "number", "flat": "constant", "colour": "category", "when": "date",
        "who": "name", "note": "sentences"}
    # What was dropped need not be there; what is new is named.
    (tmp_path / "new.csv").write_text("size,flag,flat,colour,note\n0.5,1,7,violet,old box\n.,0,7,red,new lid\n")
    predicted = kloom("predict", "m.kloom", "new.csv")
    assert len(predicted.out.splitlines()) == 3
    assert "'colour'" in predicted.err and "violet" in predicted.err and "'size' (1)" in predicted.err
    kloom("check", "m.kloom", "data.csv")


def test_folds_decide_for_themselves(kloom, tmp_path):
    lines = mixed_table(40).splitlines()
    # One row alone has the flag: it is constant in most training parts or in one.
    lines[1:] = [line.replace(",1,7,", ",0,7,") for line in lines[1:]]
    lines[3] = lines[3].replace(",0,7,", ",1,7,")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    kloom("cv", "data.csv", "--method", "uniform", "--folds", "4", "--quiet")


def test_strict_options_remain(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(mixed_table())
    assert "'size'" in kloom("train", "data.csv", "--impute", "none", code=MISTAKE).sentence()
    assert "'colour'" in kloom("train", "data.csv", "--categorical", "refuse", code=MISTAKE).sentence()
    (tmp_path / "flat.csv").write_text("a,label\n" + "1,x\n1,y\n" * 6)
    assert "'a'" in kloom("train", "flat.csv", code=MISTAKE).sentence()


def test_views_by_prefix_are_seen(kloom, tmp_path):
    generator = random.Random(3)
    lines = ["rna.a,rna.b,met.a,met.b,label"]
    lines += [",".join([*(repr(generator.gauss(i % 2, 1)) for _ in range(4)), "ab"[i % 2]]) for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    seen = kloom("info", "data.csv")
    assert "view 'rna': 2 features" in seen.out and "--no-views" in seen.err
    assert "view 'rna'" not in kloom("info", "data.csv", "--no-views").out


def test_decisions_are_kept_whole(kloom, tmp_path):
    """What `train --json` says about columns and kernels is also in the report, on the page, and in the model."""
    (tmp_path / "data.csv").write_text(mixed_table())
    said = kloom("train", "data.csv", "--method", "uniform", "-o", "m.kloom", "--report", "r.json", "--json").json()
    assert [column["name"] for column in said["columns"]] == ["row", "size", "flag", "flat", "colour", "when", "who", "note"]
    by_name = {column["name"]: column for column in said["columns"]}
    assert by_name["when"]["kind"] == "date" and by_name["when"]["treatment"] == "dropped" and "dates" in by_name["when"]["reason"]
    assert by_name["size"]["missing"] > 0 and "median" in by_name["size"]["treatment"]
    assert any("'note' holds sentences" in reason for reason in said["kernels_chosen"])
    report = json.loads((tmp_path / "r.json").read_text())
    kept = kloom("info", "m.kloom", "--json").json()
    for other in (report, kept):
        assert other["columns"] == said["columns"] and other["kernels_chosen"] == said["kernels_chosen"]
    shown = kloom("info", "m.kloom").out
    for column in said["columns"]:
        assert any(line.split()[:2] == [column["name"], column["kind"]] for line in shown.splitlines()), column
    assert "'note' holds sentences" in shown
    kloom("train", "data.csv", "--method", "uniform", "-o", "m.kloom", "--report", "r.html", "--quiet")
    page = (tmp_path / "r.html").read_text()
    for column in said["columns"]:
        assert f"<tr><td>{column['name']}</td><td>{column['kind']}</td>" in page
    # Kernels that were named need no reasons.
    assert kloom("train", "data.csv", "--method", "uniform", "--kernels", "rbf(width=1) on size", "-o", "m.kloom",
                 "--json").json()["kernels_chosen"] == []
