# SPDX-License-Identifier: BSD-3-Clause
"""How well can the bundled breast cancer data be predicted, and which method suits them? A first result after seconds, then a
table, a recommendation, a page, and the model that it recommends, asked about samples.

    python -m kloom demo
    python3 python/kloom/_demo.py PROGRAM DATA FOLDER     from a checkout, without the package

Everything it writes is in FOLDER, but the page: report.html. KLOOM_DEMO_TIME=20s: the budget of the comparison.
"""
import os
import pathlib
import shlex
import subprocess
import sys

LINES_SHOWN = 4


def say(*words):
    print("\n$", shlex.join(map(str, words)), flush=True)


def show(program, data, folder, name=None):
    """`name`: what the program is called where its commands are printed."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model, predictions = folder / "model.kloom", folder / "predictions.csv"

    def run(*arguments, **keywords):
        say(name or program, *arguments)
        subprocess.run([str(program), *map(str, arguments)], check=True, **keywords)

    with open(data, encoding="utf-8") as rows:
        samples = sum(1 for _ in rows) - 1
    print(f"Breast Cancer Wisconsin (Diagnostic): {samples} tumours, 30 features, benign or malignant")
    run("cv", data, "--target", "diagnosis", "--method", "auto", "--folds", 3)
    run("compare", data, "--target", "diagnosis", "--time", os.environ.get("KLOOM_DEMO_TIME", "60s"), "--model", model,
        "-o", "report.html")
    run("predict", model, data, "-o", predictions, "--quiet")
    say("head", f"-{LINES_SHOWN}", predictions)
    with open(predictions, encoding="utf-8") as lines:
        for _, line in zip(range(LINES_SHOWN), lines):
            print(line, end="")
    sys.stdout.flush()
    with open(folder / "check.json", "w", encoding="utf-8") as answer:
        run("check", model, data, "--quiet", "--json", stdout=answer)
    print(f"\nThe report is report.html, the model {model}; the README goes on from here.")


def main(arguments):
    if len(arguments) != 3:
        sys.exit("_demo.py: name the program, the data and a folder")
    try:
        show(*arguments)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
