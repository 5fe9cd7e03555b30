#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gallery: scripts of docs/gallery, run part by part, with what they print and draw.

    PYTHONPATH=BUILD/python tools/site_pages/gallery.py SCRIPT...      runs scripts and makes no page (a test)

A script opens with a docstring: its title, an empty line, what it is about. A line `# %%` begins a new part; comments right
after it are prose. A script that fails fails the build.
"""
import ast
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def parts_of(source):
    """The prose and the code of each part, the docstring first."""
    tree = ast.parse(source)
    about = ast.get_docstring(tree)
    lines = source.splitlines()[tree.body[0].end_lineno:]
    parts = [(about, [])]
    for line in lines:
        if line.strip() == "# %%":
            parts.append(([], []))
        elif isinstance(parts[-1][0], list) and not parts[-1][1] and line.startswith("#"):
            parts[-1][0].append(line[1:].strip())
        elif line.strip() or parts[-1][1]:
            parts[-1][1].append(line)
    return [(prose if isinstance(prose, str) else "\n".join(prose), "\n".join(code).strip()) for prose, code in parts]


def run(path, pictures):
    """(title, prose, code, printed, drawn) of every part; figures are written into `pictures`."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "kloom", "figure.figsize": (6.4, 3.8), "figure.constrained_layout.use": True,
                                "axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    source = path.read_text(encoding="utf-8")
    scope, found, drawn = {"__name__": "__main__"}, [], 0
    for prose, code in parts_of(source):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(path), "exec"), scope)
        figures = []
        for number in plt.get_fignums():
            drawn += 1
            figures.append(f"{path.stem}-{drawn}.svg")
            plt.figure(number).savefig(pictures / figures[-1], metadata={"Date": None})
        plt.close("all")
        found.append({"prose": prose, "code": code, "printed": printed.getvalue(), "figures": figures})
    if not drawn:
        raise SystemExit(f"{path.name} draws nothing")
    return found


def page_of(path, found):
    from site_pages import text

    title, _, about = found[0]["prose"].partition("\n")
    page = [f"# {title.rstrip('.')}", "", about.strip(), ""]
    for number, part in enumerate(found):
        page += [part["prose"], ""] if number else []
        page += [text.block(part["code"], "python")] if part["code"] else []
        page += [text.block(part["printed"], "text")] if part["printed"] else []
        page += [f"![{title.rstrip('.')}: figure](pictures/{figure})\n" for figure in part["figures"]]
    page += [f"The whole script: {{download}}`{path.name} <scripts/{path.name}>`."]
    return "\n".join(page), title.rstrip(".")


def write(scripts, staged, build):
    """Each script in a Python of its own and a folder of its own."""
    import json

    from site_pages import text

    folder = staged / "gallery"
    (folder / "pictures").mkdir(parents=True)
    (folder / "scripts").mkdir()
    cards, names = [], []
    paths = sorted(scripts.glob("*.py"))
    for path in paths:
        found = json.loads(run_apart(path, folder / "pictures", build / "python"))
        page, title = page_of(path, found)
        text.write(folder / f"{path.stem}.md", page)
        text.write(folder / "scripts" / path.name, path.read_text(encoding="utf-8"))
        picture = next(figure for part in found for figure in part["figures"])
        names.append(path.stem)
        cards.append(f"[![{title}](pictures/{picture})]({path.stem}.md)\n\n[{title}]({path.stem}.md)")
    page = ["# Gallery", "", "Worked examples, each a script that runs in seconds. The figures were drawn and the numbers printed when "
            "this site was built.", "", "::::{container} gallery", ""]
    for card in cards:
        page += [":::{container} card", card, ":::", ""]
    page += ["::::", "", text.contents(names)]
    text.write(folder / "index.md", "\n".join(page))


def run_apart(path, pictures, package=None):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if package:
        environment["PYTHONPATH"] = str(package)
    elif "PYTHONPATH" in environment:   # the script runs in another folder
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, environment["PYTHONPATH"].split(os.pathsep)))
    with tempfile.TemporaryDirectory(prefix="kloom-gallery-") as scratch:
        started = time.monotonic()
        done = subprocess.run([sys.executable, pathlib.Path(__file__).resolve(), "--part", path.resolve(), pictures],
                              env=environment, cwd=scratch, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{path}: the script failed")
    print(f"{path.name}: {time.monotonic() - started:.1f} s", flush=True)
    return done.stdout


def main(arguments):
    if arguments[:1] == ["--part"]:
        import json
        import warnings

        warnings.simplefilter("error")   # a page must not show what goes wrong in silence
        warnings.filterwarnings("default", module="(?!kloom).*")
        print(json.dumps(run(pathlib.Path(arguments[1]), pathlib.Path(arguments[2]))))
        return 0
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="kloom-gallery-") as pictures:
        for name in arguments:
            run_apart(pathlib.Path(name), pictures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
