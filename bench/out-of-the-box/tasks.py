# SPDX-License-Identifier: BSD-3-Clause
"""Which outcomes are to be found, and finding one."""
import datetime
import importlib
import os
import pathlib
import resource
import sys
import time

import numpy as np
import scipy
import sklearn

import kernel_peers
import peers
import program
import sets
from measures import measure

PEERS = [peers.Linear, peers.SupportVectors, peers.Forest, peers.Boosting, peers.GaussianProcess, peers.LightGBM,
         kernel_peers.MeanKernel, kernel_peers.BestKernel, kernel_peers.EasyMKL, kernel_peers.AverageMKL,
         kernel_peers.Himalaya]
# Rough costs per training row and column, only to begin with what takes longest.
COST = {"SVM": 8.0, "hist. boosting": 4.0, "logistic / ridge": 2.0, "Gaussian process": 3.0, "random forest": 2.0}


def present(peer):
    """Whether the package that the peer needs can be imported."""
    try:
        importlib.import_module(getattr(peer, "needs", "sklearn"))
    except Exception:  # A package may be there and broken by a newer companion; that is absent, too.
        return False
    return True


def competitors(options):
    """Competitors by name, and the names of absent ones."""
    found, absent = {}, []
    if not options.kloom_only:
        for peer in PEERS:
            if present(peer):
                found[peer.name] = peer
            else:
                absent.append(peer.name)
    if not options.peers_only:
        threads = None if options.jobs == 1 else 1
        for method in [None, *chosen_methods(options)]:
            name = program.AUTO if method is None else f"kloom {method.name}"
            found[name] = lambda method=method: program.Kloom(options.kloom, method, threads, options.limit)
    if options.competitors:
        found = {name: make for name, make in found.items() if any(part in name for part in options.competitors.split(","))}
    return found, absent


def chosen_methods(options):
    """What --methods names."""
    if not options.methods:
        return []
    known = {method.name: method for method in program.methods(options.kloom)}
    names = list(known) if options.methods == "all" else options.methods.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no such method: {', '.join(unknown)}; kloom has {', '.join(known)}")
    return [known[name] for name in names]


class Outline:
    """Stands for a set in `suits`, before it is read."""

    def __init__(self, info):
        self.info, self.task = info, info.task
        self.kernels = [] if info.given_kernels else None
        self.header, self.y = [], np.arange(info.classes)


def train_rows(info, options):
    return int(min(info.rows, options.rows) * (1 - sets.TEST_SHARE))


def plan(infos, found, options):
    """(info, seed, competitor's name), longest first."""
    every = []
    for info in infos:
        rows = train_rows(info, options)
        for name, make in found.items():
            if make().suits(Outline(info), rows):
                cost = COST.get(name, 3.0) * rows ** 1.3 * (info.columns + 20)
                every += [(cost, (info, seed, name)) for seed in range(options.seeds)]
    return [task for _, task in sorted(every, key=lambda entry: -entry[0])]


def outcome_of(task, make, options):
    """A line of the journal. None if the competitor turns out not to suit the set, or the set cannot be read."""
    info, seed, name = task
    peers.quiet()
    data = sets.read(info, options.rows)
    if data is None:
        return None
    train, test = sets.split(data, seed)
    competitor = make()
    if not competitor.suits(data, len(train)):
        return None
    line = describe(info, seed, name, data, len(train), len(test), options)
    try:
        start, processor_start = time.monotonic(), processor_seconds()
        competitor.fit(data, train)
        between = time.monotonic()
        prediction = competitor.predict(test)
        # kloom's own clocks leave out writing its files.
        line["train_seconds"] = round(getattr(competitor, "seconds", between - start), 3)
        line["predict_seconds"] = round(getattr(competitor, "predict_seconds", time.monotonic() - between), 3)
        # On a busy machine this tells a slow competitor from one that had to wait.
        line["cpu_seconds"] = round(processor_seconds() - processor_start, 3)
        measures = measure(prediction, data.y[test], data.task)
        line.update({measure_name: round(value, 6) for measure_name, value in measures.items()})
        line["status"] = "ok"
        if line["train_seconds"] + line["predict_seconds"] > options.limit:
            line.update(status="timeout", message=f"took longer than {options.limit:g} s")
    except program.Refused as said:
        line.update(status="refused", message=str(said))
    except program.TimedOut as said:
        line.update(status="timeout", message=str(said))
    except Exception as error:  # Whatever stops a competitor is an outcome of it.
        line.update(status="failed", message=f"{type(error).__name__}: {error}"[:500])
    if hasattr(competitor, "close"):
        competitor.close()
    return line


def timed_out(task, options):
    """The line for a competitor that was stopped from outside; what only reading the set can tell is estimated."""
    info, seed, name = task
    rows = train_rows(info, options)
    line = describe(info, seed, name, Outline(info), rows, min(info.rows, options.rows) - rows, options)
    line.update(columns=info.columns, status="timeout", message=f"not done after {options.limit:g} s")
    line.pop("classes", None)
    return line


def describe(info, seed, name, data, count, held_out, options):
    """What a line says besides the outcome."""
    kloom = name.startswith("kloom")
    facts = {"set": info.name, "seed": seed, "competitor": name, "task": info.task, "kinds": info.kinds,
             "rows": count + held_out, "train_rows": count, "test_rows": held_out,
             "columns": len(data.kernels) if data.kernels is not None else len(data.header),
             "limit": options.limit, "threads": 1 if options.jobs > 1 or not kloom else len(os.sched_getaffinity(0)),
             "date": datetime.date.today().isoformat(), "processor": processor(), "cores": os.cpu_count()}
    if info.task != "regression":
        facts["classes"] = len(set(data.y.tolist()))
    facts["software"] = program.version(options.kloom) if kloom else software()
    return facts


def processor_seconds():
    """Of this process and of the programs that it started and that have ended."""
    return sum(used.ru_utime + used.ru_stime
               for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown processor"


def software():
    python = ".".join(map(str, sys.version_info[:2]))
    return f"Python {python}, numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
