#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mkr beside himalaya (pip install himalaya): the same answers from the same draws, and the times of both in turns.

    mkr_himalaya.py [--samples 500] [--targets 1000] [--kernels 6] [--draws 20] [--turns 3]

First small: himalaya with leave-one-out folds must choose the same weights and strengths for every target, with the same coefficients; then
the same for banded ridge, where both work in the space of the columns.
Then the size that was asked for, kloom with leave-one-out errors, himalaya with five folds (its default) of the same draws and strengths.
"""
import argparse
import json
import struct
import tempfile
import time
import warnings

import numpy as np
from himalaya.kernel_ridge import solve_multiple_kernel_ridge_random_search
from himalaya.ridge import solve_group_ridge_random_search
from sklearn.model_selection import KFold

from kloom import MKRRegressor

GRID = [0.01, 0.1, 1.0, 10.0, 100.0]


def problem(samples, targets, kernels, seed):
    """Gaussian kernels of blocks of columns; every target depends on one or two of the blocks. Y has mean 0."""
    generator = np.random.default_rng(seed)
    stack, parts = [], []
    for _ in range(kernels):
        x = generator.normal(size=(samples, 5))
        square = ((x[:, None] - x[None]) ** 2).sum(axis=2)
        stack.append(np.exp(-square / 10))
        parts.append(np.sin(x @ generator.normal(size=(5, targets))))
    chosen = generator.integers(kernels, size=(2, targets))
    y = np.array([parts[a][:, t] + parts[b][:, t] for t, (a, b) in enumerate(chosen.T)]).T
    y += 0.5 * generator.normal(size=y.shape)
    return np.stack(stack), y - y.mean(axis=0)


def ours(stack, y, draws):
    cube = np.moveaxis(stack, 0, 2)
    start = time.perf_counter()
    model = MKRRegressor(kernels="precomputed", draws=draws, alpha_grid=",".join(map(str, GRID)), random_state=0).fit(cube, y)
    return model, time.perf_counter() - start


def points_of(model):
    with tempfile.NamedTemporaryFile(suffix=".kloom") as file:
        model.save(file.name)
        data = open(file.name, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + length])["mkr.points"]
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[8 + length + begin:8 + length + end]).reshape(entry["shape"])


def theirs(stack, y, points, **options):
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        deltas, dual, _ = solve_multiple_kernel_ridge_random_search(
            stack, y, n_iter=points, alphas=np.array(GRID), return_weights="dual", progress_bar=False, **options)
    return deltas, dual, time.perf_counter() - start


def same_answers():
    stack, y = problem(40, 30, 4, 1)
    model, _ = ours(stack, y, 25)
    deltas, dual, _ = theirs(stack, y, points_of(model), cv=KFold(len(y)))
    weights = np.exp(deltas)   # theta / alpha
    alphas = 1 / weights.sum(axis=0)
    # Their coefficients belong to the kernel theta/alpha and a ridge of 1.
    print(f"kernel weights: largest difference {np.abs((weights * alphas).T - model.kernel_weights_).max():.1e}")
    print(f"coefficients:   largest difference {np.abs(dual / alphas - model.dual_coef_).max() / np.abs(model.dual_coef_).max():.1e} "
          f"of the largest")


def bands(samples, widths, targets, seed):
    """Blocks of columns of mean 0; every target depends on some of them. Y has mean 0."""
    generator = np.random.default_rng(seed)
    blocks = [generator.normal(size=(samples, width)) for width in widths]
    blocks = [block - block.mean(axis=0) for block in blocks]
    y = sum(block @ (generator.normal(size=(block.shape[1], targets)) * generator.integers(2, size=targets)) for block in blocks)
    y += generator.normal(size=y.shape)
    return blocks, y - y.mean(axis=0)


def banded(blocks, y, draws, bank):
    views = {f"v{m}": block for m, block in enumerate(blocks)}
    start = time.perf_counter()
    model = MKRRegressor(kernels="linear(normalise=none) on views", standardise=False, draws=draws, alpha_grid=",".join(map(str, GRID)),
                         bank=bank, random_state=0).fit(views, y)
    return model, time.perf_counter() - start


def their_bands(blocks, y, points, **options):
    start = time.perf_counter()
    deltas, coefficients, _ = solve_group_ridge_random_search(blocks, y, n_iter=points, alphas=np.array(GRID), return_weights=True,
                                                              progress_bar=False, warn=False, **options)
    return deltas, coefficients, time.perf_counter() - start


def same_bands():
    blocks, y = bands(60, (3, 5, 2), 20, 3)
    for bank in ("auto", "dense"):
        model, _ = banded(blocks, y, 25, bank)
        deltas, coefficients, _ = their_bands(blocks, y, points_of(model), cv=KFold(len(y)))
        weights = np.exp(deltas)
        alphas = 1 / weights.sum(axis=0)
        fits = np.concatenate(blocks, axis=1) @ coefficients
        ours = model.predict({f"v{m}": block for m, block in enumerate(blocks)})
        print(f"banded ridge, bank {bank}: kernel weights {np.abs((weights * alphas).T - model.kernel_weights_).max():.1e}, "
              f"fitted values {np.abs(fits - ours).max() / np.abs(fits).max():.1e} of the largest")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("samples", 500), ("targets", 1000), ("kernels", 6), ("draws", 20), ("turns", 3)):
        parser.add_argument("--" + name, type=int, default=default)
    args = parser.parse_args()
    same_answers()
    same_bands()
    stack, y = problem(args.samples, args.targets, args.kernels, 2)
    times = []
    for _ in range(args.turns):
        model, own = ours(stack, y, args.draws)
        times.append((own, theirs(stack, y, points_of(model))[2]))
    own, other = np.median(times, axis=0)
    print(f"{args.samples} samples, {args.targets} targets, {args.kernels} kernels, {args.draws} draws, {len(GRID)} strengths: kloom "
          f"{own:.2f} s, himalaya {other:.2f} s, ratio {other / own:.1f} (medians of {args.turns})")
    blocks, y = bands(4 * args.samples, (10, 20, 30), args.targets, 4)
    times = []
    for _ in range(args.turns):
        model, own = banded(blocks, y, args.draws, "auto")
        times.append((own, banded(blocks, y, args.draws, "dense")[1], their_bands(blocks, y, points_of(model), cv=5)[2]))
    own, entries, other = np.median(times, axis=0)
    print(f"{4 * args.samples} samples, {args.targets} targets, 60 columns in 3 bands: kloom {own:.2f} s (by kernels {entries:.2f} s), "
          f"himalaya {other:.2f} s, ratio {other / own:.1f}")


if __name__ == "__main__":
    main()
