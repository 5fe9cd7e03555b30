# SPDX-License-Identifier: BSD-3-Clause
"""From outcomes to comparisons: means over seeds, ranks over sets, critical differences, and where auto falls short.

Ranks and the Nemenyi test follow Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""
import math

import numpy as np
from scipy import stats

from program import AUTO

ALPHA = 0.05
BAD = ("refused", "timeout", "failed")


def main_score(line):
    """Accuracy or R2; higher is better."""
    return line.get("r2" if line["task"] == "regression" else "accuracy")


class Cell:
    """One competitor on one set: the lines of all seeds."""

    def __init__(self, lines):
        self.lines = lines
        self.bad = [line for line in lines if line["status"] in BAD]

    @property
    def word(self):
        """What stopped it, if anything did, on any seed."""
        return self.bad[0]["status"] if self.bad else None

    def mean(self, name):
        """Mean over seeds of the measure `name`, or of the main score for name "score"; None if it is not there."""
        values = [main_score(line) if name == "score" else line.get(name) for line in self.lines if line["status"] == "ok"]
        if not values or any(value is None for value in values):
            return None
        return float(np.mean(values))


class Table:
    """Cells by set and competitor."""

    def __init__(self, outcomes):
        grouped = {}
        for (name, _, competitor), line in sorted(outcomes.items()):
            grouped.setdefault(name, {}).setdefault(competitor, []).append(line)
        self.cells = {name: {who: Cell(lines) for who, lines in row.items()} for name, row in grouped.items()}
        self.facts = {name: next(iter(row.values())).lines[0] for name, row in self.cells.items()}

    def competitors(self, sets=None):
        """kloom first, then the others by how many sets they were run on."""
        count = {}
        for name in sets or self.cells:
            for who in self.cells[name]:
                count[who] = count.get(who, 0) + 1
        return sorted(count, key=lambda who: (who != AUTO, not who.startswith("kloom"), -count[who], who))

    def sets_of(self, kind):
        return [name for name, facts in self.facts.items() if kind is None or kind in facts["kinds"]]


def ranks_of(values):
    """Ranks of a row in which None stands for a competitor that did not get there: 1 is the highest value, equals share.

    Those that did not get there share the last ranks.
    """
    keys = [-math.inf if value is None else value for value in values]
    return stats.rankdata([-key for key in keys], method="average")


class Ranking:
    """Mean ranks over sets, of the competitors that were tried on every one of them."""

    def __init__(self, table, sets, measure="score", sign=1.0):
        """sign=-1 where low is good. Without a value and without having been stopped: the measure is not for that set."""
        self.measure = measure
        rows = {}
        for name in sets:
            cells = table.cells[name]
            row = {who: None if cell.bad else cell.mean(measure) for who, cell in cells.items()}
            row = {who: value for who, value in row.items() if value is not None or cells[who].bad}
            if any(value is not None for value in row.values()):
                rows[name] = row
        self.sets = list(rows)
        counts = {}
        for row in rows.values():
            for who in row:
                counts[who] = counts.get(who, 0) + 1
        # Who never gives the measure (labels without probabilities) is not last: it is not in this comparison.
        able = {who for who in counts if any(row.get(who) is not None for row in rows.values())} | {AUTO}
        self.names = [who for who in table.competitors() if counts.get(who) == len(rows) and who in able]
        self.partial = {who: counts[who] for who in table.competitors() if 0 < counts.get(who, 0) < len(rows) and who in able}
        self.matrix = np.array([ranks_of([None if row[who] is None else sign * row[who] for who in self.names])
                                for row in rows.values()]) if rows and self.names else np.zeros((0, 0))

    @property
    def mean(self):
        return dict(zip(self.names, self.matrix.mean(axis=0)))

    @property
    def critical_difference(self):
        return critical_difference(len(self.names), len(self.sets))

    def usable(self):
        return len(self.names) >= 2 and len(self.sets) >= 2

    def friedman(self):
        """p-value of the hypothesis that all are equally good (Iman and Davenport's F); None where it is not defined."""
        count, many = self.matrix.shape
        chi = 12 * count / (many * (many + 1)) * (np.sum(self.matrix.mean(axis=0) ** 2) - many * (many + 1) ** 2 / 4)
        rest = count * (many - 1) - chi
        if count < 2 or many < 2 or rest <= 0:
            return None
        return float(stats.f.sf((count - 1) * chi / rest, many - 1, (many - 1) * (count - 1)))

    def groups(self):
        """Maximal runs of competitors, in the order of ranks, whose ranks differ by less than the critical difference."""
        ordered = sorted(self.mean.items(), key=lambda entry: entry[1])
        values = [value for _, value in ordered]
        found = []
        for first, value in enumerate(values):
            last = max(i for i, other in enumerate(values) if other - value < self.critical_difference)
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return ordered, found


def critical_difference(competitors, sets, alpha=ALPHA):
    """Nemenyi: q sqrt(k(k+1)/(6N)), q the quantile of the studentised range for infinitely many degrees of freedom, over sqrt 2."""
    q = stats.studentized_range.ppf(1 - alpha, competitors, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(competitors * (competitors + 1) / (6 * sets)))


class Shortfall:
    """auto beside the best peer on one set."""

    def __init__(self, name, peer, auto, best, error, word):
        self.name, self.peer, self.auto, self.best, self.error, self.word = name, peer, auto, best, error, word

    @property
    def gap(self):
        return math.inf if self.word else self.best - self.auto

    def serious(self):
        return bool(self.word) or self.gap > 2 * self.error


def standard_error(auto, peer):
    """Of the difference of the two mean scores: the larger of what seeds and what the size of one test part say.

    Seeds: the deviation of the paired differences over the root of their number. Test part: the mean standard error of
    the peer's score on one test part (binomial for accuracy; never below that of one wrong answer), because test parts of
    different seeds overlap and three differences may agree by chance.
    """
    ours = {line["seed"]: main_score(line) for line in auto.lines if line["status"] == "ok"}
    theirs = {line["seed"]: main_score(line) for line in peer.lines if line["status"] == "ok"}
    differences = [theirs[seed] - ours[seed] for seed in ours if seed in theirs]
    paired = np.std(differences, ddof=1) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    floors = []
    for line in peer.lines:
        if line["status"] == "ok":
            count = line["test_rows"]
            one_wrong = math.sqrt((1 / count) * (1 - 1 / count) / count) if line["task"] != "regression" else 0.0
            floors.append(max(line["se"], one_wrong))
    return float(max(paired, np.mean(floors)))


def shortfalls(table):
    """One entry per set with auto and a peer."""
    found = []
    for name, row in table.cells.items():
        peers = {who: cell.mean("score") for who, cell in row.items() if not who.startswith("kloom") and not cell.bad}
        peers = {who: score for who, score in peers.items() if score is not None}
        if AUTO not in row or not peers:
            continue
        best = max(peers, key=peers.get)
        auto = row[AUTO]
        error = 0.0 if auto.bad else standard_error(auto, row[best])
        found.append(Shortfall(name, best, None if auto.bad else auto.mean("score"), peers[best], error, auto.word))
    return sorted(found, key=lambda entry: (-math.inf if entry.word else -entry.gap / (entry.error or 1e-9), entry.name))


def duels(table, sets):
    """For each other competitor: on how many sets auto is better, equal (to four digits), worse."""
    found = {}
    for name in sets:
        row = table.cells[name]
        if AUTO not in row:
            continue
        ours = None if row[AUTO].bad else row[AUTO].mean("score")
        for who, cell in row.items():
            if who == AUTO:
                continue
            theirs = None if cell.bad else cell.mean("score")
            ours_key, theirs_key = (-math.inf if value is None else round(value, 4) for value in (ours, theirs))
            counts = found.setdefault(who, [0, 0, 0])
            counts[0 if ours_key > theirs_key else 1 if ours_key == theirs_key else 2] += 1
    return found
