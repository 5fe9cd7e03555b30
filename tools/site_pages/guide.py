# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs/, which are written for a git host as well: what Sphinx says differently is changed here."""
import re
import shutil

from . import text

# Groups of docs/index.md, and the pages that are made from other sources, in the order of the menu.
MADE = {"Gallery": ["gallery/index"],
        "Reference": ["reference/command-line/index", "reference/python/index", "reference/r/index", "reference/cpp/index"]}
# Pages of the top of the checkout that are pages of the site as well.
TOP = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "HACKING.md": "hacking.md"}


def fences(page):
    """Words after the language of a code block are for the tests (tests/docs/run_docs.py)."""
    page = re.sub(r"^(\s*```)(sh|text) .*$", r"\1\2", page, flags=re.MULTILINE)
    page = re.sub(r"^(\s*```)math$", r"\1{math}", page, flags=re.MULTILINE)
    return re.sub(r"^(\s*```)csv$", r"\1text", page, flags=re.MULTILINE)


def links(page, folder, source, staged_names):
    """Links to files that are no pages of the site become their names."""
    def change(match):
        words, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if "://" in path or not path:
            return match.group(0)
        file = (folder / path).resolve()
        name = file.relative_to(source).as_posix()
        if name in staged_names or file.suffix in (".svg", ".png"):
            return match.group(0)
        return words if words.strip("`") == name else f"{words} (`{name}`)"

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", change, page)


def menu(index):
    """The table of contents behind the menu: a group for each bold line of docs/index.md."""
    groups = {}
    for line in index.splitlines():
        if match := re.fullmatch(r"\*\*(.+)\*\*", line):
            pages = groups.setdefault(match.group(1), [])
        elif line.startswith("- "):
            pages += [p[:-3] for p in re.findall(r"\]\(([^):]+\.md)\)", line)]
    order = {}
    for name, pages in groups.items():
        order[name] = pages
        if name == "Guide":
            order["Gallery"] = MADE["Gallery"]
        if name == "Methods":
            order["Reference"] = MADE["Reference"]
    order["Methods"] = ["methods/index", *order.get("Methods", [])]
    order.setdefault("Design", []).extend(name[:-3] for name in TOP.values())
    return "\n".join(text.contents(pages, caption=name) for name, pages in order.items() if pages)


def write(source, staged):
    docs = source / "docs"
    pages = sorted(p for p in docs.rglob("*.md"))
    names = {p.relative_to(source).as_posix() for p in pages}
    for path in pages:
        page = links(fences(path.read_text(encoding="utf-8")), path.parent, source, names)
        if path == docs / "index.md":
            page += "\n" + menu(page)
        text.write(staged / path.relative_to(docs), page)
    for name, place in TOP.items():
        page = fences((source / name).read_text(encoding="utf-8"))
        page = re.sub(r"\]\(docs/", "](", page)
        for other, there in TOP.items():
            page = page.replace(f"]({other}", f"]({there}")
        text.write(staged / place, page)
    for picture in [*docs.glob("*.png"), *docs.glob("figures/**/*.*")]:
        target = staged / picture.relative_to(docs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target)
