# SPDX-License-Identifier: BSD-3-Clause
"""The C++ interface: comments and declarations of the headers in include/kloom.

A header opens with what it is for. In its namespace, declarations that stand together are shown together, below the comment
before them; private parts of classes are left out.
"""
import re

from . import text

NAME = re.compile(r"^(?:template\s*<[^;{]*?>\s*)?(?:(class|struct|enum class|enum|using|concept)\s+(?:\[\[\w+\]\]\s*)?(\w+))")
FUNCTION = re.compile(r"([~\w]+|operator\S+)\s*\(")
INDENT = re.compile(r"^( {2,})\S")


def comment_lines(lines):
    return [re.sub(r"^\s*// ?", "", line) for line in lines]


def prose(lines):
    """A comment as Markdown: lines that are set in are shown as they are."""
    out, verbatim = [], []

    def close():
        if verbatim:
            out.append("\n" + text.block("\n".join(verbatim), "text"))
            verbatim.clear()

    for line in comment_lines(lines):
        if INDENT.match(line) and not (out and re.match(r"\s*[-*] ", out[-1])):
            verbatim.append(line)
        elif not line.strip() and verbatim:
            verbatim.append("")
        else:
            close()
            bullet = re.match(r"(\s*[-*] )(.*)", line)
            out.append(bullet.group(1) + text.escaped(bullet.group(2)) if bullet else text.escaped(line))
    close()
    return "\n".join(out).strip() + "\n"


def without_private(lines):
    """A declaration less what is private."""
    out, hidden = [], False
    for line in lines:
        if re.fullmatch(r" (private|public|protected):", line):
            hidden = line == " private:"
        if re.match(r"^\}", line):
            hidden = False
        if not hidden:
            out.append(line)
    while len(out) > 1 and not out[-2].strip():
        del out[-2]
    return out


def pieces(lines):
    """(comment, declarations) of a namespace: a piece ends at a blank line outside of braces, or where a new comment begins."""
    found, comment, body, depth = [], [], [], 0

    def close():
        if body:
            found.append((list(comment), list(body)))
            comment.clear()
            body.clear()

    for line in lines:
        outside = depth == 0 and (not body or body[-1].rstrip().endswith((";", "}")) or not body[-1].strip())
        if outside and not line.strip():
            close()
        elif outside and line.startswith("//"):
            close()
            comment.append(line)
        else:
            body.append(line)
            bare = re.sub(r"//.*|\"(?:\\.|[^\"])*\"|'.'", "", line)
            depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
    close()
    return found


def names_of(body):
    """What a piece declares: its classes, or else its functions."""
    whole = re.sub(r"\[\[\w+\]\]\s*|//.*", "", "\n".join(body))
    if match := NAME.match(whole.strip()):
        return [match.group(2)]
    outer = re.sub(r"^\s+.*$", "", whole, flags=re.MULTILINE)
    names = [match.group(1) for line in outer.splitlines() if (match := FUNCTION.search(line))]
    names += re.findall(r"^(?:inline )?constexpr [\w:<>]+ (\w+)", outer, re.MULTILINE)
    return list(dict.fromkeys(names))


def inner(source):
    """The lines of the namespace kloom."""
    return source.split("namespace kloom {", 1)[1].rsplit("}  // namespace kloom", 1)[0].splitlines()


def header_page(path):
    source = path.read_text(encoding="utf-8")
    opening = []
    for line in source.splitlines()[1:]:
        if not line.startswith("//"):
            break
        opening.append(line)
    about = prose(opening)
    page = [f"# {path.name}", "", text.block(f'#include "kloom/{path.name}"', "cpp"), about, ""]
    for comment, body in pieces(inner(source)):
        names = names_of(body)
        if all(re.match(r"^(class|struct) \w+;$", line) for line in body):
            continue   # announced here, declared elsewhere
        if names:
            page += ["```{index} single: " + f"{name} ({path.name})\n```\n" for name in names]
            page += [f"## {', '.join(text.code(name) for name in names[:3])}", ""]
        page += [prose(comment), text.block("\n".join(without_private(body)), "cpp")]
    return "\n".join(page), about


def write(include, staged):
    folder = staged / "reference" / "cpp"
    lines = ["# C++", "", "The public headers: what each is for, and what it declares. Most programs need "
             "[train.h](train.md) and [model.h](model.md).", ""]
    headers = sorted(include.glob("*.h"))
    for path in headers:
        page, about = header_page(path)
        text.write(folder / f"{path.stem}.md", page)
        first = re.split(r"(?<=[.:])\s", " ".join(about.split("\n\n")[0].split()))[0]
        lines += [f"[{path.name}]({path.stem}.md)", f": {first.rstrip(':.')}.", ""]
    lines.append(text.contents([path.stem for path in headers]))
    text.write(folder / "index.md", "\n".join(lines))
