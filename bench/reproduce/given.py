# SPDX-License-Identifier: BSD-3-Clause
"""What the programs share that repeat published tables on data which cannot be shipped: they read the public files of DIR,
let `kloom cv` fit and judge, and print the published values beside it."""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


def arguments_of(description, files):
    """DIR and --program; ends with a sentence where a file of the distribution is missing."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--program", default=CHECKOUT / "build" / "kloom", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, help="fewer than the paper, to try the program")
    parser.add_argument("--widths", type=int, default=200, help="flowers17, MKL-DA: fewer than the paper, to try the program")
    arguments = parser.parse_args()
    missing = [name for name in files if not (arguments.folder / name).exists()]
    if missing:
        sys.exit(f"{parser.prog}: {arguments.folder} has no {', '.join(missing)}; --help says what the folder must hold")
    return arguments


def write_table(path, columns):
    """{name: values} as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def judged(program, words):
    """Means and deviations of every metric on the held-out parts, by `kloom cv`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "cv", *map(str, words), "--json", "--quiet"]
        told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    if told.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {told.returncode}: {told.stderr.strip()}")
    method = json.loads(told.stdout)["methods"][0]
    return {metric["name"]: (metric["mean"], metric["deviation"]) for metric in method["metrics"]}


def head(*settings):
    for line in settings:
        print(line)
    print(f"{'':38} {'ours':>16}   published", flush=True)


def row(name, found, published, scale=100.0):
    """(mean, deviation) of ours, and the published value as the paper prints it."""
    mean, deviation = found
    ours = f"{scale * mean:.3f}" if scale == 1.0 else f"{scale * mean:.1f}"
    spread = f" ± {scale * deviation:.1f}" if deviation is not None and scale != 1.0 else ""
    print(f"{name:38} {ours + spread:>16}   {published}", flush=True)


# The algorithm as published: one kernel weight per class and kernel, or one per kernel.
BEMKL_WAYS = (("one-versus-all", ["--multiclass", "one-versus-all"]), ("multiclass", ["--multiclass", "shared"]))


def bemkl(program, data, published, metrics=(("accuracy", "accuracy", 100.0),)):
    for way, words in BEMKL_WAYS:
        found = judged(program, [*data, "--method", "bemkl", "--literal", *words])
        for metric, title, scale in metrics:
            row(f"bemkl {way}, {title}", found[metric], published[way][title], scale)
