#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A million samples through `kloom stream`: throughput, memory as it goes, and what kill -9 costs.

    bench/learners/stream_million.py build/kloom [--samples 1000000] [-- options of kloom stream]

Samples are made here (22 features, two classes, a curved border, 5 % wrong labels) and come through a pipe, as fast as
they are taken. Memory is read from /proc every second. Half way a second run is killed with SIGKILL and resumed
from its last checkpoint with the input beginning anew; the two models must have the same bytes.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

import numpy


def pieces(samples, seed=1, piece=4096):
    """svmlight text, piece by piece; the same for the same seed."""
    generator = numpy.random.default_rng(seed)
    for start in range(0, samples, piece):
        n = min(piece, samples - start)
        x = generator.normal(size=(n, 22)).round(3)
        score = x[:, 0] + x[:, 1] + 0.5 * numpy.sin(2 * x[:, 2])
        label = numpy.where((score > 0) ^ (generator.uniform(size=n) < 0.05), 1, -1)
        yield "".join(f"{y:+d} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(row)) + "\n"
                      for y, row in zip(label, x)).encode()


def memory(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return None


def feed(process, samples):
    try:
        for text in pieces(samples):
            process.stdin.write(text)
        process.stdin.close()
    except BrokenPipeError:
        pass


def start(command, samples):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    threading.Thread(target=feed, args=(process, samples), daemon=True).start()
    return process


def whole_run(command, samples):
    begin = time.monotonic()
    process = start(command, samples)
    seen = []
    while process.poll() is None:
        seen.append((time.monotonic() - begin, memory(process.pid)))
        time.sleep(1)
    result = json.loads(process.stdout.read())
    seen = [(t, m) for t, m in seen if m]
    return result, seen


def killed_run(command, samples, state):
    """Kills the stream when its second checkpoint is there, then resumes. Returns samples that were lost."""
    process = start(command, samples)
    first = None
    while process.poll() is None:
        now = state.stat().st_mtime_ns if state.exists() else None
        if first is None:
            first = now
        elif now != first:
            break
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    # The program being timed must read the input from its beginning.
    resumed = start(command + ["--resume", "--skip-seen"], samples)
    output = resumed.stdout.read()
    resumed.wait()
    return resumed.returncode, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    options = arguments.options or ["--budget", "2000"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        base = [arguments.program, "stream", "--format", "svmlight", "--seed", "1", "--checkpoint-every", "50000", *options, "--json"]
        result, seen = whole_run(base + ["-o", str(folder / "whole.kloom")], arguments.samples)
        print(f"{result['samples']} samples in {result['seconds']:.0f} s: {result['samples_per_second']:.0f} samples/s "
              f"(making the samples included), accuracy before learning {result['prequential_accuracy']:.4f}, "
              f"{result['support_vectors']} support vectors")
        for share in (0.1, 0.25, 0.5, 0.75, 0.99):
            t, mb = seen[int(share * (len(seen) - 1))]
            print(f"  memory after {t:5.0f} s: {mb:6.1f} MB")
        shorter = min(arguments.samples, 200_000)
        subprocess_input = base + ["-o", str(folder / "short.kloom")]
        whole_run(subprocess_input, shorter)
        code, output = killed_run(base + ["-o", str(folder / "killed.kloom")], shorter, folder / "killed.kloom")
        same = (folder / "short.kloom").read_bytes() == (folder / "killed.kloom").read_bytes()
        print(f"killed with SIGKILL and resumed over {shorter} samples: exit code {code}, "
              f"{'the same bytes' if same else 'DIFFERENT bytes'} as without")


main()
