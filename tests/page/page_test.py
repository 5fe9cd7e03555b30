#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The report in a browser: figures are there, nothing complains, tables sort, phone and desk, light and dark.

    page_test.py PROGRAM [FOLDER]      FOLDER: keep pages and screenshots there

Needs Chromium (`make test-report` installs it); without it the test is skipped, with a word and exit code 77.
"""
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

SKIPPED = 77
METHODS = "bemkl,simplemkl,uniform,single"


def table(path, label):
    generator = random.Random(3)
    lines = ["alpha.one,alpha.two,beta.one,beta.two,label"]
    for i in range(90):
        k = i % 3
        x = [generator.gauss(0.9 * k, 1), generator.gauss(-k, 1.5), generator.gauss(0, 1), generator.gauss(0.3 * k, 1)]
        lines.append(",".join(map(repr, x)) + "," + label(k, x, generator))
    path.write_text("\n".join(lines) + "\n")


def make_pages(program, folder):
    """Page → figures that it must have."""
    def run(*arguments):
        subprocess.run([program, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    table(folder / "two.csv", lambda k, x, g: ("no", "yes <b>&amp;")[int(x[0] + x[3] > 1)])
    table(folder / "three.csv", lambda k, x, g: ("red", "green", "blue")[k])
    table(folder / "number.csv", lambda k, x, g: repr(math.sin(x[0]) + 0.5 * x[1] + g.gauss(0, 0.2)))
    lines = [line.split(",") for line in (folder / "two.csv").read_text().splitlines()]
    lacking = [",".join(["", "", *cells[2:]]) if i % 3 == 1 else ",".join(cells) for i, cells in enumerate(lines)]
    (folder / "gaps.csv").write_text("\n".join(lacking) + "\n")
    spec = ("--kernels", "rbf(auto, count=3) on views; linear on each", "--views-by-prefix")
    run("compare", "two.csv", *spec, "--methods", METHODS, "--folds", 3, "--repeats", 2, "--every-kernel", "-o", "two.html")
    run("compare", "three.csv", *spec, "--methods", "bemkl,uniform", "--folds", 3, "-o", "three.html")
    run("compare", "number.csv", *spec, "--methods", "bemkl,uniform", "--folds", 3, "-o", "number.html")
    run("compare", "gaps.csv", "--kernels", "rbf(auto, count=3) on views", "--views-by-prefix", "--methods", "lp-mkl,bemkl", "--folds", 3,
        "-o", "gaps.html")
    run("train", "two.csv", *spec, "--method", "bemkl", "-o", "two.kloom")
    run("view", "two.kloom", "two.csv", "--views-by-prefix", "-o", "view.html")
    run("train", "three.csv", *spec, "--method", "mcmkl", "--class-kernels", "identity+pairs", "--report", "train.html",
        "-o", "m.kloom")
    model = ["weights", "groups"]
    return {
        "two.html": ["metric", "time", "roc", "reliability", "confusion", "alone", *model],
        "three.html": ["metric", "time", "roc", "reliability", "confusion", *model],
        "number.html": ["metric", "time", "residuals", *model],
        "gaps.html": ["metric", "time", "roc", "reliability", "confusion", "absence", "by-views", *model],
        "train.html": [*model, "embedding"],
        "view.html": [*model, "convergence", "contributions", "roc", "reliability", "confusion"],
    }


class Browser:
    def __init__(self, folder):
        self.program = shutil.which("chromium")
        self.folder = folder

    def run(self, *arguments, dark=False):
        with tempfile.TemporaryDirectory() as profile:
            process = subprocess.run(
                [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                 "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={profile}",
                 f"--blink-settings=preferredColorScheme={0 if dark else 1}", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True)
        console = [line for line in process.stderr.splitlines() if "CONSOLE" in line]
        assert process.returncode == 0, process.stderr[-2000:]
        assert not console, console
        return process.stdout

    def dom(self, page, script=""):
        """The page after its own script, and then `script`, ran."""
        probe = self.folder / "probe.html"
        probe.write_text(with_script(page, script))
        return self.run("--dump-dom", probe.as_uri())

    def screenshot(self, page, width, dark):
        """In a frame of that width, which is how narrow windows are had everywhere."""
        height = 4200 if width < 600 else 3000
        frame = self.folder / "frame.html"
        frame.write_text(f"<body style='margin:0'><iframe src='{page.name}' style='border:0' width='{width}' "
                         f"height='{height}'></iframe>")
        picture = self.folder / f"{page.stem}-{'phone' if width < 600 else 'desk'}-{'dark' if dark else 'light'}.png"
        self.run(f"--window-size={max(width, 500)},{height}", f"--screenshot={picture}", frame.as_uri(), dark=dark)
        return picture


def first_pixel(picture):
    """(red, green, blue) of the upper left corner: every filter of PNG leaves the first pixel as it is."""
    content = picture.read_bytes()
    place, data = 8, b""
    while place < len(content):
        size, kind = struct.unpack(">I4s", content[place:place + 8])
        if kind == b"IDAT":
            data += content[place + 8:place + 8 + size]
        place += 12 + size
    return tuple(zlib.decompressobj().decompress(data, 4)[1:4])


def check_content(browser, page, figures):
    text = page.read_text()
    report = json.loads(text.split("id='report-data'>")[1].split("</script>")[0])
    dom = browser.dom(page)
    for name in figures:
        figure = re.search(rf"<figure id=['\"]figure-{name}['\"].*?</figure>", dom, re.S)
        assert figure, f"{page.name}: figure {name} is missing"
        assert "<title" in figure[0] and "<desc" in figure[0], f"{page.name}: figure {name} has no words"
        assert not re.search(r"(?<![a-z])(nan|inf)(?![a-z])", figure[0]), f"{page.name}: figure {name} has no number somewhere"
    assert "yes <b>" not in text, "names of classes are text, not markup"
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", text), "nothing comes from a network"
    for method in report["methods"]:   # every number of the table is in the JSON
        mean = next(m["mean"] for m in method["metrics"] if m["name"] == report["metric"])
        assert f"data-value='{json.dumps(mean)}'" in text or f"{mean:.4f}" in text


def with_script(page, script):
    """The page with one more script, which its own policy would not let run."""
    text, count = re.subn(r"<meta http-equiv='Content-Security-Policy'[^>]*>", "", page.read_text())
    assert count == 1, f"{page.name} has no content security policy"
    return text + f"<script>{script}</script>"


def check_width(browser, page):
    frame = browser.folder / "width.html"
    script = "document.documentElement.dataset.wide = document.documentElement.scrollWidth"
    probe = browser.folder / "probe.html"
    probe.write_text(with_script(page, script))
    frame.write_text("<iframe id=f src='probe.html' width='360' height='800'></iframe>"
                     "<script>f.onload = () => document.title = f.contentDocument.documentElement.scrollWidth</script>")
    dom = browser.run("--dump-dom", "--allow-file-access-from-files", frame.as_uri())
    wide = int(re.search(r"<title>(\d+)", dom)[1])
    assert wide <= 360, f"{page.name} is {wide} wide on a phone of 360"


def check_sorting(browser, page):
    script = ("const t = document.querySelector('table.sortable'); const b = t.tHead.querySelectorAll('button');"
              "const names = () => [...t.tBodies[0].rows].map(r => r.cells[0].textContent).join();"
              "b[0].click(); const up = names(); b[0].click(); const down = names(); b[1].click();"
              "document.title = [up, down, names()].join('|')")
    up, down, metric = re.search(r"<title>([^<]*)", browser.dom(page, script))[1].split("|")
    assert up.split(",") == sorted(METHODS.split(",")) and down.split(",") == sorted(METHODS.split(","))[::-1]
    report = json.loads(page.read_text().split("id='report-data'>")[1].split("</script>")[0])
    best_last = [m["method"] for m in report["methods"]][::-1]
    means = {m["method"]: next(x["mean"] for x in m["metrics"] if x["name"] == "accuracy") for m in report["methods"]}
    assert [means[name] for name in metric.split(",")] == [means[name] for name in best_last]


OVERLAPS = """
const boxes = [...document.querySelectorAll('#figure-time svg text:not(.mark):not(.axis)')].map(t => t.getBoundingClientRect());
const hits = boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => a.left < b.right && b.left < a.right && a.top + 1 < b.bottom
  && b.top + 1 < a.bottom));
document.title = boxes.length + ' ' + hits.length"""
EMPTY = """
const empty = [...document.querySelectorAll('table.sortable')].flatMap(table => [...table.tHead.rows[0].cells].filter((head, c) =>
  c > 0 && [...table.tBodies[0].rows].every(row => ['', '–'].includes(row.cells[c].textContent))).map(head => head.textContent));
document.title = empty.join() || 'none'"""


def check_names_and_columns(browser, page):
    names, overlaps = re.search(r"<title>([^<]*)", browser.dom(page, OVERLAPS))[1].split()
    assert int(names) == len(METHODS.split(",")) and overlaps == "0", f"{overlaps} names overlap in 'How fast'"
    assert re.search(r"<title>([^<]*)", browser.dom(page, EMPTY))[1] == "none"


def check_side_by_side(page):
    text = page.read_text()
    report = json.loads(text.split("id='report-data'>")[1].split("</script>")[0])
    table = text.split("aria-label='Kernel weights by method'")[1].split("</table>")[0]
    for method in report["methods"]:
        weights = method["first_split"]["weights"]
        assert f">{method['method']}</button>" in table
        share = 100 * max(map(abs, weights)) / sum(map(abs, weights))
        assert re.search(rf">-?{share:.1f}</td>", table), f"{method['method']}: {share}"


def check_screenshots(browser, page):
    for width in (390, 1200):
        ground = {}
        for dark in (False, True):
            picture = browser.screenshot(page, width, dark)
            assert picture.stat().st_size > 20000, f"{picture.name} is nearly empty"
            ground[dark] = sum(first_pixel(picture))
        assert ground[False] > 600 > 200 > ground[True], f"{page.name}: light and dark are {ground}"


def main():
    if shutil.which("chromium") is None:
        print("SKIPPED: the report was not looked at in a browser, because there is no chromium; "
              "'make test-report' installs it", flush=True)
        return SKIPPED
    keep = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    folder = pathlib.Path(tempfile.mkdtemp()) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        browser = Browser(folder)
        pages = make_pages(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        for name, figures in pages.items():
            check_content(browser, folder / name, figures)
            check_width(browser, folder / name)
            print(f"{name}: {len(figures)} figures", flush=True)
        check_sorting(browser, folder / "two.html")
        check_names_and_columns(browser, folder / "two.html")
        check_side_by_side(folder / "two.html")
        check_screenshots(browser, folder / "two.html")
        check_screenshots(browser, folder / "view.html")
        print("sorting, phone and desk, light and dark")
    finally:
        if keep is None:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
