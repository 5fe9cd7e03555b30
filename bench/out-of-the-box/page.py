# SPDX-License-Identifier: BSD-3-Clause
"""The page about a journal, in Markdown. Every number on it is computed from the journal."""
import numpy as np

import figure
from measures import BINS, SMALLEST
from program import AUTO
from ranks import Ranking, Table, duels, shortfalls
from sets import KINDS

SIZES = [(0, 200), (200, 1000), (1000, 5000), (5000, 20000), (20000, None)]
EVERY_PEER = ["logistic / ridge", "SVM", "random forest", "hist. boosting", "Gaussian process", "LightGBM",
              "mean kernel + SVM", "best kernel + SVM", "MKLpy EasyMKL", "MKLpy AverageMKL", "himalaya"]
WORDS = {"refused": "refused", "timeout": "time", "failed": "failed"}
ENDS = {"refused": "refused by the program", "timeout": "out of time", "failed": "failed with an error"}


def table_lines(header, rows):
    return ["| " + " | ".join(header) + " |", "|---" + "|--:" * (len(header) - 1) + "|",
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def listing(words):
    words = list(words)
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"


def divisions(seeds):
    """How often sets were divided, given the seeds of each: "31 of them 3 times (seed 0, 1 and 2) and 4 once (seed 0)"."""
    found = {}
    for of_set in seeds.values():
        found[of_set] = found.get(of_set, 0) + 1
    words = [f"{'once' if len(of_set) == 1 else f'{len(of_set)} times'} (seed {listing(map(str, of_set))})" for of_set in found]
    return words[0] if len(words) == 1 else listing(f"{count} of them {word}" for count, word in zip(found.values(), words))


def how(outcomes, table, note):
    """What was run, where and when."""
    lines = list(outcomes.values())
    seeds = {name: tuple(sorted({line["seed"] for line in lines if line["set"] == name})) for name in table.cells}
    ran = {line["competitor"] for line in lines}
    absent = [name for name in EVERY_PEER if name not in ran]
    machines = sorted({f"{line['processor']} ({line['cores']} cores)" for line in lines})
    dates = sorted({line["date"] for line in lines})
    threads = sorted({line["threads"] for line in lines if line["competitor"].startswith("kloom")})
    limits = sorted({line["limit"] for line in lines})
    text = ["## How it was run", "",
            f"{len(table.cells)} sets, each divided into 70 % training and 30 % test, stratified by class, "
            f"{divisions(seeds)}. What `auto` does was found while looking at divisions of these sets, which flatters it; no set has settings of its own. "
            f"Limit for training and predicting: {listing(f'{limit:g} s' for limit in limits)}. "
            f"{len(lines)} outcomes, found from {dates[0]} to {dates[-1]}.", "",
            "- `kloom (auto)` is `kloom train TRAIN.csv --target label -o M`, then `kloom predict M TEST.csv -o P`: no other option"
            + (", on one thread" if threads == [1] else "") + ". Given kernels come with `--kernel-file`.",
            "- The others get columns prepared as a careful user would: numbers standardised with the median for missing values, "
            "categories one-hot, sentences as tf-idf of words, strings as tf-idf of character n-grams, mostly-zero counts unscaled; "
            "grids are searched over five folds of the training part.",
            f"- Machines: {listing(machines)}. Software: {'; '.join(sorted({line['software'] for line in lines}))}.",
            f"- Absent from this run: {listing(absent)}.", *([f"- {note}"] if note else []), ""]
    stopped = {}
    for line in lines:
        if line["status"] != "ok":
            stopped.setdefault(line["status"], []).append(line)
    if stopped:
        text += ["Not every run came to an end: " + listing(f"{len(found)} × {ENDS[word]}" for word, found in sorted(stopped.items()))
                 + ". These rank last.", ""]
    return text


def summary(table):
    """The figures to remember."""
    every = shortfalls(table)
    if not every:
        return [f"The journal has no outcome of {AUTO} beside a peer yet.", ""]
    serious = [entry for entry in every if entry.serious()]
    stopped = [entry for entry in every if entry.word]
    ahead = [entry for entry in every if not entry.word and entry.gap <= 0]
    return [f"On {len(every)} sets, `{AUTO}` is at least as good as the best of its peers on {len(ahead)}, within two standard errors of it on "
            f"{len(every) - len(serious) - len(ahead)}, below on {len(serious) - len(stopped)}, and without an answer on {len(stopped)}. "
            "The best peer is the best of several on the test part itself, which flatters it.", ""]


def rank_section(table, folder, link):
    """Mean ranks and diagrams by kind of data. Files go to `folder`; the page calls them by `link`."""
    text = ["## Mean ranks by kind of data", "",
            "Rank 1 is the best on a set; equals share ranks; who was refused or ran out of time on any division ranks last. Only competitors that "
            "were tried on every set of a kind are ranked there. In the diagrams a bar joins competitors whose mean ranks differ by "
            "less than the critical difference (Nemenyi, α = 0.05): these data do not tell them apart.", ""]
    rankings = {}
    for kind in [None, *KINDS]:
        for measure, sign in (("score", 1.0), ("log_loss", -1.0)):
            rankings[kind, measure] = Ranking(table, ranked_sets(table, kind), measure, sign)
    untried = [name for name in table.cells if AUTO not in table.cells[name]]
    if untried and len(untried) < len(table.cells):
        text += [f"Left out here, because auto was not run on them: {listing(untried)}.", ""]
    for measure, title in (("score", "Accuracy or R²"), ("log_loss", "Log loss")):
        text += rank_table(table, rankings, measure, title)
    for kind in [None, *KINDS]:
        for measure, title in (("score", "accuracy or R²"), ("log_loss", "log loss")):
            ranking = rankings[kind, measure]
            if ranking.usable():
                text += one_diagram(ranking, kind or "all tables", title, folder, link)
    return text


def ranked_sets(table, kind):
    """The sets of a kind on which auto was run, or all if it was run on none. None: all tables; given kernels have other peers."""
    sets = [name for name in table.sets_of(kind) if kind is not None or "given kernels" not in table.facts[name]["kinds"]]
    if any(AUTO in row for row in table.cells.values()):
        sets = [name for name in sets if AUTO in table.cells[name]]
    return sets


def rank_table(table, rankings, measure, title):
    kinds = [kind for kind in [None, *KINDS] if rankings[kind, measure].usable()]
    names = [who for who in table.competitors() if any(who in rankings[kind, measure].names for kind in kinds)]
    rows = []
    for who in names:
        row = [who]
        for kind in kinds:
            mean = rankings[kind, measure].mean
            row.append("" if who not in mean else
                       f"**{mean[who]:.2f}**" if mean[who] == min(mean.values()) else f"{mean[who]:.2f}")
        rows.append(row)
    if not rows:
        return []
    header = [title] + [f"{kind or 'all tables'} ({len(rankings[kind, measure].sets)})" for kind in kinds]
    return table_lines(header, rows)


def one_diagram(ranking, kind, title, folder, link):
    name = f"out-of-the-box-{kind}-{'log-loss' if ranking.measure == 'log_loss' else 'score'}".replace(" ", "-") + ".svg"
    full = f"{kind}, {title}: mean ranks over {len(ranking.sets)} sets"
    (folder / name).write_text(figure.diagram(ranking, full), encoding="utf-8")
    p = ranking.friedman()
    words = [f"![{full}]({link}/{name})", ""]
    notes = [] if p is None else [f"Friedman test (Iman and Davenport): p = {p:.2g}."]
    if ranking.partial:
        notes.append("Not tried on every set of this kind: "
                     + listing(f"{who} ({count} of {len(ranking.sets)})" for who, count in ranking.partial.items()) + ".")
    return words + ([" ".join(notes), ""] if notes else [])


def short_section(table):
    text = ["## Where auto falls short", "",
            "Sets on which auto is more than two standard errors below the best peer, or gave no answer. The standard error is the larger of "
            "s/√S, with s the deviation of the paired differences over the S divisions, and the peer's standard error on one test part "
            "(√(a(1−a)/n) for accuracy a on n test rows, at least that of one wrong answer; for R² the deviation of squared errors over √n and the "
            "variance of the target). The test part is the floor because three divisions may agree by chance.", ""]
    serious = [entry for entry in shortfalls(table) if entry.serious()]
    if not serious:
        return [*text, "None.", ""]
    rows = []
    for entry in serious:
        gap, error = ("", "") if entry.word else (f"{entry.gap:.3f}", f"{entry.error:.3f}")
        ours = WORDS[entry.word] if entry.word else f"{entry.auto:.3f}"
        rows.append([entry.name, ours, f"{entry.best:.3f}", entry.peer, gap, error])
    text += table_lines(["set", "auto", "best peer", "which", "gap", "standard error"], rows)
    said = [(name, row[AUTO].bad[0]) for name, row in table.cells.items() if AUTO in row and row[AUTO].bad]
    if said:
        text += ["What auto said where it gave no answer:", ""]
        text += [f"- {name}: {plain(line.get('message', line['status']))}" for name, line in said] + [""]
    return text


def plain(message):
    """A message of a program inside Markdown: no line breaks, nothing that Markdown or HTML would read."""
    return "`" + " ".join(message.replace("`", "'").split())[:300] + "`"


def duel_section(table):
    rows = []
    for who in table.competitors():
        counts = duels(table, table.cells).get(who)
        if counts:
            rows.append([who, *map(str, counts), str(sum(counts))])
    if not rows:
        return []
    return ["## Auto against each", "", "On how many sets the mean accuracy or R² of auto is higher, equal to four digits, or lower.", "",
            *table_lines(["against", "better", "equal", "worse", "sets"], rows)]


def per_set(table, measure, title, words, digits=3, low_is_good=False, task=None, best_is=None):
    """A table of all sets and competitors for one measure, the best in bold: the largest, the smallest, or the nearest to `best_is`."""
    sets = [name for name, facts in table.facts.items() if task is None or (facts["task"] == "regression") == (task == "regression")]
    if measure != "score" and not any(cell.mean(measure) is not None for name in sets for cell in table.cells[name].values()):
        return []
    names = table.competitors(sets)
    rows = []
    for name in sets:
        cells = table.cells[name]
        means = {who: cell.mean(measure) for who, cell in cells.items() if not cell.bad}
        shown = [round(value, digits) for value in means.values() if value is not None]
        if best_is is None:
            best = (min if low_is_good else max)(shown, default=None)
        else:
            best = min(shown, key=lambda value: abs(value - best_is), default=None)
        rows.append([name] + [cell_text(cells.get(who), means.get(who), best, digits) for who in names])
    return [f"## {title}", "", words, "", *table_lines(["set", *names], rows)]


def cell_text(cell, value, best, digits):
    if cell is None:
        return ""
    if cell.bad:
        return WORDS[cell.word]
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return f"**{text}**" if round(value, digits) == best else text


def mean_section(table):
    """Calibration: over the sets on which a competitor has the measure."""
    rows = []
    for who in table.competitors():
        row = [who]
        for measure, form in (("ece", "{:.3f}"), ("ece_by_chance", "{:.3f}"), ("coverage", "{:.3f}"), ("width", "{:.2f}")):
            values = [cells[who].mean(measure) for cells in table.cells.values() if who in cells and not cells[who].bad]
            values = [value for value in values if value is not None]
            row += [form.format(np.mean(values)) + f" ({len(values)})" if values else "–"]
        rows.append(row)
    return ["## Calibration", "",
            f"Expected calibration error of the most probable class ({BINS} bins of equal width; 0 is perfect); what chance alone makes of it, which is "
            "the mean error of labels drawn from the very probabilities that were given, since few test rows never fill bins evenly; share of test "
            "values inside 90 % intervals (0.9 is right); mean width of these intervals in deviations of the target. Means over sets, their number "
            "in brackets.", "",
            *table_lines(["", "calibration error", "by chance", "coverage", "width"], rows)]


def budget_section(table):
    """What the dearest run took, by size of the set."""
    text = ["## Longest run", "", "The most processor seconds, for training and predicting, of a run that came to an end, by the number of rows.", ""]
    columns = [(low, high) for low, high in SIZES if any(low < facts["rows"] and (high is None or facts["rows"] <= high)
                                                         for facts in table.facts.values())]
    rows = []
    for who in table.competitors():
        row = [who]
        for low, high in columns:
            seconds = [line["cpu_seconds"] for name, cells in table.cells.items() if who in cells
                       and low < table.facts[name]["rows"] and (high is None or table.facts[name]["rows"] <= high)
                       for line in cells[who].lines if "cpu_seconds" in line and line["status"] == "ok"]
            row.append(f"{max(seconds):.1f}" if seconds else "")
        rows.append(row)
    header = [""] + [f"up to {high}" if high else f"above {low}" for low, high in columns]
    return text + table_lines(header, rows)


def page(outcomes, folder, link, title="Out of the box", note=""):
    table = Table(outcomes)
    text = [f"# {title}", "",
            "How good is `kloom train data.csv` with no options, on data nobody tuned, against what a user would have taken instead? "
            "Made by `bench/out-of-the-box/report` of a journal of `bench/out-of-the-box/run`; none of it is typed by hand.", ""]
    text += summary(table) + how(outcomes, table, note) + rank_section(table, folder, link) + short_section(table) + duel_section(table)
    text += per_set(table, "score", "Accuracy and R² on each set", "Means over divisions; accuracy for classes, R² for numbers; the best in bold. "
                    "Empty: not for that kind of data; time: out of time.")
    text += per_set(table, "log_loss", "Log loss on each set", f"Probabilities of a row are divided by their sum; one below {SMALLEST:g} counts as "
                    f"{SMALLEST:g}, also for a class that training never saw. –: no probabilities.", low_is_good=True, task="classes")
    text += mean_section(table)
    text += per_set(table, "coverage", "Intervals on each set", "Share of test values inside 90 % intervals; –: no intervals.", task="regression",
                    best_is=0.9)
    text += per_set(table, "cpu_seconds", "Processor seconds", "To train and to predict the test part, of all threads; for kloom with starting the "
                    "program twice, writing and reading files. Unlike the clock's, they hardly depend on what else a machine does. Means over "
                    "divisions.", digits=1, low_is_good=True)
    text += budget_section(table)
    return "\n".join(text).rstrip("\n") + "\n"
