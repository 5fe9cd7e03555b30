# SPDX-License-Identifier: BSD-3-Clause
"""The R package: its manual pages (r/man, written by roxygen2), as Markdown."""
import re

from . import text



class Rd:
    """The part of R's documentation format that roxygen2 writes: \\macro[option]{argument}{argument}."""

    def __init__(self, source):
        self.source = re.sub(r"(?<!\\)%.*", "", source)
        self.place = 0

    def argument(self):
        """What is between braces, without reading it."""
        depth, start = 0, self.place + 1
        while True:
            mark = self.source[self.place]
            if mark == "\\":
                self.place += 1
            depth += (mark == "{") - (mark == "}")
            self.place += 1
            if depth == 0:
                return self.source[start:self.place - 1]

    def macros(self):
        """(text before, name, arguments) of each macro at this level; at the end (text, None, [])."""
        before = []
        while self.place < len(self.source):
            match = re.compile(r"\\(\w+)(?:\[[^\]]*\])?(?=\{)|\\(dots|ldots|item)\b|\\([%\\{}])").match(self.source, self.place)
            if not match:
                before.append(self.source[self.place])
                self.place += 1
                continue
            self.place = match.end()
            if match.group(3):
                before.append(match.group(3))
                continue
            arguments = []
            most = 2 if match.group(1) in ("item", "section", "method", "S3method", "href") else 1
            while match.group(1) and len(arguments) < most and self.source[self.place:self.place + 1] == "{":
                arguments.append(self.argument())
            yield "".join(before), match.group(1) or match.group(2), arguments
            before = []
        yield "".join(before), None, []


def plain(source):
    """Without any markup: for usage and examples."""
    out = []
    for before, name, arguments in Rd(source).macros():
        out.append(before)
        if name in ("dots", "ldots"):
            out.append("...")
        elif name in ("method", "S3method"):
            out.append(f"{arguments[0]}")
        elif arguments:
            out.append(plain(arguments[-1]))
    return "".join(out)


def markdown(source):
    out = []
    for before, name, arguments in Rd(source).macros():
        out.append(text.escaped(before))
        if name in ("code", "verb", "pkg", "file"):
            out.append(text.code(plain(arguments[0])))
        elif name in ("dots", "ldots"):
            out.append("…")
        elif name in ("emph", "strong"):
            out.append(f"*{markdown(arguments[0])}*")
        elif name == "href":
            out.append(markdown(arguments[1]))
        elif name in ("itemize", "describe", "enumerate"):
            out.append("\n" + markdown(arguments[0]) + "\n")
        elif name == "item":
            out.append("\n- " + ": ".join(markdown(a) for a in arguments))
        elif name == "link":
            out.append(text.code(plain(arguments[-1])) if arguments[-1].endswith("()") else markdown(arguments[-1]))
        elif arguments:
            out.append(markdown(arguments[-1]))
    return "".join(out)


def page_of(path):
    parts, extra, about = {}, [], Rd(path.read_text(encoding="utf-8"))
    for _, name, arguments in about.macros():
        if name == "section":
            extra.append(arguments)
        elif name:
            parts.setdefault(name, arguments[0])
    title = markdown(parts["title"]).strip()
    page = [f"# {path.stem}", "", f"**{title}.**", "", markdown(parts.get("description", "")).strip(), "",
            text.block(plain(parts["usage"]).strip(), "r") if "usage" in parts else ""]
    if "arguments" in parts:
        page += ["## Arguments", ""]
        for _, name, arguments in Rd(parts["arguments"]).macros():
            if name == "item":
                page += [text.code(plain(arguments[0])), ": " + markdown(arguments[1]).strip().replace("\n", "\n  "), ""]
    for key, heading in (("value", "Value"), ("details", "Details")):
        if key in parts:
            page += [f"## {heading}", "", markdown(parts[key]).strip(), ""]
    for heading, body in extra:
        page += [f"## {heading}", "", markdown(body).strip(), ""]
    if "examples" in parts:
        page += ["## Examples", "", text.block(plain(parts["examples"]).strip(), "r")]
    return "\n".join(page), title


def write(manual, staged):
    folder = staged / "reference" / "r"
    lines = ["# R", "", "The manual pages of the package `rkloom`, as `help(package = \"rkloom\")` shows them. "
             "[The guide](../../guide/r.md) shows how they are used.", ""]
    paths = sorted(manual.glob("*.Rd"))
    for path in paths:
        page, title = page_of(path)
        text.write(folder / f"{path.stem}.md", page)
        lines += [f"[{path.stem}]({path.stem}.md)", f": {title}.", ""]
    lines.append(text.contents([path.stem for path in paths]))
    text.write(folder / "index.md", "\n".join(lines))
