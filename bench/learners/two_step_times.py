#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times of the methods that find weights first, beside lp-mkl on the same data, in turns: none may take longer.

    two_step_times.py [--kloom build/kloom] [--turns 3] [--rows 569,2000]

Data are the bundled table and made-up ones of so many rows; a method's time is that of `kloom train` with its choice of C, without probabilities.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

METHODS = ["easymkl", "gram", "align", "alignf", "fheuristic", "pwmk", "group-mkl"]
KERNELS = "rbf(auto) on all; linear on each"
BUNDLED = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "wdbc.csv"


def made_up(path, rows, columns=20, seed=1):
    generator = random.Random(seed)
    lines = [",".join(f"x{j}" for j in range(columns)) + ",label"]
    for _ in range(rows):
        x = [generator.gauss(0, 1) for _ in range(columns)]
        score = x[0] + x[1] * x[2] + 0.5 * x[3] ** 2 - 0.5 + 0.5 * generator.gauss(0, 1)
        lines.append(",".join(f"{value:.6f}" for value in x) + (",yes" if score > 0 else ",no"))
    path.write_text("\n".join(lines) + "\n")


def seconds(program, table, target, method, folder):
    start = time.perf_counter()
    subprocess.run([program, "train", table, "--target", target, "--method", method, "--kernels", KERNELS, "--threads", "1",
                    "--no-probability", "-o", folder / "model.kloom", "--quiet"], check=True)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kloom", default="build/kloom")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rows", default="569,2000", help="569: the bundled table")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for rows in map(int, args.rows.split(",")):
            table, target = BUNDLED, "diagnosis"
            if rows != 569:
                table, target = folder / "table.csv", "label"
                made_up(table, rows)
            times = {method: [] for method in ["lp-mkl", *METHODS]}
            for _ in range(args.turns):
                for method, own in times.items():
                    own.append(seconds(args.kloom, table, target, method, folder))
            limit = statistics.median(times["lp-mkl"])
            for method, own in times.items():
                middle = statistics.median(own)
                print(f"{rows:6} rows  {method:12} {middle:8.2f} s  {middle / limit:6.2f} of lp-mkl", flush=True)


if __name__ == "__main__":
    main()
