# SPDX-License-Identifier: BSD-3-Clause
"""Subcellular locations of proteins, 69 kernels in NAME_Kmatrix.mat (KH: proteins x proteins x 69, Y: classes): Table 2 of Liu
et al. (2014), Figure 3 of Zien and Ong (2007)."""
import given


def methods(samples):
    """Kernels of unit trace and C from 10^-1..10^4 by five folds are kernels of unit diagonal and C/n."""
    grid = ",".join(repr(10.0 ** power / samples) for power in range(-1, 5))
    price = ["--C-grid", grid, "--folds", 5, "--no-probability"]
    yield "samkl literal", ["samkl", "--updates", "literal", "--m0", "20", *price]
    yield "samkl", ["samkl", *price]
    yield "simplemkl", ["simplemkl", *price]
    yield from ((f"lp-mkl, norm {norm}", ["lp-mkl", "--norm", norm, *price]) for norm in (2, 4, 8))
    yield "uniform", ["uniform", *price]


def study(arguments, name, samples, metric, published):
    """Random halves for SAMKL's table, 80 and 20 % with kernels of unit variance for the figure."""
    file = (arguments.folder / f"{name}_Kmatrix.mat").resolve()
    given.head(f"{name}: random halves, {arguments.repeats or 20} times; kernels of unit diagonal, C by five folds; {metric}")
    for title, words in methods(samples // 2):
        found = given.judged(arguments.program, ["--kernel-file", file, "--holdout", 0.5, "--repeats", arguments.repeats or 20, "--method",
                                                 *words])
        given.row(title, found[metric], published["table"][title.removesuffix(" literal")])
    given.head(f"{name}: 80 and 20 %, {arguments.repeats or 10} times; kernels of unit variance, C from 3^-3..3^3 by three folds; {metric}")
    for title in ("mcmkl", "uniform"):
        found = given.judged(arguments.program, ["--kernel-file", file, "--normalise", "unit-variance", "--holdout", 0.2, "--repeats",
                                                 arguments.repeats or 10, "--method", title, "--C-grid", "3^-3..3^3", "--folds", 3,
                                                 "--no-probability"])
        given.row(title, found[metric], published["figure"][title])
