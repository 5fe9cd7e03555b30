# SPDX-License-Identifier: BSD-3-Clause
"""Tables as people have them: read with sensible decisions, or refused in a sentence that names the place and the remedy."""
import random

import pytest
from conftest import MISTAKE

ROWS = 60


def numbers(rows=ROWS, seed=1):
    generator = random.Random(seed)
    return [round(generator.gauss(0, 1) + (i % 2), 3) for i in range(rows)]


def labels(rows=ROWS):
    return ["ab"[i % 2] for i in range(rows)]


def table(delimiter=",", rows=ROWS, **columns):
    """A file of the columns given, after a column x that tells the classes apart, and before the target y."""
    columns = {"x": numbers(rows), **columns}
    columns.setdefault("y", labels(rows))
    lines = [delimiter.join(columns)]
    lines += [delimiter.join(str(values[i]) for values in columns.values()) for i in range(rows)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def train(kloom, tmp_path):
    """Trains on a table and returns what was decided about its columns, by name, and all that was said."""

    def run(text, *options, name="data.csv", code=0):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        result = kloom("train", name, "--target", "y", "--method", "uniform", "-o", "m.kloom", "--json", *options, code=code)
        if code:
            return result.sentence()
        columns = {column["name"]: column for column in result.json()["columns"]}
        for column in columns.values():
            assert column["kind"] and column["treatment"]
        assert len(kloom("predict", "m.kloom", name, "--quiet").out.splitlines()) > 1
        return columns, result

    return run


def cycle(values, rows=ROWS):
    return [values[i % len(values)] for i in range(rows)]


DATES = {
    "iso": [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(ROWS)],
    "with a time": [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} 12:{i % 60:02}:00" for i in range(ROWS)],
    "with a T": [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}T12:{i % 60:02}:00Z" for i in range(ROWS)],
    "American": [f"{i % 12 + 1}/{i % 28 + 1}/2024" for i in range(ROWS)],
    "German": [f"{i % 28 + 1:02}.{i % 12 + 1:02}.2024" for i in range(ROWS)],
    "in words": [f"{i % 28 + 1} March {1980 + i % 40}" for i in range(ROWS)],
    "short": [f"{i % 28 + 1:02}-Mar-{i % 40:02}" for i in range(ROWS)],
}

COLUMNS = {
    "0/1": (cycle([0, 1, 1]), "number"),
    "the same everywhere": ([3] * ROWS, "constant"),
    "the same word everywhere": (["a"] * ROWS, "constant"),
    "nothing": ([""] * ROWS, "empty"),
    "only marks of nothing": (cycle(["NA", "N/A", "?", "null", "-", ""]), "empty"),
    "codes": ([f"K{(i * 37) % 997:03}" for i in range(ROWS)], "name"),
    "True and False": (cycle(["True", "False", "False"]), "category"),
    "TRUE and FALSE": (cycle(["TRUE", "FALSE"]), "category"),
    "yes and no": (cycle(["yes", "no", "no"]), "category"),
    "plus and minus": (cycle(["+", "-", "-"]), "category"),
    "a few words among numbers": ([f"{v}" if i % 20 else "unknown" for i, v in enumerate(numbers(seed=2))], "number"),
    "half words, half numbers": ([f"{v}" if i % 2 else "low" for i, v in enumerate(numbers(seed=2))], "category"),
    "gaps written in many ways": ([f"{v}" if i % 3 else ["NA", "n/a", "?", "null", "-", "NaN", "."][i // 3 % 7]
                                   for i, v in enumerate(numbers(seed=2))], "number"),
    "gaps among words": (cycle(["red", "blue", "NA", "green", "?"]), "category"),
    "dashes among few numbers": (cycle([1, 2, "-", 5]), "number"),
    "thousands": ([f'"{1000 + 977 * i:,}"' for i in range(ROWS)], "number"),
    "thousands with decimals": ([f'"{977.25 * (i + 1):,.2f}"' for i in range(ROWS)], "number"),
    "percent": ([f"{i * 7 % 100}%" for i in range(ROWS)], "number"),
    "a unit": ([f"{i * 7 % 100} kg" for i in range(ROWS)], "number"),
    "money": ([f'"${1000 + 977 * i:,}"' for i in range(ROWS)], "number"),
    "names": ([f'"Miss{i % 7}, Ann{i} X{i * 3}"' for i in range(ROWS)], "name"),
    "quotes": (cycle(['"say ""hi"""', '"a, b"', "plain"]), "category"),
    **{f"dates, {name}": (values, "date") for name, values in DATES.items()},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column(train, name):
    values, kind = COLUMNS[name]
    columns, result = train(table(c=values))
    assert columns["c"]["kind"] == kind, columns["c"]
    if kind in ("date", "name", "empty", "constant"):
        assert "left out: c (" in result.err


@pytest.mark.parametrize("text, value", [('"1,234"', 1234), ('"12,345,678.5"', 12345678.5), ("987", 987)])
def test_thousands_are_read(kloom, train, tmp_path, text, value):
    """The model of 1,234 is that of 1234, and predicts either."""
    plain = [1000 + 977 * i for i in range(ROWS)]
    columns, _ = train(table(c=[f'"{v:,}"' for v in plain]))
    assert "',' separates thousands" in columns["c"]["reason"]
    (tmp_path / "new.csv").write_text(f"x,c\n0.5,{text}\n0.5,2000\n")
    marked = kloom("predict", "m.kloom", "new.csv", "--quiet").out
    train(table(c=plain))
    (tmp_path / "new.csv").write_text(f"x,c\n0.5,{value}\n0.5,2000\n")
    assert kloom("predict", "m.kloom", "new.csv", "--quiet").out == marked


def test_units_are_read(kloom, train, tmp_path):
    plain = [i * 7 % 100 for i in range(ROWS)]
    for written in ("{} kg", "{}%", "${}"):
        columns, _ = train(table(c=[written.format(v) for v in plain]))
        assert "unit" in columns["c"]["reason"]
        (tmp_path / "new.csv").write_text(f"x,c\n0.5,{written.format(13)}\n0.5,14\n")
        marked = kloom("predict", "m.kloom", "new.csv", "--quiet").out
        train(table(c=plain))
        (tmp_path / "new.csv").write_text("x,c\n0.5,13\n0.5,14\n")
        assert kloom("predict", "m.kloom", "new.csv", "--quiet").out == marked


def test_decimal_commas(train):
    text = table(delimiter=";", c=[f"{v}".replace(".", ",") for v in numbers(seed=2)])
    columns, result = train(text)
    assert columns["c"]["kind"] == "number" and "separated by semicolons" in result.err
    # A thousand with a point and decimals with a comma.
    columns, _ = train(table(delimiter=";", c=[f"{1000.5 + 977 * i:,.2f}".translate({44: ".", 46: ","}) for i in range(ROWS)]))
    assert columns["c"]["kind"] == "number" and "'.' separates thousands" in columns["c"]["reason"]
    # As the target they are refused: nobody wants sixty classes.
    sentence = train(table(delimiter=";", y=[f"{v}".replace(".", ",") for v in numbers(seed=2)]), code=MISTAKE)
    assert "line 2" in sentence and "decimal comma" in sentence and "point" in sentence


def test_files_of_other_programs(train):
    wanted, _ = train(table(c=cycle(["red", "blue"])))
    text = table(c=cycle(["red", "blue"]))
    for other, name in ((text.replace(",", ";"), "data.csv"), (text.replace(",", "\t"), "data.csv"), (text.replace(",", "|"), "data.csv"),
                        (text.replace(",", "\t"), "data.tsv"), (text.replace(",", "\t"), "data.txt"),
                        ("\ufeff" + text, "data.csv"), (text.replace("\n", "\r\n"), "data.csv"),
                        (text.replace("\n", "\r"), "data.csv"), (text.replace("red", '"red"'), "data.csv"),
                        (text + "\n\n", "data.csv"), (text.replace("\n", ",\n"), "data.csv"),
                        (text.replace(",", ", "), "data.csv")):
        assert train(other, name=name)[0] == wanted, other[:40]


def test_headers(train):
    text = table(c=numbers(seed=2), d=numbers(seed=3))
    assert "line 1" in train(text.replace("c,d", "c,"), code=MISTAKE)
    sentence = train(text.replace("c,d", "c,c"), code=MISTAKE)
    assert "line 1" in sentence and "both called 'c'" in sentence and "Rename" in sentence
    # Row names that R and pandas write.
    lines = text.splitlines()
    for header in ("", "Unnamed: 0"):
        columns, result = train("\n".join([header + "," + lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
        assert set(columns) == {"x", "c", "d"} and "sample ids" in result.err
    sentence = train("\n".join(lines[1:]) + "\n", code=MISTAKE)
    assert "y" in sentence


def test_target(kloom, train):
    for kind, y in (("text", labels()), ("integers", cycle([0, 1])), ("truth", cycle(["True", "False"])),
                    ("signs", cycle(["+", "-"])), ("twenty-one words", [f"class {i % 21}" for i in range(ROWS)]),
                    ("one sample of a class", ["rare", *labels()[1:]])):
        _, result = train(table(y=y))
        assert set(result.json()["classes"]) == {str(v) for v in y}, kind
    # 21 integers over 60 rows are numbers, and so are decimals.
    for y in ([i % 30 for i in range(ROWS)], numbers(seed=4)):
        assert train(table(y=y))[1].json()["report"]["task"] == "regression"
    sentence = train(table(y=["a"] * ROWS), code=MISTAKE)
    assert "every label in column 'y' is 'a'" in sentence and "--target" in sentence


def test_target_with_gaps(kloom, train):
    for mark in ("", "NA", "?"):
        _, result = train(table(y=[mark if i % 10 == 4 else v for i, v in enumerate(labels())]))
        assert "6 of 60 samples have no value in the target 'y' and are left out, the first on line 6" in result.err
        assert result.json()["report"]["samples"] == 54
        kloom("check", "m.kloom", "data.csv", "--target", "y", "--quiet")
        kloom("cv", "data.csv", "--target", "y", "--method", "uniform", "--folds", "3", "--quiet")
    _, result = train(table(y=[mark if i % 10 == 4 else v for i, v in enumerate(numbers(seed=4))]))
    assert result.json()["report"]["samples"] == 54 and result.json()["report"]["task"] == "regression"
    assert "no sample has a label" in train(table(y=[""] * ROWS), code=MISTAKE)


def test_small_and_lopsided_tables(kloom, train, tmp_path):
    train("a,b,y\n1,2,u\n2,1,v\n3,5,u\n")
    train("a,b,y\n1,2,u\n2,1,v\n")   # one row per class
    wide = {f"c{j}": numbers(12, seed=j) for j in range(80)}
    train(table(rows=12, **wide))
    rare = ["a" if i % 51 == 7 else "b" for i in range(102)]
    _, result = train(table(rows=102, y=rare))
    assert set(result.json()["classes"]) == {"a", "b"}
    # What most people type.
    for text in (table(rows=102, y=rare), table(rows=12, **wide), "a,b,y\n1,2,u\n2,1,v\n3,5,u\n", "a,b,y\n1,2,u\n2,1,v\n"):
        (tmp_path / "data.csv").write_text(text)
        kloom("train", "data.csv", "--target", "y", "--quiet")


def test_a_column_that_is_constant_in_one_fold(kloom, tmp_path):
    (tmp_path / "data.csv").write_text(table(c=[int(i == 3) for i in range(ROWS)], d=["odd" if i == 5 else "even" for i in range(ROWS)],
                                             e=["" if i != 9 else 1 for i in range(ROWS)]))
    kloom("cv", "data.csv", "--target", "y", "--method", "uniform", "--folds", "5", "--quiet")


def test_ragged_lines_are_named(train):
    lines = table(c=numbers(seed=2)).splitlines()
    lines[4] += ",7"
    sentence = train("\n".join(lines), code=MISTAKE)
    assert "line 5" in sentence and "4 cells" in sentence


def test_categories_can_be_asked_for(kloom, train, tmp_path):
    columns, _ = train(table(c=cycle([1, 2, 10])), "--category", "c")
    assert columns["c"]["kind"] == "category" and "one-hot, 3 values" in columns["c"]["treatment"]
    (tmp_path / "new.csv").write_text("x,c\n1,2\n1,7\n")
    assert "training never saw 7" in kloom("predict", "m.kloom", "new.csv").err
    columns, _ = train(table(c=cycle(["aab", "abb", "bab", "abbbb"]), d=cycle(["ab", "ba", "bbb"])), "--text", "c,d")
    assert columns["c"]["kind"] == columns["d"]["kind"] == "sequence"
