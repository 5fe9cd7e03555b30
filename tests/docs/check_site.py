#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the built site.

    check_site.py SITE          every link within it leads somewhere, and nothing is loaded from elsewhere
    check_site.py --self-test   does it notice what it must notice?

A link to another place is fine: it is followed by a person. Pictures, scripts, styles and fonts must be in the site.
"""
import html.parser
import pathlib
import re
import sys
import tempfile
import urllib.parse

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
SEARCHED = ("search.html", "searchindex.js")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if value and ((tag, name) in LOADED or (tag, name) == ("a", "href")):
                self.targets.append((tag, value))


def outside(target):
    return target.startswith("//") or urllib.parse.urlsplit(target).scheme in ("http", "https", "ftp")


def style_faults(site, path):
    """A style sheet loads only what is in the site."""
    for url, imported in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", path.read_text(encoding="utf-8")):
        target = url or imported
        if target.startswith(("data:", "#")):
            continue
        if target.startswith("/") or outside(target) or not (path.parent / urllib.parse.urlsplit(target).path).exists():
            yield f"{path.relative_to(site)}: loads {target}"


def page_faults(site, path, pages):
    here = path.relative_to(site)
    for tag, target in pages[path].targets:
        if target.startswith(("mailto:", "data:", "javascript:")):
            continue
        if target.startswith("/"):
            yield f"{here}: {target} is a path from the root of a server"
            continue
        if outside(target):
            if tag != "a":
                yield f"{here}: loads {target}"
            continue
        parts = urllib.parse.urlsplit(target)
        file = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if file.is_dir():
            file = file / "index.html"
        if not file.exists():
            yield f"{here}: {target} is not there"
        elif parts.fragment and file in pages and urllib.parse.unquote(parts.fragment) not in pages[file].anchors:
            yield f"{here}: {target} has no such place"


def faults(site):
    site = site.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [f"there is no {name}" for name in SEARCHED if not (site / name).exists()]
    for path in pages:
        found += page_faults(site, path, pages)
    for path in sorted(site.rglob("*.css")):
        found += style_faults(site, path)
    return found, len(pages)


def self_test():
    sound = {"s.css": "a { background: url(t.png); mask: url(data:,x) }", "search.html": "", "searchindex.js": "", "a.html": '<a href="b.html#x">b</a><a href="https://example.org">e</a>',
             "b.html": '<p id="x"><img src="p.png"></p>', "p.png": "", "t.png": ""}
    broken = [{"b.html": "<p></p>"}, {"b.html": None}, {"p.png": None}, {"searchindex.js": None},
              {"b.html": '<p id="x"><img src="https://example.org/p.png"></p>'},
              {"s.css": "a { background: url(//example.org/p.png) }"}, {"s.css": "@import url(/style/base.css);"},
              {"s.css": "a { background: url(q.png) }"}, {"b.html": '<p id="x"><img src="/p.png"></p>'}]
    wrong = 0
    for changes in [{}, *broken]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**sound, **changes}.items():
                if text is not None:
                    (pathlib.Path(folder) / name).write_text(text)
            found, _ = faults(pathlib.Path(folder))
        if len(found) != bool(changes):
            wrong += 1
            print(f"after {changes}: {found}")
    print(f"{len(broken) + 1} made-up sites, {wrong} judged wrongly")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    found, pages = faults(pathlib.Path(arguments[0]))
    print("\n".join([*found, f"{pages} pages, {len(found)} faults"]))
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
