#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what bench_growth measured: time over samples, kernels and classes, one line per method.

    bench/growth/plot.py growth.json growth.svg
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main(source, target):
    with open(source, encoding="utf-8") as file:
        lines = json.load(file)
    axes = sorted({line["axis"] for line in lines}, key=["samples", "kernels", "classes"].index)
    figure, panels = plt.subplots(1, len(axes), figsize=(5 * len(axes), 5.6), sharey=True, squeeze=False)
    for panel, axis in zip(panels[0], axes):
        for line in (line for line in lines if line["axis"] == axis):
            panel.loglog(line["size"], line["seconds"], marker="o",
                         label=f"{line['method']} (slope {line['slope']:.1f})")
        sizes = sorted({size for line in lines if line["axis"] == axis for size in line["size"]})
        panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
        panel.minorticks_off()
        panel.set_xlabel(axis)
        panel.grid(True, which="both", alpha=0.3)
        panel.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=2, frameon=False)
    panels[0][0].set_ylabel("seconds of one fit")
    figure.tight_layout()
    figure.savefig(target)
    print(f"{target}: {len(lines)} lines")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
