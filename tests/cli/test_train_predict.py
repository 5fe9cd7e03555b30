# SPDX-License-Identifier: BSD-3-Clause
"""From a table to a model, to predictions, to a certificate."""
import csv
import gzip
import io
import json
import math
import shlex

import numpy
import pytest
from conftest import FAILED, KERNELS, MISTAKE, SOURCE, two_clouds, write_table


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_train_says_what_it_does_and_what_came_out(kloom, table):
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 10)
    for words in ("40 samples, 3 features", "healthy 20, sick 20", "positive class 'sick'", "7 kernels", "may be used", "bank:", "writing data.kloom"):
        assert words in result.err, words
    for words in ("after 10 iterations", "lower bound", "certificate", "kernels by weight", "deviation",
                  "evaluation on training data", "sigma_g=1"):
        assert words in result.out, words
    assert (table.parent / "data.kloom").exists()


def test_weights_are_told_by_view(kloom, table):
    kernels = "rbf(width=1,2) on all, each; linear on all"
    result = kloom("train", "--method", "lp-mkl", "--C", 1, "data.csv", "--kernels", kernels)
    assert "weights by what kernels look at" in result.out
    printed = kloom("train", "--method", "lp-mkl", "--C", 1, "data.csv", "--kernels", kernels, "--json").json()
    shares = {one["view"]: one["share"] for one in printed["weights_by_view"]}
    weights = {kernel["name"]: abs(kernel["weight"]) for kernel in printed["kernels"]}
    on_all = sum(weight for name, weight in weights.items() if name.endswith(" on all"))
    assert len(shares) == 4 and abs(shares["all"] - on_all / sum(weights.values())) < 1e-12
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert kloom("info", "data.kloom", "--json").json()["weights_by_view"] == printed["weights_by_view"]
    assert kloom("train", "--method", "lp-mkl", "--C", 1, "data.csv", "--kernels", "rbf on all", "--json").json()["weights_by_view"] == []


def test_defaults_are_named_with_a_reason(kloom, table):
    result = kloom("train", "data.csv")
    assert "no --kernels given" in result.err and "rbf(auto" in result.err
    assert "no --method given" in result.err and "method: auto" in result.err

def test_a_chosen_run_can_be_repeated_without_choosing(kloom, table, tmp_path):
    first = kloom("train", table, "--target", "label", "-o", "first.kloom", "--json").json()
    words = shlex.split(first["repeat"])
    assert words[1] == "train" and "--machines" in words and "--kernels" in words
    words[words.index("-o") + 1] = "again.kloom"
    again = kloom(*words[1:]).json()
    assert again["report"]["message"].endswith("nothing was chosen")
    for model in ("first", "again"):
        kloom("predict", f"{model}.kloom", table, "-o", f"{model}.csv")
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    # Every method that chooses something says what it chose.
    words = shlex.split(kloom("train", table, "--target", "label", "--method", "simplemkl", "-o", "s.kloom", "--json").json()["repeat"])
    assert float(words[words.index("--C") + 1]) > 0


def test_report_file_and_json_agree(kloom, table):
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 10, "--seed", 7, "--threads", 1, "--json",
                   "--report", "report.json")
    report = json.loads((table.parent / "report.json").read_text())
    printed = result.json()
    decided = {key: printed[key] for key in ("spec", "kernels_chosen", "columns")}
    assert report == {**printed["report"], **decided}
    assert report["method"] == "bemkl" and report["samples"] == 40 and report["kernels"] == 7
    assert report["seed"] == 7 and report["threads"] == 1
    assert report["iterations"] == len(report["trace"]) == 10
    assert report["certificate"]["items"] and report["certificate"]["proof"] is False
    assert report["environment"]["kloom"] and report["environment"]["BLAS core"]
    assert report["options"]["iterations"] == "10"
    assert {"reading", "kernels"} <= set(report["seconds"])
    assert printed["positive_class"] == "sick"
    assert len(printed["kernels"]) == 7
    weights = [abs(kernel["weight"]) for kernel in printed["kernels"]]
    assert weights == sorted(weights, reverse=True)
    assert printed["model_bytes"] == (table.parent / "data.kloom").stat().st_size


def test_the_certificate_agrees_with_the_learner_and_with_check(kloom, model):
    training = kloom("info", "model.kloom", "--json").json()["report"]
    bound = {item["name"]: item["value"] for item in training["certificate"]["items"]}["lower bound"]
    # The referee sums in another order; 1e-9 relative is far above rounding and far below one iteration's gain.
    assert bound == pytest.approx(training["objective"], rel=1e-9)
    checked = kloom("check", "model.kloom", "data.csv", "--json").json()["certificate"]
    again = {item["name"]: item["value"] for item in checked["items"]}["lower bound"]
    assert again == pytest.approx(bound, rel=1e-9)
    assert "certificate" in kloom("check", "model.kloom", "data.csv").out


def test_prediction_columns(kloom, model):
    rows = rows_of(kloom("predict", "model.kloom", "data.csv").out)
    assert list(rows[0]) == ["label", "p(healthy)", "p(sick)", "score", "deviation"]
    assert len(rows) == 40
    right = 0
    for row, (_, label) in zip(rows, two_clouds()):
        healthy, sick = float(row["p(healthy)"]), float(row["p(sick)"])
        assert healthy + sick == pytest.approx(1.0, abs=1e-12)
        assert row["label"] == ("sick" if sick > healthy else "healthy")
        assert float(row["deviation"]) > 0
        right += row["label"] == label
    assert right > 25, "much better than a guess on its own training data"


def test_contributions_sum_to_the_score_up_to_the_bias(kloom, model):
    rows = rows_of(kloom("predict", "model.kloom", "data.csv", "--contributions").out)
    names = [name for name in rows[0] if name.startswith("contribution(")]
    assert len(names) == 7
    bias = [float(row["score"]) - math.fsum(float(row[name]) for name in names) for row in rows]
    assert max(bias) - min(bias) < 1e-10   # scores of size 1, seven terms


def test_deviations_of_contributions(kloom, model):
    plain = rows_of(kloom("predict", "model.kloom", "data.csv", "--contributions").out)
    rows = rows_of(kloom("predict", "model.kloom", "data.csv", "--contribution-deviations").out)
    names = [name for name in rows[0] if name.startswith("contribution deviation(")]
    assert len(names) == 7
    assert all(float(row[name]) > 0 for row in rows for name in names)
    for before, after in zip(plain, rows):
        assert {**after, **before} == after, "all columns of --contributions are there, and the same"


def test_the_same_bits_in_a_new_process(kloom, table, tmp_path):
    for name in ("one", "two"):
        kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 15, "-o", f"{name}.kloom", "--threads", 1)
        kloom("predict", f"{name}.kloom", "data.csv", "-o", f"{name}.csv")
        kloom("predict", f"{name}.kloom", "data.csv", "-o", f"{name}-again.csv")
    first = (tmp_path / "one.csv").read_bytes()
    assert first == (tmp_path / "one-again.csv").read_bytes()
    assert first == (tmp_path / "two.csv").read_bytes()


def test_order_of_columns_and_rows_and_extra_columns_do_not_matter(kloom, model, tmp_path):
    rows = two_clouds()
    write_table(tmp_path / "turned.csv", [([v[2], 99.0, v[0], v[1]], label) for v, label in reversed(rows)],
                header=["x3", "noise", "x1", "x2"])
    straight = kloom("predict", "model.kloom", "data.csv").out.splitlines()
    turned = kloom("predict", "model.kloom", "turned.csv").out.splitlines()
    assert turned[0] == straight[0]
    numbers = lambda line: [float(cell) for cell in line.split(",")[1:]]
    for a, b in zip(straight[1:], reversed(turned[1:])):
        assert a.split(",")[0] == b.split(",")[0]
        # Blocks of a matrix product may sum in another order for another row.
        assert numbers(a) == pytest.approx(numbers(b), abs=1e-10)


def test_without_labels_there_is_no_evaluation(kloom, model, tmp_path):
    lines = (tmp_path / "data.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    result = kloom("predict", "model.kloom", "new.csv")
    assert "evaluation" not in result.err
    assert result.out == kloom("predict", "model.kloom", "data.csv").out
    assert kloom("predict", "model.kloom", "new.csv", "--json").json()["evaluation"] is None


def test_evaluation_where_labels_are_known(kloom, model, tmp_path):
    text = (tmp_path / "data.csv").read_text()
    assert "accuracy" in kloom("predict", "model.kloom", "data.csv").err
    evaluation = kloom("predict", "model.kloom", "data.csv", "--json").json()["evaluation"]
    rows = rows_of(kloom("predict", "model.kloom", "data.csv").out)
    labels = [line.rsplit(",", 1)[1] for line in text.splitlines()[1:]]
    right = sum(row["label"] == label for row, label in zip(rows, labels))
    assert evaluation["values"]["accuracy"] == right / 40
    assert numpy.sum(evaluation["confusion"]) == 40
    # A label that training has never seen is left out, with a warning.
    (tmp_path / "odd.csv").write_text(text.replace("sick", "curious", 1))
    result = kloom("predict", "model.kloom", "odd.csv", "--json")
    assert "curious" in result.err
    assert result.json()["evaluation"]["samples"] == 39


def test_test_file(kloom, table, tmp_path):
    write_table(tmp_path / "test.csv", two_clouds(samples=20, seed=5))
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 20, "--test", "test.csv", "--json")
    evaluations = {e["name"]: e for e in result.json()["report"]["evaluations"]}
    assert evaluations["test.csv"]["samples"] == 20
    separate = kloom("predict", "data.kloom", "test.csv", "--json").json()["evaluation"]
    assert evaluations["test.csv"]["values"] == separate["values"]


def test_ids_come_back(kloom, tmp_path):
    write_table(tmp_path / "data.csv", two_clouds(), ids=True)
    kloom("train", "--method", "bemkl", "data.csv", "--id", "id", "--kernels", "linear", "--iterations", 5, "-o", "m.kloom")
    rows = rows_of(kloom("predict", "m.kloom", "data.csv", "--id", "id").out)
    assert [row["id"] for row in rows] == [f"s{i + 1}" for i in range(40)]


def test_positive_class_can_be_chosen(kloom, table):
    result = kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--positive", "healthy", "--iterations", 20, "-o", "h.kloom")
    assert "positive class 'healthy'" in result.err
    kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 20, "-o", "s.kloom")
    healthy, sick = (rows_of(kloom("predict", name, "data.csv").out) for name in ("h.kloom", "s.kloom"))
    for a, b in zip(healthy, sick):
        assert float(a["score"]) == pytest.approx(-float(b["score"]), abs=1e-8)
        assert a["label"] == b["label"]


def test_no_variance_makes_a_smaller_model(kloom, model, tmp_path):
    kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 30, "--no-variance", "-o", "small.kloom")
    assert (tmp_path / "small.kloom").stat().st_size < model.stat().st_size
    full, small = (rows_of(kloom("predict", name, "data.csv").out) for name in ("model.kloom", "small.kloom"))
    assert [row["score"] for row in full] == [row["score"] for row in small]
    kloom("check", "small.kloom", "data.csv")


@pytest.mark.parametrize("bank", ["dense", "low-rank", "computed"])
def test_banks_give_the_same_model(kloom, model, bank):
    kloom("train", "--method", "bemkl", "data.csv", "--kernels", KERNELS, "--iterations", 30, "--bank", bank, "-o", "other.kloom")
    first, other = (rows_of(kloom("predict", name, "data.csv").out) for name in ("model.kloom", "other.kloom"))
    for a, b in zip(first, other):
        assert float(a["score"]) == pytest.approx(float(b["score"]), abs=1e-7)


def test_categories_and_missing_values(kloom, tmp_path):
    lines = ["x,colour,label"]
    for i, (values, label) in enumerate(two_clouds()):
        cell = "" if i == 3 else repr(values[0])
        lines.append(f"{cell},{['red', 'green', '7'][i % 3]},{label}")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    kloom("train", "--method", "bemkl", "data.csv", "--categorical", "onehot", "--impute", "mean", "--kernels", "linear", "--iterations", 5,
          "-o", "m.kloom")
    # New data whose categories all look like numbers.
    (tmp_path / "new.csv").write_text("x,colour\n0.5,7\n,7\n")
    assert len(rows_of(kloom("predict", "m.kloom", "new.csv").out)) == 2


def test_views_in_several_files(kloom, tmp_path):
    rows = two_clouds(features=4)
    for name, columns in (("rna", (0, 1)), ("methylation", (2, 3))):
        order = rows if name == "rna" else rows[::-1]
        lines = ["patient,a,b" + (",outcome" if name == "rna" else "")]
        for values, label in order:
            patient = rows.index((values, label))
            lines.append(f"p{patient},{values[columns[0]]},{values[columns[1]]}" + (f",{label}" if name == "rna" else ""))
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    views = ["--view", "rna=rna.csv", "--view", "methylation=methylation.csv", "--id", "patient"]
    result = kloom("train", "--method", "bemkl", *views, "--target", "outcome", "--kernels", "rbf(width=1..2)", "--iterations", 10, "-o",
                   "m.kloom", "--json")
    assert result.json()["report"]["kernels"] == 4
    predicted = rows_of(kloom("predict", "m.kloom", *views).out)
    assert sorted(row["id"] for row in predicted) == sorted(f"p{i}" for i in range(40))
    kloom("check", "m.kloom", *views, "--target", "outcome")


def test_views_as_columns(kloom, table):
    result = kloom("train", "--method", "bemkl", "data.csv", "--view", "first=x1", "--view", "rest=x2,x3", "--kernels", "linear on views",
                   "--iterations", 5, "-o", "m.kloom", "--json")
    assert result.json()["report"]["kernels"] == 2
    kloom("predict", "m.kloom", "data.csv")


def test_precomputed_kernels(kloom, tmp_path):
    rows = two_clouds()
    x = numpy.array([values for values, _ in rows])
    kernels = [x @ x.T, numpy.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(2))]
    for i, kernel in enumerate(kernels):
        numpy.save(tmp_path / f"K{i}.npy", kernel)
        numpy.save(tmp_path / f"new{i}.npy", kernel[:7])
    (tmp_path / "labels.csv").write_text("label\n" + "\n".join(label for _, label in rows) + "\n")
    result = kloom("train", "--method", "bemkl", "labels.csv", "--kernel-file", "K0.npy", "--kernel-file", "K1.npy", "--iterations", 20, "-o",
                   "m.kloom", "--json")
    assert result.json()["report"]["kernels"] == 2
    whole = kloom("predict", "m.kloom", "--kernel-file", "K0.npy", "--kernel-file", "K1.npy").out.splitlines()
    first = kloom("predict", "m.kloom", "--kernel-file", "new0.npy", "--kernel-file", "new1.npy").out.splitlines()
    assert len(first) == 8
    for a, b in zip(whole, first):
        assert a.split(",")[0] == b.split(",")[0]


def test_compressed_tables(kloom, table, tmp_path):
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    kloom("train", "--method", "bemkl", "packed.csv.gz", "--kernels", "linear", "--iterations", 5)
    assert (tmp_path / "packed.kloom").exists()


def test_memory_that_does_not_suffice_is_said_before_the_work(kloom, table):
    error = kloom("train", "data.csv", "--memory", "10kB", code=FAILED).sentence()
    assert "10 kB" in error and ("--memory" in error or "fewer" in error)


def test_check_needs_the_training_data(kloom, model, tmp_path):
    write_table(tmp_path / "other.csv", two_clouds(seed=9))
    assert "training data" in kloom("check", "model.kloom", "other.csv", code=MISTAKE).err
    write_table(tmp_path / "short.csv", two_clouds(samples=20))
    assert "20 samples" in kloom("check", "model.kloom", "short.csv", code=MISTAKE).err


def test_bank_files(kloom, table, tmp_path):
    result = kloom("kernels", "build", "data.csv", "--kernels", KERNELS, "-o", "bank.kloom")
    assert "7 kernels of 40 samples" in result.out
    info = kloom("info", "bank.kloom", "--json").json()
    assert info["kind"] == "bank" and info["rows"] == info["columns"] == 40 and len(info["kernels"]) == 7
    assert "kernel bank" in kloom("info", "bank.kloom").out


def test_training_from_a_bank_is_training_from_its_data(kloom, table):
    kloom("kernels", "build", "data.csv", "--kernels", KERNELS, "-o", "bank.kloom")
    common = ("--method", "bemkl", "--iterations", 20, "--bank", "dense", "--json")
    from_bank = kloom("train", "data.csv", "--kernel-file", "bank.kloom", "--kernels", "precomputed", "--normalise", "none", "-o",
                      "a.kloom", *common).json()["report"]
    from_data = kloom("train", "data.csv", "--kernels", KERNELS, "-o", "b.kloom", *common).json()["report"]
    assert from_bank["kernels"] == from_data["kernels"] == 7
    # The same numbers go in; only the order of sums over kernels may differ.
    assert from_bank["objective"] == pytest.approx(from_data["objective"], rel=1e-10)


def test_a_damaged_bank_is_refused(kloom, table):
    kloom("kernels", "build", "data.csv", "--kernels", KERNELS, "-o", "bank.kloom")
    whole = (table.parent / "bank.kloom").read_bytes()
    for damaged in (whole[:-9], whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1:]):
        (table.parent / "damaged.kloom").write_bytes(damaged)
        assert "damaged" in kloom("train", "data.csv", "--kernel-file", "damaged.kloom", code=FAILED).err


def test_info_of_model_and_data(kloom, model):
    text = kloom("info", "model.kloom").out
    for words in ("model of bemkl", "positive class 'sick'", "target 'label'", "40 training samples", "rbf"):
        assert words in text, words
    data = kloom("info", "data.csv", "--json").json()
    assert data["labels"] == {"healthy": 20, "sick": 20} and data["features"] == ["x1", "x2", "x3"]


def test_bundled_data(kloom, tmp_path):
    lines = (SOURCE / "examples" / "data" / "wdbc.csv").read_text().splitlines()
    (tmp_path / "train.csv").write_text("\n".join(lines[:1] + lines[1::2]) + "\n")
    (tmp_path / "test.csv").write_text("\n".join(lines[:1] + lines[2::2]) + "\n")
    result = kloom("train", "--method", "bemkl", "train.csv", "--target", "diagnosis", "--kernels", "rbf(width=2^0..2^4) on all; poly(degree=1..2)",
                   "--iterations", 60, "--test", "test.csv", "--json")
    evaluation = {e["name"]: e for e in result.json()["report"]["evaluations"]}["test.csv"]
    # Published accuracies on this data are 0.95 to 0.98; 284 test samples have a standard error of 0.01.
    assert evaluation["values"]["accuracy"] > 0.93
    assert evaluation["values"]["AUC"] > 0.97


@pytest.mark.parametrize("method", ["simplemkl", "bemkl", "mcmkl"])
def test_check_takes_the_kernels_that_the_model_does_not_keep(kloom, tmp_path, method):
    rng = numpy.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    numpy.save(tmp_path / "K.npy", x @ x.T)
    names = "".join("ab"[int(value > 0)] + "\n" for value in x[:, 0])
    (tmp_path / "labels.csv").write_text("label\n" + names)
    data = ["labels.csv", "--kernel-file", "K.npy"]
    trained = kloom("train", *data, "--target", "label", "--method", method, "-o", "m.kloom", "--json").json()["report"]
    checked = kloom("check", "m.kloom", *data, "--json").json()["certificate"]
    assert [item["name"] for item in checked["items"]] == [item["name"] for item in trained["certificate"]["items"]]
    for one, other in zip(checked["items"], trained["certificate"]["items"]):
        assert one["value"] == pytest.approx(other["value"], rel=1e-6, abs=1e-9)
